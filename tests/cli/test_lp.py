"""--penalty lp:P on the real tool: fits of every loss, routes, selection, paths, plans, bad input.

Data sets are cut to the first rows, so that every test takes a second or two."""
import math
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tool import ToolTest  # noqa: E402

USAGE, DATA, FILES, MEMORY = 2, 3, 4, 5
FOLDER = os.path.abspath(os.environ.get("FENCHEL_DATA", "../shared/data"))
LP = ["--penalty", "lp:4/3"]
KERNELS = ("linear", "tensor-linear", "tensor-polynomial", "tensor-exponential")


class Lp(ToolTest):
    def real(self, name, rows):
        """The first rows of a data set of the benchmark collection, every third one of it."""
        source = os.path.join(FOLDER, name + ".csv")
        if not os.path.exists(source):
            print(f"SKIPPED: {source} is absent")
            self.skipTest(f"{source} is absent")
        with open(source, encoding="utf-8") as file:
            lines = file.read().splitlines()
        return self.write(name + ".csv", "\n".join(lines[:1] + lines[1::3][:rows]) + "\n")

    def fit(self, *words, code=0):
        return self.run_tool("fit", *words, "--json", "--quiet", code=code).json

    def refuse_fit(self, data, *options, says, code=USAGE, command="fit"):
        self.refuse(command, data, "--quiet", *options, code=code, says=says)


class Losses(Lp):
    """All are certified: the certificate knows nothing of the solver."""

    def check(self, found, kernel):
        self.assertEqual(found["penalty"], "lp")
        self.assertEqual(found["kernel"], kernel)
        self.assertAlmostEqual(found["power"], 4 / 3, places=15)
        outputs = found["verdict"] if isinstance(found["verdict"], list) else [found["verdict"]]
        gaps = found["relative_gap"]
        for gap in gaps if isinstance(gaps, list) else [gaps]:
            self.assertLessEqual(gap, 1e-6)
        self.assertEqual(set(outputs), {"optimal"})

    def test_numbers(self):
        data = self.real("yacht", 30)
        for loss in ("square", "eps:0.5", "sqeps:0.5", "huber:1", "pinball:0.3", "absolute"):
            for kernel in KERNELS:
                found = self.fit(data, *LP, "--kernel", kernel, "--lambda", "0.01", "--loss", loss)
                self.check(found, kernel)
                self.assertLess(found["primal"], found["null"])

    def test_signs(self):
        data = self.real("pima", 30)
        for loss in ("logistic", "hinge", "sqhinge", "square"):
            for kernel in KERNELS:
                found = self.fit(data, *LP, "--kernel", kernel, "--lambda", "0.01", "--loss", loss,
                                 "--task", "classification")
                self.check(found, kernel)
                self.assertLess(found["train_error"], 0.35)

    def test_linear_models_of_any_exponent(self):
        data = self.real("energy", 60)
        for p in ("2", "1.7", "1.5", "1.25", "1.1", "1.01"):
            found = self.fit(data, "--penalty", "lp:" + p, "--lambda", "0.1")
            self.assertEqual(found["verdict"], "optimal")
            self.assertAlmostEqual(found["p"], float(p), places=12)
            self.assertAlmostEqual(found["q"] * (found["p"] - 1), found["p"], places=9)
        ridge = self.fit(data, "--penalty", "rkhs", "--kernel", "linear", "--lambda", "0.1")
        same = self.fit(data, "--penalty", "lp:2", "--lambda", "0.1")
        self.assertAlmostEqual(same["primal"] / ridge["primal"], 1, places=6)
        self.assertAlmostEqual(same["norm"] / ridge["norm"], 1, places=3)

    def test_tensor_linear_is_linear(self):
        data = self.real("energy", 60)
        for p in ("4/3", "6/5", "8/7", "2"):
            words = ["--penalty", "lp:" + p, "--lambda", "0.1"]
            linear = self.fit(data, *words)
            tensor = self.fit(data, *words, "--kernel", "tensor-linear")
            for one, other in zip(linear["coefficients"], tensor["coefficients"]):
                self.assertEqual(one["name"], other["name"])
                self.assertAlmostEqual(one["value"], other["value"], delta=1e-3 * abs(one["value"]) + 1e-6)

    def test_verify_and_predict(self):
        data = self.real("yacht", 30)
        for kernel in KERNELS:
            self.fit(data, *LP, "--kernel", kernel, "--lambda", "0.01", "-o", "m.fen")
            self.assertRegex(self.run_tool("verify", "m.fen", data).out, r"\|w\|_p +[\d.]")
            self.run_tool("predict", "m.fen", data, "-o", "p.csv")
            self.assertEqual(len(self.read("p.csv").splitlines()), 31)


class Outputs(Lp):
    def test_several_targets_and_quantiles(self):
        data = self.real("slump", 60)
        found = self.fit(data, *LP, "--target", "slump,flow,strength", "--lambda", "1")
        self.assertEqual(found["verdict"], ["optimal"] * 3)
        found = self.fit(data, *LP, "--loss", "pinball:0.1,0.5,0.9", "--lambda", "0.01")
        self.assertEqual(found["verdict"], ["optimal"] * 3)
        self.assertLess(sum(found["primal"][::2]), 2 * found["primal"][1])

    def classes(self):
        rows = ["a,b,c,kind"]
        for i in range(60):
            x = [math.sin(7 * i), math.cos(3 * i), math.sin(2 * i + 1)]
            rows.append(f"{x[0]:.4f},{x[1]:.4f},{x[2]:.4f},"
                        + ("red" if x[0] * x[1] > 0.15 else "blue" if x[1] * x[2] > 0 else "green"))
        return self.write("kinds.csv", "\n".join(rows) + "\n")

    def test_three_classes(self):
        data = self.classes()
        for multiclass in ("ovr", "ovo"):
            for words in (["--loss", "logistic"], ["--loss", "hinge", "--probability"]):
                found = self.fit(data, *LP, "--kernel", "tensor-polynomial", "--lambda", "0.002",
                                 "--multiclass", multiclass, *words, "-o", "m.fen")
                self.assertEqual(found["verdict"], ["optimal"] * 3)
                self.assertLess(found["train_error"], 0.2)
                self.run_tool("verify", "m.fen", data)

    def test_class_weights(self):
        data = self.real("pima", 90)
        plain = self.fit(data, *LP, "--lambda", "0.01", "--task", "classification")
        balanced = self.fit(data, *LP, "--lambda", "0.01", "--task", "classification",
                            "--class-weights", "balanced")
        self.assertEqual(balanced["verdict"], "optimal")
        self.assertNotAlmostEqual(plain["bias"], balanced["bias"], places=3)


class Routes(Lp):
    TIGHT = [*LP, "--lambda", "0.1", "--tolerance", "1e-12"]

    def predictions(self, data, *words):
        found = self.fit(data, *self.TIGHT, *words, "-o", "m.fen")
        self.assertEqual(found["verdict"], "optimal", words)
        self.run_tool("predict", "m.fen", data, "-o", "p.csv")
        lines = self.read("p.csv").decode().splitlines()[1:]
        return [float(line.split(",")[-1]) for line in lines]

    def test_agree(self):
        """Explicit and packed to 1e-8 of the size of the target, both at a gap of 1e-12."""
        data = self.real("yacht", 40)
        for kernel in ("linear", "tensor-linear", "tensor-polynomial"):
            words = ["--kernel", kernel]
            features = self.predictions(data, *words, "--route", "features")
            packed = self.predictions(data, *words, "--route", "packed")
            size = max(map(abs, features))
            worst = max(abs(a - b) for a, b in zip(features, packed))
            self.assertLessEqual(worst, 1e-8 * size, kernel)

    def test_low_rank(self):
        """To what rounding to single precision leaves of the factor, and no more than a gap."""
        data = self.real("yacht", 40)
        for kernel in ("tensor-polynomial", "tensor-exponential"):
            found = [self.fit(data, *LP, "--lambda", "0.1", "--kernel", kernel, "--route", route)
                     for route in ("packed", "low-rank")]
            self.assertEqual([one["verdict"] for one in found], ["optimal"] * 2)
            self.assertAlmostEqual(found[0]["primal"] / found[1]["primal"], 1, places=5)

    def test_engines_agree(self):
        data = self.real("yacht", 40)
        words = [*LP, "--lambda", "1", "--kernel", "tensor-polynomial"]
        newton = self.fit(data, *words, "--engine", "lp-newton")
        gradient = self.fit(data, *words, "--engine", "lp-gradient")
        self.assertTrue(gradient["method"].startswith("lp-gradient"))
        self.assertAlmostEqual(newton["primal"] / gradient["primal"], 1, delta=2e-6)

    def test_plan(self):
        data = self.real("energy", 100)
        for kernel, route, why in (
                ("linear", "auto", "features: 8 columns"),
                ("tensor-polynomial", "features", "features: 36 columns"),
                ("tensor-exponential", "packed", "packed: 4.4 million distinct entries"),
                ("tensor-exponential", "low-rank", "low rank: ")):
            found = self.run_tool("plan", data, *LP, "--kernel", kernel, "--route", route,
                                  "--json").json
            self.assertEqual(found["method"], "lp-newton")
            self.assertIn(why, found["why"])
            self.assertTrue(found["fits"])
            self.assertGreater(found["seconds"], 0)
        self.assertIn("25 lambdas on 100 of 100 rows", found["selection"])


class Selection(Lp):
    def test_folds(self):
        data = self.real("yacht", 60)
        for kernel in ("linear", "tensor-polynomial"):
            found = self.run_tool("select", data, *LP, "--kernel", kernel, "--json").json
            self.assertEqual(found["score_kind"], "kfold:5")
            self.assertEqual(found["penalty"], "lp:4/3")
            scores = [point["score"] for point in found["grid"] if point["score"] is not None]
            self.assertEqual(found["score"], min(scores))
            self.assertTrue(all(abs(point["power"] - 4 / 3) < 1e-15 for point in found["grid"]))
            fitted = self.fit(data, *LP, "--kernel", kernel)
            self.assertEqual(fitted["lambda"], found["lambda"])
            self.assertEqual(fitted["verdict"], "optimal")
            text = self.run_tool("select", data, *LP, "--kernel", kernel).out
            self.assertTrue(text.startswith("penalty lp:4/3\n"), text)
            self.assertNotIn("power", text)
            self.assertNotIn("gamma", text)     # neither kernel has one
            self.assertEqual(len(text.splitlines()), 2 + len(found["grid"]) + 1)
            skipped = len(found["grid"]) - len(scores)
            self.assertGreater(skipped, 0)
            self.assertIn(f"the best of 25 ({skipped} of them skipped) by 5-fold RMSE",
                          " ".join(self.run_tool("fit", data, *LP, "--kernel", kernel).out.split()))

    def test_the_best_lambda_is_inside(self):
        """Of the grid: neither end has the best score of held-out rows."""
        for name, kernel, rows in (
                ("concrete", "linear", 200), ("concrete", "tensor-polynomial", 200),
                ("yacht", "linear", 200), ("yacht", "tensor-polynomial", 200),
                ("energy", "linear", 200), ("energy", "tensor-polynomial", 200),
                ("pima", "linear", 200), ("pima", "tensor-exponential", 60)):
            data = self.real(name, rows)
            words = ["--task", "classification"] if name == "pima" else []
            found = self.run_tool("select", data, *LP, *words, "--kernel", kernel, "--json").json
            lambdas = sorted(point["lambda"] for point in found["grid"])
            self.assertGreater(found["lambda"], lambdas[0], (name, kernel))
            self.assertLess(found["lambda"], lambdas[-1], (name, kernel))

    def test_few_rows_are_left_out_one_by_one(self):
        data = self.real("yacht", 15)
        found = self.fit(data, *LP)
        self.assertEqual(found["score_kind"], "loo")
        data = self.real("yacht", 30)
        found = self.fit(data, *LP, "--select", "loo", "--lambda", "0.01,0.1,1")
        self.assertEqual(found["score_kind"], "loo")
        self.assertEqual(len(found["grid"]), 3)

    def test_leave_one_out_by_hand(self):
        """The score of three rows is that of the three fits without one of them."""
        rows = [(0.0, 1.0, 2.0), (1.0, 0.5, 3.0), (2.0, -1.0, 1.0), (0.5, 2.0, 4.0), (1.5, 0.3, 2.5)]
        text = lambda which: "a,b,y\n" + "".join("%g,%g,%g\n" % row for row in which)
        self.write("all.csv", text(rows))
        words = [*LP, "--scale", "none", "--no-bias", "--lambda"]
        found = self.fit("all.csv", *words, "0.1,0.2", "--select", "loo", "--tolerance", "1e-10")
        point = min(found["grid"], key=lambda at: abs(at["lambda"] - 0.1))
        total = 0.0
        for out in range(5):
            self.write("rest.csv", text(rows[:out] + rows[out + 1:]))
            self.write("one.csv", text([rows[out]]))
            lambda_ = 0.1 * 5 / 4       # the weights of the others stay 1/5
            self.fit("rest.csv", *words, repr(lambda_), "-o", "m.fen", "--tolerance", "1e-10")
            self.run_tool("predict", "m.fen", "one.csv", "-o", "p.csv")
            last = self.read("p.csv").decode().splitlines()[1].split(",")[-1]
            total += (float(last) - rows[out][2]) ** 2 / 5
        self.assertAlmostEqual(point["score"], total, delta=1e-3 * total)

    def test_idle(self):
        data = self.real("yacht", 30)
        found = self.fit(data, *LP, "--lambda", "0.1", "--select", "kfold:3")
        self.assertIn("nothing to choose", found["note"])

    def test_gamma(self):
        data = self.real("yacht", 40)
        words = [*LP, "--kernel", "tensor-exponential", "--lambda", "0.1", "--scale", "range"]
        found = self.fit(data, *words, "--gamma", "auto")
        with open(self.path(data), encoding="utf-8") as file:
            rows = [[float(c) for c in line.split(",")[:-1]] for line in file.readlines()[1:]]
        columns = [c for c in zip(*rows) if max(c) > min(c)]
        scaled = [[(v - min(c)) / (max(c) - min(c)) for v in c] for c in columns]
        most = max(sum(v ** 4 for v in row) for row in zip(*scaled))
        self.assertAlmostEqual(found["gamma"] * most, 1, places=12)
        self.assertEqual(self.fit(data, *words, "--gamma", "0.3")["gamma"], 0.3)

    def test_degree(self):
        data = self.real("yacht", 30)
        words = [*LP, "--kernel", "tensor-polynomial", "--lambda", "0.1"]
        self.assertEqual(self.fit(data, *words)["primal"],
                         self.fit(data, *words, "--degree", "2")["primal"])
        self.assertNotEqual(self.fit(data, *words)["primal"],
                            self.fit(data, *words, "--degree", "3")["primal"])
        self.assertEqual(self.fit(data, *words)["primal"],
                         self.fit(data, *words, "--coef0", "0")["primal"])
        self.assertGreater(self.fit(data, *words)["primal"],     # products of fewer columns join
                           self.fit(data, *words, "--coef0", "1")["primal"])
        plain = ["--kernel", "polynomial", "--gamma", "0.1", "--lambda", "0.1"]
        self.assertEqual(self.fit(data, *plain)["primal"],
                         self.fit(data, *plain, "--degree", "3", "--coef0", "1")["primal"])


class Paths(Lp):
    def test_path(self):
        data = self.real("energy", 60)
        found = self.run_tool("path", data, *LP, "--json").json
        points = sorted(found["points"], key=lambda at: at["lambda"])
        self.assertEqual(len(points), 25)
        for point in points:
            self.assertLessEqual(point["relative_gap"], 1e-7)
            norm = sum(abs(w) ** (4 / 3) for w in point["solution"]) ** 0.75
            self.assertAlmostEqual(point["norm"] / norm, 1, places=6)   # of the gap's size
            self.assertAlmostEqual(point["objective"],
                                   point["mean_loss"] + point["lambda"] * norm ** (4 / 3),
                                   delta=1e-6 * point["objective"])
        # The norm falls with lambda. Of solutions with gaps e and f: each objective is at most the
        # other's at its own lambda plus its gap, so (mu - lambda)(N_mu - N_lambda) <= e + f.
        for low, high in zip(points, points[1:]):
            gaps = sum((at["relative_gap"] + 1e-14) * at["objective"] for at in (low, high))
            self.assertLessEqual(high["norm"] ** (4 / 3) - low["norm"] ** (4 / 3),
                                 gaps / (high["lambda"] - low["lambda"]))
        middle = points[15]
        fitted = self.fit(data, *LP, "--lambda", repr(middle["lambda"]), "--tolerance", "1e-9")
        self.assertAlmostEqual(fitted["primal"] / middle["objective"], 1, places=7)

    def test_table_and_picture(self):
        data = self.real("energy", 40)
        for kernel in ("linear", "tensor-linear"):
            text = self.run_tool("path", data, *LP, "--kernel", kernel, "--lambda", "0.01,1",
                                 "--plot", "p.svg").out
            self.assertIn("penalty lp:4/3", text)
            self.assertNotIn("lambda2", text)
            self.assertNotIn("nan", text)
            self.assertIn("coefficients of the scaled features", self.read("p.svg").decode())

    def test_scored(self):
        data = self.real("energy", 60)
        found = self.run_tool("path", data, *LP, "--lambda", "0.01,1", "--select", "kfold:4",
                              "--loss", "huber:2", "--json").json
        self.assertEqual(found["score_kind"], "kfold:4")
        selected = self.run_tool("select", data, *LP, "--lambda", "0.01,1", "--select", "kfold:4",
                                 "--loss", "huber:2", "--json").json
        for point, line in zip(found["points"], selected["grid"]):
            self.assertAlmostEqual(point["score"], line["score"], delta=1e-3 * line["score"])

    def test_tensor(self):
        data = self.real("energy", 40)
        found = self.run_tool("path", data, *LP, "--kernel", "tensor-exponential", "--lambda",
                              "0.01,1", "--json").json
        self.assertEqual([len(point["solution"]) for point in found["points"]], [40, 40])
        self.assertTrue(all(point["relative_gap"] <= 1e-7 for point in found["points"]))


class BadInput(Lp):
    def setUp(self):
        super().setUp()
        self.data = self.some_data(rows=40)

    def no(self, *words, says, **more):
        for command in more.pop("commands", ("fit", "plan")):
            self.refuse(command, self.data, *words, says=says, **{"code": USAGE, **more})

    def test_exponents(self):
        self.no("--penalty", "lp", says=["lp:P", "4/3"])
        self.no("--penalty", "lp:", says=["lp:P", "4/3"])
        self.no("--penalty", "lp:x", says=["lp:x", "4/3"])
        self.no("--penalty", "lp:nan", says=["lp:nan"])
        for p in ("1", "0.5", "-2", "0"):
            self.no("--penalty", "lp:" + p, says=["lp:" + p, "above 1", "--penalty l1"])
        for p in ("2.0001", "3", "1e9"):
            self.no("--penalty", "lp:" + p, says=["lp:" + p, "at most 2"])

    def test_odd_orders(self):
        for p, nearest in (("1.5", "4/3"), ("1.9", "2"), ("1.21", "6/5"), ("1.0013", "770/769")):
            self.no("--penalty", "lp:" + p, "--kernel", "tensor-linear",
                    says=["even", "2, 4/3, 6/5, 8/7", f"lp:{nearest};", "--kernel linear"])
        for p in ("1.2", "4/3", "1.3333333333", "2"):     # as near as they can be written
            self.run_tool("fit", self.data, "--penalty", "lp:" + p, "--kernel", "tensor-linear",
                          "--lambda", "0.1", "--quiet")

    def test_too_large(self):
        rows = ["a,b,c,y"] + [f"{math.sin(i):.5f},{math.cos(2 * i):.5f},{math.sin(i * i):.5f},{i % 7}"
                              for i in range(700)]
        self.data = self.write("large.csv", "\n".join(rows) + "\n")
        self.no(*LP, "--kernel", "tensor-exponential", "--route", "packed", "--memory", "2G",
                code=MEMORY, says=["packed", "GB", "--route low-rank"], commands=("fit",))
        self.no("--penalty", "lp:8/7", "--kernel", "tensor-exponential", "--route", "packed",
                code=MEMORY, says=["packed", "--route low-rank"], commands=("fit",))

    def test_little_memory(self):
        """What is needed, what is allowed and what would do; a plan says it in its table."""
        rows = ["a,b,c,y"] + [f"{math.sin(i):.5f},{math.cos(2 * i):.5f},{math.sin(i * i):.5f},{i % 7}"
                              for i in range(200)]
        self.data = self.write("some.csv", "\n".join(rows) + "\n")
        tensor = [*LP, "--kernel", "tensor-polynomial", "--lambda", "0.01"]
        for words in (LP, tensor):       # neither is about a tensor
            error = self.run_tool("fit", self.data, *words, "--memory", "2M", code=MEMORY).err
            self.assertIn("and 2 MB may be used: raise --memory, as", error)
            self.assertNotIn("kernel tensor", error)
        taken = float(re.search(r"as ([\d.]+) MB are taken", error).group(1))
        packed = [*tensor, "--route", "packed", "--memory", "100M"]     # C(203,4) numbers, and sums
        self.no(*packed, code=MEMORY, commands=("fit",),
                says=["raise --memory", "--route features (", "tensor of 200 rows takes 5"])
        ran = self.run_tool("plan", self.data, *packed, code=MEMORY)
        self.assertRegex(ran.out, "Fits +NO")
        found = self.run_tool("plan", self.data, *packed, "--json", code=MEMORY).json
        self.assertFalse(found["fits"])
        self.assertGreater(found["peak_bytes"], 552e6)
        self.assertIn("--route features", found["advice"])
        found = self.run_tool("plan", self.data, *tensor, "--json").json
        self.assertRegex(found["why"], r"^features: 6 columns; packed would take [\d.e-]+ s and "
                                       r"\d+ MB; low-rank [\d.e-]+ s and [\d.]+ MB$")
        self.no(*LP, "--kernel", "tensor-exponential", "--memory", f"{int(taken) + 3}M",
                "--lambda", "0.01", code=MEMORY, commands=("fit",),
                says=["low-rank is the least", "the kernel tensor takes 552 MB"])

    def test_overflow(self):
        rows = ["a,b,y"] + [f"{i},{(i * i) % 11},{i % 5}" for i in range(20)]
        self.data = self.write("wide.csv", "\n".join(rows) + "\n")
        words = [*LP, "--kernel", "tensor-exponential", "--scale", "none", "--lambda", "0.1"]
        self.no(*words, "--gamma", "1", code=DATA, commands=("fit", "select", "path", "plan"),
                says=["wide.csv", "rows 3, 4, 5 and 15 more", "--gamma", "--scale standard"])
        self.no(*words, "--gamma", "0.0018", code=DATA, commands=("fit",),
                says=["row 20", "--gamma"])
        self.assertEqual(self.fit(self.data, *words)["verdict"], "optimal")
        words[words.index("none")] = "standard"
        self.no(*words, "--gamma", "1000", code=DATA, commands=("fit",),
                says=["rows", "--gamma (auto is ", "--scale range"])

    def test_overflow_of_coef0(self):
        """No scaling of rows helps where (coef0)^degree is too large by itself."""
        for words, most in ((["--coef0", "1e300"], "1e49"), (["--coef0", "1e30", "--degree", "5"],
                                                             "1e19")):
            said = self.refuse("fit", self.data, *LP, "--kernel", "tensor-polynomial", *words,
                               code=DATA, says=[f"take a smaller --coef0, {most} at most"]).err
            self.assertNotIn("--scale", said)
        rows = ["a,b,y"] + [f"{i}e9,{i % 7},{i % 5}" for i in range(20)]
        self.data = self.write("wide.csv", "\n".join(rows) + "\n")
        self.no(*LP, "--kernel", "tensor-polynomial", "--scale", "none", "--degree", "3", code=DATA,
                says=["use --scale standard, or a lower --degree"])

    def test_remedies(self):
        """Of solvers that stop early: by the one option that is out of the ordinary."""
        words = [*LP, "--kernel", "tensor-exponential", "-o", "m.fen"]
        gamma = self.run_tool("fit", self.real("slump", 35), *words, "--gamma", "1", "--lambda",
                              "1e-4", code=1)
        self.assertIn("; a smaller --gamma (auto takes 0.0095) helps", gamma.err)
        self.assertIn("gamma is large for these rows", " ".join(gamma.out.split()))
        exact = ["--route", "low-rank", "--lambda", "1e-7", "--tolerance", "1e-13"]
        said = self.run_tool("fit", self.data, *words, *exact, "--memory", "1G", code=1).err
        self.assertIn("; --route packed or a larger --tolerance helps", said)

    def test_predictions_that_would_be_others(self):
        """Rows so far apart that few products of them drown all others: certified, but no model."""
        self.data = self.real("slump", 35)
        for words, says in ((["tensor-exponential", "--gamma", "0.5"], "--gamma auto"),
                            (["tensor-polynomial", "--degree", "20"], "use a lower one")):
            self.no(*LP, "--kernel", *words, "--lambda", "1e3", commands=("fit",),
                    says=["predictions would be off by", says])

    def test_overflow_of_linear_kernels(self):
        for size in ("1e30", "1e80"):
            rows = ["a,b,y"] + [f"{'-' if i % 3 else ''}{size},{i % 7},{i % 5}" for i in range(20)]
            self.data = self.write("huge.csv", "\n".join(rows) + "\n")
            for kernel in ("linear", "tensor-linear"):
                self.no(*LP, "--kernel", kernel, "--scale", "none", "--lambda", "1", code=DATA,
                        commands=("fit", "plan"),
                        says=["huge.csv", kernel, "rows 1, 2, 3 and 17 more", "--scale standard"])
        rows = ["a,b,y"] + [f"{i},{i % 7},{i % 5}" for i in range(20)]
        self.data = self.write("wide.csv", "\n".join(rows) + "\n")   # 19^1001: its root does no harm
        self.run_tool("fit", self.data, "--penalty", "lp:1.001", "--scale", "none", "--lambda", "1",
                      "--quiet")

    def test_kernels(self):
        for kernel in ("gaussian", "polynomial", "laplace"):
            self.no(*LP, "--kernel", kernel, says=["lp:4/3", "tensor-linear", kernel])
        for kernel in KERNELS[1:]:
            self.no("--kernel", kernel, says=[kernel, "--penalty lp"])
            self.no("--kernel", kernel, "--penalty", "l1", says=[kernel, "--penalty lp"])
        self.no(*LP, "--kernel", "precomputed", says=["lp:4/3", "precomputed"])
        self.no(*LP, "--gamma", "1", says=["--gamma", "linear", "tensor-exponential"])
        self.no(*LP, "--degree", "2", says=["--degree", "linear", "tensor-polynomial"])
        self.no(*LP, "--kernel", "tensor-exponential", "--gamma", "0.1,1", says=["one --gamma"])

    def test_what_does_not_go_with_it(self):
        for words in (["--nu", "0.5"], ["--approx", "fourier:100"], ["--smoothness", "20"],
                      ["--feature-weights", "x1=2"], ["--nonnegative"], ["--as", "sklearn"],
                      ["--task", "one-class"]):
            self.no(*LP, *words, says=[words[0], "lp:4/3"])
        self.no(*LP, "--power", "1.5", says=["--power", "lp:4/3"])
        self.no(*LP, "--over", "power", says=["--over power", "lp:4/3"], commands=("path",))
        for select in ("gcv", "aic", "bic", "1se:5"):
            self.no(*LP, "--select", select, says=[f"--select {select}", "kfold:5"])
        self.no(*LP, "--loss", "tube:1", says=["tube", "--loss eps"])
        self.no("--route", "packed", says=["--route", "--penalty lp"])
        self.no("--route", "packed", "--penalty", "l1", says=["--route", "--penalty lp"])
        self.no(*LP, "--route", "short", says=["--route", "short"])
        self.no(*LP, "--engine", "cholesky", says=["--engine cholesky", "rkhs"])
        self.no(*LP, "--engine", "coordinate", says=["--engine coordinate", "coefficients"])
        self.no("--engine", "lp-newton", says=["--engine lp-newton", "--penalty lp"])
        self.no("--engine", "lp-newton", "--penalty", "l1", says=["lp-newton", "--penalty lp"])
        self.no(*LP, "--kernel", "tensor-exponential", "--route", "features",
                says=["--route", "tensor-exponential", "packed"])
        self.no("--penalty", "lp:1.5", "--route", "packed", says=["--route packed", "even"])


class Edges(Lp):
    WORDS = [*LP, "--lambda", "0.1"]

    def fitted(self, text, *words):
        self.write("d.csv", text)
        return self.fit("d.csv", *self.WORDS, *words)

    def test_shapes(self):
        for kernel in KERNELS:
            words = ["--kernel", kernel]
            self.assertEqual(self.fitted("x,y\n1,2\n2,1\n", "--no-bias", *words)["verdict"], "optimal")
            self.assertEqual(self.fitted("x,y\n1,2\n2,3\n3,5\n", *words)["verdict"], "optimal")
            constant = self.fitted("x,y\n1,2\n2,2\n3,2\n", "--task", "regression", *words)
            self.assertEqual(constant["verdict"], "optimal")
            self.assertAlmostEqual(constant["bias"], 2, places=12)
            twice = self.fitted("x,z,y\n1,1,2\n2,2,3\n3,3,5\n3,3,5\n", *words)
            self.assertEqual(twice["verdict"], "optimal")

    def test_sizes_of_targets(self):
        data = self.real("yacht", 30)
        with open(self.path(data), encoding="utf-8") as file:
            head, *lines = file.read().splitlines()
        for factor in (1e8, 1e-8):
            text = [head] + [",".join(line.split(",")[:-1] + [repr(factor * float(line.split(",")[-1]))])
                             for line in lines]
            self.write("scaled.csv", "\n".join(text) + "\n")
            for kernel in KERNELS:
                one = self.fit(data, *self.WORDS, "--kernel", kernel)
                # w by the factor: the loss by its square, the penalty by its power p
                other = self.fit("scaled.csv", *LP, "--kernel", kernel, "--lambda",
                                 repr(0.1 * factor ** (2 - 4 / 3)))
                self.assertEqual(other["verdict"], "optimal")
                self.assertAlmostEqual(other["primal"] / factor ** 2 / one["primal"], 1, places=5)

    def test_sizes_of_lambda(self):
        data = self.real("yacht", 30)
        for kernel in KERNELS:
            large = self.fit(data, *LP, "--kernel", kernel, "--lambda", "1e12")
            self.assertEqual(large["verdict"], "optimal")
            self.assertAlmostEqual(large["primal"] / large["null"], 1, places=6)
            small = self.fit(data, *LP, "--kernel", kernel, "--lambda", "1e-6")
            self.assertIn(small["verdict"], ("optimal", "stalled"))
            self.assertLess(small["primal"], large["primal"])

    def test_weights(self):
        rows = [(1, 2, 3), (2, 1, 5), (3, 5, 1), (0, 1, 2), (4, 2, 2)]
        text = "a,b,y,w\n" + "".join("%d,%d,%d,%d\n" % (*row, 1 + k % 3) for k, row in enumerate(rows))
        copies = "a,b,y\n" + "".join("%d,%d,%d\n" % row * (1 + k % 3) for k, row in enumerate(rows))
        words = ["--scale", "none", "--kernel", "tensor-polynomial"]
        one = self.fitted(text, "--weights", "w", "--target", "y", *words)
        other = self.fitted(copies, *words)
        self.assertAlmostEqual(one["primal"] / other["primal"], 1, places=6)

    def test_time_limit(self):
        data = self.real("concrete", 300)
        found = self.fit(data, *LP, "--kernel", "tensor-polynomial", "--time-limit", "0.001", code=1)
        self.assertEqual(found["verdict"], "limit")


if __name__ == "__main__":
    unittest.main()
