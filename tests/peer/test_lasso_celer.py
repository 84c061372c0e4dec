"""Lasso, elastic net, group lasso and l1 logistic regression against celer and skglm.

Both may bring a NumPy of their own, from the folder that FENCHEL_PEERS names: they run in a
process of their own, all fits of a package at once. Their units are scikit-learn's."""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from peer import numpy  # noqa: E402
from sparse import Linear, Problem, SparseTest  # noqa: E402

SIZE = 4       # of the groups
COST = 0.5     # C of the logistic regression, which is fitted without a constant

READ = """
import json, sys, warnings
warnings.filterwarnings("ignore")
try:
    import numpy
    {imports}
except Exception:
    sys.exit(77)
given = json.load(sys.stdin)
x, y, signs = (numpy.array(given[name]) for name in ["x", "y", "signs"])
alpha, size, cost = given["alpha"], given["size"], given["cost"]
models = {models}
found = {{}}
for name, model in models.items():
    model.fit(x, signs if name == "logistic" else y)
    found[name] = [numpy.ravel(model.coef_).tolist(), float(numpy.ravel(model.intercept_)[0])]
print(json.dumps(found))
"""
CELER = READ.format(
    imports="from celer import ElasticNet, GroupLasso, Lasso, LogisticRegression",
    models="""{"lasso": Lasso(alpha=alpha, tol=1e-12),
          "elastic": ElasticNet(alpha=alpha, l1_ratio=0.6, tol=1e-12),
          "group": GroupLasso(groups=size, alpha=alpha, tol=1e-12),
          "logistic": LogisticRegression(C=cost, tol=1e-12, fit_intercept=False)}""")
SKGLM = READ.format(
    imports="from skglm import Lasso",
    models="""{"lasso": Lasso(alpha=alpha, tol=1e-13)}""")


class CelerTest(SparseTest):
    def setUp(self):
        super().setUp()
        self.draw(60, 120)
        self.names = [f"g{j // SIZE}_{j}" for j in range(120)]
        centred = self.x - self.x.mean(axis=0)
        self.alpha = 0.1 * max(abs(centred.T @ (self.y - self.y.mean()))) / len(self.y)

    def theirs(self, program, package):
        environment = dict(os.environ, OMP_NUM_THREADS="1")
        if "FENCHEL_PEERS" in os.environ:
            environment["PYTHONPATH"] = os.environ["FENCHEL_PEERS"]
        given = {"x": self.x.tolist(), "y": self.y.tolist(), "signs": self.signs.tolist(),
                 "alpha": self.alpha, "size": SIZE, "cost": COST}
        done = subprocess.run([sys.executable, "-c", program], input=json.dumps(given).encode(),
                              env=environment, capture_output=True, check=False, timeout=300)
        if done.returncode == 77:
            print(f"SKIPPED: {package} is not installed (FENCHEL_PEERS)", flush=True)
            self.skipTest(f"{package} is not installed")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return {name: Linear(*one) for name, one in json.loads(done.stdout).items()}

    def check(self, labels, problem, theirs, *options):
        ours = self.ours(self.table(labels), "--lambda", problem.lam, "--loss", problem.loss,
                         *options)
        self.assert_peer(problem, ours, theirs)

    def test_celer(self):
        theirs, lam = self.theirs(CELER, "celer"), 2 * self.alpha
        self.check(self.y, Problem(self.x, self.y, lam), theirs["lasso"], "--penalty", "l1")
        self.check(self.y, Problem(self.x, self.y, lam, mix=0.6), theirs["elastic"], "--penalty",
                   "elastic:0.6")
        groups = [list(range(j, j + SIZE)) for j in range(0, len(self.names), SIZE)]
        root = SIZE ** 0.5     # our groups weigh that
        self.check(self.y, Problem(self.x, self.y, lam / root, groups=groups,
                                   factors=numpy.full(len(groups), root)), theirs["group"],
                   "--penalty", "group:prefix:_")
        self.check(self.signs, Problem(self.x, self.signs, 1 / (COST * len(self.y)), "logistic"),
                   theirs["logistic"], "--penalty", "l1", "--no-bias")

    def test_skglm(self):
        self.check(self.y, Problem(self.x, self.y, 2 * self.alpha),
                   self.theirs(SKGLM, "skglm")["lasso"], "--penalty", "l1")


if __name__ == "__main__":
    unittest.main()
