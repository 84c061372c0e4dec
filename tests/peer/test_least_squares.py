"""Least squares of any rank against NumPy's lstsq (shortest solution) and R's lm (aliased columns).

NumPy solves the centred, weighted rows, as its minimum is taken over the coefficients alone and
not over the intercept. With --scale standard the shortest solution is that of scaled columns."""
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from peer import PeerTest, numpy  # noqa: E402

LEAST = ["--penalty", "none"]


def shortest(x, y, weights=None, bias=True):
    """Coefficients and intercept."""
    w = numpy.ones(len(y)) if weights is None else weights
    centre = numpy.average(x, axis=0, weights=w) * bias
    level = numpy.average(y, axis=0, weights=w) * bias
    root = numpy.sqrt(w)[:, None]
    sides = (y - level).reshape(len(y), -1) * root
    found, _, rank, _ = numpy.linalg.lstsq((x - centre) * root, sides, rcond=None)
    found = found.reshape((x.shape[1],) + y.shape[1:])
    return found, level - centre @ found, rank


class LeastSquaresTest(PeerTest):
    def setUp(self):
        super().setUp()
        self.random = numpy.random.default_rng(8)

    def rows(self, n, p):
        x = self.random.standard_normal((n, p)) * self.random.uniform(0.1, 30, p) + 5
        return x, x @ self.random.standard_normal(p) + 3 * self.random.standard_normal(n) - 20

    def assert_fit(self, x, y, *options, weights=None, bias=True, relative=1e-8):
        columns = [x] + ([] if weights is None else [weights]) + [y]
        names = [f"x{j}" for j in range(x.shape[1])] + ([] if weights is None else ["w"])
        targets = [f"y{t}" for t in range(1 if y.ndim == 1 else y.shape[1])]
        self.save("train.csv", columns, names + targets)
        more = [] if weights is None else ["--weights", "w"]
        found = self.fit("train.csv", *LEAST, "--scale", "none", "--target", ",".join(targets),
                         "--task", "regression", *more, *([] if bias else ["--no-bias"]), *options)
        beta, constant, rank = shortest(x, y, weights, bias)
        self.assertEqual(found["rank"], rank)
        self.assert_close([entry["value"] for entry in found["coefficients"]], beta, relative)
        if bias:
            self.assert_close(numpy.atleast_1d(found["intercept"]), numpy.atleast_1d(constant),
                              relative)
        self.assertTrue(self.verify("train.csv")["holds"])
        return found

    def test_full_rank(self):
        x, y = self.rows(80, 6)
        for bias in (True, False):
            with self.subTest(bias=bias):
                found = self.assert_fit(x, y, bias=bias)
                self.assertFalse(any("aliased" in entry for entry in found["coefficients"]))
                self.assertLess(found["condition"], 1e3)

    def test_weights(self):
        x, y = self.rows(60, 5)
        self.assert_fit(x, y, weights=self.random.uniform(0.1, 4, 60))

    def test_several_targets(self):
        x, y = self.rows(60, 5)
        self.assert_fit(x, numpy.column_stack([y, numpy.sin(y), 1e8 * x[:, 0] ** 2]),
                        relative=1e-8)

    def test_deficient(self):
        x, y = self.rows(60, 7)
        x[:, 3] = x[:, 0] - 2 * x[:, 1]
        x[:, 6] = x[:, 2]
        found = self.assert_fit(x, y)
        aliased = [entry["name"] for entry in found["coefficients"] if entry.get("aliased")]
        self.assertEqual(aliased, ["x3", "x6"])

    def test_more_columns_than_rows(self):
        x, y = self.rows(12, 30)
        self.save("train.csv", [x, y], [f"x{j}" for j in range(30)] + ["y"])
        found = self.fit("train.csv", *LEAST, "--scale", "none")
        beta, _, rank = shortest(x, y)
        self.assertEqual((found["rank"], rank), (11, 11))
        self.assert_close([entry["value"] for entry in found["coefficients"]], beta)
        self.assert_close(self.predict("train.csv"), y)

    def test_scales_of_labels(self):
        x, y = self.rows(50, 4)
        for factor in (1e8, 1e-8):
            with self.subTest(factor=factor):
                self.assert_fit(x, factor * y)

    def test_offsets(self):
        """Cells of 1e6 + noise have ten digits left; NumPy's centring costs it the same."""
        x, y = self.rows(50, 4)
        self.assert_fit(x + 1e6, y, relative=1e-6)

    def test_scaled_columns(self):
        x, y = self.rows(60, 5)
        x[:, 4] = x[:, 0] + x[:, 1]
        self.save("train.csv", [x, y], [f"x{j}" for j in range(5)] + ["y"])
        found = self.fit("train.csv", *LEAST)
        z = (x - x.mean(axis=0)) / x.std(axis=0)
        beta, _, rank = shortest(z, y)
        self.assertEqual(found["rank"], rank)
        self.assert_close([entry["standardised"] for entry in found["coefficients"]], beta)

    def test_aliased_columns_of_lm(self):
        if not shutil.which("Rscript"):
            print("SKIPPED: Rscript is not installed")
            self.skipTest("no Rscript")
        x, y = self.rows(40, 9)
        x[:, 2] = 3 * x[:, 0]
        x[:, 4] = x[:, 1] + x[:, 3] - 7
        x[:, 7] = x[:, 5] - x[:, 6] + x[:, 0]
        self.save("train.csv", [x, y], [f"x{j}" for j in range(9)] + ["y"])
        text = 'for (v in coef(lm(y ~ ., read.csv("train.csv")))) cat(v, "")'
        done = subprocess.run(["Rscript", "-e", text], cwd=self.folder, capture_output=True,
                              text=True, check=True, timeout=120)
        theirs = [f"x{j}" for j, v in enumerate(done.stdout.split()[1:]) if v == "NA"]
        found = self.fit("train.csv", *LEAST)
        self.assertEqual([entry["name"] for entry in found["coefficients"]
                          if entry.get("aliased")], theirs)
        self.assertEqual(theirs, ["x2", "x4", "x7"])


if __name__ == "__main__":
    unittest.main()
