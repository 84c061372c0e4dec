"""Losses on the command line: what --loss takes and refuses, what fit says about them, quantiles."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tool import ToolTest  # noqa: E402

USAGE = 2
FIXED = ["--gamma", "mean", "--lambda", "1e-3"]
LOSSES = ["square", "absolute", "eps", "sqeps", "huber", "pinball", "tube", "hinge", "sqhinge",
          "logistic"]


class Losses(ToolTest):
    def setUp(self):
        super().setUp()
        self.some_data(rows=80)

    def fit(self, *options):
        return self.run_tool("fit", "data.csv", *FIXED, "--json", *options).json

    def test_help_lists_them(self):
        text = " ".join(self.run_tool("fit", "--help").out.split())
        self.assertIn(", ".join(LOSSES), text)

    def test_refused(self):
        for text, says in {
                "eps:-1": ["--loss eps:-1", "epsilon", "at least 0"],
                "eps:1e999": ["epsilon", "at least 0"],
                "pinball:1.2": ["--loss pinball:1.2", "tau", "strictly between 0 and 1"],
                "pinball:0": ["tau", "strictly between 0 and 1"],
                "pinball:0.5,0.5": ["tau 0.5", "twice"],
                "pinball:0.1,,": [],
                "huber:0": ["k must be", "above 0"],
                "square:2": ["square takes no value"],
                "eps:": ["epsilon", "missing"],
                "hing": ["did you mean hinge?"],
                "svr": ["did you mean eps?"],
                "mse": ["did you mean square?"],
                "nonsense": ["auto, square, absolute"]}.items():
            with self.subTest(loss=text):
                if says:
                    for command in ("fit", "select", "path", "plan"):
                        self.refuse(command, "data.csv", "--loss", text, code=USAGE, says=says)
                else:
                    self.assertEqual(self.fit("--loss", text)["loss_parameter"], 0.1)

    def test_losses_of_classes_refuse_numbers(self):
        for loss in ("hinge", "sqhinge", "logistic"):
            self.refuse("fit", "data.csv", "--loss", loss, code=USAGE,
                        says=[loss, "holds numbers", "--task classification"])

    def test_what_does_not_go_together(self):
        self.refuse("fit", "data.csv", "--loss", "huber", "--power", "0.5", code=USAGE,
                    says=["--power", "square loss"])
        self.refuse("fit", "data.csv", "--loss", "eps", "--nu", "0.5", "--power", "3", code=USAGE,
                    says=["--nu", "--power 2"])
        self.refuse("fit", "data.csv", "--loss", "huber", "--as", "libsvm", "--lambda", "1",
                    code=USAGE, says=["--as libsvm", "huber"])
        self.refuse("fit", "data.csv", "--loss", "eps", "--as", "sklearn", "--lambda", "1",
                    code=USAGE, says=["--as sklearn", "eps"])

    def test_auto(self):
        self.assertEqual(self.fit()["loss"], "square")
        self.assertEqual(self.fit("--loss", "auto")["loss"], "square")

    def test_parameters_are_told(self):
        self.assertEqual(self.fit("--loss", "huber")["loss_parameter"], 1.35)
        self.assertEqual(self.fit("--loss", "huber:0.5")["loss_parameter"], 0.5)
        said = self.run_tool("fit", "data.csv", *FIXED, "--loss", "huber:0.5").out
        self.assertIn("huber (k 0.5) loss", " ".join(said.split()))

    def test_epsilon_by_the_noise(self):
        """The same rule for both losses; it goes with the unit of y and with nothing else."""
        found = self.fit("--loss", "sqeps:auto")["loss_parameter"]
        self.assertEqual(self.fit("--loss", "eps:auto")["loss_parameter"], found)
        self.assertEqual(self.fit("--loss", "sqeps:auto", "--seed", "9")["loss_parameter"], found)
        self.assertTrue(0.1 < found < 10)
        model = self.fit("--loss", f"sqeps:{found!r}")
        self.assertEqual(model["primal"], self.fit("--loss", "sqeps:auto")["primal"])

    def test_every_loss_of_numbers(self):
        for loss in ("square", "absolute", "eps", "sqeps", "huber", "pinball", "tube:0.5"):
            with self.subTest(loss=loss):
                found = self.fit("--loss", loss)
                self.assertEqual(found["verdict"], "optimal")
                self.assertLessEqual(found["relative_gap"], 1e-6)
                self.assertTrue(self.run_tool("verify", "data.fen", "data.csv", "--json")
                                .json["holds"])
                again = json.loads(self.run_tool("info", "data.fen", "--json").out)
                self.assertEqual(again["loss"], loss.partition(":")[0])

    def test_corners_beside_large_targets(self):
        """k = 1.35 beside prices: the loss is all corners, and the answer is proved all the same."""
        with open(self.path("data.csv"), encoding="utf-8") as file:
            head, *rows = [line.rstrip("\n").split(",") for line in file]
        target = head.index(self.fit()["targets"][0])
        for row in rows:
            row[target] = repr(1e5 * float(row[target]))
        self.write("prices.csv", "\n".join(",".join(row) for row in [head, *rows]) + "\n")
        for name in ("huber", "sqeps:1"):
            for weight in ("1e-3", "1e-8", "1e-12"):
                fit = self.run_tool("fit", "prices.csv", "--gamma", "mean", "--lambda", weight,
                                    "--loss", name, "--json").json
                self.assertEqual(fit["verdict"], "optimal", (name, weight))

    def test_quantiles(self):
        taus = [0.9, 0.1, 0.5]
        found = self.fit("--loss", "pinball:0.9,0.1,0.5")
        self.assertEqual(found["loss_parameter"], taus)
        self.assertEqual(found["verdict"], ["optimal"] * 3)
        scores = self.run_tool("predict", "data.fen", "data.csv", "--json").json["predictions"]
        order = sorted(range(3), key=lambda k: taus[k])
        crossed = sum(sorted(row) != [row[k] for k in order] for row in scores)
        self.assertAlmostEqual(found["crossing"], crossed / 80, places=12)
        said = self.run_tool("fit", "data.csv", *FIXED, "--loss", "pinball:0.9,0.1,0.5").out
        self.assertIn("Quantiles", said)
        self.assertNotIn("Quantiles", self.run_tool("fit", "data.csv", *FIXED).out)

    def test_quantiles_that_cross(self):
        """Two fits with different lambda would cross more; here few rows and little smoothing."""
        self.run_tool("generate", "friedman", "--rows", "40", "--seed", "3", "-o", "few.csv")
        found = self.run_tool("fit", "few.csv", "--loss", "pinball:0.45,0.5,0.55", "--gamma", "5",
                              "--lambda", "1e-2", "--json").json
        scores = self.run_tool("predict", "few.fen", "few.csv", "--json").json["predictions"]
        crossed = sum(sorted(row) != row for row in scores)
        self.assertAlmostEqual(found["crossing"], crossed / 40, places=12)


if __name__ == "__main__":
    unittest.main()
