"""What the tests of the command-line tool share: run it, and look at what is left behind."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

FENCHEL = os.path.abspath(os.environ["FENCHEL"])
os.environ.setdefault("OMP_WAIT_POLICY", "passive")     # tests run beside each other


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def json(self):
        lines = self.out.splitlines()
        assert len(lines) == 1, f"expected one line of JSON, got {len(lines)}"
        return json.loads(lines[0], parse_constant=lambda word: 1 / 0)


class ToolTest(unittest.TestCase):
    """Every test has a folder of its own; run() prints what it runs."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="fenchel-test-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return name

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def files(self):
        return sorted(os.listdir(self.folder))

    def run_tool(self, *words, code=0, **more):
        print("$ fenchel", *words, flush=True)
        done = subprocess.run([FENCHEL, *words], cwd=self.folder, capture_output=True, timeout=300,
                              **more)
        result = Result(done.returncode, done.stdout.decode(), done.stderr.decode())
        self.assertEqual(result.code, code, f"stdout: {result.out}\nstderr: {result.err}")
        return result

    def refuse(self, *words, code, says, **more):
        """The tool fails: one sentence on stderr that holds every part, no new files."""
        before = {name: self.read(name) for name in self.files()
                  if os.path.isfile(self.path(name))}
        result = self.run_tool(*words, code=code, **more)
        lines = result.err.splitlines()
        self.assertEqual(len(lines), 1, result.err)
        self.assertTrue(lines[0].startswith("fenchel: "), result.err)
        for part in says:
            self.assertIn(part, lines[0])
        self.assertEqual(result.out, "")
        after = {name: self.read(name) for name in self.files()
                 if os.path.isfile(self.path(name))}
        self.assertEqual(before, after)
        print("  ", lines[0])
        return result

    def some_data(self, name="data.csv", rows=40, seed=1, generator="friedman"):
        self.run_tool("generate", generator, "--rows", str(rows), "--seed", str(seed), "-o", name)
        return name

    def some_model(self, name="data.csv", rows=40):
        """A data file and data.fen beside it, fitted without a search."""
        self.some_data(name, rows)
        self.run_tool("fit", name, "--gamma", "mean", "--lambda", "1e-3", "--quiet")
        return os.path.splitext(name)[0] + ".fen"
