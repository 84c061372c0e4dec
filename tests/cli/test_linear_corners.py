"""Losses with corners and no penalty: linear programs whose dual vector has coordinates that must
be exactly 0 or exactly at an end. Optima by hand, of integers, or from a linear program solver."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tool import ToolTest  # noqa: E402

FOLDER = os.path.abspath(os.environ.get("FENCHEL_DATA", "../shared/data"))

TUBE = """a,b,c,d,e,f,g,h,i,y
1,1,0,0,0,0,0,1,0,-2
0,0,0,0,0,0,0,0,1,1
0,0,0,0,0,1,0,0,0,2
0,0,0,0,1,0,1,0,0,1
0,0,0,1,0,0,0,0,0,-1
1,0,1,0,1,0,0,0,0,0
0,0,0,0,0,0,0,0,1,-1
"""
CLASSES = """10011000000+ 11000000011- 00100100010- 00000000000- 00010000000+ 00000010000-
00001100100+ 00001000010+ 00010100010- 00100010101+ 00000000000+ 00010001000+ 10010000010-
00011000000- 00000000100+ 00010000001- 11001000000- 00000100010- 00000000000- 00010000000-
01000011100- 01000000011- 00001000000+ 10010100101+ 00000001001+"""


class Corners(ToolTest):
    def check(self, data, optimum, *options, within=1e-8):
        found = self.run_tool("fit", data, "--penalty", "none", "--json", "--quiet", "-o", "m.fen",
                              *options).json
        self.assertEqual(found["verdict"], "optimal")
        self.assertAlmostEqual(found["dual"], optimum, delta=within * optimum)
        self.assertIn("holds", self.run_tool("verify", "m.fen", data).out)

    def test_two_rows_that_are_alike(self):
        """Rows 2 and 7 differ in y alone, by 2: a loss of 0.8 each, all others are met."""
        self.write("tube.csv", TUBE)
        self.check("tube.csv", 1.6 / 7, "--task", "regression", "--loss", "eps:.2")
        self.check("tube.csv", 2.0 / 7, "--task", "regression", "--loss", "absolute")
        self.check("tube.csv", 1.0 / 7, "--task", "regression", "--loss", "pinball:.5")

    def test_classes_of_0_and_1(self):
        lines = [",".join(row) for row in CLASSES.split()]
        self.write("classes.csv", ",".join("abcdefghijk") + ",y\n" + "\n".join(lines) + "\n")
        self.check("classes.csv", 0.24, "--loss", "hinge")

    def test_ionosphere(self):
        """f1 = 0 has one class alone. The optimum is that of SciPy's linprog; the least logistic
        loss, which no coefficient of f1 reaches, that of the rows with f1 = 1, times their share."""
        path = os.path.join(FOLDER, "ionosphere.csv")
        if not os.path.exists(path):
            self.skipTest(f"no {path}")
        self.check(path, 0.14507632989713642, "--loss", "hinge")
        with open(path) as file:
            head, *rows = file.read().split()
        some = [row for row in rows if row.startswith("1,")]
        self.write("some.csv", "\n".join([head, *some]) + "\n")
        least = self.run_tool("fit", "some.csv", "--penalty", "none", "--json", "--quiet").json
        self.check(path, least["dual"] * len(some) / len(rows), "--loss", "logistic",
                   within=1e-6)


if __name__ == "__main__":
    unittest.main()
