"""What a refusal advises is what helps: names are listed, roles named, and no remedy ends in
another refusal."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import unittest

from tool import ToolTest

USAGE, DATA = 2, 3
ROWS = "a,b,w,y,z\n" + "".join(
    f"{i},{i * i % 7},{1 + i % 2},{i % 5},{i % 3}\n" for i in range(20))
GROUP = ("--penalty", "group:g.csv", "--lambda", "0.1")


class Columns(ToolTest):
    def setUp(self):
        super().setUp()
        self.write("data.csv", ROWS)

    def test_classes_without_weight(self):
        for labels in (("yes", "no"), ("1", "2"), ("1.5", "7")):
            self.write("w.csv", "w,a,y\n" + "".join(f"{'0' if i % 2 else ''},{i},{labels[i % 2]}\n"
                                                    for i in range(6)))
            for options in ((), ("--penalty", "l1"), ("--task", "classification")):
                self.refuse("fit", "w.csv", "--weights", "w", *options, code=DATA,
                            says=['the weight "w" is 0 or missing in every row',
                                  "choose another column with --weights"])

    def refuse_groups(self, text, *options, says):
        self.write("g.csv", text)
        self.refuse("fit", "data.csv", *GROUP, *options, code=DATA, says=says)

    def test_headers_of_group_files(self):
        for header, shown in (("Column,group", "Column,group"), ("column;group", "column;group"),
                              ("group,column", "group,column"), ("a,1", "a,1"),
                              ("column,group,size", "column,group,size"),
                              ("a,b,c,d", "a,b,c,...")):
            self.refuse_groups(f"{header}\na,1\nb,1\n",
                               says=[f'g.csv:1: the first line, "{shown}", is not the header '
                                     "column,group or column,group,weight; correct it"])

    def test_targets_are_in_no_group(self):
        lines = "column,group\na,1\nb,1\nw,2\n"
        self.refuse_groups(lines + "y,2\n", "--target", "y,z",
                           says=['g.csv:5: there is no input column "y": it is a target; leave'])
        self.refuse_groups(lines, "--target", "y,z", "--weights", "w",
                           says=['g.csv:4: there is no input column "w": it is the column of '
                                 "weights; leave"])
        self.refuse("fit", "data.csv", "--penalty", "l1", "--feature-weights", "z=0", code=USAGE,
                    says=["--feature-weights", '"z": it is a target; leave it out'])

    def test_few_columns_are_listed(self):
        all_names = '"a", "b", "w", "y", "z"'
        self.refuse("fit", "data.csv", "--target", "price", code=DATA,
                    says=["--target price", "its columns are " + all_names])
        self.refuse_groups("column,group\nprice,1\n", says=["g.csv:2", '"price"',
                                                            'the inputs are "a", "b", "w", "y"'])
        self.write("wide.csv", ",".join(f"column{i}" for i in range(21)) + "\n"
                   + 3 * (21 * "1," + "\n"))
        self.refuse("fit", "wide.csv", "--target", "price", code=DATA,
                    says=['its columns are "column0" to "column20"'])


class Units(ToolTest):
    def test_what_sklearn_means(self):
        self.write("data.csv", ROWS)
        for options, hint in (
                (["--task", "classification", "--target", "w", "--penalty", "l1"], "1/(n C)"),
                (["--task", "classification", "--target", "w", "--penalty", "elastic:0.5"],
                 "1/(n C)"),
                (["--target", "y,z", "--penalty", "group:targets"], "2 alpha")):
            self.refuse("fit", "data.csv", *options, "--as", "sklearn", "--lambda", "1", code=USAGE,
                        says=["--as sklearn", f"give lambda in ours, which is {hint}"])
        self.refuse("fit", "data.csv", "--loss", "eps:0.1", "--as", "sklearn", "--lambda", "1",
                    code=USAGE, says=["give lambda in ours, or C with --as libsvm"])


class Cells(ToolTest):
    def test_text_where_numbers_were(self):
        model = self.some_model()
        lines = self.read("data.csv").decode().splitlines()
        odd = "tall" + lines[3][lines[3].index(","):]
        self.write("few.csv", "\n".join(lines[:1] + 3 * [odd]) + "\n")
        self.refuse("predict", model, "few.csv", "-o", "out.csv", code=DATA,
                    says=['few.csv: column "x1" holds text ("tall")', "correct its cells",
                          "or train anew with the column as text (--text)"])
        self.write("many.csv", "\n".join(lines[:1] + 8 * lines[1:] + [odd]) + "\n")
        self.refuse("predict", model, "many.csv", "-o", "out.csv", code=DATA,
                    says=["many.csv:322", "expected a number; correct it, leave the cell empty",
                          "--text x1, in training and prediction alike"])

    def test_text_is_text_in_training_and_prediction(self):
        """What the sentence above advises helps."""
        rows = "".join(f"{i % 6},{i * i % 7}\n" for i in range(100))
        self.write("train.csv", "a,y\n" + rows)
        self.write("new.csv", "a,y\n" + rows + "tall,3\n")
        options = ["--text", "a"]
        self.run_tool("fit", "train.csv", "--gamma", "mean", "--lambda", "1e-3", *options,
                      "-o", "m.fen", "--quiet")
        self.run_tool("predict", "m.fen", "new.csv", *options, "-o", "out.csv")
        self.assertEqual(len(self.read("out.csv").splitlines()), 102)

    def test_numbers_where_text_was(self):
        """They are read as the texts that the model has there, none of which they are."""
        self.write("train.csv", "a,y\n" + "high,1\nlow,2\nhigh,3\nlow,5\n")
        self.run_tool("fit", "train.csv", "--gamma", "mean", "--lambda", "1e-3", "-o", "m.fen",
                      "--quiet")
        self.write("new.csv", "a\n1\n2\n")
        said = self.run_tool("predict", "m.fen", "new.csv", "-o", "out.csv").err
        self.assertIn('2 texts are in no training row (first "1" in "a")', said)

    def test_half_numbers_in_svmlight(self):
        self.write("data.svm", "1 1:2 65:NaN-0.8941\n2 1:3\n3 2:1\n")
        self.refuse("fit", "data.svm", "--format", "svmlight", code=DATA,
                    says=['data.svm:1: "65:NaN-0.8941"', "not a (finite) number; correct it, or "
                          "leave the pair out"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
