"""The drop-ins beside LIBSVM 3.37 (libsvm-official of PyPI), whose models of one class tell
probabilities.

It is taken from where Python finds it, from the folder that FENCHEL_PEERS names, or from PyPI:
pip compiles it once for a build folder. Where none of that works, the test is skipped."""
import importlib
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from svm import SvmTest  # noqa: E402

WANTED = "libsvm-official>=3.37"
FOLDER = os.path.join(tempfile.gettempdir(), "libsvm-official")
KERNEL = ("-d", "2", "-g", "0.5", "-r", "1")


def official():
    """The module libsvm.svmutil; exit code 77: there is none."""
    sys.path[:0] = [name for name in (os.environ.get("FENCHEL_PEERS"), FOLDER) if name]
    for built in (False, True):
        try:
            from libsvm import svmutil     # pylint: disable=import-outside-toplevel
            return svmutil
        except ImportError:
            if built:
                break
        pip = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps",
                              "--target", FOLDER, WANTED], capture_output=True, text=True,
                             check=False, timeout=600)
        if pip.returncode:
            print(pip.stderr[-400:])
        importlib.invalidate_caches()
    print(f"SKIPPED: {WANTED} is not installed (FENCHEL_PEERS), and pip does not build it")
    sys.exit(77)


SVM = official()


class Official(SvmTest):
    def their_model(self, *options, data, model="m"):
        y, x = SVM.svm_read_problem(self.path(data))
        SVM.svm_save_model(self.path(model), SVM.svm_train(y, x, " ".join(["-q", *options])))

    def their_answers(self, data, model, probability):
        """What LIBSVM's svm-predict would write, and the decision values or probabilities."""
        y, x = SVM.svm_read_problem(self.path(data))
        found = SVM.svm_load_model(self.path(model))
        labels, _, values = SVM.svm_predict(y, x, found, f"-q -b {probability}")
        lines = [" ".join([f"{a:.17g}", *(f"{v:g}" for v in row if probability)])
                 for a, row in zip(labels, values)]
        if probability and found.get_svm_type() == SVM.svm_forms.ONE_CLASS:
            lines.insert(0, "labels normal outlier")
        elif probability:
            lines.insert(0, " ".join(["labels", *map(str, found.get_labels())]))
        return "\n".join(lines) + "\n", values

    def marks(self, model):
        for line in self.read(model).decode().split("\nSV\n")[0].splitlines():
            if line.startswith("prob_density_marks "):
                return [float(word) for word in line.split()[1:]]
        return None

    def test_one_class_both_ways(self):
        for data, nu in (("reg", "0.5"), ("two", "0.25"), ("three", "0.5")):
            words = ("-s", "2", "-b", "1", *KERNEL, "-n", nu)
            for train in (self.their_model, None):
                if train:
                    train(*words, data=data)
                else:
                    self.assertEqual(self.ours("svm-train", *words, data, "m").err, "")
                self.assertEqual(len(self.marks("m")), 10)
                self.assertEqual(self.ours("svm-predict", "-b", "1", data, "m", "out").code, 0)
                self.assertEqual(self.read("out").decode(), self.their_answers(data, "m", 1)[0])
                said = self.ours("svm-predict", data, "m", "out").out
                self.assertIn("Model supports probability estimates, but disabled", said)

    def test_marks_by_their_definition(self):
        """From LIBSVM's decision values of our model; those of rows on the edge are 0 but for
        rounding, and count as not negative."""
        for data, nu in (("reg", "0.5"), ("two", "0.25"), ("three", "0.375")):
            self.ours("svm-train", "-q", "-s", "2", "-b", "1", *KERNEL, "-n", nu, "-e", "1e-8",
                      data, "m")
            values = sorted(row[0] for row in self.their_answers(data, "m", 0)[1])
            values = [0.0 if abs(v) < 1e-6 * max(map(abs, values)) else v for v in values]
            below = sum(v < 0 for v in values)
            above = len(values) - below
            ends = ([values[i * below // 5] for i in range(5)] + [0.0]
                    + [values[below - 1 + i * above // 5] for i in range(1, 6)])
            for found, a, b in zip(self.marks("m"), ends, ends[1:]):
                self.assertAlmostEqual(found, (a + b) / 2, delta=1e-6 * max(map(abs, values)))

    def test_too_few_decisions(self):
        self.write("few", "".join(f"1 1:{i} 2:{i % 3}\n" for i in range(8)))
        done = self.ours("svm-train", "-q", "-s", "2", "-b", "1", "few", "m")
        self.assertEqual((done.code, done.out), (0, ""))
        self.assertEqual(done.err, "WARNING: number of positive or negative decision values <5; "
                                   "too few to do a probability estimation.\n")
        self.assertIsNone(self.marks("m"))
        done = self.ours("svm-predict", "-b", "1", "few", "m", "out")
        self.assertEqual((done.code, done.err),
                         (1, "Model does not support probabiliy estimates\n"))

    def test_their_classes_and_numbers(self):
        """Not nu-SVC of three classes: their svm_predict has room for one decision value there."""
        for type_ in (0, 1, 3, 4):
            for data in ("two", "three")[:2 - type_] if type_ < 2 else ("reg",):
                self.their_model("-s", str(type_), *KERNEL, "-n", "0.375", "-b", "1", data=data)
                for b in (0, 1) if type_ < 2 else (0,):
                    self.ours("svm-predict", "-q", "-b", str(b), data, "m", "ours")
                    self.write("theirs", self.their_answers(data, "m", b)[0])
                    self.assert_files_close("ours", "theirs", 2e-6 if b else 1e-8)


if __name__ == "__main__":
    unittest.main()
