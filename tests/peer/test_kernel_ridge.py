"""Kernel ridge and ridge regression against scikit-learn, kernel by kernel, on fresh rows.

scikit-learn's KernelRidge has no bias: --no-bias, --scale none and --as sklearn make the same
problem. Its Ridge has one. With a bias and a kernel NumPy solves the optimality conditions
[K + n lambda W^-1, 1; 1', 0] [c; b] = [y; 0]."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from peer import PeerTest, need, numpy  # noqa: E402

need("sklearn")
from sklearn.kernel_ridge import KernelRidge  # noqa: E402
from sklearn.linear_model import Ridge  # noqa: E402
from sklearn.metrics.pairwise import pairwise_kernels  # noqa: E402

ROWS, FRESH, INPUTS, ALPHA = 70, 25, 4, 0.3
PLAIN = ["--scale", "none", "--as", "sklearn", "--lambda", ALPHA]
# ours, theirs, their parameters
KERNELS = [("gaussian", "rbf", {"gamma": 0.4}), ("laplace1", "laplacian", {"gamma": 0.4}),
           ("polynomial", "polynomial", {"gamma": 0.7, "degree": 3, "coef0": 1.5}),
           ("linear", "linear", {})]


def options_of(ours, parameters):
    words = ["--kernel", ours]
    for name, value in parameters.items():
        words += ["--" + name, str(value)]
    return words


class Rows(PeerTest):
    def setUp(self):
        super().setUp()
        random = numpy.random.default_rng(5)
        self.x = random.standard_normal((ROWS, INPUTS))
        self.fresh = random.standard_normal((FRESH, INPUTS))
        self.y = numpy.sin(self.x[:, 0]) + self.x[:, 1] * self.x[:, 2] + 3
        self.z = numpy.exp(self.x[:, 3]) - 40
        self.weights = random.uniform(0.2, 3, ROWS)

    def save_rows(self, *labels, weights=None):
        names = [f"x{j}" for j in range(INPUTS)]
        extra = [f"y{j}" for j in range(len(labels))]
        columns = [self.x, *labels]
        if weights is not None:
            columns.insert(1, weights)
            extra.insert(0, "w")
        self.save("train.csv", columns, names + extra)
        self.save("fresh.csv", [self.fresh], names)


class KernelRidgeTest(Rows):
    def both(self, ours, theirs, parameters, *more, sample_weight=None, y=None):
        """Fits on the files that were saved; returns our predictions and theirs."""
        self.fit("train.csv", "--no-bias", *PLAIN, *options_of(ours, parameters), *more)
        peer = KernelRidge(alpha=ALPHA, kernel=theirs, **parameters)
        peer.fit(self.x, self.y if y is None else y, sample_weight=sample_weight)
        return self.predict("fresh.csv"), peer.predict(self.fresh)

    def test_every_kernel(self):
        self.save_rows(self.y)
        for kernel in KERNELS:
            with self.subTest(kernel=kernel[0]):
                self.assert_close(*self.both(*kernel))

    def test_sample_weights(self):
        self.save_rows(self.y, weights=self.weights)
        for kernel in KERNELS:
            with self.subTest(kernel=kernel[0]):
                found, expected = self.both(*kernel, "--weights", "w", sample_weight=self.weights)
                self.assert_close(found, expected)

    def test_several_targets(self):
        self.save_rows(self.y, self.z)
        both = numpy.column_stack([self.y, self.z])
        for kernel in KERNELS:
            with self.subTest(kernel=kernel[0]):
                found, expected = self.both(*kernel, "--target", "y0,y1", y=both)
                self.assert_close(found[:, 0], expected[:, 0])
                self.assert_close(found[:, 1], expected[:, 1])

    def test_precomputed(self):
        names = [f"k{j}" for j in range(ROWS)]
        matrix = pairwise_kernels(self.x, metric="rbf", gamma=0.4)
        against = pairwise_kernels(self.fresh, self.x, metric="rbf", gamma=0.4)
        self.save("train.csv", [matrix, self.y], names + ["y"])
        self.save("fresh.csv", [against], names)
        peer = KernelRidge(alpha=ALPHA, kernel="precomputed").fit(matrix, self.y)
        self.fit("train.csv", "--kernel", "precomputed", "--no-bias", *PLAIN)
        self.assert_close(self.predict("fresh.csv"), peer.predict(against))
        self.assertTrue(self.verify("train.csv")["holds"])

    def test_engines(self):
        self.save_rows(self.y)
        for engine in ("cholesky", "spectral"):
            for kernel in KERNELS:
                with self.subTest(engine=engine, kernel=kernel[0]):
                    self.assert_close(*self.both(*kernel, "--engine", engine))


class BiasTest(Rows):
    def solve(self, kernel, parameters, weights, y):
        """Predictions on the fresh rows from the optimality conditions."""
        k = pairwise_kernels(self.x, metric=kernel, **parameters)
        ones = numpy.ones((ROWS, 1))
        system = numpy.block([[k + numpy.diag(ALPHA / weights), ones], [ones.T, 0]])
        solution = numpy.linalg.solve(system, numpy.append(y, 0))
        against = pairwise_kernels(self.fresh, self.x, metric=kernel, **parameters)
        return against @ solution[:-1] + solution[-1]

    def test_ridge_with_intercept(self):
        for weights in (None, self.weights):
            with self.subTest(weighted=weights is not None):
                self.save_rows(self.y, weights=weights)
                more = ["--weights", "w"] if weights is not None else []
                found = self.fit("train.csv", "--kernel", "linear", *PLAIN, *more)
                peer = Ridge(alpha=ALPHA).fit(self.x, self.y, sample_weight=weights)
                self.assertEqual(found["method"], "primal")
                self.assertAlmostEqual(found["bias"], peer.intercept_, delta=1e-8)
                self.assert_close(self.predict("fresh.csv"), peer.predict(self.fresh))
                self.assert_close(self.model()[1]["weights"][0], peer.coef_)

    def test_bias_with_every_kernel(self):
        for weights in (None, self.weights):
            self.save_rows(self.y, weights=weights)
            more = ["--weights", "w"] if weights is not None else []
            for ours, theirs, parameters in KERNELS:
                with self.subTest(kernel=ours, weighted=weights is not None):
                    self.fit("train.csv", *PLAIN, *options_of(ours, parameters), *more)
                    plain = numpy.ones(ROWS) if weights is None else weights
                    expected = self.solve(theirs, parameters, plain, self.y)
                    self.assert_close(self.predict("fresh.csv"), expected)

    def test_standard_scaling(self):
        """--scale standard is scikit-learn's StandardScaler, learned on the training rows."""
        self.save_rows(self.y)
        centre, unit = self.x.mean(axis=0), self.x.std(axis=0)
        peer = Ridge(alpha=ALPHA).fit((self.x - centre) / unit, self.y)
        self.fit("train.csv", "--kernel", "linear", "--as", "sklearn", "--lambda", ALPHA)
        self.assert_close(self.predict("fresh.csv"), peer.predict((self.fresh - centre) / unit))


if __name__ == "__main__":
    unittest.main()
