"""Lasso, elastic net and l1 logistic regression against glmnet, which R runs.

All of glmnet's fits are made by one run of R, to thresh 1e-20. Its conventions, undone here: lambda
is half of ours for the gaussian family and ours for the binomial one; weights count over their
sum; penalty factors are made to sum to their number; the ridge part of a gaussian elastic net is
divided by the deviation of y, which therefore is 1 here."""
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from peer import numpy  # noqa: E402
from sparse import Linear, Problem, SparseTest  # noqa: E402

# name, family, lambda, alpha, factors, weights, lower limit, intercept
FITS = [
    ("lasso", "gaussian", 0.02, 1.0, "ones", "ones", "-Inf", "TRUE"),
    ("weak", "gaussian", 0.0005, 1.0, "ones", "ones", "-Inf", "TRUE"),
    ("unit", "gaussian", 0.05, 1.0, "ones", "ones", "-Inf", "TRUE"),
    ("factors", "gaussian", 0.03, 1.0, "factors", "ones", "-Inf", "TRUE"),
    ("weights", "gaussian", 0.03, 1.0, "ones", "times", "-Inf", "TRUE"),
    ("positive", "gaussian", 0.01, 1.0, "ones", "ones", "0", "TRUE"),
    ("origin", "gaussian", 0.02, 1.0, "ones", "ones", "-Inf", "FALSE"),
    ("elastic", "gaussian", 0.05, 0.5, "ones", "ones", "-Inf", "TRUE"),
    ("all", "gaussian", 0.03, 0.2, "heavy", "times", "0", "TRUE"),
    ("logistic", "binomial", 0.01, 1.0, "ones", "ones", "-Inf", "TRUE"),
    ("signs", "binomial", 0.02, 0.4, "factors", "times", "-Inf", "TRUE"),
    ("margin", "binomial", 0.01, 1.0, "ones", "ones", "0", "FALSE"),
]
LINE = ('fit("{0}", "{1}", {2}, {3}, {4}, {5}, {6}, {7})\n')
PROGRAM = """
suppressMessages(library(glmnet))
table <- as.matrix(read.csv("train.csv"))
x <- table[, grepl("^x", colnames(table))]
ones <- rep(1, ncol(x))
factors <- {factors}
heavy <- factors + 1
invisible(glmnet.control(fdev = 0, devmax = 1, mnlam = 1))
fit <- function(name, family, lambda, alpha, factors, weights, lower, intercept) {{
    y <- if (family == "binomial") table[, "sign"] else table[, "y"]
    weights <- if (length(weights) == nrow(x)) weights else rep(1, nrow(x))
    found <- glmnet(x, y, family = family, alpha = alpha, lambda = lambda * 2 ^ (6:0),
                    penalty.factor = factors, weights = weights, lower.limits = lower,
                    intercept = intercept, standardize = FALSE, thresh = 1e-20, maxit = 1e7)
    cat(name, format(coef(found)[, 7], digits = 17), "\\n")
}}
times <- table[, "times"]
"""


def have_glmnet():
    if not shutil.which("Rscript"):
        return False
    return subprocess.run(["Rscript", "-e", "invisible(find.package('glmnet'))"], capture_output=True,
                          check=False).returncode == 0


if not have_glmnet():
    print("SKIPPED: Rscript with glmnet is not installed")
    sys.exit(77)


class GlmnetTest(SparseTest):
    def setUp(self):
        super().setUp()
        self.draw(100, 16)
        self.y = (self.y - self.y.mean()) / self.y.std()
        self.factors = numpy.tile([1.0, 2.0, 0.0, 0.5], 4)
        self.save("train.csv", [self.x, self.y, self.signs, self.times],
                  self.names + ["y", "sign", "times"])

    def theirs(self):
        """Coefficients of all fits by name."""
        factors = "c(" + ", ".join(map(str, self.factors)) + ")"
        program = PROGRAM.format(factors=factors) + "".join(LINE.format(*one) for one in FITS)
        self.write("fits.R", program)
        print("$ Rscript fits.R", flush=True)
        done = subprocess.run(["Rscript", "fits.R"], cwd=self.folder, capture_output=True,
                              check=False, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        lines = [line.split() for line in done.stdout.decode().splitlines()]
        self.assertEqual([line[0] for line in lines], [one[0] for one in FITS])
        return {line[0]: Linear(numpy.array(line[2:], float), float(line[1])) for line in lines}

    def check(self, fit, theirs):
        name, family, given, mix, factors, weights, lower, bias = fit
        labels = self.signs if family == "binomial" else self.y
        lam = given if family == "binomial" else 2 * given
        more = [("times", self.times)] if weights == "times" else []
        options = ["--penalty", "l1" if mix == 1 else f"elastic:{mix}", "--target", "y", "--loss",
                   "logistic" if family == "binomial" else "square"]
        if name in ["unit", "logistic"]:
            options += ["--lambda", given, "--as", "glmnet"]
        else:
            options += ["--lambda", lam]
        own = None
        if factors != "ones":
            own = self.factors + (factors == "heavy")
            own = own * len(own) / own.sum()
            options += ["--feature-weights",
                        ",".join(f"{n}={float(a)!r}" for n, a in zip(self.names, own))]
        options += ["--weights", "times"] if more else []
        options += ["--nonnegative"] if lower == "0" else []
        options += ["--no-bias"] if bias == "FALSE" else []
        ours = self.ours(self.table(labels, f"{name}.csv", more), *options)
        problem = Problem(self.x, labels, lam, "logistic" if family == "binomial" else "square",
                          mix, own, self.times if more else None)
        self.assert_peer(problem, ours, theirs)
        self.assertTrue(lower != "0" or numpy.all(ours.coef >= 0))

    def test_all_fits(self):
        theirs = self.theirs()
        for fit in FITS:
            with self.subTest(fit=fit[0]):
                self.check(fit, theirs[fit[0]])


if __name__ == "__main__":
    unittest.main()
