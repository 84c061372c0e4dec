"""select and path for losses other than the square one, through the tool."""
import csv
import io
import os
import random
import statistics
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import tool  # noqa: E402

USAGE, DATA = 2, 3
GIVEN = ("--gamma", "0.5", "--lambda", "0.001:0.1:3")


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def table(kind, n=120):
    """Two inputs and a target: a number, one of two classes, or one of three."""
    random.seed(3)
    lines = ["a,b,y"]
    for _ in range(n):
        a, b = random.uniform(-2, 2), random.uniform(-2, 2)
        f = a * a - b + random.gauss(0, 0.5)
        label = {"number": f"{f:.6g}", "two": "yes" if f > 1 else "no",
                 "three": "low" if f < 0 else "mid" if f < 2 else "high"}[kind]
        lines.append(f"{a:.6g},{b:.6g},{label}")
    return "\n".join(lines) + "\n"


class SelectTest(tool.ToolTest):
    def test_fit_takes_the_best_point(self):
        for kind, loss in (("number", "eps:0.2"), ("number", "pinball:0.3"), ("two", "hinge"),
                           ("number", "huber:0.5"), ("two", "logistic"), ("three", "sqhinge")):
            self.write("data.csv", table(kind))
            words = ("data.csv", "--loss", loss, "--gamma", "0.1,0.5,2", "--lambda", "0.001:0.1:3")
            found = self.run_tool("select", *words, "--json").json
            self.assertEqual(found["score_kind"], "kfold:5")
            self.assertEqual(len(found["grid"]), 9)
            best = min(found["grid"], key=lambda point: point["score"])
            fit = self.run_tool("fit", *words, "-o", "m.fen", "--json").json
            for key in ("gamma", "lambda"):
                self.assertEqual(found[key], best[key])
                self.assertEqual(fit[key], best[key])
            self.assertEqual(all("error_rate" in point for point in found["grid"]),
                             kind != "number")

    def test_of_equal_scores_the_largest_lambda(self):
        """A constant is met by every lambda, exactly (0) or but for rounding errors (3.7)."""
        flat = [f"{i % 7},{i * i % 11}" for i in range(30)]
        for value in ("0", "3.7"):
            self.write("data.csv", "a,b,y\n" + "".join(f"{x},{value}\n" for x in flat))
            for words in ([], ["--select", "kfold:5"], ["--select", "gcv"], ["--kernel", "linear"],
                          *([["--loss", "absolute"], ["--loss", "huber:1"]] if value == "0" else []),
                          ["--power", "1,2"], ["--penalty", "lp:4/3"], ["--penalty", "l1"],
                          ["--penalty", "elastic:0.5", "--select", "bic"],
                          ["--lambda", "1,0.01,100,0.1", "--gamma", "0.5"]):
                found = self.run_tool("select", "data.csv", *words, "--json").json
                of_gamma = [point for point in found["grid"]
                            if point.get("gamma") == found["gamma"]
                            and point.get("power") in (found["power"], None)]
                self.assertGreater(len(of_gamma), 3)
                self.assertEqual(found["lambda"], max(point["lambda"] for point in of_gamma), words)

    def test_error_rates_are_shown(self):
        self.write("data.csv", table("two"))
        words = ("select", "data.csv", "--loss", "hinge", *GIVEN)
        found = self.run_tool(*words, "-o", "grid.csv", "--json").json
        best = min(found["grid"], key=lambda point: point["score"])
        rows = rows_of(self.read("grid.csv").decode())
        self.assertEqual([float(row["error_rate"]) for row in rows],
                         [point["error_rate"] for point in found["grid"]])
        self.assertTrue(all(0 <= float(row["error_rate"]) <= 0.5 for row in rows))
        text = self.run_tool(*words).out
        self.assertIn("error rate in percent", text)
        self.assertIn(f"{100 * best['error_rate']:.2f}% errors", text)
        self.assertIn("5-fold hinge loss", text)
        squares = self.run_tool("select", "data.csv", "--target", "a", *GIVEN).out
        self.assertNotIn("error", squares)

    def test_scores_do_not_depend_on_threads(self):
        self.write("data.csv", table("three", 90))
        for loss in ("hinge", "logistic"):
            words = ("select", "data.csv", "--loss", loss, "--gamma", "0.1,0.5,2", "--lambda",
                     "0.001:0.1:3", "--json")
            one = self.run_tool(*words, "--threads", "1").json
            two = self.run_tool(*words, "--threads", "2").json
            for a, b in zip(one["grid"], two["grid"]):
                self.assertAlmostEqual(a["score"], b["score"], delta=1e-6)

    def test_threads_of_many_rows(self):
        """Beyond 600 rows refits use all threads: equal but for the order of sums, within gaps of
        1e-4 of the objective."""
        self.write("data.csv", table("two", 650))
        for loss in ("hinge", "logistic"):
            words = ("select", "data.csv", "--loss", loss, "--gamma", "0.5", "--lambda", "0.01,0.1",
                     "--json")
            one = self.run_tool(*words, "--threads", "1").json["grid"]
            two = self.run_tool(*words, "--threads", "2").json["grid"]
            for a, b in zip(one, two):
                self.assertAlmostEqual(a["score"], b["score"], delta=1e-3 * a["score"])

    def test_leave_one_out_is_near_as_many_folds_as_rows(self):
        """They differ by 1/n against 1/(n-1) alone: lambda 60/59 with other weights kept."""
        self.write("data.csv", table("number", 60))
        words = ("select", "data.csv", "--loss", "huber:0.5", "--gamma", "0.5", "--json")
        loo = self.run_tool(*words, "--select", "loo", "--lambda", "0.01").json
        folds = self.run_tool(*words, "--select", "kfold:60", "--lambda",
                              str(0.01 * 60 / 59)).json
        self.assertEqual(loo["score_kind"], "loo")
        self.assertAlmostEqual(loo["score"] / folds["score"], 1, delta=1e-3)  # gaps of 1e-4

    def test_quantiles_share_a_setting(self):
        self.write("data.csv", table("number"))
        both = self.run_tool("select", "data.csv", "--loss", "pinball:0.1,0.9", *GIVEN,
                             "--json").json
        each = [self.run_tool("select", "data.csv", "--loss", "pinball:" + tau, *GIVEN,
                              "--json").json for tau in ("0.1", "0.9")]
        self.assertEqual(both["outputs"], 2)
        for point, low, high in zip(both["grid"], each[0]["grid"], each[1]["grid"]):
            self.assertAlmostEqual(point["score"], (low["score"] + high["score"]) / 2, delta=1e-6)

    def test_several_columns_are_relative(self):
        """The mean over the columns of the loss over that of the best constant, a median."""
        lines = table("number").splitlines()
        cells = [[float(cell) for cell in line.split(",")] for line in lines[1:]]
        targets = {"y": [row[2] for row in cells], "z": [1000 * row[0] for row in cells]}
        more = [f"{line},{z:.9g}" for line, z in zip(lines[1:], targets["z"])]
        self.write("data.csv", "\n".join([lines[0] + ",z"] + more) + "\n")
        words = ("select", "data.csv", "--loss", "absolute", "--gamma", "0.5", "--lambda", "0.01")
        both = self.run_tool(*words, "--target", "y,z", "--json").json
        expected = 0
        for name, values in targets.items():
            single = [f"{line.rsplit(',', 1)[0]},{v:.9g}" for line, v in zip(lines[1:], values)]
            self.write(name + ".csv", "\n".join(["a,b," + name] + single) + "\n")
            score = self.run_tool("select", name + ".csv", *words[2:], "--json").json["score"]
            middle = statistics.median(values)
            expected += score / statistics.mean(abs(v - middle) for v in values) / 2
        self.assertAlmostEqual(both["score"], expected, delta=1e-3 * expected)
        self.assertIn("relative absolute loss", self.run_tool(*words, "--target", "y,z").out)

    def test_a_best_point_at_the_end_is_noted(self):
        self.write("data.csv", table("two"))
        text = self.run_tool("select", "data.csv", "--loss", "logistic", "--gamma", "0.5",
                             "--lambda", "1:100:3").out
        self.assertIn("ends the grid of lambda", text)

    def test_automatic_grid(self):
        self.write("data.csv", table("two", 80))
        grid = self.run_tool("select", "data.csv", "--loss", "hinge", "--json").json["grid"]
        self.assertEqual(len({point["lambda"] for point in grid}), 12)
        self.assertGreaterEqual(len({point["gamma"] for point in grid}), 7)

    def test_what_is_refused(self):
        self.write("data.csv", table("two"))
        self.refuse("select", "data.csv", "--loss", "hinge", "--select", "gcv", code=USAGE,
                    says=["gcv", "square"])
        self.refuse("select", "data.csv", "--loss", "hinge", *GIVEN, "--select", "kfold:500",
                    code=USAGE, says=["kfold:500", "120"])
        self.refuse("select", "data.csv", "--task", "one-class", "--nu", "0.1", "--target", "",
                    code=USAGE, says=["one class"])


class PathTest(tool.ToolTest):
    def test_points_are_those_of_fit(self):
        for kind, loss in (("number", "eps:0.2"), ("number", "absolute"), ("number", "sqeps:0.1"),
                           ("two", "hinge"), ("two", "logistic")):
            self.write("data.csv", table(kind))
            words = ("data.csv", "--loss", loss, "--gamma", "0.5")
            path = self.run_tool("path", *words, "--lambda", "0.001:0.1:3", "--json").json
            points = path["points"]
            self.assertEqual([point["lambda"] for point in points],
                             sorted(point["lambda"] for point in points))
            norms = [point["norm"] for point in points]
            self.assertEqual(norms, sorted(norms, reverse=True))
            for point in points:
                fit = self.run_tool("fit", *words, "--lambda", repr(point["lambda"]), "-o", "m.fen",
                                    "--json").json
                self.assertAlmostEqual(point["objective"] / fit["primal"], 1, delta=2e-6)
                self.assertAlmostEqual(point["norm"] / fit["norm"], 1, delta=1e-3)
                self.assertLessEqual(point["relative_gap"], 1e-6)
                self.assertEqual(point["support"], sum(c != 0 for c in point["solution"]))
                self.assertIsNone(point["score"])

    def test_scores_where_they_are_asked_for(self):
        self.write("data.csv", table("number"))
        words = ("data.csv", "--loss", "eps:0.2", *GIVEN, "--select", "kfold:4")
        self.run_tool("path", *words, "-o", "path.csv", "-q")
        rows = rows_of(self.read("path.csv").decode())
        grid = self.run_tool("select", *words, "--json").json["grid"]
        for row, point in zip(rows, grid):
            self.assertAlmostEqual(float(row["score"]), point["score"], delta=1e-6)
            self.assertLessEqual(int(float(row["support"])), 120)
        text = self.run_tool("path", *words).out
        self.assertIn("held out", text)
        self.assertIn("support", text)
        self.assertNotIn("held out", self.run_tool("path", *words[:-2]).out.split("lambda2:")[0])

    def test_powers(self):
        """lambda2 = (m/2) lambda ||f||^(m-2): the penalty of power 2 with the same solution."""
        self.write("data.csv", table("number"))
        words = ("path", "data.csv", "--loss", "huber:0.5", "--gamma", "0.5", "--lambda", "0.01")
        points = self.run_tool(*words, "--over", "power", "--power", "1,1.5,2,3", "--json")
        for point in points.json["points"]:
            m = point["power"]
            expected = m / 2 * 0.01 * point["norm"] ** (m - 2)
            self.assertAlmostEqual(point["lambda2"] / expected, 1, delta=1e-3)
        points = self.run_tool(*words, "--over", "power", "--json").json["points"]
        powers = {point["power"] for point in points}
        self.assertEqual((min(powers), max(powers), len(powers)), (1, 2.9, 20))
        self.refuse(*words, "--over", "power", "--power", "0.5,2", code=USAGE, says=["power", "1"])

    def test_every_output_has_a_path(self):
        self.write("data.csv", table("three"))
        path = self.run_tool("path", "data.csv", "--loss", "hinge", *GIVEN, "--json").json
        self.assertEqual([point["target"] for point in path["points"]],
                         ["high"] * 3 + ["low"] * 3 + ["mid"] * 3)
        text = self.run_tool("path", "data.csv", "--loss", "hinge", *GIVEN).out
        for name in ("high", "low", "mid"):
            self.assertIn("\n" + name + "\n", text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
