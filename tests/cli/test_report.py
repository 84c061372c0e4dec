"""What reports and messages say, where numbers alone would mislead."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tool import ToolTest  # noqa: E402

USAGE, DATA = 2, 3
FIXED = ("--gamma", "0.5", "--lambda", "0.01")


class Reports(ToolTest):
    def setUp(self):
        super().setUp()
        self.run_tool("generate", "friedman", "--rows", "60", "-o", "data.csv")
        rows = self.read("data.csv").decode().splitlines()
        parts = [row.rpartition(",")[0] for row in rows[1:]]
        for name, labels in (("two", "ab"), ("three", "abc")):
            self.write(f"{name}.csv", rows[0] + "\n" + "".join(
                f"{part},{labels[int(10 * float(part.split(',')[0])) % len(labels)]}\n"
                for part in parts))

    def said(self, *words, **more):
        return " ".join(self.run_tool(*words, **more).out.split())

    def test_the_objective_names_the_price(self):
        for words, objective, found in (
                (("data.csv", "--loss", "eps"), "eps (epsilon free) loss max(0, |y - t| - epsilon) "
                 "at t = f(x) + b, plus 0.4 epsilon, plus 0.01 ||f||^2", "y: epsilon "),
                (("two.csv", "--loss", "hinge"), "labels y = -1, +1 at t = f(x) + b, minus 0.4 "
                 "margin, plus 0.01 ||f||^2", "y: margin "),
                (("data.csv", "--task", "one-class"), "all labels y = +1 at t = f(x), minus 0.4 "
                 "margin, plus 0.01 ||f||^2", "one class: margin "),
                (("three.csv", "--loss", "hinge", "--multiclass", "ovo"),
                 "minus 0.4 margin times the weight of the two classes", ": margin ")):
            with self.subTest(words=words):
                text = self.said("fit", *words, *FIXED, "--nu", "0.4", "-o", "m.fen")
                self.assertIn(objective, text)
                self.assertIn(found, text.partition("Found ")[2])
        self.assertIn("hinge (margin 1) loss", self.said("fit", "two.csv", *FIXED, "--loss",
                                                         "hinge"))

    def test_what_was_not_tried_is_no_score(self):
        words = ("data.csv", "--loss", "eps:0.5", "--gamma", "0.1")
        grid = self.run_tool("select", *words, "--json").json["grid"]
        tried = sum(point["score"] is not None for point in grid)
        self.assertLess(tried, len(grid))
        for text in (self.run_tool("fit", *words).out, self.run_tool("info", "data.fen").out):
            self.assertRegex(text, rf"the best of {len(grid)} \({len(grid) - tried} of them\s+"
                                   r"skipped\) by")
            self.assertNotIn("inf", text.partition("Chosen")[2].partition("Objective")[0])

    def test_rules_are_named(self):
        text = self.said("fit", "data.csv", "--task", "one-class", "--nu", "0.2")
        self.assertRegex(text, r'without scores: gamma [\d.e-]+ by the rule "mean", lambda '
                               r'0\.0166667 by the rule 1/n')
        self.assertIn("given or by rules", self.said("info", "data.fen"))
        text = self.said("fit", "data.csv", "--gamma", "mean", "--smoothness", "9")
        self.assertRegex(text, r"lambda [\d.e-]+ by --smoothness, power [\d.e-]+ by --smoothness")
        self.assertIn("nothing: gamma, lambda and power were given",
                      self.said("fit", "data.csv", *FIXED))

    def test_no_rule_is_named_that_was_not_used(self):
        """A limit that leaves no time to score what was given, or what a rule would have set."""
        limit = ("--loss", "eps", "--time-limit", "1e-9")
        for words, chosen in (
                (("--lambda", "0.1", "--gamma", "2,1"), "without scores: gamma 2 of those given"),
                (("--lambda", "0.1,1", "--gamma", "2"), "without scores: lambda 0.1 of those given"),
                (("--lambda", "0.1,1"), 'by the rule "mean", lambda 0.1 of those given'),
                (("--lambda", "0.1", "--gamma", "2", "--power", "1,2"), "power 2 of those given"),
                (("--lambda", "0.1", "--gamma", "2", "--power", "auto"), "power 2 as without --power"),
                (("--lambda", "0.1", "--penalty", "l1"), "nothing: lambda was given")):
            with self.subTest(words=words):
                text = self.said("fit", "data.csv", *words, *limit, "-o", "m.fen", code=1)
                self.assertIn(chosen, text)
                self.assertNotIn("1/n", text)
                if "nothing" not in chosen:
                    self.assertIn("y the time limit left no time to select Chosen", text)

    def test_a_tube_without_a_function(self):
        words = ("data.csv", "--loss", "tube:1e-9", "--kernel", "linear", "--lambda")
        texts = [self.run_tool("fit", *words, "1", code=1).out,
                 self.run_tool("info", "data.fen").out,
                 self.run_tool("verify", "data.fen", "data.csv", code=1).out,
                 self.run_tool("path", *words, "0.1:1:2", code=1).out]
        for text in texts:
            self.assertIn("infeasible", text)
            self.assertNotRegex(text.replace("NULL,NaN,nan", ""), r"\b(nan|inf)\b")

    def test_random_features_take_numbers(self):
        """Two values are classes elsewhere; text cannot be numbers."""
        self.write("signs.csv", self.read("two.csv").replace(b",a\n", b",1\n")
                   .replace(b",b\n", b",-1\n"))
        words = ("signs.csv", "--approx", "fourier:20", *FIXED)
        self.assertIn("two values: --approx takes them as numbers", self.said("fit", *words))
        for more in (("--task", "regression"), ("--loss", "square")):
            self.assertNotIn("two values", self.said("fit", *words, *more))
        self.assertNotIn("two values", self.said("fit", "data.csv", *words[1:]))
        self.refuse("fit", "two.csv", "--approx", "fourier:20", code=DATA,
                    says=["two.csv", "--approx", "numbers", "--target"])

    def test_blame_and_remedy(self):
        self.refuse("fit", "data.csv", "--loss", "eps", "--smoothness", "9", code=USAGE,
                    says=["--smoothness", "square loss", "leave it out"])
        self.refuse("fit", "data.csv", "--loss", "eps", "--engine", "newton", code=USAGE,
                    says=["--engine newton", "leave --engine out"])
        self.write("rare.csv", "x,y\n" + "".join(f"{i},{'ab'[i % 5 == 0]}\n" for i in range(20)))
        self.refuse("fit", "rare.csv", "--loss", "hinge", "--nu", "0.5", code=DATA,
                    says=["rare.csv", 'class "b"', "share of 0.2 ", "0.4, not 0.5"])
        self.write("kernel.csv", "k1,k2,y\n1,2,1\n2,1,2\n")
        self.refuse("fit", "kernel.csv", "--kernel", "precomputed", "--lambda", "1",
                    "--task", "regression", code=DATA, says=["kernel.csv: ", "semidefinite"])

    def test_quiet(self):
        """Errors alone; a table that goes to standard output is no remark, nor is --json."""
        fit = ("--gamma", "1", "--lambda", "1e-9", "--loss", "huber:0.001", "--tolerance", "1e-3")
        for words in (("generate", "sinc", "--rows", "9", "-o", "sinc.csv"),
                      ("fit", "data.csv", *fit, "-o", "m.fen"),
                      ("fit", "data.csv", "--penalty", "none", "-o", "linear.fen"),
                      ("predict", "m.fen", "data.csv", "-o", "out.csv"),
                      ("select", "data.csv", "--gamma", "1,2", "--lambda", "1e-3,1"),
                      ("select", "data.csv", "--penalty", "l1"),
                      ("path", "data.csv", "--lambda", "1,2"),
                      ("path", "data.csv", "--penalty", "l1", "-o", "p.csv", "--plot", "p.svg"),
                      ("verify", "m.fen", "data.csv", "--tolerance", "1e-3"),
                      ("plan", "data.csv"), ("info", "m.fen"), ("info", "linear.fen", "--features"),
                      ("convert", "data.csv", "data.npy")):
            with self.subTest(words=words):
                result = self.run_tool(*words, "-q")
                self.assertEqual((result.out, result.err), ("", ""))
        self.refuse("verify", "linear.fen", "sinc.csv", "-q", code=DATA, says=["sinc.csv"])
        self.assertEqual(len(self.run_tool("predict", "m.fen", "data.csv", "-q").out.split()), 61)
        self.assertTrue(self.run_tool("plan", "data.csv", "-q", "--json").json["fits"])

    def test_lines_are_short(self):
        few = ("--gamma", "0.1,0.2", "--lambda", "0.01,0.1", "--power", "1,2")
        for words in (("two.csv",), ("three.csv", *few),
                      ("data.csv", "--loss", "absolute", *few)):
            with self.subTest(words=words):
                text = self.run_tool("fit", *words, "-o", "m.fen").out
                self.assertLessEqual(max(map(len, text.splitlines())), 80, text)

    def test_exit_codes_in_words(self):
        for text in (self.said("--help"), self.said("--man")):
            self.assertIn("an iterative fit saves its model so far, once all is chosen", text)


if __name__ == "__main__":
    unittest.main()
