"""svm-scale writes the very bytes that LIBSVM's program writes, to all its files."""
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from svm import SvmTest, need_libsvm  # noqa: E402

need_libsvm()
MIXED = "1 1:1 3:2.5 7:1e10\n-1 1:2 2:4\n+1 3:1e-7 5:3\n2.5 1:3.123456789 3:-4\n"
DATA = {"mixed": MIXED, "constant": "1 1:3 2:2\n2 1:3 2:7\n", "zero": "1 0:3 1:2\n2 0:4 1:7\n",
        "one": "5 1:3 2:2\n5 1:1", "dos": "1 1:1 2:0.1\r\n2 1:3 2:0.3\r\n",
        "blanks": " 1  1:2   2:3\n\t2\t1:3\t2:4", "comment": "1 1:2 2:3 # c\n2 1:3 2:4",
        "unsorted": "1 1:1\n3 2:1 1:3\n", "junk": "1 1:1\n8 1:2 3:1junk 4:2\n",
        "word": "1 1:1\n4 1:x\n", "named": "1 1:1\n5 x:1\n", "twice": "1 1:1\n7 1:3 1:4\n",
        "far": "1 5:1 70000:2\n2 3:1 5:-1 69999:4\n1 70000:3\n",
        "digits": "0.3 1:0.1 2:0.30000000000000004\n1 1:3.3333333333333335 2:2.1234567890123456\n"}


class Scale(SvmTest):
    def setUp(self):
        super().setUp()
        for name, text in DATA.items():
            self.write(name, text)
        self.data = [*DATA, "two", "three", "reg", "pre", "empty"]

    def test_rows(self):
        for name in self.data:
            for options in ((), ("-l", "0"), ("-l", "0", "-u", "0.5"), ("-y", "-1", "1"),
                            ("-u", "3", "-l", "1", "-y", "0", "8")):
                self.same("svm-scale", *options, name)

    def test_saved_and_restored(self):
        for name in self.data:
            for options in ((), ("-y", "-1", "1"), ("-l", "0.25", "-u", "0.5")):
                self.theirs("svm-scale", *options, "-s", "factors", name)
                expected = self.read("factors")
                self.same("svm-scale", *options, "-s", "factors", name)
                self.assertEqual(self.read("factors"), expected)
                for other in ("mixed", "two", "reg", "constant", name):
                    self.same("svm-scale", "-r", "factors", other)

    def test_files_of_factors(self):
        for text in ("y\n-1 1\n0 2\nx\n-1 1\n1 0 2\n", "x\n-1 1\n", "x\n", "", "foo\n",
                     "x\n-1 1\n1 0\n", "x\n-1 1\n3 0 2\n1 0 4\n", "y\n-1 1\n0 2\n", "y\n-1\n",
                     "x\n0 1\n2 1 5\n9 -1 1\n"):
            self.write("factors", text)
            self.same("svm-scale", "-r", "factors", "constant")

    def test_rows_by_chance(self):
        """Indices that are far apart, out of order, twice, without a value; with factors of other
        rows, too."""
        source = random.Random(5)

        def text():
            lines = []
            for _ in range(source.randrange(1, 40)):
                pairs = sorted(source.choice((source.randrange(1, 12), source.randrange(1, 3000)))
                               for _ in range(source.randrange(9)))
                if source.random() < 0.1:
                    source.shuffle(pairs)
                lines.append(" ".join([f"{source.randrange(-1, 2)}",
                                       *(f"{i}:{source.choice((0, 1, source.gauss(0, 3))):g}"
                                         for i in pairs)]))
            return "\n".join(lines) + "\n"

        for _ in range(20):
            self.write("rows", text())
            self.write("other", text())
            self.theirs("svm-scale", "-s", "factors", "rows")
            expected = self.read("factors")
            self.same("svm-scale", "-s", "factors", "rows")
            self.assertEqual(self.read("factors"), expected)
            self.same("svm-scale", "-r", "factors", "other")

    def test_messages(self):
        for words in (("-l", "1", "-u", "0", "mixed"), ("-l", "0", "-u", "0", "mixed"),
                      ("-y", "1", "0", "mixed"), ("-s", "a", "-r", "b", "mixed"),
                      ("-r", "nothing", "mixed"), ("nothing",), ("-s", "no/such", "mixed")):
            self.same("svm-scale", *words)
        for words in ((), ("mixed", "mixed"), ("-z", "1", "mixed"), ("-l", "a", "mixed"), ("-",)):
            self.same("svm-scale", *words, out=False)
        for line in ("abc 1:2", "", "# 1 1:1"):
            self.write("bad", f"1 1:1\n{line}\n")
            self.same("svm-scale", "bad")


if __name__ == "__main__":
    unittest.main()
