"""--penalty lp:P: predictions are as near to those of the optimum as fit, info and verify say, by
whatever route; what is stored is found again, and not believed where it is too little."""
import json
import os
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tool import ToolTest  # noqa: E402

FOLDER = os.path.abspath(os.environ.get("FENCHEL_DATA", "../shared/data"))
KEYS = ("norm_distance", "bias_distance", "optimum_distance")


class Distance(ToolTest):
    def slump(self, rows):
        source = os.path.join(FOLDER, "slump.csv")
        if not os.path.exists(source):
            print(f"SKIPPED: {source} is absent")
            self.skipTest(f"{source} is absent")
        with open(source, encoding="utf-8") as file:
            return self.write("slump.csv", "".join(file.readlines()[:rows + 1]))

    def fit(self, *words):
        return self.run_tool("fit", *words, "-o", "m.fen", "--json", "--quiet").json

    def predictions(self, data, rows=None):
        found = self.run_tool("predict", "m.fen", rows or data, "--json", "--quiet").json
        return found["predictions"]

    def farthest(self, one, other):
        def flat(rows):
            return [v for row in rows for v in (row if isinstance(row, list) else [row])]
        return max(abs(a - b) for a, b in zip(flat(one), flat(other)))

    def test_routes_agree_to_the_bound(self):
        """Features against low rank differ by 5e-7 here although both gaps are below 1e-12."""
        data = self.slump(40)
        words = [data, "--penalty", "lp:6/5", "--kernel", "tensor-polynomial", "--degree", "3",
                 "--coef0", "10", "--lambda", "0.05", "--tolerance", "1e-9"]
        seen = []
        for route in ("features", "packed", "low-rank"):
            said = self.fit(*words, "--route", route)
            self.assertEqual(said["verdict"], "optimal")
            self.assertLess(said["optimum_distance"], 1e-4)
            seen.append((self.predictions(data), said["optimum_distance"]))
        for scores, bound in seen[1:]:
            self.assertLessEqual(self.farthest(seen[0][0], scores), seen[0][1] + bound)

    def test_loose_fits(self):
        data = self.slump(24)
        for kernel, loss in (("linear", "absolute"), ("tensor-polynomial", "square"),
                             ("tensor-exponential", "huber:1")):
            words = [data, "--penalty", "lp:4/3", "--kernel", kernel, "--lambda", "0.01",
                     "--loss", loss, "--tolerance"]
            tight = self.fit(*words, "1e-11")
            best = self.predictions(data)
            for tolerance in ("1e-2", "1e-5"):
                said = self.fit(*words, tolerance)
                off = self.farthest(best, self.predictions(data))
                with self.subTest(kernel=kernel, loss=loss, tolerance=tolerance):
                    self.assertLessEqual(off, said["optimum_distance"] + tight["optimum_distance"])
                    self.assertLessEqual(abs(said["bias"] - tight["bias"]),
                                         said["bias_distance"] + tight["bias_distance"])

    def test_words(self):
        data = self.slump(40)
        words = [data, "--penalty", "lp:4/3", "--lambda", "0.1", "--kernel", "tensor-exponential"]
        said = self.fit(*words)
        texts = [self.run_tool("fit", *words, "-o", "m.fen").out,
                 self.run_tool("info", "m.fen").out]
        for text in texts:
            text = " ".join(text.split())
            self.assertIn("Predictions of the training rows are within "
                          f"{said['optimum_distance']:.2g} of those of the exact minimum of the "
                          "objective, and within "
                          f"{said['prediction_error']:.2g} of the function that is certified", text)
            self.assertGreater(said["optimum_distance"], said["prediction_error"])
        told = self.run_tool("verify", "m.fen", data)
        self.assertIn("distance from the optimum, at most:", told.out)
        again = self.run_tool("verify", "m.fen", data, "--json").json
        for key in KEYS:
            self.assertAlmostEqual(again[key] / said[key], 1, delta=0.01)
        ridge = self.fit(data, "--lambda", "0.1")
        self.assertFalse(set(KEYS) & set(ridge))
        self.assertFalse(set(KEYS) & set(self.run_tool("verify", "m.fen", data, "--json").json))

    def test_words_of_classes(self):
        rows = [f"{i % 7},{i * i % 11},{'yes' if (i * i) % 11 > i % 7 else 'no'}" for i in range(40)]
        self.write("classes.csv", "a,b,y\n" + "\n".join(rows) + "\n")
        text = self.run_tool("fit", "classes.csv", "--penalty", "lp:4/3", "--lambda", "0.01").out
        self.assertRegex(" ".join(text.split()), r" Scores of the training rows are within \S+ "
                                                 "of those of the exact minimum of the objective ")
        self.assertNotIn("Predictions", text)

    def test_several_targets(self):
        data = self.slump(40)
        said = self.fit(data, "--target", "flow,strength", "--penalty", "lp:4/3", "--lambda", "0.1")
        self.assertEqual([len(said[key]) for key in KEYS], [2, 2, 2])
        text = " ".join(self.run_tool("info", "m.fen").out.split())
        near = [f"{v:.2g}" for v in said["optimum_distance"]]
        self.assertIn(f"within {near[0]} (flow), {near[1]} (strength) of those", text)
        self.assertEqual(len(self.run_tool("verify", "m.fen", data, "--json").json[KEYS[0]]), 2)

    def test_a_bias_that_is_not_the_only_one(self):
        """The median of -2, -1, 1, 2 is any number from -1 to 1."""
        rows = "x,y\n" + "".join(f"{v % 2},{v}\n" for v in (-2, -1, 1, 2))
        said = self.fit(self.write("flat.csv", rows), "--penalty", "lp:1.5", "--lambda", "1e6",
                        "--loss", "absolute")
        farther = 1 + abs(said["bias"])
        self.assertGreaterEqual(said["bias_distance"], farther - 1e-6)
        self.assertLessEqual(said["bias_distance"], farther + 0.1)

    def rewrite(self, change):
        """m.fen with another header or other distances."""
        with open(self.path("m.fen"), "rb") as file:
            raw = file.read()
        size = struct.unpack("<Q", raw[:8])[0]
        header, body = json.loads(raw[8:8 + size]), bytearray(raw[8 + size:])
        body = change(header, body)
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        with open(self.path("changed.fen"), "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text + bytes(body))

    def test_stored_numbers(self):
        data = self.slump(40)
        self.fit(data, "--penalty", "lp:4/3", "--lambda", "0.1", "--tolerance", "1e-3",
                 "--kernel", "tensor-polynomial", "--engine", "lp-gradient")
        self.assertGreater(self.run_tool("info", "m.fen", "--json").json["relative_gap"], 1e-9)

        def times(place, factor):
            def change(header, body):
                at = header["distance"]["data_offsets"][0] + 8 * place
                value = struct.unpack_from("<d", body, at)[0]
                struct.pack_into("<d", body, at, factor * value)
                return body
            return change

        for place in range(3):
            for factor, code in ((1.0, 0), (0.9, 1), (1.1, 1), (0.0, 1), (-1.0, 3),
                                 (float("nan"), 3), (float("inf"), 1)):
                self.rewrite(times(place, factor))
                with self.subTest(place=place, factor=factor):
                    self.run_tool("verify", "changed.fen", data, "--tolerance", "1e-3", code=code)

    def test_no_bound(self):
        """No fit has such a bias (one class is refused); a file may."""
        self.fit(self.slump(40), "--penalty", "lp:4/3", "--lambda", "0.1")

        def change(header, body):
            at = header["distance"]["data_offsets"][0]
            struct.pack_into("<dd", body, at + 8, float("inf"), float("inf"))
            return body

        self.rewrite(change)
        found = self.run_tool("info", "changed.fen", "--json").json
        self.assertIsNone(found["bias_distance"])
        self.assertIsNone(found["optimum_distance"])
        self.assertIn("Predictions  have a bias that the training rows do not determine",
                      self.run_tool("info", "changed.fen").out)

    def test_older_files(self):
        data = self.slump(40)
        self.fit(data, "--penalty", "lp:4/3", "--lambda", "0.1")

        def drop(header, body):
            low, high = header["distance"]["data_offsets"]
            del header["distance"]
            for name, entry in header.items():
                if name != "__metadata__" and entry["data_offsets"][0] >= high:
                    entry["data_offsets"] = [at - (high - low) for at in entry["data_offsets"]]
            return body[:low] + body[high:]

        self.rewrite(drop)
        self.assertIsNone(self.run_tool("info", "changed.fen", "--json").json["optimum_distance"])
        self.assertNotIn("of the optimum", self.run_tool("info", "changed.fen").out)
        told = self.run_tool("verify", "changed.fen", data, "--json").json
        self.assertTrue(told["holds"])
        self.assertGreater(told["optimum_distance"], 0)


if __name__ == "__main__":
    unittest.main()
