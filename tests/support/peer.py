"""What the peer tests share: arrays in and out of the tool, model files taken apart with NumPy.

A missing peer is a loud skip: exit code 77."""
import importlib
import json
import os
import struct
import subprocess
import sys

from tool import FENCHEL, ToolTest


def need(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"SKIPPED: {name} is not installed")
        sys.exit(77)


# NumPy's systems here are small: its threads would only wait for one another. The tool has its own.
os.environ["OMP_NUM_THREADS"] = "1"
numpy = need("numpy")
del os.environ["OMP_NUM_THREADS"]


def read_model(path):
    """(metadata, arrays) of a model file, which is a safetensors file."""
    with open(path, "rb") as file:
        length, = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(length)), file.read()
    metadata = header.pop("__metadata__")
    return metadata, {name: numpy.frombuffer(data[slice(*one["data_offsets"])], "<f8")
                      .reshape(one["shape"]).copy() for name, one in header.items()}


def write_model(path, metadata, arrays):
    header, offset = {"__metadata__": metadata}, 0
    for name, array in arrays.items():
        header[name] = {"dtype": "F64", "shape": list(array.shape),
                        "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in arrays.values():
            file.write(array.astype("<f8").tobytes())


class PeerTest(ToolTest):
    def save(self, name, columns, header=None):
        """A CSV file of the columns side by side; numbers in full, None and NaN empty."""
        table = numpy.column_stack(columns)
        names = header or [f"c{j}" for j in range(table.shape[1])]
        lines = [",".join(names)]
        for row in table:
            lines.append(",".join("" if value != value else repr(float(value)) for value in row))
        return self.write(name, "\n".join(lines) + "\n")

    def fit(self, data, *options, model="m.fen", code=0):
        return self.run_tool("fit", data, "-o", model, "--json", *map(str, options),
                             code=code).json

    def select(self, data, *options):
        return self.run_tool("select", data, "--json", *map(str, options)).json

    def predict(self, data, model="m.fen", *options):
        """An array of one prediction per row, or rows x targets."""
        found = self.run_tool("predict", model, data, "--json", *options).json
        return numpy.array(found["predictions"])

    def verify(self, data, model="m.fen", code=0):
        return self.run_tool("verify", model, data, "--json", code=code).json

    def code_of(self, *words):
        """The exit code alone, where the test is about it."""
        return subprocess.run([FENCHEL, *words], cwd=self.folder, capture_output=True,
                              check=False, timeout=300).returncode

    def model(self, name="m.fen"):
        return read_model(self.path(name))

    def assert_close(self, found, expected, relative=1e-8):
        """Every entry within relative times the largest entry."""
        found, expected = numpy.asarray(found, float), numpy.asarray(expected, float)
        self.assertEqual(found.shape, expected.shape)
        error = numpy.max(numpy.abs(found - expected)) / numpy.max(numpy.abs(expected))
        self.assertLessEqual(error, relative)
