"""Losses with corners under penalties that are no linear programs, and losses that no linear
program has: elastic nets and groups against SciPy's SLSQP, the hard tube against HiGHS, the squared
hinge against LIBLINEAR.

SLSQP gets the smooth problem of

    min  w . loss + sum_g (l_g tau_g + d_g/2 |beta_g|^2),   loss_i >= lines,   tau_g >= |beta_g|

and is as good as its own stopping rule (1e-12 in the objective); objectives are compared, never
worse than theirs by 1e-7."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from peer import need, numpy  # noqa: E402
from sparse import TIGHT, Linear, Problem, SparseTest  # noqa: E402

optimize = need("scipy.optimize")
svm = need("sklearn.svm")


def corners(loss, y):
    """(slope, height) of every line whose largest is the loss of a row."""
    name, _, value = loss.partition(":")
    par, one = float(value or 0), numpy.ones(len(y))
    return {"absolute": [(one, -y), (-one, y)],
            "pinball": [(-par * one, par * y), ((1 - par) * one, (par - 1) * y)],
            "eps": [(0 * one, 0 * y), (one, -y - par), (-one, y - par)],
            "hinge": [(0 * one, 0 * y), (-y, one)]}[name]


def smooth(problem, start):
    """Coefficients by SLSQP from (coefficients, bias); variables: beta, b, losses, taus."""
    n, p = problem.x.shape
    x, count = numpy.column_stack([problem.x, numpy.ones(n)]), len(problem.groups)
    l = problem.lam * problem.factors * problem.mix
    d = numpy.zeros(p)
    for weight, group in zip(problem.factors, problem.groups):
        d[group] = problem.lam * weight * (1 - problem.mix)
    rows = []
    rights = []
    for slope, height in corners(problem.loss, problem.y):
        rows.append(numpy.hstack([-slope[:, None] * x, numpy.eye(n), numpy.zeros((n, count))]))
        rights.append(height)
    rows, rights = numpy.vstack(rows), numpy.concatenate(rights)

    def objective(v):
        return problem.w @ v[p + 1:p + 1 + n] + l @ v[p + 1 + n:] + d @ v[:p] ** 2 / 2

    def slopes(v):
        return numpy.concatenate([d * v[:p], [0.0], problem.w, l])

    def cones(v):
        return numpy.array([v[p + 1 + n + g] - numpy.sqrt(v[group] @ v[group] + 1e-24)
                            for g, group in enumerate(problem.groups)])

    def cone_slopes(v):
        found = numpy.zeros((count, len(v)))
        for g, group in enumerate(problem.groups):
            found[g, group] = -v[group] / numpy.sqrt(v[group] @ v[group] + 1e-24)
            found[g, p + 1 + n + g] = 1.0
        return found

    f = Linear(start.coef, start.b)
    loss = numpy.max([slope * f(problem.x) + height
                      for slope, height in corners(problem.loss, problem.y)], axis=0)
    norms = [numpy.linalg.norm(f.coef[group]) for group in problem.groups]
    first = numpy.concatenate([f.coef, [f.b], loss + 0.1, numpy.array(norms) + 0.1])
    done = optimize.minimize(
        objective, first, jac=slopes, method="SLSQP", options={"maxiter": 500, "ftol": 1e-12},
        constraints=[{"type": "ineq", "fun": lambda v: rows @ v - rights, "jac": lambda v: rows},
                     {"type": "ineq", "fun": cones, "jac": cone_slopes}])
    return Linear(done.x[:p], done.x[p])


class CurvedTest(SparseTest):
    def setUp(self):
        super().setUp()
        self.draw(40, 6)
        self.y /= self.y.std()
        self.names = [f"g{j // 2}_{j % 2}" for j in range(6)]

    def check(self, problem, *words):
        labels = problem.y
        ours = self.ours(self.table(labels), "--loss", problem.loss, "--lambda", problem.lam,
                         *words)
        solid = numpy.linalg.lstsq(numpy.column_stack([self.x, numpy.ones(40)]), labels, rcond=None)
        best, other = problem(ours), problem(smooth(problem, Linear(solid[0][:6], solid[0][6])))
        print(f"   ours {best:.15g} theirs {other:.15g}", flush=True)
        self.assertLessEqual(best, other * (1 + 1e-7))
        self.assertLessEqual(other, best * (1 + 1e-6))     # it did solve this problem
        self.assert_close(self.found["primal"], best, 1e-9)

    def each(self, check):
        for loss in ["absolute", "eps:0.3", "pinball:0.8", "hinge"]:
            for lam in [0.1, 0.01]:
                with self.subTest(loss=loss, lam=lam):
                    check(self.signs if loss == "hinge" else self.y, loss, lam)

    def test_elastic_nets(self):
        self.each(lambda y, loss, lam: self.check(Problem(self.x, y, lam, loss, mix=0.4),
                                                  "--penalty", "elastic:0.4"))

    def test_groups(self):
        groups, factors = [[0, 1], [2, 3], [4, 5]], numpy.full(3, 2 ** 0.5)
        self.each(lambda y, loss, lam: self.check(
            Problem(self.x, y, lam, loss, groups=groups, factors=factors),
            "--penalty", "group:prefix:_"))


class OtherLossTest(SparseTest):
    def setUp(self):
        super().setUp()
        self.draw(60, 10)
        self.y /= self.y.std()

    def test_tube(self):
        """The least sum of coefficients within the tube."""
        n, p = self.x.shape
        x = numpy.column_stack([self.x, -self.x, numpy.ones(n)])
        for e in [1.5, 1.8]:
            with self.subTest(e=e):
                ours = self.ours(self.table(self.y), "--penalty", "l1", "--loss", f"tube:{e}",
                                 "--lambda", 0.1)
                theirs = optimize.linprog(
                    numpy.r_[numpy.full(2 * p, 0.1), 0.0], numpy.vstack([x, -x]),
                    numpy.r_[self.y + e, e - self.y], method="highs",
                    bounds=[(0, None)] * 2 * p + [(None, None)])
                self.assertEqual(theirs.status, 0, theirs.message)
                self.assertLessEqual(abs(self.y - ours(self.x)).max(), e * (1 + 1e-9))
                self.assertLessEqual(0.1 * abs(ours.coef).sum(), theirs.fun * (1 + 1e-7))
                self.assertTrue(0 < len(ours.support) < p)

    def test_tube_too_narrow(self):
        """Nothing fits, and that is said."""
        done = self.run_tool("fit", self.table(self.y), "-o", "n.fen", "--json", *TIGHT,
                             "--penalty", "l1", "--loss", "tube:0.01", "--lambda", "0.1", code=1)
        self.assertIn("no function within the tube was found", done.err)

    def test_squared_hinge(self):
        """LIBLINEAR: C sum loss + |coef|_1 is n C times ours with lambda = 1/(n C)."""
        for c in [0.05, 1.0]:
            with self.subTest(C=c):
                lam = 1 / (len(self.signs) * c)
                ours = self.ours(self.table(self.signs), "--penalty", "l1", "--loss", "sqhinge",
                                 "--lambda", lam, "--no-bias")
                theirs = svm.LinearSVC(penalty="l1", loss="squared_hinge", dual=False, C=c,
                                       fit_intercept=False, tol=1e-10, max_iter=100000)
                theirs.fit(self.x, self.signs)

                def value(coef):
                    margin = numpy.maximum(0, 1 - self.signs * (self.x @ coef))
                    return numpy.mean(margin ** 2) + lam * abs(coef).sum()
                best, other = value(ours.coef), value(theirs.coef_[0])
                print(f"   ours {best:.15g} theirs {other:.15g}", flush=True)
                self.assertLessEqual(best, other * (1 + 1e-8))
                self.assertLessEqual(other, best * (1 + 1e-4))
                self.assertEqual(ours.support, numpy.flatnonzero(theirs.coef_[0]).tolist())


if __name__ == "__main__":
    unittest.main()
