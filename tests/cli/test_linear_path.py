"""select and path for penalties on coefficients, through the tool."""
import csv
import io
import math
import os
import random
import sys
import unittest
import xml.dom.minidom

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import tool  # noqa: E402

USAGE = 2


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def table(kind="number", n=80, p=8, targets=1):
    """Columns of different units; the target follows the first three."""
    random.seed(5)
    lines = [",".join([f"x{j}" for j in range(p)] + [f"y{t}" for t in range(targets)])]
    for _ in range(n):
        x = [random.gauss(3 * j, 10.0 ** (j % 3)) for j in range(p)]
        z = [(x[j] - 3 * j) / 10.0 ** (j % 3) for j in range(p)]
        f = 2 * z[0] - z[1] + 0.5 * z[2] + random.gauss(0, 0.5)
        label = {"number": repr(f), "two": "yes" if f > 0.5 else "no",
                 "three": "low" if f < -1 else "mid" if f < 1 else "high"}[kind]
        others = [repr(z[3] - t * z[0] + random.gauss(0, 0.3)) for t in range(1, targets)]
        lines.append(",".join([repr(v) for v in x] + [label] + others))
    return "\n".join(lines) + "\n"


class PathTest(tool.ToolTest):
    def test_criteria_are_no_roots(self):
        self.write("data.csv", table())
        for kind, heading in (("bic", "bic"), ("gcv", "gcv RMSE"), ("kfold:5", "held RMSE")):
            run = self.run_tool("path", "data.csv", "--penalty", "l1", "--select", kind, "--json")
            first = run.json["points"][0]["score"]
            lines = self.run_tool("path", "data.csv", "--penalty", "l1", "--select",
                                  kind).out.splitlines()
            self.assertIn(heading, lines[1])
            shown = first if kind == "bic" else math.sqrt(first)
            self.assertIn(f"{shown:.5g}", lines[2].split())

    def test_a_column_called_as_a_level_of_another(self):
        random.seed(3)
        lines = ["c,c = red,x,y"]
        for i in range(60):
            c, d, x = "red" if i % 3 else "blue", random.gauss(0, 1), random.gauss(0, 1)
            lines.append(f"{c},{d!r},{x!r},{3 * (c == 'red') + 2 * d + x + random.gauss(0, 0.1)!r}")
        self.write("data.csv", "\n".join(lines) + "\n")
        found = self.run_tool("path", "data.csv", "--penalty", "l1", "-o", "path.csv", "--json").json
        for point in found["points"]:
            self.assertEqual(point["terms"], len(point["coefficients"]))
        self.assertEqual(len(found["features"]), len(set(found["features"])))
        self.assertGreater(found["points"][-1]["terms"], 2)

    def test_steps_and_csv_agree(self):
        self.write("data.csv", table())
        found = self.run_tool("path", "data.csv", "--penalty", "l1", "-o", "path.csv",
                              "--json").json
        points, rows = found["points"], rows_of(self.read("path.csv").decode())
        self.assertEqual(len(points), 100)
        self.assertEqual(len(rows), 100)
        self.assertEqual(points[0]["terms"], 0)
        inside = set()
        for before, point in zip([None] + points, points):
            self.assertEqual(point["terms"], len(point["coefficients"]))
            self.assertEqual(inside & set(point["entered"]), set())
            inside = (inside | set(point["entered"])) - set(point["left"])
            self.assertEqual(inside, set(point["coefficients"]))
            self.assertLessEqual(point["relative_gap"], 1e-6)
            if before:
                self.assertLess(point["lambda"], before["lambda"])
                self.assertGreaterEqual(point["explained"], before["explained"] - 1e-9)
        self.assertEqual(set(found["features"]), set().union(*(p["coefficients"] for p in points)))
        for point, row in zip(points, rows):
            self.assertEqual(float(row["lambda"]), point["lambda"])
            self.assertEqual(float(row["intercept"]), point["intercept"])
            for name in found["features"]:
                self.assertEqual(float(row[f"coef:{name}"]), point["coefficients"].get(name, 0.0))

    def test_coefficients_predict_in_units_of_the_file(self):
        """mean_loss from the CSV alone: the rows of the data file as they are written."""
        text = table()
        self.write("data.csv", text)
        found = self.run_tool("path", "data.csv", "--penalty", "elastic:0.5", "--json").json
        data = rows_of(text)
        for point in (found["points"][10], found["points"][60]):
            loss = 0.0
            for row in data:
                f = point["intercept"] + math.fsum(value * float(row[name]) for name, value
                                                   in point["coefficients"].items())
                loss += (float(row["y0"]) - f) ** 2 / len(data)
            self.assertAlmostEqual(loss / point["mean_loss"], 1.0, delta=1e-9)

    def test_fit_lies_on_the_path(self):
        self.write("data.csv", table())
        for penalty in ("l1", "elastic:0.3", "group:auto"):
            point = self.run_tool("path", "data.csv", "--penalty", penalty,
                                  "--json").json["points"][30]
            fit = self.run_tool("fit", "data.csv", "--penalty", penalty, "--lambda",
                                repr(point["lambda"]), "-o", "m.fen", "--json").json
            of_fit = {c["name"]: c["value"] for c in fit["coefficients"] if c["value"] != 0}
            self.assertEqual(set(of_fit), set(point["coefficients"]))
            for name, value in of_fit.items():     # both within 1e-6 of the optimum
                self.assertAlmostEqual(value, point["coefficients"][name],
                                       delta=2e-3 * abs(value) + 1e-6)

    def test_screen_says_who_enters(self):
        self.write("data.csv", table())
        out = self.run_tool("path", "data.csv", "--penalty", "l1").out
        self.assertIn("+x0", out)
        self.assertIn("enters (+), leaves (-)", out)
        self.assertTrue(all(len(line) <= 80 for line in out.splitlines()), out)
        found = self.run_tool("path", "data.csv", "--penalty", "l1", "--json").json
        lines = [line for line in out.splitlines() if " +x0" in line]
        entered = next(p for p in found["points"] if "x0" in p["entered"])
        self.assertAlmostEqual(float(lines[0].split()[0]) / entered["lambda"], 1.0, delta=1e-4)

    def test_breakpoints(self):
        self.write("data.csv", table())
        exact = self.run_tool("path", "data.csv", "--penalty", "l1", "--engine", "homotopy",
                              "--lambda", "1e-12", "--json").json
        grid = self.run_tool("path", "data.csv", "--penalty", "l1", "--json").json
        self.assertEqual(exact["solution"], "breakpoints")
        first, last = exact["points"][0], exact["points"][-1]
        self.assertAlmostEqual(first["lambda"] / grid["points"][0]["lambda"], 1.0, delta=1e-12)
        self.assertEqual(last["terms"], 8)
        for point in exact["points"][:-1]:
            self.assertEqual(len(point["entered"]) + len(point["left"]), 1)
            self.assertLessEqual(point["relative_gap"], 1e-9)
        middle = exact["points"][4]             # the grid's solver says the same at a breakpoint
        there = self.run_tool("path", "data.csv", "--penalty", "l1", "--lambda",
                              repr(middle["lambda"]), "--json").json["points"][0]
        self.assertAlmostEqual(there["objective"] / middle["objective"], 1.0, delta=1e-7)

    def test_several_targets(self):
        self.write("data.csv", table(targets=2))
        for penalty in ("l1", "group:targets"):
            points = self.run_tool("path", "data.csv", "--penalty", penalty, "--target", "y0,y1",
                                   "--json").json["points"]
            self.assertEqual([p["target"] for p in points], ["y0"] * 100 + ["y1"] * 100)
            self.assertEqual([p["lambda"] for p in points[:100]],
                             [p["lambda"] for p in points[100:]])
            if penalty == "group:targets":      # together or not at all
                for a, b in zip(points[:100], points[100:]):
                    self.assertEqual(set(a["coefficients"]), set(b["coefficients"]))

    def test_plot(self):
        self.write("data.csv", table().replace("x0", "<&x0\u00e9>", 1))
        self.run_tool("path", "data.csv", "--penalty", "l1", "--select", "1se:5", "--plot", "p.svg",
                      "-q")
        svg = xml.dom.minidom.parse(self.path("p.svg"))
        texts = ["".join(c.data for c in t.childNodes) for t in svg.getElementsByTagName("text")]
        self.assertIn("<&x0\u00e9>", texts)
        self.assertIn("selected", texts)
        frame = svg.getElementsByTagName("rect")[-1]
        mark = svg.getElementsByTagName("text")[texts.index("selected")]
        self.assertLess(float(mark.getAttribute("y")), float(frame.getAttribute("y")))
        self.assertIn("lambda", texts)
        lines = svg.getElementsByTagName("polyline")
        self.assertEqual(len(lines), 8)
        for line in lines:
            points = [tuple(map(float, xy.split(","))) for xy in
                      line.getAttribute("points").split()]
            self.assertEqual(len(points), 100)
            self.assertTrue(all(a[0] < b[0] for a, b in zip(points, points[1:])))
        self.run_tool("path", "data.csv", "--kernel", "linear", "--plot", "r.svg", "-q")
        self.assertEqual(len(xml.dom.minidom.parse(self.path("r.svg"))
                             .getElementsByTagName("polyline")), 8)
        out = self.run_tool("path", "data.csv", "--penalty", "l1", "--plot", "-").out
        self.assertTrue(out.startswith("<svg") and out.endswith("</svg>\n"))

    def test_labels_of_plots(self):
        """Twelve names at most, all within the picture; what it does not say is said."""
        long = "a column with quite a long name \u00e9\u00e9\u00e9"
        self.write("data.csv", table().replace("x0", long, 1))
        words = ("--plot", "p.svg")
        said = self.run_tool("path", "data.csv", "--penalty", "l1", "-o", "p.csv", *words).out
        self.assertTrue(said.endswith("\np.csv and p.svg written\n"))
        self.assertNotIn("FILE.svg", said)
        svg = xml.dom.minidom.parse(self.path("p.svg"))
        texts = {t.firstChild.data: t for t in svg.getElementsByTagName("text") if t.firstChild}
        room = float(svg.documentElement.getAttribute("width")) - float(texts[long].getAttribute("x"))
        self.assertGreater(room, 6 * len(long))         # pixels of a character of size 12
        self.assertTrue(all(f"x{j}" in texts for j in range(1, 8)))
        self.assertIn("coefficients of the scaled features", texts)
        self.run_tool("path", "data.csv", "--penalty", "l1", "--kernel", "gaussian", "--gamma", "0.1",
                      *words)
        svg = xml.dom.minidom.parse(self.path("p.svg"))
        texts = [t.firstChild.data for t in svg.getElementsByTagName("text") if t.firstChild]
        lines = svg.getElementsByTagName("polyline")
        self.assertEqual(sum(word.startswith("row ") for word in texts), 12)
        self.assertIn(f"{len(lines) - 12} more not labelled", texts)
        self.assertIn("coefficients of the rows", texts)
        self.assertEqual(sum(not line.getAttribute("stroke-dasharray") for line in lines), 10)

    def test_plot_of_breakpoints(self):
        """Linear in lambda between breakpoints: curves over its logarithm. The counts above are those
        of the breakpoint before."""
        self.write("data.csv", table())
        found = self.run_tool("path", "data.csv", "--penalty", "l1", "--engine", "homotopy",
                              "--plot", "p.svg", "--json").json
        points = found["points"]
        svg = xml.dom.minidom.parse(self.path("p.svg"))
        lines = [[tuple(map(float, xy.split(","))) for xy in line.getAttribute("points").split()]
                 for line in svg.getElementsByTagName("polyline")]
        pieces = sum(point["lambda"] > 0 for point in points) - 1
        self.assertTrue(all(len(line) == 20 * pieces + 1 for line in lines))
        texts = [(float(t.getAttribute("x")), float(t.getAttribute("y")), t.firstChild.data)
                 for t in svg.getElementsByTagName("text") if t.firstChild]
        ticks = {x: float(word) for x, y, word in texts if 400 < y < 430}
        counts = {x: int(word) for x, y, word in texts if 50 < y < 60 and word != "terms"}
        self.assertEqual(set(ticks), set(counts))
        for x, lam in ticks.items():
            above = [p["terms"] for p in points if p["lambda"] > lam]
            self.assertEqual(counts[x], above[-1] if above else 0)
        left, right = lines[0][0][0], lines[0][-1][0]
        top, end = points[0]["lambda"], points[-1]["lambda"]
        drawn = max(lines, key=lambda line: abs(line[-1][1] - line[0][1]))  # of the largest
        sizes = {name: scale * points[-1]["coefficients"].get(name, 0)
                 for name, scale in zip(found["features"], found["scales"])}
        largest = max(sizes, key=lambda name: abs(sizes[name]))
        of = [point["coefficients"].get(largest, 0.0) for point in points]
        for x, y in drawn:
            lam = top * (end / top) ** ((x - left) / (right - left))
            k = max(i for i in range(pieces) if points[i]["lambda"] >= lam or i == 0)
            share = (points[k]["lambda"] - lam) / (points[k]["lambda"] - points[k + 1]["lambda"])
            value = (of[k] + share * (of[k + 1] - of[k])) / of[-1]
            at = (y - drawn[0][1]) / (drawn[-1][1] - drawn[0][1])
            self.assertAlmostEqual(value, at, delta=3e-4)    # a hundredth of a pixel

    def test_breakpoints_of_free_columns(self):
        """A column without a penalty is in from the first row on."""
        self.write("data.csv", table())
        points = self.run_tool("path", "data.csv", "--penalty", "l1", "--engine", "homotopy",
                               "--feature-weights", "x3=0", "--json").json["points"]
        self.assertIn("x3", points[0]["entered"])
        self.assertEqual(len(points[0]["entered"]), points[0]["terms"])
        inside = set()
        for point in points:
            inside = (inside | set(point["entered"])) - set(point["left"])
            self.assertEqual(len(inside), point["terms"])

    def test_kernel_lasso(self):
        self.write("data.csv", table(n=40, p=3))
        found = self.run_tool("path", "data.csv", "--penalty", "l1", "--kernel", "gaussian",
                              "--gamma", "0.5", "--json").json
        self.assertTrue(all(name.startswith("row ") for name in found["features"]))
        self.assertGreater(found["points"][-1]["terms"], 3)

    def test_solutions_above_the_tolerance(self):
        """No minimum exists where a column without a penalty separates the classes."""
        self.write("data.csv", "x0,x1,y\n-2,2,a\n-1,3,a\n1,1,b\n2,0.5,b\n")
        words = ("path", "data.csv", "--penalty", "l1", "--loss", "logistic", "--lambda",
                 "0.1,0.01")
        run = self.run_tool(*words, "--feature-weights", "x0=0", code=1)
        self.assertEqual(len(run.err.splitlines()), 1)
        self.assertIn("2 solutions stopped at a relative gap above the tolerance of 1e-06", run.err)
        self.assertIn("fit at such a point, with its --lambda, makes the full certificate", run.err)
        self.assertEqual(sum(line.startswith(" !") for line in run.out.splitlines()), 2)
        self.assertIn("! a relative gap above the tolerance", " ".join(run.out.split()))
        for more in ((), ("-o", "path.csv")):
            found = self.run_tool(*words, "--feature-weights", "x0=0", "--json", *more,
                                  code=1).json
            self.assertEqual((found["above_tolerance"], found["tolerance"]), (2, 1e-6))
            self.assertTrue(all(p["relative_gap"] > 1e-6 for p in found["points"]))
        self.assertEqual(len(rows_of(self.read("path.csv").decode())), 2)
        run = self.run_tool(*words)
        self.assertEqual(run.err, "")
        self.assertNotIn("!", run.out)
        self.assertEqual(self.run_tool(*words, "--json").json["above_tolerance"], 0)
        self.write("data.csv", table(n=30, p=3).replace("x0", "above_tolerance"))
        self.run_tool("path", "data.csv", "--penalty", "l1", "--json")    # the name is no count

    def test_gaps_of_labels_that_are_met(self):
        """By a column without a penalty: the unit is that of certificates, the best constant."""
        self.write("data.csv", "x0,x1,y\n0.3,2,0.9\n2.1,3,6.3\n3.7,1,11.1\n")
        free = ("--penalty", "l1", "--task", "regression", "--feature-weights", "x0=0", "--json")
        for loss in ("square", "huber:1", "sqeps:0.1", "absolute", "pinball:0.3", "eps:0.1",
                     "tube:0.1"):
            points = self.run_tool("path", "data.csv", "--loss", loss, "--lambda", "0.1,0.01",
                                   *free).json["points"]
            for point in points:
                self.assertIsNotNone(point["relative_gap"], loss)
                self.assertLessEqual(point["relative_gap"], 1e-7, loss)
                fit = self.run_tool("fit", "data.csv", "--loss", loss, "--lambda",
                                    repr(point["lambda"]), "-o", "m.fen", *free).json
                self.assertEqual(fit["verdict"], "optimal")
        points = self.run_tool("path", "data.csv", "--engine", "homotopy", *free).json["points"]
        self.assertTrue(all(0 <= p["relative_gap"] <= 1e-7 for p in points))

    def test_gaps_of_a_tube(self):
        """No constant is inside: that is no reason to call any gap none."""
        self.write("data.csv", table(n=30, p=4))
        words = ("--penalty", "l1", "--loss", "tube:1.5", "--json")
        for point in self.run_tool("path", "data.csv", "--lambda", "1,0.1", *words).json["points"]:
            fit = self.run_tool("fit", "data.csv", "--lambda", repr(point["lambda"]), "-o", "m.fen",
                                *words).json
            self.assertGreater(point["relative_gap"], 0)
            self.assertLessEqual(point["relative_gap"], 1e-6)
            self.assertAlmostEqual(point["objective"], fit["primal"], delta=1e-6 * fit["primal"])

    def test_columns_of_no_use(self):
        """Identical and constant columns, a constant target, one row more than columns."""
        rows = [f"{i},{i},7,{i * i % 5},{3}" for i in range(6)]
        self.write("data.csv", "a,b,c,d,y\n" + "\n".join(rows) + "\n")
        for more in ((), ("--engine", "homotopy")):
            points = self.run_tool("path", "data.csv", "--penalty", "l1", "--json",
                                   *more).json["points"]
            self.assertTrue(all(p["terms"] == 0 and abs(p["intercept"] - 3) < 1e-12
                                for p in points))
        rows = [f"{i},{i},7,{i * i % 5},{i + i % 2}" for i in range(6)]
        self.write("data.csv", "a,b,c,d,y\n" + "\n".join(rows) + "\n")
        exact = self.run_tool("path", "data.csv", "--penalty", "l1", "--engine", "homotopy",
                              "--json").json["points"]
        self.assertTrue(all(p["relative_gap"] < 1e-9 for p in exact))
        self.assertLessEqual(exact[-1]["terms"], 2)

    def test_columns_that_are_nearly_the_same(self):
        """Two columns changed sides for ever here; how far the path is proved is said."""
        name = os.path.join(os.path.dirname(os.path.abspath(tool.__file__)), "data",
                            "near_twins.csv")
        found = self.run_tool("path", name, "--penalty", "l1", "--task", "regression", "--engine",
                              "homotopy", "--feature-weights",
                              "x1=0,x14=0,x12=0.5,x8=2,x20=0.5,x28=0", "--json", code=1).json
        above = sum(not p["relative_gap"] <= 1e-6 for p in found["points"])
        self.assertEqual(found["above_tolerance"], above)
        self.assertLess(above, len(found["points"]))

    def test_names_that_enter_have_four_lines(self):
        names = [f"column_with_a_name_{j}" for j in range(5)]
        random.seed(9)
        rows = [[random.gauss(0, 1) for _ in names] for _ in range(60)]
        self.write("data.csv", ",".join(names) + ",y\n" + "".join(
            ",".join(map(repr, x)) + f",{sum(x)!r}\n" for x in rows))
        text = self.run_tool("path", "data.csv", "--penalty", "l1", "--lambda", "3,0.01").out
        for name in names[:4]:
            self.assertIn("+" + name, text)
        self.assertIn(" (1 more)\n", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 79)

    def test_more_breakpoints_than_anybody_wants(self):
        """(3^p + 1)/2 of them (Mairal and Yu, 2012), each column a tenth of what the last may be."""
        x, y = [[1.0]], [1.0]
        while len(y) < 8:
            size = 0.1 / max(1, len(y)) * min(abs(v) for row in x for v in row if v)
            x = [row + [2 * size * label] for row, label in zip(x, y)] + [[0.0] * len(y) + [size]]
            y.append(1.0)
        self.write("data.csv", ",".join(f"x{j}" for j in range(8)) + ",y\n" + "".join(
            ",".join(map(repr, row)) + ",1\n" for row in x))
        said = self.run_tool("path", "data.csv", "--penalty", "l1", "--engine", "homotopy",
                             "--no-bias", "--scale", "none", "--task", "regression", "--lambda",
                             "1e-30", code=1).err
        self.assertRegex(said, r"has 1160 breakpoints down to lambda .*: end it there")

    def test_bad_requests(self):
        self.write("data.csv", table())
        for words, says in (
                (("--penalty", "l1", "--over", "power"), ["--over", "rkhs"]),
                (("--penalty", "none"), ["none", "l1"]),
                (("--penalty", "elastic:0.5", "--engine", "homotopy"), ["homotopy", "l1"]),
                (("--penalty", "l1", "--loss", "absolute", "--engine", "homotopy"), ["homotopy"]),
                (("--engine", "homotopy"), ["homotopy", "l1"]),
                (("--penalty", "l1", "--engine", "homotopy", "--select", "kfold:5"),
                 ["homotopy", "--select kfold:5"]),
                (("--penalty", "l1", "--plot", "p.png"), ["p.png", ".svg"]),
                (("--plot", "p.svg"), ["--plot", "--kernel linear"])):
            self.refuse("path", "data.csv", *words, code=USAGE, says=says)
        self.refuse("path", "data.csv", "--penalty", "l1", "--plot", "no/folder/p.svg", code=4,
                    says=["no/folder/p.svg"])
        self.refuse("path", "data.csv", "--penalty", "l1", "--plot", "data.csv", code=USAGE,
                    says=["data.csv"])
        self.refuse("path", "data.csv", "--penalty", "l1", "-o", "p.svg", "--plot", "p.svg",
                    code=USAGE, says=["-o and --plot both name p.svg"])

    def test_two_threads_look_at_rows(self):
        """Solutions that fit nearly all are judged by the rows: each thread by its own copy."""
        draw, columns = random.Random(3), 210
        lines = [",".join(f"x{j}" for j in range(columns)) + ",y"]
        for _ in range(1500):
            row = [round(draw.gauss(0, 1), 3) for _ in range(columns)]
            y = row[0] - 0.5 * row[1] + 1e-7 * draw.gauss(0, 1)
            lines.append(",".join(map(str, row)) + f",{y!r}")
        self.write("exact.csv", "\n".join(lines) + "\n")
        one, two = (self.run_tool("path", "exact.csv", "--penalty", "l1", "--threads", threads,
                                  "--json").json for threads in "12")
        self.assertEqual((one["above_tolerance"], two["above_tolerance"]), (0, 0))
        for a, b in zip(one["points"], two["points"], strict=True):
            self.assertAlmostEqual(b["mean_loss"] / a["mean_loss"], 1.0, delta=1e-9)


class SelectTest(tool.ToolTest):
    def test_choices(self):
        self.write("data.csv", table())
        words = ("data.csv", "--penalty", "l1")
        found = self.run_tool("select", *words, "--json").json
        self.assertEqual(found["score_kind"], "kfold:10")
        self.assertEqual(len(found["grid"]), 100)
        best = min(found["grid"], key=lambda point: point["score"])
        self.assertEqual(found["lambda"], best["lambda"])
        one = self.run_tool("select", *words, "--select", "1se:10", "--json").json
        self.assertEqual([p["score"] for p in one["grid"]], [p["score"] for p in found["grid"]])
        within = [p["lambda"] for p in one["grid"]
                  if p["score"] <= best["score"] + best["standard_error"]]
        self.assertEqual(one["lambda"], max(within))
        self.assertGreater(one["lambda"], found["lambda"])
        for select, lam in (("kfold:10", found["lambda"]), ("1se:10", one["lambda"])):
            fit = self.run_tool("fit", *words, "--select", select, "-o", "m.fen", "--json").json
            self.assertEqual(fit["lambda"], lam)

    def exact(self):
        """Every column counts and there is no noise: the smaller lambda the better."""
        rows = [[(7 * i * (j + 2) + i * i * (j + 1)) % 31 for j in range(4)] for i in range(60)]
        self.write("exact.csv", "a,b,c,d,y\n" + "".join(
            ",".join(map(str, row)) + f",{sum(row)}\n" for row in rows))

    def test_a_path_that_is_best_at_its_end_goes_on(self):
        """With the same steps, for two decades at most; path has the same lambdas and scores."""
        self.exact()
        for select in ("kfold:5", "1se:5", "aic"):
            words = ("exact.csv", "--penalty", "l1", "--select", select)
            found = self.run_tool("select", *words, "--json").json
            lambdas = [point["lambda"] for point in found["grid"]]
            self.assertEqual(len(lambdas), 150)
            for high, low in zip(lambdas, lambdas[1:]):
                self.assertAlmostEqual(low / high, 1e-4 ** (1 / 99), places=9)
            points = self.run_tool("path", *words, "--json").json["points"]
            self.assertEqual([p["lambda"] for p in points], lambdas)
            self.assertEqual([p["score"] for p in points], [p["score"] for p in found["grid"]])

    def test_ends_of_the_grid(self):
        """The note says how to widen it, and is not there where no term is best."""
        self.exact()
        words = ("exact.csv", "--penalty", "l1")
        for command in ("select", "fit"):
            text = " ".join(self.run_tool(command, *words).out.split())
            self.assertRegex(text, r"ends the grid of lambda: widen it, as by --lambda "
                                   r"[0-9.e-]+:[0-9.e-]+:100")
        rows = [f"{i * i % 7},{i * i % 11},{(i * 37 + i * i * i) % 13}" for i in range(40)]
        self.write("noise.csv", "a,b,y\n" + "\n".join(rows) + "\n")
        found = self.run_tool("select", "noise.csv", "--penalty", "l1", "--json").json
        self.assertEqual(found["lambda"], found["grid"][0]["lambda"])
        text = self.run_tool("fit", "noise.csv", "--penalty", "l1").out
        self.assertNotIn("ends the grid", text)

    def test_criteria(self):
        self.write("data.csv", table())
        words = ("data.csv", "--penalty", "l1")
        points = self.run_tool("path", *words, "--json").json["points"]
        for select, price in (("aic", 2.0), ("bic", math.log(80))):
            found = self.run_tool("select", *words, "--select", select, "--json").json
            for point, scored in zip(points, found["grid"]):
                self.assertAlmostEqual(scored["score"], 80 * math.log(point["mean_loss"]) +
                                       price * point["terms"], delta=1e-4)
                self.assertNotIn("standard_error", scored)
            best = min(found["grid"], key=lambda point: point["score"])
            self.assertEqual(found["lambda"], best["lambda"])

    def test_classes_report_errors(self):
        for kind in ("two", "three"):
            self.write("data.csv", table(kind))
            for loss in ("logistic", "hinge"):
                found = self.run_tool("select", "data.csv", "--penalty", "l1", "--loss", loss,
                                      "--select", "kfold:5", "-o", "grid.csv", "--json").json
                best = min(found["grid"], key=lambda point: point["score"])
                self.assertLess(best["error_rate"], found["grid"][0]["error_rate"])
                rows = rows_of(self.read("grid.csv").decode())
                self.assertEqual([float(row["error_rate"]) for row in rows],
                                 [point["error_rate"] for point in found["grid"]])

    def test_folds_are_seeded(self):
        self.write("data.csv", table(n=40))
        words = ("select", "data.csv", "--penalty", "l1", "--select", "kfold:4", "--json")
        first = self.run_tool(*words).json
        self.assertEqual(first, self.run_tool(*words).json)
        self.assertNotEqual(first["grid"], self.run_tool(*words, "--seed", "9").json["grid"])

    def test_given_lambdas(self):
        self.write("data.csv", table())
        found = self.run_tool("select", "data.csv", "--penalty", "l1", "--lambda", "0.1,1,0.01",
                              "--json").json
        self.assertEqual([p["lambda"] for p in found["grid"]], [1.0, 0.1, 0.01])
        text = self.run_tool("select", "data.csv", "--penalty", "l1").out
        self.assertIn("terms", text)
        self.assertIn("+-", text)

    def test_bad_requests(self):
        self.write("data.csv", table(n=250))
        self.write("few.csv", table(n=8))
        for data, words, says in (
                ("data.csv", ("--penalty", "none"), ["none"]),
                ("data.csv", ("--penalty", "l1", "--select", "none"), ["none"]),
                ("data.csv", ("--penalty", "l1", "--select", "loo"), ["loo", "kfold:10"]),
                ("data.csv", ("--penalty", "l1", "--loss", "huber:1", "--select", "bic"),
                 ["bic", "huber"]),
                ("few.csv", ("--penalty", "l1", "--select", "kfold:20"), ["8"])):
            self.refuse("select", data, *words, code=USAGE, says=says)


if __name__ == "__main__":
    unittest.main()
