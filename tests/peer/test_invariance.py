"""What must not change an answer: the unit of y, the run, the number of threads, the file format,
a row written twice instead of weighted twice."""
import gzip
import os
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from peer import PeerTest, numpy  # noqa: E402

ROWS, FRESH = 80, 12
NAMES = ["x1", "x2", "x3", "y"]


def rows_of(seed, count):
    random = numpy.random.default_rng(seed)
    x = random.uniform(-2, 2, (count, 3))
    y = numpy.sin(3 * x[:, 0]) + x[:, 1] ** 2 + 0.1 * random.standard_normal(count)
    return x, y + 4


class Rows(PeerTest):
    def setUp(self):
        super().setUp()
        self.x, self.y = rows_of(1, ROWS)
        self.fresh, _ = rows_of(2, FRESH)
        self.save("data.csv", [self.x, self.y], NAMES)
        self.save("fresh.csv", [self.fresh], NAMES[:3])


class UnitOfTheTarget(Rows):
    def fitted(self, data, options):
        """(fit, predictions, what verify says), where verify's exit code follows what it says."""
        fit = self.fit(data, *options)
        return fit, self.predict("fresh.csv"), self.verify(data)

    def compare(self, options):
        base, expected, verified = self.fitted("data.csv", options)
        self.assertEqual((base["verdict"], verified["holds"]), ("optimal", True))
        for unit in (1e8, 1e-8):
            with self.subTest(unit=unit, options=options):
                self.save("scaled.csv", [self.x, self.y * unit], NAMES)
                fit, found, again = self.fitted("scaled.csv", options)
                self.assertEqual((fit["verdict"], again["holds"]), ("optimal", True))
                for key in ("gamma", "lambda"):
                    self.assertEqual(fit[key], base[key])
                self.assert_close(found / unit, expected, 1e-7)
                self.assertAlmostEqual(fit["primal"] / unit ** 2, base["primal"],
                                       delta=1e-7 * base["primal"])

    def test_chosen(self):
        self.compare([])

    def test_given(self):
        for options in (["--gamma", "0.2", "--lambda", "1e-3"],
                        ["--gamma", "0.2", "--lambda", "1e-3", "--no-bias"],
                        ["--kernel", "linear", "--lambda", "1e-3"],
                        ["--kernel", "matern52", "--gamma", "mean", "--lambda", "1e-6"]):
            self.compare(options)

    def test_refused_alike(self):
        """A model of the wrong lambda is refused in every unit."""
        for unit in (1e-8, 1.0, 1e8):
            self.save("scaled.csv", [self.x, self.y * unit], NAMES)
            self.fit("scaled.csv", "--gamma", "0.2", "--lambda", "1e-3")
            raw = self.read("m.fen").replace(b'"lambda": "0.001"', b'"lambda": "0.002"')
            self.write("m.fen", raw)
            self.assertEqual(self.code_of("verify", "m.fen", "scaled.csv"), 1)


class Runs(Rows):
    def test_same_seed_same_bits(self):
        """Everything but the seconds, also when the selection draws a part of the rows."""
        self.run_tool("generate", "friedman", "--rows", "1700", "-o", "many.csv")
        for data, options in (("data.csv", []), ("many.csv", ["--lambda", "1e-4,1e-2"]),
                              ("data.csv", ["--select", "kfold:5"])):
            with self.subTest(data=data, options=options):
                self.fit(data, *options, model="first.fen")
                self.fit(data, *options, model="second.fen")
                first, second = self.model("first.fen"), self.model("second.fen")
                for metadata, _ in (first, second):
                    metadata.pop("seconds")
                self.assertEqual(first[0], second[0])
                self.assertEqual(list(first[1]), list(second[1]))
                for name in first[1]:
                    self.assertEqual(first[1][name].tobytes(), second[1][name].tobytes(), name)

    def test_same_seed_same_data(self):
        for name in ("one.csv", "two.csv"):
            self.run_tool("generate", "friedman", "--rows", "300", "--seed", "5", "-o", name)
        self.assertEqual(self.read("one.csv"), self.read("two.csv"))

    def test_number_of_threads(self):
        """Sums in another order: the last digits, times the condition of the system."""
        for options, relative in (([], 1e-6), (["--gamma", "0.2", "--lambda", "1e-4"], 1e-10),
                                  (["--kernel", "linear"], 1e-10)):
            with self.subTest(options=options):
                one = self.fit("data.csv", *options, "--threads", "1")
                alone = self.predict("fresh.csv")
                two = self.fit("data.csv", *options, "--threads", "2")
                self.assertEqual((one["gamma"], one["lambda"]), (two["gamma"], two["lambda"]))
                self.assert_close(self.predict("fresh.csv"), alone, relative)


class Formats(Rows):
    def save_npy(self, name, table):
        numpy.save(self.path(name), numpy.ascontiguousarray(table))

    def save_svmlight(self, name, x, y, base):
        lines = [" ".join([repr(float(label))] + [f"{j + base}:{float(value)!r}"
                                                  for j, value in enumerate(row)])
                 for row, label in zip(x, y)]
        self.write(name, "\n".join(lines) + "\n")

    def test_same_model_from_every_format(self):
        """--scale none: sparse files are not centred."""
        options = ["--scale", "none", "--gamma", "0.3", "--lambda", "1e-3"]
        self.fit("data.csv", *options)
        expected = self.predict("fresh.csv")
        table = numpy.column_stack([self.x, self.y])
        self.write("packed.csv.gz", gzip.compress(self.read("data.csv")))
        self.write("semicolons.csv", self.read("data.csv").replace(b",", b";"))
        self.write("windows.csv", b"\xef\xbb\xbf" + self.read("data.csv").replace(b"\n", b"\r\n"))
        self.save_npy("c_order.npy", table)
        numpy.save(self.path("fortran.npy"), numpy.asfortranarray(table))
        self.save_svmlight("one.svm", self.x, self.y, 1)
        self.save_svmlight("zero.svm", self.x, self.y, 0)
        self.write("packed.svm.gz", gzip.compress(self.read("one.svm")))
        self.save_npy("fresh.npy", self.fresh)
        self.save_svmlight("fresh1.svm", self.fresh, numpy.zeros(FRESH), 1)
        self.save_svmlight("fresh0.svm", self.fresh, numpy.zeros(FRESH), 0)
        for data, fresh in (("packed.csv.gz", "fresh.csv"), ("semicolons.csv", "fresh.csv"),
                            ("windows.csv", "fresh.csv"), ("c_order.npy", "fresh.npy"),
                            ("fortran.npy", "fresh.npy"), ("one.svm", "fresh1.svm"),
                            ("packed.svm.gz", "fresh1.svm"), ("zero.svm", "fresh0.svm")):
            with self.subTest(data=data):
                self.fit(data, *options)
                self.assert_close(self.predict(fresh), expected, 1e-12)
                self.assertTrue(self.verify(data)["holds"])

    def test_without_a_header(self):
        lines = self.read("data.csv").split(b"\n", 1)[1]
        self.write("bare.csv", lines)
        self.fit("data.csv", "--gamma", "0.3", "--lambda", "1e-3")
        expected = self.predict("fresh.csv")
        self.fit("bare.csv", "--gamma", "0.3", "--lambda", "1e-3")
        self.write("bare_fresh.csv", self.read("fresh.csv").split(b"\n", 1)[1])
        self.assert_close(self.predict("bare_fresh.csv"), expected, 1e-12)

    def test_columns_in_another_order(self):
        self.fit("data.csv", "--gamma", "0.3", "--lambda", "1e-3")
        expected = self.predict("fresh.csv")
        self.save("shuffled.csv", [self.fresh[:, [2, 0, 1]]], ["x3", "x1", "x2"])
        self.assert_close(self.predict("shuffled.csv"), expected, 0)

    def test_single_precision_npy(self):
        """The numbers of a float32 file are taken as they are."""
        numpy.save(self.path("short.npy"), numpy.column_stack([self.x, self.y]).astype("<f4"))
        table = numpy.load(self.path("short.npy")).astype(float)
        self.save("short.csv", [table], NAMES)
        for data in ("short.npy", "short.csv"):
            self.fit(data, "--gamma", "0.3", "--lambda", "1e-3", model=data + ".fen")
        first, second = self.model("short.npy.fen")[1], self.model("short.csv.fen")[1]
        self.assertEqual(first["dual"].tobytes(), second["dual"].tobytes())

    def test_conversion(self):
        for name in ("data.npy", "data.svm"):
            self.run_tool("convert", "data.csv", name)
        self.run_tool("convert", "data.npy", "back.csv")
        table = numpy.genfromtxt(self.path("back.csv"), delimiter=",", skip_header=1)
        self.assertEqual(table.tobytes(), numpy.column_stack([self.x, self.y]).tobytes())
        raw = self.read("data.npy")
        self.assertEqual(raw[:6], b"\x93NUMPY")
        self.assertEqual((10 + struct.unpack("<H", raw[8:10])[0]) % 64, 0)
        self.assertEqual(numpy.load(self.path("data.npy")).tobytes(), table.tobytes())


class Weights(Rows):
    def test_weight_two_is_the_row_twice(self):
        count = numpy.where(numpy.arange(ROWS) % 3 == 0, 2, 1)
        self.save("weighted.csv", [self.x, count, self.y], ["x1", "x2", "x3", "w", "y"])
        self.save("twice.csv", [numpy.repeat(self.x, count, axis=0),
                                numpy.repeat(self.y, count)], NAMES)
        for options in (["--gamma", "mean", "--lambda", "1e-3"],
                        ["--gamma", "mean", "--lambda", "1/n"],
                        ["--gamma", "0.3", "--lambda", "1e-3", "--scale", "range"],
                        ["--gamma", "0.3", "--lambda", "0.5", "--as", "sklearn"],
                        ["--kernel", "linear", "--lambda", "1e-3"]):
            with self.subTest(options=options):
                twice = self.fit("twice.csv", *options)
                expected = self.predict("fresh.csv")
                weighted = self.fit("weighted.csv", "--weights", "w", *options)
                self.assert_close(self.predict("fresh.csv"), expected, 1e-8)
                for key in ("primal", "norm", "lambda"):
                    self.assertAlmostEqual(weighted[key], twice[key], delta=1e-8 * twice[key])

    def test_weight_zero_is_no_row(self):
        weights = numpy.where(numpy.arange(ROWS) % 4 == 0, 0.0, 1.0)
        kept = weights > 0
        self.save("zeros.csv", [self.x, weights, self.y], ["x1", "x2", "x3", "w", "y"])
        self.save("kept.csv", [self.x[kept], self.y[kept]], NAMES)
        self.fit("kept.csv", "--gamma", "mean", "--lambda", "1e-3")
        expected = self.predict("fresh.csv")
        self.fit("zeros.csv", "--weights", "w", "--gamma", "mean", "--lambda", "1e-3")
        self.assert_close(self.predict("fresh.csv"), expected, 1e-10)

    def test_only_ratios_of_weights_count(self):
        weights = numpy.random.default_rng(9).uniform(0.1, 5, ROWS)
        for name, unit in (("one.csv", 1), ("many.csv", 1000)):
            self.save(name, [self.x, weights * unit, self.y], ["x1", "x2", "x3", "w", "y"])
            self.fit(name, "--weights", "w", "--gamma", "mean", "--lambda", "1e-3",
                     model=name + ".fen")
        self.assert_close(self.predict("fresh.csv", "many.csv.fen"),
                          self.predict("fresh.csv", "one.csv.fen"), 1e-9)


if __name__ == "__main__":
    unittest.main()
