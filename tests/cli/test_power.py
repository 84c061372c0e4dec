"""Powers through the tool: fit, verify, select, path, plan, and what they refuse."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import csv
import io
import math
import unittest

from tool import ToolTest

USAGE = 2
POWERS = ("0.5", "1", "1.5", "3")
GIVEN = ("--gamma", "0.05", "--lambda", "0.01")


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


class Fit(ToolTest):
    def test_certified_for_every_power(self):
        self.some_data(rows=60)
        for power in POWERS:
            fit = self.run_tool("fit", "data.csv", *GIVEN, "--power", power, "--json").json
            self.assertEqual((fit["power"], fit["verdict"]), (float(power), "optimal"))
            self.assertLessEqual(fit["relative_gap"], 1e-6)
            m, norm = fit["power"], fit["norm"]
            # stationarity: the ridge penalty with the same solution
            self.assertAlmostEqual(fit["lambda2"] / (m / 2 * 0.01 * norm ** (m - 2)), 1, 6)
            self.assertAlmostEqual(fit["primal"], fit["mean_loss"] + 0.01 * norm ** m, 9)
            self.assertTrue(self.run_tool("verify", "data.fen", "data.csv", "--json").json["holds"])

    def test_the_same_function_as_ridge_with_lambda2(self):
        self.some_data(rows=60)
        fit = self.run_tool("fit", "data.csv", *GIVEN, "--power", "1.5", "--json").json
        ours = rows_of(self.run_tool("predict", "data.fen", "data.csv", "-q").out)
        self.run_tool("fit", "data.csv", "--gamma", "0.05", "--lambda", repr(fit["lambda2"]))
        ridge = rows_of(self.run_tool("predict", "data.fen", "data.csv", "-q").out)
        for a, b in zip(ours, ridge):
            self.assertAlmostEqual(float(a["prediction"]), float(b["prediction"]), 7)

    def test_power_2_is_ridge_to_the_last_bit(self):
        self.some_data(rows=60)
        found = []
        for words in ((), ("--power", "2"), ("--power", "4/2")):
            self.run_tool("fit", "data.csv", *GIVEN, *words)
            found.append(self.run_tool("predict", "data.fen", "data.csv", "-q").out)
        self.assertEqual(found[0], found[1])
        self.assertEqual(found[0], found[2])

    def test_scaling_law(self):
        """y -> s y and lambda -> s^(2-m) lambda scale the function by s."""
        self.some_data(rows=50)
        lines = self.read("data.csv").decode().splitlines()
        rows = [line.split(",") for line in lines]
        scaled = [rows[0]] + [row[:-1] + [repr(10 * float(row[-1]))] for row in rows[1:]]
        self.write("scaled.csv", "".join(",".join(row) + "\n" for row in scaled))
        for power in POWERS:
            m = float(power)
            fitted = []
            for name, weight in (("data.csv", 0.01), ("scaled.csv", 0.01 * 10 ** (2 - m))):
                self.run_tool("fit", name, "--gamma", "0.05", "--power", power, "--lambda",
                              repr(weight), "-o", "m.fen", "-q")
                fitted.append(rows_of(self.run_tool("predict", "m.fen", name, "-q").out))
            for a, b in zip(*fitted):   # m < 1 is minimised to a gap, not to a root
                self.assertAlmostEqual(float(b["prediction"]) / 10, float(a["prediction"]),
                                       3 if m < 1 else 7)

    def test_zero_above_the_threshold(self):
        self.some_data(rows=40)
        for power in ("1", "0.5"):
            words = ("fit", "data.csv", "--gamma", "0.05", "--lambda", "1000", "--power", power)
            fit = self.run_tool(*words, "--json").json
            self.assertEqual((fit["norm"], fit["lambda2"]), (0, None))
            self.assertEqual(fit["verdict"], "optimal")
            self.assertIn("above the threshold", self.run_tool(*words).out)
            self.assertTrue(self.run_tool("verify", "data.fen", "data.csv", "--json").json["holds"])

    def test_report_for_people(self):
        self.some_data(rows=60)
        text = self.run_tool("fit", "data.csv", "--gamma", "0.02:0.2:3", "--lambda", "1e-3:1:4",
                             "--power", "0.5:2:4").out
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        self.assertEqual(text.count("<- chosen"), 1)
        self.assertIn("power", text)
        text = self.run_tool("fit", "data.csv", *GIVEN, "--power", "0.5").out
        self.assertIn("the same function as ridge with lambda2", text)
        self.assertIn("proved: the global minimum", text)
        self.assertNotIn("global", self.run_tool("fit", "data.csv", *GIVEN, "--power", "3").out)
        self.assertIn("lambda2", self.run_tool("info", "data.fen").out)

    def test_chosen_power(self):
        self.some_data(rows=60)
        fit = self.run_tool("fit", "data.csv", "--gamma", "0.05", "--power", "auto", "--json").json
        best = min(fit["grid"], key=lambda point: point["score"] or math.inf)
        self.assertEqual((best["power"], best["lambda"]), (fit["power"], fit["lambda"]))
        self.assertGreater(len({point["power"] for point in fit["grid"]}), 2)

    def test_several_targets_have_a_root_each(self):
        self.some_data(rows=60)
        fit = self.run_tool("fit", "data.csv", *GIVEN, "--power", "1.5", "--target", "y,x10",
                            "--json").json
        self.assertEqual(len(fit["lambda2"]), 2)
        self.assertNotEqual(*fit["lambda2"])

    def test_a_grid_that_ends_too_early(self):
        self.some_data(rows=60)
        words = ("--gamma", "0.05", "--lambda", "1:100:3")
        self.assertIn("ends the grid of lambda", self.run_tool("fit", "data.csv", *words).out)
        self.assertIn("ends the grid of lambda:", self.run_tool("select", "data.csv", *words).out)
        text = self.run_tool("select", "data.csv", "--gamma", "0.05", "--lambda", "1e-8:100:21").out
        self.assertNotIn("ends the grid", text)


class Smoothness(ToolTest):
    def test_sets_power_and_lambda(self):
        self.some_data(rows=60)     # ten features
        fit = self.run_tool("fit", "data.csv", "--kernel", "matern52", "--gamma", "mean",
                            "--smoothness", "10", "--json").json
        p = 10 / (2 * 10)
        self.assertAlmostEqual(fit["power"], 2 * p / (1 + p), 14)
        self.assertAlmostEqual(fit["lambda"], 60 ** (-1 / (1 + p)), 14)
        plan = self.run_tool("plan", "data.csv", "--gamma", "mean", "--smoothness", "10").out
        self.assertIn("nothing to select", plan)

    def test_refused(self):
        self.some_data(rows=30)
        self.refuse("fit", "data.csv", "--smoothness", "5", code=USAGE,
                    says=["--smoothness 5", "10 features", "d/2 = 5"])
        self.refuse("fit", "data.csv", "--smoothness", "1e9", code=USAGE, says=["at most 10000"])
        self.refuse("fit", "data.csv", "--smoothness", "8", "--lambda", "1", code=USAGE,
                    says=["leave --lambda out"])
        self.refuse("plan", "data.csv", "--smoothness", "8", "--power", "1", code=USAGE,
                    says=["leave --power out"])
        self.refuse("path", "data.csv", "--smoothness", "8", code=USAGE,
                    says=["no option of path"])


class Select(ToolTest):
    GRID = ("select", "data.csv", "--gamma", "0.05", "--power", "0.1:2.9:29", "--lambda",
            "1e-5:1e2:7")

    def test_29_by_7(self):
        self.some_data(rows=80)
        found = self.run_tool(*self.GRID, "-o", "grid.csv", "--json").json
        table = rows_of(self.read("grid.csv").decode())
        self.assertEqual(list(table[0]), ["gamma", "lambda", "power", "score"])
        self.assertEqual(len(table), 29 * 7)
        best = min(table, key=lambda row: float(row["score"]))
        self.assertEqual((float(best["power"]), float(best["lambda"])),
                         (found["power"], found["lambda"]))
        text = self.run_tool(*self.GRID).out
        lines = text.splitlines()
        self.assertLessEqual(max(map(len, lines)), 79)
        self.assertLessEqual(len(lines), 35)
        self.assertEqual(sum(line.count(">") for line in lines), 2)   # in the matrix, below it
        self.assertIn("power", lines[0])
        self.assertIn("lambda", lines[0])

    def test_power_2_among_others_is_ridge(self):
        """Leave-one-out of the spectrum against that of one factorisation: rounding."""
        self.some_data(rows=60)
        alone = self.run_tool("select", "data.csv", *GIVEN, "--json").json
        among = self.run_tool("select", "data.csv", *GIVEN, "--power", "1,2,3", "--json").json
        score = {point["power"]: point["score"] for point in among["grid"]}
        self.assertAlmostEqual(score[2], alone["score"], 9)

    def test_three_coordinates(self):
        self.some_data(rows=60)
        words = ("select", "data.csv", "--gamma", "0.01:1:5", "--power", "1,2", "--lambda",
                 "1e-4:1:5")
        lines = self.run_tool(*words).out.splitlines()
        self.assertLessEqual(max(map(len, lines)), 79)
        self.assertEqual(len(self.run_tool(*words, "--json").json["grid"]), 50)
        lines = self.run_tool("select", "data.csv", "--power", "1,2").out.splitlines()
        self.assertLessEqual(len(lines), 40)    # lambdas of our own: the best of every power


class Path(ToolTest):
    def test_over_power(self):
        self.some_data(rows=50)
        words = ("path", "data.csv", "--over", "power", *GIVEN)
        found = self.run_tool(*words, "-o", "path.csv", "--json").json
        self.assertEqual([point["power"] for point in found["points"]],
                         [(i + 1) / 10 for i in range(29)])
        table = rows_of(self.read("path.csv").decode())
        self.assertEqual(list(table[0])[:9], ["target", "power", "lambda", "lambda2", "norm", "bias",
                                              "mean_loss", "objective", "score"])
        self.assertEqual(list(table[0])[9:], [f"c{i + 1}" for i in range(50)])
        self.assertEqual(len(table), 29)
        self.assertLessEqual(max(map(len, self.run_tool(*words).out.splitlines())), 79)

    def test_agrees_with_fit_and_select(self):
        self.some_data(rows=50)
        for power in ("0.5", "1", "2", "3"):
            point, = self.run_tool("path", "data.csv", *GIVEN, "--power", power,
                                   "--json").json["points"]
            fit = self.run_tool("fit", "data.csv", *GIVEN, "--power", power, "--json").json
            grid = self.run_tool("select", "data.csv", *GIVEN, "--power", power, "--json").json
            for key, other in (("objective", "primal"), ("bias", "bias"), ("norm", "norm"),
                               ("mean_loss", "mean_loss"), ("lambda2", "lambda2")):
                self.assertAlmostEqual(point[key] / fit[other], 1, 5 if power == "0.5" else 8, key)
            self.assertAlmostEqual(point["score"] / grid["score"], 1, 8)

    def test_weights_of_a_linear_kernel(self):
        self.some_data(rows=50)
        words = ("--kernel", "linear", "--lambda", "0.1", "--power", "1.5")
        fit = self.run_tool("fit", "data.csv", *words, "--json").json
        self.run_tool("path", "data.csv", *words, "-o", "path.csv", "-q")
        row, = rows_of(self.read("path.csv").decode())
        for entry in fit["coefficients"]:
            self.assertAlmostEqual(float(row["weight:" + entry["name"]]), entry["standardised"], 8)
        self.assertAlmostEqual(float(row["bias"]), fit["bias"], 8)

    def test_linear_with_more_features_than_rows(self):
        self.some_data(rows=8)
        words = ("--kernel", "linear", "--lambda", "0.1", "--power", "1.5")
        fit = self.run_tool("fit", "data.csv", *words, "--json").json
        point, = self.run_tool("path", "data.csv", *words, "--json").json["points"]
        for value, entry in zip(point["solution"], fit["coefficients"]):
            self.assertAlmostEqual(value, entry["standardised"], 8)

    def test_zero_has_no_lambda2(self):
        self.some_data(rows=40)
        words = ("path", "data.csv", "--gamma", "0.05", "--lambda", "1e-3:1e3:7", "--power", "1")
        self.run_tool(*words, "-o", "path.csv", "-q")
        table = rows_of(self.read("path.csv").decode())
        self.assertEqual((table[-1]["lambda2"], float(table[-1]["norm"])), ("", 0))
        self.assertNotEqual(table[0]["lambda2"], "")
        norms = [float(row["norm"]) for row in table]
        self.assertEqual(norms, sorted(norms, reverse=True))
        self.assertIn("f = 0", self.run_tool(*words).out)

    def test_gamma_as_fit_chooses_it(self):
        self.some_data(rows=60)
        fit = self.run_tool("fit", "data.csv", "--json").json
        found = self.run_tool("path", "data.csv", "--json").json
        self.assertEqual((found["over"], found["gamma"]), ("lambda", fit["gamma"]))
        grid = {point["lambda"] for point in fit["grid"]}
        self.assertEqual({point["lambda"] for point in found["points"]}, grid)

    def test_several_targets(self):
        self.some_data(rows=40)
        words = ("path", "data.csv", "--target", "y,x10", *GIVEN, "--power", "1,2", "--over",
                 "power")
        points = self.run_tool(*words, "--json").json["points"]
        self.assertEqual([point["target"] for point in points], ["y", "y", "x10", "x10"])
        self.assertIn("\nx10\n", self.run_tool(*words).out)

    def test_refused(self):
        self.some_data(rows=30)
        self.refuse("path", "data.csv", "--over", "gamma", code=USAGE, says=["lambda, power"])
        self.refuse("path", code=USAGE, says=["fenchel path DATA [-o TABLE]"])
        self.refuse("path", "data.csv", "-o", "data.csv", code=USAGE, says=["is the input"])
        self.refuse("path", "data.csv", "--memory", "1M", code=5, says=["--memory"])
        self.refuse("path", "absent.csv", code=4, says=["absent.csv"])


class RandomFeatures(ToolTest):
    WORDS = ("--approx", "orthogonal:60", "--gamma", "0.05", "--lambda", "0.01")

    def test_powers_of_random_features(self):
        self.some_data(rows=150)
        for power in ("0.5", "1", "2", "3"):
            fit = self.run_tool("fit", "data.csv", *self.WORDS, "--power", power, "--json").json
            self.assertEqual((fit["approx"], fit["verdict"]), ("orthogonal:60", "optimal"))
            self.assertTrue(self.run_tool("verify", "data.fen", "data.csv", "--json").json["holds"])
        self.assertIn("of these features", self.run_tool("info", "data.fen").out)
        text = self.run_tool("predict", "data.fen", "data.csv", "-q").out
        self.assertEqual(len(rows_of(text)), 150)

    def test_refused(self):
        self.some_data(rows=30)
        self.refuse("fit", "data.csv", "--approx", "fourier:20", "--kernel", "linear", code=USAGE,
                    says=["linear", "--approx none"])
        self.refuse("fit", "-", "--approx", "fourier:20", "-o", "m.fen", code=3,
                    says=["twice"], input=self.read("data.csv"))
        self.refuse("select", "data.csv", "--approx", "fourier:20", code=USAGE,
                    says=["no option of select"])


class Refused(ToolTest):
    def test_powers(self):
        self.some_data(rows=20)
        for wrong, part in (("0", "from 0.001 to 100"), ("-1", "from 0.001 to 100"),
                            ("101", "from 0.001 to 100"), ("abc", "a number"),
                            ("2:1:3", "low < high"), ("nan", "nan"), ("", "a number")):
            for command in ("fit", "select", "path", "plan"):
                self.refuse(command, "data.csv", "--power", wrong, code=USAGE,
                            says=["--power", part])
        self.refuse("predict", "m.fen", "data.csv", "--power", "1", code=USAGE,
                    says=["no option of predict"])

    def test_plan_of_a_power(self):
        self.some_data(rows=60)
        plan = self.run_tool("plan", "data.csv", *GIVEN, "--power", "0.5", "--json").json
        self.assertTrue(plan["fits"])
        self.assertIn("nothing to select", plan["selection"])
        plan = self.run_tool("plan", "data.csv", *GIVEN, "--power", "1,2", "--json").json
        self.assertIn("2 powers", plan["selection"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
