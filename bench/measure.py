"""What the claim_*.py programs share: taking turns, and the table and JSON of a claim.

Times on shared machines are noise, ratios of turns taken in one run are not: both sides of a
claim are measured alternately, and the median ratio decides."""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

BENCH = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(os.environ.get("FENCHEL_BUILD", os.path.join(BENCH, "../build/release")))
DATA = os.path.abspath(os.environ.get("FENCHEL_DATA", os.path.join(BENCH, "../../shared/data")))
TOOL = os.path.join(BUILD, "fenchel")
THREADS = len(os.sched_getaffinity(0))


def program(name):
    path = os.path.join(BUILD, "bench", "bench_" + name)
    if not os.path.exists(path):
        sys.exit(f"{path} is not there: build with -DFENCHEL_BENCH=ON (bench/run does it), "
                 "or name the build directory in FENCHEL_BUILD")
    return path


def scratch():
    """A directory that is gone when the with-statement ends."""
    return tempfile.TemporaryDirectory(prefix="fenchel-bench-")


# How threads wait: as the tool sets it for itself, for both sides of a ratio.
WAITING = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "5000"}


class Worker:
    """A program of worker.h: jobs go in, seconds come out."""

    def __init__(self, name, *arguments):
        self.start([program(name), *map(str, arguments)])

    def start(self, command, **environment):
        self.process = subprocess.Popen(command, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE,
                                        env={**os.environ, **WAITING, **environment})

    def __call__(self, job):
        self.process.stdin.write(job + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"the worker ended with {self.process.wait()} during {job}")
        return float(answer)

    def close(self):
        self.process.stdin.close()
        if self.process.wait() != 0:
            sys.exit(f"the worker ended with {self.process.returncode}")


def stopwatch(call, *arguments):
    start = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - start


def busy_seconds():
    """Processor seconds that all cores have worked since the machine started."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, interrupt, soft = map(int, file.readline().split()[1:8])
    return (user + nice + system + interrupt + soft) / os.sysconf("SC_CLK_TCK")


def own_seconds(workers):
    """Processor seconds of this program and of its workers."""
    total = sum(os.times()[:2])
    for worker in workers:
        with open(f"/proc/{worker.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def alternate(workers, runs, *sides, warm=True, patience=4):
    """Calls every side in turn; a side returns its seconds. A list of runs entries per side.
    workers: one Worker or a list of all that take part.

    Rounds in which other programs took more than a tenth of a core are measured again, up to
    patience times as many; the least disturbed ones count."""
    rounds, workers = [], workers if isinstance(workers, list) else [workers]
    if warm:
        for side in sides:
            side()
    while len(rounds) < patience * runs and sum(r[0] <= 0.1 for r in rounds) < runs:
        start, all_before, own_before = time.perf_counter(), busy_seconds(), own_seconds(workers)
        seconds = []
        for side in sides:
            time.sleep(0.2)                     # the other side's threads stop spinning
            seconds.append(side())
        others = busy_seconds() - all_before - (own_seconds(workers) - own_before)
        rounds.append((others / (time.perf_counter() - start), seconds))
    best = sorted(rounds, key=lambda r: r[0])[:runs]
    print(f"\n{len(rounds)} rounds; others took {best[0][0]:.2f} to {best[-1][0]:.2f} cores "
          f"during the {runs} that count" + ("" if best[-1][0] <= 0.1 else ": TOO MUCH"))
    return [list(column) for column in zip(*(r[1] for r in best))]


def cost(*command):
    """Seconds, peak memory and exit code of a command in a process of its own, and its stdout."""
    with scratch() as directory:
        out = os.path.join(directory, "cost.json")
        done = subprocess.run([program("peak"), out, *map(str, command)], text=True, check=True,
                              stdout=subprocess.PIPE)
        with open(out, encoding="utf-8") as file:
            return {**json.load(file), "stdout": done.stdout}


def answer(*arguments, code=0):
    """The JSON object that a command of the tool prints."""
    done = subprocess.run([TOOL, *map(str, arguments), "--json"], text=True,
                          stdout=subprocess.PIPE, check=False)
    if done.returncode != code:
        sys.exit(f"fenchel {' '.join(map(str, arguments))} ended with {done.returncode}")
    return json.loads(done.stdout)


class Claim:
    """One sentence with a number in it, held against measured values."""

    def __init__(self, name, sentence, at_most=None, at_least=None):
        self.name, self.sentence = name, sentence
        self.at_most, self.at_least = at_most, at_least

    def bound(self):
        parts = [f"at least {self.at_least:g}"] if self.at_least is not None else []
        parts += [f"at most {self.at_most:g}"] if self.at_most is not None else []
        return " and ".join(parts)

    def holds(self, value):
        return ((self.at_most is None or value <= self.at_most)
                and (self.at_least is None or value >= self.at_least))

    def judge(self, columns, values, every=False, unit="ratio", **facts):
        """Prints the runs (a dict of lists), the verdict on the median (every: on all of them)
        and the JSON line."""
        print(f"\n{self.name}: {self.sentence}")
        names = [*columns, unit]
        print("  " + "".join(f"{name:>18}" for name in names))
        for row in zip(*columns.values(), values):
            print("  " + "".join(f"{cell:>18.4g}" if isinstance(cell, float) else f"{cell:>18}"
                                 for cell in row))
        middle, low, high = statistics.median(values), min(values), max(values)
        met = all(map(self.holds, values)) if every else self.holds(middle)
        print(f"  median {middle:.3g} ({low:.3g} .. {high:.3g}), claimed {self.bound()}: "
              + ("met" if met else "NOT MET"))
        print(json.dumps({"claim": self.name, "sentence": self.sentence, "bound": self.bound(),
                          "median": middle, "low": low, "high": high, "met": met,
                          "threads": THREADS, **facts}), flush=True)


def quotients(above, below):
    return [a / b for a, b in zip(above, below)]


def friedman(rows, seed, noise=1.0):
    """Inputs and noisy labels of Friedman's first problem, 10 features."""
    import numpy
    random = numpy.random.default_rng(seed)
    x = random.random((rows, 10))
    y = (10 * numpy.sin(numpy.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2
         + 10 * x[:, 3] + 5 * x[:, 4] + noise * random.standard_normal(rows))
    return x, y
