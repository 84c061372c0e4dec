"""Lasso, elastic net, rows of coefficients and l1 logistic regression against scikit-learn.

Theirs is run to 1e-12 or so of its own criterion; the objective is computed here, from the
definition, for their coefficients and for ours. scikit-learn's alpha is half our lambda (its loss
is half the mean square), and its C is 1/(n lambda)."""
import os
import sys
import unittest
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from peer import need, numpy  # noqa: E402
from sparse import Linear, Problem, SparseTest  # noqa: E402

need("sklearn")
sparse_matrices = need("scipy.sparse")
from sklearn.datasets import dump_svmlight_file  # noqa: E402
from sklearn.linear_model import (ElasticNet, Lasso, LassoLars, LogisticRegression,  # noqa: E402
                                  MultiTaskLasso, QuantileRegressor)

warnings.filterwarnings("ignore")     # of theirs: tolerances are met or the tests fail
EXACT = {"tol": 1e-13, "max_iter": 1000000}
L1 = ["--penalty", "l1"]


def of(model):
    coef = numpy.asarray(model.coef_)
    return Linear(coef.T if coef.ndim == 2 and len(coef) > 1 else coef.ravel(),
                  model.intercept_ if numpy.size(model.intercept_) > 1
                  else float(numpy.ravel(model.intercept_)[0]))


class SquareTest(SparseTest):
    def setUp(self):
        super().setUp()
        self.draw(80, 20)

    def most(self):
        """The least alpha of theirs that leaves nothing."""
        return max(abs((self.x - self.x.mean(axis=0)).T @ (self.y - self.y.mean()))) / len(self.y)

    def test_lasso_and_lars(self):
        data = self.table(self.y)
        for share in [0.5, 0.05, 0.001]:
            with self.subTest(share=share):
                alpha = share * self.most()
                ours = self.ours(data, *L1, "--lambda", 2 * alpha)
                problem = Problem(self.x, self.y, 2 * alpha)
                self.assert_peer(problem, ours, of(Lasso(alpha=alpha, **EXACT).fit(self.x, self.y)))
                lars = LassoLars(alpha=alpha).fit(self.x, self.y)
                self.assert_peer(problem, ours, of(lars))

    def test_their_unit(self):
        alpha = 0.1 * self.most()
        data = self.table(self.y)
        theirs = of(Lasso(alpha=alpha, **EXACT).fit(self.x, self.y))
        ours = self.ours(data, *L1, "--lambda", alpha, "--as", "sklearn")
        self.assert_peer(Problem(self.x, self.y, 2 * alpha), ours, theirs)
        self.assert_close(self.predict(data), theirs(self.x), 1e-6)

    def test_more_columns_than_rows(self):
        self.draw(50, 300)
        data = self.table(self.y)
        for share in [0.3, 0.03]:
            with self.subTest(share=share):
                alpha = share * self.most()
                ours = self.ours(data, *L1, "--lambda", 2 * alpha)
                theirs = of(Lasso(alpha=alpha, **EXACT).fit(self.x, self.y))
                self.assert_peer(Problem(self.x, self.y, 2 * alpha), ours, theirs)
                self.assertLess(len(ours.support), 50)

    def test_nothing_is_left(self):
        alpha = 1.0001 * self.most()
        ours = self.ours(self.table(self.y), *L1, "--lambda", 2 * alpha)
        self.assertEqual(ours.support, [])
        self.assert_close(ours.b, self.y.mean(), 1e-12)

    def test_elastic_net(self):
        data = self.table(self.y)
        for mix, share in [(0.9, 0.1), (0.5, 0.02), (0.05, 0.01)]:
            with self.subTest(mix=mix, share=share):
                alpha = share * self.most() / mix
                ours = self.ours(data, "--penalty", f"elastic:{mix}", "--lambda", 2 * alpha)
                theirs = ElasticNet(alpha=alpha, l1_ratio=mix, **EXACT).fit(self.x, self.y)
                self.assert_peer(Problem(self.x, self.y, 2 * alpha, mix=mix), ours, of(theirs))

    def test_elastic_net_of_many_columns(self):
        self.draw(40, 150)
        alpha = 0.1 * self.most()
        ours = self.ours(self.table(self.y), "--penalty", "elastic:0.3", "--lambda", alpha, "--as",
                         "sklearn")
        theirs = ElasticNet(alpha=alpha, l1_ratio=0.3, **EXACT).fit(self.x, self.y)
        self.assert_peer(Problem(self.x, self.y, 2 * alpha, mix=0.3), ours, of(theirs))

    def test_sample_weights(self):
        """As scikit-learn's: over their sum. Rows of weight 2 are two rows."""
        alpha = 0.05 * self.most()
        data = self.table(self.y, more=[("times", self.times)])
        ours = self.ours(data, *L1, "--lambda", 2 * alpha, "--weights", "times", "--target", "y")
        theirs = of(Lasso(alpha=alpha, **EXACT).fit(self.x, self.y, sample_weight=self.times))
        problem = Problem(self.x, self.y, 2 * alpha, weights=self.times)
        self.assert_peer(problem, ours, theirs)
        again = numpy.repeat(numpy.arange(len(self.y)), self.times.astype(int))
        repeated = of(Lasso(alpha=alpha, **EXACT).fit(self.x[again], self.y[again]))
        self.assert_peer(problem, ours, repeated)

    def test_no_bias(self):
        alpha = 0.05 * self.most()
        ours = self.ours(self.table(self.y), *L1, "--lambda", 2 * alpha, "--no-bias")
        theirs = of(Lasso(alpha=alpha, fit_intercept=False, **EXACT).fit(self.x, self.y))
        self.assertEqual(ours.b, 0)
        self.assert_peer(Problem(self.x, self.y, 2 * alpha), ours, theirs)

    def test_nonnegative(self):
        data = self.table(self.y)
        alpha = 0.02 * self.most()
        for penalty, mix in [("l1", 1.0), ("elastic:0.5", 0.5)]:
            with self.subTest(penalty=penalty):
                ours = self.ours(data, "--penalty", penalty, "--lambda", 2 * alpha, "--nonnegative")
                theirs = ElasticNet(alpha=alpha, l1_ratio=mix, positive=True, **EXACT)
                self.assert_peer(Problem(self.x, self.y, 2 * alpha, mix=mix), ours,
                                 of(theirs.fit(self.x, self.y)))
                self.assertTrue(numpy.all(ours.coef >= 0))

    def test_standardised(self):
        """--scale standard (the default) is their Lasso on columns of mean 0 and deviation 1."""
        spread = self.x.std(axis=0)
        scaled = (self.x - self.x.mean(axis=0)) / spread
        alpha = 0.05 * max(abs(scaled.T @ (self.y - self.y.mean()))) / len(self.y)
        ours = self.ours(self.table(self.y), *L1, "--lambda", 2 * alpha, "--scale", "standard")
        theirs = of(Lasso(alpha=alpha, **EXACT).fit(scaled, self.y))
        standardised = Linear(ours.coef * spread, ours.b + self.x.mean(axis=0) @ ours.coef)
        self.assert_peer(Problem(scaled, self.y, 2 * alpha), standardised, theirs)

    def test_targets_together(self):
        """group:targets is MultiTaskLasso."""
        both = numpy.column_stack([self.y, 2 * self.x[:, 3] + self.y[::-1], self.x.sum(axis=1)])
        data = self.table(both)
        for share in [0.3, 0.01]:
            with self.subTest(share=share):
                centred = self.x - self.x.mean(axis=0)
                products = centred.T @ (both - both.mean(axis=0)) / len(both)
                alpha = share * max(numpy.linalg.norm(products, axis=1))
                ours = self.ours(data, "--penalty", "group:targets", "--lambda",
                                 2 * alpha, "--target", "y0,y1,y2")
                theirs = of(MultiTaskLasso(alpha=alpha, **EXACT).fit(self.x, both))
                self.assert_peer(Problem(self.x, both, 2 * alpha), ours, theirs)


class SparseFilesTest(SparseTest):
    """The same coefficients from an svmlight file, whose absent entries are zeros."""

    def setUp(self):
        super().setUp()
        self.draw(100, 1500, kinship=0)
        random = numpy.random.default_rng(3)
        self.x = numpy.where(random.random(self.x.shape) < 0.05, self.x.round(3), 0)
        self.x[:, -1] = 0      # a column that only the file's width knows
        truth = numpy.where(random.random(1500) < 0.03, 2.0, 0.0)
        self.y = self.x @ truth + 0.3 * random.standard_normal(100) + 1
        self.signs = numpy.where(self.x @ truth + 0.3 * random.standard_normal(100) > 0, 1.0, -1.0)
        self.columns = sparse_matrices.csc_matrix(self.x)

    def dump(self, labels):
        dump_svmlight_file(self.x, labels, self.path("train.svm"), zero_based=False)
        return "train.svm"

    def test_lasso(self):
        alpha = 0.2 * max(abs(self.x.T @ (self.y - self.y.mean()))) / len(self.y)
        theirs = of(Lasso(alpha=alpha, **EXACT).fit(self.columns, self.y))
        problem = Problem(self.x, self.y, 2 * alpha)
        self.assert_peer(problem, self.ours(self.dump(self.y), *L1, "--lambda", 2 * alpha), theirs)
        self.assert_peer(problem, self.ours(self.table(self.y), *L1, "--lambda", 2 * alpha), theirs)

    def test_no_bias_and_nonnegative(self):
        alpha = 0.1 * max(self.x.T @ self.y) / len(self.y)
        theirs = Lasso(alpha=alpha, fit_intercept=False, positive=True, **EXACT)
        ours = self.ours(self.dump(self.y), *L1, "--lambda", 2 * alpha, "--no-bias",
                         "--nonnegative")
        self.assert_peer(Problem(self.x, self.y, 2 * alpha), ours,
                         of(theirs.fit(self.columns, self.y)))

    def test_logistic(self):
        cost = 3.0
        lam = 1 / (len(self.signs) * cost)
        theirs = LogisticRegression(penalty="l1", C=cost, solver="liblinear", fit_intercept=False,
                                    tol=1e-12, max_iter=100000).fit(self.columns, self.signs)
        ours = self.ours(self.dump(self.signs), *L1, "--lambda", lam, "--loss", "logistic",
                         "--no-bias")
        self.assert_peer(Problem(self.x, self.signs, lam, "logistic"), ours, of(theirs))


class OtherLossesTest(SparseTest):
    def setUp(self):
        super().setUp()
        self.draw(120, 12)
        self.x -= self.x.mean(axis=0)     # saga crawls otherwise

    def check_logistic(self, cost, solver, bias, *options, weights=None):
        total = len(self.signs) if weights is None else weights.sum()
        lam = 1 / (total * cost)
        theirs = LogisticRegression(penalty="l1", C=cost, solver=solver, fit_intercept=bias,
                                    tol=1e-10, max_iter=100000, random_state=1)
        theirs = of(theirs.fit(self.x, self.signs, sample_weight=weights))
        data = self.table(self.signs, more=[] if weights is None else [("times", weights)])
        ours = self.ours(data, *L1, "--loss", "logistic", "--lambda", lam, "--target", "y",
                         *options, *([] if bias else ["--no-bias"]))
        self.assert_peer(Problem(self.x, self.signs, lam, "logistic", weights=weights), ours,
                         theirs)

    def test_logistic(self):
        for cost in [0.2, 2]:
            with self.subTest(C=cost):
                self.check_logistic(cost, "saga", True)
                self.check_logistic(cost, "liblinear", False)

    def test_logistic_with_weights(self):
        self.check_logistic(0.3, "saga", True, "--weights", "times", weights=self.times)
        self.check_logistic(0.3, "liblinear", False, "--weights", "times", weights=self.times)

    def test_quantiles(self):
        """Their linear program: mean pinball loss + alpha |coef|, our objective as it is."""
        data = self.table(self.y)
        for tau, alpha in [(0.5, 0.1), (0.2, 0.02), (0.9, 0.05)]:
            with self.subTest(tau=tau, alpha=alpha):
                theirs = QuantileRegressor(quantile=tau, alpha=alpha, solver="highs")
                theirs = of(theirs.fit(self.x, self.y))
                ours = self.ours(data, *L1, "--loss", f"pinball:{tau}", "--lambda", alpha)
                problem = Problem(self.x, self.y, alpha, f"pinball:{tau}")
                self.assert_peer(problem, ours, theirs)


if __name__ == "__main__":
    unittest.main()
