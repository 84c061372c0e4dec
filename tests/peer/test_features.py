"""Random Fourier features against NumPy and against the exact engines.

The frequencies are read from the model file; the features are then made here, and a linear kernel
on them is the same problem: dense NumPy solves it for power 2, the tool's own engines for linear
kernels solve it for every power, with the leave-one-out scores."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import unittest

from peer import PeerTest, numpy, read_model, write_model

np = numpy


def features(x, frequencies):
    along = x @ frequencies.T
    return np.sqrt(1 / len(frequencies)) * np.hstack([np.cos(along), np.sin(along)])


def standardised(x, w=None):
    mean = np.average(x, axis=0, weights=w)
    return (x - mean) / np.sqrt(np.average((x - mean) ** 2, axis=0, weights=w))


def ridge(z, y, lam, w=None, bias=True):
    """Minimises the weighted mean of (y - z.v - b)^2 + lam |v|^2."""
    w = np.full(len(z), 1 / len(z)) if w is None else w / w.sum()
    centre, level = (w @ z, w @ y) if bias else (0 * z[0], 0 * y[0])
    a, r = z - centre, y - level
    v = np.linalg.solve(a.T @ (w[:, None] * a) + lam * np.eye(z.shape[1]), a.T @ (w[:, None] * r))
    return v, level - centre @ v


class Features(PeerTest):
    def rows(self, n, seed=1, targets=1):
        random = np.random.default_rng(seed)
        x = random.normal(size=(n, 4)) * [1, 2, 0.5, 10] + [0, 5, 0, -3]
        s = standardised(x)
        y = np.column_stack([np.sin(s[:, 0]) + s[:, 1] * s[:, 2] + 0.1 * random.normal(size=n),
                             50 * np.cos(s[:, 3]) + random.normal(size=n)])[:, :targets]
        return x, y, random

    def agree(self, a, b, tolerance):
        a, b = np.asarray(a, float), np.asarray(b, float)
        self.assertLessEqual(np.abs(a - b).max(), tolerance * np.abs(b).max())

    def test_dense_ridge_on_the_same_features(self):
        """Every kernel that has features; weights, two targets, no bias. 1e-8: the condition of
        Z'Z + lambda is 1e4 here, and scores are of the size of y."""
        x, y, random = self.rows(700, targets=2)
        w = random.integers(1, 4, size=len(x)).astype(float)
        self.save("d.csv", [x, y, w], ["a", "b", "c", "d", "y1", "y2", "w"])
        for kernel in ("gaussian", "laplace", "laplace1", "matern32", "matern52"):
            for bias, weighted in ((True, False), (False, False), (True, True)):
                approx = "orthogonal:60" if kernel == "matern52" else "fourier:60"
                found = self.fit("d.csv", "--kernel", kernel, "--gamma", 0.3, "--lambda", 1e-4,
                                 "--approx", approx, "--target", "y1,y2",
                                 *(["--weights", "w"] if weighted else ["--text", ""]),
                                 *([] if bias else ["--no-bias"]))
                self.assertEqual((found["approx"], found["columns"]), (approx, 60))
                self.assertIn("approximated by 60", found["objective"])
                inputs = x if weighted else np.column_stack([x, w])
                weights = w if weighted else None
                _, arrays = read_model(self.path("m.fen"))
                z = features(standardised(inputs, weights), arrays["frequencies"])
                v, b = ridge(z, y, 1e-4, weights, bias)
                self.agree(self.predict("d.csv"), z @ v + b, 1e-8)
                self.assertTrue(self.verify("d.csv")["holds"])

    def linear_problem(self, n=400):
        """d.csv with raw rows, z.csv with the features that the tool will draw for them."""
        x, y, _ = self.rows(n)
        self.save("d.csv", [x, y], ["a", "b", "c", "d", "y"])
        self.fit("d.csv", "--gamma", 0.3, "--lambda", 1, "--approx", "fourier:40")
        _, arrays = read_model(self.path("m.fen"))
        self.save("z.csv", [features(standardised(x), arrays["frequencies"]), y])

    def test_powers_against_the_linear_kernel(self):
        """The objective is known to 1e-6 of itself, the function to the root of that."""
        self.linear_problem()
        for power in (0.5, 1, 1.5, 2, 3):
            for lam in (1e-5, 1e-2):
                for bias in ([], ["--no-bias"]):
                    ours = self.fit("d.csv", "--gamma", 0.3, "--approx", "fourier:40", "--power",
                                    power, "--lambda", lam, *bias)
                    theirs = self.fit("z.csv", "--kernel", "linear", "--scale", "none", "--power",
                                      power, "--lambda", lam, *bias, model="z.fen")
                    self.assertEqual(ours["verdict"], "optimal")
                    self.agree(ours["primal"], theirs["primal"], 2e-6)
                    self.agree(ours["norm"], theirs["norm"], 1e-3 if power < 1 else 1e-6)
                    if power >= 1:
                        self.agree(self.predict("d.csv"), self.predict("z.csv", "z.fen"), 1e-6)
                    self.assertTrue(self.verify("d.csv")["holds"])

    def test_scores_against_the_linear_kernel(self):
        """Exact leave-one-out of every (lambda, power), the shrinkage found anew for each row;
        interpolated on both sides, to 1e-8. GCV needs no rows."""
        self.linear_problem()
        grid = ("--lambda", "1e-6:1e-1:6", "--power", "0.5,1,2,3")
        for kind in ("loo", "gcv"):
            ours = self.fit("d.csv", "--gamma", 0.3, "--approx", "fourier:40", "--select", kind,
                            *grid)
            theirs = self.select("z.csv", "--kernel", "linear", "--scale", "none", "--select",
                                 kind, *grid)
            self.assertEqual(len(ours["grid"]), 24)
            self.agree([point["score"] for point in ours["grid"]],
                       [point["score"] for point in theirs["grid"]], 1e-7)
            self.assertEqual((ours["lambda"], ours["power"]), (theirs["lambda"], theirs["power"]))
            self.assertEqual(ours["score_rows"], 400)
            self.assertTrue(self.verify("d.csv")["holds"])

    def test_leave_one_out_is_refitting(self):
        """One row deleted, the other weights as they were."""
        x, y, random = self.rows(60)
        w = random.integers(1, 4, size=len(x)).astype(float)
        self.save("d.csv", [x, w, y], ["a", "b", "c", "d", "w", "y"])
        found = self.fit("d.csv", "--gamma", 0.3, "--approx", "fourier:20", "--weights", "w",
                         "--lambda", "1e-3,1e-2")
        _, arrays = read_model(self.path("m.fen"))
        z, share = features(standardised(x, w), arrays["frequencies"]), w / w.sum()
        for point in found["grid"]:
            score = 0
            for i in range(len(x)):
                keep = np.arange(len(x)) != i
                rest = share[keep].sum()
                v, b = ridge(z[keep], y[keep], point["lambda"] / rest, share[keep])
                score += share[i] * (y[i, 0] - z[i] @ v - b).item() ** 2
            self.agree(point["score"], score, 1e-8)

    def test_a_large_constant_costs_nothing(self):
        x, y, _ = self.rows(500)
        options = ("--gamma", 0.3, "--lambda", 1e-3, "--approx", "fourier:30")
        self.save("d.csv", [x, y], ["a", "b", "c", "d", "y"])
        plain = self.fit("d.csv", *options)
        self.save("e.csv", [x, y + 1e9], ["a", "b", "c", "d", "y"])
        lifted = self.fit("e.csv", *options)
        self.agree(lifted["primal"], plain["primal"], 1e-6)   # y has 7 digits behind the point
        self.agree(lifted["norm"], plain["norm"], 1e-5)
        self.assertTrue(self.verify("e.csv")["holds"])

    def test_weights_are_repetitions(self):
        x, y, random = self.rows(300)
        w = random.integers(1, 4, size=len(x))
        options = ("--gamma", "mean", "--lambda", 1e-3, "--approx", "fourier:30", "--power", 1.5)
        self.save("d.csv", [x, w, y], ["a", "b", "c", "d", "w", "y"])
        weighted = self.fit("d.csv", "--weights", "w", *options)
        self.save("e.csv", [np.repeat(x, w, axis=0), np.repeat(y, w, axis=0)],
                  ["a", "b", "c", "d", "y"])
        repeated = self.fit("e.csv", *options)
        for key in ("gamma", "primal", "norm", "mean_loss"):
            self.agree(weighted[key], repeated[key], 1e-9)

    def test_every_array_is_verified(self):
        """Changed by a thousandth, each of them is noticed."""
        x, y, _ = self.rows(200)
        self.save("d.csv", [x, y], ["a", "b", "c", "d", "y"])
        for power in (0.5, 2):
            self.fit("d.csv", "--gamma", 0.3, "--lambda", "1e-3,1e-2", "--power", power,
                     "--approx", "fourier:20")
            metadata, arrays = read_model(self.path("m.fen"))
            self.assertNotIn("dual", arrays)
            self.assertEqual("tangents" in arrays, power < 1)
            write_model(self.path("changed.fen"), metadata, arrays)
            self.assertTrue(self.verify("d.csv", "changed.fen")["holds"])
            for name in arrays:
                changed = {key: array.copy() for key, array in arrays.items()}
                changed[name] *= 1.001
                if (changed[name] == arrays[name]).all():
                    continue                            # zeros: nothing was filled here
                write_model(self.path("changed.fen"), metadata, changed)
                # 3: "outputs" changed so is no list of outputs any more
                self.assertIn(self.code_of("verify", "changed.fen", "d.csv"), (1, 3), name)

    def test_large_approximations_approach_the_kernel(self):
        """Predictions differ from those of the exact kernel by less, the more columns."""
        x, y, _ = self.rows(300)
        self.save("d.csv", [x, y], ["a", "b", "c", "d", "y"])
        options = ("--gamma", 0.1, "--lambda", 1e-3)
        self.fit("d.csv", *options)
        exact = self.predict("d.csv")
        errors = []
        for columns in (50, 5000):
            self.fit("d.csv", *options, "--approx", f"fourier:{columns}")
            errors.append(np.abs(self.predict("d.csv") - exact).max())
        self.assertLess(errors[1], 0.3 * errors[0])   # a tenth is expected
        self.assertLess(errors[1], 0.1)


if __name__ == "__main__":
    unittest.main()
