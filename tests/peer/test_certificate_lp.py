"""Certificates of l^p penalties, computed by NumPy from the model file and the training rows alone;
the optimum itself by SciPy over explicit features; and model files in which an array was changed by
a thousandth, which verify must refuse.

T(a) = |Phi'a|_q^q and om(a) = Phi J_q(Phi'a) come from explicit features, all monomials of a degree
with the q-th roots of their multinomials; the exponential kernel's from degrees 0 to 24, whose rest
is below 1e-16 at exponents of 1. D is the value of the stored dual vector, moved into its boxes and
onto the constraint in the simplest way: never above what the tool says, which may move it better,
and within the tolerance of it."""
import math
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from losses import KEYS, LOSSES, shifted  # noqa: E402
from peer import PeerTest, need, numpy, write_model  # noqa: E402

scipy_optimize = need("scipy.optimize")

ROWS, DEGREES = 24, 24
GIVEN = ["--lambda", "0.02", "--tolerance", "1e-9"]   # changes of 1e-3 show
# name -> target, options
MODELS = {
    "linear, square": ("y", ["--penalty", "lp:1.5"]),
    "linear, p 1.05": ("y", ["--penalty", "lp:1.05", "--no-bias"]),
    "linear, p 2, weights": ("y", ["--penalty", "lp:2", "--weights", "w"]),
    "linear, absolute": ("y", ["--penalty", "lp:1.3", "--loss", "absolute"]),
    "linear, logistic": ("two", ["--penalty", "lp:1.2", "--loss", "logistic"]),
    "tensor-linear, huber": ("y", ["--penalty", "lp:4/3", "--kernel", "tensor-linear",
                                   "--loss", "huber:0.5"]),
    "polynomial, square": ("y", ["--penalty", "lp:4/3", "--kernel", "tensor-polynomial"]),
    "polynomial, square, no bias, weights": ("y", ["--penalty", "lp:4/3", "--kernel",
                                                   "tensor-polynomial", "--no-bias",
                                                   "--weights", "w"]),
    "polynomial, degree 3, p 6/5": ("y", ["--penalty", "lp:6/5", "--kernel", "tensor-polynomial",
                                          "--degree", "3"]),
    "polynomial, eps": ("y", ["--penalty", "lp:4/3", "--kernel", "tensor-polynomial",
                              "--loss", "eps:0.2"]),
    "polynomial, sqeps, weights": ("y", ["--penalty", "lp:4/3", "--kernel", "tensor-polynomial",
                                         "--loss", "sqeps:0.2", "--weights", "w"]),
    "polynomial, hinge": ("two", ["--penalty", "lp:4/3", "--kernel", "tensor-polynomial",
                                  "--loss", "hinge"]),
    "polynomial, sqhinge, no bias": ("two", ["--penalty", "lp:4/3", "--kernel",
                                             "tensor-polynomial", "--loss", "sqhinge",
                                             "--no-bias"]),
    "exponential, square": ("y", ["--penalty", "lp:4/3", "--kernel", "tensor-exponential"]),
    "exponential, p 2": ("y", ["--penalty", "lp:2", "--kernel", "tensor-exponential"]),
    "exponential, p 6/5, no bias": ("y", ["--penalty", "lp:6/5", "--kernel",
                                          "tensor-exponential", "--no-bias"]),
    "exponential, quantiles": ("y", ["--penalty", "lp:4/3", "--kernel", "tensor-exponential",
                                     "--loss", "pinball:0.2,0.8"]),
    "exponential, logistic, weights": ("two", ["--penalty", "lp:4/3", "--kernel",
                                               "tensor-exponential", "--loss", "logistic",
                                               "--weights", "w"]),
}


def monomials(x, degree, coefficient, q):
    """Columns (coefficient times multinomial)^(1/q) x^k over all |k| = degree."""
    def of(column, left, value, orders):
        if column == x.shape[1] - 1:
            yield (coefficient * orders) ** (1 / q) * value * x[:, column] ** left
            return
        for power in range(left + 1):
            yield from of(column + 1, left - power, value * x[:, column] ** power,
                          orders * math.comb(left, power))
    return list(of(0, degree, numpy.ones(len(x)), 1))


def features(metadata, x, q):
    kernel = metadata["kernel"]
    if kernel in ("linear", "tensor-linear"):
        return x
    if kernel == "tensor-polynomial":
        return numpy.column_stack(monomials(x, int(float(metadata["degree"])), 1.0, q))
    gamma = float(metadata["gamma"])
    return numpy.column_stack([column for m in range(DEGREES + 1) for column in
                               monomials(x, m, gamma ** m / math.factorial(m), q)])


def dual_map(g, q):
    return numpy.sign(g) * abs(g) ** (q - 1)


def dual_value(loss, y, w, u, par, phi, lam, p, bias):
    conj, box = LOSSES[loss][1:]
    low, high = (numpy.broadcast_to(numpy.asarray(side, float), y.shape) for side in box(y, par))
    z = numpy.clip(u / w, low, high)
    if bias:
        z = shifted(z, w, low, high)
    q = p / (p - 1)
    norm = (abs(phi.T @ (w * z)) ** q).sum() ** (1 / q)
    return -(w @ conj(y, z, par)) - lam * (p - 1) * (norm / (lam * p)) ** q


def farthest(gap, norm, lam, p):
    """The root of delta^2 = c (norm + delta)^(2-p)."""
    c = 2 * gap / (lam * p * (p - 1))
    low, high = 0.0, norm + (4 * c) ** (1 / p) + 1e-300
    for _ in range(200):
        delta = (low + high) / 2
        low, high = (delta, high) if delta ** 2 < c * (norm + delta) ** (2 - p) else (low, delta)
    return high


class Rows(PeerTest):
    def setUp(self):
        super().setUp()
        random = numpy.random.default_rng(7)
        self.x = random.uniform(-1, 1, (ROWS, 3)) * [1, 5, 0.2] + [0, 10, 3]
        self.w = random.uniform(0.5, 2, ROWS)
        score = self.x[:, 0] + 0.2 * self.x[:, 1] - 2
        self.y = score + 2 * score * self.x[:, 0] + 0.3 * random.standard_normal(ROWS)
        self.two = numpy.where(self.y + 0.5 * random.standard_normal(ROWS) > 0.4, "yes", "no")

    def fitted(self, name, *more):
        target, options = MODELS[name]
        weighted = "--weights" in options
        lines = ["a,b,c," + ("w," if weighted else "") + target]
        for i, label in enumerate(getattr(self, target)):
            cells = [repr(float(v)) for v in [*self.x[i], self.w[i]][:3 + weighted]]
            lines.append(",".join(cells + [repr(float(label)) if target == "y" else label]))
        self.write("rows.csv", "\n".join(lines) + "\n")
        return "rows.csv", self.fit("rows.csv", *options, *GIVEN, *more)

    def problem(self, name):
        """What the tool solved: x, weights and labels of both signs."""
        metadata, arrays = self.model()
        x = (self.x - arrays["prepare.center"]) / arrays["prepare.scale"]
        w = self.w if "--weights" in MODELS[name][1] else numpy.ones(ROWS)
        y = self.y if MODELS[name][0] == "y" else numpy.where(self.two == "yes", 1.0, -1.0)
        return metadata, arrays, x, w / w.sum(), y


class Certificate(Rows):
    def check(self, name):
        _, fit = self.fitted(name)
        metadata, arrays, x, w, y = self.problem(name)
        lam, p, loss = float(metadata["lambda"]), float(metadata["power"]), metadata["loss"]
        q = p / (p - 1)
        phi = features(metadata, x, q)
        support = arrays["support"].astype(int) if "support" in arrays else numpy.arange(ROWS)
        for t, output in enumerate(arrays["outputs"]):
            sign = -1.0 if int(output[1]) == 0 else 1.0   # the class that counts as +1
            u = numpy.zeros(ROWS)
            u[support] = arrays["dual"][t]
            par, scale, b = output[3], arrays["coef_scale"][t], arrays["offset"][t]
            self.assertAlmostEqual(scale * lam * p, 1.0, delta=1e-12)
            weights = dual_map(phi.T @ (scale * u), q)
            if "weights" in arrays:
                numpy.testing.assert_allclose(arrays["weights"][t], weights,
                                              atol=1e-9 * abs(weights).max())
            labels = y if MODELS[name][0] == "y" else sign * y
            f = phi @ weights
            norm = (abs(weights) ** p).sum() ** (1 / p)
            mean = w @ LOSSES[loss][0](labels, f + b, par)
            primal = mean + lam * norm ** p
            dual = dual_value(loss, labels, w, u, par, phi, lam, p, metadata["bias"] == "yes")
            stored = dict(zip(KEYS, arrays["certificate"][t]))
            self.assertAlmostEqual(stored["primal"], primal, delta=1e-9 * primal)
            self.assertAlmostEqual(stored["mean_loss"], mean, delta=1e-9 * primal)
            self.assertAlmostEqual(stored["norm"], norm, delta=1e-8 * norm)
            self.assertLessEqual(dual, stored["dual"] + 1e-9 * primal)
            self.assertGreaterEqual(dual, stored["dual"] - 1e-8 * primal)
            self.assertLessEqual(abs(stored["relative_gap"]), 1e-9)
            self.check_distance(arrays["distance"][t], stored, w, f + b, phi, lam, p, loss)
            verdict = fit["verdict"]
            self.assertEqual(verdict if isinstance(verdict, str) else verdict[t], "optimal")

    def test_numpy_agrees(self):
        for name in MODELS:
            with self.subTest(model=name):
                self.check(name)

    def check_distance(self, distance, stored, w, t, phi, lam, p, loss):
        """delta^2 = c (N + delta)^(2-p), c = 2 G / (lambda p (p-1)); what rounding adds to G is no
        more than 1e-11 of the objective and of what the labels could make of it."""
        q = p / (p - 1)
        worth = stored["primal"] + stored["null"]
        low, high = (farthest(gap, stored["norm"], lam, p)
                     for gap in (stored["gap"], stored["gap"] + 1e-11 * worth))
        self.assertGreaterEqual(distance[0], low * (1 - 1e-9))
        self.assertLessEqual(distance[0], high * (1 + 1e-6))
        size = (abs(phi) ** q).sum(axis=1) ** (1 / q)
        self.assertLessEqual(distance[2], (distance[0] * size).max() * (1 + 1e-6) + distance[1]
                             + 1e-9 * abs(t).max())
        if loss == "square":
            self.assertLessEqual(distance[2], numpy.sqrt((stored["gap"] + 1e-11 * worth)
                                                         / w.min()) + 1e-9 * abs(t).max())
            self.assertLessEqual(distance[1], numpy.sqrt((stored["gap"] + 1e-11 * worth) / w.sum())
                                 + distance[0] * (w @ size) / w.sum() * (1 + 1e-6)
                                 + 1e-9 * abs(t).max())

    def test_optimum_is_within_the_distance(self):
        """A fit at 1e-3 from one at 1e-12: |w - w*|_p and |b - b*|, over the features."""
        for name, (target, options) in MODELS.items():
            if "quantiles" in name:
                continue
            seen = []
            for tolerance in ("1e-3", "1e-12"):
                self.fitted(name, "--tolerance", tolerance)
                metadata, arrays, x, _, _ = self.problem(name)
                p = float(metadata["power"])
                phi = features(metadata, x, p / (p - 1))
                weights = dual_map(phi.T @ (arrays["coef_scale"][0] * self.dual(arrays)),
                                   p / (p - 1))
                seen.append((weights, arrays["offset"][0], arrays["distance"][0]))
            off = (abs(seen[0][0] - seen[1][0]) ** p).sum() ** (1 / p)
            size = 1e-12 * (1 + abs(seen[1][0]).sum())
            with self.subTest(model=name):
                self.assertLessEqual(off, seen[0][2][0] + seen[1][2][0] + size)
                self.assertLessEqual(abs(seen[0][1] - seen[1][1]),
                                     seen[0][2][1] + seen[1][2][1] + size)

    def test_scipy_finds_nothing_better(self):
        """BFGS over the features from the tool's own answer, and from 0."""
        for name, (target, options) in MODELS.items():
            if target != "y" or "--loss" in options:
                continue
            self.fitted(name)
            metadata, arrays, x, w, y = self.problem(name)
            lam, p = float(metadata["lambda"]), float(metadata["power"])
            q = p / (p - 1)
            phi = features(metadata, x, q)
            bias = float(metadata["bias"] == "yes")

            def objective(at):
                off = y - phi @ at[:-1] - bias * at[-1]
                slope = numpy.append(phi.T @ (w * off), bias * (w @ off))
                penalty = numpy.append(lam * p * dual_map(at[:-1], p), 0.0)
                return w @ off ** 2 + lam * (abs(at[:-1]) ** p).sum(), penalty - 2 * slope

            weights = dual_map(phi.T @ (arrays["coef_scale"][0] * self.dual(arrays)), q)
            stored = dict(zip(KEYS, arrays["certificate"][0]))
            for start in (numpy.zeros(len(weights)), weights):
                found = scipy_optimize.minimize(
                    objective, numpy.append(start, arrays["offset"][0]), jac=True,
                    method="L-BFGS-B", options={"maxiter": 3000, "ftol": 1e-15, "gtol": 1e-11})
                with self.subTest(model=name):
                    # a curvature without bound at 0 keeps the method from the last digits
                    self.assertGreaterEqual(found.fun, stored["dual"] * (1 - 1e-9))
                    self.assertLessEqual(found.fun, stored["primal"] * (1 + 1e-3))
                    if start is weights:
                        self.assertLessEqual(found.fun, stored["primal"] * (1 + 1e-9))

    @staticmethod
    def dual(arrays):
        u = numpy.zeros(ROWS)
        support = arrays["support"].astype(int) if "support" in arrays else numpy.arange(ROWS)
        u[support] = arrays["dual"][0]
        return u


class Wide(PeerTest):
    """So many columns that there is no list of features: sums over all pairs of pairs of rows, and
    predictions by pivots."""

    def setUp(self):
        super().setUp()
        random = numpy.random.default_rng(3)
        self.x = random.uniform(-1, 1, (20, 60))
        self.y = self.x[:, 0] + self.x[:, 1] * self.x[:, 2] + 0.1 * random.standard_normal(20)
        self.save("wide.csv", [self.x, self.y])
        self.said = self.fit("wide.csv", "--penalty", "lp:4/3", "--kernel", "tensor-exponential",
                             "--scale", "none", *GIVEN)

    def test_numpy_agrees(self):
        metadata, arrays = self.model()
        lam, p = float(metadata["lambda"]), float(metadata["power"])
        u, b = arrays["dual"][0], arrays["offset"][0]
        pairs = (self.x[:, None, :] * self.x[None, :, :]).reshape(-1, 60)
        gram = numpy.exp(float(metadata["gamma"]) * pairs @ pairs.T)

        def form(a):
            """T and om."""
            product = gram @ numpy.outer(a, a).ravel()
            return numpy.outer(a, a).ravel() @ product, product.reshape(20, 20) @ a

        value, f = form(arrays["coef_scale"][0] * u)
        primal = numpy.mean((self.y - f - b) ** 2) + lam * value
        u = u - u.mean()
        z = 20 * u
        dual = (numpy.mean(z * self.y - z ** 2 / 4)
                - lam * (p - 1) * form(u)[0] / (lam * p) ** (p / (p - 1)))
        stored = dict(zip(KEYS, arrays["certificate"][0]))
        self.assertAlmostEqual(stored["primal"], primal, delta=1e-9 * primal)
        self.assertAlmostEqual(stored["dual"], dual, delta=1e-8 * primal)
        self.assertAlmostEqual(stored["norm"], value ** (1 / p), delta=1e-8 * stored["norm"])
        self.assertIn("pivots", arrays)
        off = abs(self.predict("wide.csv") - f - b).max()
        self.assertLessEqual(off, 1.01 * self.said["prediction_error"] + 1e-9 * abs(f).max())

    def test_pivots(self):
        metadata, arrays = self.model()
        self.assertEqual(self.code_of("verify", "m.fen", "wide.csv"), 0)
        for key in ("pivots", "pivot_weights"):
            changed = arrays[key].copy()
            changed[0, 0] = changed[0, 0] + 1 if key == "pivots" else changed[0, 0] * 1.001 + 1e-3
            write_model(self.path("changed.fen"), metadata, {**arrays, key: changed})
            with self.subTest(array=key):
                self.assertIn(self.code_of("verify", "changed.fen", "wide.csv"), (1, 3))

    def test_weights_that_training_rows_do_not_see(self):
        """Twenty predictions say nothing of 210 weights: a change that all training rows forgive
        moves a new row by 5."""
        metadata, arrays = self.model()
        x, a = arrays["inputs"], arrays["coef_scale"][0] * arrays["dual"][0]
        members = arrays["pivots"].astype(int)
        points = x[members[:, 0]] * x[members[:, 1]]

        def seen_by(rows):
            return numpy.stack([numpy.exp(float(metadata["gamma"]) * (points * z) @ x.T) @ a
                                for z in rows])

        new = self.x[:1] + 0.3 * numpy.random.default_rng(4).standard_normal((1, 60))
        hidden = numpy.linalg.svd(seen_by(x))[2][20:]
        change = hidden.T @ (hidden @ seen_by(new)[0])
        change *= 5 / (seen_by(new)[0] @ change)
        self.assertLess(abs(seen_by(x) @ change).max(), 1e-9)
        write_model(self.path("changed.fen"), metadata,
                    {**arrays, "pivot_weights": arrays["pivot_weights"] + change})
        self.assertEqual(self.code_of("verify", "changed.fen", "wide.csv"), 1)

    def test_error_of_predictions(self):
        """A number that is absent does not spare predictions their check."""
        metadata, arrays = self.model()
        ended = {**metadata, "verdicts": "interrupted"}
        del ended["prediction_error"]
        write_model(self.path("changed.fen"), ended, arrays)
        self.assertEqual(self.code_of("verify", "changed.fen", "wide.csv"), 0)
        for factor in (1000, 1.0001):
            changed = factor * arrays["pivot_weights"]
            write_model(self.path("changed.fen"), ended, {**arrays, "pivot_weights": changed})
            with self.subTest(factor=factor):
                self.assertEqual(self.code_of("verify", "changed.fen", "wide.csv"), 1)
        for error in (1e-3, 1e300):
            write_model(self.path("changed.fen"), {**metadata, "prediction_error": repr(error)},
                        arrays)
            with self.subTest(error=error):
                self.assertEqual(self.code_of("verify", "changed.fen", "wide.csv"), 1)


class Mutation(Rows):
    """Zeros become 1e-3, everything else grows by a thousandth."""

    def answer(self, data, name, values):
        metadata, arrays = self.model()
        write_model(self.path("changed.fen"), metadata, {**arrays, name: values})
        return self.code_of("verify", "changed.fen", data)

    def test_arrays(self):
        for name in MODELS:
            data, _ = self.fitted(name)
            arrays = self.model()[1]
            with self.subTest(model=name):
                self.assertEqual(self.answer(data, "dual", arrays["dual"]), 0)
            for key, values in arrays.items():
                # bounds that go with the root of a gap of rounding errors: to a factor 3
                by = 3 if key == "distance" else 1e-3
                changed = numpy.where(values == 0, 1e-3, values * (1 + by))
                wanted = (1, 3) if key in ("outputs", "support", "pivots") else (1,)
                with self.subTest(model=name, array=key):
                    self.assertIn(self.answer(data, key, changed), wanted)


if __name__ == "__main__":
    unittest.main()
