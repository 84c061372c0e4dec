"""What the tests of the LIBSVM drop-ins share: data files, both programs, and what they print.

LIBSVM's programs come from Debian's libsvm-tools, which reads its options in single precision:
tests against it use numbers that single precision holds."""
import os
import random
import re
import shutil
import subprocess
import sys

from tool import FENCHEL, Result, ToolTest


def need_libsvm(*more):
    for name in ("svm-train", "svm-predict", "svm-scale", *more):
        if not shutil.which(name):
            print(f"SKIPPED: {name} (libsvm-tools) is not installed")
            sys.exit(77)


def rows(seed, count, columns, label, density=1.0):
    """Text of a data file: label(x, noise) and the columns that chance keeps."""
    source = random.Random(seed)
    lines = []
    for _ in range(count):
        x = [source.gauss(0, 1) for _ in range(columns)]
        pairs = [f"{j + 1}:{x[j]:.6g}" for j in range(columns) if source.random() < density]
        lines.append(" ".join([f"{label(x, source.gauss(0, 1)):g}", *pairs]))
    return "\n".join(lines) + "\n"


def two_classes(seed=1, count=60):
    return rows(seed, count, 3, lambda x, e: 1 if x[0] + x[1] * x[2] / 2 + e / 3 > 0 else -1, 0.8)


def three_classes(seed=2, count=90):
    return rows(seed, count, 3, lambda x, e: 4 - (x[0] + e / 5 > 0.4) - 3 * (x[1] > 0.4))


def regression(seed=3, count=50):
    return rows(seed, count, 2, lambda x, e: round(x[0] + x[1] ** 2 + e / 10, 4))


def gram(seed=4, count=20):
    """A precomputed kernel: linear, of three columns."""
    source = random.Random(seed)
    points = [[source.gauss(0, 1) for _ in range(3)] for _ in range(count)]
    lines = []
    for i, x in enumerate(points):
        values = [f"{j + 1}:{sum(a * b for a, b in zip(x, z)):.9g}" for j, z in enumerate(points)]
        lines.append(" ".join([f"{1 if x[0] > 0 else -1}", f"0:{i + 1}", *values]))
    return "\n".join(lines) + "\n"


def numbers(text, name):
    """All that was printed as "name = number"."""
    found = re.findall(rf"(?<![#\w]){name} = (-?[\d.einfa+-]+)", text)
    return [float(one) for one in found]


class SvmTest(ToolTest):
    def setUp(self):
        super().setUp()
        for name, text in (("two", two_classes()), ("three", three_classes()),
                           ("reg", regression()), ("pre", gram()), ("empty", "")):
            self.write(name, text)

    def ours(self, *words):
        return self.run_any(FENCHEL, *words)

    def theirs(self, *words):
        return self.run_any(shutil.which(words[0]), *words[1:])

    def run_any(self, *words):
        print("$", os.path.basename(words[0]), *words[1:], flush=True)
        done = subprocess.run(list(map(str, words)), cwd=self.folder, capture_output=True,
                              timeout=120, check=False)
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    def same(self, *words, out=True, err=True):
        """Both programs end alike and, unless told otherwise, print alike."""
        expected, found = self.theirs(*words), self.ours(*words)
        self.assertEqual(found.code, expected.code, (words, found.err, expected.err))
        if out:
            self.assertEqual(found.out, expected.out, words)
        if err:
            self.assertEqual(found.err, expected.err, words)
        return found, expected

    def values(self, name):
        """The numbers in a file of predictions, line by line; words as they are."""
        lines = self.read(name).decode().splitlines()
        return [[float(one) if re.match(r"-?[\d.]", one) else one for one in line.split()]
                for line in lines]

    def assert_files_close(self, a, b, within):
        first, second = self.values(a), self.values(b)
        self.assertEqual(len(first), len(second))
        for one, other in zip(first, second):
            self.assertEqual(len(one), len(other))
            for x, y in zip(one, other):
                if isinstance(x, str):
                    self.assertEqual(x, y)
                else:
                    self.assertLessEqual(abs(x - y), within * max(1, abs(x)), (a, b))
