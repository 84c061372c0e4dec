"""fenchel info --features: what a function is the weighted sum of, by name."""
import itertools
import os
import random
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tool import ToolTest  # noqa: E402

WIDTH = 80
COLUMNS = ["x1", "x2", "x3", "x4", "x5"]


def product(name, row):
    """The value of a feature such as "x1^2*x3" at a row of named numbers."""
    value = 1.0
    for factor in name.split("*"):
        column, _, power = factor.partition("^")
        value *= row[column] ** int(power or 1)
    return value


class Features(ToolTest):
    def setUp(self):
        super().setUp()
        source = random.Random(5)
        self.rows = [{name: source.gauss(0, 1) for name in COLUMNS} for _ in range(60)]
        lines = [",".join(COLUMNS) + ",y"]
        for row in self.rows:
            y = 3 * row["x1"] * row["x4"] - 2 * row["x3"] ** 2 + source.gauss(0, 0.05)
            lines.append(",".join(f"{row[name]!r}" for name in COLUMNS) + f",{y!r}")
        self.write("data.csv", "\n".join(lines) + "\n")

    def fit(self, *words, data="data.csv"):
        self.run_tool("fit", data, *words, "--quiet")

    def listed(self, model="data.fen"):
        return self.run_tool("info", model, "--features", "--json").json["implied"]

    def text(self, model="data.fen"):
        text = self.run_tool("info", model, "--features").out
        self.assertLessEqual(max(map(len, text.splitlines())), WIDTH, text)
        self.assertEqual([line for line in text.splitlines() if line != line.rstrip()], [])
        return text

    def polynomial(self, *more):
        self.fit("--penalty", "lp:4/3", "--kernel", "tensor-polynomial", "--scale", "none",
                 "--lambda", "1e-3", *more)

    def test_planted_products_come_first(self):
        self.polynomial()
        (found,) = self.listed()
        self.assertEqual(found["target"], "y")
        self.assertEqual(found["count"], 15)
        self.assertAlmostEqual(found["exponent"], 4 / 3, 12)
        names = [entry["name"] for entry in found["features"]]
        self.assertEqual(names[:2], ["x1*x4", "x3^2"])
        weights = [abs(entry["weight"]) for entry in found["features"]]
        self.assertEqual(weights, sorted(weights, reverse=True))
        # a coefficient is that of the product itself: 3 and -2 but for the shrinkage
        self.assertAlmostEqual(found["features"][0]["coefficient"], 3, delta=0.1)
        self.assertAlmostEqual(found["features"][1]["coefficient"], -2, delta=0.1)
        # a feature of two columns is 2^(1/q) times their product
        self.assertAlmostEqual(found["features"][0]["coefficient"],
                               2 ** 0.25 * found["features"][0]["weight"], 9)
        self.assertAlmostEqual(found["features"][1]["coefficient"],
                               found["features"][1]["weight"], 12)
        self.assertEqual(found["support"], sum(w >= weights[0] / 100 for w in weights))
        self.assertTrue(2 <= found["carry_99_percent"] <= found["count"])

    def test_shares_are_those_of_the_penalty(self):
        self.polynomial()
        (found,) = self.listed()
        norm = self.run_tool("info", "data.fen", "--json").json["norm"]
        for entry in found["features"]:
            self.assertAlmostEqual(entry["share"], (abs(entry["weight"]) / norm) ** (4 / 3), 7)
        shares = [entry["share"] for entry in found["features"]]
        carried = list(itertools.accumulate(shares))
        self.assertGreaterEqual(carried[found["carry_99_percent"] - 1], 0.99)
        self.assertLess(carried[found["carry_99_percent"] - 2], 0.99)

    def test_the_list_is_the_function(self):
        self.polynomial()
        (found,) = self.listed()
        bias = self.run_tool("info", "data.fen", "--json").json["bias"]
        scores = self.run_tool("predict", "data.fen", "data.csv").out.splitlines()[1:]
        # weights below 1/1000 of the largest are not listed: 13 of them at most
        left_out = 1e-3 * abs(found["features"][0]["weight"]) * 13 * 2 ** 0.25 * 9
        for row, score in zip(self.rows, scores):
            f = sum(entry["coefficient"] * product(entry["name"], row)
                    for entry in found["features"])
            self.assertLess(abs(f + bias - float(score)), left_out)

    def test_small_weights_are_not_listed(self):
        self.polynomial()
        (found,) = self.listed()
        largest = abs(found["features"][0]["weight"])
        self.assertEqual(found["listed_from"], 1e-3)
        for entry in found["features"]:
            self.assertGreaterEqual(abs(entry["weight"]), 1e-3 * largest)

    def test_a_report_has_the_largest(self):
        self.polynomial("--degree", "3")
        text, (found,) = self.text(), self.listed()
        self.assertEqual(found["count"], 35)
        self.assertRegex(text, r"^Features +\d+ of 35 carry 99 % of \|w\|_p\^p; \d+ have a weight")
        shown = re.findall(r"^ {13}(\S+) +(-?[\d.e-]+) +(-?[\d.e-]+) +([\d.]+) %", text, re.M)
        self.assertEqual(len(shown), 20)
        self.assertEqual([name for name, *_ in shown],
                         [entry["name"] for entry in found["features"][:20]])
        for (_, weight, coefficient, share), entry in zip(shown, found["features"]):
            for number, key in ((weight, "weight"), (coefficient, "coefficient")):
                self.assertAlmostEqual(float(number), entry[key], delta=1e-4 * abs(entry[key]))
            self.assertAlmostEqual(float(share), 100 * entry["share"], delta=0.006)
        self.assertIn("and 15 smaller ones", text)

    def test_every_penalty_of_linear_models(self):
        for words, exponent, words_of_sum in [
                (["--penalty", "lp:1.5"], 1.5, "|w|_p^p"),
                (["--penalty", "lp:6/5", "--kernel", "tensor-linear"], 1.2, "|w|_p^p"),
                (["--kernel", "linear"], 2, "|w|^2"),
                (["--penalty", "l1"], 1, "sum |w|"),
                (["--penalty", "none"], 1, "sum |w|")]:
            self.fit(*words, *([] if "none" in words else ["--lambda", "0.01"]))
            (found,) = self.listed()
            self.assertEqual(found["count"], 5)
            self.assertAlmostEqual(found["exponent"], exponent, 12)
            info = self.run_tool("info", "data.fen", "--json").json
            standardised = {entry["name"]: entry["standardised"]
                            for entry in info["coefficients"]}
            for entry in found["features"]:
                self.assertEqual(entry["weight"], standardised[entry["name"]])
            self.assertIn(f"carry 99 % of {words_of_sum};", self.text())

    def test_a_list_for_every_target(self):
        lines = self.read("data.csv").decode().splitlines()
        more = [lines[0] + ",z"] + [f"{line},{-2 * float(line.split(',')[1])!r}"
                                    for line in lines[1:]]
        self.write("two.csv", "\n".join(more) + "\n")
        self.fit("--penalty", "lp:1.25", "--target", "y,z", "--lambda", "1e-3", data="two.csv")
        found = self.listed("two.fen")
        self.assertEqual([entry["target"] for entry in found], ["y", "z"])
        self.assertEqual(found[1]["features"][0]["name"], "x2")
        text = self.text("two.fen")
        self.assertRegex(text, r"(?m)^Features +y: ")
        self.assertRegex(text, r"(?m)^Features +z: ")

    def test_products_of_levels_are_told_apart(self):
        source = random.Random(9)
        lines = ["weight of the whole thing in kg,colour,y"]
        for _ in range(40):
            lines.append(f"{source.gauss(0, 1):.6f},{source.choice(['red', 'blue'])},"
                         f"{source.gauss(0, 1):.6f}")
        self.write("words.csv", "\n".join(lines) + "\n")
        self.fit("--penalty", "lp:4/3", "--kernel", "tensor-polynomial", "--lambda", "1e-4",
                 data="words.csv")
        (found,) = self.listed("words.fen")
        names = [entry["name"] for entry in found["features"]]
        self.assertIn("(weight of the whole thing in kg)^2", names)
        self.assertTrue(any(name.startswith("(weight of the whole thing in kg)*(colour = ")
                            for name in names), names)
        self.text("words.fen")

    def test_no_weights_at_all(self):
        self.fit("--penalty", "l1", "--lambda", "1e6")
        (found,) = self.listed()
        self.assertEqual((found["support"], found["carry_99_percent"], found["features"]),
                         (0, 0, []))
        self.assertIn("all weights of 5 are 0", self.text())

    def test_weights_of_0_are_counted(self):
        lines = self.read("data.csv").decode().splitlines()
        self.write("one.csv", "\n".join([lines[0]] + [
            f"{line.rpartition(',')[0]},{-2 * float(line.split(',')[1])!r}"
            for line in lines[1:]]) + "\n")
        self.fit("--penalty", "l1", "--lambda", "1", data="one.csv")
        text = self.text("one.fen")
        self.assertIn("1 of 5 carry 99 % of sum |w|", text)
        self.assertIn("and 4 of weight 0", text)

    def test_models_without_a_list_say_so(self):
        self.fit("--penalty", "lp:4/3", "--kernel", "tensor-exponential", "--lambda", "0.1",
                 "--time-limit", "20")
        self.refuse("info", "data.fen", "--features", code=2,
                    says=["the tensor-exponential kernel has infinitely many features",
                          "linear, tensor-linear and tensor-polynomial have one"])
        self.refuse("info", "data.fen", "--features", "--json", code=2, says=["infinitely many"])
        self.fit("--gamma", "mean", "--lambda", "0.1")
        self.refuse("info", "data.fen", "--features", code=2,
                    says=["a model of the gaussian kernel has no list of features"])

    def test_it_is_an_option_of_info_alone(self):
        self.refuse("fit", "data.csv", "--features", code=2, says=["only of: info"])
        self.assertIn("--features", self.run_tool("info", "--help").out)


if __name__ == "__main__":
    unittest.main()
