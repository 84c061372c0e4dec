"""Corners where an answer could be quietly wrong."""
import json
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import unittest

from tool import ToolTest

DATA = 3


class Edges(ToolTest):
    def test_units_of_lambda_go_by_all_rows(self):
        """Scored on a part of the rows, lambda still means what it means for all of them."""
        self.run_tool("generate", "friedman", "--rows", "2600", "-o", "d.csv")
        fit = ("fit", "d.csv", "--json", "--gamma", "auto", "--memory", "150M")
        self.assertAlmostEqual(self.run_tool(*fit, "--lambda", "1/n").json["lambda"] * 2600, 1, 12)
        alpha = self.run_tool(*fit, "--as", "sklearn", "--lambda", "2").json["lambda"] * 2600
        self.assertAlmostEqual(alpha, 2, 12)

    def test_indefinite_kernel(self):
        self.write("k.csv", "k1,k2,y\n1,2,1\n2,1,2\n")
        for command in ("fit", "select"):
            self.refuse(command, "k.csv", "--kernel", "precomputed", "--lambda", "1", code=DATA,
                        says=("semidefinite", "diagonal"))

    def test_overflowing_kernel(self):
        self.run_tool("generate", "sinc", "--rows", "30", "-o", "d.csv")
        self.refuse("fit", "d.csv", "--kernel", "polynomial", "--gamma", "1e30", "--degree", "20",
                    "--lambda", "1", code=DATA, says=("polynomial", "overflows", "--gamma"))

    def test_targets_beyond_their_squares(self):
        for scale in ("1e200", "1e-200"):
            self.write("d.csv", "a,y\n" + "".join(f"{i},{i}{scale[1:]}\n" for i in range(1, 9)))
            self.refuse("fit", "d.csv", code=DATA, says=("d.csv:2", "square", "rescale"))

    def test_rows_where_lines_are_not_rows(self):
        self.write("d.csv", 'a,w,y\n1,1,5\n\n"2",1,6\n\n3,-1,7\n')
        self.refuse("fit", "d.csv", "--weights", "w", code=DATA, says=("d.csv: row 3", "negative"))
        self.write("d.csv", "a,w,y\n1,1,5\n2,1,6\n3,-1,7\n")
        self.refuse("fit", "d.csv", "--weights", "w", code=DATA, says=("d.csv:4", "negative"))

    def test_dense_model_verified_on_sparse_rows(self):
        """The fingerprint does not depend on the format; nor may the verdict."""
        rows = [(1, 0, 2), (0, 3, 1), (2, 1, 5), (0, 0, 3), (4, 0, 1), (1, 5, 2)]
        self.write("d.csv", "x1,x2,x3,label\n" + "".join(f"{a},{b},0,{y}\n" for a, b, y in rows))
        self.write("d.svm", "".join(
            f"{y}{f' 1:{a}' if a else ''}{f' 2:{b}' if b else ''}\n" for a, b, y in rows))
        self.run_tool("fit", "d.csv", "-o", "m.fen", "--gamma", "0.3", "--lambda", "0.01")
        self.assertTrue(self.run_tool("verify", "m.fen", "d.csv", "--json").json["holds"])
        self.assertTrue(self.run_tool("verify", "m.fen", "d.svm", "--json").json["holds"])

    def test_one_fold_score_alone_or_in_a_list(self):
        self.run_tool("generate", "friedman", "--rows", "64", "-o", "d.csv")
        select = ("select", "d.csv", "--json", "--gamma", "0.05", "--select", "kfold:5", "--lambda")
        alone = self.run_tool(*select, "1e-3").json["score"]
        listed = [p["score"] for p in self.run_tool(*select, "1e-3,1e-2").json["grid"]]
        self.assertAlmostEqual(alone, listed[0], 10)

    def test_a_model_cannot_choose_its_tolerance(self):
        """What verify tolerates is the verifier's choice; what fails is said."""
        self.run_tool("generate", "sinc", "--rows", "40", "-o", "d.csv")
        self.run_tool("fit", "d.csv", "-o", "m.fen", "--gamma", "1", "--lambda", "1e-3",
                      "--tolerance", "1")
        self.run_tool("verify", "m.fen", "d.csv")           # optimal to rounding all the same
        raw = bytearray(self.read("m.fen"))
        size = int.from_bytes(raw[:8], "little")
        head = json.loads(raw[8:8 + size])
        first = 8 + size + head["dual"]["data_offsets"][0]
        values = struct.unpack_from("<40d", raw, first)
        struct.pack_into("<40d", raw, first, *(0.99 * v for v in values))
        self.write("m.fen", bytes(raw))
        wrong = self.run_tool("verify", "m.fen", "d.csv", "--json", code=1)
        self.assertIs(wrong.json["holds"], False)
        self.assertIn("tolerance", wrong.json["reason"])

    def test_no_heading_without_rows(self):
        self.run_tool("generate", "sinc", "--rows", "20", "-o", "d.csv")
        self.run_tool("fit", "d.csv", "-o", "m.fen", "--gamma", "1", "--lambda", "1")
        self.write("other.csv", "p,q\n1,2\n")
        self.assertEqual(self.refuse("predict", "m.fen", "other.csv", code=DATA,
                                     says=("other.csv", "x1")).out, "")


if __name__ == "__main__":
    unittest.main()
