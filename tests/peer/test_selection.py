"""Leave-one-out by brute force, generalised cross-validation by its formula, k folds by sanity.

Leaving row i out deletes its term and keeps the weights of the others. In scikit-learn's unit
that is a refit of the other rows with the same alpha. The score is the weighted mean of the
squared left-out residuals; several targets: the mean of the scores over the targets' variances."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from peer import PeerTest, need, numpy  # noqa: E402

need("sklearn")
from sklearn.kernel_ridge import KernelRidge  # noqa: E402
from sklearn.linear_model import Ridge  # noqa: E402
from sklearn.metrics.pairwise import pairwise_kernels  # noqa: E402

ROWS, INPUTS = 30, 3
FEW = [0.01, 0.1, 1.0]                              # by factorisations
MANY = list(numpy.logspace(-3, 1, 9))              # by eigenvalues
GAMMAS = [0.2, 0.8]


class Biased:
    """Kernel ridge with an unpenalised bias, from its optimality conditions."""

    def __init__(self, alpha, kernel, gamma=None):
        self.alpha, self.kernel = alpha, kernel
        self.gamma = {} if gamma is None else {"gamma": gamma}

    def fit(self, x, y, sample_weight):
        ones = numpy.ones((len(x), 1))
        k = pairwise_kernels(x, metric=self.kernel, **self.gamma)
        system = numpy.block([[k + numpy.diag(self.alpha / sample_weight), ones], [ones.T, 0]])
        solution = numpy.linalg.solve(system, numpy.append(y, 0))
        self.x, self.c, self.b = x, solution[:-1], solution[-1]
        return self

    def predict(self, x):
        return pairwise_kernels(x, self.x, metric=self.kernel, **self.gamma) @ self.c + self.b


def left_out(make, x, y, weights):
    """Weighted mean square of the residuals of n refits."""
    total = 0.0
    for i in range(len(x)):
        rest = numpy.arange(len(x)) != i
        model = make().fit(x[rest], y[rest], sample_weight=weights[rest])
        total += weights[i] * float(y[i] - model.predict(x[i:i + 1])[0]) ** 2
    return total / weights.sum()


def generalised(k, y, alpha, weights, bias):
    """n |M y|^2 / trace(M)^2 with the rows weighted to S K S, S y."""
    root = numpy.sqrt(len(y) * weights / weights.sum())
    inverse = numpy.linalg.inv(root[:, None] * k * root
                               + len(y) * alpha / weights.sum() * numpy.eye(len(y)))
    if bias:
        along = inverse @ root
        inverse = inverse - numpy.outer(along, along) / (root @ along)
    return numpy.mean((inverse @ (root * y)) ** 2) / numpy.mean(numpy.diag(inverse)) ** 2


class Selection(PeerTest):
    def setUp(self):
        super().setUp()
        random = numpy.random.default_rng(7)
        self.x = random.standard_normal((ROWS, INPUTS))
        self.y = numpy.cos(2 * self.x[:, 0]) + self.x[:, 1] + 0.2 * random.standard_normal(ROWS)
        self.z = 5 * self.x[:, 2] + random.standard_normal(ROWS)
        self.ones = numpy.ones(ROWS)
        self.weights = random.uniform(0.3, 2, ROWS)
        self.save("data.csv", [self.x, self.weights, self.z, self.y],
                  ["x0", "x1", "x2", "w", "z", "y"])
        self.save("plain.csv", [self.x, self.y], ["x0", "x1", "x2", "y"])

    def scores(self, data, *options, alphas=MANY):
        """{(gamma, alpha): score}, and the best point is the one that is announced."""
        found = self.select(data, "--scale", "none", "--as", "sklearn", "--lambda",
                            ",".join(map(repr, map(float, alphas))), *options)
        best = min(found["grid"], key=lambda point: point["score"])
        self.assertEqual((found["gamma"], found["lambda"], found["score"]),
                         (best["gamma"], best["lambda"], best["score"]))
        self.assertEqual(found["score_rows"], ROWS)
        self.assertEqual(len(found["grid"]) % len(alphas), 0)
        return {(point["gamma"], float(alphas[i % len(alphas)])): point["score"]
                for i, point in enumerate(found["grid"])}

    def compare(self, found, expected):
        self.assertEqual(set(found), set(expected))
        for point, value in expected.items():
            self.assertAlmostEqual(found[point], value, delta=1e-8 * value, msg=point)

    def test_gaussian_without_bias(self):
        for alphas in (FEW, MANY):
            found = self.scores("plain.csv", "--no-bias", "--gamma", "0.2,0.8", alphas=alphas)
            self.compare(found, {(g, float(a)): left_out(
                lambda: KernelRidge(alpha=a, kernel="rbf", gamma=g), self.x, self.y, self.ones)
                for g in GAMMAS for a in alphas})

    def test_gaussian_with_bias_and_weights(self):
        """z is an input here: the last column is the target."""
        x = numpy.column_stack([self.x, self.z])
        for alphas in (FEW, MANY):
            found = self.scores("data.csv", "--weights", "w", "--gamma", "0.2,0.8", alphas=alphas)
            self.compare(found, {(g, float(a)): left_out(
                lambda: Biased(a, "rbf", g), x, self.y, self.weights)
                for g in GAMMAS for a in alphas})

    def test_laplacian(self):
        found = self.scores("plain.csv", "--kernel", "laplace1", "--gamma", "0.3")
        self.compare(found, {(0.3, float(a)): left_out(
            lambda: Biased(a, "laplacian", 0.3), self.x, self.y, self.ones) for a in MANY})

    def test_linear_is_ridge(self):
        for alphas in (FEW, MANY):
            found = self.scores("plain.csv", "--kernel", "linear", alphas=alphas)
            found = {alpha: score for (_, alpha), score in found.items()}
            self.compare(found, {float(a): left_out(
                lambda: Ridge(alpha=a), self.x, self.y, self.ones) for a in alphas})

    def test_weighted_ridge(self):
        x = numpy.column_stack([self.x, self.z])
        found = self.scores("data.csv", "--kernel", "linear", "--weights", "w")
        found = {alpha: score for (_, alpha), score in found.items()}
        self.compare(found, {float(a): left_out(
            lambda: Ridge(alpha=a), x, self.y, self.weights) for a in MANY})

    def test_several_targets(self):
        self.save("both.csv", [self.x, self.z, self.y], ["x0", "x1", "x2", "z", "y"])
        found = self.scores("both.csv", "--target", "z,y", "--gamma", "0.2")
        self.compare(found, {(0.2, float(a)): numpy.mean(
            [left_out(lambda: Biased(a, "rbf", 0.2), self.x, t, self.ones) / numpy.var(t)
             for t in (self.z, self.y)]) for a in MANY})

    def test_fit_chooses_the_same(self):
        fit = self.fit("plain.csv", "--gamma", "0.2,0.8", "--lambda", "1e-4:1:12")
        table = self.select("plain.csv", "--gamma", "0.2,0.8", "--lambda", "1e-4:1:12")
        for key in ("gamma", "lambda", "score", "score_kind", "grid"):
            self.assertEqual(fit[key], table[key])

    def test_generalised_cross_validation(self):
        x = numpy.column_stack([self.x, self.z])
        self.save("gcv.csv", [x, self.weights, self.y], ["a", "b", "c", "d", "w", "y"])
        for kernel, gamma in (("rbf", {"gamma": 0.2}), ("linear", {})):
            k = pairwise_kernels(x, metric=kernel, **gamma)
            words = ["--gamma", "0.2"] if gamma else ["--kernel", "linear"]
            for bias in (False, True):
                for alphas in (FEW, MANY):
                    with self.subTest(kernel=kernel, bias=bias, alphas=len(alphas)):
                        more = words + ([] if bias else ["--no-bias"])
                        found = self.scores("gcv.csv", "--select", "gcv", "--weights", "w", *more,
                                            alphas=alphas)
                        found = {alpha: score for (_, alpha), score in found.items()}
                        self.compare(found, {float(a): generalised(k, self.y, a, self.weights, bias)
                                             for a in alphas})

    def test_one_row_per_fold(self):
        """Folds keep lambda, not alpha: the weights of what is left sum to one again."""
        x = numpy.column_stack([self.x, self.z])
        for words, kernel, gamma in ((["--gamma", "0.2"], "rbf", 0.2),
                                     (["--kernel", "linear"], "linear", None)):
            with self.subTest(kernel=kernel):
                found = self.scores("data.csv", "--select", f"kfold:{ROWS}", "--weights", "w",
                                    *words, alphas=FEW)
                found = {alpha: score for (_, alpha), score in found.items()}
                self.compare(found, {a: self.one_by_one(kernel, gamma, a, x) for a in FEW})

    def one_by_one(self, kernel, gamma, alpha, x):
        total = 0.0
        for i in range(ROWS):
            rest = numpy.arange(ROWS) != i
            share = self.weights[rest].sum() / self.weights.sum()
            model = Biased(alpha * share, kernel, gamma)
            model.fit(x[rest], self.y[rest], self.weights[rest])
            total += self.weights[i] * (self.y[i] - model.predict(x[i:i + 1])[0]) ** 2
        return total / self.weights.sum()

    def test_folds(self):
        """Five folds: the seed decides them; the scores are of a size with leave-one-out."""
        def folds(seed):
            return self.scores("plain.csv", "--gamma", "0.2", "--select", "kfold:5", "--seed", seed)
        first, again, other = folds(1), folds(1), folds(2)
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)
        for point, score in self.scores("plain.csv", "--gamma", "0.2").items():
            self.assertLess(abs(numpy.log(first[point] / score)), numpy.log(3))


if __name__ == "__main__":
    unittest.main()
