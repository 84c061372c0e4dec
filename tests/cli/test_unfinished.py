"""An unfinished model never replaces a finished one unasked, and whoever uses it is told."""
import os
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tool import FENCHEL, ToolTest  # noqa: E402

NO, INTERRUPTED = 1, 130
GOOD = ("--gamma", "1", "--lambda", "1e-3")
BAD = ("--kernel", "polynomial", "--degree", "9", "--gamma", "100", "--lambda", "1e-12",
       "--tolerance", "1e-300")                 # rounding errors leave no gap so small


class Unfinished(ToolTest):
    def setUp(self):
        super().setUp()
        self.some_data(rows=50)

    def test_beside_a_finished_one(self):
        self.run_tool("fit", "data.csv", *GOOD, "--quiet")
        before = self.read("data.fen")
        found = self.run_tool("fit", "data.csv", *BAD, code=NO)
        self.assertIn("data.fen holds a finished model and stays", found.err)
        self.assertIn("data.unfinished.fen", found.err)
        self.assertIn("Model        data.unfinished.fen", found.out)
        self.assertEqual(self.read("data.fen"), before)
        again = self.run_tool("fit", "data.csv", *BAD, "--json", code=NO).json
        self.assertEqual((again["model"], again["finished"]), ("data.unfinished.fen", False))
        self.assertEqual(self.files(), ["data.csv", "data.fen", "data.unfinished.fen"])

    def test_force(self):
        self.run_tool("fit", "data.csv", *GOOD, "--quiet")
        self.run_tool("fit", "data.csv", *BAD, "--force", "--quiet", code=NO)
        self.assertEqual(self.files(), ["data.csv", "data.fen"])
        self.assertFalse(self.run_tool("info", "data.fen", "--json").json["finished"])

    def test_nothing_finished_is_there(self):
        for there in (None, "unfinished", "no model"):
            if there == "no model":
                self.write("data.fen", "x")
            self.run_tool("fit", "data.csv", *BAD, "--quiet", code=NO)
            self.assertEqual(self.files(), ["data.csv", "data.fen"])
        self.run_tool("fit", "data.csv", *GOOD, "--quiet")     # a finished one replaces it
        self.assertTrue(self.run_tool("info", "data.fen", "--json").json["finished"])

    def test_other_endings(self):
        self.run_tool("fit", "data.csv", *GOOD, "--quiet", "-o", "model")
        self.run_tool("fit", "data.csv", *BAD, "--quiet", "-o", "model", code=NO)
        self.assertEqual(self.files(), ["data.csv", "model", "model.unfinished.fen"])

    def test_who_uses_it_is_told(self):
        self.run_tool("fit", "data.csv", *BAD, "--quiet", code=NO)
        self.assertIn("the model is unfinished (", self.run_tool("info", "data.fen").out)
        self.assertIn("the model is unfinished (",
                      self.run_tool("predict", "data.fen", "data.csv").err)
        found = self.run_tool("predict", "data.fen", "data.csv", "--json").json
        self.assertFalse(found["finished"])
        self.assertIn("the model is unfinished (", found["note"])
        self.assertIn("the model is unfinished (",
                      self.run_tool("verify", "data.fen", "data.csv").out)
        self.assertFalse(self.run_tool("verify", "data.fen", "data.csv", "--json").json["finished"])

    def test_a_finished_one_is_used_quietly(self):
        self.run_tool("fit", "data.csv", *GOOD, "--quiet")
        for words in (("info", "data.fen"), ("predict", "data.fen", "data.csv"),
                      ("verify", "data.fen", "data.csv")):
            found = self.run_tool(*words)
            self.assertNotIn("unfinished", found.out + found.err)
            if words[0] != "info":
                self.assertTrue(self.run_tool(*words, "--json").json["finished"])

    def test_interrupted(self):
        self.some_data("big.csv", rows=6000)
        fit = ("big.csv", "--loss", "absolute", "--gamma", "0.3", "-o", "big.fen")
        self.run_tool("fit", "big.csv", "--gamma", "0.3", "--lambda", "1", "-o", "big.fen", "-q")
        before = self.read("big.fen")
        for wait in (0.5, 1, 2):                # until the solver has begun, not before
            tool = subprocess.Popen([FENCHEL, "fit", *fit, "--lambda", "1e-7", "--tolerance", "1e-12"],
                                    cwd=self.folder, stderr=subprocess.PIPE,
                                    stdout=subprocess.DEVNULL)
            time.sleep(wait)
            tool.send_signal(signal.SIGINT)
            err = tool.communicate(timeout=300)[1].decode()
            self.assertEqual(tool.returncode, INTERRUPTED, err)
            self.assertEqual(self.read("big.fen"), before)
            if "nothing was written" not in err:
                break
        self.assertIn("big.unfinished.fen", err)
        self.assertIn("big.unfinished.fen", self.files())


if __name__ == "__main__":
    unittest.main()
