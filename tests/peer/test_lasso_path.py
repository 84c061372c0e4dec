"""Paths and selection of penalties on coefficients against scikit-learn: lars_path, LassoLars,
LassoLarsIC, and leave-one-out by refits of Lasso. lambda = 2 alpha; unscaled features."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from peer import PeerTest, need, numpy as np  # noqa: E402

need("sklearn")
from sklearn.linear_model import Lasso, LassoLars, LassoLarsIC, lars_path  # noqa: E402


def problem(n, p, seed, common=0.0):
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(n, p)) + common * draw.normal(size=(n, 1))
    y = 1 + 2 * x[:, 0] - x[:, 1] + 0.5 * x[:, 2] + draw.normal(size=n)
    return x, y


class PathTest(PeerTest):
    def data(self, x, y):
        names = [f"x{j}" for j in range(x.shape[1])]
        self.save("data.csv", [x, y], names + ["y"])
        return names

    def lasso_path(self, *words):
        return self.run_tool("path", "data.csv", "--penalty", "l1", "--scale", "none", "--json",
                             *words).json["points"]

    def coefficients(self, point, names):
        return np.array([point["coefficients"].get(name, 0.0) for name in names])

    def test_breakpoints_are_those_of_lars(self):
        for n, p, common, positive in ((60, 12, 0.0, False), (60, 12, 2.0, False),
                                       (30, 50, 0.5, False), (60, 12, 1.0, True)):
            x, y = problem(n, p, 7, common)
            names = self.data(x, y)
            alphas, _, coefs = lars_path(x - x.mean(0), y - y.mean(), method="lasso",
                                         positive=positive)
            if positive:        # theirs ends too early with its last step
                alphas, coefs = alphas[:-1], coefs[:, :-1]
            last = max(alphas[-1], 1e-3 * alphas[0])
            points = self.lasso_path("--engine", "homotopy", "--lambda", repr(float(2 * last)),
                               *(["--nonnegative"] if positive else []))
            for point in points:
                ours = self.coefficients(point, names)
                theirs = [np.interp(point["lambda"] / 2, alphas[::-1], row[::-1])
                          for row in coefs]
                np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-8 * np.abs(coefs).max())
            ours = np.array([point["lambda"] / 2 for point in points])
            for alpha in alphas[alphas > 1.01 * last]:     # every one of theirs is one of ours
                self.assertLess(np.abs(ours / alpha - 1).min(), 1e-8)

    def test_grid_is_not_worse_than_lasso_lars(self):
        for n, p in ((60, 12), (30, 50)):
            x, y = problem(n, p, 3, 1.0)
            names = self.data(x, y)
            for point in self.lasso_path()[10:100:30]:
                alpha = point["lambda"] / 2
                peer = LassoLars(alpha=alpha).fit(x, y)
                theirs = np.mean((y - peer.predict(x)) ** 2) + 2 * alpha * np.abs(peer.coef_).sum()
                self.assertLessEqual(point["objective"], theirs * (1 + 1e-8))
                ours = self.coefficients(point, names)
                value = np.mean((y - x @ ours - point["intercept"]) ** 2) + \
                    2 * alpha * np.abs(ours).sum()
                self.assertLess(abs(value / point["objective"] - 1), 1e-10)

    def test_leave_one_out(self):
        x, y = problem(25, 6, 5)
        self.data(x, y)
        lambdas = [0.8, 0.2, 0.05]
        found = self.run_tool("select", "data.csv", "--penalty", "l1", "--scale", "none",
                              "--select", "loo", "--lambda", "0.8,0.2,0.05", "--json").json
        for point, lam in zip(found["grid"], lambdas):
            self.assertEqual(point["lambda"], lam)
            losses = []
            for i in range(25):
                rest = np.arange(25) != i
                peer = Lasso(alpha=lam / 2, tol=1e-12, max_iter=100000).fit(x[rest], y[rest])
                losses.append((y[i] - peer.predict(x[i:i + 1])[0]) ** 2)
            # refits end at a relative gap of 1e-7: residuals to about its root
            self.assertAlmostEqual(point["score"] / np.mean(losses), 1.0, delta=1e-3)
            self.assertAlmostEqual(point["standard_error"] / (np.std(losses, ddof=1) / 5), 1.0,
                                   delta=1e-3)

    def test_information_criterion(self):
        """Theirs knows the variance of the noise; with ours in its place the differences agree."""
        x, y = problem(80, 10, 11)
        names = self.data(x, y)
        peer = LassoLarsIC(criterion="bic").fit(x, y)
        found = self.run_tool("select", "data.csv", "--penalty", "l1", "--scale", "none",
                              "--select", "bic", "--json").json
        chosen = self.lasso_path("--lambda", repr(found["lambda"]))[0]
        ours = {name for name in chosen["coefficients"]}
        theirs = {name for name, value in zip(names, peer.coef_) if value != 0}
        self.assertEqual(ours, theirs)


if __name__ == "__main__":
    unittest.main()
