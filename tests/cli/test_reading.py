"""How the training file was read belongs to the model: rows for it are read alike."""
import json
import os
import random
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tool import ToolTest  # noqa: E402

FIT = ("--gamma", "mean", "--lambda", "1e-3", "--quiet")


def numbers(text):
    return [float(cell) for cell in text.split()[1:]]


class Reading(ToolTest):
    def fit(self, name, *options):
        self.run_tool("fit", name, *FIT, *options)
        return name.rsplit(".", 1)[0] + ".fen"

    def reading(self, model):
        return self.run_tool("info", model, "--json").json["reading"]

    def verifies(self, model, data):
        self.assertTrue(self.run_tool("verify", model, data, "--json").json["holds"])

    def rewrite(self, model, change):
        """A copy of the model under the name changed.fen, its preparation changed."""
        raw = self.read(model)
        length = struct.unpack("<Q", raw[:8])[0]
        header = json.loads(raw[8:8 + length])
        preparation = json.loads(header["__metadata__"]["preparation"])
        change(preparation)
        header["__metadata__"]["preparation"] = json.dumps(preparation)
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        self.write("changed.fen", struct.pack("<Q", len(text)) + text + raw[8 + length:])
        return "changed.fen"

    def write_gaps(self, mark):
        draw = random.Random(1)
        rows = ["a,b,y"]
        for _ in range(200):
            a, b = draw.uniform(-1, 1), draw.uniform(-1, 1)
            gap = draw.random() < 0.2
            rows.append(f"{a:.4f},{mark if gap else round(b, 4)},{a + 2 * b * (not gap):.4f}")
        return self.write("miss.csv", "\n".join(rows) + "\n")

    def test_missing(self):
        model = self.fit(self.write_gaps("-999"), "--missing=-999")
        self.assertEqual(self.reading(model)["missing"], "-999")
        self.assertIn("missing: empty cells and -999", self.run_tool("info", model).out)
        self.verifies(model, "miss.csv")
        silent = self.run_tool("predict", model, "miss.csv", "--json").json
        stated = self.run_tool("predict", model, "miss.csv", "--json", "--missing=-999").json
        self.assertEqual(silent, stated)
        self.assertEqual(silent["note"], "")

    def test_an_option_comes_before_the_model_and_is_named(self):
        model = self.fit(self.write_gaps("-999"), "--missing=-999")
        other = self.run_tool("predict", model, "miss.csv", "--json", "--missing", "NA").json
        self.assertIn("read with --missing NA; the training file was read with -999", other["note"])
        self.assertLess(other["r2"], self.run_tool("predict", model, "miss.csv", "--json").json["r2"])
        found = self.run_tool("verify", model, "miss.csv", "--missing", "NA", code=3)
        self.assertIn("read with --missing NA", found.err)
        self.assertIn("not the rows", found.err)

    def test_text(self):
        rows = [f"{zip_},{i % 7},{y}" for i in range(30)
                for zip_, y in (("10115", 1), ("00100", 2), ("75001", 4))]
        self.write("zip.csv", "zip,age,y\n" + "\n".join(rows) + "\n")
        found = self.run_tool("fit", "zip.csv", "--text", "zip", "--gamma", "mean", "--lambda", "1e-3",
                              "--task", "regression")
        self.assertEqual(self.reading("zip.fen")["text"], ["zip"])
        for line in found.out.splitlines():
            if "fenchel verify" in line:
                self.run_tool(*line.split("fenchel ")[1].split())
        self.write("new.csv", "age,zip\n3,00100\n3,100\n")     # a later tool cut the zeros
        both = numbers(self.run_tool("predict", "zip.fen", "new.csv").out)
        self.assertEqual(both[0], both[1])
        self.write("less.csv", "zip,extra\n00100,1\n")         # the sentence is about age, not zip
        self.refuse("predict", "zip.fen", "less.csv", code=3, says=['"age"'])

    def test_decimal_comma(self):
        draw = random.Random(2)
        cells = [[round(draw.uniform(0, 9), 2) for _ in range(2)] for _ in range(80)]
        self.write("comma.csv", "a;b;y\n" + "\n".join(
            f"{a};{b};{a + b:.2f}".replace(".", ",") for a, b in cells) + "\n")
        model = self.fit("comma.csv")
        self.assertEqual({k: self.reading(model)[k] for k in ("separator", "decimal", "header")},
                         {"separator": ";", "decimal": ",", "header": True})
        self.assertIn("separator ;, decimal comma", self.run_tool("info", model).out)
        self.write("late.csv", "a;b\n" + "1;2\n" * 1200 + "1,5;2\n")   # beyond what is looked at
        late = numbers(self.run_tool("predict", model, "late.csv").out)
        self.write("point.csv", "a,b\n1.5,2\n")                # another form, the same cells
        self.assertEqual(numbers(self.run_tool("predict", model, "point.csv").out), late[-1:])

    def test_header(self):
        self.write("bare.csv", "".join(f"{c},{s},{y}\n" for c, s, y in
                                       [("red", "small", 1.5), ("blue", "big", 2.5),
                                        ("red", "big", 3.5)] * 10))
        model = self.fit("bare.csv")
        self.assertFalse(self.reading(model)["header"])
        self.write("one.csv", "blue,big\n")                    # by itself it looks like a header
        self.assertEqual(len(numbers(self.run_tool("predict", model, "one.csv").out)), 1)
        self.write("named.csv", "x2,x1\nbig,blue\n")
        self.assertEqual(self.run_tool("predict", model, "named.csv").out,
                         self.run_tool("predict", model, "one.csv").out)

    def test_index_base(self):
        draw = random.Random(3)
        rows = [[draw.uniform(-1, 1) for _ in range(3)] for _ in range(50)]
        text = "".join(f"{sum(x)} " + " ".join(f"{j}:{v}" for j, v in enumerate(x, 1)) + "\n"
                       for x in rows)
        self.write("one.svm", text)
        model = self.fit("one.svm")
        self.assertEqual(self.reading(model)["index_base"], 1)
        self.assertIn("svmlight, indices from 1", self.run_tool("info", model).out)
        self.write("zero.svm", "0 0:1 1:0.5 2:0.5\n")
        self.refuse("predict", model, "zero.svm", code=3,
                    says=["zero.svm:1", "counts from 1", "--index-base 0"])
        note = self.run_tool("predict", model, "zero.svm", "--index-base", "0", "--json").json["note"]
        self.assertIn("the training file counts from 1", note)
        self.verifies(model, "one.svm")

    def test_a_changed_reading_does_not_verify(self):
        model = self.fit(self.write_gaps("-999"), "--missing=-999")
        for key, value in (("missing", "-999,5"), ("decimal", ","), ("separator", ";"),
                           ("header", False)):
            changed = self.rewrite(model, lambda p: p["reading"].update({key: value}))
            self.run_tool("verify", changed, "miss.csv", code=3)
        for key, value in (("missing", 7), ("decimal", "x"), ("separator", ",,"), ("header", 3)):
            changed = self.rewrite(model, lambda p: p["reading"].update({key: value}))
            self.refuse("info", changed, code=3, says=["the preparation is damaged"])

    def test_a_model_that_remembers_nothing_is_read(self):
        model = self.rewrite(self.fit(self.write_gaps("")), lambda p: p.pop("reading"))
        self.assertNotIn("reading", self.run_tool("info", model, "--json").json)
        self.assertEqual(self.run_tool("predict", model, "miss.csv").out,
                         self.run_tool("predict", "miss.fen", "miss.csv").out)

    def test_streamed_features(self):
        model = self.fit(self.write_gaps("-999"), "--missing=-999", "--approx", "fourier:20")
        self.verifies(model, "miss.csv")


if __name__ == "__main__":
    unittest.main()
