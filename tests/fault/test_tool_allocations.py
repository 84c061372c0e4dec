"""Every allocation of the tool fails once, for every command and family of models, by preloading.

Law: the failure is survived (the same exit code, the same files) or is exit code 5 and one sentence
that speaks of memory; the output is the old file or the new one, and nothing else is left. All
allocations of one fit are tried; of the others a sample with a fixed seed, spread over the run."""
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

from tool import FENCHEL, ToolTest, unittest     # noqa: E402

LIBRARY = os.environ["FAILING_ALLOCATION"]
SAMPLE = 48
FIXED = ["--gamma", "0.1", "--lambda", "0.1"]
LINEAR = ["--kernel", "linear", "--lambda", "0.1"]
FITS = {
    "ridge": FIXED, "linear": LINEAR, "svr": [*FIXED, "--loss", "eps:0.5"],
    "power": [*FIXED, "--power", "1.5"], "quantiles": [*FIXED, "--loss", "pinball:0.2,0.8"],
    "lasso": [*LINEAR, "--penalty", "l1"], "group": [*LINEAR, "--penalty", "group:auto"],
    "ols": ["--penalty", "none"], "lp": ["--penalty", "lp:4/3", "--kernel", "tensor-polynomial",
                                         "--lambda", "0.1"],
    "fourier": [*FIXED, "--approx", "fourier:8"],
    "orthogonal": [*FIXED, "--approx", "orthogonal:8"],
    "chosen": ["--gamma", "0.1,1", "--lambda", "0.1,1"],
}


class Allocations(ToolTest):
    def setUp(self):
        super().setUp()
        self.run_tool("generate", "friedman", "--rows", "14", "-o", "r.csv", "--quiet")
        lines = self.read("r.csv").decode().splitlines()
        rows = [line.split(",")[:3] + ["uv"[i % 2], "no" if i % 3 else "yes"]
                for i, line in enumerate(lines[1:])]
        self.write("c.csv", "a,b,c,t,y\n" + "".join(",".join(row) + "\n" for row in rows))
        self.write("d.svm", "".join(f"{1 - 2 * (i % 2)} 1:{i % 5} 3:{i * i % 7}\n" for i in range(14)))
        for name, words in {"r": FITS["ridge"], "l": FITS["lasso"]}.items():
            self.run_tool("fit", "r.csv", *words, "-o", name + ".fen", "--quiet")
        self.run_tool("fit", "c.csv", *FIXED, "--probability", "-o", "c.fen", "--quiet")
        self.run_tool("svm-train", "-q", "d.svm", "d.model")

    def run_failing(self, k, words, output):
        """One run in a folder of its own: exit code, stderr, log, what is there afterwards."""
        folder = os.path.join(self.folder, f"run{k}")
        os.mkdir(folder)
        for name in self.inputs:
            os.link(self.path(name), os.path.join(folder, name))
        if output:
            with open(os.path.join(folder, output), "wb") as file:
                file.write(b"old")
        log = os.path.join(self.folder, f"log{k}")
        preload = " ".join(filter(None, (os.environ.get("LD_PRELOAD"), LIBRARY)))
        done = subprocess.run([FENCHEL, *words], cwd=folder, capture_output=True, timeout=120,
                              env={**os.environ, "LD_PRELOAD": preload, "FAIL_ALLOCATION": str(k),
                                   "FAIL_ALLOCATION_LOG": log, "OMP_NUM_THREADS": "1",
                                   "OMP_WAIT_POLICY": "passive"})
        with open(log, encoding="ascii") as file:
            count = file.read()
        left = {}
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), "rb") as file:
                left[name] = file.read()
            os.unlink(os.path.join(folder, name))
        os.rmdir(folder)
        os.unlink(log)
        return done.returncode, done.stderr.decode(), count, left

    def check(self, title, words, output=None, every=False, room=(5,), says="memory"):
        self.inputs = [name for name in self.files() if os.path.isfile(self.path(name))
                       and name != output]
        code, said, count, whole = self.run_failing(0, words, output)
        self.assertIn(code, (0, 1), said)
        numbers = range(1, int(count) + 1)
        if not every:
            numbers = sorted(random.Random(title).sample(numbers, min(SAMPLE, len(numbers))))
        with ThreadPoolExecutor(2) as pool:
            runs = list(pool.map(lambda k: self.run_failing(k, words, output), numbers))
        failed = 0
        for k, (got, err, _, left) in zip(numbers, runs):
            where = f"{title}, allocation {k} of {count}: exit code {got}, {err!r}"
            self.assertEqual(set(left), set(whole), where)
            if got == code:
                self.assertTrue(not output or self.same(left[output], whole[output]), where)
                continue
            failed += 1
            self.assertIn(got, room, where)
            self.assertEqual(len(err.splitlines()), 1, where)
            self.assertIn(says, err, where)
            if output and left[output] != b"old":
                self.assertTrue(self.same(left[output], whole[output]), where)
                self.assertIn(output, err, where)       # the sentence says that it is there
        print(f"{title}: {len(numbers)} of {count} allocations, {failed} of them told", flush=True)
        self.assertGreater(failed, 0)

    @staticmethod
    def same(one, other):
        """Models hold how long they took."""
        return one == other or (len(one) > 8 and one[8:9] == b"{" and
                                abs(len(one) - len(other)) < 64)

    def test_every_allocation_of_a_fit(self):
        self.check("fit ridge", ["fit", "r.csv", *FITS["ridge"], "-o", "m.fen"], "m.fen", every=True)

    def test_families(self):
        for name, words in FITS.items():
            self.check("fit " + name, ["fit", "r.csv", *words, "-o", "m.fen"], "m.fen")
        for words in (["--probability"], ["--loss", "hinge"]):
            self.check("fit classes", ["fit", "c.csv", *FIXED, *words, "-o", "m.fen"], "m.fen")
        self.check("fit one class", ["fit", "r.csv", "--gamma", "0.1", "--task", "one-class",
                                     "--nu", "0.3", "-o", "m.fen"], "m.fen")

    def test_commands(self):
        self.check("predict", ["predict", "r.fen", "r.csv", "-o", "p.csv"], "p.csv")
        self.check("predict linear", ["predict", "l.fen", "r.csv", "-o", "p.csv"], "p.csv")
        self.check("predict classes", ["predict", "c.fen", "c.csv", "-o", "p.csv", "--scores"],
                   "p.csv")
        self.check("predict --json", ["predict", "r.fen", "r.csv", "-o", "p.csv", "--json"], "p.csv")
        self.check("verify", ["verify", "r.fen", "r.csv"])
        self.check("verify linear", ["verify", "l.fen", "r.csv"])
        self.check("info", ["info", "c.fen"])
        self.check("info --json", ["info", "l.fen", "--json"])
        self.check("select", ["select", "r.csv", "--gamma", "0.1,1", "-o", "g.csv"], "g.csv")
        self.check("path", ["path", "r.csv", "--penalty", "l1", "-o", "g.csv"], "g.csv")
        self.check("path --plot", ["path", "r.csv", "--penalty", "l1", "--plot", "g.svg"], "g.svg")
        self.check("plan", ["plan", "r.csv"])
        self.check("generate", ["generate", "friedman", "--rows", "9", "-o", "g.csv"], "g.csv")
        self.check("convert", ["convert", "c.csv", "g.csv"], "g.csv")
        self.check("convert to npy", ["convert", "r.csv", "g.npy"], "g.npy")
        self.check("convert svmlight", ["convert", "d.svm", "g.csv"], "g.csv")

    def test_drop_ins(self):
        more = {"room": (1, 5, 255), "says": ""}    # the codes and words of LIBSVM
        self.check("svm-train", ["svm-train", "-q", "d.svm", "m.model"], "m.model", **more)
        self.check("svm-predict", ["svm-predict", "d.svm", "d.model", "p.txt"], "p.txt", **more)
        self.check("svm-scale", ["svm-scale", "-s", "range", "d.svm"], "range", **more)


if __name__ == "__main__":
    unittest.main()
