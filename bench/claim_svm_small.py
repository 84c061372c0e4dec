"""The drop-in svm-train beside LIBSVM's own program on small files: processor time of whole
processes, start included. A cross-validation of 592 rows, and svm-grid of LIBSVM (110 of them) on
270 rows of 13 features."""
import os
import random
import resource
import shutil
import subprocess
import sys

import measure

RUNS = 5


def rows(seed, count, columns):
    source, lines = random.Random(seed), []
    for _ in range(count):
        x = [source.uniform(-1, 1) for _ in range(columns)]
        label = 1 if x[0] + x[1] * x[2] + source.gauss(0, 0.5) > 0 else -1
        lines.append(" ".join([str(label), *(f"{j + 1}:{v:.6g}" for j, v in enumerate(x))]))
    return "\n".join(lines) + "\n"


def processor_seconds(*command, cwd):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def compare(name, words, repeats, directory, programs):
    """words: what follows the program's name, in which "PROGRAM" stands for it."""
    def seconds(program):
        command = [program if word == "PROGRAM" else word for word in words]
        return sum(processor_seconds(*command, cwd=directory) for _ in range(repeats))

    ours, theirs = [], []
    for _ in range(RUNS):
        ours.append(seconds(programs[0]))
        theirs.append(seconds(programs[1]))
    claim = measure.Claim(f"{name}, LIBSVM", "svm-train takes no more processor time than LIBSVM's",
                          at_least=1)
    claim.judge({"fenchel s": ours, "LIBSVM s": theirs}, measure.quotients(theirs, ours))


def main():
    theirs, grid = shutil.which("svm-train"), shutil.which("svm-grid")
    if not theirs or not grid:
        print("SKIPPED: svm-train and svm-grid (libsvm-tools) are not installed")
        sys.exit(77)
    with measure.scratch() as directory:
        ours = os.path.join(directory, "svm-train")
        os.symlink(measure.TOOL, ours)
        for name, text in (("folds", rows(1, 592, 8)), ("grid", rows(2, 270, 13))):
            with open(os.path.join(directory, name), "w", encoding="ascii") as file:
                file.write(text)
        compare("-v 5 of 592 rows", ["PROGRAM", "-v", "5", "folds"], 20, directory, (ours, theirs))
        compare("svm-grid", [sys.executable, grid, "-gnuplot", "null", "-svmtrain", "PROGRAM",
                             "grid"], 1, directory, (ours, theirs))


main()
