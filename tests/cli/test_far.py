"""Rows far from everything in training are counted and named by predict."""
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tool import ToolTest  # noqa: E402


class Far(ToolTest):
    def setUp(self):
        super().setUp()
        draw = random.Random(1)
        rows = ["income,age,city,price"]
        for _ in range(120):
            income, age = draw.uniform(0, 1e5), draw.uniform(20, 70)
            rows.append(f"{income:.1f},{age:.1f},{draw.choice(['a', 'b'])},{income * 100:.0f}")
        rows += ["0,20,a,0", "100000,70,b,10000000"]        # the ends of the ranges
        self.write("train.csv", "\n".join(rows) + "\n")

    def fit(self, *options):
        self.run_tool("fit", "train.csv", "--lambda", "1e-3", "--quiet", *options)

    def predict(self, *rows, header="income,age,city"):
        self.write("new.csv", header + "\n" + "\n".join(rows) + "\n")
        told = self.run_tool("predict", "train.fen", "new.csv", "--json").json
        err = self.run_tool("predict", "train.fen", "new.csv").err
        self.assertEqual("far from the training data" in err, told["far"] > 0)
        self.assertEqual("far from the training data" in told["note"], told["far"] > 0)
        return told["far"], told["far_rows"], err

    def test_none(self):
        self.fit("--kernel", "linear")
        count, rows, _ = self.predict("50000,40,a", "199999,-29,b", ",,")
        self.assertEqual((count, rows), (0, []))

    def test_a_column(self):
        self.fit("--kernel", "linear")
        count, rows, err = self.predict("5e4,40,a", "9e6,300,a", "5e4,40,a", "5e4,-31,b")
        self.assertEqual(count, 2)
        self.assertEqual(rows[0], {"row": 2, "line": 3, "why": "column", "column": "income",
                                   "value": 9e6, "least": 0, "largest": 1e5})
        self.assertEqual((rows[1]["row"], rows[1]["column"]), (4, "age"))
        self.assertIn('2 of 4 rows are far from the training data (first: line 3, column "income" is '
                      "9000000, training had 0 to 100000): their predictions are extrapolations", err)

    def test_a_prediction(self):
        self.fit("--kernel", "polynomial", "--degree", "3", "--gamma", "1")
        count, rows, err = self.predict("5e4,40,a", "199000,119,a")
        self.assertEqual((count, rows[0]["why"], rows[0]["column"]), (1, "prediction", "price"))
        self.assertIn('1 of 2 rows is far from the training data (line 3, the prediction of "price"',
                      err)

    def test_kernel_values(self):
        for kernel in ("gaussian", "laplace", "matern32"):
            self.fit("--kernel", kernel, "--gamma", "5")
            count, rows, err = self.predict("5e4,40,a", "1.9e5,110,b")
            self.assertEqual((count, rows), (1, [{"row": 2, "line": 3, "why": "alone"}]))
            self.assertIn("its kernel values with all rows of the model are all but 0", err)

    def test_rows_of_training_are_near(self):
        for options in (("--kernel", "linear"), ("--gamma", "50"), ("--approx", "fourier:20"),
                        ("--loss", "eps:0.1", "--gamma", "2")):
            self.fit(*options)
            self.assertEqual(self.run_tool("predict", "train.fen", "train.csv", "--json").json["far"],
                             0)

    def test_streamed_features(self):
        self.fit("--approx", "fourier:20")
        self.assertEqual(self.predict("9e6,30,a")[0], 1)

    def test_blocks_are_counted_together(self):
        self.fit("--kernel", "linear")
        rows = ["50000." + "0" * 50 + ",30,a\n"] * 150000 + ["9e6,30,a\n"] * 3     # 9 MB
        self.write("new.csv", "income,age,city\n" + "".join(rows))
        found = self.run_tool("predict", "train.fen", "new.csv", "--json", "-o", "out.csv").json
        first = found["far_rows"][0]
        self.assertEqual((found["far"], first["row"], first["line"]), (3, 150001, 150002))

    def test_sparse(self):
        draw = random.Random(2)
        self.write("train.svm", "".join(f"{i % 7} 1:{draw.uniform(1, 2):.3f} 4:{draw.uniform(1, 2):.3f}\n"
                                        for i in range(50)))
        for options in (("--kernel", "linear"), ("--penalty", "l1")):
            self.run_tool("fit", "train.svm", "--lambda", "1e-3", "--quiet", "--task", "regression",
                          *options)
            self.write("new.svm", "0 1:1.5\n0 4:9\n0 1:-1\n")
            found = self.run_tool("predict", "train.fen", "new.svm", "--json").json
            self.assertEqual((found["far"], found["far_rows"][0]["row"], found["far_rows"][0]["column"]),
                             (1, 2, "x4"))

    def test_classes_have_no_range_of_targets(self):
        self.write("train.csv", "a,k\n" + "".join(f"{i},{'no' if i < 20 else 'yes'}\n" for i in range(40)))
        self.fit("--kernel", "linear", "--loss", "hinge")
        self.assertEqual(self.predict("70", header="a")[0], 0)
        self.assertEqual(self.predict("90", header="a")[0], 1)


if __name__ == "__main__":
    unittest.main()
