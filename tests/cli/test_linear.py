"""Fits with penalties on coefficients: certified answers, what the model file keeps, units of
lambda, and input that is wrong or hard, each with one sentence or an answer that is proved."""
import json
import math
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tool import ToolTest  # noqa: E402

UNPROVED, USAGE, DATA, FILES, MEMORY = 1, 2, 3, 4, 5


class Linear(ToolTest):
    """numbers.csv: y = 3 a - 2 b + c + noise, columns d to h say nothing; classes.csv: its sign."""

    def setUp(self):
        super().setUp()
        source = random.Random(5)
        names = "a,b,c,d,e,f,g,h"
        numbers, classes = [names + ",y"], [names + ",kind"]
        for _ in range(80):
            x = [source.gauss(0, 1) for _ in range(8)]
            y = 3 * x[0] - 2 * x[1] + x[2] + source.gauss(0, 0.5)
            cells = ",".join(f"{value:.6f}" for value in x)
            numbers.append(f"{cells},{y:.6f}")
            classes.append(f"{cells},{'yes' if y + source.gauss(0, 1) > 0 else 'no'}")
        self.write("numbers.csv", "\n".join(numbers) + "\n")
        self.write("classes.csv", "\n".join(classes) + "\n")

    def fit(self, data, *options, model=None, **more):
        words = ["-o", model] if model else []
        return self.run_tool("fit", data, "--json", "--quiet", *options, *words, **more).json

    def refuse_fit(self, data, *options, says, code=USAGE):
        self.refuse("fit", data, "--quiet", *options, code=code, says=says)

    def assert_proved(self, found):
        verdicts = found["verdict"] if isinstance(found["verdict"], list) else [found["verdict"]]
        gaps = found["relative_gap"]
        self.assertEqual(set(verdicts), {"optimal"})
        self.assertLessEqual(max(gaps if isinstance(gaps, list) else [gaps]), found["tolerance"])

    def assert_verified(self, model, data):
        self.assertIn("holds", self.run_tool("verify", model, data).out)

    def coefficients(self, found):
        return {entry["name"]: entry["value"] for entry in found["coefficients"]}


class Fits(Linear):
    def test_every_penalty_with_every_loss(self):
        """Each is proved, saved, verified and predicts what its own JSON says."""
        for penalty in ("none", "l1", "elastic:0.4", "group", "group:prefix:_"):
            given = [] if penalty == "none" else ["--lambda", "0.05"]
            for data, losses in (("numbers.csv", ("square", "huber:1", "absolute", "pinball:0.2",
                                                  "eps:0.1", "sqeps:0.1")),
                                 ("classes.csv", ("logistic", "hinge", "sqhinge"))):
                for loss in losses:
                    found = self.fit(data, "--penalty", penalty, "--loss", loss, *given,
                                     model="m.fen")
                    self.assert_proved(found)
                    self.assertEqual(found["penalty"], penalty)
                    self.assertEqual(found["kernel"], "linear")
                    self.assert_verified("m.fen", data)
                    os.remove(self.path("m.fen"))

    def test_predictions_are_the_coefficients(self):
        found = self.fit("numbers.csv", "--penalty", "l1", "--lambda", "0.2", model="m.fen")
        self.run_tool("predict", "m.fen", "numbers.csv", "-o", "p.csv", "--quiet")
        values = self.coefficients(found)
        rows = [line.split(",") for line in self.read("numbers.csv").decode().split()]
        for row, line in zip(rows[1:], self.read("p.csv").decode().split()[1:]):
            wanted = found["intercept"] + sum(values[name] * float(cell)
                                              for name, cell in zip(rows[0], row[:-1]))
            self.assertAlmostEqual(float(line.split(",")[0]), wanted, places=9)

    def test_lambda_beyond_the_largest_leaves_nothing(self):
        found = self.fit("numbers.csv", "--penalty", "l1", "--lambda", "1e9")
        self.assert_proved(found)
        self.assertEqual(found["terms"], 0)
        self.assertAlmostEqual(found["primal"] / found["null"], 1, places=12)

    def test_selection(self):
        """The one-standard-error rule never has more terms than the least score."""
        terms = {}
        for select in ("auto", "kfold:5", "1se:5", "aic", "bic"):
            found = self.fit("numbers.csv", "--penalty", "l1", "--select", select)
            self.assert_proved(found)
            self.assertEqual(found["score_kind"], "kfold:10" if select == "auto" else select)
            self.assertIn(found["lambda"], [point["lambda"] for point in found["grid"]])
            terms[select] = found["terms"]
            self.assertGreaterEqual(found["terms"], 3)
        self.assertLessEqual(terms["1se:5"], terms["kfold:5"])
        self.assertLessEqual(terms["bic"], terms["aic"])

    def test_nonnegative(self):
        for penalty, given in (("l1", ["--lambda", "0.1"]), ("elastic:0.3", ["--lambda", "0.1"]),
                               ("none", [])):
            found = self.fit("numbers.csv", "--penalty", penalty, "--nonnegative", *given)
            self.assert_proved(found)
            self.assertTrue(found["nonnegative"])
            values = self.coefficients(found)
            self.assertGreaterEqual(min(values.values()), 0)
            self.assertEqual(values["b"], 0)
            self.assertGreater(values["a"], 2)

    def test_feature_weights(self):
        """An unpenalised column stays however large lambda is; a dear one leaves before others."""
        found = self.fit("numbers.csv", "--penalty", "l1", "--lambda", "1e6", "--feature-weights",
                         "h=0")
        self.assert_proved(found)
        self.assertEqual([name for name, value in self.coefficients(found).items() if value],
                         ["h"])
        self.assertIn("1 coefficient is not penalised", found["note"])
        found = self.fit("numbers.csv", "--penalty", "l1", "--lambda", "0.1", "--feature-weights",
                         "a=1e6")
        self.assertEqual(self.coefficients(found)["a"], 0)
        self.assertNotEqual(self.coefficients(found)["b"], 0)

    def test_sample_weights_count_as_repetitions(self):
        lines = self.read("numbers.csv").decode().split()
        self.write("twice.csv", "\n".join(lines + lines[1:11]) + "\n")
        weighted = [lines[0] + ",w"] + [f"{line},{2 if i < 10 else 1}"
                                        for i, line in enumerate(lines[1:])]
        self.write("weighted.csv", "\n".join(weighted) + "\n")
        for penalty in ("l1", "elastic:0.5", "group"):
            options = ["--penalty", penalty, "--lambda", "0.1", "--tolerance", "1e-10"]
            a = self.fit("twice.csv", *options)
            b = self.fit("weighted.csv", "--target", "y", "--weights", "w", *options)
            self.assertAlmostEqual(a["primal"], b["primal"], places=9)

    def test_units_of_lambda(self):
        ours = self.fit("numbers.csv", "--penalty", "l1", "--lambda", "0.3")["primal"]
        for program in ("sklearn", "glmnet"):
            theirs = self.fit("numbers.csv", "--penalty", "l1", "--lambda", "0.15", "--as", program)
            self.assertEqual(theirs["lambda"], 0.3)
            self.assertEqual(theirs["primal"], ours)
        theirs = self.fit("numbers.csv", "--penalty", "elastic:0.3", "--lambda", "0.15", "--as",
                          "sklearn")
        self.assertEqual(theirs["lambda"], 0.3)
        for penalty in ("l1", "elastic:0.5"):
            theirs = self.fit("classes.csv", "--penalty", penalty, "--lambda", "0.05", "--as",
                              "glmnet")
            self.assertEqual(theirs["lambda"], 0.05)
        for data, penalty, program in (("numbers.csv", "elastic:0.3", "glmnet"),
                                       ("numbers.csv", "group", "sklearn"),
                                       ("numbers.csv", "rkhs", "glmnet"),
                                       ("numbers.csv", "l1", "libsvm"),
                                       ("classes.csv", "l1", "sklearn")):
            self.refuse_fit(data, "--penalty", penalty, "--lambda", "0.1", "--as", program,
                            says=["--as " + program, "give lambda in ours"])

    def test_classes(self):
        found = self.fit("classes.csv", "--penalty", "l1", model="m.fen")
        self.assertEqual(found["loss"], "logistic")
        self.assertTrue(found["probabilities"])
        self.assertLess(found["train_error"], 0.3)
        self.assert_verified("m.fen", "classes.csv")

    def test_row_groups_of_several_targets(self):
        lines = self.read("numbers.csv").decode().split()
        both = [lines[0] + ",z"] + [f"{line},{2 * float(line.split(',')[1]):.6f}"
                                    for line in lines[1:]]
        self.write("two.csv", "\n".join(both) + "\n")
        found = self.fit("two.csv", "--target", "y,z", "--penalty", "group:targets", "--lambda",
                         "0.5", model="m.fen")
        self.assert_proved(found)
        self.assertEqual(found["groups"]["count"], 8)
        values = [entry["value"] for entry in found["coefficients"]]
        self.assertEqual(sum(any(pair) for pair in values), found["groups"]["active"])
        self.assertTrue(all(all(pair) or not any(pair) for pair in values))
        self.assertEqual(found["primal"][0], found["primal"][1])
        self.assertAlmostEqual(sum(found["mean_loss"]) + 0.5 * found["penalty_over_lambda"][0],
                               found["primal"][0], places=9)
        fitted = {entry["name"]: entry["value"] for entry in found["coefficients"]}
        rows = [line.split(",") for line in both]
        for t, target in enumerate(("y", "z")):     # each target has a loss of its own
            at = rows[0].index(target)
            left = [float(row[at]) - found["intercept"][t]
                    - sum(float(cell) * fitted[name][t] for name, cell in zip(rows[0], row)
                          if name in fitted) for row in rows[1:]]
            loss = sum(r * r for r in left) / len(left)
            self.assertAlmostEqual(found["mean_loss"][t], loss, delta=1e-9 * loss)
            self.assertAlmostEqual(found["train_rmse"][t] ** 2, loss, delta=1e-9 * loss)
        text = self.run_tool("info", "m.fen").out
        self.assertIn(f"y: RMSE {found['train_rmse'][0]:.5g} training", text)
        self.assertIn(f"z: RMSE {found['train_rmse'][1]:.5g} training", text)
        self.assert_verified("m.fen", "two.csv")
        self.refuse_fit("numbers.csv", "--penalty", "group:targets", "--loss", "pinball:0.1,0.9",
                        "--lambda", "0.1", says=["group:targets", "one parameter of the loss"])
        for loss in ("huber:auto", "eps:auto"):
            self.refuse_fit("two.csv", "--target", "y,z", "--penalty", "group:targets", "--loss",
                            loss, says=["auto makes one", "every target", "write a number"])


class Choices(Linear):
    def test_ties_of_labels_without_noise(self):
        """Scores are rounding errors of the labels, among which the largest lambda is chosen."""
        source = random.Random(4)
        rows = [[source.uniform(-1, 1) for _ in range(3)] for _ in range(40)]
        self.write("exact.csv", "a,b,c,y\n" + "".join(
            ",".join(map(repr, x)) + f",{3000 * x[0] - 2000 * x[1]!r}\n" for x in rows))
        for loss in ("absolute", "pinball:0.3", "eps:0", "square"):
            for select in ("kfold:10", "1se:10", "loo"):
                self.fit("exact.csv", "--penalty", "l1", "--loss", loss, "--select", select,
                         model="m.fen")
                self.assert_verified("m.fen", "exact.csv")

    def test_the_same_column_three_times(self):
        """Criteria count it once: its fits, and so the choice, are those of the column alone."""
        lines = self.read("numbers.csv").decode().split()
        self.write("thrice.csv", "\n".join(
            [",".join(f"{name}{k}" for k in range(2) for name in lines[0].split(",")[:-1]) + ","
             + lines[0]] + [",".join(2 * line.split(",")[:-1]) + "," + line for line in lines[1:]])
            + "\n")
        for select in ("aic", "bic"):
            once, thrice = [self.fit(name, "--penalty", "l1", "--select", select)["lambda"]
                            for name in ("numbers.csv", "thrice.csv")]
            self.assertAlmostEqual(once / thrice, 1, 6)


class KernelLasso(Linear):
    def test_terms_are_rows(self):
        for loss in ("square", "eps:0.1", "huber:1"):
            found = self.fit("numbers.csv", "--penalty", "l1", "--kernel", "gaussian", "--loss",
                             loss, "--gamma", "0.05", "--lambda", "0.01", model="m.fen")
            self.assert_proved(found)
            self.assertEqual(found["terms"], found["support"])
            self.assertLess(found["support"], 80)
            self.assert_verified("m.fen", "numbers.csv")
            self.run_tool("predict", "m.fen", "numbers.csv", "-o", "p.csv", "--quiet")
            os.remove(self.path("m.fen"))

    def test_one_norm_machine(self):
        found = self.fit("classes.csv", "--penalty", "l1", "--kernel", "gaussian", "--loss",
                         "hinge", "--gamma", "mean", "--lambda", "0.003")
        self.assert_proved(found)
        self.assertLess(found["terms"], 80)
        self.assertLess(found["train_error"], 0.3)

    def test_gamma_by_ridge_regression(self):
        found = self.fit("numbers.csv", "--penalty", "l1", "--kernel", "gaussian", "--lambda",
                         "0.001")
        self.assert_proved(found)
        self.assertIn("gamma by leave-one-out of ridge regression", found["note"])
        self.refuse_fit("numbers.csv", "--penalty", "l1", "--kernel", "gaussian", "--gamma",
                        "0.1,1", "--lambda", "0.1", "--select", "none", says=["several", "gamma"])

    def test_precomputed(self):
        rows = [[float(cell) for cell in line.split(",")]
                for line in self.read("numbers.csv").decode().split()[1:41]]
        lines = [",".join([f"k{i}" for i in range(40)] + ["y"])]
        for x in rows:
            lines.append(",".join(repr(math.exp(-0.05 * sum((p - q) ** 2 for p, q in
                                                              zip(x[:8], z[:8])))) for z in rows)
                         + f",{x[8]}")
        self.write("kernel.csv", "\n".join(lines) + "\n")
        self.write("part.csv", "\n".join(self.read("numbers.csv").decode().split()[:41]) + "\n")
        by_matrix = self.fit("kernel.csv", "--penalty", "l1", "--kernel", "precomputed",
                             "--lambda", "0.01", "--tolerance", "1e-9", model="m.fen")
        by_rows = self.fit("part.csv", "--penalty", "l1", "--kernel", "gaussian", "--gamma",
                           "0.05", "--scale", "none", "--lambda", "0.01", "--tolerance", "1e-9")
        self.assert_proved(by_matrix)
        self.assertAlmostEqual(by_matrix["primal"], by_rows["primal"], places=8)
        self.assert_verified("m.fen", "kernel.csv")


class Sparse(Linear):
    WIDE = 1000000

    def wide(self, name, rows=120):
        source = random.Random(9)
        lines = []
        for _ in range(rows):
            cells = {j: source.gauss(0, 1) for j in range(1, 6)}
            cells.update({source.randrange(6, self.WIDE): source.gauss(0, 1) for _ in range(10)})
            cells[source.randrange(6, 40)] = 1
            y = 3 * cells[1] - 2 * cells[2] + source.gauss(0, 0.3)
            lines.append(f"{y:.6f} " + " ".join(f"{j}:{cells[j]:.6f}" for j in sorted(cells)))
        return self.write(name, "\n".join(lines) + "\n")

    def test_a_million_columns(self):
        """The model keeps the columns that it uses; verify looks at all of them."""
        self.wide("wide.svm")
        found = self.fit("wide.svm", "--penalty", "l1", "--lambda", "0.2", model="m.fen")
        self.assert_proved(found)
        self.assertGreater(found["d"], 1000)
        self.assertEqual(found["inputs"], found["terms"])
        self.assertLess(os.path.getsize(self.path("m.fen")), 20000)
        self.assert_verified("m.fen", "wide.svm")
        self.run_tool("predict", "m.fen", "wide.svm", "-o", "p.csv", "--quiet")
        again = self.run_tool("info", "m.fen", "--json").json
        self.assertEqual(again["terms"], found["terms"])
        self.assertEqual(again["d"], found["d"])

    def test_weights_of_columns_stay(self):
        self.wide("wide.svm")
        found = self.fit("wide.svm", "--penalty", "l1", "--lambda", "0.2", "--feature-weights",
                         "x3=0,x4=5", model="m.fen")
        self.assert_proved(found)
        self.assertNotEqual(self.coefficients(found)["x3"], 0)
        self.assert_verified("m.fen", "wide.svm")

    def test_dense_and_sparse_agree(self):
        """Sparse columns are not centred, but with a bias that does not matter to the lasso."""
        rows = [line.split(",") for line in self.read("numbers.csv").decode().split()[1:]]
        self.write("same.svm", "".join(
            row[8] + " " + " ".join(f"{j + 1}:{cell}" for j, cell in enumerate(row[:8])) + "\n"
            for row in rows))
        for penalty in ("l1", "elastic:0.3"):
            options = ["--penalty", penalty, "--lambda", "0.1", "--scale", "none", "--tolerance",
                       "1e-10"]
            dense = self.fit("numbers.csv", *options)
            sparse = self.fit("same.svm", *options)
            self.assertAlmostEqual(dense["primal"], sparse["primal"], places=9)
            self.assertEqual(dense["terms"], sparse["terms"])

    def test_values_that_are_none(self):
        for word in ("nan", "inf"):
            self.write("bad.svm", f"1 1:2 3:1\n2 2:{word}\n3 1:1\n")
            self.refuse_fit("bad.svm", "--penalty", "l1", says=["bad.svm:2", word], code=DATA)


class LeastSquares(Linear):
    def test_more_columns_than_rows(self):
        """Minimum norm, and the rank is said."""
        source = random.Random(1)
        lines = [",".join([f"x{j}" for j in range(30)] + ["y"])]
        lines += [",".join(f"{source.gauss(0, 1):.6f}" for _ in range(31)) for _ in range(12)]
        self.write("wide.csv", "\n".join(lines) + "\n")
        found = self.fit("wide.csv", "--penalty", "none", model="m.fen")
        self.assert_proved(found)
        self.assertEqual(found["rank"], 11)
        self.assertLess(found["primal"], 1e-20)
        self.assertIn("columns that earlier ones span", found["note"])
        self.assertEqual(sum(entry.get("aliased", False) for entry in found["coefficients"]), 19)
        self.assert_verified("m.fen", "wide.csv")

    def test_more_columns_than_rows_with_every_loss(self):
        """Labels are met, so that no loss is less; of the logistic one there is no least."""
        source = random.Random(8)
        lines = [",".join(f"x{j}" for j in range(30)) + ",y,kind"]
        for _ in range(12):
            lines.append(",".join(f"{source.gauss(0, 1):.6f}" for _ in range(30))
                         + f",{source.gauss(5, 2):.6f},{source.choice(['yes', 'no'])}")
        self.write("wide.csv", "\n".join(lines) + "\n")
        numbers = self.run_tool("plan", "wide.csv", "--target", "y", "--text", "kind", "--penalty",
                                "none", "--loss", "huber:1", "--json").json
        self.assertEqual(numbers["method"], "qr")
        for target, losses in (("y", ("absolute", "huber:1", "pinball:0.2", "eps:0.1", "sqeps:0.1")),
                               ("kind", ("hinge", "sqhinge"))):
            for loss in losses:
                found = self.fit("wide.csv", "--target", target, "--penalty", "none", "--loss", loss,
                                 model="m.fen")
                self.assert_proved(found)
                self.assertEqual(found["method"], "qr")
                self.assertLess(found["primal"], 1e-12)
                self.assert_verified("m.fen", "wide.csv")
        found = self.fit("wide.csv", "--target", "kind", "--penalty", "none", "--loss", "logistic",
                         code=UNPROVED)
        self.assertIn("no minimum exists", found["note"])
        lines.append(lines[1].rsplit(",", 2)[0] + ",99,yes")     # one row, two labels
        self.write("torn.csv", "\n".join(lines) + "\n")
        found = self.fit("torn.csv", "--target", "y", "--penalty", "none", "--loss", "absolute",
                         "--scale", "none")
        self.assert_proved(found)
        self.assertGreater(found["primal"], 1)

    def test_identical_columns(self):
        lines = self.read("numbers.csv").decode().split()
        twin = ["twin," + lines[0]] + [line.split(",")[0] + "," + line for line in lines[1:]]
        self.write("twin.csv", "\n".join(twin) + "\n")
        found = self.fit("twin.csv", "--penalty", "none")
        self.assert_proved(found)
        self.assertEqual((found["rank"], found["d"]), (8, 9))
        values = self.coefficients(found)
        self.assertAlmostEqual(values["twin"], values["a"], places=10)
        single = self.fit("numbers.csv", "--penalty", "none")
        self.assertAlmostEqual(2 * values["a"], self.coefficients(single)["a"], places=9)
        for penalty, said in (("l1", 1), ("elastic:0.5", 0), ("group", 0)):
            found = self.fit("twin.csv", "--penalty", penalty, "--lambda", "0.1")
            self.assert_proved(found)
            self.assertEqual("the same as an earlier column: a;" in found["note"], said)
        found = self.fit("twin.csv", "--penalty", "l1", "--lambda", "0.1", "--feature-weights", "a=2")
        self.assertNotIn("earlier column", found["note"])

    def test_constant_columns(self):
        lines = self.read("numbers.csv").decode().split()
        self.write("zero.csv", "\n".join(["zero," + lines[0]] + ["0," + line for line in lines[1:]])
                   + "\n")
        for penalty in ("none", "l1", "group"):
            given = [] if penalty == "none" else ["--lambda", "0.1"]
            found = self.fit("zero.csv", "--penalty", penalty, *given)
            self.assert_proved(found)
            self.assertIn("1 constant column (zero) left out", found["note"])

    def test_nothing_to_weigh(self):
        self.refuse_fit("numbers.csv", "--penalty", "none", "--lambda", "0.1",
                        says=["--lambda", "--penalty none"])
        self.refuse_fit("numbers.csv", "--penalty", "l1", "--lambda", "0",
                        says=["--lambda", "greater than 0"])


class BadInput(Linear):
    def groups(self, text):
        self.write("groups.csv", text)
        return "group:groups.csv"

    def test_groups_from_a_file(self):
        found = self.fit("numbers.csv", "--penalty", self.groups(
            "column,group\n" + "".join(f"{name},{'main' if name < 'd' else 'rest'}\n"
                                       for name in "abcdefgh")), "--lambda", "0.5", model="m.fen")
        self.assert_proved(found)
        self.assertEqual(found["groups"], {"count": 2, "active": 1})
        self.assertEqual([name for name, value in self.coefficients(found).items() if value],
                         ["a", "b", "c"])
        self.assert_verified("m.fen", "numbers.csv")

    def test_groups_that_overlap_or_miss_a_column(self):
        whole = "".join(f"{name},one\n" for name in "abcdefgh")
        for text, says in (("column,group\n" + whole + "a,two\n", ['"a"']),
                           ("column,group\n" + whole[6:], ['"a"']),
                           ("column,group\n" + whole + "nobody,two\n", ['"nobody"'])):
            self.refuse_fit("numbers.csv", "--penalty", self.groups(text), "--lambda", "0.1",
                            says=says, code=DATA)
        self.refuse_fit("numbers.csv", "--penalty", "group:missing.csv", "--lambda", "0.1",
                        says=["missing.csv"], code=FILES)

    def test_groups_without_weight(self):
        """Some: they are not penalised, and the note says so. All: there is no penalty."""
        text = "column,group,weight\n" + "".join(
            f"{name},{'main' if name < 'd' else 'rest'},{0 if name < 'd' else 1}\n"
            for name in "abcdefgh")
        found = self.fit("numbers.csv", "--penalty", self.groups(text), "--lambda", "100")
        self.assert_proved(found)
        self.assertEqual([name for name, value in self.coefficients(found).items() if value],
                         ["a", "b", "c"])
        self.assertIn("1 group is not penalised", found["note"])
        self.refuse_fit("numbers.csv", "--penalty", self.groups(text.replace(",1\n", ",0\n")),
                        "--lambda", "1", says=["0"], code=DATA)
        self.refuse_fit("numbers.csv", "--penalty", "l1", "--lambda", "1", "--feature-weights",
                        ",".join(f"{name}=0" for name in "abcdefgh"), says=["0"])

    def test_feature_weights(self):
        for weights, says in (("a=-1", ["-1"]), ("nobody=2", ["nobody"]), ("a=much", ["much"])):
            result = self.run_tool("fit", "numbers.csv", "--quiet", "--penalty", "l1", "--lambda",
                                   "0.1", "--feature-weights", weights, code=USAGE)
            for part in says:
                self.assertIn(part, result.err)
            self.assertEqual(len(result.err.splitlines()), 1)

    def test_what_does_not_go_together(self):
        """The sentences themselves: tests/unit/test_penalty_text.c."""
        for words, says in ((["--penalty", "elastic:2"], ["mix", "below 1"]),
                            (["--penalty", "lasso"], ["did you mean l1?"]),
                            (["--penalty", "l1", "--power", "1"], ["--power", "rkhs"]),
                            (["--penalty", "group", "--kernel", "gaussian"], ["linear models"]),
                            (["--penalty", "l1", "--engine", "cholesky"], ["--engine cholesky"]),
                            (["--engine", "coordinate"], ["--engine coordinate", "coefficients"]),
                            (["--penalty", "l1", "--engine", "homotopy"], ["fenchel path"]),
                            (["--penalty", "l1", "--select", "none"], ["--select none"]),
                            (["--select", "bic"], ["bic"])):
            self.refuse_fit("numbers.csv", *words, says=says)


class Limits(Linear):
    def big(self):
        source = random.Random(2)
        lines = [",".join([f"x{j}" for j in range(150)] + ["y"])]
        for _ in range(1500):
            shared = source.gauss(0, 1)
            x = [shared + source.gauss(0, 1) for _ in range(150)]
            lines.append(",".join(f"{v:.4f}" for v in x) +
                         f",{sum(x[:20]) + source.gauss(0, 5):.4f}")
        return self.write("big.csv", "\n".join(lines) + "\n")

    def test_a_limit_leaves_a_model(self):
        self.big()
        result = self.run_tool("fit", "big.csv", "--json", "--quiet", "--penalty", "l1", "--loss",
                               "absolute", "--time-limit", "0.2", "-o", "m.fen", code=UNPROVED)
        found = json.loads(result.out)
        self.assertEqual(found["verdict"], "limit")
        self.assertTrue(math.isfinite(found["primal"]))
        self.assertLessEqual(found["primal"], found["null"])
        text = self.run_tool("fit", "big.csv", "--penalty", "l1", "--loss", "absolute",
                             "--time-limit", "0.05", "-o", "m.fen", code=UNPROVED).out
        if "without scores" in text:    # what was not chosen follows a rule of its own
            self.assertIn("as a tenth of the least one without terms", " ".join(text.split()))
        self.assertNotIn("1/n", text)

    def test_memory(self):
        """The rows fit, also where sanitizers take their share; their kernel matrix does not."""
        self.run_tool("generate", "friedman", "--rows", "4000", "-o", "many.csv")
        self.refuse_fit("many.csv", "--penalty", "l1", "--kernel", "gaussian", "--gamma", "0.1",
                        "--lambda", "0.1", "--memory", "80M", says=["MB", "--kernel linear"],
                        code=MEMORY)

    def test_plan(self):
        plan = self.run_tool("plan", "numbers.csv", "--penalty", "l1", "--json").json
        self.assertEqual(plan["method"], "active-set")
        self.assertIn("100 lambdas", plan["selection"])
        plan = self.run_tool("plan", "numbers.csv", "--penalty", "none", "--json").json
        self.assertEqual(plan["method"], "qr")
        plan = self.run_tool("plan", "numbers.csv", "--penalty", "l1", "--loss", "absolute",
                             "--lambda", "1", "--json").json
        self.assertEqual(plan["method"], "interior")
        self.assertGreater(plan["peak_bytes"], 0)


class UnusedColumns(ToolTest):
    """Columns without a coefficient may be missing from the rows to predict."""

    def setUp(self):
        super().setUp()
        draw = random.Random(3)
        lines = ["a,b,colour,c,e,y,z"]
        for i in range(60):
            a, b, c, e, noise = (round(draw.gauss(0, 1), 4) for _ in range(5))
            lines.append(f"{a},{b},{draw.choice(['red', 'blue'])},{'' if i % 9 == 0 else c},{e},"
                         f"{3 * a - 2 * e + 0.1 * noise:.4f},{b + 0.1 * noise:.4f}")
        self.write("two.csv", "\n".join(lines) + "\n")
        self.write("d.csv", "\n".join(line.rpartition(",")[0] for line in lines) + "\n")
        self.write("all.csv", "a,b,colour,c,e\n2,7,red,,1\n3,8,green,4,2\n")
        self.write("few.csv", "e,a\n1,2\n2,3\n")

    def test_they_do_not_matter(self):
        self.run_tool("fit", "d.csv", "--target", "y", "--penalty", "l1",
                      "--lambda", "0.5", "--quiet")
        full = self.run_tool("predict", "d.fen", "all.csv")
        part = self.run_tool("predict", "d.fen", "few.csv")
        self.assertEqual(full.out, part.out)
        self.assertEqual(full.err, "")
        self.assertIn("3 columns that the model does not use are missing", part.err)
        self.assertEqual(self.run_tool("predict", "d.fen", "few.csv", "--quiet").err, "")
        note = self.run_tool("predict", "d.fen", "few.csv", "--json").json["note"]
        self.assertIn("3 columns", note)

    def test_needed_ones_are_named(self):
        self.run_tool("fit", "d.csv", "--target", "y", "--penalty", "l1",
                      "--lambda", "0.5", "--quiet")
        self.write("bad.csv", "a\n1\n")
        self.refuse("predict", "d.fen", "bad.csv", code=DATA, says=['no column "e"'])
        self.run_tool("fit", "two.csv", "--target", "y,z", "--penalty", "l1", "--lambda", "0.5",
                      "--quiet")
        self.refuse("predict", "two.fen", "few.csv", code=DATA, says=['no column "b"'])
        self.run_tool("fit", "d.csv", "--target", "y", "--kernel", "linear",
                      "--quiet")                  # ridge: every column has a coefficient
        self.refuse("predict", "d.fen", "few.csv", code=DATA, says=['no columns "b", "colour"'])


if __name__ == "__main__":
    unittest.main(verbosity=2)
