"""The certificate, computed by NumPy from the model file and the training rows alone; and a model
file in which any array was changed by a thousandth, which verify must refuse.

For the square loss and power 2 the best multiple t of a dual vector is known: D(t z) is a parabola
in t. Other powers: a dense search over t; below 1 the kinks of the stored tangents."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from losses import KEYS  # noqa: E402
from peer import PeerTest, numpy, write_model  # noqa: E402

ROWS = 36
ROUNDING = ["relative_gap", "stationarity"]
GIVEN = ["--lambda", "1e-3", "--gamma", "mean"]
# name -> data file, options
MODELS = {
    "gaussian": ("plain.csv", GIVEN),
    "gaussian, no bias": ("plain.csv", GIVEN + ["--no-bias"]),
    "gaussian, gaps": ("gaps.csv", GIVEN),
    "gaussian, selected": ("gaps.csv", ["--gamma", "0.05,0.2", "--lambda", "1e-4,1e-3,1e-2"]),
    "gaussian, two targets": ("plain.csv", GIVEN + ["--target", "b,y"]),
    "gaussian, weights": ("plain.csv", GIVEN + ["--weights", "w"]),
    "gaussian, not scaled": ("plain.csv", GIVEN + ["--scale", "none"]),
    "laplace1": ("plain.csv", GIVEN + ["--kernel", "laplace1"]),
    "polynomial": ("plain.csv", ["--lambda", "1e-3", "--gamma", "0.3", "--kernel", "polynomial"]),
    "linear": ("plain.csv", ["--lambda", "1e-3", "--kernel", "linear"]),
    "linear, no bias": ("plain.csv", ["--lambda", "1e-3", "--kernel", "linear", "--no-bias"]),
    "linear, gaps": ("gaps.csv", ["--lambda", "1e-3", "--kernel", "linear"]),
    "linear, selected": ("gaps.csv", ["--kernel", "linear"]),
    "gaussian, power 1.5": ("plain.csv", GIVEN + ["--power", "1.5"]),
    "gaussian, power 3, weights": ("plain.csv", GIVEN + ["--power", "3", "--weights", "w"]),
    "gaussian, power 1": ("plain.csv", GIVEN + ["--power", "1"]),
    "gaussian, power 1, f = 0": ("plain.csv", ["--lambda", "1e4", "--gamma", "mean",
                                               "--power", "1"]),
    "gaussian, power 0.5": ("plain.csv", GIVEN + ["--power", "0.5"]),
    "gaussian, power 0.5, two targets": ("plain.csv", ["--lambda", "0.1", "--gamma", "mean",
                                                       "--power", "0.5", "--target", "b,y"]),
    "linear, power 0.5, weights": ("plain.csv", ["--lambda", "0.05", "--kernel", "linear",
                                                 "--power", "0.5", "--weights", "w"]),
    "linear, power 3": ("plain.csv", ["--lambda", "0.05", "--kernel", "linear", "--power", "3"]),
    "linear, two targets": ("plain.csv", ["--lambda", "1e-3", "--kernel", "linear",
                                          "--target", "b,y", "--weights", "w"]),
}


def kernel_of(metadata, x, z):
    gamma, name = float(metadata["gamma"]), metadata["kernel"]
    squares = ((x[:, None, :] - z[None, :, :]) ** 2).sum(axis=2)
    return {"gaussian": lambda: numpy.exp(-gamma * squares),
            "laplace1": lambda: numpy.exp(-gamma * numpy.abs(x[:, None] - z[None]).sum(axis=2)),
            "polynomial": lambda: (gamma * x @ z.T + float(metadata["coef0"]))
            ** int(metadata["degree"]),
            "linear": lambda: x @ z.T}[name]()


def features(metadata, arrays, table, names):
    """The training rows as the model's preparation sees them; gaps are NaN."""
    out = []
    for j, one in enumerate(json.loads(metadata["preparation"])["inputs"]):
        column = table[:, names.index(one["name"])]
        gap = numpy.isnan(column)
        if not one.get("constant"):
            filled = numpy.where(gap, arrays["prepare.fill"][j], column)
            out.append((filled - arrays["prepare.center"][j]) / arrays["prepare.scale"][j])
        if one.get("gaps"):
            out.append(gap.astype(float))
    return numpy.column_stack(out)


def best_multiple(power, lam, heights, square):
    """Largest heights(s) - Psi*(s |g|) over s in [0, 1]; heights is concave."""
    norm = numpy.sqrt(square)
    if power == 1:
        end = min(1.0, lam / norm)
        conjugate = lambda s: 0.0 * s  # noqa: E731
    else:
        end = 1.0
        conjugate = lambda s: lam * (power - 1) * (s * norm / (lam * power)) ** (power / (power - 1))  # noqa: E731
    low, high = 0.0, end
    for _ in range(12):                         # narrower and narrower around the best
        grid = numpy.linspace(low, high, 201)
        at = int(numpy.argmax(heights(grid) - conjugate(grid)))
        low, high = grid[max(at - 1, 0)], grid[min(at + 1, 200)]
    return float(numpy.max(heights(grid) - conjugate(grid)))


def lower_bound(power, lam, lines):
    """min over r of max(0, A - B r) + lam r^power over all lines: at a kink, so try them all."""
    lines = numpy.array(lines + [(0.0, 0.0)])
    candidates = [0.0]
    for a, b in lines:
        with numpy.errstate(divide="ignore", invalid="ignore"):
            meets = (a - lines[:, 0]) / (b - lines[:, 1])
        candidates += [r for r in meets if numpy.isfinite(r) and r > 0]
    r = numpy.array(candidates)
    heights = numpy.max(lines[:, :1] - lines[:, 1:] * r[None, :], axis=0)
    return float(numpy.min(heights + lam * r ** power))


def tangents_of(arrays, k, y, w, t, bias):
    vectors = arrays["tangents"].reshape(len(arrays["dual"]), -1, len(y))[t]
    for u in vectors:
        z = u / w - (numpy.sum(u) if bias else 0.0)
        yield w @ (z * y) - w @ z ** 2 / 4, numpy.sqrt(max((w * z) @ k @ (w * z), 0.0))


def certificate(metadata, arrays, x, y, w, t):
    """The eight numbers of target t; w sums to 1."""
    lam, bias = float(metadata["lambda"]), metadata["bias"] == "yes"
    u, scale = arrays["dual"][t], arrays["coef_scale"][t]
    k = kernel_of(metadata, x, arrays.get("inputs", x))
    if "weights" in arrays:
        f, norm = x @ arrays["weights"][t], numpy.linalg.norm(arrays["weights"][t])
    else:
        f, norm = scale * (k @ u), abs(scale) * numpy.sqrt(u @ k @ u)
    residual = y - f - arrays["offset"][t]
    z = u / w
    feasible = z - (w @ z if bias else 0.0)
    square = (w * feasible) @ k @ (w * feasible)
    power = float(metadata["power"])
    curvature = w @ feasible ** 2 / 4 + square / (4 * lam)
    best = min(max((w @ (feasible * y)) / (2 * curvature), 0.0), 1.0)
    loss = w @ residual ** 2
    primal = loss + lam * norm ** power
    if power == 2:
        dual = best * (w @ (feasible * y)) - best ** 2 * curvature
    elif power >= 1:
        along, curve = w @ (feasible * y), w @ feasible ** 2 / 4
        dual = best_multiple(power, lam, lambda s: s * along - s ** 2 * curve, square)
    else:
        dual = lower_bound(power, lam, list(tangents_of(arrays, k, y, w, t, bias)))
    null = w @ (y - (w @ y if bias else 0.0)) ** 2
    slack = numpy.max(numpy.abs(z - 2 * residual)) / numpy.max(numpy.abs(z))
    gap = primal - dual
    return dict(zip(KEYS, [primal, dual, gap, gap / max(primal, 1e-12 * null), null, loss, norm,
                           slack]))


class Rows(PeerTest):
    NAMES = ["a", "b", "c", "w", "y"]

    def setUp(self):
        super().setUp()
        random = numpy.random.default_rng(3)
        x = random.standard_normal((ROWS, 3)) * [1, 5, 0.2] + [0, 10, 3]
        y = x[:, 0] ** 2 + x[:, 1] + 0.1 * random.standard_normal(ROWS)
        self.table = numpy.column_stack([x, random.uniform(0.5, 2, ROWS), y])
        self.gaps = self.table.copy()
        self.gaps[::7, 0] = numpy.nan
        self.gaps[3::11, 2] = numpy.nan
        self.save("plain.csv", [self.table], self.NAMES)
        self.save("gaps.csv", [self.gaps], self.NAMES)


class Certificate(Rows):
    def check(self, data, options):
        fit = self.fit(data, *options)
        metadata, arrays = self.model()
        table = self.gaps if data == "gaps.csv" else self.table
        x = features(metadata, arrays, table, self.NAMES)
        w = self.table[:, 3] if "--weights" in options else numpy.ones(ROWS)
        targets = fit["targets"]
        for t, name in enumerate(targets):
            y = table[:, self.NAMES.index(name)]
            found = certificate(metadata, arrays, x, y, w / w.sum(), t)
            stored = dict(zip(KEYS, arrays["certificate"][t]))
            self.assertGreaterEqual(stored["gap"], 0)
            self.assertLessEqual(stored["relative_gap"], 1e-6)
            for key in ("primal", "dual", "null", "mean_loss", "norm"):
                self.assertAlmostEqual(stored[key], found[key], delta=1e-9 * found["primal"]
                                       if key != "norm" else 1e-9 * found["norm"], msg=key)
            for key in ("relative_gap", "stationarity"):
                self.assertAlmostEqual(stored[key], found[key], delta=1e-9, msg=key)
            for key in KEYS:
                said = fit[key][t] if len(targets) > 1 else fit[key]
                self.assertEqual(said, stored[key], key)

    def test_numpy_agrees(self):
        for name, (data, options) in MODELS.items():
            with self.subTest(model=name):
                self.check(data, options)

    def test_verify_agrees(self):
        for name, (data, options) in MODELS.items():
            with self.subTest(model=name):
                self.fit(data, *options)
                arrays = self.model()[1]
                found = self.verify(data)
                self.assertTrue(found["holds"])
                for key in ("primal", "dual"):
                    for t, value in enumerate(numpy.atleast_1d(found[key])):
                        stored = arrays["certificate"][t][KEYS.index(key)]
                        self.assertAlmostEqual(value, stored, delta=1e-9 * stored)


def refusals(key):
    """Exit codes that will do: places that are none make the file unreadable."""
    return (1, 3) if key in ("outputs", "support", "deviation") else (1,)


class Mutation(Rows):
    """Zeros become 1e-3, everything else grows by a thousandth. A gap that rounding made 1e-16
    is such a zero: whether it is exactly 0 depends on the BLAS."""

    @staticmethod
    def changed(values):
        return numpy.where(abs(values) < 1e-14, 1e-3, values * (1 + 1e-3))

    def answer(self, data, name, values):
        """The exit code of verify when array name of the model holds these values."""
        metadata, arrays = self.model()
        write_model(self.path("changed.fen"), metadata, {**arrays, name: values})
        return self.code_of("verify", "changed.fen", data)

    def test_unchanged(self):
        """A rewritten file is still a model: what is refused below is the change alone."""
        for name, (data, options) in MODELS.items():
            with self.subTest(model=name):
                self.fit(data, *options)
                self.assertEqual(self.answer(data, "dual", self.model()[1]["dual"]), 0)

    def test_whole_arrays(self):
        for name, (data, options) in MODELS.items():
            self.fit(data, *options)
            for key, values in self.model()[1].items():
                with self.subTest(model=name, array=key):
                    self.assertIn(self.answer(data, key, self.changed(values)), refusals(key))

    def test_single_numbers(self):
        for name in ("gaussian, gaps", "gaussian, no bias", "linear, gaps"):
            data, options = MODELS[name]
            self.fit(data, *options)
            for key, values in self.model()[1].items():
                entries = range(0, values.size, max(1, values.size // 8))
                if key == "certificate":       # ratios of rounding errors: nothing to tell apart
                    entries = [KEYS.index(word) for word in KEYS if word not in ROUNDING]
                for i in entries:
                    one = values.copy()
                    one.flat[i] = self.changed(values.flat[i])
                    with self.subTest(model=name, array=key, entry=i):
                        self.assertIn(self.answer(data, key, one), refusals(key))


if __name__ == "__main__":
    unittest.main()
