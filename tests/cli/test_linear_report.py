"""What reports say about linear models: coefficients, ranks, terms, and what chose lambda."""
import json
import math
import os
import random
import re
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tool import ToolTest  # noqa: E402

WIDTH = 80


def table_of(text, targets=1):
    """Name -> numbers of the table of coefficients, in the order in which they stand."""
    rows, first, last = {}, 13, 39 if targets == 1 else 33
    for line in text.partition("Coefficients")[2].splitlines()[1:]:
        found = re.match(r"((?: +-?[\d.]+(?:e[+-]\d+)?)+)(?:  \S.*)?(?: \*)?$", line[last:])
        if line[:first].strip() or not found:
            break
        rows[line[first:last].strip()] = [float(word) for word in found.group(1).split()]
    return rows


class Reports(ToolTest):
    def setUp(self):
        super().setUp()
        source = random.Random(3)
        lines = ["age,colour,size,twin,noise,y,z,kind"]
        for i in range(90):
            age = "" if i % 10 == 0 else f"{source.gauss(40, 10):.4f}"
            colour, size = source.choice(["red", "green", "blue"]), source.gauss(170, 9)
            y = (2 * float(age or 40) + (30 if colour == "red" else 0) + 0.5 * size
                 + source.gauss(0, 1))
            lines.append(f"{age},{colour},{size:.4f},{2 * round(size, 4):.4f},"
                         f"{source.gauss(0, 1):.4f},{y:.4f},{size - y:.4f},"
                         f"{'abc'[i % 3] if i % 7 == 0 else 'a' if y > 180 else 'b'}")
        self.write("data.csv", "\n".join(lines) + "\n")
        self.write("plain.csv", "".join(",".join(line.split(",")[:6]) + "\n" for line in lines))
        self.write("kind.csv", "".join(",".join(line.split(",")[:5] + line.split(",")[7:]) + "\n"
                                       for line in lines))

    def text(self, *words, **more):
        text = self.run_tool(*words, **more).out
        self.assertLessEqual(max(map(len, text.splitlines())), WIDTH, text)
        return text

    def assert_table(self, text, found, targets=1):
        """The table holds what the JSON holds, the largest first."""
        rows = table_of(text, targets)
        of = {entry["name"]: entry for entry in found["coefficients"]}
        self.assertEqual(list(rows)[-1], "(intercept)")
        sizes = []
        for name, numbers in rows.items():
            if name == "(intercept)":
                wanted = found["intercept"] if targets > 1 else [found["intercept"]]
            elif targets > 1:
                wanted = of[name]["value"]
                sizes.append(max(map(abs, of[name]["standardised"])))
            else:
                wanted = [of[name]["value"], of[name]["standardised"]]
                sizes.append(abs(of[name]["standardised"]))
            self.assertEqual(len(numbers), len(wanted), name)
            for number, value in zip(numbers, wanted):
                self.assertLessEqual(abs(number - value), 1e-3 * abs(value) + 1e-300)
        self.assertEqual(sizes, sorted(sizes, reverse=True))
        return rows


class RidgeReports(Reports):
    def test_ridge(self):
        words = ("plain.csv", "--kernel", "linear", "--lambda", "0.01")
        text = self.text("fit", *words)
        found = self.run_tool("info", "plain.fen", "--json").json
        rows = self.assert_table(text, found)
        self.assertEqual(set(rows), {"age", "age is missing", "colour = red", "colour = green",
                                     "colour = blue", "size", "twin", "noise", "(intercept)"})
        self.assert_table(self.text("info", "plain.fen"), found)
        self.assertIn("R2 0.9", text)

    def test_units_of_the_file(self):
        """Predictions follow from the coefficients and a row of the file."""
        self.run_tool("fit", "plain.csv", "--kernel", "linear", "--lambda", "0.01", "-q")
        found = self.run_tool("info", "plain.fen", "--json").json
        of = {entry["name"]: entry["value"] for entry in found["coefficients"]}
        predicted = self.run_tool("predict", "plain.fen", "plain.csv", "--json").json["predictions"]
        rows = [line.split(",") for line in self.read("plain.csv").decode().splitlines()[1:]]
        for row, wanted in zip(rows, predicted):
            if not row[0]:
                continue
            sum_ = found["intercept"] + of["colour = " + row[1]]
            for name, cell in (("age", row[0]), ("size", row[2]), ("twin", row[3]),
                               ("noise", row[4])):
                sum_ += of[name] * float(cell)
            self.assertAlmostEqual(sum_, wanted, 8)

    def test_several_targets_and_classes(self):
        text = self.text("fit", "data.csv", "--kernel", "linear", "--lambda", "0.01", "--target",
                         "y,z")
        found = self.run_tool("info", "data.fen", "--json").json
        self.assert_table(text, found, targets=2)
        self.assertRegex(text, r"Coefficients +y +z\n")
        text = self.text("fit", "kind.csv", "--kernel", "linear", "--lambda", "0.01")
        found = self.run_tool("info", "kind.fen", "--json").json
        self.assert_table(text, found, targets=3)
        self.assertRegex(text, r"Coefficients +a +b +c\n")

    def test_two_classes(self):
        self.write("two.csv", self.read("kind.csv").replace(b",c\n", b",a\n"))
        text = self.text("fit", "two.csv", "--kernel", "linear", "--lambda", "0.01")
        self.assert_table(text, self.run_tool("info", "two.fen", "--json").json)
        self.assertIn("above 0: in favour of b\n", text)
        self.assertLess(table_of(text)["age"][0], 0)  # the old ones are of class a

    def test_many(self):
        names = [f"a column with quite a long name {j}" for j in range(40)]
        source = random.Random(4)
        lines = [",".join(names) + ",y"]
        for _ in range(60):
            cells = [source.gauss(0, 1) for _ in names]
            lines.append(",".join(map(str, cells)) + f",{3 * cells[7] - cells[31]}")
        self.write("wide.csv", "\n".join(lines) + "\n")
        text = self.text("fit", "wide.csv", "--kernel", "linear", "--lambda", "0.1")
        self.assertEqual(len(table_of(text)), 21)
        self.assertEqual(list(table_of(text))[0], "a column wit.. long name 7")
        self.assertIn("and 20 smaller ones: fenchel info MODEL --json has all", text)
        self.assertEqual(len(self.run_tool("info", "wide.fen", "--json").json["coefficients"]), 40)

    def test_kernels_have_no_table(self):
        for text in (self.text("fit", "plain.csv", "--gamma", "0.1", "--lambda", "0.1"),
                     self.text("info", "plain.fen")):
            self.assertNotIn("Coefficients", text)
            self.assertNotIn("Terms", text)

    def test_without_scaling_there_is_one_scale(self):
        text = self.text("fit", "plain.csv", "--kernel", "linear", "--lambda", "0.01", "--scale",
                         "none")
        self.assertRegex(text, r"Coefficients +value\n")
        text = self.text("fit", "plain.csv", "--kernel", "linear", "--lambda", "0.01", "--scale",
                         "range")
        self.assertRegex(text, r"Coefficients +value +over range\n")


class PenaltyReports(Reports):
    def test_least_squares(self):
        text = self.text("fit", "plain.csv", "--penalty", "none")
        found = self.run_tool("info", "plain.fen", "--json").json
        self.assertIn("Chosen       nothing: there is no penalty", text)
        self.assertRegex(text, r"Rank +6 of \d columns: of all best coefficients the shortest")
        aliased = [entry["name"] for entry in found["coefficients"] if entry.get("aliased")]
        self.assertIn("twin", aliased)
        self.assertNotIn("colour = other", aliased)     # no row has it: it is no column
        self.assertEqual(found["columns"], len(found["coefficients"]) - 1)
        self.assertEqual(found["columns"] - len(aliased), found["rank"])
        self.assertIn(f"Rank         {found['rank']} of {found['columns']} columns", text)
        flat = " ".join(text.split())
        self.assertRegex(text, r"\n +twin .* \*\n")
        self.assertIn("* spanned by columns that stand before it in the file", text)
        self.assertIn("columns that earlier ones span: ", flat)
        self.assertIn("any coefficients is at least the dual value", flat)
        self.assert_table(text, found)
        self.assert_table(self.text("info", "plain.fen"), found)

    def test_deviations_of_features_that_are_not_scaled(self):
        """Levels and gaps are 0 or 1: value times deviation can be compared with the others."""
        rows = [line.split(",") for line in self.read("plain.csv").decode().split()[1:]]
        share = {"age is missing": sum(row[0] == "" for row in rows) / len(rows)}
        for colour in ("red", "green", "blue", "other"):
            share[f"colour = {colour}"] = sum(row[1] == colour for row in rows) / len(rows)
        for words in (("--penalty", "l1", "--lambda", "0.01"), ("--penalty", "none"),
                      ("--kernel", "linear", "--lambda", "0.01")):
            text = self.text("fit", "plain.csv", *words)
            found = self.run_tool("info", "plain.fen", "--json").json
            of = {entry["name"]: entry for entry in found["coefficients"]}
            for name, q in share.items():
                self.assertAlmostEqual(of[name]["standardised"],
                                       of[name]["value"] * math.sqrt(q * (1 - q)), places=9)
            self.assert_table(text, found)      # sorted by them
            self.run_tool("verify", "plain.fen", "plain.csv")
        self.run_tool("fit", "plain.csv", "--penalty", "l1", "--lambda", "0.01", "--scale", "none")
        for entry in self.run_tool("info", "plain.fen", "--json").json["coefficients"]:
            self.assertEqual(entry["value"], entry["standardised"])

    def test_deviations_are_verified(self):
        self.run_tool("fit", "plain.csv", "--penalty", "none")
        model = self.read("plain.fen")
        size = struct.unpack("<Q", model[:8])[0]
        header = json.loads(model[8:8 + size])
        start = 8 + size + header["deviation"]["data_offsets"][0]
        self.assertEqual(struct.unpack("<d", model[start:start + 8]), (1.0,))     # age is scaled
        for value, code in ((0.5, 1), (2.0, 3)):    # not that of the rows; not one of anything
            self.write("plain.fen", model[:start + 8] + struct.pack("<d", value) +
                       model[start + 16:])
            self.run_tool("verify", "plain.fen", "plain.csv", code=code)

    def test_classes_apart(self):
        """Without a penalty there is no best separation: the coefficients would grow for ever."""
        self.write("apart.csv", "x,k\n1,a\n2,a\n3,b\n4,b\n5,b\n")
        result = self.run_tool("fit", "apart.csv", "--penalty", "none", code=1)
        self.assertIn("take one (--penalty elastic:0.5, or --kernel linear alone)",
                      result.err)

    def test_lasso(self):
        text = self.text("fit", "plain.csv", "--penalty", "l1", "--lambda", "5")
        found = self.run_tool("info", "plain.fen", "--json").json
        nonzero = sum(entry["value"] != 0 for entry in found["coefficients"])
        self.assertEqual(nonzero, found["terms"])
        self.assertLess(nonzero, found["d"])
        self.assertIn(f"Terms        {nonzero} of {found['d']} coefficients", text)
        self.assertIn("Chosen       nothing: lambda was given", text)
        self.assertEqual(len(self.assert_table(text, found)), nonzero + 1)
        self.assertNotIn("Shrinkage", text)

    def test_groups(self):
        text = self.text("fit", "plain.csv", "--penalty", "group", "--lambda", "3")
        found = self.run_tool("info", "plain.fen", "--json").json
        groups = found["groups"]
        self.assertIn(f"{groups['active']} of {groups['count']} groups", text)
        self.assertRegex(text, r"colour = red .*  colour\n")
        self.assertEqual({entry["group"] for entry in found["coefficients"]
                          if entry["name"].startswith("age")}, {"age"})

    def test_choices(self):
        """A path that still falls at its end is a decade or two longer: 25 lambdas each."""
        for select, words in (("kfold:4", "the best of 1[025][05] by 4-fold RMSE"),
                              ("1se:4", "the largest lambda within one standard error of the best "
                                        "of 1[025][05] by 4-fold RMSE"),
                              ("aic", "the best of 1[025][05] by AIC"),
                              ("bic", "the best of 1[025][05] by BIC")):
            with self.subTest(select=select):
                text = self.text("fit", "plain.csv", "--penalty", "l1", "--select", select)
                self.assertRegex(" ".join(text.split()), words)
                found = self.run_tool("info", "plain.fen", "--json").json
                chosen = re.search(r"> +(\S+) ", text).group(1)
                self.assertAlmostEqual(float(chosen) / found["lambda"], 1, 3)
                self.assertEqual("held out" in text, "fold" in words)

    def test_one_standard_error_and_other_losses(self):
        for loss, word in (("square", "square"), ("absolute", "loss")):
            text = self.text("fit", "plain.csv", "--penalty", "l1", "--select", "1se:4", "--loss", loss)
            found = self.run_tool("info", "plain.fen", "--json").json
            least = min(found["grid"], key=lambda point: point["score"])
            self.assertIn(f"best mean {word} {least['score']:.5g} +- {least['standard_error']:.3g}, "
                          f"at lambda {least['lambda']:.3g} ({least['terms']} term", text)
            bound = least["score"] + least["standard_error"]
            self.assertIn(f"up to {bound ** 0.5 if loss == 'square' else bound:.6g} is within",
                          " ".join(text.split()))
        self.assertIn(f"Error        mean loss {found['mean_loss']:.5g} training, "
                      f"{found['score']:.5g} held out\n", text)
        said = self.run_tool("fit", "plain.csv", "--penalty", "l1", "--select", "1se", code=2).err
        self.assertIn("did you mean 1se:10?", said)

    def test_kernel_lasso(self):
        text = self.text("fit", "plain.csv", "--penalty", "l1", "--kernel", "gaussian", "--gamma",
                         "0.05", "--lambda", "0.1")
        found = self.run_tool("info", "plain.fen", "--json").json
        self.assertIn(f"{found['support']} of 90 rows have a coefficient", text)
        path = self.run_tool("path", "plain.csv", "--penalty", "l1", "--kernel", "gaussian", "--gamma",
                             "0.05", "--lambda", "0.1", "--json").json["points"][0]
        self.assertEqual(found["support"], path["terms"])
        self.assertEqual({one["name"] for one in found["coefficients"]}, set(path["coefficients"]))
        for one in found["coefficients"]:
            self.assertEqual(one["name"], f"row {one['row']}")
            self.assertAlmostEqual(one["value"], path["coefficients"][one["name"]], 5)
            self.assertIn(f"{one['name']} ", text)
        self.assertAlmostEqual(found["intercept"], path["intercept"], 5)

    def test_gamma_of_a_kernel_lasso_is_chosen_by_scores(self):
        words = ("fit", "plain.csv", "--penalty", "l1", "--kernel", "gaussian", "--lambda", "0.1")
        text = " ".join(self.text(*words).split())
        self.assertRegex(text, r"Chosen gamma \S+ by leave-one-out of ridge regression Obj")
        self.assertRegex(self.text("info", "plain.fen"), r"gamma \S+, and nothing else by scores")
        text = " ".join(self.text(*words, "--gamma", "mean").split())
        self.assertRegex(text, r'Chosen without scores: gamma \S+ by the rule "mean"')

    def test_paths_name_columns_of_a_group_once(self):
        text = self.text("path", "plain.csv", "--penalty", "group")
        self.assertIn("+colour", text)
        self.assertNotIn("colour = ", text)
        self.assertNotIn("more)", text)
        self.assertIn("+colour = ", self.text("path", "plain.csv", "--penalty", "l1"))
        found = self.run_tool("path", "plain.csv", "--penalty", "group", "--json").json
        self.assertIn("colour = red", found["features"])


class Ends(ToolTest):
    """Fits without a proof, and numbers that there are not."""

    def rows(self, label, columns=3, n=60):
        source = random.Random(2)
        lines = [",".join([f"x{j}" for j in range(columns)] + ["y"])]
        for _ in range(n):
            x = [source.gauss(0, 1) for _ in range(columns)]
            y = label(x, source)        # may change x
            lines.append(",".join(map(repr, x)) + f",{y}")
        return "\n".join(lines) + "\n"

    def test_constant_target(self):
        for value in ("3", "0.1", "100000000.1"):
            self.write("flat.csv", self.rows(lambda x, source: value))
            for words in (("--penalty", "l1"), ("--penalty", "none"),
                          ("--penalty", "l1", "--lambda", "0.1")):
                text = self.run_tool("fit", "flat.csv", *words).out
                self.assertIn("RMSE 0 training", text)
                self.assertNotIn("R2", text)
                self.assertNotIn("nan", text)
        self.assertNotIn("nan", self.run_tool("path", "flat.csv", "--penalty", "l1").out)
        self.write("zero.csv", self.rows(lambda x, source: 0))
        self.assertIn(" 0 +- 0 ", self.run_tool("select", "zero.csv", "--penalty", "l1").out)

    def test_separated_classes(self):
        """Without a penalty the logistic loss has no minimum there; others have."""
        self.write("two.csv", self.rows(lambda x, source: "yes" if x[0] > x[1] / 2 else "no"))
        self.write("three.csv", self.rows(lambda x, source: "lo" if x[0] < -0.7 else
                                          "mid" if x[0] < 0.7 else "hi"))
        self.write("mixed.csv", self.rows(lambda x, source:
                                          "yes" if x[0] > source.gauss(0, 1) else "no"))
        for data in ("two.csv", "three.csv"):
            found = self.run_tool("fit", data, "--penalty", "none", "-o", "m.fen", code=1)
            self.assertIn("a linear function separates the classes", found.err)
            self.assertIn("no minimum exists without a penalty", found.err)
            self.assertIn("a linear function separates the classes",
                          " ".join(found.out.split()))
        self.run_tool("fit", "two.csv", "--penalty", "none", "--loss", "sqhinge", "-o", "m.fen")
        self.assertNotIn("separates", self.run_tool("fit", "mixed.csv", "--penalty", "none",
                                                    "-o", "m.fen").out)

    def test_rows_beyond_an_end_of_one_class(self):
        """One column is enough for that, whatever the other rows are."""
        source = random.Random(4)
        cells = [(float(i % 9 == 0), source.gauss(0, 1)) for i in range(90)]
        labels = ["yes" if flag or x > source.gauss(0, 1) else "no" for flag, x in cells]
        rows = [f"{flag},{x!r},{y}" for (flag, x), y in zip(cells, labels)]
        self.write("flag.csv", "flag,x,y\n" + "\n".join(rows) + "\n")
        self.write("even.csv", "flag,x,y\n" + "\n".join([*rows, "1.0,0.1,no"]) + "\n")
        self.write("less.csv", "flag,x,y\n" + "\n".join(
            f"{1 - flag},{x!r},{y}" for (flag, x), y in zip(cells, labels)) + "\n")
        for data, end in (("flag.csv", "above its least"), ("less.csv", "below its largest")):
            found = self.run_tool("fit", data, "--penalty", "none", "-o", "m.fen")
            text = " ".join(found.out.split())
            self.assertIn(f'rows with "flag" {end} value are all of one class: no minimum exists '
                          "without a penalty", text)
        found = self.run_tool("fit", "even.csv", "--penalty", "none", "-o", "m.fen")
        self.assertNotIn("no minimum", found.out)

    def test_remedies(self):
        """Coefficients of 1000 that cancel in columns alike to 1e-4: the residuals, and with them
        the gap, are known to a few hundred roundings, on any processor far above 1e-17."""
        def twins(x, source):
            x[:] = [x[0] + 1e-4 * v for v in x]
            return 1e3 * sum((-1) ** j * v for j, v in enumerate(x)) + source.gauss(0, 1)
        self.write("ill.csv", self.rows(twins, 30, 200))
        words = ("fit", "ill.csv", "--penalty", "l1", "--lambda", "1e-9", "--tolerance")
        stalled = self.run_tool(*words, "1e-17", code=1).err
        self.assertIn("a larger --tolerance helps", stalled)
        gap, tolerance = re.search(r"gap of (\S+) .* tolerance is ([^;]+);", stalled).groups()
        self.assertGreater(float(gap), float(tolerance))
        self.assertIn("leaving out --engine coordinate helps",
                      self.run_tool(*words, "2e-12", "--engine", "coordinate", code=1).err)

    def test_columns_of_very_different_size(self):
        def large(x, source):
            y = x[0] + 2 * x[1] + source.gauss(0, 0.3)
            x[0] *= 1e30
            return y
        self.write("large.csv", self.rows(large))
        words = ("fit", "large.csv", "--penalty", "l1", "--lambda", "0.1")
        found = self.run_tool(*words, "--scale", "none", code=1)
        self.assertIn("leaving out --scale none helps", found.err)
        self.assertIn("columns differ in size by 30 orders of magnitude", found.out)
        self.assertNotIn("differ in size", self.run_tool(*words).out)


class Words(ToolTest):
    """What penalties are called, and null for what there is not."""

    def setUp(self):
        super().setUp()
        self.some_data("data.csv", rows=60)
        self.write("sizes.csv", "column,group\n" + "".join(f"x{j},g{j % 4}\n"
                                                           for j in range(1, 11)))
        self.write("weights.csv", "column,group,weight\n" +
                   "".join(f"x{j},g{j % 4},{1 + j % 4}\n" for j in range(1, 11)))

    def objective(self, *words):
        text = self.run_tool("fit", "data.csv", "--lambda", "0.3", *words).out
        return " ".join(text.partition("Objective")[2].partition("Terms")[0].split())

    def test_weights_of_groups(self):
        for how, says in (("sizes.csv", "a_g the root of its size"), ("auto", "a_g = 1"),
                          ("weights.csv", "a_g as given")):
            self.assertIn(f"a_g ||beta_g||, {says}", self.objective("--penalty", f"group:{how}"))
        self.assertIn("a_g = 1", self.objective("--penalty", "group:targets", "--target",
                                                "y,x10"))
        self.assertIn("sum a_j |beta_j|, a_j as given",
                      self.objective("--penalty", "l1", "--feature-weights", "x1=2"))

    def test_penalties_and_their_values(self):
        for penalty in ("l1", "elastic:0.5", "group", "group:auto", "group:sizes.csv", "none"):
            found = self.run_tool("fit", "data.csv", "--penalty", penalty, "--json", *(
                () if penalty == "none" else ("--lambda", "0.3"))).json
            self.assertEqual(found["penalty"], penalty)
            self.assertEqual(self.run_tool("info", "data.fen", "--json").json["penalty"], penalty)
            self.assertIsNone(found["norm"])
            text = self.run_tool("verify", "data.fen", "data.csv").out
            self.assertNotIn("norm", text)
            self.assertEqual("penalty/lambda" in text, penalty != "none")
            if penalty == "l1":
                self.assertAlmostEqual(found["penalty_over_lambda"],
                                       sum(abs(entry["standardised"])
                                           for entry in found["coefficients"]), places=9)
        ridge = self.run_tool("fit", "data.csv", "--kernel", "linear", "--lambda", "1",
                              "--json").json
        self.assertGreater(ridge["norm"], 0)
        self.assertNotIn("penalty_over_lambda", ridge)

    def test_null(self):
        for command in ("select", "fit"):
            found = self.run_tool(command, "data.csv", "--penalty", "l1", "--json").json
            self.assertIsNone(found["gamma"])
            for point in found["grid"]:
                self.assertIsNone(point["gamma"])
                self.assertIsInstance(point["terms"], int)
        found = self.run_tool("select", "data.csv", "--kernel", "linear", "--json").json
        self.assertIsNone(found["gamma"])
        self.assertTrue(all(point["gamma"] is None and point["power"] == 2
                            for point in found["grid"]))
        self.assertIsNone(self.run_tool("path", "data.csv", "--penalty", "l1",
                                        "--json").json["score_kind"])
        found = self.run_tool("select", "data.csv", "--penalty", "l1", "--kernel", "gaussian",
                              "--gamma", "0.1", "--json").json
        self.assertEqual({point["gamma"] for point in found["grid"]}, {0.1})


if __name__ == "__main__":
    unittest.main()
