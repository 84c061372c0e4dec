"""fenchel fit --approx: random features, streamed from a file of any format."""
import json
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import gzip
import unittest

from tool import ToolTest

USAGE, DATA = 2, 3
APPROX = ("--approx", "fourier:40", "--gamma", "mean", "--lambda", "1e-4")


def array(content, name):
    """The bytes of one array of a model file."""
    length, = struct.unpack("<Q", content[:8])
    place = json.loads(content[8:8 + length])[name]["data_offsets"]
    return content[8 + length + place[0]:8 + length + place[1]]


class Features(ToolTest):
    def setUp(self):
        super().setUp()
        self.run_tool("generate", "friedman", "--rows", "3000", "-o", "d.csv")

    def fit(self, data, *options, model="m.fen"):
        return self.run_tool("fit", data, "-o", model, "--json", *options).json

    def test_what_is_said(self):
        found = self.fit("d.csv", *APPROX)
        self.assertEqual((found["approx"], found["columns"], found["method"], found["n"]),
                         ("fourier:40", 40, "features", 3000))
        self.assertIn("approximated by 40 random Fourier features", found["objective"])
        self.assertEqual(found["verdict"], "optimal")
        self.assertNotIn("weights", found)
        text = self.run_tool("info", "m.fen").out
        self.assertIn("random Fourier", text)
        said = self.run_tool("fit", "d.csv", *APPROX, "-o", "m.fen").out
        self.assertIn("any function of these features", " ".join(said.split()))
        self.assertEqual(self.fit("d.csv", "--gamma", "1", "--lambda", "1")["approx"], "none")
        exact = self.run_tool("fit", "d.csv", "--gamma", "1", "--lambda", "1").out
        self.assertNotIn("approximated", exact)

    def test_every_format_gives_the_same_model(self):
        """The same rows in the same order: sums differ only by where the blocks end."""
        first = self.fit("d.csv", *APPROX)
        with gzip.open(self.path("d.csv.gz"), "wb") as file:
            file.write(self.read("d.csv"))
        self.run_tool("convert", "d.csv", "d.npy")
        for name in ("d.csv.gz", "d.npy"):
            other = self.fit(name, *APPROX)
            for key in ("gamma", "primal", "norm", "train_rmse"):
                self.assertAlmostEqual(other[key] / first[key], 1, 9)
            self.assertTrue(self.run_tool("verify", "m.fen", name, "--json").json["holds"])
        self.assertEqual(other["n"], 3000)

    def test_sparse_rows(self):
        self.write("d.svm", "".join(f"{i % 7} {1 + i % 3}:{i % 5 + 1} 5:{i % 2 + 1}\n"
                                    for i in range(200)))
        found = self.fit("d.svm", *APPROX)
        self.assertEqual(found["verdict"], "optimal")
        self.assertTrue(self.run_tool("verify", "m.fen", "d.svm", "--json").json["holds"])

    def test_text_gaps_and_rows_without_a_target(self):
        rows = [f"{i % 11},{'red' if i % 3 else 'blue'},{'' if i % 10 == 3 else i * i % 17},"
                f"{'' if i == 5 else (i % 11) * 2 + (i % 3)}" for i in range(300)]
        self.write("t.csv", "a,colour,b,y\n" + "\n".join(rows) + "\n")
        found = self.fit("t.csv", *APPROX)
        self.assertEqual(found["n"], 299)
        for words in ("1 row without a target", "1 text column", "1 column with gaps"):
            self.assertIn(words, found["note"])
        self.assertTrue(self.run_tool("verify", "m.fen", "t.csv", "--json").json["holds"])
        self.run_tool("predict", "m.fen", "t.csv", "-o", "p.csv")
        self.assertEqual(len(self.read("p.csv").splitlines()), 301)

    def test_threads_and_seeds(self):
        first = self.fit("d.csv", *APPROX, "--threads", "1", model="1.fen")
        second = self.fit("d.csv", *APPROX, "--threads", "2", model="2.fen")
        self.fit("d.csv", *APPROX, "--seed", "2", model="s.fen")
        one, two, seed = (self.read(name) for name in ("1.fen", "2.fen", "s.fen"))
        self.assertEqual(array(one, "frequencies"), array(two, "frequencies"))
        self.assertNotEqual(array(one, "frequencies"), array(seed, "frequencies"))
        self.assertAlmostEqual(first["primal"] / second["primal"], 1, 11)

    def test_everything_chosen(self):
        """gamma on a part of the rows, lambda and power on all of them."""
        self.run_tool("generate", "friedman", "--rows", "400", "-o", "s.csv")
        found = self.fit("s.csv", "--approx", "orthogonal:60", "--power", "auto")
        self.assertEqual((found["score_kind"], found["score_rows"]), ("loo", 400))
        best = min(found["grid"], key=lambda point: point["score"])
        self.assertEqual([best[key] for key in ("gamma", "lambda", "power")],
                         [found[key] for key in ("gamma", "lambda", "power")])
        self.assertTrue(self.run_tool("verify", "m.fen", "s.csv", "--json").json["holds"])
        only_gamma = self.fit("s.csv", "--approx", "fourier:60", "--lambda", "1e-4")
        self.assertGreater(len({point["gamma"] for point in only_gamma["grid"]}), 5)
        self.assertTrue(self.run_tool("verify", "m.fen", "s.csv", "--json").json["holds"])
        untuned = self.fit("s.csv", "--approx", "fourier:60", "--gamma", "mean", "--lambda", "1/n",
                           "--power", "0.5")
        self.assertNotIn("grid", untuned)
        self.assertAlmostEqual(untuned["lambda"], 1 / 400, 15)

    def test_other_rows_are_not_verified(self):
        self.fit("d.csv", *APPROX)
        self.run_tool("generate", "friedman", "--rows", "3000", "--seed", "5", "-o", "e.csv")
        self.refuse("verify", "m.fen", "e.csv", code=DATA, says=("e.csv", "trained"))

    def test_refusals(self):
        fit = ("fit", "d.csv", "-o", "n.fen", "--gamma", "1", "--lambda", "1")
        for approx in ("fourier:3", "fourier:0", "fourier:30000", "orthogonal", "nystrom:10"):
            self.refuse(*fit, "--approx", approx, code=USAGE, says=("--approx",))
        for more, says in (
                (("--kernel", "linear"), ("linear", "Fourier")),
                (("--kernel", "polynomial"), ("polynomial", "Fourier")),
                (("--select", "kfold:5"), ("kfold:5", "loo")),
                (("--engine", "spectral"), ("--engine spectral", "--approx"))):
            self.refuse(*fit, "--approx", "fourier:40", *more, code=USAGE, says=says)
        self.refuse(*fit, "--approx", "orthogonal:40", "--kernel", "laplace1", code=USAGE,
                    says=("laplace1", "fourier:40"))
        self.refuse(*fit, "--approx", "fourier:20000", "--memory", "100M", code=5,
                    says=("MB", "fewer columns"))
        self.refuse("fit", "-", "-o", "n.fen", "--approx", "fourier:40", code=DATA,
                    says=("twice", "file"), input=self.read("d.csv"))
        self.write("same.csv", "a,b,y\n" + "1,2,3\n" * 20)
        self.refuse("fit", "same.csv", "--approx", "fourier:4", code=DATA, says=("same.csv",))

    def test_constant_targets(self):
        rows = "".join(f"{i % 13},{i % 7},5\n" for i in range(100))
        self.write("c.csv", "a,b,y\n" + rows)
        for power in ("0.5", "1", "2"):
            found = self.fit("c.csv", *APPROX, "--power", power)
            self.assertEqual((found["verdict"], found["bias"]), ("optimal", 5))
            self.assertAlmostEqual(found["norm"], 0, 12)
            self.assertTrue(self.run_tool("verify", "m.fen", "c.csv", "--json").json["holds"])


if __name__ == "__main__":
    unittest.main()
