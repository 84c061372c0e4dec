"""Penalties on coefficients: options that would have no effect are refused or said, and every
sentence names the culprit and the remedy."""
import os
import random
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tool import ToolTest  # noqa: E402

USAGE, DATA, FILES, MEMORY = 2, 3, 4, 5
L1 = ["--penalty", "l1"]
NONE = ["--penalty", "none"]


class Refusals(ToolTest):
    """data.csv: y = 2 x1 - x2 + noise, x3 says nothing; long.csv: the same with 250 rows."""

    def setUp(self):
        super().setUp()
        source = random.Random(3)
        for name, rows in (("data.csv", 40), ("long.csv", 250)):
            lines = ["x1,x2,x3,y"]
            for _ in range(rows):
                x = [source.gauss(0, 1) for _ in range(3)]
                lines.append(",".join(f"{v:.4f}" for v in x) +
                             f",{2 * x[0] - x[1] + source.gauss(0, 0.3):.4f}")
            self.write(name, "\n".join(lines) + "\n")

    def refuse_fit(self, *options, says, code=USAGE, data="data.csv", command="fit"):
        self.refuse(command, data, "--quiet", *options, code=code, says=says)

    def fit(self, *options):
        return self.run_tool("fit", "data.csv", "--json", "--quiet", *options).json


class WithoutEffect(Refusals):
    def test_tube_needs_a_lambda(self):
        for command in ("fit", "select", "path"):
            for penalty in ("l1", "elastic:0.5", "group"):
                self.refuse_fit("--loss", "tube:1", "--penalty", penalty, command=command,
                                says=["tube", "--penalty " + penalty, "--lambda 1/n"])
        found = self.fit("--loss", "tube:1", *L1, "--lambda", "1/n")
        self.assertEqual(found["verdict"], "optimal")

    def test_no_penalty(self):
        self.refuse_fit(*NONE, "--engine", "active-set", says=["--engine active-set", "QR"])
        self.refuse_fit(*NONE, "--engine", "cholesky", says=["--engine cholesky", "QR"])
        for select in ("kfold:5", "loo", "gcv", "aic", "1se:4"):
            self.refuse_fit(*NONE, "--select", select, says=[f"--select {select}", "--penalty none"])
        self.assertEqual(self.fit(*NONE, "--select", "none")["verdict"], "optimal")
        found = self.fit(*NONE, "--loss", "huber:1", "--engine", "active-set")
        self.assertEqual(found["verdict"], "optimal")

    def test_nothing_to_choose(self):
        for select in ("kfold:5", "1se:5", "aic", "bic"):
            found = self.fit(*L1, "--lambda", "0.1", "--select", select)
            self.assertIn(f"--select {select} had nothing to choose", found["note"])
        self.assertNotIn("nothing to choose", self.fit(*L1, "--lambda", "0.1")["note"])

    def test_parameters_of_kernels(self):
        for words, says in ((["--gamma", "1"], "--gamma"), (["--degree", "2"], "--degree"),
                            (["--coef0", "2"], "--coef0")):
            self.refuse_fit(*L1, *words, says=[says, "--kernel linear"])
        self.refuse_fit(*L1, "--kernel", "gaussian", "--gamma", "1", "--degree", "2",
                        says=["--degree", "--kernel gaussian", "polynomial"])

    def test_pairs_of_classes_that_are_none(self):
        self.refuse_fit("--multiclass", "ovo", says=["--multiclass ovo", "classes"])
        self.refuse_fit(*L1, "--multiclass", "ovo", says=["--multiclass ovo", "classes"])

    def test_units_of_a_lambda_that_is_not_given(self):
        for program in ("sklearn", "glmnet"):
            self.refuse_fit(*L1, "--as", program, says=[f"--as {program}", "--lambda"])
        self.refuse_fit("--as", "sklearn", says=["--as sklearn", "--lambda"])
        self.refuse_fit(*L1, "--as", "sklearn", "--lambda", "1/n", says=["--as sklearn"])

    def test_lone_groups(self):
        for groups in ("targets", "auto", "prefix:_"):
            found = self.fit("--penalty", "group:" + groups, "--lambda", "0.1")
            self.assertIn("every column is a group by itself", found["note"])
        found = self.fit("--penalty", "group:prefix:x", "--lambda", "0.1")
        self.assertNotIn("by itself", found["note"])
        found = self.fit("--penalty", "group:targets", "--target", "x3,y", "--lambda", "0.1")
        self.assertNotIn("by itself", found["note"])


class Sentences(Refusals):
    def test_lambda_0(self):
        for penalty in (L1, NONE):
            self.refuse_fit(*penalty, "--lambda", "0",
                            says=["greater than 0", "--penalty none without --lambda"])

    def test_ridge_is_a_kernel(self):
        for name in ("ridge", "l2", "L2"):
            self.refuse_fit("--penalty", name,
                            says=[f'"{name}" is unknown; ridge regression is --kernel linear'])

    def test_groups_that_are_no_file(self):
        for name in ("foo", "Targets"):
            self.refuse_fit("--penalty", "group:" + name,
                            says=["--penalty group:" + name, "auto", "prefix:SEP", "targets",
                                  "FILE"])
        self.refuse_fit("--penalty", "group:foo.csv", code=FILES,
                        says=["--penalty group:foo.csv", "auto", "prefix:SEP", "targets", "FILE"])

    def test_feature_weights(self):
        """Mistakes of the command line and those of a file have different exit codes."""
        weights = "--feature-weights"
        self.refuse_fit(*L1, weights, "", says=[weights, "empty"])
        self.refuse_fit(*L1, weights, "x1", says=[weights, "x1", "COLUMN=WEIGHT", "file"])
        self.refuse_fit(*L1, weights, "no.csv", says=[weights, "no.csv"], code=FILES)
        for text, says in (("x1=-1", "-1"), ("nobody=2", "nobody"), ("x1=much", "much"),
                           ("x1=1,x1=2", "already"), ("x1=1,x2", "names with commas need a file"),
                           ("x1=0,x2=0,x3=0", "--penalty none")):
            self.refuse_fit(*L1, weights, text, says=[weights, says])
        for text, says in (("x1,-1", "w.csv:1"), ("x1,1\nnobody,2", "w.csv:2"),
                           ("x1,1\nx2", "w.csv:2"), ("x1,1,2", "quote"),
                           ("x1,0\nx2,0\nx3,0", "w.csv: all weights are 0")):
            self.write("w.csv", text + "\n")
            self.refuse_fit(*L1, weights, "w.csv", says=[says], code=DATA)

    def test_group_files(self):
        head = "column,group\n"
        for text, says in ((head + "x1,a\nx2,a\nx1,a\nx3,b\n", ["g.csv:4", '"x1"', "leave"]),
                           (head + "x1,a\nx2,a\nx1,b\nx3,b\n", ["g.csv:4", '"a" and "b"', "leave"]),
                           ("x1,a\nx2,a\n", ["g.csv:1", "header column,group", '"x1,a"']),
                           ("", ["g.csv", "empty", "header column,group"]),
                           (head + "x1,a,1\n", ["g.csv:2", "column,group", "3 fields"]),
                           (head + "x1,\n", ["g.csv:2", '"x1"', "group"]),
                           (head + "x1,a\nx2,a\n", ["g.csv", "x3,GROUP"]),
                           ("column,group,weight\nx1,a,1\nx2,a,2\nx3,b,1\n",
                            ["g.csv:3", "weight 2 here and 1 before", "the same"]),
                           ("column,group,weight\nx1,a,0\nx2,a,0\nx3,b,0\n",
                            ["g.csv: all weights are 0", "--penalty none"])):
            self.write("g.csv", text)
            self.refuse_fit("--penalty", "group:g.csv", "--lambda", "0.1", says=says, code=DATA)

    def test_gcv_with_another_loss(self):
        for data, loo in (("data.csv", True), ("long.csv", False)):
            result = self.run_tool("fit", data, *L1, "--loss", "huber", "--select", "gcv",
                                   code=USAGE)
            self.assertIn("kfold:10", result.err)
            self.assertEqual("loo" in result.err, loo)


class Plans(Refusals):
    def plan(self, *options, data="long.csv"):
        return self.run_tool("plan", data, "--json", *options).json

    def test_folds_that_have_no_room_for_sums_have_columns(self):
        source = random.Random(4)
        rows, columns = 420, 400
        self.write("wide.csv", "\n".join(
            [",".join(f"x{j}" for j in range(columns))] +
            [",".join(f"{source.gauss(0, 1):.3f}" for _ in range(columns)) for _ in range(rows)]) +
            "\n")
        words = [*L1, "--select", "kfold:10", "--lambda", "0.5,0.4"]
        sums = self.run_tool("plan", "wide.csv", "--json", *words).json["peak_bytes"]
        less = ["--memory", str(sums - 2**22)]
        plan = self.run_tool("plan", "wide.csv", "--json", *words, *less).json
        self.assertTrue(plan["fits"])
        self.assertLess(plan["peak_bytes"], sums - 2**22)
        self.run_tool("select", "wide.csv", "--quiet", *words, *less)

    def test_memory_is_what_a_fit_checks(self):
        """Also of sparse files, which no penalty makes dense."""
        source = random.Random(1)
        self.write("sparse.svm", "".join(
            f"{source.gauss(0, 1):.4f} {i % 50 + 1}:1 {i % 397 + 60}:2\n" for i in range(400)))
        for words in (NONE, [*L1, "--lambda", "0.1"]):
            peak = self.plan(*words, data="sparse.svm")["peak_bytes"]
            limit = str(int(0.7 * peak))
            self.assertFalse(self.run_tool("plan", "sparse.svm", "--json", *words, "--memory",
                                           limit, code=MEMORY).json["fits"])
            result = self.run_tool("fit", "sparse.svm", "--quiet", *words, "--memory", limit,
                                   code=MEMORY)
            needed = int(re.search(r"needs (\d+) MB", result.err).group(1))
            self.assertLessEqual(abs(needed - peak / 1e6), 3)   # what is resident differs a little
            self.run_tool("fit", "sparse.svm", "--quiet", *words, "--memory", str(2 * peak))


if __name__ == "__main__":
    unittest.main()
