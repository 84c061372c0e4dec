"""Every command that writes a file, under every fault: afterwards the old file is there or the new
one, never another, and nothing is left beside it that the next run does not clear."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import fcntl
import random
import resource
import signal
import subprocess
import time
import unittest

from tool import FENCHEL, ToolTest

OLD = b"what was here before\n"
OUT = "out.svg"     # pictures want that ending, others take any
# name: the words, and which of them is read for long; OUT is written
COMMANDS = {
    "fit": ("fit data.csv --gamma mean --lambda 1e-3 --quiet -o OUT", "data.csv"),
    "fit, iterative": ("fit data.csv --loss eps:0.1 --gamma mean --lambda 1e-3 --quiet -o OUT",
                       "data.csv"),
    "predict": ("predict model.fen data.csv --quiet -o OUT", "data.csv"),
    "convert": ("convert data.csv OUT", "data.csv"),
    "select": ("select data.csv --gamma mean --quiet -o OUT", "data.csv"),
    "path": ("path data.csv --gamma mean --quiet -o OUT", "data.csv"),
    "path, picture": ("path data.csv --penalty l1 --quiet --plot OUT", "data.csv"),
    "generate": ("generate friedman --rows 2000 -o OUT", None),
    "svm-train": ("svm-train -q rows.svm OUT", "rows.svm"),
    "svm-predict": ("svm-predict -q rows.svm rows.model OUT", "rows.model"),
    "svm-scale": ("svm-scale -s OUT rows.svm", "rows.svm"),
}
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def full_disk(bytes_left):
    """Any file that grows beyond so many bytes fails to, as on a full disk."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_left, bytes_left))


def as_nobody():
    """Root may write everywhere; nobody may not."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)


class Matrix(ToolTest):
    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        self.some_model(rows=300)
        os.rename(self.path("data.fen"), self.path("model.fen"))
        self.run_tool("generate", "moons", "--rows", "200", "-o", "moons.csv", "--quiet")
        self.run_tool("convert", "moons.csv", "rows.svm", "--quiet")
        self.run_tool("svm-train", "-q", "rows.svm", "rows.model")
        self.inputs = self.files()
        self.contents = {name: self.read(name) for name in self.inputs}
        self.random = random.Random(20)

    # ---- one run ------------------------------------------------------------------------

    def words(self, name, pipe=None):
        """pipe: stands in the place of the file that is read."""
        text, read = COMMANDS[name]
        return [{"OUT": OUT, read: pipe or read}.get(word, word) for word in text.split()]

    def start(self, name, pipe=None, **more):
        return subprocess.Popen([FENCHEL, *self.words(name, pipe)], cwd=self.folder,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, **more)

    def run_once(self, name, **more):
        return self.start(name, **more).wait(timeout=300)

    def before(self):
        """Inputs as they were, the old file in the place of the output."""
        for name, text in self.contents.items():
            if not os.path.exists(self.path(name)) or self.read(name) != text:
                self.write(name, text)
        if os.path.lexists(self.path(OUT)):
            os.unlink(self.path(OUT))
        self.write(OUT, OLD)

    def is_new(self, name):
        """A model holds the time that it took: no two are alike. It is whole if it verifies."""
        if name.startswith("fit"):
            done = subprocess.run([FENCHEL, "verify", OUT, "data.csv", "--quiet"],
                                  cwd=self.folder, capture_output=True, check=False)
            return done.returncode == 0
        return self.read(OUT) == self.new[name]

    def old_or_new(self, name, code=None):
        """code: of a run that came to its end, which says which of them it has to be."""
        old = self.read(OUT) == OLD
        self.assertTrue(old or self.is_new(name), (name, self.read(OUT)[:200]))
        if code is not None:
            self.assertEqual(old, code != 0, (name, code))

    def nothing_left(self, name, *more):
        self.assertEqual(self.files(), sorted([*self.inputs, OUT, *more]), name)

    def each(self):
        self.new = {}
        for name in COMMANDS:
            print(name, flush=True)
            self.before()
            self.assertEqual(self.run_once(name), 0, name)
            self.new[name] = self.read(OUT)
            self.old_or_new(name, 0)
            self.nothing_left(name)
            self.before()
            yield name

    # ---- the faults ---------------------------------------------------------------------

    def test_disk_full(self):
        for name in self.each():
            limit = len(self.new[name]) // 2
            code = self.run_once(name, preexec_fn=full_disk(limit))
            self.assertEqual(code, 1 if name.startswith("svm") else 4)
            self.old_or_new(name, code)
            self.nothing_left(name)

    def test_read_only_folder(self):
        for name in self.each():
            os.chmod(self.path(OUT), 0o666)
            os.chmod(self.folder, 0o555)
            code = self.run_once(name, preexec_fn=as_nobody)
            os.chmod(self.folder, 0o755)
            self.assertEqual(code, 1 if name.startswith("svm") else 4)
            self.old_or_new(name, code)
            self.nothing_left(name)

    def test_read_only_file(self):
        for name in self.each():
            os.chmod(self.path(OUT), 0o444)
            code = self.run_once(name)
            self.assertEqual(code, 1 if name.startswith("svm") else 4)
            self.old_or_new(name, code)
            self.nothing_left(name)

    def test_symbolic_link(self):
        """The link stays a link; what it points to has new contents and its old mode."""
        os.mkdir(self.path("there"))
        for name in self.each_with("there"):
            os.rename(self.path(OUT), self.path("there/real"))
            os.symlink("there/real", self.path(OUT))
            os.chmod(self.path("there/real"), 0o600)
            self.old_or_new(name, self.run_once(name))
            self.assertEqual(os.readlink(self.path(OUT)), "there/real")
            self.assertEqual(os.stat(self.path("there/real")).st_mode & 0o777, 0o600)
            self.assertEqual(os.listdir(self.path("there")), ["real"])
            os.unlink(self.path("there/real"))              # a link to nothing yet
            self.assertEqual(self.run_once(name), 0)
            self.assertTrue(os.path.islink(self.path(OUT)) and self.is_new(name))
            os.unlink(self.path("there/real"))

    def each_with(self, extra):
        self.inputs = sorted([*self.inputs, extra])
        return self.each()

    def test_killed(self):
        """At 20 random moments of a run. A file that only a killed run knew of may stay until the
        next run to the same place."""
        for name in self.each():
            began = time.monotonic()
            self.assertEqual(self.run_once(name), 0)
            length = time.monotonic() - began
            for _ in range(20):
                self.before()
                tool = self.start(name)
                time.sleep(length * self.random.uniform(0.0, 1.1))
                tool.kill()
                code = tool.wait()
                self.old_or_new(name, 0 if code == 0 else None)
            self.assertEqual(self.run_once(name), 0)
            self.old_or_new(name, 0)
            self.nothing_left(name)

    def test_stopped_at_random(self):
        for name in self.each():
            began = time.monotonic()
            self.assertEqual(self.run_once(name), 0)
            length = time.monotonic() - began
            for number in STOPS * 2:
                self.before()
                tool = self.start(name)
                time.sleep(length * self.random.uniform(0.0, 1.1))
                tool.send_signal(number)
                code = tool.wait(timeout=300)
                self.assertIn(code, (0, 130, -number), name)    # before main, signals just kill
                if name == "fit, iterative" and code == 130:    # may have left a model so far
                    self.assertEqual(self.run_tool("info", OUT).code if self.read(OUT) != OLD
                                     else 0, 0)
                else:
                    self.old_or_new(name)
                self.nothing_left(name)

    def test_stopped_while_reading(self):
        """Half of a file has come through a pipe, and nothing more comes."""
        os.mkfifo(self.path("pipe"))
        for name in self.each_with("pipe"):
            read = COMMANDS[name][1]
            for number in STOPS if read else ():
                tool = self.start(name, pipe="pipe")
                with open(self.path("pipe"), "wb") as pipe:
                    pipe.write(self.contents[read][:len(self.contents[read]) // 2])
                    pipe.flush()
                    tool.send_signal(number)
                    self.assertEqual(tool.wait(timeout=300), 130, (name, number))
                self.old_or_new(name, 130)
                self.nothing_left(name)

    def test_ignored_hangup_stays_ignored(self):
        """As under nohup."""
        os.mkfifo(self.path("pipe"))
        tool = subprocess.Popen([FENCHEL, "convert", "pipe", OUT], cwd=self.folder,
                                stderr=subprocess.PIPE,
                                preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        with open(self.path("pipe"), "wb") as pipe:
            pipe.write(self.contents["data.csv"])
            pipe.flush()
            tool.send_signal(signal.SIGHUP)
        self.assertEqual(tool.communicate(timeout=300)[1], b"")
        self.assertEqual(tool.returncode, 0)
        self.assertEqual(self.read(OUT).count(b"\n"), 301)

    def test_file_vanishes_while_read(self):
        """Emptied, or removed, at some moment: before it is opened, while it is read, or later."""
        for name in self.each():
            read = COMMANDS[name][1]
            if not read:
                continue
            self.write(read, b"")
            self.run_once(name)
            of_nothing = self.read(OUT)
            self.before()
            began = time.monotonic()
            self.assertEqual(self.run_once(name), 0)
            length = time.monotonic() - began
            for vanish in (lambda path: os.truncate(path, 0), os.unlink) * 5:
                self.before()
                tool = self.start(name)
                time.sleep(length * self.random.uniform(0.0, 1.0))
                vanish(self.path(read))
                code = tool.wait(timeout=300)
                self.write(read, self.contents[read])
                if name == "svm-scale":     # has an answer to nothing, and reads on after it wrote
                    self.assertIn(self.read(OUT), (OLD, of_nothing, self.new[name]))
                else:
                    self.assertEqual(of_nothing, OLD)
                    self.old_or_new(name, code)
                self.nothing_left(name)

    def test_stale_temporaries(self):
        """What a killed writer left goes; what a living one holds, and other names, stay."""
        stale, held = OUT + ".tmp-0123456789abcdef", OUT + ".tmp-fedcba9876543210"
        others = [OUT + ".tmp-backup", OUT + ".tmp-0123456789ABCDEF", OUT + "x.tmp-0123456789abcdef",
                  OUT + ".tmp-12345", held]
        for name in self.each():
            for other in [stale, *others]:
                self.write(other, b"half a")
            with open(self.path(held), "rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                code = self.run_once(name)
                self.old_or_new(name, code)
                self.assertEqual(code, 0)
                self.nothing_left(name, *others)
            for other in others:
                os.unlink(self.path(other))


if __name__ == "__main__":
    unittest.main(verbosity=2)
