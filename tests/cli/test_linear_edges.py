"""Penalties on coefficients where data or settings are odd: constant columns without a bias, the
units of weights, constant labels, and lambdas under a time limit."""
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tool import ToolTest  # noqa: E402


class Edges(ToolTest):
    def fit(self, data, *options, **more):
        return self.run_tool("fit", data, "--json", "--quiet", "-o", "m.fen", *options, **more).json

    def coefficients(self, found):
        return {entry["name"]: entry["value"] for entry in found["coefficients"]}

    def test_a_column_of_ones_instead_of_a_bias(self):
        rows = [(0.5, 11.0), (-0.3, 9.4), (1.5, 13.0), (-2.0, 6.0), (0.1, 10.2)]  # y = 10 + 2 x
        self.write("ones.csv", "one,x,y\n" + "".join(f"1,{x},{y}\n" for x, y in rows))
        self.write("ones.svm", "".join(f"{y} 1:1 2:{x}\n" for x, y in rows))
        for data in ("ones.csv", "ones.svm"):
            found = self.fit(data, "--no-bias", "--scale", "none", "--penalty", "none")
            values = sorted(self.coefficients(found).values())
            self.assertEqual(found["verdict"], "optimal")
            for got, wanted in zip(values, (2.0, 10.0), strict=True):
                self.assertAlmostEqual(got, wanted, delta=1e-9)
            self.assertIn("holds", self.run_tool("verify", "m.fen", data).out)
            found = self.fit(data, "--no-bias", "--scale", "none", "--penalty", "l1",
                             "--lambda", "0.01")
            self.assertGreater(max(self.coefficients(found).values()), 9.0)
            self.assertIn("holds", self.run_tool("verify", "m.fen", data).out)

    def test_constants_go_where_they_are_centred_or_have_a_bias(self):
        rows = "".join(f"1,{x},{10 + 2 * x}\n" for x in range(6))
        self.write("ones.csv", "one,x,y\n" + rows)
        for options in (["--no-bias"], ["--scale", "none"]):
            found = self.fit("ones.csv", "--penalty", "l1", "--lambda", "0.01", *options)
            self.assertEqual(set(self.coefficients(found)), {"x"})

    def test_a_level_that_no_row_has(self):
        """colour = other, a column of zeros, is no part of the size of a group and needs no line in
        a file of groups; with a gap, which is that level, it is and does."""
        source = random.Random(5)
        lines = ["x,colour,y"]
        for i in range(40):
            x, level = source.gauss(0, 1), i % 3
            lines.append(f"{x:.6f},{['red', 'green', 'blue'][level]},{x + level:.6f}")
        self.write("full.csv", "\n".join(lines) + "\n")
        self.write("gap.csv", "\n".join([*lines, "0.5,,1.5"]) + "\n")
        self.write("groups.csv", "column,group\nx,x\ncolour = red,colour\ncolour = green,colour\n"
                   "colour = blue,colour\n")
        self.write("roots.csv", f"column,group,weight\nx,x,1\ncolour,colour,{3 ** 0.5!r}\n")
        found = []
        for how in ("group", "group:groups.csv", "group:roots.csv"):
            found.append(self.fit("full.csv", "--penalty", how, "--lambda", "0.1"))
            self.assertIn("a_g the root of its size", found[-1]["objective"])
            self.assertEqual(found[-1]["groups"]["count"], 2)
            self.assertIn("holds", self.run_tool("verify", "m.fen", "full.csv").out)
        self.assertEqual(found[0]["coefficients"], found[1]["coefficients"])
        self.assertEqual(found[0]["coefficients"], found[2]["coefficients"])
        self.refuse("fit", "gap.csv", "--penalty", "group:groups.csv", "-o", "m.fen", code=3,
                    says=['"colour = other" is in no group'])
        self.fit("gap.csv", "--penalty", "group", "--lambda", "0.1")
        self.assertIn("a_g the root of its size",
                      " ".join(self.run_tool("info", "m.fen").out.split()))
        text = self.run_tool("fit", "full.csv", "--penalty", "none", "-o", "m.fen").out
        self.assertIn("Rank 3 of 4 columns", " ".join(text.split()))
        self.assertIn("; 1 more feature is 0 in all rows", " ".join(text.split()))

    def rows(self, label, weight=""):
        """y = 2 a - b + noise for label None, else the label; the weight of every row, if any."""
        source = random.Random(3)
        lines = []
        for _ in range(60):
            x = [source.gauss(0, 1) for _ in range(5)]
            y = 2 * x[0] - x[1] + 0.5 * source.gauss(0, 1) if label is None else label
            lines.append(",".join(f"{value:.6f}" for value in [*x, y]) + weight)
        return "\n".join(["a,b,c,d,e,y" + (",w" if weight else ""), *lines]) + "\n"

    def test_criteria_know_no_unit_of_weights(self):
        for criterion in ("aic", "bic", "gcv"):
            chosen = []
            for weight in ("1", "0.001", "1000"):
                self.write("w.csv", self.rows(None, "," + weight))
                found = self.fit("w.csv", "--target", "y", "--weights", "w", "--penalty", "l1",
                                 "--select", criterion)
                self.assertEqual(found["terms"], 2)
                chosen.append(found["lambda"])
            self.assertAlmostEqual(max(chosen), min(chosen), delta=1e-9 * chosen[0])

    def test_labels_that_say_nothing(self):
        for label in (7.3, 0.0, -1e8):
            self.write("flat.csv", self.rows(label))
            for criterion in ("aic", "bic", "gcv", "kfold:5"):
                found = self.fit("flat.csv", "--penalty", "l1", "--select", criterion)
                self.assertEqual((found["verdict"], found["terms"]), ("optimal", 0))
            found = self.fit("flat.csv", "--penalty", "l1", "--select", "bic", "--loss", "absolute")
            self.assertEqual((found["verdict"], found["terms"]), ("optimal", 0))

    def test_a_column_far_from_0_that_belongs_at_0(self):
        """Its slope is nothing beside its entries, but below 0: a coefficient of 1e-13 is none."""
        rows = ["-1,-1,-1,-1,1,1,1,1000001,2,-1,3,0.2724413",
                "2,-2,1,0,-1,-1,0,1000001,0,2,2,-0.8104795",
                "0,-2,0,0,-2,-1,1,1000001,0,0,1,-0.1670279",
                "-2,-2,1,0,1,-1,1,999998,-2,0,2,0.609222",
                "-2,-1,-2,1,2,-1,1,999999,-2,-2,3,0.609222",
                "2,1,2,0,-2,-2,2,1000002,-2,0,2,-1.1787648",
                "-1,-1,-1,-1,1,1,1,1000001,2,-1,2,0.2724413",
                "-1,-1,0,-2,2,-2,-1,1000002,-1,2,2,0.5551529",
                "0,-2,1,1,0,-2,-2,1000001,2,-1,2,0.3682854"]
        names = [f"x{j}" for j in range(1, 11)]
        self.write("far.csv", ",".join([*names, "w", "y"]) + "\n" + "\n".join(rows) + "\n")
        found = self.fit("far.csv", "--target", "y", "--weights", "w", "--scale", "none", "--loss",
                         "pinball:0.5", "--nonnegative", "--penalty", "none")
        self.assertEqual(found["verdict"], "optimal")
        self.assertEqual(self.coefficients(found)["x8"], 0.0)
        self.assertIn("holds", self.run_tool("verify", "m.fen", "far.csv").out)

    def test_columns_without_a_penalty_that_separate(self):
        source = random.Random(4)
        lines = ["a,b,c,y"]
        for k in range(30):
            a = source.gauss(0, 1)
            lines.append(f"{a:.4f},{source.gauss(0, 1):.4f},{a + k % 2:.4f}," +
                         ("no" if a < 0.1 else "yes"))
        self.write("classes.csv", "\n".join(lines) + "\n")
        options = ["--penalty", "l1", "--lambda", "0.01", "--feature-weights"]
        words = ["fit", "classes.csv", "--json", "--quiet", *options, "a=0"]
        result = self.run_tool(*words, code=1)
        self.assertIn("columns without a penalty separate the classes", result.json["note"])
        self.assertIn("a penalty on the columns that separate", result.err)
        found = self.fit("classes.csv", *options, "b=0,a=1e-6")
        self.assertEqual(found["verdict"], "optimal")
        self.assertNotIn("separate", found["note"])

    def test_columns_beyond_the_range_of_squares(self):
        """1e160 squared is no double: said at once, where there is no scale to help."""
        source = random.Random(5)
        lines = ["xa,xb,xc,y"]
        for k in range(20):
            x = [1e160 * source.gauss(0, 1) for _ in range(3)]
            lines.append(",".join(map(repr, x)) + "," + ("no" if k % 3 else "yes"))
        self.write("large.csv", "\n".join(lines) + "\n")
        for penalty in ("group:prefix:x", "l1", "none"):
            options = ["--penalty", penalty] + (["--lambda", "0.1"] if penalty != "none" else [])
            self.refuse("fit", "large.csv", "--quiet", "--scale", "none", *options, code=3,
                        says=["columns", "too large", "--scale standard"])
        found = self.fit("large.csv", "--penalty", "l1", "--lambda", "0.01")
        self.assertEqual(found["verdict"], "optimal")

    def test_elastic_nets_choose_alike_in_any_unit(self):
        """The squares of coefficients weigh more the larger the labels are: the path goes on to
        where they do not matter."""
        source = random.Random(11)
        cells = [[source.gauss(0, 1) for _ in range(4)] for _ in range(120)]
        labels = [2 * x[0] - x[1] + 0.3 * source.gauss(0, 1) for x in cells]
        explained = []
        for unit in (1.0, 1e6):
            self.write("units.csv", "a,b,c,d,y\n" + "".join(
                ",".join(map(repr, [*x, unit * y])) + "\n" for x, y in zip(cells, labels)))
            found = self.fit("units.csv", "--penalty", "elastic:0.5", "--loss", "square")
            explained.append(found["score"] / unit ** 2)
        self.assertLess(explained[0], 0.12)
        self.assertLess(abs(explained[1] / explained[0] - 1), 0.01)

    def test_prices_below_all_rounding_errors(self):
        """A column twice and lambda = 1e-20: the coefficients are as with a lambda that costs as
        little, and proved for inputs that agree to the last digit."""
        source = random.Random(0)
        lines = ["a,b,c,d,again,y"]
        for _ in range(40):
            x = [source.gauss(0, 1) for _ in range(4)]
            lines.append(",".join(map(repr, [*x, x[0], 2 * x[0] - x[1] + source.gauss(0, 1)])))
        self.write("twice.csv", "\n".join(lines) + "\n")
        options = ("twice.csv", "--loss", "absolute", "--penalty", "l1", "--scale", "none")
        wanted = self.fit(*options, "--lambda", "1e-8")
        found = self.fit(*options, "--lambda", "1e-20")
        self.assertEqual(wanted["verdict"], "optimal")
        self.assertEqual(found["verdict"], "optimal")
        self.assertIn("holds", self.run_tool("verify", "m.fen", "twice.csv").out)
        self.assertAlmostEqual(found["primal"], wanted["primal"], delta=1e-6)

    def test_more_columns_than_rows_without_a_bias(self):
        """Means are taken off the columns: what is left is the mean of y, and it is proved."""
        source = random.Random(3)
        lines, mean = [",".join(f"x{j}" for j in range(50)) + ",y"], 0.0
        for _ in range(20):
            x, y = [source.gauss(0, 1) for _ in range(50)], source.gauss(1, 2)
            mean += y / 20
            lines.append(",".join(map(repr, [*x, y])))
        self.write("wide.csv", "\n".join(lines) + "\n")
        for loss, optimum in (("square", mean ** 2), ("absolute", abs(mean))):
            found = self.fit("wide.csv", "--penalty", "none", "--no-bias", "--loss", loss)
            self.assertEqual(found["verdict"], "optimal")
            self.assertAlmostEqual(found["dual"], optimum, delta=1e-9 * optimum)
            self.assertIn("holds", self.run_tool("verify", "m.fen", "wide.csv").out)

    def test_more_folds_than_rows(self):
        self.write("few.csv", "a,y\n" + "".join(f"{k},{k * k}\n" for k in range(8)))
        for select in ("kfold:9", "1se:9"):
            self.refuse("fit", "few.csv", "--quiet", "--penalty", "l1", "--select", select, code=2,
                        says=["--select", select, "there are 8", "fewer folds"])

    def test_no_time_takes_a_lambda_that_was_offered(self):
        self.write("numbers.csv", self.rows(None))
        found = self.fit("numbers.csv", "--penalty", "l1", "--lambda", "0.1,0.01,0.5",
                         "--time-limit", "1e-9", code=1)
        self.assertEqual(found["lambda"], 0.5)


if __name__ == "__main__":
    unittest.main()
