"""A model is what its file says, wherever it was fitted: what this processor fits the other one
verifies and predicts alike, and the reverse. FENCHEL is run by FENCHEL_EMULATOR, FENCHEL_NATIVE by
the processor itself."""
import csv
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tool import FENCHEL, ToolTest  # noqa: E402

NATIVE = os.environ["FENCHEL_NATIVE"]
if not os.path.exists(NATIVE):
    print("SKIPPED: build the preset release first; there is no", NATIVE)
    sys.exit(77)
MACHINES = {"native": [NATIVE], "emulated": [*os.environ["FENCHEL_EMULATOR"].split(), FENCHEL]}

GIVEN = ("--gamma", "0.3", "--lambda", "1e-3")
FITS = {
    "gaussian": GIVEN,
    "quantiles": ("--kernel", "laplace1", "--loss", "pinball:0.1,0.9", *GIVEN),
    "random features": ("--approx", "fourier:64", *GIVEN),
    "classes": ("--target", "class", *GIVEN),
    "lasso": ("--penalty", "l1", "--lambda", "0.01"),
    "lp": ("--penalty", "lp:1.5", "--lambda", "0.01"),
}


class Across(ToolTest):
    def on(self, machine, *words):
        print(f"{machine}: fenchel", *words, flush=True)
        done = subprocess.run([*MACHINES[machine], *words], cwd=self.folder, capture_output=True,
                              timeout=600, text=True)
        self.assertEqual(done.returncode, 0, f"{machine}: {done.stdout}\n{done.stderr}")
        return done.stdout

    def predictions(self, machine, model):
        self.on(machine, "predict", model, "fresh.csv", "-o", "out.csv")
        with open(self.path("out.csv"), newline="") as file:
            return list(csv.reader(file))

    def assert_alike(self, ours, theirs):
        """Words and layout to the letter, numbers to 1e-9: sums end in another order elsewhere."""
        self.assertEqual(len(ours), len(theirs))
        for one, other in zip(ours, theirs):
            self.assertEqual(len(one), len(other))
            for a, b in zip(one, other):
                if a != b:
                    self.assertAlmostEqual(float(a), float(b), delta=1e-9 * (1 + abs(float(a))))

    def test_generated_rows(self):
        for machine in MACHINES:
            self.on(machine, "generate", "friedman", "--rows", "50", "-o", machine + ".csv")
        self.assertEqual(self.read("native.csv").splitlines()[0],
                         self.read("emulated.csv").splitlines()[0])
        self.assert_alike(*[list(csv.reader(self.read(machine + ".csv").decode().splitlines()))
                            for machine in MACHINES])

    def test_models(self):
        for name, rows in ("data.csv", 120), ("fresh.csv", 30):
            self.on("native", "generate", "friedman", "--rows", str(rows), "--seed", str(rows),
                    "-o", name)
        lines = self.read("data.csv").decode().splitlines()
        cells = [line.rpartition(",") for line in lines]
        labels = ["class"] + ["high" if float(last) > 14 else "low" for _, _, last in cells[1:]]
        self.write("class.csv", "".join(f"{first},{label}\n"
                                        for (first, _, _), label in zip(cells, labels)))
        for name, words in FITS.items():
            data = "class.csv" if name == "classes" else "data.csv"
            for fits, checks in ("native", "emulated"), ("emulated", "native"):
                with self.subTest(name, fitted=fits):
                    self.on(fits, "fit", data, *words, "-o", "m.fen")
                    self.on(checks, "verify", "m.fen", data)
                    self.assert_alike(self.predictions(fits, "m.fen"),
                                      self.predictions(checks, "m.fen"))


if __name__ == "__main__":
    unittest.main()
