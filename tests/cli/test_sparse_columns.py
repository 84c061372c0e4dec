"""Sparse files of many columns stay sparse: fit, predict, verify; groups and weights by name."""
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import unittest

from tool import ToolTest

UNPROVED, USAGE, DATA, FILE, MEMORY = 1, 2, 3, 4, 5
WIDEST = 1_000_000


def sparse_rows(rows, widest, each, seed):
    """Lines of svmlight, and the rows as {index: value}; x1, x2 and x3 make the label."""
    draw = random.Random(seed)
    lines, table = [], []
    for _ in range(rows):
        cells = {j: round(draw.gauss(0, 1), 4) for j in draw.sample(range(4, widest + 1), each)}
        cells.update({j: round(draw.gauss(0, 1), 4) for j in (1, 2, 3)})
        y = 3 * cells[1] - 2 * cells[2] + cells[3] + draw.gauss(0, 0.1)
        lines.append(f"{y:.4f} " + " ".join(f"{j}:{cells[j]}" for j in sorted(cells)))
        table.append(cells)
    return "\n".join(lines) + "\n", table


class AMillionColumns(ToolTest):
    def setUp(self):
        super().setUp()
        text, self.table = sparse_rows(400, WIDEST, 20, 1)
        self.write("wide.svmlight", text + f"0 {WIDEST}:1\n")

    def test_life(self):
        report = self.run_tool("fit", "wide.svmlight", "--penalty", "l1", "--lambda", "0.2",
                               "--json").json
        self.assertLess(report["terms"], 50)
        self.assertLess(os.path.getsize(self.path("wide.fen")), 100_000)
        self.run_tool("verify", "wide.fen", "wide.svmlight")
        self.run_tool("predict", "wide.fen", "wide.svmlight", "-o", "out.csv", "--quiet")
        info = self.run_tool("info", "wide.fen", "--json").json
        beta = {c["name"]: c["value"] for c in info["coefficients"]}
        self.assertLessEqual({"x1", "x2", "x3"}, set(beta))
        scores = [float(line) for line in self.read("out.csv").decode().split()[1:]]
        for cells, score in zip(self.table, scores):
            sum_of = info["intercept"] + sum(beta.get(f"x{j}", 0) * x for j, x in cells.items())
            # coefficients have 17 digits; a sum of some terms of size 10
            self.assertAlmostEqual(score, sum_of, delta=1e-12 * (1 + abs(sum_of)) * 10)

    def test_groups_shrink_too(self):
        plain = self.run_tool("fit", "wide.svmlight", "--penalty", "l1", "--lambda", "0.2",
                              "--json", "-o", "l1.fen").json
        for penalty in ("group", "group:prefix:99"):
            report = self.run_tool("fit", "wide.svmlight", "--penalty", penalty, "--lambda", "0.2",
                                   "--json", "-o", "g.fen").json
            self.assertLess(os.path.getsize(self.path("g.fen")), 100_000)
            info = self.run_tool("info", "g.fen", "--json").json
            self.assertEqual(info["groups"], report["groups"])
            self.assertLess(info["groups"]["active"], info["groups"]["count"])
            self.assertGreater(info["groups"]["count"], 1000)
            self.run_tool("verify", "g.fen", "wide.svmlight")
            if penalty == "group":                 # every column by itself: that is l1
                self.assertEqual(report["groups"]["active"], plain["terms"])
                self.assertAlmostEqual(report["primal"],
                                       plain["primal"], delta=1e-6)

    def test_no_penalty(self):
        report = self.run_tool("fit", "wide.svmlight", "--penalty", "none", "--json").json
        self.assertEqual(report["rank"], 400)      # of 401 rows, with an intercept
        self.assertLess(os.path.getsize(self.path("wide.fen")), 3_000_000)
        self.run_tool("verify", "wide.fen", "wide.svmlight")
        plan = self.run_tool("plan", "wide.svmlight", "--penalty", "none", "--json").json
        self.refuse("fit", "wide.svmlight", "--penalty", "none", "--memory", "30M", code=MEMORY,
                    says=["--memory"])
        self.assertLess(plan["peak_bytes"], 1_000_000_000)

    def test_narrower_and_wider_files(self):
        self.run_tool("fit", "wide.svmlight", "--penalty", "l1", "--lambda", "0.2", "--quiet")
        self.write("narrow.svmlight", "0 1:1\n0 2:1\n0\n")
        self.write("wider.svmlight", "0 1:1 3000000:5\n0 2:1\n0 3000000:1\n")
        for name in ("narrow", "wider"):
            self.run_tool("predict", "wide.fen", name + ".svmlight", "-o", name, "--quiet")
        self.assertEqual(self.read("narrow"), self.read("wider"))
        first, second, none = (float(x) for x in self.read("narrow").decode().split()[1:])
        self.assertGreater(first, none)
        self.assertLess(second, none)

    def test_another_file_is_not_the_training_file(self):
        self.run_tool("fit", "wide.svmlight", "--penalty", "l1", "--lambda", "0.2", "--quiet")
        text, _ = sparse_rows(400, WIDEST, 20, 2)
        self.write("other.svmlight", text)
        self.refuse("verify", "wide.fen", "other.svmlight", code=DATA, says=["not the rows"])


class ByName(ToolTest):
    """Groups and weights of the columns of a sparse file."""

    def setUp(self):
        super().setUp()
        text, _ = sparse_rows(60, 30, 6, 3)
        self.write("d.svmlight", text)

    def fit(self, *words):
        return self.run_tool("fit", "d.svmlight", *words, "--json").json

    def test_unpenalised_columns(self):
        report = self.fit("--penalty", "l1", "--lambda", "1e6", "--feature-weights", "x2=0,x9=0")
        info = self.run_tool("info", "d.fen", "--json").json
        active = {c["name"] for c in info["coefficients"] if c["value"] != 0}
        self.assertEqual(active, {"x2", "x9"})
        self.assertEqual(report["terms"], 2)
        self.run_tool("verify", "d.fen", "d.svmlight")

    def test_groups_of_a_file(self):
        lines = "".join(f"x{j},{'truth' if j <= 3 else 'rest' + str(j % 4)}\n" for j in range(1, 31))
        self.write("g.csv", "column,group\n" + lines)
        self.fit("--penalty", "group:g.csv", "--lambda", "0.5")
        info = self.run_tool("info", "d.fen", "--json").json
        by_group = {}
        for c in info["coefficients"]:
            by_group.setdefault(c["group"], []).append(c["value"] != 0)
        self.assertTrue(all(by_group["truth"]))
        for name, active in by_group.items():
            self.assertEqual(len(set(active)), 1, name)     # all or nothing
        self.run_tool("verify", "d.fen", "d.svmlight")

    def test_groups_of_targets_shrink(self):
        text, table = sparse_rows(90, 200, 6, 5)
        lines = [f"{('a', 'b', 'c').index('abc'[i % 3])} " + line.split(" ", 1)[1]
                 for i, line in enumerate(text.splitlines())]
        self.write("c.svmlight", "\n".join(lines) + "\n")
        report = self.run_tool("fit", "c.svmlight", "--task", "classification", "--loss",
                               "logistic", "--penalty", "group:targets", "--lambda", "0.04",
                               "--json").json
        info = self.run_tool("info", "c.fen", "--json").json
        self.assertEqual(info["groups"], report["groups"])
        self.assertLess(0, info["groups"]["active"])
        self.assertLess(info["inputs"], 100)
        self.run_tool("verify", "c.fen", "c.svmlight")

    def test_bad_names_and_files(self):
        self.write("g.csv", "column,group\nx1,a\nx1,b\n")
        self.refuse("fit", "d.svmlight", "--penalty", "group:g.csv", "--lambda", "1", code=DATA,
                    says=["g.csv:3", '"x1"', "two groups"])
        self.write("g.csv", "column,group\nx1,a\n")
        self.refuse("fit", "d.svmlight", "--penalty", "group:g.csv", "--lambda", "1", code=DATA,
                    says=["g.csv", "in no group"])
        self.refuse("fit", "d.svmlight", "--penalty", "group:none.csv", "--lambda", "1", code=FILE,
                    says=["none.csv", "No such file"])
        self.refuse("fit", "d.svmlight", "--penalty", "l1", "--lambda", "1", "--feature-weights",
                    "x99=1", code=USAGE, says=['"x99"'])
        self.refuse("fit", "d.svmlight", "--penalty", "l1", "--lambda", "1", "--feature-weights",
                    ",".join(f"x{j}=0" for j in range(1, 31)), code=USAGE,
                    says=["nothing is penalised", "--penalty none"])

    def test_kernels_need_the_zeros(self):
        text, _ = sparse_rows(60, 100_000, 200, 4)
        self.write("k.svmlight", text)
        words = ("fit", "k.svmlight", "--penalty", "l1", "--kernel", "gaussian", "--lambda", "1")
        self.refuse(*words, "--memory", "5M", code=MEMORY,
                    says=["60 rows of", "GB", "--memory", "--kernel linear"])
        self.refuse(*words, "--time-limit", "1e-6", code=UNPROVED, says=["time limit"])

    def test_epsilon_is_not_estimated(self):
        self.refuse("fit", "d.svmlight", "--penalty", "l1", "--loss", "eps:auto", "--lambda", "1",
                    code=USAGE, says=["auto", "in the place of a number", "sparse", "--loss eps:0.1"])

    def test_values_that_are_not_finite(self):
        for value, says in (("nan", "not finite"), ("inf", "not finite"), ("1e999", "finite")):
            self.write("bad.txt", f"1 1:2 3:1\n2 1:1 2:{value}\n3 2:1\n")
            self.refuse("fit", "bad.txt", "--penalty", "l1", "--lambda", "1", code=DATA,
                        says=["bad.txt:2", f'"2:{value}"', says])


if __name__ == "__main__":
    unittest.main()
