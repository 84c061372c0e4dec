"""Certificates of penalties on coefficients, computed by NumPy from the model file and the training
rows alone; and model files in which an array was changed by a thousandth, which verify must refuse.

P and its parts are the definition itself. D is the value of the stored dual vector, cut into its
boxes, made orthogonal to the columns without a penalty, and shrunk into the bounds in the simplest
way: never above what the tool says (which may move it better), and within the tolerance of it."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from losses import KEYS, LOSSES  # noqa: E402
from peer import PeerTest, numpy, write_model  # noqa: E402

ROWS, COLUMNS = 60, ["a", "b1", "b2", "b3", "c1", "c2"]
# changes of 1e-3 show
TIGHT = ["--tolerance", "1e-9"]
NUMBERS = ["square", "absolute", "eps:0.2", "sqeps:0.2", "huber:0.5", "pinball:0.1,0.5,0.9",
           "tube:1.2"]
SIGNS = ["hinge", "sqhinge", "logistic"]
PENALTIES = {
    "l1": ["--penalty", "l1", "--lambda", "0.05"],
    "elastic": ["--penalty", "elastic:0.4", "--lambda", "0.05"],
    "group": ["--penalty", "group:FILE", "--lambda", "0.05"],
    "none": ["--penalty", "none"],
    "kernel lasso": ["--penalty", "l1", "--lambda", "0.02", "--kernel", "gaussian",
                     "--gamma", "0.3"],
}
# name -> target, options
MODELS = {f"{loss}, {name}": ("y" if loss in NUMBERS else "two", ["--loss", loss, *penalty])
          for loss in NUMBERS + SIGNS for name, penalty in PENALTIES.items()}
MODELS.update({
    "no bias": ("y", ["--no-bias", *PENALTIES["l1"]]),
    "weights": ("y", ["--weights", "w", *PENALTIES["l1"]]),
    "weights, absolute": ("y", ["--weights", "w", "--loss", "absolute", *PENALTIES["elastic"]]),
    "signs": ("y", ["--nonnegative", *PENALTIES["l1"]]),
    "signs, elastic, huber": ("y", ["--nonnegative", "--loss", "huber:0.5", *PENALTIES["elastic"]]),
    "signs, none": ("y", ["--nonnegative", "--penalty", "none"]),
    "signs, none, absolute": ("y", ["--nonnegative", "--penalty", "none", "--loss", "absolute"]),
    "signs, some without a penalty": ("y", ["--nonnegative", "--feature-weights", "a=0,b2=0,c1=3",
                                            *PENALTIES["l1"]]),
    "some without a penalty": ("y", ["--feature-weights", "a=0,b2=0,c1=3", *PENALTIES["l1"]]),
    "some without a penalty, eps": ("y", ["--feature-weights", "a=0,b2=0,c1=3", "--loss", "eps:0.2",
                                          *PENALTIES["elastic"]]),
    "ridge": ("y", ["--penalty", "elastic:0", "--lambda", "0.1"]),
    "prefixes": ("y", ["--penalty", "group:prefix:1", "--lambda", "0.05"]),
    "more classes": ("three", ["--loss", "logistic", *PENALTIES["l1"]]),
    "pairs": ("three", ["--loss", "hinge", "--multiclass", "ovo", *PENALTIES["l1"]]),
    "class weights": ("two", ["--loss", "logistic", "--class-weights", "no=3,yes=1",
                              *PENALTIES["group"]]),
    "targets": ("both", ["--target", "y,y2", "--penalty", "group:targets", "--lambda", "0.1"]),
    "targets, huber": ("both", ["--target", "y,y2", "--loss", "huber:0.5", "--penalty",
                                "group:targets", "--lambda", "0.1"]),
    "kernel elastic": ("y", ["--penalty", "elastic:0.5", "--lambda", "0.02", "--kernel", "laplace1",
                             "--gamma", "0.2"]),
})


def kernel_of(metadata, x):
    gamma = float(metadata["gamma"])
    if metadata["kernel"] == "laplace1":
        return numpy.exp(-gamma * abs(x[:, None, :] - x[None, :, :]).sum(axis=2))
    return numpy.exp(-gamma * ((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=2))


def groups_of(arrays, count, none):
    """Lists of members, and weights."""
    if "groups.start" in arrays:
        start, member = (arrays["groups." + key].astype(int) for key in ("start", "member"))
        lists = [member[start[g]:start[g + 1]] for g in range(len(start) - 1)]
    else:
        lists = [numpy.array([j]) for j in range(count)]
    return lists, arrays.get("groups.weight", numpy.ones(len(lists))) * (0 if none else 1)


def projected(u, w, low, high, columns):
    """u in its boxes, orthogonal to the columns; whoever is at an end of its box stays there."""
    free = numpy.isinf(low) & numpy.isinf(high)
    for _ in range(8):
        u = numpy.clip(u, w * low, w * high)
        room = numpy.where(free, numpy.sqrt(w), numpy.minimum(u - w * low, w * high - u))
        room = numpy.where(w > 0, numpy.maximum(room, 0), 0)
        if columns.shape[1] == 0 or not room.any():
            break
        size = numpy.sqrt(((room[:, None] * columns) ** 2).sum(axis=0)) + 1e-300
        system, right = (room[:, None] * columns / size).T, columns.T @ u / size
        u = u - room * numpy.linalg.lstsq(system, right, rcond=1e-13)[0]
    return numpy.clip(u, w * low, w * high)


class Rows(PeerTest):
    def setUp(self):
        super().setUp()
        random = numpy.random.default_rng(5)
        self.x = random.standard_normal((ROWS, 6)) * [1, 5, 0.2, 1, 1, 2] + [0, 10, 3, 0, 0, 1]
        self.x[:, 3] += self.x[:, 0]
        self.w = random.uniform(0.5, 2, ROWS)
        score = self.x[:, 0] + 0.2 * self.x[:, 1] - 2
        self.y = score + 0.5 * self.x[:, 4] + 0.5 * random.standard_normal(ROWS)
        self.y2 = score - self.x[:, 5] + 0.5 * random.standard_normal(ROWS)
        noisy = score + 1.5 * random.standard_normal(ROWS)   # no line separates the classes
        self.two = numpy.where(noisy > 0, "yes", "no")
        self.three = numpy.array(["blue", "green", "red"])[numpy.digitize(noisy, [-1, 1])]
        self.write("groups.csv", "column,group,weight\na,first,1\nb1,second,2\nb2,second,2\n"
                                 "b3,first,1\nc1,third,0\nw,third,0\nc2,fourth,0.5\n")
        for name in ("y", "two", "three", "both"):
            labels = numpy.column_stack([self.y, self.y2] if name == "both" else
                                        [getattr(self, name)])
            lines = [",".join(COLUMNS + ["w"] + (["y", "y2"] if name == "both" else [name]))]
            for row, w, label in zip(self.x, self.w, labels):
                lines.append(",".join([repr(float(v)) for v in [*row, w]] + [
                    cell if isinstance(cell, str) else repr(float(cell)) for cell in label]))
            self.write(name + ".csv", "\n".join(lines) + "\n")

    def fitted(self, name):
        target, options = MODELS[name]
        options = [option.replace("FILE", "groups.csv") for option in options]
        return target + ".csv", self.fit(target + ".csv", *options, *TIGHT)


class Certificate(Rows):
    def labels(self, target, output, w, class_weights):
        """y and weights of one output."""
        column, plus, minus = (int(v) for v in output[:3])
        if plus < 0:
            return (self.y, self.y2)[column], w / w.sum()
        names = sorted(set(getattr(self, target)))
        code = numpy.array([names.index(label) for label in getattr(self, target)])
        w = w * (class_weights[code] if class_weights is not None else 1.0)
        w = w / w.sum()
        y = numpy.where(code == plus, 1.0, numpy.where((code == minus) | (minus < 0), -1.0, 0.0))
        return y, numpy.where(y == 0, 0.0, w)

    def design(self, metadata, arrays):
        raw = numpy.column_stack([self.x, self.w])[:, :len(arrays["prepare.center"])]
        x = (raw - arrays["prepare.center"]) / arrays["prepare.scale"]
        return x if metadata["kernel"] == "linear" else kernel_of(metadata, x)

    def coefficients(self, arrays, p):
        """outputs x columns of the design"""
        if "weights" in arrays:
            return arrays["weights"]
        support = arrays["support"].astype(int) if "support" in arrays else numpy.arange(p)
        beta = numpy.zeros((len(arrays["terms"]), p))
        beta[:, support] = arrays["terms"]
        return beta

    def problem(self, name, data, metadata, arrays, t):
        """Labels, weights, parameter and box of output t."""
        given = self.w if "--weights" in MODELS[name][1] else numpy.ones(ROWS)
        y, w = self.labels(data[:-4], arrays["outputs"][t], given, arrays.get("class_weights"))
        par = arrays["outputs"][t][3]
        box = LOSSES[metadata["loss"]][2](y, par)
        low, high = (numpy.where(w > 0, side, 0.0) for side in box)
        return y, w, par, low, high

    def values(self, name, data, metadata, arrays, x, first):
        """Mean losses, penalty over lambda, P and D of the outputs under one penalty: one, but for
        group:targets."""
        (n, p), copies = x.shape, int(metadata["copies"])
        lam, mix = float(metadata["lambda"]), float(metadata["mix"])
        positive, bias = metadata["nonnegative"] == "yes", metadata["bias"] == "yes"
        value, conj, _ = LOSSES[metadata["loss"]]
        lists, a = groups_of(arrays, p * copies, metadata["penalty"] == "none")
        beta = self.coefficients(arrays, p)[first:first + copies]
        self.assertTrue(not positive or (beta >= 0).all())
        means, duals, products = [], [], []
        for k in range(copies):
            y, w, par, low, high = self.problem(name, data, metadata, arrays, first + k)
            f = x @ beta[k] + arrays["offset"][first + k]
            means.append(w @ numpy.where(w > 0, value(y, f, par), 0.0))
            free = numpy.array([j - k * p for g, weight in zip(lists, a) if weight == 0
                                for j in g if k * p <= j < (k + 1) * p], int)
            touched = [j for j in free if not positive or beta[k][j] > 0]
            columns = numpy.column_stack([x[:, touched]] + [numpy.ones(n)] * bias)
            u = projected(arrays["dual"][first + k], w, low, high, columns)
            if positive and len(free):    # x_j'u <= 0
                self.assertLessEqual((x[:, free].T @ u).max(), 1e-12)
            duals.append((y, w, u, par))
            products.append(x.T @ u)
        norms = numpy.array([numpy.linalg.norm(beta.ravel()[g]) for g in lists])
        norm = a @ (mix * norms + (1 - mix) / 2 * norms ** 2)
        pull = numpy.concatenate(products)
        pull = numpy.maximum(pull, 0) if positive else pull
        pull = numpy.array([numpy.linalg.norm(pull[g]) for g in lists])[a > 0]
        bound = lam * mix * a[a > 0]
        shrink = min([1.0, *(bound / numpy.maximum(pull, 1e-300))]) if mix == 1 else 1.0
        dual = 0.0 if mix == 1 else -(numpy.maximum(pull - bound, 0) ** 2 / (
            2 * lam * (1 - mix) * a[a > 0])).sum()
        for y, w, u, par in duals:
            z = shrink * numpy.divide(u, w, out=numpy.zeros(n), where=w > 0)
            dual -= w @ numpy.where(w > 0, conj(y, z, par), 0.0)
        return means, norm, sum(means) + lam * norm, dual

    def check(self, name):
        data, _ = self.fitted(name)
        metadata, arrays = self.model()
        x, copies = self.design(metadata, arrays), int(metadata["copies"])
        for t, certificate in enumerate(arrays["certificate"]):
            means, norm, primal, dual = self.values(name, data, metadata, arrays, x,
                                                    t // copies * copies)
            stored, unit = dict(zip(KEYS, certificate)), max(primal, 1e-12)
            self.assertAlmostEqual(stored["primal"], primal, delta=1e-9 * unit)
            self.assertAlmostEqual(stored["mean_loss"], means[t % copies], delta=1e-9 * unit)
            self.assertAlmostEqual(stored["norm"], norm, delta=1e-9 * norm)
            self.assertLessEqual(dual, stored["dual"] + 1e-9 * unit)
            self.assertGreaterEqual(dual, stored["dual"] - 1e-6 * unit)
            self.assertLessEqual(stored["relative_gap"], 1e-6)
            self.assertGreaterEqual(stored["primal"], stored["dual"])

    def test_numpy_agrees(self):
        for name in MODELS:
            with self.subTest(model=name):
                self.check(name)

    def test_sparse_columns(self):
        """The model keeps the columns it uses; P and D are those of all columns."""
        random = numpy.random.default_rng(2)
        x = numpy.where(random.uniform(size=(80, 300)) < 0.1, random.uniform(1, 2, (80, 300)), 0)
        y = x[:, :5].sum(axis=1) + 0.1 * random.standard_normal(80)
        self.write("wide.svm", "".join(
            f"{float(y[i])!r} " +
            " ".join(f"{j + 1}:{float(x[i, j])!r}" for j in numpy.flatnonzero(x[i])) + "\n"
            for i in range(80)))
        self.fit("wide.svm", "--penalty", "l1", "--lambda", "0.05", "--scale", "none", *TIGHT)
        self.assertEqual(self.verify("wide.svm")["holds"], True)
        _, arrays = self.model()
        kept = arrays["weights"].shape[1]
        self.assertLess(kept, 100)
        u = arrays["dual"][0]
        bound = abs(x.T @ u).max()
        shrunk = min(1.0, 0.05 / bound) * u
        dual = shrunk @ y - 80 * (shrunk ** 2).sum() / 4
        stored = dict(zip(KEYS, arrays["certificate"][0]))
        self.assertGreater(numpy.sum(abs(abs(x.T @ u) - 0.05) < 1e-6), 4)
        self.assertAlmostEqual(abs(u.sum()), 0, delta=1e-12)
        self.assertLessEqual(dual, stored["dual"] + 1e-9 * stored["primal"])
        self.assertGreaterEqual(dual, stored["dual"] - 1e-6 * stored["primal"])


class Scale(Rows):
    """Labels times 1e8 and 1e-8: the same problem in other units, and the same verdict."""

    def test_verdicts(self):
        # (options, power of the unit that lambda has)
        models = [(["--penalty", "l1"], 0.05, 1), (["--penalty", "elastic:0"], 0.05, 0),
                  (["--penalty", "group:prefix:1"], 0.05, 1),
                  (["--penalty", "l1", "--loss", "absolute"], 0.05, 0),
                  (["--penalty", "l1", "--feature-weights", "a=0"], 0.05, 1),
                  (["--penalty", "l1", "--kernel", "gaussian", "--gamma", "0.3"], 0.02, 1),
                  (["--penalty", "none"], None, 0),
                  (["--penalty", "none", "--loss", "pinball:0.3"], None, 0)]
        for unit in (1e8, 1e-8):
            self.save("scaled.csv", [self.x, unit * self.y], COLUMNS + ["y"])
            for options, lam, power in models:
                given = [] if lam is None else ["--lambda", repr(lam * unit ** power)]
                with self.subTest(unit=unit, options=options):
                    fit = self.fit("scaled.csv", *options, *given)
                    self.assertEqual(fit["verdict"], "optimal")
                    self.assertTrue(self.verify("scaled.csv")["holds"])


class Alike(PeerTest):
    """Two columns, the second differs from the first by k * small, k = y: coefficients (-1, 1) / small
    meet all labels. Without them, slopes of both columns are 0 but for some 20 roundings."""

    def check(self, big, small, unit, options, penalty):
        k = numpy.array([sign * size for size in range(1, 9) for _ in (1, -1) for sign in (1, -1)])
        z = numpy.array([side for _ in range(8) for side in (1, 1, -1, -1)])
        x = numpy.column_stack([z * big, z * big + k * small])
        self.assertTrue((x[:, 1] - x[:, 0] == k * small).all())
        self.save("alike.csv", [x, unit * k], ["x0", "x1", "y"])
        words = ["--scale", "none", "--task", "regression", "--force", *options]
        code = self.code_of("fit", "alike.csv", "-o", "m.fen", *words)
        fit, least = self.fit("alike.csv", *words, code=code), penalty * unit * 2 / small
        # inputs are what they are but for their rounding: at most 1/32 of small; sums in long
        # double end at 2^-64 of big
        self.assertLessEqual(fit["dual"], 1.04 * least + 2.0 ** -60 * big / small * fit["null"])
        self.assertEqual(self.code_of("verify", "m.fen", "alike.csv"), code)
        if fit["primal"] > 1.1 * least:
            self.assertEqual((code, fit["verdict"]), (1, "stalled"))

    def test_bounds(self):
        for big, small in ((2.0 ** 26, 2.0 ** -24), (2.0 ** 26, 2.0 ** -16), (1.0, 2.0 ** -48)):
            for unit in (1.0, 2.0 ** 27, 2.0 ** -27):
                for loss in ("square", "absolute", f"huber:{unit!r}"):
                    with self.subTest(big=big, small=small, unit=unit, loss=loss):
                        self.check(big, small, unit, ["--penalty", "none", "--loss", loss], 0.0)
                        penalty = 1e-3 * small * (unit if loss != "absolute" else 1.0)
                        self.check(big, small, unit, ["--penalty", "l1", "--loss", loss,
                                                      "--lambda", repr(penalty)], penalty)


class Mutation(Rows):
    """Zeros become 1e-3, everything else grows by a thousandth."""

    @staticmethod
    def changed(values, key):
        changed = numpy.where(values == 0, 1e-3, values * (1 + 1e-3))
        if key == "class_weights":        # only their proportions mean something
            changed[1:] = values[1:]
        return changed

    def test_arrays(self):
        places = ("outputs", "support", "groups.start", "groups.member", "aliased")
        for name in MODELS:
            data, _ = self.fitted(name)
            metadata, arrays = self.model()
            with self.subTest(model=name):
                self.assertEqual(self.code_of("verify", "m.fen", data), 0)
            for key, values in arrays.items():
                if name == "tube:1.2, none" and key in ("weights", "offset"):
                    continue      # no penalty, no loss inside the tube: as good as they were
                write_model(self.path("changed.fen"), metadata,
                            {**arrays, key: self.changed(values, key)})
                with self.subTest(model=name, array=key):
                    self.assertIn(self.code_of("verify", "changed.fen", data),
                                  (1, 3) if key in places else (1,))

    def test_words(self):
        data, _ = self.fitted("square, elastic")
        metadata, arrays = self.model()
        for key in ("lambda", "mix"):
            other = {**metadata, key: repr(float(metadata[key]) * 1.001)}
            write_model(self.path("changed.fen"), other, arrays)
            with self.subTest(key=key):
                self.assertEqual(self.code_of("verify", "changed.fen", data), 1)


if __name__ == "__main__":
    unittest.main()
