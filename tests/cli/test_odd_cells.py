"""Cells that training had nothing like: predictions say so."""
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tool import ToolTest  # noqa: E402


class OddCells(ToolTest):
    def setUp(self):
        super().setUp()
        draw = random.Random(1)
        rows = ["age,city,income,gappy,price"]
        for i in range(60):
            age, city = draw.randint(20, 70), draw.choice(["paris", "rome", "oslo"])
            gappy = "" if i % 7 == 0 else str(i % 5)
            rows.append(f"{age},{city},{draw.gauss(50, 10):.2f},{gappy},{age * 2 + len(city)}")
        self.write("train.csv", "\n".join(rows) + "\n")
        self.run_tool("fit", "train.csv", "--target", "price", "--penalty", "none", "--quiet")

    def predict(self, *rows, options=()):
        self.write("new.csv", "age,city,income,gappy\n" + "\n".join(rows) + "\n")
        return self.run_tool("predict", "train.fen", "new.csv", *options)

    def test_nothing_odd(self):
        found = self.predict("30,paris,40,", "31,rome,50,2")
        self.assertEqual(found.err, "")
        found = self.predict("30,paris,40,", options=["--json"]).json
        self.assertEqual((found["filled"], found["unseen"], found["note"]), (0, 0, ""))

    def test_missing_numbers(self):
        err = self.predict("30,paris,,2", ",rome,,2").err
        self.assertIn('3 numbers are missing (first in "age") where no training row lacks one', err)
        self.assertNotIn("text", err)
        self.assertIn("1 number is missing", self.predict("30,paris,,2").err)

    def test_unseen_texts(self):
        err = self.predict("30,berlin,40,2", "30,paris,40,2", "30,tokyo,40,2").err
        self.assertIn('2 texts are in no training row (first "berlin" in "city")', err)
        self.assertIn("1 text is in no training row", self.predict("30,x,40,2").err)

    def test_unseen_texts_are_other(self):
        """Which has a coefficient where training had texts that are missing."""
        text = self.read("train.csv").decode().replace(",oslo,", ",,")
        self.write("train.csv", text)
        self.run_tool("fit", "train.csv", "--target", "price", "--kernel", "linear", "--quiet")
        found = self.run_tool("info", "train.fen", "--json").json["coefficients"]
        self.assertNotEqual([c["value"] for c in found if c["name"] == "city = other"], [0])
        answer = self.predict("30,berlin,40,2", "30,,40,2", "30,rome,40,2")
        berlin, missing, rome = answer.out.split()[1:]
        self.assertEqual(berlin, missing)
        self.assertNotEqual(berlin, rome)
        self.assertIn('1 text is in no training row (first "berlin" in "city"): predicted as '
                      '"other", as a missing text is', answer.err)

    def test_json_and_quiet(self):
        found = self.predict("30,berlin,,2", options=["--json"]).json
        self.assertEqual((found["filled"], found["unseen"]), (1, 1))
        self.assertIn("stands in; 1 text", found["note"])
        self.assertEqual(self.predict("30,berlin,,2", options=["--quiet"]).err, "")

    def test_blocks_are_counted_together(self):
        rows = ["30,berlin,,2"] * 70000
        found = self.predict(*rows, options=["--json", "-o", "out.csv"]).json
        self.assertEqual((found["rows"], found["filled"], found["unseen"]), (70000,) * 3)

    def test_numbers_where_training_had_texts(self):
        self.write("zip.csv", "zip,y\n" + "10115,1\n00100,2\n75001,4\n" * 10)
        self.run_tool("fit", "zip.csv", "--target", "y", "--text", "zip", "--penalty", "none",
                      "--quiet")
        self.write("new.csv", "zip\n10115\n100\n99999\n")
        self.assertIn('1 text is in no training row (first "99999" in "zip")',
                      self.run_tool("predict", "zip.fen", "new.csv").err)

    def test_many_levels_have_others(self):
        rows = ["city,y"] + [f"town{i % 60},{i % 60}" for i in range(600)]
        self.write("many.csv", "\n".join(rows) + "\n")
        self.run_tool("fit", "many.csv", "--target", "y", "--penalty", "l1", "--lambda", "0.01",
                      "--quiet")
        self.write("new.csv", "city\ntown59\n")
        self.assertEqual(self.run_tool("predict", "many.fen", "new.csv").err, "")


if __name__ == "__main__":
    unittest.main()
