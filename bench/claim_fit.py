"""One exact fit, 6000 rows, 10 features: against the bare limit and against scikit-learn."""
import os

import numpy
from sklearn.kernel_ridge import KernelRidge

import measure

ROWS, GAMMA, LAMBDA, RUNS = 6000, 0.05, 1e-4, 7


def main():
    limit = measure.Claim("fit / limit", "fen_fit with its certificate takes at most 1.25 times "
                          "GEMM tiles + vector exp + dpotrf + dpotrs", at_most=1.25)
    peer = measure.Claim("fit, scikit-learn", "fen_fit is at least 1.3 times faster than "
                         "KernelRidge(kernel='rbf').fit", at_least=1.3)
    x, y = measure.friedman(ROWS, 1)
    scaled = (x - x.mean(axis=0)) / x.std(axis=0)
    ridge = KernelRidge(kernel="rbf", gamma=GAMMA, alpha=ROWS * LAMBDA)
    with measure.scratch() as directory:
        path = os.path.join(directory, "train.npy")
        numpy.save(path, numpy.column_stack([x, y]))
        worker = measure.Worker("fit", path, GAMMA, LAMBDA)
        ours, bare, theirs = measure.alternate(
            worker, RUNS, lambda: worker("fit"), lambda: worker("limit"),
            lambda: measure.stopwatch(ridge.fit, scaled, y))
        worker.close()
    limit.judge({"fenchel s": ours, "limit s": bare}, measure.quotients(ours, bare))
    peer.judge({"fenchel s": ours, "scikit-learn s": theirs}, measure.quotients(theirs, ours))


main()
