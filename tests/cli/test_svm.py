"""svm-train, svm-predict and svm-scale as commands of the tool and under their own names."""
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from svm import SvmTest, numbers  # noqa: E402
from tool import FENCHEL  # noqa: E402

COMMANDS = ("svm-train", "svm-predict", "svm-scale")


class Svm(SvmTest):
    def test_links(self):
        for name in COMMANDS:
            os.symlink(FENCHEL, self.path(name))
        linked = self.run_any(self.path("svm-scale"), "two")
        self.assertEqual(linked.out, self.ours("svm-scale", "two").out)
        self.assertEqual(self.run_any(self.path("svm-train"), "two").code, 0)
        self.assertIn("two.model", self.files())
        done = self.run_any(self.path("svm-predict"), "two", "two.model", "out")
        self.assertRegex(done.out, r"^Accuracy = [\d.]+% \(\d+/60\) \(classification\)\n$")
        self.assertEqual(len(self.values("out")), 60)

    def test_help(self):
        overview = self.run_tool("--help").out
        for name in COMMANDS:
            self.assertRegex(overview, rf"(?m)^  {name} ")
            text = self.run_tool(name, "--help").out
            self.assertIn(f"Usage: fenchel {name} [options]", text)
            self.assertIn("Examples:", text)
            self.assertEqual(text, self.run_tool("help", name).out)
            usage = self.ours(name)
            self.assertEqual((usage.code, usage.err), (1, ""))
            self.assertTrue(usage.out.startswith(f"Usage: {name} [options]"))
            self.assertIn("\n.SS svm", self.run_tool("--man").out)

    def test_model_name_has_no_folder(self):
        os.mkdir(self.path("deep"))
        self.write("deep/rows", "1 1:1\n-1 1:2\n")
        self.assertEqual(self.ours("svm-train", "-q", "deep/rows").code, 0)
        self.assertIn("rows.model", self.files())
        self.assertEqual(os.listdir(self.path("deep")), ["rows"])

    def test_large_indices_take_no_room(self):
        """svm-scale needs memory for what the files hold, not for the largest index."""
        self.write("far", "1 1:2\n2 300000000:3\n")
        self.write("factors", "x\n-1 1\n1 0 2\n2000000000 0 4\n")
        for words in (("-s", "saved", "far"), ("-r", "factors", "far")):
            child = subprocess.Popen([FENCHEL, "svm-scale", *words], cwd=self.folder,
                                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            text = child.stdout.read().decode()
            child.stdout.close()
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(child.returncode, 0)
            self.assertLess(used.ru_maxrss, 1 << 20)    # kB
            self.assertIn("300000000:1 " if words[0] == "-s" else "1 1:1 2000000000:-1 ", text)
        self.assertEqual(self.read("saved"), b"x\n-1 1\n1 0 2\n300000000 0 3\n")

    def test_no_rows(self):
        done = self.ours("svm-train", "empty", "m")
        self.assertEqual((done.code, done.out), (1, ""))
        self.assertIn("no rows", done.err)
        self.assertNotIn("m", self.files())

    def test_rows_before_a_wrong_line(self):
        """They are predicted, as LIBSVM does; there is no summary."""
        self.ours("svm-train", "-q", "two", "m")
        lines = self.read("two").decode().splitlines(keepends=True)
        self.ours("svm-predict", "two", "m", "whole")
        for wrong in ("1 2:1 1:1\n", "nonsense\n", "1 1:x\n"):
            self.write("bad", "".join(lines[:7]) + wrong + "".join(lines[7:]))
            done = self.ours("svm-predict", "bad", "m", "out")
            self.assertEqual((done.code, done.out), (1, ""))
            self.assertEqual(done.err, "Wrong input format at line 8\n")
            self.assertEqual(self.values("out"), self.values("whole")[:7])
            self.assertEqual(self.ours("svm-train", "bad", "m2").code, 1)

    def test_gzip(self):
        import gzip
        with gzip.open(self.path("two.gz"), "wb") as file:
            file.write(self.read("two"))
        for name in ("two", "two.gz"):
            self.assertEqual(self.ours("svm-train", "-q", name, name + ".m").code, 0)
        self.assertEqual(self.read("two.m"), self.read("two.gz.m"))

    def test_same_answer_every_time(self):
        for words in (("-b", 1, "three"), ("-s", 4, "-b", 1, "reg")):
            for name in ("a", "b"):
                self.assertEqual(self.ours("svm-train", "-q", *words, name).code, 0)
            self.assertEqual(self.read("a"), self.read("b"))

    def test_broken_models(self):
        """What LIBSVM crashes on is refused in words."""
        self.ours("svm-train", "-q", "two", "m")
        lines = self.read("m").decode().splitlines()
        breaks = [("label", None), ("rho", None), ("nr_sv", None), ("total_sv", "total_sv -3"),
                  ("total_sv", "total_sv 100000000000"), ("total_sv", "total_sv 9"),
                  ("nr_class", "nr_class 3"), ("nr_class", "nr_class 1000000"),
                  ("gamma", "gamma x"), ("rho", "rho nan"), ("nr_sv", "nr_sv -1 1"),
                  ("SV", None)]
        for key, other in breaks:
            changed = [line if line.split()[0] != key else other for line in lines]
            self.write("bad", "\n".join(line for line in changed if line is not None) + "\n")
            done = self.ours("svm-predict", "two", "bad", "out")
            self.assertEqual(done.code, 1, (key, other))
            self.assertTrue(done.err.endswith("can't open model file bad\n"), done.err)
        self.write("bad", "\n".join(lines[:-1]) + "\n")
        self.assertEqual(self.ours("svm-predict", "two", "bad", "out").code, 1)

    def test_cache_changes_nothing(self):
        objectives = [numbers(self.ours("svm-train", *words, "three", "m").out, "obj")
                      for words in ((), ("-m", "0.001"), ("-m", "4000"))]
        for other in objectives[1:]:
            for a, b in zip(objectives[0], other):
                self.assertLess(abs(a - b), 2e-6 * abs(a))


if __name__ == "__main__":
    unittest.main()
