"""What options stand for once the rows are known: units of lambda, automatic choices, and what does
not go together, each in one sentence."""
import math
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tool import ToolTest  # noqa: E402

FIXED = ["--gamma", "0.3", "--lambda", "0.1"]


class Settle(ToolTest):
    def setUp(self):
        super().setUp()
        self.some_data("numbers.csv", rows=40)
        rows = [line.split(",") for line in self.read("numbers.csv").decode().split()[1:]]
        middle = sorted(float(row[-1]) for row in rows)[12]
        lines = [",".join(row[:-1] + ["big" if float(row[-1]) > middle else "small"])
                 for row in rows]
        self.write("classes.csv", "\n".join(["a,b,c,d,e,f,g,h,i,j,size"] + lines) + "\n")

    def fit(self, data, *options, **more):
        return self.run_tool("fit", data, "--json", "--quiet", *options, **more).json

    def refuse_fit(self, data, *options, says):
        self.refuse("fit", data, "--quiet", *options, code=2, says=says)


class Units(Settle):
    def test_libsvm(self):
        """lambda = 1/(2 C n), for every loss that LIBSVM and LIBLINEAR have."""
        for data, losses in (("numbers.csv", ("eps:0.1", "sqeps:0.1")),
                             ("classes.csv", ("hinge", "sqhinge", "logistic"))):
            for loss in losses:
                theirs = self.fit(data, "--loss", loss, "--gamma", "0.3", "--as", "libsvm",
                                  "--lambda", "5")
                ours = self.fit(data, "--loss", loss, "--gamma", "0.3", "--lambda",
                                repr(1 / (2 * 5 * 40)))
                self.assertAlmostEqual(theirs["lambda"] * 400, 1, places=12)
                self.assertEqual(theirs["primal"], ours["primal"])

    def test_sklearn(self):
        fit = self.fit("numbers.csv", "--gamma", "0.3", "--as", "sklearn", "--lambda", "2")
        self.assertAlmostEqual(fit["lambda"] * 20, 1, places=12)

    def test_no_conversion(self):
        self.refuse_fit("numbers.csv", *FIXED, "--as", "libsvm", says=["libsvm", "square"])
        self.refuse_fit("numbers.csv", *FIXED, "--as", "sklearn", "--loss", "eps:0.1",
                        says=["sklearn", "eps"])
        self.refuse_fit("numbers.csv", *FIXED, "--as", "libsvm", "--loss", "huber:1",
                        says=["libsvm", "huber"])
        self.refuse_fit("numbers.csv", *FIXED, "--as", "libsvm", "--loss", "eps:0.1", "--power",
                        "1.5", says=["libsvm", "--power 2"])


class Choices(Settle):
    def test_loss_by_target(self):
        self.assertEqual(self.fit("numbers.csv", *FIXED)["loss"], "square")
        self.assertEqual(self.fit("classes.csv", *FIXED)["loss"], "logistic")

    def test_score_by_loss(self):
        grid = ["--gamma", "0.3", "--lambda", "0.1,0.01"]
        self.assertEqual(self.fit("numbers.csv", *grid)["score_kind"], "loo")
        self.assertEqual(self.fit("classes.csv", *grid)["score_kind"], "kfold:5")
        self.assertEqual(self.fit("classes.csv", *grid, "--loss", "square")["score_kind"], "loo")

    def test_engine_by_loss(self):
        engines = {"square": "cholesky", "huber:1": "block", "eps:0.1": "block"}
        for loss, engine in engines.items():
            self.assertEqual(self.fit("numbers.csv", *FIXED, "--loss", loss)["method"], engine)

    def test_square_by_every_engine(self):
        """The same objective and answer, whoever computes it."""
        found = [self.fit("numbers.csv", *FIXED, "--tolerance", "1e-10", "--engine", engine)
                 for engine in ("cholesky", "newton", "block")]
        for other in found[1:]:
            self.assertAlmostEqual(other["primal"] / found[0]["primal"], 1, delta=1e-9)
            self.assertAlmostEqual(other["norm"] / found[0]["norm"], 1, delta=1e-4)

    def test_automatic_powers(self):
        """Of losses other than square those from 1 on."""
        fit = self.fit("numbers.csv", "--loss", "huber:1", *FIXED, "--power", "auto")
        self.assertIn(fit["power"], (1, 1.5, 2, 3))

    def test_epsilon_by_noise(self):
        quiet = self.some_data("quiet.csv", rows=200)
        self.run_tool("generate", "friedman", "--rows", "200", "--noise", "8", "-o", "loud.csv")
        few = self.fit(quiet, *FIXED, "--loss", "eps:auto")
        many = self.fit("loud.csv", *FIXED, "--loss", "eps:auto")
        self.assertGreater(many["outputs"][0]["parameter"], 2 * few["outputs"][0]["parameter"])

    def test_knee_by_noise(self):
        """In units of the target, whatever they are; a k far below the residuals is spoken of."""
        self.run_tool("generate", "friedman", "--rows", "300", "--noise", "2", "-o", "some.csv")
        small = self.fit("some.csv", *FIXED, "--loss", "huber:auto")
        self.assertGreater(small["outputs"][0]["parameter"], 2)
        self.assertLess(small["outputs"][0]["parameter"], 8)
        self.assertNotIn("absolute loss", small["note"])
        for words in (FIXED, ("--penalty", "l1", "--lambda", "0.1")):
            tiny = self.fit("some.csv", *words, "--loss", "huber:1e-3")
            self.assertIn("nearly the absolute loss", tiny["note"])
            self.assertIn("huber:auto", tiny["note"])

    def test_residuals_beyond_the_knee_of_the_noise(self):
        """It is not k that is wrong there; of several targets those are named that it is true of."""
        lines = ["x,y1,y2,y3"]
        for i in range(200):
            x, off = math.sin(i), 0.1 * math.cos(7 * i)
            lines.append(f"{x!r},{100 * x + off!r},{10 * off!r},{off - 50 * x!r}")
        self.write("three.csv", "\n".join(lines) + "\n")
        self.write("one.csv", "\n".join(",".join(line.split(",")[:2]) for line in lines) + "\n")
        words = ("--penalty", "l1", "--lambda", "100")
        one = self.fit("one.csv", *words, "--loss", "huber:auto")["note"]
        self.assertIn("of the residuals are beyond k, which auto took from the noise", one)
        for word in ("absolute loss", "huber:auto"):
            self.assertNotIn(word, one)
        several = ("three.csv", *words, "--target", "y1,y2,y3", "--loss")
        self.assertIn("of the residuals of y1, y3 are beyond k, which auto",
                      self.fit(*several, "huber:auto")["note"])
        self.assertIn("of the residuals of y1, y3 are beyond k: this is nearly the absolute loss",
                      self.fit(*several, "huber:0.5")["note"])


class Refusals(Settle):
    def test_powers(self):
        self.refuse_fit("numbers.csv", *FIXED, "--loss", "eps:0.1", "--power", "0.5",
                        says=["--power below 1", "eps"])
        self.refuse_fit("numbers.csv", *FIXED, "--loss", "eps:0.1", "--power", "1,0.5",
                        says=["--power below 1"])
        self.refuse_fit("numbers.csv", "--gamma", "0.3", "--loss", "eps:0.1", "--smoothness", "6",
                        says=["--smoothness"])
        self.refuse_fit("numbers.csv", *FIXED, "--loss", "eps", "--nu", "0.3", "--power", "1.5",
                        says=["--nu", "--power 2"])

    def test_scores(self):
        self.refuse_fit("numbers.csv", "--loss", "eps:0.1", "--select", "gcv",
                        says=["gcv", "eps", "kfold"])
        self.refuse_fit("numbers.csv", "--task", "one-class", "--nu", "0.1", "--gamma", "0.1,0.3",
                        says=["one-class", "one gamma"])

    def test_losses_and_targets(self):
        self.refuse_fit("classes.csv", *FIXED, "--loss", "eps:0.1", says=["eps", '"size"', "hinge"])
        self.refuse_fit("numbers.csv", *FIXED, "--loss", "hinge", says=["hinge", "numbers"])
        self.refuse_fit("numbers.csv", *FIXED, "--probability", says=["--probability", "classes"])

    def test_engines(self):
        self.refuse_fit("numbers.csv", *FIXED, "--loss", "eps:0.1", "--engine", "cholesky",
                        says=["cholesky"])
        self.refuse_fit("numbers.csv", *FIXED, "--loss", "eps:0.1", "--engine", "newton",
                        says=["newton"])
        self.refuse_fit("numbers.csv", *FIXED, "--engine", "block", "--power", "0.5",
                        says=["block"])

    def test_features(self):
        approx = ["--approx", "fourier:50"]
        self.refuse_fit("numbers.csv", *FIXED, *approx, "--loss", "eps:0.1", says=["--approx", "eps"])
        self.refuse_fit("numbers.csv", *FIXED, *approx, "--nu", "0.1", says=["--nu", "--approx"])
        self.refuse_fit("numbers.csv", *FIXED, *approx, "--task", "classification",
                        says=["--approx", "classification"])

    def test_nu_beyond_the_classes(self):
        """The smaller class has 13 of 40 rows: half of nu must fit into it."""
        self.refuse("fit", "classes.csv", *FIXED, "--loss", "hinge", "--nu", "0.7", code=3,
                    says=["share of 0.325", "0.65, not 0.7"])
        self.fit("classes.csv", *FIXED, "--loss", "hinge", "--nu", "0.6")


class Ends(Settle):
    def test_time_limit(self):
        """A limit leaves a model that can be used, and says so."""
        self.some_data("large.csv", rows=1500)
        for loss in ("eps:0.01", "huber:0.1"):
            fit = self.fit("large.csv", "--loss", loss, "--gamma", "0.05", "--lambda", "1e-9",
                           "--time-limit", "0.02", "-o", "m.fen", code=1)
            self.assertEqual(fit["verdict"], "limit")
            self.assertLessEqual(fit["primal"], 1.1 * fit["null"])
            self.assertLessEqual(fit["dual"], fit["primal"])
            self.run_tool("predict", "m.fen", "large.csv", "-o", "p.csv")
            self.run_tool("verify", "m.fen", "large.csv", code=1)

    def test_no_tube(self):
        self.write("alike.csv", "x,y\n1,0\n1,5\n2,3\n3,1\n")
        fit = self.fit("alike.csv", "--loss", "tube:0.5", *FIXED, code=1)
        self.assertEqual(fit["verdict"], "stalled")
        self.assertIn("tube", fit["note"])
        fit = self.fit("alike.csv", "--loss", "tube:2.6", *FIXED)
        self.assertEqual(fit["verdict"], "optimal")

    def test_equal_targets(self):
        self.write("equal.csv", "x,y\n1,2\n2,2\n3,2\n4,2\n")
        for loss in ("square", "eps:0.1", "huber:1", "absolute", "tube:0.1", "pinball:0.2"):
            fit = self.fit("equal.csv", "--loss", loss, *FIXED)
            self.assertEqual(fit["verdict"], "optimal")
            self.assertEqual(fit["norm"], 0)
            self.assertIn('"y" are equal', fit["note"])


if __name__ == "__main__":
    unittest.main()
