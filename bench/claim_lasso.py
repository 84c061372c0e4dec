"""Paths of 100 lambdas against glmnet, scikit-learn, celer and skglm, to an equal duality gap.

The job is the whole way from a matrix in memory to the path: with an intercept, dense columns
standardised, sparse ones as they are, the same lambdas for everybody from the largest down. We and
glmnet standardise by ourselves; for the others StandardScaler does. The matrix is by rows (ours,
scikit-learn, celer, skglm) or as R has it. Beside the time of the job stands that of the path
alone, of tools that are given what they work with.

Every tool gets the loosest power of ten as its tolerance with which the gap of its answer is at
most 1e-7 of the objective at beta = 0 for every lambda, measured by lasso_problem.py on what it
returns. A tool that does not get there within PATIENCE seconds a path is timed at the tightest
tolerance with which it ended, or counts with PATIENCE seconds if it never did; the table says so.

celer, skglm and a newer scikit-learn are looked for in the folder that FENCHEL_PEERS names."""
import json
import os
import select
import statistics
import subprocess
import sys
import tempfile

import numpy

import lasso_problem
import measure

GOAL, RUNS, PATIENCE, SLOW, SHORT, AGAIN = 1e-7, {"lasso tall": 15}, 45, 10, 1, 5


class Peer(measure.Worker):
    """A program that answers jobs "TOOL TOLERANCE [FILE]" about one folder."""

    def __init__(self, label, tool, command, first, environment):
        self.label, self.tool, self.first = label, tool, first
        self.command, self.environment = command, environment
        self.start(command, **environment)
        self.tolerance = self.gap = self.seconds = self.alone = None
        self.paths = []

    def start(self, command, **environment):
        # what is said about mixed installations is of no use, the last words of a failure are
        self.complaints = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen(command, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.complaints,
                                        env={**os.environ, **measure.WAITING, **environment})
        self.process.stdin.write("\n")          # it answers when all is read and compiled
        self.process.stdin.flush()
        self.answer()

    def answer(self):
        words = self.process.stdout.readline()
        if not words:
            self.complaints.seek(0)
            sys.exit(f"{self.label} failed: {self.complaints.read().strip()[-300:]}")
        return words

    def __call__(self, job):
        """Seconds; infinite: it did not end in time, then it is started anew."""
        self.process.stdin.write(job + "\n")
        self.process.stdin.flush()
        if select.select([self.process.stdout], [], [], PATIENCE)[0]:
            seconds, self.alone = map(float, self.answer().split())
            return seconds
        self.process.kill()
        self.process.wait()
        self.start(self.command, **self.environment)
        return float("inf")

    def turn(self):
        seconds = self(f"{self.tool} {self.tolerance:g}")
        self.paths.append(self.alone)
        return seconds

    def search(self, problem, folder):
        """Tightens the tolerance by decades until the gap is small enough; prints the way."""
        file, tolerance = os.path.join(folder, "answer"), self.first
        while True:
            seconds = self(f"{self.tool} {tolerance:g} {file}")
            if seconds == float("inf"):
                print(f"  {self.label:<16}{tolerance:>9.0e}   not done within {PATIENCE} s")
                break
            gap = problem.gaps(*answer_of(problem, file), bias=self.bias(problem)).max()
            print(f"  {self.label:<16}{tolerance:>9.0e}{seconds:>9.3f} s   gap {gap:.1e}",
                  flush=True)
            if self.gap is None or gap < self.gap:
                self.tolerance, self.gap, self.seconds = tolerance, gap, seconds
                self.paths = [self.alone]
            if gap <= GOAL or tolerance < 1e-19:
                break
            tolerance /= 10
        if self.gap is None:
            self.paths = [float(PATIENCE)]
            self.tolerance, self.gap, self.seconds = tolerance, float("inf"), float(PATIENCE)

    def bias(self, problem):
        return not (self.tool == "celer" and problem.loss == "logistic")    # it has none

    def words(self):
        return (f"tolerance {self.tolerance:g}" if self.gap <= GOAL else
                f"never reached it: gap {self.gap:.1e} at tolerance {self.tolerance:g}"
                if self.gap < float("inf") else f"not done within {PATIENCE} s")


def answer_of(problem, file):
    beta = numpy.fromfile(file).reshape(lasso_problem.LAMBDAS, problem.columns).T
    if not os.path.exists(file + ".dual"):
        return beta, None
    points = numpy.fromfile(file + ".dual").reshape(lasso_problem.LAMBDAS, problem.rows).T
    os.remove(file + ".dual")
    return beta, points


REMEDIES = {"glmnet": "install r-cran-glmnet", "sklearn": "install python3-sklearn",
            "celer": "name its folder in FENCHEL_PEERS",
            "skglm": "name its folder in FENCHEL_PEERS"}


def peers(folder, problem):
    """Everyone who is installed and has this problem."""
    found, logistic = [], problem.loss == "logistic"
    glmnet = ["Rscript", os.path.join(measure.BENCH, "glmnet_peer.R"), folder]
    python = [sys.executable, "-B", os.path.join(measure.BENCH, "lasso_peer.py"), folder]
    if problem.group == 1:
        # covariance is 6 times slower on the wide problem and has no room for the sparse one
        kind = ("binomial" if logistic else
                "covariance" if problem.columns < 2000 else "naive")
        found += [(f"glmnet {v}", kind, glmnet, 1e-12, {}) for v in versions(glmnet, {}).values()]
    elsewhere = os.environ.get("FENCHEL_PEERS")
    for environment in [{}] + ([{"PYTHONPATH": elsewhere}] if elsewhere else []):
        for name, version in versions(python, environment).items():
            first = {"sklearn": 1e-4 if logistic else 1e-6, "celer": 1e-6, "skglm": 1e-5}[name]
            if (name, problem.group > 1) != ("sklearn", True):
                found.append((f"{name} {version}", name, [*python, name], first, environment))
    for name in ("celer", "skglm") if problem.group > 1 else REMEDIES:
        if not any(one[0].startswith(name) for one in found):
            print(f"  SKIPPED: {name} is not here; {REMEDIES[name]}")
    return [Peer(*one) for one in found]


def versions(command, environment):
    try:
        done = subprocess.run(command, input="\n", text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=True,
                              env={**os.environ, **environment})
    except (OSError, subprocess.CalledProcessError):
        return {}
    return json.loads(done.stdout)


def ours(problem, path, folder):
    """Our worker, and the loosest tolerance that is enough for it."""
    penalty = "l1"
    if problem.group > 1:
        penalty = "group:" + os.path.join(folder, "groups.csv")
        with open(penalty[6:], "w", encoding="ascii") as out:
            out.write("column,group\n")
            out.writelines(f"x{j + 1},g{j // problem.group}\n" for j in range(problem.columns))
    first, last = problem.lambdas[[0, -1]].tolist()
    worker = measure.Worker("settings", path, f"loss={problem.loss}", f"penalty={penalty}",
                            f"scale={'none' if problem.sparse else 'standard'}", "select=none",
                            f"lambda={last!r}:{first!r}:{lasso_problem.LAMBDAS}")
    file = os.path.join(folder, "ours.json")
    for tolerance in (1e-5, 1e-6, 1e-7, 1e-8, 1e-9):
        seconds = worker(f"path tolerance={tolerance:g} to={file}")
        beta = our_answer(problem, file)
        gap = problem.gaps(beta).max()
        print(f"  {'ours':<16}{tolerance:>9.0e}{seconds:>9.3f} s   gap {gap:.1e}", flush=True)
        if gap <= GOAL:
            terms = problem.support(beta)[[0, 24, 49, 74, 99]].tolist()
            print(f"  terms at lambdas 1, 25, 50, 75, 100: {terms}")
            return worker, tolerance
    sys.exit(f"no tolerance of ours gives a gap of {GOAL}")


def our_answer(problem, file):
    """The coefficients in the JSON of fen_path."""
    with open(file, encoding="utf-8") as text:
        points = json.load(text)["points"]
    beta = numpy.zeros((problem.columns, len(points)))
    for k, point in enumerate(points):
        for name, value in point["coefficients"].items():
            beta[int(name[1:]) - 1, k] = value
    return beta


TARGETS = {"glmnet": 2, "sklearn": 5, "celer": 1, "skglm": 1}


def warm(turn):
    """Of short turns the median of those after the first counts: the first after a wait for the
    others is slower, for scikit-learn up to twice, and where others use the machine, too, single
    ones differ by a fifth."""
    def timed():
        seconds = turn()
        return statistics.median(turn() for _ in range(AGAIN)) if seconds < SHORT else seconds
    return timed


def race(problem, judged=True):
    with measure.scratch() as folder:
        print(f"\n{problem.name}: {problem.rows} rows, {problem.columns} columns", flush=True)
        worker, tolerance = ours(problem, problem.write(folder), folder)
        rivals = peers(folder, problem)
        for rival in rivals:
            rival.search(problem, folder)
        quick = [rival for rival in rivals if rival.seconds <= SLOW]
        turns = [lambda n=n: worker(f"path tolerance={tolerance:g} threads={n}")
                 for n in (measure.THREADS, 1)] + [rival.turn for rival in quick]
        runs = RUNS.get(problem.name, 5)
        seconds = measure.alternate([worker, *rivals], runs, *map(warm, turns), patience=2)
        for rival in rivals:
            theirs = (seconds[2 + quick.index(rival)] if rival in quick else
                      [rival.seconds] * runs)
            judge(problem, rival, theirs, *seconds[:2], tolerance, judged)
        for one in (worker, *rivals):
            one.close()


def judge(problem, rival, theirs, ours_all, ours_one, tolerance, judged):
    least = TARGETS[rival.label.split()[0]] if judged else 0
    once = "" if rival.seconds <= SLOW else ", timed once"
    measure.Claim(
        f"{problem.name}, {rival.label}", f"100 lambdas, {problem.rows} rows, {problem.columns} "
        f"columns, gap {GOAL:g}: at least {least:g} times faster than {rival.label} "
        f"({rival.words()}{once}; ours {tolerance:g})", at_least=least).judge(
            {"theirs s": theirs, "ours s": ours_all, "one thread s": ours_one},
            measure.quotients(theirs, ours_all), rows=problem.rows, features=problem.columns,
            gap=rival.gap if rival.gap < 1 else None, tolerance=rival.tolerance,
            our_tolerance=tolerance,
            one_thread=statistics.median(measure.quotients(theirs, ours_one)),
            path_alone=statistics.median(rival.paths) / statistics.median(ours_all))
    print(f"  their path alone {statistics.median(rival.paths):.4g} s")


PROBLEMS = {
    "wide": lambda: lasso_problem.dense("lasso wide", 1000, 20000, 1e-2),
    "tall": lambda: lasso_problem.dense("lasso tall", 20000, 500, 1e-3),
    "sparse": lambda: lasso_problem.words("lasso sparse"),
    "logistic": lambda: lasso_problem.classes("l1 logistic"),
    "groups": lambda: lasso_problem.groups("group lasso"),
}

SHOWN = ("logistic", "groups")      # no claim is made of them


def main():
    """claim_lasso.py [NAME...]: some of the problems."""
    for name in sys.argv[1:] or PROBLEMS:
        race(PROBLEMS[name](), judged=name not in SHOWN)


main()
