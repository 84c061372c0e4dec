"""Every command does what it says, for people and as JSON."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import csv
import io
import json
import math
import struct
import unittest

from tool import ToolTest

NO, ROOM = 1, 5
FIT_KEYS = {"n", "d", "loss", "kernel", "gamma", "lambda", "power", "lambda2", "bias", "norm",
            "primal", "dual", "gap", "relative_gap", "verdict", "method", "seconds"}


def column(text, name="prediction"):
    return [float(row[name]) for row in csv.DictReader(io.StringIO(text))]


class Fit(ToolTest):
    def test_everything_chosen(self):
        self.some_data(rows=120)
        found = self.run_tool("fit", "data.csv", "--json")
        self.assertEqual(found.err, "")
        fit = found.json
        self.assertLessEqual(FIT_KEYS | {"score", "score_kind", "grid"}, set(fit))
        self.assertEqual((fit["n"], fit["d"], fit["model"]), (120, 10, "data.fen"))
        self.assertEqual((fit["verdict"], fit["score_kind"]), ("optimal", "loo"))
        self.assertLessEqual(fit["relative_gap"], 1e-6)
        self.assertLessEqual(fit["dual"], fit["primal"])
        best = min(fit["grid"], key=lambda point: point["score"] or math.inf)
        self.assertEqual((best["gamma"], best["lambda"]), (fit["gamma"], fit["lambda"]))
        self.assertEqual(self.files(), ["data.csv", "data.fen"])

    def test_report_for_people(self):
        self.some_data(rows=120)
        text = self.run_tool("fit", "data.csv").out
        self.assertLessEqual(len(text.splitlines()), 25)
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        self.assertEqual(text.count("<- chosen"), 1)
        for word in ("120 rows", "target y", "leave-one-out", "Objective", "Certificate", "optimal",
                     "RMSE", "data.fen", "fenchel predict data.fen"):
            self.assertIn(word, text)
        self.assertTrue(text.isascii())

    def test_numbers_have_17_digits(self):
        self.some_data(rows=50)
        fit = self.run_tool("fit", "data.csv", "--gamma", "0.1", "--lambda", "1/3", "--json")
        self.assertEqual(fit.json["lambda"], 1 / 3)
        self.assertIn("0.33333333333333331", fit.out)

    def test_two_targets(self):
        self.some_data(rows=60)
        fit = self.run_tool("fit", "data.csv", "--target", "x10,y", "--json").json
        self.assertEqual(fit["targets"], ["x10", "y"])
        self.assertEqual((fit["d"], len(fit["primal"]), len(fit["verdict"])), (9, 2, 2))
        text = self.run_tool("fit", "data.csv", "--target", "x10,y").out
        self.assertIn("targets x10, y", text)
        self.assertIn("relative RMSE", text)
        self.assertLessEqual(len(text.splitlines()), 25)
        predicted = self.run_tool("predict", "data.fen", "data.csv")
        self.assertTrue(predicted.out.startswith("prediction_x10,prediction_y\n"))
        self.assertEqual(len(predicted.err.splitlines()), 2)
        self.assertEqual(len(self.run_tool("verify", "data.fen", "data.csv", "--json")
                             .json["primal"]), 2)

    def test_notes_are_shown(self):
        lines = self.read(self.some_data(rows=30)).decode().splitlines()
        lines[5] = lines[5][:lines[5].rindex(",")] + ",NA"
        self.write("gaps.csv", "\n".join(lines) + "\n")
        text = self.run_tool("fit", "gaps.csv", "--gamma", "1", "--lambda", "1").out
        self.assertIn("29 rows", text)
        self.assertIn("target", text.split("Objective")[0])

    def test_as_sklearn(self):
        self.some_data(rows=50)
        fit = self.run_tool("fit", "data.csv", "--gamma", "1", "--as", "sklearn", "--lambda", "2",
                            "--json").json
        self.assertAlmostEqual(fit["lambda"], 2 / 50, places=15)

    def test_tolerance_not_reached(self):
        self.some_data(rows=50)
        found = self.run_tool("fit", "data.csv", "--kernel", "polynomial", "--degree", "9",
                              "--gamma", "100", "--lambda", "1e-12", "--tolerance", "1e-300",
                              code=NO)
        self.assertIn("the model was saved", found.err)
        self.assertEqual(len(found.err.splitlines()), 1)
        self.assertIn("data.fen", self.files())

    def test_time_limit(self):
        self.some_data(rows=1500)
        self.refuse("fit", "data.csv", "--time-limit", "1e-3", code=NO, says=["time limit"])

    def test_memory_limit(self):
        self.some_data(rows=1500)
        self.refuse("fit", "data.csv", "--memory", "1M", code=ROOM, says=["memory"])

    def test_same_seed_same_bits(self):
        self.some_data(rows=80)
        models = set()
        for name in ("a.fen", "b.fen"):
            fit = self.run_tool("fit", "data.csv", "-o", name, "--json").json
            models.add(tuple(fit[key] for key in ("gamma", "lambda", "primal", "dual", "norm")))
        self.assertEqual(len(models), 1)


class Predict(ToolTest):
    def setUp(self):
        super().setUp()
        self.model = self.some_model(rows=100)
        self.some_data("fresh.csv", rows=50, seed=2)

    def test_file_stdout_and_json_agree(self):
        self.run_tool("predict", self.model, "fresh.csv", "-o", "out.csv")
        shown = self.run_tool("predict", self.model, "fresh.csv")
        found = self.run_tool("predict", self.model, "fresh.csv", "--json")
        self.assertEqual(shown.out, self.read("out.csv").decode())
        self.assertEqual(shown.out.splitlines()[0], "prediction")
        self.assertEqual(column(shown.out), found.json["predictions"])
        self.assertEqual((found.json["rows"], found.json["targets"]), (50, ["y"]))
        self.assertEqual(found.err, "")
        saved = self.run_tool("predict", self.model, "fresh.csv", "-o", "out.csv", "--json").json
        self.assertNotIn("predictions", saved)
        self.assertEqual((saved["path"], saved["rmse"]), ("out.csv", found.json["rmse"]))

    def test_errors_are_right(self):
        found = self.run_tool("predict", self.model, "fresh.csv", "--json").json
        truth = column(self.read("fresh.csv").decode(), "y")
        errors = [y - p for y, p in zip(truth, found["predictions"])]
        mean = sum(truth) / len(truth)
        squares = sum(e * e for e in errors)
        self.assertAlmostEqual(found["rmse"], math.sqrt(squares / 50), places=10)
        self.assertAlmostEqual(found["mae"], sum(map(abs, errors)) / 50, places=10)
        self.assertAlmostEqual(found["r2"], 1 - squares / sum((y - mean) ** 2 for y in truth),
                               places=10)
        said = self.run_tool("predict", self.model, "fresh.csv").err
        self.assertIn(f"RMSE {found['rmse']:.5g}", said)
        self.assertIn("50 rows", said)
        self.assertEqual(self.run_tool("predict", self.model, "fresh.csv", "--quiet").err, "")

    def test_without_target_and_in_any_order(self):
        rows = list(csv.reader(io.StringIO(self.read("fresh.csv").decode())))
        whole = self.run_tool("predict", self.model, "fresh.csv").out
        text = "\n".join(",".join(row[-2::-1]) for row in rows) + "\n"
        found = self.run_tool("predict", self.model, self.write("reversed.csv", text))
        self.assertEqual((found.out, found.err), (whole, ""))
        self.assertNotIn("rmse", self.run_tool("predict", self.model, "reversed.csv",
                                               "--json").json)

    def test_many_blocks(self):
        header, rest = self.read("fresh.csv").decode().split("\n", 1)
        once = self.run_tool("predict", self.model, "fresh.csv").out.split("\n", 1)[1]
        self.write("long.csv", header + "\n" + rest * 1000)
        found = self.run_tool("predict", self.model, "long.csv", "-o", "out.csv", "--json").json
        self.assertEqual(found["rows"], 50000)
        self.assertEqual(self.read("out.csv").decode(), "prediction\n" + once * 1000)

    def test_header_only(self):
        self.write("none.csv", self.read("fresh.csv").decode().split("\n")[0] + "\n")
        self.refuse("predict", self.model, "none.csv", "-o", "out.csv", code=3, says=["none.csv"])

    def test_columns_that_are_not_there(self):
        self.write("few.csv", "x1\n1\n2\n")
        said = self.run_tool("predict", self.model, "few.csv", "--json", code=3)
        self.assertEqual(said.out, "")
        self.assertRegex(said.err, "trained on: add (it|them) .cells may be empty., or train on a "
                                   "file without (it|them)\n")

    def test_one_row_has_no_spread(self):
        self.write("one.csv", "\n".join(self.read("fresh.csv").decode().split("\n")[:2]) + "\n")
        said = self.run_tool("predict", self.model, "one.csv", "-o", "out.csv").err
        self.assertRegex(said, r"RMSE \S+, MAE \S+ on 1 row\n")
        found = self.run_tool("predict", self.model, "one.csv", "-o", "out.csv", "--json").json
        self.assertIsNone(found["r2"])


class SelectVerifyPlanInfo(ToolTest):
    def test_select(self):
        self.some_data(rows=60)
        words = ("select", "data.csv", "--gamma", "0.01:1:3", "--lambda", "1e-4:1:5")
        found = self.run_tool(*words, "-o", "grid.csv", "--json").json
        self.assertEqual(len(found["grid"]), 15)
        rows = list(csv.DictReader(io.StringIO(self.read("grid.csv").decode())))
        self.assertEqual([float(row["score"]) for row in rows],
                         [point["score"] for point in found["grid"]])
        text = self.run_tool(*words).out
        best = min(point["score"] for point in found["grid"])
        self.assertIn(f"RMSE {math.sqrt(best):.6g}", text)
        self.assertEqual(text.count(">"), 2)
        self.assertLessEqual(len(text.splitlines()), 10)

    def test_select_nine_by_nine(self):
        self.some_data(rows=60)
        text = self.run_tool("select", "data.csv", "--gamma", "0.01:1:9", "--lambda",
                             "1e-4:1:9").out
        self.assertLessEqual(len(text.splitlines()), 14)

    def test_select_kinds(self):
        self.some_data(rows=60)
        for kind in ("loo", "gcv", "kfold:5"):
            found = self.run_tool("select", "data.csv", "--select", kind, "--gamma", "mean",
                                  "--json").json
            self.assertEqual(found["score_kind"], kind)
            self.assertGreater(found["score"], 0)

    def test_verify(self):
        model = self.some_model()
        found = self.run_tool("verify", model, "data.csv", "--json").json
        self.assertEqual(set(found), {"primal", "dual", "gap", "relative_gap", "stationarity", "finished",
                                      "holds"})
        self.assertIs(found["holds"], True)
        text = self.run_tool("verify", model, "data.csv").out
        self.assertIn("The certificate holds", text)

    def test_verify_other_rows(self):
        model = self.some_model()
        lines = self.read("data.csv").decode().splitlines()
        self.write("turned.csv", "\n".join(lines[:1] + lines[:0:-1]) + "\n")
        self.refuse("verify", model, "turned.csv", code=3,
                    says=["not the rows this model was trained on, in this order"])
        for command in ("verify", "predict"):
            self.refuse(command, "data.csv", model, code=3,
                        says=[f"data.csv is not a fenchel model, but {model} is one: the model "
                              "comes first"])

    def test_verify_fails(self):
        model = self.some_model()
        text = bytearray(self.read(model))
        size = 8 + int.from_bytes(text[:8], "little")
        header = json.loads(text[8:size])
        start = size + header["dual"]["data_offsets"][0]
        value = struct.unpack_from("<d", text, start)[0]
        struct.pack_into("<d", text, start, value * 1.5 + 1e-3)
        self.write("wrong.fen", bytes(text))
        found = self.run_tool("verify", "wrong.fen", "data.csv", "--json", code=NO)
        self.assertIs(found.json["holds"], False)
        self.assertEqual(len(found.err.splitlines()), 1)
        text = self.run_tool("verify", "wrong.fen", "data.csv", code=NO).out
        self.assertIn("DOES NOT HOLD", text)

    def test_plan(self):
        self.some_data(rows=500)
        found = self.run_tool("plan", "data.csv", "--json").json
        self.assertLessEqual({"n", "d", "targets", "method", "why", "selection", "peak_bytes",
                              "limit_bytes", "seconds", "fits", "advice"}, set(found))
        self.assertEqual((found["n"], found["fits"]), (500, True))
        self.assertIn("Memory", self.run_tool("plan", "data.csv").out)
        no_room = self.run_tool("plan", "data.csv", "--memory", "1M", "--json", code=ROOM)
        self.assertIs(no_room.json["fits"], False)
        self.assertEqual(no_room.json["limit_bytes"], 1000000)
        self.assertEqual(len(no_room.err.splitlines()), 1)
        self.assertEqual(self.files(), ["data.csv"])

    def test_info(self):
        self.some_data(rows=60)
        fit = self.run_tool("fit", "data.csv", "--json").json
        info = self.run_tool("info", "data.fen", "--json").json
        del fit["model"]
        names = info.pop("input_names")
        self.assertEqual(names, self.read("data.csv").decode().split("\n")[0].split(",")[:-1])
        self.assertEqual(info, fit)
        text = self.run_tool("info", "data.fen").out
        for word in ("Objective", "Certificate", "optimal", "60 rows", "<- chosen"):
            self.assertIn(word, text)


class GenerateConvert(ToolTest):
    def test_generate(self):
        shown = self.run_tool("generate", "friedman", "--rows", "20")
        found = self.run_tool("generate", "friedman", "--rows", "20", "-o", "f.csv", "--json").json
        self.assertEqual(found, {"rows": 20, "columns": 11, "path": "f.csv"})
        self.assertEqual(shown.out, self.read("f.csv").decode())
        self.assertEqual(len(shown.out.splitlines()), 21)
        self.assertIn("20 rows", self.run_tool("generate", "moons", "--rows", "20", "-o",
                                               "m.csv").out)
        self.refuse("generate", "sinc", "--json", code=2, says=["-o"])

    def test_seed_and_noise(self):
        def rows(*words):
            return self.run_tool("generate", "friedman", "--rows", "9", *words).out
        self.assertEqual(rows(), rows())
        self.assertNotEqual(rows(), rows("--seed", "2"))
        self.assertNotEqual(rows(), rows("--noise", "0"))
        for row in csv.DictReader(io.StringIO(rows("--noise", "0"))):
            x = [float(row[f"x{i}"]) for i in range(1, 6)]
            y = (10 * math.sin(math.pi * x[0] * x[1]) + 20 * (x[2] - 0.5) ** 2 + 10 * x[3]
                 + 5 * x[4])
            self.assertAlmostEqual(float(row["y"]), y, places=9)

    def test_there_and_back(self):
        self.some_data(rows=30)
        found = self.run_tool("convert", "data.csv", "data.npy", "--json").json
        self.assertEqual(found, {"rows": 30, "columns": 11, "path": "data.npy"})
        self.run_tool("convert", "data.csv", "data.svm")
        for name in ("data.npy", "data.svm"):
            self.run_tool("convert", name, "again.csv")
            one, two = (list(csv.reader(io.StringIO(self.read(f).decode())))[1:]
                        for f in ("data.csv", "again.csv"))
            self.assertEqual([list(map(float, row)) for row in one],
                             [list(map(float, row)) for row in two])

    def test_other_endings_mean_csv(self):
        self.some_data(rows=30)
        self.run_tool("convert", "data.csv", "data.txt2")
        self.assertEqual(self.read("data.txt2"), self.read("data.csv"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
