"""Support vector machines against LIBSVM as distributed, gaussian kernel, gamma = 1/features,
standardised inputs and targets: time to the primal objective that LIBSVM reaches at its default
tolerance, file reading excluded on both sides (LIBSVM is called in memory).

Our side is all of fen_fit, its certificate included, at the loosest tolerance of a list with
which the objective is at least as good as LIBSVM's. Then a path of ten lambdas beside one cold
fit at the smallest, and 50000 rows within one GB of memory."""
import math
import os
import statistics
import sys

import numpy
import pandas

import libsvm_peer
import measure

EPSILON, RUNS = 0.1, 3
SETS = [("cpu_small", 8192), ("california", 12000)]
KINDS = [("eps-SVR", False), ("SVM", True)]
COSTS = [1, 100]
TOLERANCES = [1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6, 1e-7]


def rows_of(name, count):
    """Numeric columns without gaps, a seeded part, everything standardised; target last."""
    table = pandas.read_csv(os.path.join(measure.DATA, name + ".csv"))
    cells = table.select_dtypes("number").dropna().to_numpy()
    cells = cells[numpy.random.default_rng(1).permutation(len(cells))[:count]]
    return (cells - cells.mean(0)) / cells.std(0)


def arguments(kind, cost, tolerance, threads):
    return {"loss": "hinge" if kind else f"eps:{EPSILON}", "as": "libsvm", "lambda": cost,
            "tolerance": tolerance, "threads": threads}


def loosest(path, fixed, kind, cost, goal):
    """The loosest tolerance with which our objective is not above goal."""
    for tolerance in TOLERANCES:
        options = [f"--{k}={v}" for k, v in
                   {**fixed, **arguments(kind, cost, tolerance, measure.THREADS)}.items()]
        if measure.answer("fit", path, "-o", path + ".fen", *options)["primal"] <= goal:
            return tolerance
    sys.exit(f"no tolerance reaches LIBSVM's objective {goal}")


def compare(name, count, label, kind, cost, directory):
    cells = rows_of(name, count)
    if kind:
        cells[:, -1] = numpy.where(cells[:, -1] > numpy.median(cells[:, -1]), 1, -1)
    path = os.path.join(directory, f"{name}-{kind}.npy")
    numpy.save(path, cells)
    peer = libsvm_peer.Peer(cells[:, :-1].copy(), cells[:, -1].copy(), kind)
    gamma = 1 / (cells.shape[1] - 1)
    fixed = {"gamma": gamma, "scale": "none"}
    goal = peer.train(cost, gamma, EPSILON)[1]
    tolerance = loosest(path, fixed, kind, cost, goal)
    worker = measure.Worker("settings", path, *(f"{k}={v}" for k, v in fixed.items()))

    def ours(threads):
        settings = arguments(kind, cost, tolerance, threads)
        return lambda: worker(" ".join(f"{k}={v}" for k, v in settings.items()))

    theirs, two, one = measure.alternate(
        worker, RUNS, lambda: peer.train(cost, gamma, EPSILON)[0], ours(measure.THREADS), ours(1),
        patience=2)
    worker.close()
    title = f"{label} {name} C={cost}"
    facts = {"rows": count, "objective": goal, "tolerance": tolerance}
    for side, seconds, least in (("all threads", two, 2), ("one thread", one, 1)):
        measure.Claim(f"{title}, {side}", f"{title}, {count} rows: at least {least} times faster "
                      f"than LIBSVM to the same objective, {side} (tolerance {tolerance:g})",
                      at_least=least).judge({"LIBSVM s": theirs, "ours s": seconds},
                                            measure.quotients(theirs, seconds), **facts)
    return [statistics.median(measure.quotients(theirs, s)) for s in (two, one)]


def geometric(ratios, side, least):
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    measure.Claim(f"LIBSVM, {side}", f"geometric mean over the {len(ratios)} cases, {side}",
                  at_least=least).judge({}, [mean])


def path_of_ten(directory):
    """Warm starts: ten lambdas in the time of three cold fits at the smallest."""
    path = os.path.join(directory, "path.npy")
    cells = rows_of("cpu_small", 8192)[:4000]
    numpy.save(path, cells)
    worker = measure.Worker("settings", path, f"gamma={1 / (cells.shape[1] - 1)}", "scale=none",
                            f"loss=eps:{EPSILON}", "as=libsvm")
    ten, one = measure.alternate(worker, RUNS, lambda: worker("path lambda=0.1:100:10"),
                                 lambda: worker("lambda=100"), patience=2)
    worker.close()
    measure.Claim("path of ten / one fit", "ten lambdas with warm starts cost at most 3 cold fits "
                  "at the smallest lambda, eps-SVR, 4000 rows, C from 0.1 to 100",
                  at_most=3).judge({"path s": ten, "fit s": one}, measure.quotients(ten, one))


def large(directory):
    path = os.path.join(directory, "large.npy")
    numpy.save(path, numpy.column_stack(measure.friedman(50000, 1)))
    spent = measure.cost(measure.TOOL, "fit", path, "-o", path + ".fen", "--loss", "eps:0.5",
                         "--gamma", "mean", "--as", "libsvm", "--lambda", 1, "--memory", "1G",
                         "--quiet")
    if spent["code"] != 0:
        sys.exit(f"fenchel fit ended with {spent['code']}")
    print(spent["stdout"], f"{spent['seconds']:.1f} s")
    measure.Claim("50000 rows, GB", "eps-SVR on 50000 rows with --memory 1G stays within it",
                  at_most=1).judge({}, [spent["peak_bytes"] / 1e9], unit="GB",
                                   seconds=spent["seconds"])


def main():
    if libsvm_peer.library() is None:
        print("SKIPPED: libsvm.so.3 is not here; install libsvm-tools")
        sys.exit(77)
    ratios = []
    with measure.scratch() as directory:
        for name, count in SETS:
            for label, kind in KINDS:
                ratios += [compare(name, count, label, kind, cost, directory) for cost in COSTS]
        geometric([r[0] for r in ratios], "all threads", 4)
        geometric([r[1] for r in ratios], "one thread", 2)
        path_of_ten(directory)
        large(directory)


main()
