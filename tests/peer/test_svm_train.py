"""svm-train against LIBSVM's own program: never a worse objective, models that LIBSVM's
svm-predict reads, the same support, messages and exit codes."""
import csv
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from peer import numpy  # noqa: E402
from svm import SvmTest, need_libsvm, numbers, two_classes  # noqa: E402

need_libsvm()
KERNEL = ("-d", "2", "-g", "0.5", "-r", "1")


class Model:
    """A model file taken apart. The objective that LIBSVM prints comes from kernel values in single
    precision, so that of its coefficients is computed here."""

    def __init__(self, text):
        head, body = text.split("\nSV\n")
        self.head = {line.split()[0]: line.split()[1:] for line in head.splitlines()}
        lines = [line.split() for line in body.splitlines()]
        self.classes = [int(n) for n in self.head.get("nr_sv", [len(lines)])]
        rows = max(len(self.classes) - 1, 1)
        self.coef = numpy.array([[float(word) for word in line[:rows]] for line in lines])
        pairs = [[word.split(":") for word in line[rows:]] for line in lines]
        self.x = numpy.zeros((len(lines), 1 + max(int(i) for row in pairs for i, _ in row)))
        for i, row in enumerate(pairs):
            for j, value in row:
                self.x[i, int(j)] = float(value)

    def kernel(self, x):
        products = x @ x.T
        gamma, coef0 = (float(self.head.get(name, [0])[0]) for name in ("gamma", "coef0"))
        kind = self.head["kernel_type"][0]
        if kind == "linear":
            return products
        if kind == "rbf":
            squares = numpy.diag(products)
            return numpy.exp(-gamma * (squares[:, None] + squares[None, :] - 2 * products))
        return (gamma * products + coef0) ** int(self.head["degree"][0])

    def machines(self):
        """Coefficients and kernel of every pair."""
        if len(self.classes) == 1:
            yield self.coef[:, 0], self.kernel(self.x)
            return
        ends = numpy.cumsum([0, *self.classes])
        for i in range(len(self.classes)):
            for j in range(i + 1, len(self.classes)):
                a, b = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
                coef = numpy.concatenate([self.coef[a, j - 1], self.coef[b, i]])
                yield coef, self.kernel(numpy.concatenate([self.x[a], self.x[b]]))

    def objectives(self, epsilon, labels):
        """What the dual of each machine minimises. nu-SVC: with coefficients that sum to 1."""
        for coef, kernel in self.machines():
            square, size = coef @ kernel @ coef / 2, abs(coef).sum()
            if self.head["svm_type"][0] == "c_svc":
                yield square - size
            elif self.head["svm_type"][0] == "nu_svc":
                yield square / size ** 2
            elif self.head["svm_type"][0] == "one_class":
                yield square
            else:
                at = [labels[tuple(x)] for x in self.x]
                yield square - coef @ numpy.array(at) + epsilon * size


class Train(SvmTest):
    def both(self, *words):
        theirs, ours = self.theirs("svm-train", *words), self.ours("svm-train", *words)
        self.assertEqual(ours.code, theirs.code, (words, ours.err, theirs.err))
        self.assertEqual(ours.err, theirs.err)
        # the same lines but for what is counted and computed
        shape = [[line.split(" = ")[0] for line in result.out.splitlines() if " = " in line]
                 for result in (ours, theirs)]
        self.assertEqual(*shape, words)
        return ours, theirs

    def labels(self, data, width):
        """Label of every row, by its values."""
        found = {}
        for line in self.read(data).decode().splitlines():
            label, *pairs = line.split()
            x = [0.0] * width
            for j, value in (pair.split(":") for pair in pairs):
                x[int(j)] = float(value)
            found[tuple(x)] = float(label)
        return found

    def compare(self, *words, data, printed=False):
        ours, theirs = self.both("-e", "1e-6", *words, data, "m")
        self.compare_prints(ours, theirs, words)
        if printed:
            found = [numbers(result.out, "obj") for result in (ours, theirs)]
        else:
            found = []
            epsilon = float(words[words.index("-p") + 1]) if "-p" in words else 0.0
            for run in (self.ours, self.theirs):
                run("svm-train", "-q", "-e", "1e-6", *words, data, "m")
                model = Model(self.read("m").decode())
                labels = self.labels(data, model.x.shape[1])
                found.append(list(model.objectives(epsilon, labels)))
        self.assertEqual(*map(len, found))
        for mine, other in zip(*found):
            self.assertLessEqual(mine, other + (1e-6 if printed else 1e-7) * abs(other), words)

    def compare_prints(self, ours, theirs, words):
        for name in ("rho", "nu", "epsilon", "C"):
            for mine, other in zip(numbers(ours.out, name), numbers(theirs.out, name)):
                self.assertLessEqual(abs(mine - other), 1e-4 * max(1, abs(other)), (words, name))
        for name in ("nSV", "nBSV"):
            for mine, other in zip(numbers(ours.out, name), numbers(theirs.out, name)):
                # degenerate rows may be in or out
                self.assertLessEqual(abs(mine - other), 2, (words, name))

    def exchange(self, data, *options):
        """Our model gives the same answers through both predictors."""
        ours = self.ours("svm-predict", *options, data, "m", "ours")
        theirs = self.theirs("svm-predict", *options, data, "m", "theirs")
        self.assertEqual((ours.code, ours.err), (theirs.code, theirs.err))
        self.assertEqual(ours.out, theirs.out)
        self.assert_files_close("ours", "theirs", 2e-6 if options else 1e-8)

    def test_c_svc(self):
        for kernel in range(3):
            for data in ("two", "three"):
                for cost in ("1", "64"):
                    self.compare("-t", kernel, *KERNEL, "-c", cost, data=data)
                    self.ours("svm-train", "-q", "-t", kernel, *KERNEL, "-c", cost, data, "m")
                    self.exchange(data)

    def test_nu_svc(self):
        for kernel, data, nu in ((1, "two", "0.5"), (2, "two", "0.25"), (2, "three", "0.25"),
                                 (0, "two", "0.625")):
            self.compare("-s", 1, "-t", kernel, *KERNEL, "-n", nu, data=data)
            self.ours("svm-train", "-q", "-s", 1, "-t", kernel, *KERNEL, "-n", nu, data, "m")
            self.exchange(data)

    def test_vanishing_margin(self):
        """Classes overlap more than nu allows for: the function is that of some large C."""
        words = ("-s", 1, "-t", 0, "-n", "0.125", "two", "m")
        self.both(*words)
        self.ours("svm-train", "-q", *words)
        said = self.ours("svm-predict", "two", "m", "out").out
        self.assertGreater(float(said.split("= ")[1].split("%")[0]), 70)
        self.both("-s", 2, "-t", 0, "two", "m")       # the origin is inside: f = 0

    def test_one_class(self):
        for kernel in (1, 2):
            for nu in ("0.125", "0.5"):
                self.compare("-s", 2, "-t", kernel, *KERNEL, "-n", nu, data="reg")
                self.ours("svm-train", "-q", "-s", 2, "-t", kernel, *KERNEL, "-n", nu, "reg", "m")
                self.exchange("reg")

    def test_regression(self):
        for kernel in range(3):
            for words in (("-s", 3, "-p", "0.125"), ("-s", 3, "-p", "0", "-c", "8"),
                          ("-s", 4, "-n", "0.25"), ("-s", 4, "-n", "0.75", "-c", "8")):
                self.compare(*words, "-t", kernel, *KERNEL, data="reg")
                self.ours("svm-train", "-q", *words, "-t", kernel, *KERNEL, "reg", "m")
                self.exchange("reg")

    def test_precomputed(self):
        self.compare("-t", 4, data="pre", printed=True)
        self.ours("svm-train", "-q", "-t", 4, "pre", "m")
        self.exchange("pre")
        text = self.read("pre").decode().splitlines()
        self.write("part", "\n".join(text[::-2]) + "\n")      # other rows in another order
        self.compare("-t", 4, data="part", printed=True)

    def test_sigmoid(self):
        """Not semidefinite: some stationary point, which both predictors read alike."""
        for type_, data in ((0, "two"), (0, "three"), (3, "reg")):
            self.both("-s", type_, "-t", 3, *KERNEL, data, "m")
            self.ours("svm-train", "-q", "-s", type_, "-t", 3, *KERNEL, data, "m")
            self.exchange(data)

    def test_sigmoid_that_is_semidefinite_enough(self):
        self.compare("-t", 3, "-g", "0.015625", data="two", printed=True)

    def test_weights(self):
        self.compare("-w1", "2", "-w-1", "0.5", "-g", "0.5", data="two")
        self.compare("-w4", "3", "-w1", "2", "-w1", "2", data="three")
        self.both("-q", "-w9", "3", "two", "m")

    def test_labels(self):
        for text in ("-1 1:1\n1 1:2\n-1 1:3\n1 1:2.5\n", "-1 1:1\n2 1:2\n-1 1:3\n2 1:2.5\n",
                     "1.7 1:1\n2.2 1:2\n1.2 1:3\n-3.9 1:2.5\n", "3 1:1\n3 1:2\n", "1\n-1\n"):
            self.write("labels", text)
            self.both("labels", "m")
            head = {}
            for run in (self.theirs, self.ours):
                run("svm-train", "-q", "labels", "m")
                head[run] = [line for line in self.read("m").decode().splitlines()
                             if line.split()[0] in ("label", "nr_class", "gamma", "nr_sv")]
            self.assertEqual(head[self.ours], head[self.theirs])

    def test_probabilities(self):
        for type_, data in ((0, "two"), (0, "three"), (1, "three"), (3, "reg"), (4, "reg")):
            words = ("-s", type_, "-b", 1, "-n", "0.25", "-g", "0.5", data, "m")
            self.both(*words)
            self.ours("svm-train", "-q", *words)
            self.exchange(data, "-b", "1")
            # folds are dealt differently: the sigmoids and the noise are alike, not the same
            mine = self.model_numbers("m", "probA")
            self.theirs("svm-train", "-q", *words)
            for a, b in zip(mine, self.model_numbers("m", "probA")):
                self.assertGreater(a / b, 0.3)
                self.assertLess(a / b, 3.0)

    def model_numbers(self, name, key):
        for line in self.read(name).decode().splitlines():
            if line.startswith(key + " "):
                return [float(word) for word in line.split()[1:]]
        return []

    def test_cross_validation(self):
        for words in (("-v", 5, "three"), ("-s", 3, "-v", 5, "reg"), ("-s", 2, "-v", 3, "reg"),
                      ("-b", 1, "-v", 2, "two"), ("-s", 1, "-n", "0.25", "-v", 3, "three"),
                      ("-q", "-v", 100, "two")):
            ours, theirs = self.both(*words)
            mine, other = ours.out.splitlines()[-1], theirs.out.splitlines()[-1]
            self.assertEqual(mine.split(" = ")[0], other.split(" = ")[0])
            if "Accuracy" in mine:       # folds are dealt differently
                a, b = (float(line.split(" = ")[1].rstrip("%")) for line in (mine, other))
                self.assertLess(abs(a - b), 15)

    def test_leave_one_out_is_the_same(self):
        ours, theirs = self.both("-q", "-v", 60, "two")
        self.assertEqual(ours.out, theirs.out)

    def test_all_inside_the_tube(self):
        ours, theirs = self.both("-s", 3, "-p", 128, "reg", "m")
        self.assertEqual(numbers(ours.out, "rho"), numbers(theirs.out, "rho"))
        self.assertEqual(numbers(ours.out, "nSV"), [0])

    def test_exact_head_and_vectors(self):
        """Where every coefficient is at a bound, the files are the same byte for byte."""
        self.write("far", "1 1:1 2:0.123456789\n-1 1:2\n1 1:3\n-1 1:4\n")
        words = ("svm-train", "-q", "-c", "0.125", "-g", "1", "far", "m")
        self.theirs(*words)
        expected = self.read("m").decode().replace("0.12345679", "0.123456789")
        self.ours(*words)
        lines = self.read("m").decode().splitlines()
        for mine, other in zip(lines, expected.splitlines()):
            if not mine.startswith("rho"):
                self.assertEqual(mine.replace("0.12345678900000001", "0.123456789"), other)

    def test_messages(self):
        for words in (("-s", 7), ("-t", 9), ("-t", -1), ("-g", -1), ("-t", 1, "-d", -1),
                      ("-m", 0), ("-e", 0), ("-c", 0), ("-s", 1, "-n", 0), ("-s", 1, "-n", "1.5"),
                      ("-s", 3, "-p", -1), ("-h", 2), ("-b", 2),
                      ("-s", 1, "-n", "0.96875"), ("-t", 4)):
            self.same("svm-train", *words, "two", "m")
        for words in (("nothing",), ("-q", "two", "no/such/model"), ("-t", 4, "-q", "pre", "m")):
            self.same("svm-train", *words)
        for words in ((), ("-z",), ("-z", "two"), ("-q",), ("-c",), ("-c", "abc", "two"),
                      ("-v", 1, "two"), ("-v", "x", "two"), ("-wx", 1, "two"), ("--", "two"),
                      ("-",), ("-s", "1.5", "two")):
            self.same("svm-train", *words, out=False)
        pre = self.read("pre").decode()
        for serial in ("33", "0", "-1"):
            self.write("bad", pre.replace(" 0:3 ", f" 0:{serial} "))
            self.same("svm-train", "-t", 4, "bad", "m")
        self.write("bad", "1 1:1\n-1 1:2\n1 2:1 1:1\n")
        self.same("svm-train", "bad")

    def from_csv(self, name, classes):
        """Rows of a data set, scaled to [0, 1] by svm-scale; the last column is the label."""
        path = os.path.join(os.environ.get("FENCHEL_DATA", "../shared/data"), name + ".csv")
        if not os.path.exists(path):
            self.skipTest(f"SKIPPED: {path} is not there")
        lines, labels = [], {}
        with open(path, encoding="utf-8") as file:
            for row in list(csv.reader(file))[1:]:
                label = labels.setdefault(row[-1], len(labels)) if classes else row[-1]
                lines.append(" ".join([str(label), *(f"{j + 1}:{x}" for j, x in
                                                     enumerate(row[:-1]))]))
        self.write(name, "\n".join(lines) + "\n")
        self.write(name + ".scaled", self.ours("svm-scale", "-l", 0, name).out)
        return name + ".scaled"

    def test_data_sets(self):
        """The objectives of all machines, and every prediction within 1e-4 of the range."""
        for name, words in (("pima", ("-c", 1)), ("pima", ("-c", 128)), ("ionosphere", ("-c", 8)),
                            ("concrete", ("-s", 3, "-c", 16, "-p", "0.5")),
                            ("energy", ("-s", 3, "-c", 1, "-p", "0.25"))):
            data = self.from_csv(name, "-s" not in words)
            self.compare(*words, "-g", "1", data=data)
            answers = []
            for run in (self.ours, self.theirs):
                run("svm-train", "-q", "-e", "1e-6", *words, "-g", "1", data, "m")
                self.ours("svm-predict", "-q", data, "m", "out")
                answers.append(numpy.array(self.values("out"))[:, 0])
            spread = answers[1].max() - answers[1].min()
            self.assertLessEqual(abs(answers[0] - answers[1]).max(), 1e-4 * spread, (name, words))

    def test_larger(self):
        """Objective at the tolerance that the issue names, n = 600."""
        self.write("large", two_classes(seed=9, count=600))
        for cost in ("1", "128"):
            self.compare("-c", cost, "-g", "0.5", data="large")


if __name__ == "__main__":
    unittest.main()
