"""Output appears whole or not at all: unwritable places, full disks, interruptions."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import pty
import resource
import signal
import subprocess
import unittest

from tool import FENCHEL, ToolTest

USAGE, FILE, INTERRUPTED = 2, 4, 130


def full_disk(bytes_left):
    """Any file that grows beyond so many bytes fails to, as on a full disk."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_left, bytes_left))


class Unwritable(ToolTest):
    def setUp(self):
        super().setUp()
        self.model = self.some_model()

    def test_folder_not_there(self):
        for words in (("fit", "data.csv", "-o", "nowhere/m.fen"),
                      ("predict", self.model, "data.csv", "-o", "nowhere/out.csv"),
                      ("select", "data.csv", "-o", "nowhere/grid.csv"),
                      ("generate", "friedman", "-o", "nowhere/d.csv"),
                      ("convert", "data.csv", "nowhere/d.npy")):
            self.refuse(*words, code=FILE, says=["nowhere/", "No such file"])

    def test_a_file_for_a_folder(self):
        self.refuse("fit", "data.csv", "-o", "data.csv/m.fen", code=FILE, says=["data.csv/m.fen"])

    def test_a_folder_for_a_file(self):
        os.mkdir(self.path("sub"))
        self.refuse("fit", "data.csv", "-o", "sub", code=FILE, says=["sub", "directory"])

    def test_folder_without_permission(self):
        os.mkdir(self.path("locked"))
        os.chmod(self.path("locked"), 0o500)
        self.addCleanup(os.chmod, self.path("locked"), 0o700)
        if os.access(self.path("locked"), os.W_OK):
            self.skipTest("SKIPPED: this user may write everywhere")
        self.refuse("fit", "data.csv", "-o", "locked/m.fen", code=FILE, says=["locked/m.fen"])

    def test_found_out_before_the_data_are_read(self):
        self.write("bad.csv", "")
        self.refuse("fit", "bad.csv", "-o", "nowhere/m.fen", code=FILE, says=["nowhere/m.fen"])

    def test_output_is_input(self):
        self.refuse("fit", "data.csv", "-o", "./data.csv", code=USAGE, says=["data.csv", "input"])
        self.refuse("predict", self.model, "data.csv", "-o", self.model, code=USAGE,
                    says=["input"])
        self.refuse("convert", "data.csv", "data.csv", code=USAGE, says=["input"])

    def test_model_is_not_printed(self):
        self.refuse("fit", "data.csv", "-o", "-", code=USAGE, says=["standard output"])


class FullDisk(ToolTest):
    def test_fit_keeps_the_old_model(self):
        model = self.some_model(rows=200)
        self.refuse("fit", "data.csv", "--gamma", "mean", "--lambda", "1e-2", code=FILE,
                    says=[model], preexec_fn=full_disk(4096))

    def test_no_model_before_none_after(self):
        self.some_data(rows=200)
        self.refuse("fit", "data.csv", "--gamma", "mean", "--lambda", "1", code=FILE,
                    says=["data.fen"], preexec_fn=full_disk(4096))

    def test_predict_keeps_the_old_output(self):
        model = self.some_model(rows=1000)
        self.write("out.csv", "precious")
        self.refuse("predict", model, "data.csv", "-o", "out.csv", code=FILE, says=["out.csv"],
                    preexec_fn=full_disk(4096))

    def test_generate_select_and_convert(self):
        self.some_data(rows=1000)
        self.write("out.csv", "precious")
        self.refuse("generate", "friedman", "--rows", "1000", "-o", "out.csv", code=FILE,
                    says=["out.csv"], preexec_fn=full_disk(4096))
        self.refuse("convert", "data.csv", "out.csv", code=FILE, says=["out.csv"],
                    preexec_fn=full_disk(4096))
        self.some_data("few.csv", rows=30)
        self.refuse("select", "few.csv", "--lambda", "1e-6:1:100", "--gamma", "0.01:1:10",
                    "-o", "out.csv", code=FILE, says=["out.csv"], preexec_fn=full_disk(4096))

    def test_devices(self):
        model = self.some_model()
        for words in (("predict", model, "data.csv", "-o", "/dev/full"),
                      ("fit", "data.csv", "--gamma", "1", "--lambda", "1", "-o", "/dev/full"),
                      ("generate", "sinc", "-o", "/dev/full")):
            self.refuse(*words, code=FILE, says=["/dev/full", "No space left"])

    def test_standard_output(self):
        model = self.some_model()
        for words in (("info", model), ("info", model, "--json"), ("--help",), ("--man",),
                      ("fit", "--help"), ("predict", model, "data.csv"), ("generate", "sinc"),
                      ("--completion", "bash"), ("--version",)):
            print("$ fenchel", *words, ">/dev/full", flush=True)
            with open("/dev/full", "wb") as full:
                done = subprocess.run([FENCHEL, *words], cwd=self.folder, stdout=full,
                                      stderr=subprocess.PIPE, check=False)
            self.assertEqual(done.returncode, FILE, words)
            self.assertIn(b"No space left", done.stderr)
            lines = [l for l in done.stderr.splitlines() if l.startswith(b"fenchel: ")]
            self.assertEqual(len(lines), 1, done.stderr)

    def test_closed_pipe_is_silent(self):
        print("$ fenchel generate friedman --rows 100000 | head -1", flush=True)
        tool = subprocess.Popen([FENCHEL, "generate", "friedman", "--rows", "100000"],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        tool.stdout.readline()
        tool.stdout.close()
        self.assertEqual(tool.stderr.read(), b"")
        tool.stderr.close()
        self.assertEqual(tool.wait(), -signal.SIGPIPE)


class Interrupted(ToolTest):
    def start(self, *words, stderr=subprocess.PIPE):
        print("$ fenchel", *words, "  (and Ctrl-C)", flush=True)
        tool = subprocess.Popen([FENCHEL, *words], cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=stderr)
        self.addCleanup(tool.stdout.close)
        if tool.stderr:
            self.addCleanup(tool.stderr.close)
        return tool

    def stop_in_the_middle(self, number, *words):
        """stderr is a terminal, so that its progress tells when the fit is at work."""
        terminal, end = pty.openpty()
        tool = self.start(*words, stderr=end)
        os.close(end)
        said = b""
        try:
            while chunk := os.read(terminal, 4096):
                if b"%" in chunk and b"%" not in said:
                    tool.send_signal(number)
                said += chunk
        except OSError:                     # how a terminal says that nobody writes any more
            pass
        os.close(terminal)
        self.assertEqual(tool.wait(timeout=300), INTERRUPTED, said)
        self.assertEqual(tool.stdout.read(), b"")
        return said.decode().replace("\r\n", "\n")

    def test_fit(self):
        self.some_data(rows=1500)
        self.write("m.fen", "precious")
        for number in (signal.SIGINT, signal.SIGTERM):
            for output in (("-o", "m.fen"), ()):
                said = self.stop_in_the_middle(number, "fit", "data.csv", *output)
                self.assertRegex(said, r"\d+%  [a-z]")
                self.assertIn("\nfenchel: stopping after this step; press Ctrl-C again to stop at "
                              "once\n", said)
                self.assertRegex(said.splitlines()[-1], r"fenchel: interrupted; nothing was written$")
                self.assertEqual(self.files(), ["data.csv", "m.fen"])
                self.assertEqual(self.read("m.fen"), b"precious")

    def test_select(self):
        self.some_data(rows=1500)
        self.stop_in_the_middle(signal.SIGINT, "select", "data.csv", "-o", "grid.csv")
        self.assertEqual(self.files(), ["data.csv"])

    def test_no_progress_where_it_is_not_wanted(self):
        self.some_data(rows=400)
        self.assertEqual(self.run_tool("fit", "data.csv").err, "")
        terminal, end = pty.openpty()
        tool = self.start("fit", "data.csv", "--quiet", stderr=end)
        os.close(end)
        self.assertEqual(tool.wait(timeout=300), 0)
        with self.assertRaises(OSError):            # nothing was written
            os.read(terminal, 1)
        os.close(terminal)

    def predict_from_a_pipe(self):
        """Half of the data have come, more may come: the tool waits in the middle."""
        model = self.some_model()
        os.mkfifo(self.path("pipe.csv"))
        tool = self.start("predict", model, "pipe.csv", "-o", "out.csv")
        pipe = open(self.path("pipe.csv"), "wb")
        pipe.write(self.read("data.csv"))
        pipe.flush()
        tool.send_signal(signal.SIGINT)
        self.assertIn(b"press Ctrl-C again", tool.stderr.readline())
        return tool, pipe

    def test_predict(self):
        tool, pipe = self.predict_from_a_pipe()
        pipe.close()
        self.assertEqual(tool.wait(timeout=300), INTERRUPTED)
        self.assertEqual(self.files(), ["data.csv", "data.fen", "pipe.csv"])

    def test_predict_twice(self):
        tool, pipe = self.predict_from_a_pipe()
        tool.send_signal(signal.SIGINT)
        self.assertEqual(tool.wait(timeout=300), -signal.SIGINT)
        with self.assertRaises(BrokenPipeError):
            pipe.write(b"1,2,3\n")
            pipe.close()
        self.assertEqual(self.files(), ["data.csv", "data.fen", "pipe.csv"])


class Names(ToolTest):
    def fit(self, data, model, *more):
        self.run_tool("fit", data, "--gamma", "1", "--lambda", "1", *more)
        self.assertIn(model, self.files())

    def test_default_model_names(self):
        import gzip
        text = self.read(self.some_data())
        self.fit("data.csv", "data.fen")
        self.write("zipped.csv.gz", gzip.compress(text))
        self.fit("zipped.csv.gz", "zipped.fen")
        self.write("no_ending", text)
        self.fit("no_ending", "no_ending.fen")
        self.write(".hidden", text)
        self.fit(".hidden", ".hidden.fen")
        self.write("two.dots.csv", text)
        self.fit("two.dots.csv", "two.dots.fen")

    def test_in_the_folder_of_the_data(self):
        os.mkdir(self.path("folder.d"))
        self.write("folder.d/data", self.read(self.some_data()))
        self.run_tool("fit", "folder.d/data", "--gamma", "1", "--lambda", "1")
        self.assertIn("data.fen", os.listdir(self.path("folder.d")))
        self.assertEqual(self.files(), ["data.csv", "folder.d"])

    def test_pipe_needs_a_name(self):
        os.mkfifo(self.path("pipe"))
        self.refuse("fit", "pipe", code=USAGE, says=["pipe", "-o"])
        self.refuse("fit", "-", code=USAGE, says=["-o"], input=b"")

    def test_standard_input(self):
        text = self.read(self.some_data())
        words = ("--gamma", "1", "--lambda", "1", "--quiet")
        self.run_tool("fit", "-", "-o", "piped.fen", *words, input=text)
        self.run_tool("fit", "data.csv", *words)
        one = self.run_tool("predict", "piped.fen", "-", input=text).out
        self.assertEqual(one, self.run_tool("predict", "data.fen", "data.csv").out)

    def test_model_is_readable_by_others(self):
        mask = os.umask(0o022)
        self.addCleanup(os.umask, mask)
        model = self.some_model()
        self.run_tool("predict", model, "data.csv", "-o", "out.csv")
        for name in (model, "out.csv"):
            self.assertEqual(os.stat(self.path(name)).st_mode & 0o777, 0o644, name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
