"""Penalties on coefficients where data or settings are odd: constant columns without a bias, the
units of weights, constant labels, and lambdas under a time limit."""
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tool import ToolTest  # noqa: E402


class Edges(ToolTest):
    def fit(self, data, *options, **more):
        return self.run_tool("fit", data, "--json", "--quiet", "-o", "m.fen", *options, **more).json

    def coefficients(self, found):
        return {entry["name"]: entry["value"] for entry in found["coefficients"]}

    def test_a_column_of_ones_instead_of_a_bias(self):
        rows = [(0.5, 11.0), (-0.3, 9.4), (1.5, 13.0), (-2.0, 6.0), (0.1, 10.2)]  # y = 10 + 2 x
        self.write("ones.csv", "one,x,y\n" + "".join(f"1,{x},{y}\n" for x, y in rows))
        self.write("ones.svm", "".join(f"{y} 1:1 2:{x}\n" for x, y in rows))
        for data in ("ones.csv", "ones.svm"):
            found = self.fit(data, "--no-bias", "--scale", "none", "--penalty", "none")
            values = sorted(self.coefficients(found).values())
            self.assertEqual(found["verdict"], "optimal")
            for got, wanted in zip(values, (2.0, 10.0), strict=True):
                self.assertAlmostEqual(got, wanted, delta=1e-9)
            self.assertIn("holds", self.run_tool("verify", "m.fen", data).out)
            found = self.fit(data, "--no-bias", "--scale", "none", "--penalty", "l1",
                             "--lambda", "0.01")
            self.assertGreater(max(self.coefficients(found).values()), 9.0)
            self.assertIn("holds", self.run_tool("verify", "m.fen", data).out)

    def test_constants_go_where_they_are_centred_or_have_a_bias(self):
        rows = "".join(f"1,{x},{10 + 2 * x}\n" for x in range(6))
        self.write("ones.csv", "one,x,y\n" + rows)
        for options in (["--no-bias"], ["--scale", "none"]):
            found = self.fit("ones.csv", "--penalty", "l1", "--lambda", "0.01", *options)
            self.assertEqual(set(self.coefficients(found)), {"x"})


if __name__ == "__main__":
    unittest.main()
