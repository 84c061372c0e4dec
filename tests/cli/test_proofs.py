"""Verdicts say no more than was proved, and what is left without a proof is no worse than a constant."""
import json
import os
import random
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tool import FENCHEL, ToolTest  # noqa: E402

FIXED = ["--gamma", "0.5", "--lambda", "0.001"]


class Proofs(ToolTest):
    def fit(self, data, *options, **more):
        return self.run_tool("fit", data, "--json", "--quiet", *options, **more).json

    def attempt(self, *words):
        """However it ends: exit code and stderr."""
        done = subprocess.run([FENCHEL, *words], cwd=self.folder, capture_output=True, timeout=300)
        return done.returncode, done.stderr.decode()

    def write_rows(self, name, rows):
        lines = [",".join(map(repr, row)) for row in rows]
        self.write(name, "\n".join(["a,b,y"] + lines) + "\n")


class Prices(Proofs):
    """A margin at a price (--nu)."""
    def apart(self, offset):
        draw = random.Random(9)
        signs = [1, -1] * 10
        return [(offset + 2 * s + 0.5 * draw.gauss(0, 1), offset + draw.gauss(0, 1), s)
                for s in signs]

    def test_inputs_far_away(self):
        """The same rows wherever they are; f = 0 is not their solution. Where the kernel's
        rounding errors hide it, nothing is claimed."""
        options = ["--loss", "hinge", "--nu", "0.3", "--kernel", "linear", "--scale", "none",
                   "--lambda", "1", "--task", "classification"]
        self.write_rows("near.csv", self.apart(0))
        near = self.fit("near.csv", *options)
        self.assertEqual(near["verdict"], "optimal")
        self.write_rows("far.csv", self.apart(1e8))
        for more in ([], ["--no-bias"]):
            far = self.fit("far.csv", *options, *more, code=1)
            self.assertEqual(far["verdict"], "stalled")
            self.assertLessEqual(far["primal"], 0)

    def test_all_of_the_price(self):
        """nu = 1: every dual variable at its end, and no other is feasible."""
        self.write_rows("rows.csv", self.apart(0))
        for words in (["--task", "one-class"], ["--loss", "hinge", "--no-bias"]):
            fit = self.fit("rows.csv", *words, "--nu", "1", *FIXED)
            self.assertEqual(fit["verdict"], "optimal")
            self.assertLess(fit["primal"], 0)


class Ends(Proofs):
    def numbers(self, rows=60, far=0.0):
        draw = random.Random(3)
        return [(draw.gauss(0, 1), draw.gauss(0, 1), far + draw.gauss(0, 1)) for _ in range(rows)]

    def test_high_power(self):
        """The first guess of lambda2 is 1e43, where f is 0 as far as doubles can tell."""
        self.write_rows("rows.csv", self.numbers(far=1e6))
        fit = self.fit("rows.csv", "--loss", "sqeps:10", "--lambda", "1e-5", "--power", "10",
                       "--gamma", "0.1", "--no-bias", "--scale", "none")
        self.assertEqual(fit["verdict"], "optimal")
        self.assertGreater(fit["norm"], 1)

    def test_equal_targets(self):
        for value in (3.3, -7.1, 1e9 + 0.1):
            self.write_rows("equal.csv", [(a, b, value) for a, b, _ in self.numbers(20)])
            for loss in ("pinball:0.01", "pinball:0.99", "absolute"):
                fit = self.fit("equal.csv", "--loss", loss, *FIXED)
                self.assertEqual((fit["verdict"], fit["norm"]), ("optimal", 0))

    def test_no_time_at_all(self):
        """What is saved then is the best constant of the loss, whatever the loss."""
        self.write_rows("rows.csv", self.numbers(300))
        for loss, more in (("pinball:0.99", []), ("absolute", []), ("eps", ["--nu", "0.3"]),
                           ("huber:0.1", []), ("eps:0.1", ["--power", "1.5"])):
            found = self.run_tool("fit", "rows.csv", "--loss", loss, *FIXED, *more,
                                  "--time-limit", "1e-9", "-o", "m.fen", code=1)
            fit = self.run_tool("info", "m.fen", "--json").json
            self.assertEqual(fit["verdict"], "limit")
            self.assertAlmostEqual(fit["primal"], fit["null"], delta=1e-9 * fit["null"])
            self.assertNotIn("threshold", found.out)   # from which f = 0 would be optimal

    def test_threshold(self):
        self.write_rows("rows.csv", self.numbers())
        text = self.run_tool("fit", "rows.csv", "--loss", "absolute", "--gamma", "0.5", "--lambda",
                             "100", "--power", "1").out
        self.assertIn("threshold", text)

    def test_no_time_to_select(self):
        self.write_rows("rows.csv", self.numbers(400))
        for loss in ("eps:0.1", "huber:0.1"):
            fit = self.fit("rows.csv", "--loss", loss, "--time-limit", "1e-9", "-o", "m.fen",
                           code=1)
            self.assertEqual(fit["verdict"], "limit")
            self.assertIn("no time to select", fit["note"])
            self.run_tool("predict", "m.fen", "rows.csv", "-o", "p.csv")

    def test_few_rows(self):
        """Folds need rows: --select auto does without where there are few."""
        for rows in (2, 3, 5):
            self.write_rows("few.csv", [(a, b, 2 * (i % 2) - 1)
                                        for i, (a, b, _) in enumerate(self.numbers(rows))])
            for loss in ("hinge", "logistic"):
                self.assertEqual(self.fit("few.csv", "--loss", loss, "--task", "classification")
                                 ["verdict"], "optimal")
            self.assertEqual(self.fit("few.csv", "--loss", "eps:0.1", "--task", "regression")
                             ["verdict"], "optimal")

    def test_advice_names_fewer_rows(self):
        self.some_data(rows=1500)
        for loss in ("huber:1", "eps:0.1"):
            for memory in ("26M", "28M", "30M", "34M"):
                _, says = self.attempt("fit", "data.csv", "--loss", loss, *FIXED, "--memory",
                                       memory)
                if "at most" in says:
                    self.assertLess(int(says.split("at most ")[1].split()[0]), 1500)


class Tampering(Proofs):
    def change(self, source, copy, tensor, change):
        """One array of a model file with its first number changed."""
        raw = bytearray(self.read(source))
        start = 8 + struct.unpack("<Q", raw[:8])[0]
        at = start + json.loads(raw[8:start])[tensor]["data_offsets"][0]
        raw[at:at + 8] = struct.pack("<d", change(struct.unpack("<d", raw[at:at + 8])[0]))
        with open(self.path(copy), "wb") as out:
            out.write(raw)

    def test_linear_models(self):
        """coef_scale of a linear model enters no prediction, and is checked all the same."""
        self.some_data(rows=40)
        for loss, power in (("square", "2"), ("square", "1.5"), ("absolute", "2"),
                            ("pinball:0.3", "1.3"), ("huber:1", "2"), ("huber:1", "3")):
            self.fit("data.csv", "--loss", loss, "--kernel", "linear", "--lambda", "0.01",
                     "--power", power, "-o", "m.fen")
            self.run_tool("verify", "m.fen", "data.csv")
            for tensor in ("coef_scale", "weights"):
                for change in (lambda x: 1.001 * x, lambda x: -x, lambda x: x + 1):
                    self.change("m.fen", "bad.fen", tensor, change)
                    code, says = self.attempt("verify", "bad.fen", "data.csv")
                    self.assertIn(code, (1, 3), says)


if __name__ == "__main__":
    unittest.main()
