"""The group lasso against proximal gradients written out in NumPy, and against the package
group-lasso where it can be imported (from this Python's own packages, or from the folder that
FENCHEL_PEERS names).

Groups come from a file, from prefixes of the names, from text columns and from several targets;
the objective is computed in NumPy from the same definition for all."""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from peer import numpy  # noqa: E402
from sparse import Linear, Problem, Reference, SparseTest  # noqa: E402

SIZES = [3, 1, 4, 2, 1, 5]
GROUPS = numpy.split(numpy.arange(sum(SIZES)), numpy.cumsum(SIZES)[:-1])
ROOTS = numpy.sqrt(SIZES)

# What the package is asked for, in a process of its own: it may bring a NumPy of its own.
PACKAGE = """
import json, sys, warnings
warnings.filterwarnings("ignore")
try:
    import numpy
    from group_lasso import GroupLasso, LogisticGroupLasso
except Exception:
    sys.exit(77)
given = json.load(sys.stdin)
x, y = numpy.array(given["x"]), numpy.array(given["y"])
kind = LogisticGroupLasso if given["logistic"] else GroupLasso
model = kind(groups=numpy.array(given["groups"]), group_reg=given["reg"], l1_reg=0,
             scale_reg="group_size", tol=1e-10, n_iter=1000, supress_warning=True).fit(x, y)
print(json.dumps([numpy.array(model.coef_).tolist(), numpy.ravel(model.intercept_).tolist()]))
"""


class GroupTest(SparseTest):
    def setUp(self):
        super().setUp()
        self.draw(90, sum(SIZES))
        self.x -= self.x[:45].mean(axis=0)     # nearly centred: proximal gradients crawl otherwise
        self.names = [f"g{k}_{i}" for k, size in enumerate(SIZES) for i in range(size)]

    def group_file(self, weights=None):
        lines = ["column,group" + (",weight" if weights is not None else "")]
        for k, group in enumerate(GROUPS):
            for j in group:
                tail = f",{float(weights[k])!r}" if weights is not None else ""
                lines.append(f"{self.names[j]},group {k}{tail}")
        return self.write("groups.csv", "\n".join(lines) + "\n")

    def most(self, labels):
        """Of 2 |x_g'r| / root of the size, r the centred labels: about the least lambda of 0."""
        products = 2 * self.x.T @ (labels - labels.mean(axis=0)) / len(labels)
        return max(numpy.linalg.norm(products[g]) / root for g, root in zip(GROUPS, ROOTS))

    def check(self, data, problem, *options, bias=True):
        ours = self.ours(data, "--lambda", problem.lam, "--loss", problem.loss, *options)
        theirs = Reference(problem, bias).solve()
        self.assert_peer(problem, ours, theirs)
        return ours

    # ---- where groups come from -----------------------------------------------------------------

    def test_prefixes_and_file(self):
        data = self.table(self.y)
        self.group_file()
        for share in [0.5, 0.1, 0.001]:
            with self.subTest(share=share):
                problem = Problem(self.x, self.y, share * self.most(self.y), factors=ROOTS,
                                  groups=GROUPS)
                first = self.check(data, problem, "--penalty", "group:prefix:_")
                second = self.check(data, problem, "--penalty", "group:groups.csv")
                self.assert_close(first.coef, second.coef, 1e-7)

    def test_weights_of_the_file(self):
        """0: a group that is not penalised."""
        weights = numpy.array([1.0, 0.0, 2.5, 0.0, 0.3, 1.0])
        data = self.table(self.y)
        self.group_file(weights)
        problem = Problem(self.x, self.y, 0.2 * self.most(self.y), factors=weights, groups=GROUPS)
        ours = self.check(data, problem, "--penalty", "group:groups.csv")
        self.assertTrue(numpy.all(ours.coef[GROUPS[3]] != 0))

    def test_text_columns(self):
        """Levels of a text are a group, with the one for all others, which does not count in its
        size as no row has it; a number is one by itself."""
        random = numpy.random.default_rng(8)
        levels = ["red", "green", "blue", "grey"]
        colour, kind = random.integers(0, 4, 90), random.integers(0, 2, 90)
        number = random.standard_normal(90)
        y = 2.0 * (colour == 1) - 1.0 * (colour == 2) + 0.1 * kind + number \
            + 0.3 * random.standard_normal(90)
        lines = ["colour,kind,number,y"]
        for c, k, v, label in zip(colour, kind, number.tolist(), y.tolist()):
            lines.append(f"{levels[c]},{'ab'[k]},{v!r},{label!r}")
        self.write("train.csv", "\n".join(lines) + "\n")
        for lam in [0.5, 0.05]:
            with self.subTest(lam=lam):
                found = self.fit("train.csv", "--penalty", "group", "--lambda", lam, "--scale",
                                 "none", "--select", "none", "--tolerance", "1e-10")
                self.found, self.names = found, found["features"]
                columns = {f"colour = {level}": colour == c for c, level in enumerate(levels)}
                columns.update({f"kind = {'ab'[k]}": kind == k for k in range(2)})
                columns.update({f"{one} = other": 0 * number for one in ["colour", "kind"]})
                columns["number"] = number
                x = numpy.column_stack([columns[name] for name in self.names]).astype(float)
                groups = [[j for j, name in enumerate(self.names) if name.split(" ")[0] == one]
                          for one in ["colour", "kind", "number"]]
                problem = Problem(x, y, lam, groups=groups,
                                  factors=numpy.sqrt([4, 2, 1]))
                self.assertEqual(found["verdict"], "optimal")
                self.assert_peer(problem, self.coefficients(found), Reference(problem).solve())

    def test_targets(self):
        both = numpy.column_stack([self.y, self.x[:, 0] - self.y[::-1]])
        data = self.table(both)
        products = 2 * self.x.T @ (both - both.mean(axis=0)) / len(both)
        most = max(numpy.linalg.norm(products, axis=1))
        for share in [0.3, 0.02]:
            with self.subTest(share=share):
                problem = Problem(self.x, both, share * most,
                                  factors=numpy.ones(len(self.names)))
                self.check(data, problem, "--penalty", "group:targets", "--target", "y0,y1")

    # ---- what goes with them --------------------------------------------------------------------

    def test_sample_weights_and_no_bias(self):
        data = self.table(self.y, more=[("times", self.times)])
        lam = 0.05 * self.most(self.y)
        problem = Problem(self.x, self.y, lam, factors=ROOTS, groups=GROUPS, weights=self.times)
        options = ["--penalty", "group:prefix:_", "--weights", "times", "--target", "y"]
        self.check(data, problem, *options)
        self.check(data, problem, *options, "--no-bias", bias=False)

    def test_more_columns_than_rows(self):
        self.x, self.y, self.signs = self.x[:12], self.y[:12], self.signs[:12]
        data = self.table(self.y)
        problem = Problem(self.x, self.y, 0.05 * self.most(self.y), factors=ROOTS, groups=GROUPS)
        self.check(data, problem, "--penalty", "group:prefix:_")

    def test_identical_columns(self):
        """Two groups that are twins: only their sum is determined."""
        self.x[:, GROUPS[5][:3]] = self.x[:, GROUPS[0]]
        self.x[:, GROUPS[5][3:]] = 0
        data = self.table(self.y)
        problem = Problem(self.x, self.y, 0.05 * self.most(self.y), groups=GROUPS,
                          factors=numpy.ones(len(GROUPS)))
        self.group_file(numpy.ones(len(GROUPS)))
        ours = self.ours(data, "--lambda", problem.lam, "--penalty", "group:groups.csv")
        theirs = Reference(problem).solve()
        self.assert_peer(problem, ours, theirs, support=False)
        self.assert_close(ours(self.x), theirs(self.x), 1e-5)

    def test_other_smooth_losses(self):
        self.x -= self.x.mean(axis=0)
        for loss, labels, lam in [("logistic", self.signs, 0.02), ("huber:1.5", self.y, 0.1)]:
            data = self.table(labels)
            for factor in [1, 0.1]:
                with self.subTest(loss=loss, factor=factor):
                    problem = Problem(self.x, labels, factor * lam, loss, factors=ROOTS,
                                      groups=GROUPS)
                    self.check(data, problem, "--penalty", "group:prefix:_")

    # ---- the package ----------------------------------------------------------------------------

    def package(self, labels, reg, logistic):
        folder = os.environ.get("FENCHEL_PEERS")
        environment = dict(os.environ, OMP_NUM_THREADS="1")
        if folder:
            environment["PYTHONPATH"] = folder
        numbers = [k for k, size in enumerate(SIZES) for _ in range(size)]
        given = {"x": self.x.tolist(), "y": labels.tolist(), "groups": numbers, "reg": reg,
                 "logistic": logistic}
        done = subprocess.run([sys.executable, "-c", PACKAGE], input=json.dumps(given).encode(),
                              env=environment, capture_output=True, check=False, timeout=300)
        if done.returncode == 77:
            print("SKIPPED: the package group-lasso is not installed (FENCHEL_PEERS)", flush=True)
            self.skipTest("group-lasso is not installed")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        coef, b = json.loads(done.stdout)
        coef = numpy.array(coef)
        if logistic:     # a column per class: the score is their difference
            return Linear(coef[:, 1] - coef[:, 0], b[1] - b[0])
        return Linear(coef.ravel(), b[0])

    def test_package(self):
        """Its gradient steps are half as long as its prox thinks: 1/4 of the mean square plus
        reg times the norms is what it minimises, hence lambda = 4 reg."""
        lam = 0.3 * self.most(self.y)
        theirs = self.package(self.y, lam / 4, False)
        ours = self.ours(self.table(self.y), "--penalty", "group:prefix:_", "--lambda", lam)
        self.assert_peer(Problem(self.x, self.y, lam, factors=ROOTS, groups=GROUPS), ours, theirs)

    def test_package_logistic(self):
        """Half the loss, and norms over both columns, which are opposite: lambda = root 2 reg."""
        lam = 0.02
        theirs = self.package(((self.signs + 1) / 2).astype(int), lam / 2 ** 0.5, True)
        ours = self.ours(self.table(self.signs), "--penalty", "group:prefix:_", "--loss",
                         "logistic", "--lambda", lam)
        self.assert_peer(Problem(self.x, self.signs, lam, "logistic", factors=ROOTS, groups=GROUPS),
                         ours, theirs)


if __name__ == "__main__":
    unittest.main()
