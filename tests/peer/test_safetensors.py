"""Model files are safetensors files: read them without us, strictly, and predict from them.

The reader below follows the format's own rules and knows nothing of fenchel: 8-byte length,
JSON object without duplicate keys, string metadata, known dtypes, offsets that cover the data
without gaps. NumPy then has all it needs to reproduce `fenchel predict`.
"""
import json
import os
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from tool import ToolTest  # noqa: E402

try:
    import numpy
except ImportError:
    print("SKIPPED: numpy is not installed")
    sys.exit(77)

SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1,
         "BOOL": 1}


def without_duplicates(pairs):
    names = [name for name, _ in pairs]
    assert len(names) == len(set(names)), f"duplicate keys in {names}"
    return dict(pairs)


def read_safetensors(raw):
    """(metadata, arrays) of a file's bytes; any violation of the format is an AssertionError."""
    assert len(raw) >= 8
    length, = struct.unpack("<Q", raw[:8])
    assert 2 <= length <= 100_000_000 and 8 + length <= len(raw)
    text = raw[8:8 + length].decode("utf-8")
    assert text.startswith("{") and text == text.rstrip("\x00\t\n")
    header = json.loads(text, object_pairs_hook=without_duplicates)
    metadata = header.pop("__metadata__")
    assert all(isinstance(value, str) for value in metadata.values())
    data, arrays, end = raw[8 + length:], {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        assert set(entry) == {"dtype", "shape", "data_offsets"}
        first, last = entry["data_offsets"]
        assert first == end, f"{name} begins at {first}, not at {end}"
        count = 1
        for extent in entry["shape"]:
            assert isinstance(extent, int) and extent >= 0
            count *= extent
        assert last - first == count * SIZES[entry["dtype"]] and last <= len(data)
        assert entry["dtype"] == "F64"
        arrays[name] = numpy.frombuffer(data[first:last], "<f8").reshape(entry["shape"])
        end = last
    assert end == len(data)
    return metadata, arrays


def prepared(metadata, arrays, rows):
    """Features of rows of numbers, in the order of the file."""
    preparation = json.loads(metadata["preparation"])
    used = [j for j, one in enumerate(preparation["inputs"]) if not one.get("constant")]
    assert not any("levels" in one or "gaps" in one for one in preparation["inputs"])
    return ((rows - arrays["prepare.center"]) / arrays["prepare.scale"])[:, used]


class Safetensors(ToolTest):
    def model(self, *options):
        self.some_data("train.csv", rows=60)
        self.some_data("new.csv", rows=9, seed=2)
        self.run_tool("fit", "train.csv", "-o", "m.fen", "--quiet", *options)
        raw = self.read("m.fen")
        metadata, arrays = read_safetensors(raw)
        length, = struct.unpack("<Q", raw[:8])
        self.assertEqual(length % 8, 0, "the arrays are not aligned")
        rows = numpy.genfromtxt(self.path("new.csv"), delimiter=",", skip_header=1)[:, :-1]
        self.run_tool("predict", "m.fen", "new.csv", "-o", "out.csv", "--quiet")
        table = numpy.genfromtxt(self.path("out.csv"), delimiter=",", names=True)
        return metadata, arrays, prepared(metadata, arrays, rows), table["prediction"]

    def assert_close(self, wanted, got):
        self.assertLess(numpy.abs(wanted - got).max(), 1e-10 * (1 + numpy.abs(wanted).max()))

    def test_gaussian(self):
        metadata, arrays, x, predicted = self.model("--gamma", "0.05", "--lambda", "1e-3")
        self.assertEqual(metadata["format"], "fenchel-model-4")
        self.assertEqual(metadata["kernel"], "gaussian")
        self.assertEqual(arrays["inputs"].shape, (60, 10))
        self.assertEqual(arrays["dual"].shape, (1, 60))
        self.assertEqual(arrays["certificate"].shape, (1, 8))
        self.assertNotIn("selection.grid", arrays)
        distance = ((x[:, None, :] - arrays["inputs"][None, :, :]) ** 2).sum(2)
        kernel = numpy.exp(-float(metadata["gamma"]) * distance)
        coef = arrays["coef_scale"][:, None] * arrays["dual"]
        self.assert_close((kernel @ coef.T + arrays["offset"])[:, 0], predicted)
        primal, dual, gap, relative = arrays["certificate"][0, :4]
        self.assertLessEqual(dual, primal * (1 + 1e-12))
        self.assertLessEqual(relative, float(metadata["tolerance"]))
        self.assertLessEqual(abs(gap - (primal - dual)), 1e-12 * primal)

    def test_support_vectors(self):
        """Only rows with a coefficient are there, and they are enough."""
        metadata, arrays, x, predicted = self.model("--gamma", "0.05", "--lambda", "1e-3", "--loss",
                                                    "eps:1")
        support = arrays["support"]
        self.assertTrue(0 < len(support) < 60 == int(metadata["rows"]))
        self.assertTrue((numpy.diff(support) > 0).all() and support[-1] < 60)
        self.assertEqual(arrays["inputs"].shape, (len(support), 10))
        self.assertTrue((arrays["dual"] != 0).any(0).all())
        column, plus, minus, parameter, slope, offset = arrays["outputs"][0]
        self.assertEqual((column, plus, minus, parameter, slope, offset), (0, -1, -1, 1, 0, 0))
        distance = ((x[:, None, :] - arrays["inputs"][None, :, :]) ** 2).sum(2)
        kernel = numpy.exp(-float(metadata["gamma"]) * distance)
        coef = arrays["coef_scale"][:, None] * arrays["dual"]
        self.assert_close((kernel @ coef.T + arrays["offset"])[:, 0], predicted)

    def test_linear(self):
        metadata, arrays, x, predicted = self.model("--kernel", "linear", "--lambda", "1e-3")
        self.assertNotIn("inputs", arrays)
        self.assertEqual(arrays["weights"].shape, (1, 10))
        self.assert_close((x @ arrays["weights"].T + arrays["offset"])[:, 0], predicted)

    def test_selected(self):
        metadata, arrays, _, _ = self.model()
        grid = arrays["selection.grid"]
        self.assertEqual(grid.shape[1], 7)
        self.assertTrue(numpy.isnan(grid[:, 4]).all())      # error rates are of classes
        best = grid[numpy.nanargmin(grid[:, 3])]
        self.assertEqual(best[0], float(metadata["gamma"]))
        self.assertEqual(best[1], float(metadata["lambda"]))
        self.assertEqual(best[2], float(metadata["power"]))
        self.assertEqual(best[3], float(metadata["selection.score"]))

    def test_the_reader_is_strict(self):
        self.some_model()
        raw = self.read("data.fen")
        read_safetensors(raw)
        for wrong in (raw[:-1], raw + b"\0", raw[:4], b"\xff" * 8 + raw[8:],
                      raw.replace(b'"F64"', b'"F32"', 1), raw.replace(b"[0, ", b"[8, ", 1)):
            with self.assertRaises(AssertionError):
                read_safetensors(wrong)

    def test_the_reference_reader_agrees(self):
        try:
            from safetensors.numpy import load
        except ImportError:
            print("SKIPPED: the safetensors package is not installed")
            self.skipTest("no safetensors package")
        self.some_model()
        raw = self.read("data.fen")
        _, ours = read_safetensors(raw)
        theirs = load(raw)
        self.assertEqual(set(ours), set(theirs))
        for name, array in ours.items():
            self.assertEqual(array.tobytes(), theirs[name].tobytes())


unittest.main(verbosity=2)
