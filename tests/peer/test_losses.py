"""Every loss against somebody else: LIBSVM and LIBLINEAR on their own command lines, scikit-learn,
and SciPy's general solvers on small problems. Objectives are computed here, from the definitions
and the arrays of the model file, for their model and for ours.

LIBSVM at -e 1e-6: our objective at most 1e-7 above theirs, predictions within 1e-4 of their range,
and the same support vectors but for rows that lie on an edge."""
import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from peer import PeerTest, need, numpy  # noqa: E402

optimize = need("scipy.optimize")
need("sklearn")
from sklearn.linear_model import LogisticRegression  # noqa: E402

ROWS, FRESH, INPUTS, GAMMA, EPSILON, K = 200, 60, 3, 0.5, 0.1, 0.4
TIGHT = ["--scale", "none", "--tolerance", "1e-9"]
GAUSSIAN = ["--kernel", "gaussian", "--gamma", GAMMA, *TIGHT]
LINEAR = ["--kernel", "linear", *TIGHT]
CLASSES = ["hinge", "sqhinge", "logistic"]
NUMBERS = ["square", "absolute", f"eps:{EPSILON}", f"sqeps:{EPSILON}", f"huber:{K}", "pinball:0.2",
           "tube:0.8"]


def gaussian(x, z):
    return numpy.exp(-GAMMA * ((x[:, None, :] - z[None, :, :]) ** 2).sum(axis=2))


def loss_of(text, y, t):
    """From the definitions."""
    name, _, value = text.partition(":")
    r, par = y - t, float(value or 0)
    if name in CLASSES:
        short = numpy.maximum(0, (float(value or 1)) - y * t)
        return {"hinge": short, "sqhinge": short ** 2, "logistic": numpy.logaddexp(0, -y * t)}[name]
    out = numpy.maximum(0, abs(r) - par)
    return {"square": r ** 2, "absolute": abs(r), "eps": out, "sqeps": out ** 2,
            "huber": numpy.where(abs(r) <= par, r ** 2 / 2, par * abs(r) - par ** 2 / 2),
            "pinball": numpy.maximum(par * r, (par - 1) * r),
            "tube": numpy.where(out <= 1e-8, 0, numpy.inf)}[name]


class Function:
    """f = sum_i c_i k(x_i, .) + b, whoever fitted it."""

    def __init__(self, centres, coefficients, offset, par=None, rows=None):
        self.centres, self.c, self.b = centres, coefficients, offset
        self.par, self.rows = par, rows
        self.norm2 = coefficients @ gaussian(centres, centres) @ coefficients

    def __call__(self, x):
        return gaussian(x, self.centres) @ self.c + self.b


class Rows(PeerTest):
    def setUp(self):
        super().setUp()
        self.draw(ROWS)

    def draw(self, rows):
        random = numpy.random.default_rng(11)
        self.x = random.standard_normal((rows, INPUTS)).round(5)    # LIBSVM keeps 8 digits
        self.fresh = random.standard_normal((FRESH, INPUTS))
        clean = numpy.sin(2 * self.x[:, 0]) + self.x[:, 1] * self.x[:, 2]
        self.y = clean + 0.3 * random.standard_normal(rows) + 5
        self.signs = numpy.where(clean + 0.5 * random.standard_normal(rows) > 0, 1.0, -1.0)
        self.times = random.integers(1, 4, rows).astype(float)
        self.names = [f"x{j}" for j in range(INPUTS)]

    def labels_of(self, loss):
        return self.signs if loss.partition(":")[0] in CLASSES else self.y

    def ours(self, labels, *options):
        """Fits, checks the certificate against our own objective later, returns the function."""
        self.save("train.csv", [self.x, labels], self.names + ["y"])
        self.found = self.fit("train.csv", *options)
        self.assertEqual(self.found["verdict"], "optimal")
        _, arrays = self.model()
        rows = arrays["support"].astype(int) if "support" in arrays else numpy.arange(len(self.x))
        return Function(arrays["inputs"], arrays["coef_scale"][0] * arrays["dual"][0],
                        arrays["offset"][0], float(arrays["outputs"][0, 3]), rows)

    def objective(self, loss, labels, function, lam):
        return (loss_of(loss, labels, function(self.x)).mean() + lam * function.norm2)

    def assert_no_worse(self, ours, theirs):
        self.assertLessEqual(ours, theirs + 1e-7 * abs(theirs))

    def assert_same_function(self, ours, theirs, relative=1e-4):
        """Relative to the range of predictions."""
        spread = numpy.ptp(theirs)
        self.assertGreater(spread, 0)
        self.assertLessEqual(numpy.max(abs(ours - theirs)), relative * spread)


# ---- LIBSVM -------------------------------------------------------------------------------

@unittest.skipUnless(shutil.which("svm-train"), "SKIPPED: svm-train is not installed")
class LibsvmTest(Rows):
    def theirs(self, labels, *options):
        lines = []
        for row, label in zip(self.x, labels):
            cells = " ".join(f"{j + 1}:{value!r}" for j, value in enumerate(row.tolist()))
            lines.append(f"{float(label)!r} {cells}")
        self.write("train.svm", "\n".join(lines) + "\n")
        words = ["svm-train", "-t", "2", "-g", GAMMA, "-e", "1e-6", *options, "train.svm", "m.svm"]
        print("$", *words, flush=True)
        subprocess.run(list(map(str, words)), cwd=self.folder, capture_output=True, check=True,
                       timeout=300)
        head, rows = self.read("m.svm").decode().split("SV\n")
        cells = numpy.array([[float(cell.partition(":")[2] or cell) for cell in line.split()]
                             for line in rows.splitlines()])
        order = re.search(r"^label (\S+)", head, re.M)
        sign = -1.0 if order and float(order[1]) < 0 else 1.0
        rho = float(re.search(r"^rho (\S+)", head, re.M)[1])
        places = [int(numpy.flatnonzero((self.x == row).all(axis=1))[0]) for row in cells[:, 1:]]
        return Function(cells[:, 1:], sign * cells[:, 0], -sign * rho, rows=numpy.array(places))

    def assert_same_support(self, ours, theirs, distance):
        """Rows with a coefficient in one model only lie on an edge: distance 0 from it."""
        differ = sorted(set(ours.rows.tolist()) ^ set(theirs.rows.tolist()))
        self.assertTrue(numpy.all(distance[differ] < 1e-4), distance[differ])

    def check_eps(self, cost):
        loss, lam = f"eps:{EPSILON}", 1 / (2 * len(self.x) * cost)
        ours = self.ours(self.y, "--loss", loss, "--lambda", cost, "--as", "libsvm", *GAUSSIAN)
        theirs = self.theirs(self.y, "-s", 3, "-c", cost, "-p", EPSILON)
        best = self.objective(loss, self.y, ours, lam)
        self.assert_no_worse(best, self.objective(loss, self.y, theirs, lam))
        self.assert_close(self.found["primal"], best, 1e-9)
        self.assert_same_function(ours(self.fresh), theirs(self.fresh))
        self.assert_same_support(ours, theirs, abs(abs(self.y - theirs(self.x)) - EPSILON))

    def check_hinge(self, cost):
        lam = 1 / (2 * len(self.x) * cost)
        ours = self.ours(self.signs, "--loss", "hinge", "--lambda", cost, "--as", "libsvm",
                         *GAUSSIAN)
        theirs = self.theirs(self.signs, "-s", 0, "-c", cost)
        best = self.objective("hinge", self.signs, ours, lam)
        self.assert_no_worse(best, self.objective("hinge", self.signs, theirs, lam))
        self.assert_close(self.found["primal"], best, 1e-9)
        self.assert_same_function(ours(self.fresh), theirs(self.fresh))
        self.assert_same_support(ours, theirs, abs(1 - self.signs * theirs(self.x)))

    def test_eps_svr(self):
        for cost in [0.1, 1, 100]:
            with self.subTest(C=cost):
                self.check_eps(cost)

    def test_c_svc(self):
        for cost in [0.1, 1, 100]:
            with self.subTest(C=cost):
                self.check_hinge(cost)

    def test_more_rows(self):
        self.draw(1200)
        self.check_eps(10)
        self.check_hinge(10)

    def test_nu_svr(self):
        for cost, nu in [(1, 0.3), (100, 0.3), (1, 0.7)]:
            with self.subTest(C=cost, nu=nu):
                lam = 1 / (2 * ROWS * cost)
                ours = self.ours(self.y, "--loss", "eps", "--nu", nu, "--lambda", cost, "--as",
                                 "libsvm", *GAUSSIAN)
                theirs = self.theirs(self.y, "-s", 4, "-c", cost, "-n", nu)
                # the best epsilon for a function makes one of its residuals an edge
                best, other = (min(self.objective(f"eps:{e!r}", self.y, f, lam) + nu * e for e in es)
                               for f, es in [(ours, [ours.par]),
                                             (theirs, abs(self.y - theirs(self.x)).tolist())])
                self.assert_no_worse(best, other)
                self.assert_same_function(ours(self.fresh), theirs(self.fresh))
                self.assert_close(self.found["primal"], best, 1e-9)

    def test_nu_svc(self):
        """LIBSVM divides by the margin; lambda is a mere unit."""
        for lam, nu in [(0.01, 0.3), (1.0, 0.5)]:
            with self.subTest(lam=lam, nu=nu):
                ours = self.ours(self.signs, "--loss", "hinge", "--nu", nu, "--lambda", lam,
                                 *GAUSSIAN)
                theirs = self.theirs(self.signs, "-s", 1, "-n", nu)
                best = self.objective(f"hinge:{ours.par!r}", self.signs, ours, lam) - nu * ours.par
                # of all multiples of theirs the best one
                slope = self.objective("hinge", self.signs, theirs, 0.0) - nu
                self.assert_no_worse(best, -slope ** 2 / (4 * lam * theirs.norm2))
                self.assert_same_function(ours(self.fresh) / ours.par, theirs(self.fresh))
                self.assert_close(self.found["primal"], best, 1e-9)

    def test_one_class(self):
        for lam, nu in [(0.01, 0.2), (1.0, 0.5)]:
            with self.subTest(lam=lam, nu=nu):
                self.save("train.csv", [self.x], self.names)
                self.found = self.fit("train.csv", "--task", "one-class", "--nu", nu, "--lambda",
                                      lam, *GAUSSIAN)
                _, arrays = self.model()
                c, par = arrays["coef_scale"][0] * arrays["dual"][0], arrays["outputs"][0, 3]
                ours = Function(arrays["inputs"], c, 0.0)
                theirs = self.theirs(numpy.ones(ROWS), "-s", 2, "-n", nu)
                unit, rho = 1 / (2 * lam * ROWS), -theirs.b
                theirs.b = 0.0
                best, other = (numpy.maximum(0, margin - scale * f(self.x)).mean() - nu * margin +
                               lam * scale ** 2 * f.norm2
                               for f, scale, margin in ((ours, 1.0, par), (theirs, unit, unit * rho)))
                self.assert_no_worse(best, other)
                self.assert_close(self.found["primal"], best, 1e-9)
                self.assert_same_function(ours(self.fresh) / par, theirs(self.fresh) / rho)

    def test_units_both_ways(self):
        """--as libsvm is lambda = 1/(2 C sum of the weights), and nothing else."""
        self.save("train.csv", [self.x, self.times, self.y], self.names + ["w", "y"])
        options = ["--loss", "eps:0.2", "--weights", "w", *GAUSSIAN]
        by_cost = self.fit("train.csv", *options, "--as", "libsvm", "--lambda", 3)
        lam = 1 / (2 * 3 * self.times.sum())
        self.assertAlmostEqual(by_cost["lambda"], lam, delta=1e-15 * lam)
        by_lambda = self.fit("train.csv", *options, "--lambda", repr(by_cost["lambda"]))
        self.assertEqual(by_cost["primal"], by_lambda["primal"])


# ---- linear models -------------------------------------------------------------------------

class LinearTest(Rows):
    def weights(self, labels, *options):
        self.save("train.csv", [self.x, labels], self.names + ["y"])
        self.found = self.fit("train.csv", *LINEAR, *options)
        self.assertEqual(self.found["verdict"], "optimal")
        _, arrays = self.model()
        return arrays["weights"][0], arrays["offset"][0]

    @unittest.skipUnless(shutil.which("liblinear-train"), "SKIPPED: liblinear-train is absent")
    def test_liblinear(self):
        for loss, solver in [("logistic", 0), ("sqhinge", 2), (f"sqeps:{EPSILON}", 11)]:
            for cost in [0.1, 10]:
                with self.subTest(loss=loss, C=cost):
                    labels = self.labels_of(loss)
                    ours, _ = self.weights(labels, "--loss", loss, "--lambda", cost, "--as",
                                           "libsvm", "--no-bias")
                    theirs = self.liblinear(labels, solver, cost)
                    lam = 1 / (2 * ROWS * cost)
                    best, other = (loss_of(loss, labels, self.x @ w).mean() + lam * w @ w
                                   for w in (ours, theirs))
                    self.assert_no_worse(best, other)
                    self.assert_close(self.found["primal"], best, 1e-9)
                    self.assert_close(ours, theirs, 1e-4)

    def liblinear(self, labels, solver, cost):
        lines = [f"{float(label)!r} " + " ".join(f"{j + 1}:{value!r}" for j, value in
                                                 enumerate(row.tolist()))
                 for row, label in zip(self.x, labels)]
        self.write("train.svm", "\n".join(lines) + "\n")
        words = ["liblinear-train", "-q", "-s", solver, "-c", cost, "-p", EPSILON, "-e", "1e-9",
                 "train.svm", "m.lin"]
        subprocess.run(list(map(str, words)), cwd=self.folder, check=True, timeout=300)
        head, rows = self.read("m.lin").decode().split("w\n")
        order = re.search(r"^label (\S+)", head, re.M)
        sign = -1.0 if order and float(order[1]) < 0 else 1.0
        return sign * numpy.array([float(line) for line in rows.splitlines()[:INPUTS]])

    def test_scikit_learn_logistic(self):
        """With an unpenalised intercept."""
        for cost in [0.1, 10]:
            with self.subTest(C=cost):
                w, b = self.weights(self.signs, "--loss", "logistic", "--lambda", cost, "--as",
                                    "libsvm")
                peer = LogisticRegression(C=cost, tol=1e-10, max_iter=10000)
                peer.fit(self.x, self.signs)
                self.assert_close(w, peer.coef_[0], 1e-4)
                self.assertAlmostEqual(b, peer.intercept_[0], delta=1e-4)

    def test_probabilities(self):
        self.save("fresh.csv", [self.fresh], self.names)
        w, b = self.weights(self.signs, "--loss", "logistic", "--lambda", 1e-3)
        found = self.run_tool("predict", "m.fen", "fresh.csv", "--json").json
        expected = 1 / (1 + numpy.exp(-(self.fresh @ w + b)))
        self.assert_close(numpy.array(found["probabilities"])[:, 1], expected, 1e-9)


# ---- SciPy ---------------------------------------------------------------------------------

class ScipyTest(Rows):
    """25 rows: SciPy's sequential quadratic programming on the dual of mathematics alone,
    max sum w z y - w conj(z) - u'Ku/(4 lambda) over a box and sum u = 0. Its value bounds every
    objective from below: ours must meet it."""

    SMALL, LAMBDA = 25, 0.01
    # -v*(-z) = z y - e |z| - c z^2; box
    DUALS = {"absolute": (0, 0, -1, 1), "pinball:0.2": (0, 0, -0.8, 0.2),
             f"huber:{K}": (0, 0.5, -K, K), "square": (0, 0.25, None, None)}

    def setUp(self):
        super().setUp()
        self.x, self.y = self.x[:self.SMALL], self.y[:self.SMALL]

    def dual(self, c, low, high, bias):
        n, gram = self.SMALL, gaussian(self.x, self.x)
        y = self.y - self.y.mean() * bias       # sum z = 0 makes a constant in y invisible

        def minus(z):
            return -(z @ y - c * z @ z) / n + z @ gram @ z / (4 * self.LAMBDA * n * n)

        def slope(z):
            return -(y - 2 * c * z) / n + gram @ z / (2 * self.LAMBDA * n * n)

        same = [{"type": "eq", "fun": lambda z: z.sum(), "jac": lambda z: numpy.ones(n)}]
        found = optimize.minimize(minus, numpy.zeros(n), jac=slope, bounds=[(low, high)] * n,
                                  constraints=same if bias else [], method="SLSQP",
                                  options={"maxiter": 5000, "ftol": 1e-15})
        return -found.fun, found.x / (2 * self.LAMBDA * n)

    def test_dual_bound_is_met(self):
        for loss, (_, c, low, high) in self.DUALS.items():
            for bias in [1, 0]:
                with self.subTest(loss=loss, bias=bias):
                    ours = self.ours(self.y, "--loss", loss, "--lambda", self.LAMBDA,
                                     *([] if bias else ["--no-bias"]), *GAUSSIAN)
                    best = self.objective(loss, self.y, ours, self.LAMBDA)
                    bound, coefficients = self.dual(c, low, high, bias)
                    self.assertLessEqual(abs(best - bound), 1e-6 * best)
                    self.assert_close(self.found["primal"], best, 1e-9)
                    theirs = gaussian(self.fresh, self.x) @ coefficients
                    self.assert_same_function(ours(self.fresh) - ours.b, theirs, 1e-3)

    def test_tube_is_sparse_approximation(self):
        """Seed 003, 6.2: the hard tube without bias has the coefficients of
        min 1/2 c'Kc - y'c + e |c|_1, whatever lambda is."""
        width, n, gram = 0.5, self.SMALL, gaussian(self.x, self.x)
        found = optimize.minimize(
            lambda c: 0.5 * (c[:n] - c[n:]) @ gram @ (c[:n] - c[n:]) - self.y @ (c[:n] - c[n:])
            + width * c.sum(),
            numpy.zeros(2 * n), bounds=[(0, None)] * (2 * n), method="SLSQP",
            jac=lambda c: numpy.concatenate([gram @ (c[:n] - c[n:]) - self.y + width,
                                             self.y - gram @ (c[:n] - c[n:]) + width]),
            options={"maxiter": 5000, "ftol": 1e-15})
        sparse = found.x[:n] - found.x[n:]
        for lam in [1e-4, 1.0]:
            ours = self.ours(self.y, "--loss", f"tube:{width}", "--lambda", lam, "--no-bias",
                             *GAUSSIAN)
            c = numpy.zeros(n)
            c[ours.rows] = ours.c
            self.assert_close(c, sparse, 1e-4)
            residual = self.y - ours(self.x)
            self.assertLessEqual(numpy.max(abs(residual)), width * (1 + 1e-7))
            edge = abs(c) > 1e-6 * numpy.max(abs(c))
            self.assert_close(residual[edge], width * numpy.sign(c[edge]), 1e-6)
            self.assertTrue(0 < edge.sum() < n)


# ---- every loss -----------------------------------------------------------------------------

class EveryLossTest(Rows):
    def predictions(self, columns, names, loss, *options, lam=1e-3):
        self.save("train.csv", columns, names)
        self.fit("train.csv", "--loss", loss, *options, "--lambda", lam, *GAUSSIAN)
        _, arrays = self.model()
        return numpy.array([Function(arrays["inputs"], arrays["coef_scale"][t] * arrays["dual"][t],
                                     arrays["offset"][t])(self.fresh)
                            for t in range(len(arrays["offset"]))])

    def test_weight_is_repetition(self):
        repeat = self.times.astype(int)
        for loss, *options in ([[loss] for loss in NUMBERS + CLASSES] +
                               [["eps", "--nu", "0.4"], ["hinge", "--nu", "0.4"],
                                ["eps:auto"], ["huber:0.3", "--power", "1.5"]]):
            with self.subTest(loss=loss, options=options):
                labels = self.labels_of(loss)
                weighed = self.predictions([self.x, self.times, labels], self.names + ["w", "y"],
                                           loss, "--weights", "w", *options)
                again = self.predictions([self.x.repeat(repeat, axis=0), labels.repeat(repeat)],
                                         self.names + ["y"], loss, *options)
                # a gap of 1e-9 leaves the square root of it in the function
                self.assert_same_function(weighed, again, 1e-4)

    def test_several_parameters_are_several_fits(self):
        columns, names = [self.x, self.y], self.names + ["y"]
        together = self.predictions(columns, names, "pinball:0.1,0.5,0.9")
        self.assertEqual(together.shape, (3, FRESH))
        for one, tau in zip(together, [0.1, 0.5, 0.9]):
            alone = self.predictions(columns, names, f"pinball:{tau}")
            self.assert_same_function(one, alone[0], 1e-4)
        twice = self.predictions(columns, names, "absolute", lam=2e-3)
        self.assert_same_function(together[1], twice[0], 1e-4)

    def test_square_through_every_engine(self):
        columns, names = [self.x, self.y], self.names + ["y"]
        ridge = self.predictions(columns, names, "square", "--engine", "cholesky")
        for loss, engine in [("square", "newton"), ("square", "block"), ("sqeps:0", "newton")]:
            with self.subTest(loss=loss, engine=engine):
                other = self.predictions(columns, names, loss, "--engine", engine)
                self.assert_same_function(other, ridge, 1e-4)


if __name__ == "__main__":
    unittest.main()
