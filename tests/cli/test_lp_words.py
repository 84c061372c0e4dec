"""--penalty lp:P, what the tool says: refusals, notes, remedies, what comes next."""
import math
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tool import ToolTest  # noqa: E402

LP = ["--penalty", "lp:4/3"]
PRODUCTS = LP + ["--kernel", "tensor-polynomial"]


class Words(ToolTest):
    def data(self, name="rows.csv", rows=40):
        lines = ["a,b,y"]
        for i in range(rows):
            a, b = math.sin(i + 1), math.cos(3 * i)
            lines.append(f"{a:.6f},{b:.6f},{2 * a * b + 0.3 * a:.6f}")
        return self.write(name, "\n".join(lines) + "\n")

    def text(self, *words, code=0):
        return self.run_tool("fit", *words, code=code).out


class Refusals(Words):
    def refuse(self, *words, code, says, **more):
        return super().refuse(*words, code=code, says=[says], **more)

    def test_power_even_if_it_is_the_default(self):
        for command in ("fit", "select", "path", "plan"):
            for power in ("2", "1.5", "auto"):
                self.refuse(command, self.data(), "--power", power, *LP, code=2,
                            says="--penalty lp:4/3 is its own power; leave --power out")

    def test_gamma_by_distances(self):
        self.refuse("fit", self.data(), *LP, "--kernel", "tensor-exponential", "--gamma", "mean",
                    code=2, says="--gamma mean goes by distances, which --kernel "
                                 "tensor-exponential has not")

    def test_exponents(self):
        said = {
            "lp=4/3": "did you mean lp:4/3?",
            "lp:3": "at most 2; lp:2 is ridge regression",
            "lp:1.00005": "P must be at least 1.0001; so near 1 use --penalty l1",
        }
        for penalty, words in said.items():
            self.refuse("fit", self.data(), "--penalty", penalty, code=2, says=words)

    def test_digits_that_tell_p_from_a_fraction(self):
        for p, words in (("1.333333", "which is 4.000003000002999 for p = 1.333333"),
                         ("1.5", "which is 3 for p = 1.5"), ("7/6", "which is 7 for p = 1.16667")):
            self.refuse("fit", self.data(), "--penalty", "lp:" + p, "--kernel", "tensor-linear",
                        code=2, says=words)

    def test_plot_of_products(self):
        self.refuse("path", self.data(), *PRODUCTS, "--plot", "p.svg", code=2,
                    says="use --kernel linear; of products, fit and info --features show the "
                         "weights")

    def test_rows_too_far_outside(self):
        self.text(self.data(), *LP, "--kernel", "tensor-exponential", "--lambda", "1e-3",
                  "-o", "m.fen")
        far = self.write("far.csv", "a,b\n0.1,0.2\n1e9,0.3\n")
        self.refuse("predict", "m.fen", far, "-o", "p.csv", code=3,
                    says="far.csv:3: this row is too far outside the training rows")

    def test_rows_beyond_numbers(self):
        """Products of columns explode; a score that is no number is none."""
        self.text(self.data(), *LP, "--kernel", "tensor-polynomial", "--lambda", "1e-3",
                  "-o", "m.fen")
        far = self.write("far.csv", "a,b\n0.1,0.2\n1e200,0.3\n")
        self.refuse("predict", "m.fen", far, "-o", "p.csv", code=3,
                    says="far.csv:3: the prediction of this row leaves the range of numbers")
        self.assertFalse(os.path.exists(os.path.join(self.folder, "p.csv")))

    def test_libsvm_is_told_where_to_go(self):
        data = self.data()
        self.text(data, *LP, "--lambda", "0.1", "-o", "m.fen")
        said = self.run_tool("svm-predict", data, "m.fen", "out", code=1).err
        self.assertIn("this is a fenchel model: use fenchel predict", said)


class Report(Words):
    def test_products_of_exactly_so_many(self):
        note = "products of exactly 3 columns; --coef0 1 adds those of fewer"
        fit = (self.data(), *PRODUCTS, "--lambda", "0.1", "--degree", "3")
        self.assertIn(note, self.text(*fit))
        for given in ("0", "1"):
            self.assertNotIn("products of exactly", self.text(*fit, "--coef0", given))
        self.assertNotIn("products of", self.text(self.data(), *LP, "--lambda", "0.1"))

    def test_next(self):
        data = self.data("my rows.csv")
        text = self.text(data, *PRODUCTS, "--lambda", "0.1", "-o", "it's.fen")
        self.assertIn("fenchel info 'it'\\''s.fen' --features\n", text)
        self.assertRegex(text, r"fenchel verify 'it'\\''s.fen'\s+'my rows.csv'\n")
        linear = self.text(data, *LP, "--lambda", "0.1", "-o", "m.fen")
        self.assertIn("fenchel info m.fen --features\n", linear)
        for kernel in (["--kernel", "tensor-exponential", *LP], ["--kernel", "linear"]):
            self.assertNotIn("--features", self.text(data, *kernel, "--lambda", "0.1"))

    def test_no_list_of_too_many_features(self):
        """More than 2^21 products: neither Next nor info offers one."""
        rows = [",".join([f"x{j}" for j in range(30)] + ["y"])]
        rows += [",".join(f"{math.sin((i + 1) * (j + 2)):.5f}" for j in range(31)) for i in range(12)]
        data = self.write("wide.csv", "\n".join(rows) + "\n")
        text = self.text(data, *PRODUCTS, "--coef0", "1", "--degree", "7", "--lambda", "0.1",
                         "-o", "m.fen")
        self.assertNotIn("--features", text)
        self.refuse("info", "m.fen", "--features", code=2, says=["more than 2097152 features"])

    def test_coefficients_beside_weights(self):
        self.text(self.data(), *PRODUCTS, "--lambda", "0.1", "-o", "m.fen")
        text = self.run_tool("info", "m.fen", "--features").out
        self.assertRegex(text, r"\n {13}of scaled columns +weight +coefficient +share\n")
        self.assertLess(max(map(len, text.splitlines())), 80)
        found = self.run_tool("info", "m.fen", "--features", "--json").json
        entry = [e for e in found["implied"][0]["features"] if e["name"] == "a*b"][0]
        row = [line.split() for line in text.splitlines() if line.strip().startswith("a*b ")][0]
        self.assertAlmostEqual(float(row[1]), entry["weight"], delta=1e-4 * abs(entry["weight"]))
        self.assertAlmostEqual(float(row[2]), entry["coefficient"],
                               delta=1e-4 * abs(entry["coefficient"]))
        self.text(self.data(), *LP, "--lambda", "0.1", "--scale", "none", "-o", "m.fen")
        text = self.run_tool("info", "m.fen", "--features").out
        self.assertRegex(text, r"\n {13} +weight +share\n")

    def test_long_names(self):
        """Whole as long as the line has room, then every factor by its ends."""
        short, long = ["coarse_aggregate", "fine_aggregate"], ["the_first_of_two_long_names",
                                                               "the_second_of_two_long_names"]
        for names, listed in ((short, "coarse_aggregate*fine_aggregate"),
                              (long, "the_fi..g_names*the_se..g_names")):
            rows = [f"{math.sin(i + 1):.6f},{math.cos(3 * i):.6f},{math.sin(i + 1) * math.cos(3 * i):.6f}"
                    for i in range(40)]
            data = self.write("long.csv", ",".join([*names, "y"]) + "\n" + "\n".join(rows) + "\n")
            self.text(data, *PRODUCTS, "--lambda", "0.1", "-o", "m.fen")
            text = self.run_tool("info", "m.fen", "--features").out
            self.assertIn(f"             {listed} ", text)
            self.assertLess(max(map(len, text.splitlines())), 80)

    def test_no_row_has_a_coefficient(self):
        for penalty in (PRODUCTS, []):
            words = (self.data(), *penalty, "--loss", "eps:100", "--lambda", "0.1")
            self.assertIn("Support      0 of 40 rows have a coefficient", self.text(*words))
            self.assertEqual(self.run_tool("fit", *words, "--quiet", "--json").json["support"], 0)


if __name__ == "__main__":
    unittest.main()
