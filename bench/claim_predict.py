"""Predictions of 100000 rows by a model of 2000, 10 features, against scikit-learn; and of one row
at a time by a model of 1000, against the arithmetic that this is."""
import os
import sys

import numpy
from sklearn.kernel_ridge import KernelRidge

import measure

ROWS, FEW, QUERIES, GAMMA, LAMBDA, RUNS = 2000, 1000, 100000, 0.5, 1e-4, 5


def main():
    claim = measure.Claim("predict, scikit-learn", "fen_predict is at least 5 times faster than "
                          "KernelRidge.predict", at_least=5)
    x, y = measure.friedman(ROWS, 1)
    fresh, _ = measure.friedman(QUERIES, 2)
    ridge = KernelRidge(kernel="rbf", gamma=GAMMA, alpha=ROWS * LAMBDA).fit(x, y)
    with measure.scratch() as directory:
        train, query, out = (os.path.join(directory, name + ".npy")
                             for name in ("train", "query", "out"))
        numpy.save(train, numpy.column_stack([x, y]))
        numpy.save(query, fresh)
        worker = measure.Worker("predict", train, query, GAMMA, LAMBDA, out)
        ours, theirs = measure.alternate(worker, RUNS, lambda: worker("predict"),
                                         lambda: measure.stopwatch(ridge.predict, fresh))
        worker.close()
        same = numpy.allclose(numpy.load(out).ravel(), ridge.predict(fresh), rtol=1e-8, atol=0)
    if not same:
        sys.exit("the predictions differ: nothing is compared here")
    claim.judge({"fenchel s": ours, "scikit-learn s": theirs}, measure.quotients(theirs, ours))


def one_row():
    claim = measure.Claim("predict, one row", "fen_predict of one row takes at most twice the time "
                          "of its distances, exponentials and sums", at_most=2)
    x, y = measure.friedman(FEW, 1)
    fresh, _ = measure.friedman(4000, 2)
    with measure.scratch() as directory:
        train, query, out = (os.path.join(directory, name + ".npy")
                             for name in ("train", "query", "out"))
        numpy.save(train, numpy.column_stack([x, y]))
        numpy.save(query, fresh)
        worker = measure.Worker("predict", train, query, GAMMA, LAMBDA, out)
        ours, bound = measure.alternate(worker, RUNS, lambda: worker("one"),
                                        lambda: worker("arithmetic"))
        worker.close()
    claim.judge({"microseconds": [1e6 * s / len(fresh) for s in ours],
                 "arithmetic": [1e6 * s / len(fresh) for s in bound]},
                measure.quotients(ours, bound))


main()
one_row()
