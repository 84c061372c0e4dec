"""Losses with corners under l1 penalties, against SciPy's linear programs: absolute, eps-insensitive,
quantiles, hinge (the 1-norm SVM, linear and with a kernel), with all that goes along.

With the loss of a row the largest of lines slope t + height, the program is

    min  w . loss + lambda a . (up + down),   loss_i >= slope (x_i . (up - down) + b) + height

and HiGHS solves it to 1e-9 or so. Optimal coefficients of such programs are corners of a
polyhedron; where they are not unique only the objective is compared."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from peer import need, numpy  # noqa: E402
from sparse import TIGHT, Linear, Problem, SparseTest  # noqa: E402

optimize = need("scipy.optimize")
matrices = need("scipy.sparse")


def lines(loss, y):
    """(slope, height) by row of every line whose largest is the loss."""
    name, _, value = loss.partition(":")
    par, one = float(value or 0), numpy.ones(len(y))
    if name == "absolute":
        return [(one, -y), (-one, y)]
    if name == "pinball":
        return [(-par * one, par * y), ((1 - par) * one, (par - 1) * y)]
    if name == "eps":
        return [(0 * one, 0 * y), (one, -y - par), (-one, y - par)]
    if name == "hinge":
        return [(0 * one, 0 * y), (-y, one)]
    raise ValueError(loss)


def program(problem, bias=True, nonnegative=False):
    """Coefficients by HiGHS."""
    n, p = problem.x.shape
    cost = numpy.concatenate([problem.w, problem.lam * problem.factors,
                              problem.lam * problem.factors, [0.0]])
    blocks, right = [], []
    for slope, height in lines(problem.loss, problem.y):
        steep = slope[:, None] * problem.x
        blocks.append(numpy.hstack([-numpy.eye(n), steep, -steep, slope[:, None]]))
        right.append(-height)
    free = (None, None)
    bounds = [free] * n + [(0, None)] * p + [(0, 0 if nonnegative else None)] * p
    done = optimize.linprog(cost, matrices.csr_matrix(numpy.vstack(blocks)),
                            numpy.concatenate(right), method="highs",
                            bounds=bounds + [free if bias else (0, 0)],
                            options={"dual_feasibility_tolerance": 1e-10,
                                     "primal_feasibility_tolerance": 1e-10})
    assert done.status == 0, done.message
    return Linear(done.x[n:n + p] - done.x[n + p:n + 2 * p], done.x[-1])


class ProgramTest(SparseTest):
    def setUp(self):
        super().setUp()
        self.draw(80, 12)
        self.y /= self.y.std()

    def check(self, problem, *options, bias=True, nonnegative=False, more=(), support=True):
        words = list(options)
        words += [] if bias else ["--no-bias"]
        words += ["--nonnegative"] if nonnegative else []
        ours = self.ours(self.table(problem.y, more=more), "--penalty", "l1", "--loss",
                         problem.loss, "--lambda", problem.lam, "--target", "y", *words)
        theirs = program(problem, bias, nonnegative)
        self.assert_peer(problem, ours, theirs, support)
        return ours

    def test_losses(self):
        for loss in ["absolute", "eps:0.1", "pinball:0.8", "hinge"]:
            labels = self.signs if loss == "hinge" else self.y
            for lam in [0.1, 0.03, 0.001]:
                with self.subTest(loss=loss, lam=lam):
                    self.check(Problem(self.x, labels, lam, loss))

    def test_more_columns_than_rows(self):
        self.draw(30, 70)
        self.y /= self.y.std()
        for loss, labels in [("absolute", self.y), ("hinge", self.signs)]:
            with self.subTest(loss=loss):
                self.check(Problem(self.x, labels, 0.05, loss))

    def test_no_bias(self):
        self.check(Problem(self.x, self.y, 0.05, "absolute"), bias=False)
        self.check(Problem(self.x, self.signs, 0.05, "hinge"), bias=False)

    def test_weights_of_rows_and_columns(self):
        factors = numpy.tile([1.0, 0.0, 2.5], 4)
        words = ["--weights", "times", "--feature-weights",
                 ",".join(f"{name}={a}" for name, a in zip(self.names, factors))]
        for loss, labels in [("pinball:0.3", self.y), ("hinge", self.signs)]:
            with self.subTest(loss=loss):
                problem = Problem(self.x, labels, 0.05, loss, factors=factors, weights=self.times)
                self.check(problem, *words, more=[("times", self.times)])

    def test_nonnegative(self):
        for loss, labels in [("absolute", self.y), ("hinge", self.signs)]:
            with self.subTest(loss=loss):
                ours = self.check(Problem(self.x, labels, 0.02, loss), nonnegative=True)
                self.assertTrue(numpy.all(ours.coef >= 0))

    def test_twin_columns(self):
        """Only the sum of their coefficients is determined."""
        self.x[:, 5] = self.x[:, 0]
        self.x[:, 7] = 0
        for loss, labels in [("absolute", self.y), ("hinge", self.signs)]:
            with self.subTest(loss=loss):
                self.check(Problem(self.x, labels, 0.03, loss), support=False)


class KernelTest(SparseTest):
    """l1 on the coefficients of an expansion in kernel functions: columns are those of K."""

    def setUp(self):
        super().setUp()
        self.draw(50, 3, kinship=0)
        curve = numpy.sin(2 * self.x[:, 0]) + self.x[:, 1] ** 2
        random = numpy.random.default_rng(2)
        self.y = curve + 0.1 * random.standard_normal(50)
        self.signs = numpy.where(curve > numpy.median(curve), 1.0, -1.0)
        self.fresh = random.standard_normal((20, 3))

    def gram(self, left, right, gamma=0.7):
        return numpy.exp(-gamma * ((left[:, None, :] - right[None, :, :]) ** 2).sum(axis=2))

    def check(self, labels, loss, lam):
        data = self.table(labels)
        self.found = self.fit(data, *TIGHT, "--penalty", "l1", "--kernel", "gaussian", "--gamma",
                              0.7, "--loss", loss, "--lambda", lam)
        self.assertEqual(self.found["verdict"], "optimal")
        problem = Problem(self.gram(self.x, self.x), labels, lam, loss)
        theirs = program(problem)
        best = problem(theirs)
        print(f"   ours {self.found['primal']:.15g} theirs {best:.15g}", flush=True)
        self.assert_close(self.found["primal"], best, 1e-7)
        self.assertEqual(self.found["terms"], len(theirs.support))
        return theirs

    def test_absolute(self):
        theirs = self.check(self.y, "absolute", 0.02)
        self.save("fresh.csv", [self.fresh], self.names)
        self.assert_close(self.predict("fresh.csv"), theirs(self.gram(self.fresh, self.x)), 1e-5)

    def test_one_norm_svm(self):
        self.check(self.signs, "hinge", 0.01)


if __name__ == "__main__":
    unittest.main()
