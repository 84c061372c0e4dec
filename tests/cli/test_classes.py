"""Classes: labels of every kind, weights, probabilities, scores, what is refused."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import csv
import io
import json
import math
import random
import re
import signal
import subprocess
import time
import unittest

from tool import FENCHEL, ToolTest

USAGE, DATA = 2, 3
FIXED = ("--gamma", "0.5", "--lambda", "0.01")


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def points(count, classes, seed=1):
    """Rows (a, b, class): one cloud for each class, which touch each other."""
    draw = random.Random(seed)
    rows = []
    for i in range(count):
        k = i % classes
        angle = 2 * math.pi * k / classes
        rows.append((2 * math.cos(angle) + draw.gauss(0, 0.8),
                     2 * math.sin(angle) + draw.gauss(0, 0.8), k))
    return rows


class ClassTest(ToolTest):
    def write_rows(self, rows, labels, name="data.csv", header="a,b,kind", quote=False):
        cell = (lambda text: '"' + text.replace('"', '""') + '"') if quote else str
        lines = [f"{a:.6f},{b:.6f},{cell(labels[k])}" for a, b, k in rows]
        return self.write(name, header + "\n" + "\n".join(lines) + "\n")

    def fit(self, *options, data="data.csv", code=0):
        return self.run_tool("fit", data, *FIXED, *options, "--json", code=code).json

    def predict(self, *options, data="data.csv"):
        return rows_of(self.run_tool("predict", "data.fen", data, *options).out)


class Labels(ClassTest):
    def check(self, labels, wanted, quote=False, options=()):
        """Fitted, saved, predicted and verified; predictions are labels as written."""
        rows = points(60, len(labels))
        self.write_rows(rows, labels, quote=quote)
        fit = self.fit(*options)
        self.assertEqual([entry["label"] for entry in fit["classes"]], wanted)
        self.assertEqual(sum(entry["rows"] for entry in fit["classes"]), 60)
        self.assertEqual((fit["task"], fit["loss"]), ("classification", "logistic"))
        found = [row["prediction"] for row in self.predict()]
        truth = [wanted[sorted(range(len(labels)), key=lambda k: wanted.index(shown(labels[k])))
                        .index(k)] for _, _, k in rows]
        wrong = sum(a != b for a, b in zip(found, truth))
        self.assertAlmostEqual(fit["train_error"], wrong / 60, places=12)
        self.assertLess(wrong, 20)
        self.run_tool("verify", "data.fen", "data.csv")

    def test_text(self):
        self.check(["yes", "no"], ["no", "yes"])
        self.check(["b", "C", "a"], ["C", "a", "b"])

    def test_numbers(self):
        self.check(["1", "2"], ["1", "2"])
        self.check(["+1", "-1"], ["-1", "1"])
        self.check(["10", "9"], ["9", "10"])
        self.check(["1.50", "-0.0"], ["0", "1.5"])

    def test_quoted(self):
        self.check(['say "yes"', "a, b"], ["a, b", 'say "yes"'], quote=True)
        self.check(["gr\u00fcn", "rot", " x"], ["gr\u00fcn", "rot", " x"], quote=True)

    def test_blanks_come_back(self):
        """In quotes or not; CSV readers elsewhere count them as part of the cell."""
        for quote in (False, True):
            self.check([" red", "blue ", " a b "], [" a b ", "blue ", " red"], quote=quote)
        self.run_tool("predict", "data.fen", "data.csv", "-o", "out.csv")
        self.assertEqual({row["prediction"] for row in rows_of(self.read("out.csv").decode())},
                         {" red", "blue ", " a b "})
        self.write("data.csv", "a,b,kind\n" + "1,2,yes \r\n2,3, yes\r\n7,7, no\r\n8,8, no\r\n" * 5)
        found = self.fit()["classes"]       # spelt in two ways: the same without the blanks
        self.assertEqual([(one["label"], one["rows"]) for one in found], [(" no", 10), ("yes", 10)])
        self.write("fresh.csv", "a,b,kind\n1,2,yes\n8,8,no\n")
        self.assertEqual(self.run_tool("predict", "data.fen", "fresh.csv", "--json").json["accuracy"],
                         1)
        self.run_tool("verify", "data.fen", "data.csv")
        self.run_tool("convert", "data.csv", "same.csv")        # no labels there, blanks are layout
        self.assertIn(b",yes\n", self.read("same.csv"))

    def test_numbers_that_are_classes_when_asked(self):
        self.check(["3", "1", "2"], ["1", "2", "3"], options=("--task", "classification"))

    def test_gaps_are_left_out(self):
        rows = points(60, 2)
        text = "a,b,kind\n" + "".join(f"{a},{b},{'' if i % 5 == 0 else 'nj'[k]}\n"
                                      for i, (a, b, k) in enumerate(rows))
        self.write("data.csv", text)
        fit = self.fit()
        self.assertEqual(fit["n"], 48)
        self.assertIn("12 rows without a target left out", fit["note"])
        predicted = self.run_tool("predict", "data.fen", "data.csv")
        self.assertEqual(len(rows_of(predicted.out)), 60)
        self.assertIn("of 48 rows wrong", predicted.err)

    def test_two_values_stay_numbers_when_told(self):
        self.write_rows(points(40, 2), ["0", "1"])
        for options in (("--task", "regression"), ("--loss", "square"), ("--loss", "huber:1")):
            fit = self.fit(*options)
            self.assertEqual(fit["task"], "regression")
            self.assertNotIn("classes", fit)
        fit = self.run_tool("fit", "data.csv", "--approx", "fourier:20", *FIXED, "--json").json
        self.assertEqual(fit["task"], "regression")

    def test_the_label_is_the_last_column_of_svmlight(self):
        text = "".join(f"{'+1' if k else '-1'} 1:{a:.4f} 2:{b:.4f}\n" for a, b, k in points(50, 2))
        self.write("data.svm", text)
        fit = self.run_tool("fit", "data.svm", *FIXED, "--json").json
        self.assertEqual([entry["label"] for entry in fit["classes"]], ["-1", "1"])


def shown(label):
    """A label as the model keeps it: numbers in their shortest form."""
    try:
        value = float(label) + 0.0
        return repr(int(value)) if value == int(value) else repr(value)
    except ValueError:
        return label


class Predictions(ClassTest):
    def test_probabilities_of_two(self):
        self.write_rows(points(60, 2), ["no", "yes"])
        self.fit()
        rows = self.predict("--scores")
        self.assertEqual(list(rows[0]), ["prediction", "probability_no", "probability_yes",
                                         "score"])
        for row in rows:
            score, yes = float(row["score"]), float(row["probability_yes"])
            self.assertAlmostEqual(yes, 1 / (1 + math.exp(-score)), places=12)
            self.assertAlmostEqual(yes + float(row["probability_no"]), 1, places=12)
            self.assertEqual(row["prediction"], "yes" if score >= 0 else "no")

    def test_one_against_the_rest_and_against_one(self):
        labels = ["u", "v", "w"]
        self.write_rows(points(90, 3), labels)
        answers = {}
        for way, scores in (("ovr", ["u", "v", "w"]), ("ovo", ["v_u", "w_u", "w_v"])):
            fit = self.fit("--multiclass", way)
            self.assertEqual(len(fit["verdict"]), 3)
            self.assertEqual(set(fit["verdict"]), {"optimal"})
            rows = self.predict("--scores")
            self.assertEqual(list(rows[0]), ["prediction"] + [f"probability_{k}" for k in labels] +
                             [f"score_{name}" for name in scores])
            for row in rows:
                self.assertAlmostEqual(sum(float(row[f"probability_{k}"]) for k in labels), 1,
                                       places=9)
            if way == "ovr":
                for row in rows:
                    best = max(labels, key=lambda k: float(row[f"score_{k}"]))
                    self.assertEqual(row["prediction"], best)
                    self.assertEqual(best, max(labels, key=lambda k: float(row[f"probability_{k}"])))
            answers[way] = [row["prediction"] for row in rows]
            self.run_tool("verify", "data.fen", "data.csv")
        same = sum(a == b for a, b in zip(answers["ovr"], answers["ovo"]))
        self.assertGreater(same, 80)          # two ways to the same classes: most rows agree

    def test_pairs_are_problems_of_their_own(self):
        """ovo of three classes: the pair's score is that of a fit on the rows of the pair, with
        lambda raised by the rows that are not there (1/n stays 1/n)."""
        rows = points(90, 3)
        self.write_rows(rows, ["u", "v", "w"])
        self.fit("--multiclass", "ovo", "--scale", "none", "--tolerance", "1e-9")
        whole = self.predict("--scores")
        self.write_rows([row for row in rows if row[2] != 1], ["u", "v", "w"], name="part.csv")
        self.run_tool("fit", "part.csv", "--gamma", "0.5", "--lambda", "0.015", "--scale", "none",
                      "--tolerance", "1e-9", "-o", "part.fen")
        part = rows_of(self.run_tool("predict", "part.fen", "data.csv", "--scores").out)
        for a, b in zip(whole, part):          # a gap of 1e-9 leaves an error of its root
            self.assertAlmostEqual(float(a["score_w_u"]), float(b["score"]), delta=1e-3)

    def test_platt(self):
        self.write_rows(points(80, 2), ["no", "yes"])
        plain = self.fit("--loss", "sqhinge")
        self.assertFalse(plain["probabilities"])
        self.assertEqual(list(self.predict()[0]), ["prediction"])
        before = [row["prediction"] for row in self.predict()]
        first = self.fit("--loss", "sqhinge", "--probability")
        self.assertTrue(first["probabilities"])
        self.assertLess(first["outputs"][0]["sigmoid"][0], 0)
        rows = self.predict("--scores")
        self.assertEqual([row["prediction"] for row in rows], before)
        slope, offset = first["outputs"][0]["sigmoid"]
        for row in rows:
            self.assertAlmostEqual(float(row["probability_yes"]),
                                   1 / (1 + math.exp(slope * float(row["score"]) + offset)),
                                   places=12)
        again = self.fit("--loss", "sqhinge", "--probability")
        self.assertEqual(first["outputs"], again["outputs"])
        other = self.fit("--loss", "sqhinge", "--probability", "--seed", "2")
        self.assertNotEqual(first["outputs"], other["outputs"])

    def test_platt_under_penalties_on_coefficients(self):
        """elastic:0 is ridge with half of lambda: two ways to the same folds and sigmoids."""
        self.write_rows([(0.5 * a, 0.5 * b, k) for a, b, k in points(90, 3)], ["u", "v", "w"])
        for way in ("ovr", "ovo"):
            options = ("--loss", "sqhinge", "--probability", "--tolerance", "1e-10", "--seed", "3",
                       "--multiclass", way)
            both = [self.run_tool("fit", "data.csv", *options, *which, "--json").json["outputs"]
                    for which in (("--kernel", "linear", "--lambda", "0.05"),
                                  ("--penalty", "elastic:0", "--lambda", "0.1"))]
            for a, b in zip(*both):
                for k in range(2):
                    # refits with a kernel end at a gap of 1e-4, whose root moves scores
                    self.assertAlmostEqual(a["sigmoid"][k], b["sigmoid"][k], delta=5e-3)
        self.run_tool("verify", "data.fen", "data.csv")

    def test_quality(self):
        self.write_rows(points(60, 3), ["u", "v", "w"])
        fit = self.fit()
        found = self.run_tool("predict", "data.fen", "data.csv", "--json").json
        self.assertAlmostEqual(found["error_rate"], fit["train_error"], places=12)
        self.assertAlmostEqual(found["accuracy"] + found["error_rate"], 1, places=12)
        truth = [row["kind"] for row in rows_of(self.read("data.csv").decode())]
        loss = sum(-math.log(law[found["classes"].index(k)])
                   for law, k in zip(found["probabilities"], truth)) / 60
        self.assertAlmostEqual(found["log_loss"], loss, places=10)
        self.assertEqual(len(found["predictions"]), 60)
        text = self.run_tool("predict", "data.fen", "data.csv").err
        self.assertIn("kind: accuracy", text)
        self.assertIn("mean log loss", text)

    def test_files_without_the_target(self):
        rows = points(40, 2)
        self.write_rows(rows, ["no", "yes"])
        self.fit()
        self.write("new.csv", "b,a\n" + "".join(f"{b:.6f},{a:.6f}\n" for a, b, _ in rows))
        found = self.run_tool("predict", "data.fen", "new.csv")
        self.assertEqual(found.err, "")
        self.assertEqual(rows_of(found.out), self.predict())

    def test_a_new_label_is_wrong_and_no_error(self):
        rows = points(40, 2)
        self.write_rows(rows, ["no", "yes"])
        self.fit()
        sure = self.predict()
        self.write("new.csv", "a,b,kind\n" + "".join(
            f"{a:.6f},{b:.6f},{'perhaps' if i < 4 else row['prediction']}\n"
            for i, ((a, b, _), row) in enumerate(zip(rows, sure))))
        found = self.run_tool("predict", "data.fen", "new.csv")
        self.assertIn("4 of 40 rows wrong", found.err)
        self.assertIn("4 have a label that training did not have", found.err)
        again = self.run_tool("predict", "data.fen", "new.csv", "--json").json
        self.assertEqual((again["error_rate"], again["unknown_labels"]), (0.1, 4))

    def test_labels_of_numbers_among_others(self):
        """A column of 1 and 2 that has a word in it now is text: 1 is still 1."""
        rows = points(40, 2)
        self.write_rows(rows, ["1", "2"])
        self.fit()
        wrong = sum(row["prediction"] != "12"[k] for row, (_, _, k) in zip(self.predict(), rows))
        self.write("new.csv", "a,b,kind\n" + "".join(f"{a:.6f},{b:.6f},{'1.0 2.00'.split()[k]}\n"
                                                     for a, b, k in rows) + "1,1,none\n")
        found = self.run_tool("predict", "data.fen", "new.csv", "--text", "kind", "--json").json
        self.assertEqual(found["unknown_labels"], 1)
        self.assertAlmostEqual(found["error_rate"], (wrong + 1) / 41, places=12)

    def test_quantiles_have_columns(self):
        self.some_data(rows=60)
        self.run_tool("fit", "data.csv", *FIXED, "--loss", "pinball:0.1,0.9")
        self.assertEqual(list(self.predict()[0]), ["prediction_0.1", "prediction_0.9"])
        rows = self.predict()
        truth = [float(row["y"]) for row in rows_of(self.read("data.csv").decode())]
        below = self.run_tool("predict", "data.fen", "data.csv", "--json").json["below"]
        for share, tau in zip(below, ("0.1", "0.9")):
            self.assertAlmostEqual(share, sum(y < float(row[f"prediction_{tau}"])
                                              for y, row in zip(truth, rows)) / 60, places=12)
        self.assertIn("rows lie below", self.run_tool("predict", "data.fen", "data.csv").err)
        self.run_tool("fit", "data.csv", *FIXED, "--loss", "pinball:0.1,0.9", "--target", "x10,y")
        self.assertEqual(list(self.predict()[0]), ["prediction_x10_0.1", "prediction_x10_0.9",
                                                   "prediction_y_0.1", "prediction_y_0.9"])


class Weights(ClassTest):
    def scores(self, model):
        return [float(row["score"]) for row in
                rows_of(self.run_tool("predict", model, "data.csv", "--scores").out)]

    def test_weight_two_is_the_class_twice(self):
        rows = points(50, 2)
        self.write_rows(rows, ["no", "yes"])
        self.write_rows(rows + [row for row in rows if row[2] == 1], ["no", "yes"], name="twice.csv")
        same = ("--scale", "none", "--tolerance", "1e-10")
        weighted = self.fit("--class-weights", "yes=2", *same)
        doubled = self.run_tool("fit", "twice.csv", *FIXED, *same, "--json").json
        self.assertAlmostEqual(weighted["primal"], doubled["primal"], delta=1e-9)
        self.assertEqual([entry["weight"] for entry in weighted["classes"]], [1, 2])
        for a, b in zip(self.scores("data.fen"), self.scores("twice.fen")):
            self.assertAlmostEqual(a, b, delta=1e-4)     # root of the gap
        self.run_tool("verify", "data.fen", "data.csv")

    def test_balanced(self):
        rows = [row for i, row in enumerate(points(90, 2)) if row[2] == 0 or i % 3 == 0]
        few = sum(row[2] for row in rows)
        self.write_rows(rows, ["no", "yes"])
        n = len(rows)
        balanced = self.fit("--class-weights", "balanced")
        by_hand = self.fit("--class-weights", f"no={n / 2 / (n - few)!r},yes={n / 2 / few!r}")
        self.assertAlmostEqual(balanced["primal"], by_hand["primal"], delta=1e-12)
        self.assertAlmostEqual(balanced["classes"][1]["weight"], n / 2 / few, places=12)

    def test_refused(self):
        self.write_rows(points(30, 2), ["no", "yes"])
        for weights, code, says in (
                ("maybe=2", DATA, ['"kind" has no class "maybe"', '"no", "yes"']),
                ("yes", USAGE, ["LABEL=WEIGHT", '"yes"']),
                ("yes=0", USAGE, ["greater than 0"]),
                ("yes=-1", USAGE, ["greater than 0"]),
                ("yes=x", USAGE, ["greater than 0"])):
            self.refuse("fit", "data.csv", *FIXED, "--class-weights", weights, code=code, says=says)
        self.some_data()
        self.refuse("fit", "data.csv", *FIXED, "--class-weights", "balanced", code=USAGE,
                    says=["--class-weights", "no classes"])


class Refused(ClassTest):
    def test_one_class_only(self):
        self.write("data.csv", "a,kind\n1,yes\n2,yes\n3,\n4,yes\n")
        self.refuse("fit", "data.csv", code=DATA,
                    says=["data.csv", '"kind"', "one class only", '"yes"'])
        self.write("data.csv", "a,kind\n1,4\n2,4\n4,4\n")
        self.refuse("fit", "data.csv", "--task", "classification", code=DATA,
                    says=["one class only", '"4"'])

    def test_labels_that_a_margin_loss_cannot_take(self):
        self.write("data.csv", "a,y\n1,1\n2,2\n3,3\n4,1\n5,2\n")
        for loss in ("hinge", "sqhinge", "logistic"):
            self.refuse("fit", "data.csv", "--loss", loss, "--task", "regression", code=USAGE,
                        says=[loss, "--task classification"])
            self.refuse("fit", "data.csv", "--loss", loss, code=USAGE,
                        says=[loss, "--task classification"])

    def test_several_targets(self):
        self.write("data.csv", "a,y,z\n1,1,u\n2,2,v\n3,3,u\n4,1,v\n")
        self.refuse("fit", "data.csv", "--target", "y,z", code=USAGE,
                    says=["one target, not 2", '"z"'])
        self.refuse("fit", "data.csv", "--target", "a,y", "--task", "classification", code=USAGE,
                    says=["one target, not 2"])

    def test_too_many_classes(self):
        self.write("data.csv", "a,y\n" + "".join(f"{i % 7},{i}\n" for i in range(1100)))
        self.refuse("fit", "data.csv", "--task", "classification", code=DATA,
                    says=['"y"', "more than 1000 different values"])

    def test_text_for_numbers(self):
        self.write("data.csv", "a,y\n1,u\n2,v\n3,u\n")
        self.refuse("fit", "data.csv", "--task", "regression", code=DATA, says=['"y"', "text"])
        self.refuse("fit", "data.csv", "--approx", "fourier:20", code=DATA, says=['"y"', "text"])
        self.refuse("fit", "data.csv", "--approx", "fourier:20", "--task", "classification",
                    code=USAGE, says=["--approx is for regression"])

    def test_what_is_for_classes(self):
        self.some_data(rows=30)
        self.refuse("fit", "data.csv", "--probability", code=USAGE,
                    says=["--probability is for classes"])
        self.run_tool("fit", "data.csv", *FIXED)
        self.refuse("predict", "data.fen", "data.csv", "--scores", code=USAGE,
                    says=["data.fen", "--scores is for classes"])
        self.refuse("fit", "data.csv", "--nu", "0", "--task", "one-class", code=USAGE,
                    says=["--nu"])

    def test_prices(self):
        self.some_data(rows=30)
        self.refuse("fit", "data.csv", "--nu", "0.5", "--loss", "square", code=USAGE,
                    says=["--nu", "square"])
        self.refuse("fit", "data.csv", "--nu", "1.5", code=USAGE, says=["--nu", "at most 1"])
        self.refuse("fit", "data.csv", "--nu", "0.5", "--loss", "eps:0.1", code=USAGE,
                    says=["--loss eps"])
        self.refuse("fit", "data.csv", "--nu", "0.5", "--power", "3", code=USAGE,
                    says=["--nu", "power"])


class OneClass(ClassTest):
    def test_inside_and_outside(self):
        draw = random.Random(3)
        rows = [(draw.gauss(0, 1), draw.gauss(0, 1)) for _ in range(100)]
        self.write("data.csv", "a,b\n" + "".join(f"{a:.6f},{b:.6f}\n" for a, b in rows))
        fit = self.run_tool("fit", "data.csv", "--task", "one-class", "--nu", "0.1", *FIXED,
                            "--json").json
        self.assertEqual((fit["task"], fit["loss"], fit["nu"]), ("one-class", "hinge", 0.1))
        self.assertEqual(fit["verdict"], "optimal")
        # at most nu of the rows lie strictly outside; those on the edge are within rounding of it
        self.write("new.csv", "a,b\n0,0\n9,9\n")
        found = rows_of(self.run_tool("predict", "data.fen", "new.csv", "--scores").out)
        self.assertEqual([row["prediction"] for row in found], ["1", "-1"])
        self.assertGreater(float(found[0]["score"]), 0)
        scores = [float(row["score"]) for row in
                  rows_of(self.run_tool("predict", "data.fen", "data.csv", "--scores").out)]
        edge = 1e-3 * max(map(abs, scores))
        self.assertLessEqual(sum(score < -edge for score in scores), 10)
        self.assertGreaterEqual(sum(score < edge for score in scores), 10)
        self.run_tool("verify", "data.fen", "data.csv")
        self.assertIn("Outside", self.run_tool("fit", "data.csv", "--task", "one-class", "--nu",
                                               "0.1", *FIXED).out)

    def test_a_target_is_left_out(self):
        self.write_rows(points(40, 2), ["no", "yes"])
        fit = self.run_tool("fit", "data.csv", "--task", "one-class", "--nu", "0.2", "--target",
                            "kind", *FIXED, "--json").json
        self.assertEqual((fit["inputs"], fit["d"]), (2, 2))


class Agreement(ClassTest):
    """Labels, probabilities and error rates tell one story."""
    def check_agreement(self, labels, *options, fixed=FIXED):
        fit = self.run_tool("fit", "data.csv", *fixed, *options, "--json").json
        found = self.run_tool("predict", "data.fen", "data.csv", "--json").json
        for said, law in zip(found["predictions"], found["probabilities"]):
            self.assertEqual(law[labels.index(said)], max(law))
        # both count the rows: in the sum of n shares 1/n rounding errors are below 1e-12
        self.assertAlmostEqual(fit["train_error"], found["error_rate"], delta=1e-12)
        self.assertAlmostEqual(found["error_rate"] + found["accuracy"], 1, delta=1e-12)
        self.run_tool("verify", "data.fen", "data.csv")

    def test_the_label_is_the_most_probable(self):
        self.write_rows([(0.4 * a, 0.4 * b, k) for a, b, k in points(120, 4)], list("abcd"))
        for options in (("--loss", "hinge", "--probability"), ("--loss", "logistic")):
            for multiclass in ("ovr", "ovo"):
                self.check_agreement(list("abcd"), "--multiclass", multiclass, *options)

    def test_of_two_as_well(self):
        self.write_rows([(0.3 * a, 0.3 * b, k) for a, b, k in points(90, 2)], ["no", "yes"])
        self.check_agreement(["no", "yes"], "--loss", "hinge", "--probability")

    def test_platt_of_a_lasso_and_a_kernel_lasso(self):
        self.write_rows([(0.5 * a, 0.5 * b, k) for a, b, k in points(90, 2)], ["no", "yes"])
        for options in (("--penalty", "l1"), ("--penalty", "none"), ("--penalty", "group"),
                        ("--penalty", "l1", "--kernel", "gaussian", "--gamma", "0.5",
                         "--lambda", "0.01")):
            self.check_agreement(["no", "yes"], *options, "--loss", "hinge", "--probability", fixed=())

    def test_class_weights_do_not_count_errors(self):
        self.write_rows([(0.3 * a, 0.3 * b, k) for a, b, k in points(90, 2)], ["no", "yes"])
        self.check_agreement(["no", "yes"], "--class-weights", "yes=20")

    def test_the_sum_of_the_weights_is_no_number_of_rows(self):
        rows = points(60, 2)
        for name, weight in (("one.csv", "1"), ("small.csv", "0.001")):
            self.write(name, "a,b,kind,w\n" + "".join(f"{a:.5f},{b:.5f},{'ny'[k]},{weight}\n"
                                                      for a, b, k in rows))
        laws = []
        for name in ("one", "small"):
            self.run_tool("fit", f"{name}.csv", *FIXED, "--weights", "w", "--loss", "hinge",
                          "--probability", "--tolerance", "1e-10", "--quiet")
            found = self.run_tool("predict", f"{name}.fen", "one.csv", "--json").json
            laws.append([law[0] for law in found["probabilities"]])
        for one, other in zip(*laws):
            self.assertAlmostEqual(one, other, delta=1e-4)   # refits have gaps of 1e-4

    def test_error_rates_stand_beside_scores(self):
        self.write_rows(points(80, 3), ["u", "v", "w"])
        words = ("data.csv", "--gamma", "0.1:1:2", "--lambda", "0.001:0.1:3")
        fit = self.run_tool("fit", *words, "--json").json
        table = self.run_tool("select", *words, "--json").json
        self.assertEqual([point["error_rate"] for point in fit["grid"]],
                         [point["error_rate"] for point in table["grid"]])
        best = min(fit["grid"], key=lambda point: point["score"])
        self.assertEqual((fit["score"], fit["error_rate"]), (best["score"], best["error_rate"]))
        self.assertEqual(self.run_tool("info", "data.fen", "--json").json["error_rate"],
                         fit["error_rate"])
        text = " ".join(self.run_tool("fit", *words).out.split())
        self.assertIn(f"{100 * fit['error_rate']:.4g} % held out", text)

    def test_no_sigmoid_falls_with_the_score(self):
        """Labels by chance in equal numbers: what is held out is guessed wrong more often."""
        cut = 0
        for seed in range(4):
            draw = random.Random(seed)
            self.write_rows([(draw.gauss(0, 1), draw.gauss(0, 1), i % 2) for i in range(30)],
                            ["no", "yes"])
            fit = self.fit("--loss", "hinge", "--probability")
            self.assertLessEqual(fit["outputs"][0]["sigmoid"][0], 0)
            cut += fit["outputs"][0]["sigmoid"][0] == 0
            self.check_agreement(["no", "yes"], "--loss", "hinge", "--probability")
        self.assertGreater(cut, 0)

    def test_few_rows_have_probabilities(self):
        self.write("data.csv", "a,b,kind\n1,2,no\n2,1,yes\n3,4,yes\n")
        for options in ((), ("--gamma", "1", "--lambda", "0.1")):
            self.run_tool("fit", "data.csv", "--loss", "hinge", "--probability", *options,
                          "--quiet")
            self.assertEqual(len(self.predict()), 3)


class MixedLabels(ClassTest):
    def test_numbers_among_text(self):
        self.write_rows(points(40, 4), ["1", "1.0", "2", "no"])
        fit = self.fit("--task", "classification")
        self.assertEqual([(entry["label"], entry["rows"]) for entry in fit["classes"]],
                         [("1", 20), ("2", 10), ("no", 10)])
        self.run_tool("verify", "data.fen", "data.csv")
        self.assertEqual({row["prediction"] for row in self.predict()}, {"1", "2", "no"})

    def test_an_unseen_word_is_a_mistake(self):
        self.write_rows(points(40, 2), ["1", "2"])
        self.fit()
        self.write_rows(points(40, 4), ["1", "2", "2.0", "none"], name="new.csv")
        found = self.run_tool("predict", "data.fen", "new.csv", "--json").json
        self.assertEqual(found["unknown_labels"], 10)
        self.write("bare.csv", "a,b\n1,2\n")              # no column of labels: no matter
        self.assertEqual(len(self.predict(data="bare.csv")), 1)


class WeightLists(ClassTest):
    def test_quoted_labels(self):
        self.write_rows(points(40, 2), ['a, "b"=1', "c"], quote=True)
        fit = self.fit("--class-weights", '"a, ""b""=1"=3, c = 1/2')
        self.assertEqual([entry["weight"] for entry in fit["classes"]], [3, 0.5])

    def test_what_is_refused(self):
        self.write_rows(points(40, 2), ["a", "b"])
        for given, says in (("a=1,a=2", "twice"), (",", "LABEL=WEIGHT"), ("a=1,", "LABEL=WEIGHT"),
                            ("a=1,b", '"b"'), ('"a=1', "no class")):
            code = DATA if says == "no class" else USAGE
            self.refuse("fit", "data.csv", *FIXED, "--class-weights", given, code=code,
                        says=["--class-weights", says])

    def test_losses_of_numbers_get_the_right_sentence(self):
        self.write_rows(points(40, 3), ["a", "b", "c"])
        for loss in ("eps", "pinball:0.1,0.9"):
            self.refuse("fit", "data.csv", "--multiclass", "ovo", "--loss", loss, code=USAGE,
                        says=["is for numbers", "hinge"])


class Report(ClassTest):
    def test_report_for_people(self):
        self.write_rows(points(60, 3), ["u", "v", "w"])
        text = self.run_tool("fit", "data.csv").out
        for part in ("target kind", "u (20 rows), v (20), w (20)", "logistic", "Certificate",
                     "of the training rows are taken for another class", "fenchel predict"):
            self.assertIn(part, " ".join(text.split()))
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        self.assertIn("Classes", self.run_tool("info", "data.fen").out)

    def test_many_outputs_show_the_worst(self):
        self.write_rows(points(80, 8), list("abcdefgh"))
        text = self.run_tool("fit", "data.csv", *FIXED, "--multiclass", "ovo").out
        self.assertIn("the one with the largest gap of 28", text)
        self.assertLessEqual(len(text.splitlines()), 25)

    def test_the_largest_gap_is_one(self):
        """The sentence of a fit that was ended is about the output that the report shows."""
        draw = random.Random(2)
        self.write("data.csv", "a,b,kind\n" + "".join(
            f"{draw.gauss(0, 1):.4f},{draw.gauss(0, 1):.4f},c{i % 8}\n" for i in range(800)))
        found = self.run_tool("fit", "data.csv", "--loss", "hinge", "--gamma", "1", "--lambda",
                              "1e-9", "--tolerance", "1e-15", "--time-limit", "0.5", code=1)
        shown, = re.findall(r"^ +(c\d) .* (\S+)  \w+\n +the one with the largest gap of 8",
                            found.out, re.M)
        said = re.search(r"a relative gap of (\S+) for target (c\d)", found.err)
        self.assertEqual((said.group(2), said.group(1)), shown)

    def test_a_limit_leaves_a_model(self):
        self.write_rows(points(1500, 2), ["no", "yes"])
        found = self.run_tool("fit", "data.csv", "--loss", "hinge", "--gamma", "0.5", "--lambda",
                              "1e-9", "--tolerance", "1e-12", "--time-limit", "0.001", "--json",
                              code=1)
        self.assertIn("--time-limit", found.err)
        if "data.fen" in self.files():     # ended within the fit, not before it
            self.assertEqual(found.json["verdict"], "limit")
            self.assertEqual(len(self.predict()), 1500)

    def test_an_interruption_leaves_a_model(self):
        """Ctrl-C while it is solved: the answer so far is saved, and the exit code is 130."""
        draw = random.Random(5)
        self.write("data.csv", "a,b,kind\n" + "".join(
            f"{draw.gauss(0, 1):.5f},{draw.gauss(0, 1):.5f},{draw.choice('yn')}\n"
            for _ in range(1500)))
        words = [FENCHEL, "fit", "data.csv", "--loss", "hinge", "--gamma", "1", "--lambda", "1e-12",
                 "--tolerance", "1e-13", "--quiet", "--json"]
        running = subprocess.Popen(words, cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        time.sleep(1)                     # it needs many times as long
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=300)
        self.assertEqual(running.returncode, 130, err)
        self.assertIn("interrupted", err)
        self.assertNotIn("stopping", err)  # a remark, which --quiet leaves out
        if "data.fen" in self.files():    # within the fit, not before it
            self.assertEqual(json.loads(out)["verdict"], "interrupted")
            self.assertEqual(len(self.predict()), 1500)


if __name__ == "__main__":
    unittest.main()
