"""CSV files split into cells as pandas splits them, and numbers read as Python reads them: what
`convert` writes holds the same names and cells, bit for bit."""
import csv
import glob
import gzip
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from peer import need  # noqa: E402
from tool import ToolTest  # noqa: E402

pandas = need("pandas")
DATA = os.environ.get("FENCHEL_DATA", "../shared/data")
WORDS = ["red", "blue", "a,b", 'say "hi"', "two\nlines", "x;y", "tab\there", "São Paulo", "pipe|s",
         "plain words", "#1", "it's"]
MISSING = ["NA", "N/A", "?", "null", "NULL"]


def number(source):
    kind = source.randrange(5)
    if kind == 0:
        return str(source.randrange(-1000, 1000))
    if kind == 1:
        return repr(source.gauss(0, 1) * 10.0 ** source.randrange(-300, 300))
    if kind == 2:
        return f"{source.gauss(0, 100):.4f}"
    if kind == 3:
        return f"{source.random():.25e}"
    return "".join(source.choice("0123456789") for _ in range(source.randrange(1, 60))) + ".5"


class Csv(ToolTest):
    def cells(self, name, decimal=".", **more):
        """Lists of names and of rows; missing cells are None."""
        table = pandas.read_csv(self.path(name), dtype=str, keep_default_na=False,
                                na_values=["", *MISSING], **more)

        def value(cell):
            if not isinstance(cell, str):
                return None
            try:
                return float(cell.replace(decimal, "."))
            except ValueError:
                return cell
        return list(table.columns), [[value(cell) for cell in row] for row in table.values]

    def compare(self, name, **more):
        self.run_tool("convert", name, "out.csv")
        self.assertEqual(self.cells("out.csv"), self.cells(name, **more))

    def test_data_sets(self):
        paths = sorted(glob.glob(os.path.join(DATA, "*.csv")))
        if not paths:
            print("SKIPPED: no data sets in", DATA)
        for path in paths:
            with self.subTest(path):
                with open(path, "rb") as file:
                    self.write("in.csv", file.read())
                self.compare("in.csv")

    def messy(self, name, source, **style):
        """A file with every kind of cell; numbers are frequent enough to be taken for numbers."""
        with open(self.path(name), "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, **style)
            writer.writerow(["count", "some text", "a, b", 'quoted "name"'])
            for _ in range(source.randrange(2, 400)):
                row = [number(source), source.choice(WORDS), number(source), number(source)]
                hole = source.randrange(12)
                if hole < 4:
                    row[hole] = source.choice(["", *MISSING])
                writer.writerow(row)

    def test_messy_files(self):
        source = random.Random(5)
        for separator in ",;\t|":
            for end in ("\n", "\r\n"):
                for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL):
                    with self.subTest(separator=separator, end=end, quoting=quoting):
                        self.messy("in.csv", source, delimiter=separator, lineterminator=end,
                                   quoting=quoting)
                        self.compare("in.csv", sep=separator)

    def test_gzip(self):
        self.messy("in.csv", random.Random(7))
        with gzip.open(self.path("in.csv.gz"), "wb") as file:
            file.write(self.read("in.csv"))
        self.compare("in.csv.gz")

    def test_decimal_comma(self):
        self.write("in.csv", "a;b\n3,14;2\n-1e3;0,5\n;7,25\n")
        self.compare("in.csv", sep=";", decimal=",")

    def test_tabs(self):
        self.messy("in.csv", random.Random(9))
        self.run_tool("convert", "in.csv", "out.tsv")
        self.assertEqual(self.cells("out.tsv", sep="\t"), self.cells("in.csv"))

    def test_blanks(self):
        self.write("in.csv", "a  b c\n1 2   3\n 4 5 6 \n")
        self.compare("in.csv", sep=r"\s+")


if __name__ == "__main__":
    unittest.main()
