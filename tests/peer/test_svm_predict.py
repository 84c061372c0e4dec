"""svm-predict reads LIBSVM's models and answers what LIBSVM's own program answers; LIBSVM's
program reads ours. Same files, messages and exit codes."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from svm import SvmTest, need_libsvm  # noqa: E402

need_libsvm()
KERNEL = ("-d", "2", "-g", "0.5", "-r", "1")
ROUNDING = 1e-8         # of sums over support vectors in another order


class Predict(SvmTest):
    def models(self, train, probability=True):
        """(data, model) of every type and kernel, made by train."""
        for type_ in range(5):
            for kernel in range(4):
                for data in ("two", "three", "reg"):
                    if type_ < 2 and data == "reg":
                        continue
                    with_b = probability and type_ != 2
                    done = train("svm-train", "-q", "-s", type_, "-t", kernel, *KERNEL, "-n",
                                 "0.375", "-b", int(with_b), data, "m")
                    self.assertEqual(done.code, 0, done.err)
                    yield data, with_b
        for data in ("pre",):
            self.assertEqual(train("svm-train", "-q", "-t", 4, data, "m").code, 0)
            yield data, False

    def compare(self, *words):
        self.same("svm-predict", *words, "out")
        os.rename(self.path("out"), self.path("ours"))
        self.theirs("svm-predict", *words, "out")
        # -b prints six digits, the last of which may be rounded either way
        self.assert_files_close("ours", "out", 2e-6 if "-b" in words else ROUNDING)

    def test_their_models(self):
        for data, with_b in self.models(self.theirs):
            self.compare(data, "m")
            if with_b:
                self.compare("-b", "1", data, "m")
            self.same("svm-predict", "-q", data, "m", "out")

    def test_columns_that_the_model_has_not(self):
        self.write("wide", "1 1:0.5 7:2\n-1 2:1 3:-1 4:0.25 900:1\n1\n-1 5:1\n")
        for data, _ in self.models(self.theirs, probability=False):
            if data != "pre":
                self.compare("wide", "m")

    def test_one_class_only(self):
        self.write("single", "3 1:1\n3 1:2\n")
        for b in "01":
            self.theirs("svm-train", "-q", "-b", b, "single", "m")
            self.compare("-b", b, "two", "m")

    def test_messages(self):
        self.theirs("svm-train", "-q", "two", "m")
        for words in (("nothing", "m", "out"), ("two", "nothing", "out"),
                      ("two", "m", "no/such/out"), ("two", "reg", "out"),
                      ("-b", "1", "two", "m", "out"), ("two", "m", "out", "more"),
                      ("empty", "m", "out"), ("-q", "-q", "two", "m", "out")):
            self.same("svm-predict", *words)
        for words in ((), ("two", "m"), ("-x", "two", "m", "out"), ("-b", "x", "two", "m", "out")):
            self.same("svm-predict", *words, out=False)
        for part, other in (("c_svc", "foo"), ("rbf", "foo"), ("rho", "foo 3\nrho"),):
            text = self.read("m").decode()
            self.write("bad", text.replace(part, other, 1))
            self.same("svm-predict", "two", "bad", "out")

    def test_wrong_lines(self):
        self.theirs("svm-train", "-q", "two", "m")
        for line in ("abc 1:2", "1 2:3 1:2", "1 1:2 1:3", "1 1:x", "1 1", "1 1:2 3", "1 a:2",
                     "1 1:", "1 -1:2", "1 0:2", "", "1 1:2x", "1x 1:2", "1 1: 2", "1 1 :2",
                     "1 2.5:1", "1 1e0:3", "1 # c", "1 1:1e400", "1 1:2\r", "1\r", "\t1  1:2\t2:3 ",
                     "1 1:2:3", "1 1:2 :3", "1 01:1", "+1 +1:+2", "1 1:.5", "1 1:5.", "1 1:1e",
                     "1 1:1e5 2:-1E-5"):
            self.write("rows", f"1 1:1 2:2\n-1 1:1 2:1\n{line}\n1 1:2\n")
            self.same("svm-predict", "rows", "m", "out")


if __name__ == "__main__":
    unittest.main()
