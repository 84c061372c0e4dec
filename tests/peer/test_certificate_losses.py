"""Certificates of every loss, computed by NumPy from the model file and the training rows alone;
and model files in which an array was changed by a thousandth, which verify must refuse.

P and its parts are the definition itself. D is the value of the stored dual vector, moved into its
boxes and onto the constraints in the simplest way: never above what the tool says (which may move
it better), and within the tolerance of it."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from losses import INF, KEYS, LOSSES, shifted  # noqa: E402
from peer import PeerTest, numpy, write_model  # noqa: E402

ROWS = 60
GIVEN = ["--gamma", "mean", "--lambda", "1e-2", "--tolerance", "1e-9"]  # changes of 1e-3 show
# name -> target, options
MODELS = {
    "square, newton": ("y", ["--loss", "square", "--engine", "newton"]),
    "absolute": ("y", ["--loss", "absolute"]),
    "eps": ("y", ["--loss", "eps:0.2"]),
    "eps, no bias": ("y", ["--loss", "eps:0.2", "--no-bias"]),
    "eps, weights": ("y", ["--loss", "eps:0.2", "--weights", "w"]),
    "eps, linear": ("y", ["--loss", "eps:0.2", "--kernel", "linear"]),
    "eps, power 1.5": ("y", ["--loss", "eps:0.2", "--power", "1.5"]),
    "eps, power 3": ("y", ["--loss", "eps:0.2", "--power", "3"]),
    "nu-SVR": ("y", ["--loss", "eps", "--nu", "0.3"]),
    "sqeps": ("y", ["--loss", "sqeps:0.2"]),
    "huber": ("y", ["--loss", "huber:0.5"]),
    "huber, power 1": ("y", ["--loss", "huber:0.5", "--power", "1"]),
    "quantiles": ("y", ["--loss", "pinball:0.1,0.5,0.9"]),
    "tube": ("y", ["--loss", "tube:0.8"]),
    "hinge": ("two", ["--loss", "hinge"]),
    "hinge, no bias": ("two", ["--loss", "hinge", "--no-bias"]),
    "hinge, power 1.3": ("two", ["--loss", "hinge", "--power", "1.3"]),
    "hinge, class weights": ("two", ["--loss", "hinge", "--class-weights", "no=3,yes=1"]),
    "nu-SVC": ("two", ["--loss", "hinge", "--nu", "0.4"]),
    "sqhinge": ("two", ["--loss", "sqhinge"]),
    "logistic": ("two", ["--loss", "logistic"]),
    "logistic, linear": ("two", ["--loss", "logistic", "--kernel", "linear"]),
    "hinge, one against the rest": ("three", ["--loss", "hinge"]),
    "hinge, pairs": ("three", ["--loss", "hinge", "--multiclass", "ovo"]),
    "logistic, pairs, balanced": ("three", ["--loss", "logistic", "--multiclass", "ovo",
                                            "--class-weights", "balanced"]),
    "hinge, sigmoids": ("two", ["--loss", "hinge", "--probability"]),
}


def kernel_of(metadata, x):
    if metadata["kernel"] == "linear":
        return x @ x.T
    squares = ((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=2)
    return numpy.exp(-float(metadata["gamma"]) * squares)


def psi(norm, lam, power):
    """Conjugate of lam r^power."""
    if power == 1:
        return 0.0 if norm <= lam * (1 + 1e-12) else INF
    return lam * (power - 1) * (norm / (lam * power)) ** (power / (power - 1))


def share_out(z, w, low, high, rows, mass):
    """|z| of these rows shrunk, or stretched to the far ends of their boxes, to weigh mass."""
    far = numpy.where(high > 0, high, low)
    now, most = w[rows] @ abs(z[rows]), w[rows] @ abs(far[rows])
    z = z.copy()
    if now > mass:
        z[rows] *= mass / now
    else:
        z[rows] += (mass - now) / (most - now) * (far - z)[rows]
    return z


def dual_value(name, y, w, u, par, nu, k, lam, power, bias):
    conj, box = LOSSES[name][1:]
    low, high = (numpy.broadcast_to(numpy.asarray(side, float), y.shape) for side in box(y, par))
    z = numpy.clip(numpy.divide(u, w, out=numpy.zeros_like(u), where=w > 0), low, high)
    z = numpy.where(w > 0, z, 0.0)
    if nu and name == "hinge":
        sides = [y > 0, y < 0] if bias else [y != 0]
        for rows in sides:
            z = share_out(z, w, low, high, rows, nu * w.sum() / len(sides))
    elif bias:
        z = numpy.where(w > 0, shifted(z, w, low, high), 0.0)
    if nu and name == "eps":
        z = z * min(1.0, nu * w.sum() / (w @ abs(z)))
    norm = numpy.sqrt((w * z) @ k @ (w * z))
    part = min(1.0, lam / norm) if power == 1 and norm > 0 else 1.0
    z, norm = part * z, part * norm
    return -(w @ numpy.where(w > 0, conj(y, z, 0.0 if nu else par), 0.0)) - psi(norm, lam, power)


class Rows(PeerTest):
    NAMES = ["a", "b", "c", "w", "y", "two", "three"]

    def setUp(self):
        super().setUp()
        random = numpy.random.default_rng(5)
        self.x = random.standard_normal((ROWS, 3)) * [1, 5, 0.2] + [0, 10, 3]
        self.w = random.uniform(0.5, 2, ROWS)
        score = self.x[:, 0] + 0.2 * self.x[:, 1] - 2
        self.y = numpy.sin(2 * score) + score + 0.3 * random.standard_normal(ROWS)
        self.two = numpy.where(self.y + 0.5 * random.standard_normal(ROWS) > 0, "yes", "no")
        self.three = numpy.array(["blue", "green", "red"])[
            numpy.digitize(self.y + 0.3 * random.standard_normal(ROWS), [-0.7, 0.7])]
        for target in ("y", "two", "three"):
            labels = getattr(self, target)
            lines = ["a,b,c,w," + target]
            for i in range(ROWS):
                cells = [repr(float(v)) for v in [*self.x[i], self.w[i]]]
                last = repr(float(labels[i])) if target == "y" else labels[i]
                lines.append(",".join(cells + [last]))
            self.write(target + ".csv", "\n".join(lines) + "\n")

    def fitted(self, name):
        target, options = MODELS[name]
        options = options + (GIVEN[2:] if "linear" in options else GIVEN)
        return target + ".csv", self.fit(target + ".csv", *options)


class Certificate(Rows):
    def labels(self, target, output, w, class_weights):
        """y and weights of one output, and the factor of all weights."""
        column, plus, minus = (int(v) for v in output[:3])
        if plus < 0:
            return self.y, w / w.sum()
        names = sorted(set(getattr(self, target)))
        code = numpy.array([names.index(label) for label in getattr(self, target)])
        w = w * (class_weights[code] if class_weights is not None else 1.0)
        w = w / w.sum()
        y = numpy.where(code == plus, 1.0, numpy.where((code == minus) | (minus < 0), -1.0, 0.0))
        return y, numpy.where(y == 0, 0.0, w)

    def check(self, name):
        data, fit = self.fitted(name)
        target = data[:-4]
        metadata, arrays = self.model()
        columns = ["a", "b", "c"] if "--weights" in MODELS[name][1] else ["a", "b", "c", "w"]
        raw = numpy.column_stack([self.x, self.w])[:, :len(columns)]
        x = (raw - arrays["prepare.center"]) / arrays["prepare.scale"]
        k = kernel_of(metadata, x)
        lam, power, nu = (float(metadata[key]) for key in ("lambda", "power", "nu"))
        bias = metadata["bias"] == "yes"
        weights = self.w if "--weights" in MODELS[name][1] else numpy.ones(ROWS)
        loss = metadata["loss"]
        support = arrays["support"].astype(int) if "support" in arrays else numpy.arange(ROWS)
        for t, output in enumerate(arrays["outputs"]):
            y, w = self.labels(target, output, weights, arrays.get("class_weights"))
            u = numpy.zeros(ROWS)
            u[support] = arrays["dual"][t]
            par, scale, b = output[3], arrays["coef_scale"][t], arrays["offset"][t]
            f = x @ arrays["weights"][t] if "weights" in arrays else scale * (k @ u)
            norm = numpy.sqrt(max(u @ k @ u, 0.0)) * scale
            mean = w @ numpy.where(w > 0, LOSSES[loss][0](y, f + b, par), 0.0)
            price = {"eps": 1, "hinge": -1}.get(loss, 0) * nu * w.sum() * par
            primal = mean + lam * norm ** power + price
            dual = dual_value(loss, y, w, u, par, nu, k, lam, power, bias)
            stored = dict(zip(KEYS, arrays["certificate"][t]))
            unit = abs(primal)
            self.assertAlmostEqual(stored["primal"], primal, delta=1e-9 * unit)
            self.assertAlmostEqual(stored["mean_loss"], mean, delta=1e-9 * (unit + mean))
            self.assertAlmostEqual(stored["norm"], norm, delta=1e-7 * norm)
            self.assertLessEqual(dual, stored["dual"] + 1e-9 * unit)
            self.assertGreaterEqual(dual, stored["dual"] - 1e-6 * unit)
            self.assertLessEqual(abs(stored["relative_gap"]), 1e-6)
            self.assertEqual(fit["verdict"] if len(arrays["outputs"]) == 1 else
                             fit["verdict"][t], "optimal")

    def test_numpy_agrees(self):
        for name in MODELS:
            with self.subTest(model=name):
                self.check(name)


def refusals(key):
    """Exit codes that will do: places that are none make the file unreadable."""
    return (1, 3) if key in ("outputs", "support") else (1,)


class Mutation(Rows):
    """Zeros become 1e-3, everything else grows by a thousandth."""

    @staticmethod
    def changed(values, key=None):
        changed = numpy.where(values == 0, 1e-3, values * (1 + 1e-3))
        if key == "class_weights":        # only their proportions mean something
            changed[1:] = values[1:]
        return changed

    def answer(self, data, name, values, more={}):
        metadata, arrays = self.model()
        write_model(self.path("changed.fen"), {**metadata, **more}, {**arrays, name: values})
        return self.code_of("verify", "changed.fen", data)

    def test_arrays(self):
        for name in MODELS:
            data, _ = self.fitted(name)
            arrays = self.model()[1]
            with self.subTest(model=name):
                self.assertEqual(self.answer(data, "dual", arrays["dual"]), 0)
            for key, values in arrays.items():
                with self.subTest(model=name, array=key):
                    self.assertIn(self.answer(data, key, self.changed(values, key)),
                                  refusals(key))

    def test_outputs(self):
        """Each number of what an output is: column, classes, parameter, sigmoid."""
        for name in ("eps", "nu-SVR", "nu-SVC", "hinge, pairs", "quantiles", "hinge, sigmoids"):
            data, _ = self.fitted(name)
            values = self.model()[1]["outputs"]
            for i in range(values.shape[1]):
                one = values.copy()
                if i < 3:
                    one[0, i] += 1
                elif i == 3:
                    one[0, i] = self.changed(one[0, i])
                else:             # refits agree with each other to some 1e-4
                    one[0, i] += 1e-2
                with self.subTest(model=name, entry=i):
                    self.assertIn(self.answer(data, "outputs", one), (1, 3))

    def test_nu(self):
        for name in ("nu-SVR", "nu-SVC", "eps", "hinge"):
            data, _ = self.fitted(name)
            metadata, arrays = self.model()
            nu = repr(float(self.changed(numpy.float64(metadata["nu"]))))
            with self.subTest(model=name):
                self.assertIn(self.answer(data, "dual", arrays["dual"], {"nu": nu}), (1, 3))


if __name__ == "__main__":
    unittest.main()
