"""The scripts that come with LIBSVM (Debian's svm-grid, svm-easy, svm-subset, svm-checkdata) run
on our commands as on its own."""
import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from svm import SvmTest, need_libsvm, two_classes  # noqa: E402
from tool import FENCHEL  # noqa: E402

SCRIPTS = ("svm-grid", "svm-easy", "svm-subset", "svm-checkdata")
need_libsvm(*SCRIPTS)


class Tools(SvmTest):
    def setUp(self):
        """bin: our commands and a Python for "env python"; tools: where svm-easy looks for the
        others, one folder up."""
        super().setUp()
        self.write("rows", two_classes(count=120))
        os.mkdir(self.path("tools"))
        os.mkdir(self.path("bin"))
        os.symlink(sys.executable, self.path("bin/python"))
        for name in ("svm-train", "svm-predict", "svm-scale"):
            os.symlink(FENCHEL, self.path(name))
        os.symlink(shutil.which("svm-grid"), self.path("tools/grid.py"))

    def script(self, name, *words, folder=".", code=0, says=""):
        print("$", name, *words, flush=True)
        path = self.path("bin") + os.pathsep + os.environ["PATH"]
        done = subprocess.run([sys.executable, shutil.which(name), *words],
                              cwd=self.path(folder), capture_output=True, text=True, timeout=300,
                              check=False, env={**os.environ, "PATH": path})
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertRegex(done.stderr, f"^{says}$")
        return done.stdout

    def test_grid(self):
        """The best rate of a grid is LIBSVM's but for the folds, which are dealt otherwise."""
        rates = []
        for program in (self.path("svm-train"), shutil.which("svm-train")):
            text = self.script("svm-grid", "-log2c", "-1,5,2", "-log2g", "1,-5,-2", "-gnuplot",
                               "null", "-out", "grid.out", "-svmtrain", program, "rows")
            self.assertEqual(len(self.read("grid.out").splitlines()), 16)
            rates.append(float(text.splitlines()[-1].split()[-1]))
        self.assertLess(abs(rates[0] - rates[1]), 6.0)
        self.assertGreater(rates[0], 75.0)

    def test_easy(self):
        if not os.path.exists("/usr/bin/gnuplot"):
            self.skipTest("svm-easy wants gnuplot")
        text = self.script("svm-easy", "../rows", "../two", folder="tools",
                           says="(WARNING: original #nonzeros .*\n.*\n.*rather than.*\n){2}")
        best = re.search(r"Best c=([\d.]+), g=([\d.]+) CV rate=([\d.]+)", text)
        self.assertGreater(float(best.group(3)), 75.0)
        self.assertRegex(text, r"Accuracy = [\d.]+% \(\d+/60\) \(classification\)")
        made = ("rows.scale", "rows.range", "rows.scale.out", "rows.model", "two.scale",
                "two.predict")
        for name in made:
            self.assertIn(name, os.listdir(self.path("tools")))
        self.assertEqual(len(self.values("tools/two.predict")), 60)

    def test_subset(self):
        self.script("svm-subset", "rows", "50", "some", "rest")
        self.assertEqual(self.ours("svm-train", "-q", "some", "m").code, 0)
        said = self.ours("svm-predict", "rest", "m", "out").out
        self.assertRegex(said, r"\(\d+/70\) \(classification\)")

    def test_checkdata(self):
        """What svm-scale writes is well-formed; what svm-train refuses, the script refuses."""
        self.write("scaled", self.ours("svm-scale", "rows").out)
        self.assertIn("No error.", self.script("svm-checkdata", "scaled"))
        self.write("bad", "1 2:1 1:1\n-1 1:1\n")
        self.script("svm-checkdata", "bad", code=1)
        self.assertEqual(self.ours("svm-train", "-q", "bad", "m").code, 1)


if __name__ == "__main__":
    unittest.main()
