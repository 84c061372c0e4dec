"""Limiting cases, where the answer is known without a computation: lambda without end and next to
nothing, equal rows, a constant target, two rows, inputs of any size."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from peer import PeerTest, numpy  # noqa: E402

ROWS = 50


class Limits(PeerTest):
    def setUp(self):
        super().setUp()
        random = numpy.random.default_rng(11)
        self.x = random.standard_normal((ROWS, 2))
        self.y = 3 + numpy.sin(2 * self.x[:, 0]) + 0.3 * self.x[:, 1]
        self.weights = random.uniform(0.5, 4, ROWS)
        self.save("data.csv", [self.x, self.weights, self.y], ["a", "b", "w", "y"])

    def honest(self, fit, data, model="m.fen"):
        """The verdict is what the gap says, verify agrees with it, and dual <= primal (rounded)."""
        good = fit["relative_gap"] <= 1e-6
        self.assertIn(fit["verdict"], ("optimal", "interpolation") if good
                      else ("stalled", "interpolation"))
        self.assertEqual(self.code_of("verify", model, data), 0 if good else 1)
        self.assertGreaterEqual(fit["gap"], 0)
        self.assertLessEqual(fit["dual"] - fit["primal"], 1e-9 * fit["primal"])

    def test_lambda_without_end(self):
        for kernel in ("gaussian", "laplace", "matern32", "linear", "polynomial"):
            gamma = [] if kernel == "linear" else ["--gamma", "0.5"]
            for weights in ([], ["--weights", "w"]):
                with self.subTest(kernel=kernel, weights=weights):
                    fit = self.fit("data.csv", "--kernel", kernel, "--lambda", "1e12", *gamma,
                                   *weights)
                    mean = numpy.average(self.y, weights=self.weights if weights else None)
                    self.assert_close(self.predict("data.csv"), numpy.full(ROWS, mean), 1e-9)
                    self.assertAlmostEqual(fit["primal"], fit["null"], delta=1e-9 * fit["null"])
                    self.assertEqual(fit["verdict"], "optimal")
                    self.honest(fit, "data.csv")

    def test_lambda_next_to_nothing(self):
        """A wide enough spectrum: the data are met, and it is said."""
        for kernel, gamma in (("laplace", "1"), ("gaussian", "5"), ("matern32", "1")):
            with self.subTest(kernel=kernel):
                fit = self.fit("data.csv", "--kernel", kernel, "--gamma", gamma, "--lambda",
                               "1e-12")
                self.assert_close(self.predict("data.csv"), self.y, 1e-5)
                self.honest(fit, "data.csv")

    def test_lambda_below_rounding(self):
        """A singular kernel matrix: a model with an honest verdict, or a sentence with a remedy."""
        for engine in ("cholesky", "spectral"):
            for power in ("1e-16", "1e-20", "1e-30"):
                with self.subTest(engine=engine, power=power):
                    words = ["fit", "data.csv", "--gamma", "1e-3", "--lambda", power, "--engine",
                             engine, "-o", "m.fen"]
                    code = self.code_of(*words)
                    self.assertIn(code, (0, 1, 2))
                    if code == 2:
                        self.assertIn("--lambda", self.run_tool(*words, code=2).err
                                      .replace("lambda =", "--lambda"))
                        continue
                    fit = self.run_tool(*words, "--json", code=code).json
                    self.assertEqual(code == 0, fit["relative_gap"] <= 1e-6)
                    self.honest(fit, "data.csv")

    def test_duplicated_rows(self):
        """Rows twice with different labels: the mean label, K singular."""
        x = numpy.repeat(self.x[:20], 2, axis=0)
        middle = self.y[:20]
        y = numpy.repeat(middle, 2) + numpy.tile([0.5, -0.5], 20)
        self.save("twice.csv", [x, y], ["a", "b", "y"])
        fit = self.fit("twice.csv", "--kernel", "laplace", "--gamma", "2", "--lambda", "1e-9")
        self.assert_close(self.predict("twice.csv"), numpy.repeat(middle, 2), 1e-5)
        self.honest(fit, "twice.csv")
        chosen = self.fit("twice.csv")
        self.assertEqual(chosen["verdict"], "optimal")
        self.honest(chosen, "twice.csv")

    def test_all_rows_equal_but_one(self):
        x = numpy.zeros((30, 1))
        x[7] = 1
        self.save("most.csv", [x, self.y[:30]], ["a", "y"])
        fit = self.fit("most.csv", "--lambda", "1e-9", "--gamma", "mean")
        rest = numpy.delete(self.y[:30], 7)
        expected = numpy.where(x[:, 0] == 1, self.y[7], rest.mean())
        self.assert_close(self.predict("most.csv"), expected, 1e-6)
        self.honest(fit, "most.csv")

    def test_constant_target(self):
        for value in (0.0, 7.5, -3e9, 1e-12, 0.1):
            self.save("constant.csv", [self.x, numpy.full(ROWS, value)], ["a", "b", "y"])
            for options in ([], ["--kernel", "linear"], ["--gamma", "1", "--lambda", "1e-3"],
                            ["--select", "gcv"], ["--loss", "huber"],
                            ["--penalty", "l1", "--select", "1se:5"]):
                with self.subTest(value=value, options=options):
                    fit = self.fit("constant.csv", *options)
                    error = numpy.abs(self.predict("constant.csv") - value)
                    self.assertLessEqual(error.max(), 1e-9 * abs(value))
                    self.assertIn(fit["verdict"], ("optimal", "interpolation"))
                    self.honest(fit, "constant.csv")

    def test_two_rows(self):
        self.save("two.csv", [[0.0, 1.0], [5.0, 9.0]], ["a", "y"])
        for options in ([], ["--gamma", "1", "--lambda", "1e-9"], ["--kernel", "linear"],
                        ["--no-bias"], ["--lambda", "1/n"]):
            with self.subTest(options=options):
                fit = self.fit("two.csv", "--task", "regression", *options)
                self.assertEqual(fit["n"], 2)
                found = self.predict("two.csv")
                self.assertTrue(numpy.all(numpy.isfinite(found)))
                self.honest(fit, "two.csv")
        self.fit("two.csv", "--task", "regression", "--gamma", "1", "--lambda", "1e-9")
        self.assert_close(self.predict("two.csv"), [5.0, 9.0], 1e-6)

    def test_size_of_the_inputs(self):
        """Standard scaling makes the unit of an input irrelevant."""
        self.save("plain.csv", [self.x, self.y], ["a", "b", "y"])
        options = ["--gamma", "0.5", "--lambda", "1e-4"]
        self.fit("plain.csv", *options)
        expected = self.predict("plain.csv")
        for unit in (1e-150, 1e-30, 1e12, 1e30, 1e150):
            with self.subTest(unit=unit):
                self.save("scaled.csv", [self.x * [unit, 1], self.y], ["a", "b", "y"])
                fit = self.fit("scaled.csv", *options)
                self.assert_close(self.predict("scaled.csv"), expected, 1e-9)
                self.honest(fit, "scaled.csv")

    def test_size_of_the_inputs_unscaled(self):
        """Without scaling, gamma carries the unit."""
        self.save("plain.csv", [self.x, self.y], ["a", "b", "y"])
        self.fit("plain.csv", "--scale", "none", "--gamma", "0.5", "--lambda", "1e-4")
        expected = self.predict("plain.csv")
        for unit in (2.0 ** -100, 2.0 ** 100):
            with self.subTest(unit=unit):
                self.save("scaled.csv", [self.x * unit, self.y], ["a", "b", "y"])
                for gamma in (repr(0.5 / unit ** 2), "mean"):
                    fit = self.fit("scaled.csv", "--scale", "none", "--gamma", gamma, "--lambda",
                                   "1e-4")
                    self.honest(fit, "scaled.csv")
                    if gamma != "mean":
                        self.assert_close(self.predict("scaled.csv"), expected, 1e-9)

    def test_far_from_zero(self):
        """Years, coordinates: a large mean and a small spread."""
        self.save("plain.csv", [self.x, self.y], ["a", "b", "y"])
        options = ["--gamma", "0.5", "--lambda", "1e-4"]
        self.fit("plain.csv", *options)
        expected = self.predict("plain.csv")
        self.save("far.csv", [self.x + 2.0 ** 30, self.y + 1e6], ["a", "b", "y"])
        fit = self.fit("far.csv", *options)
        self.assert_close(self.predict("far.csv") - 1e6, expected, 1e-5)
        self.honest(fit, "far.csv")


if __name__ == "__main__":
    unittest.main()
