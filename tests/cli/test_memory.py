"""--memory and ulimit -v: within them, or exit code 5 and a sentence; no process waits for ever."""
import gzip
import os
import resource
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from tool import FENCHEL, ToolTest, unittest     # noqa: E402

MB = 1 << 20
PROGRAM = 40 * MB       # resident beside --memory: the program, its libraries, BLAS on two threads
SANITIZED = "ASAN" in os.environ.get("FENCHEL_SANITIZE", "") or "asan" in FENCHEL or "tsan" in FENCHEL


@unittest.skipIf(SANITIZED, "sanitizers reserve terabytes")
class Memory(ToolTest):
    def peak(self, *words, codes):
        """Exit code, stderr and peak of a process of its own."""
        print("$ fenchel", *words, flush=True)
        with open(self.path("stderr"), "wb") as err:
            pid = os.posix_spawn(FENCHEL, [FENCHEL, *words],
                                 {**os.environ, "OMP_NUM_THREADS": "2"},
                                 file_actions=[(os.POSIX_SPAWN_DUP2, err.fileno(), 2)])
            _, status, usage = os.wait4(pid, 0)
        code, said = os.waitstatus_to_exitcode(status), self.read("stderr").decode()
        self.assertIn(code, codes, said)
        return said, usage.ru_maxrss * 1024

    def long_row(self, name, opened, before, piece, count):
        with opened(self.path(name), "wb") as file:
            file.write(before)
            for _ in range(count):
                file.write(piece)
        return self.path(name)

    def test_one_long_row(self):
        rows = b"a,b,y\n1,2,3\n\n4,5,6\n"
        cases = [("t.csv", open, rows + b"7,", b"8" * MB, 5),
                 ("q.csv", open, rows + b'7,"8\n', b"\n8,8\n" * (MB // 5), 5),
                 ("h.csv", open, b"a,b,y\n", b"x" * MB, 2),
                 ("z.csv.gz", gzip.open, rows + b"7,", b"8" * MB, 5),
                 ("s.svm", open, b"1 1:2\n2 1:3\n1 1:", b"8" * MB, 3)]
        for name, opened, before, piece, line in cases:
            path = self.long_row(name, opened, before, piece, 80)
            for words in (["fit", path, "-o", self.path("m.fen")],
                          ["convert", path, self.path("o.csv")], ["plan", path]):
                said, peak = self.peak(*words, "--memory", "100M", codes=(5,))
                self.assertIn(f"{path}:{line}: out of memory: a row of more than 25 MB begins here",
                              said)
                self.assertLess(peak, 100e6 + PROGRAM)
        self.assertNotIn("m.fen", self.files())

    def test_many_rows_and_texts(self):
        with open(self.path("n.csv"), "w") as file:
            file.write("a,b,c,y\n")
            for i in range(1500000):
                file.write(f"{i},{i % 7},{i % 11},{i % 5}\n")
        with open(self.path("t.csv"), "w") as file:
            file.write("a,t,y\n")
            for i in range(500000):
                file.write(f"{i},{'level' * 8}{i},{i % 5}\n")
        for name in ("n.csv", "t.csv"):
            for words in (["fit", self.path(name), "-o", self.path("m.fen")],
                          ["select", self.path(name)], ["path", self.path(name)]):
                said, peak = self.peak(*words, "--memory", "40M", codes=(5,))
                self.assertRegex(said, "(memory)")
                self.assertLess(peak, 40e6 + PROGRAM)
        # blocks do not grow with the file
        _, peak = self.peak("convert", self.path("n.csv"), self.path("o.csv"), "--memory", "60M",
                            "--quiet", codes=(0,))
        self.assertLess(peak, 60e6 + PROGRAM)

    def test_predictions(self):
        self.run_tool("generate", "friedman", "--rows", "60000", "-o", "new.csv", "--quiet")
        self.run_tool("generate", "friedman", "-o", "d.csv", "--quiet")
        self.run_tool("fit", "d.csv", "--gamma", "0.1", "--lambda", "0.01", "-o", "m.fen", "--quiet")
        _, peak = self.peak("predict", self.path("m.fen"), self.path("new.csv"), "-o",
                            self.path("p.csv"), "--memory", "60M", "--quiet", codes=(0, 5))
        self.assertLess(peak, 60e6 + PROGRAM)

    def test_little_address_space(self):
        """From less than the libraries take to plenty: done or exit code 5, and never for ever."""
        self.run_tool("generate", "friedman", "-o", "d.csv", "--quiet")
        self.write("d.svm", "1 1:1 2:0.5\n-1 1:2\n" * 20)
        codes = set()
        for limit in (64, 128, 256, 320, 384, 448, 512, 640, 1024, 4096):
            for words in (["--version"], ["fit", "d.csv", "-o", "m.fen", "--quiet"],
                          ["svm-train", "-q", "d.svm"]):
                done = subprocess.run(
                    [FENCHEL, *words], cwd=self.folder, capture_output=True, timeout=120,
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit * MB,) * 2))
                if done.returncode != 0:
                    self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                    self.assertIn(b"memory", done.stderr)
                codes.add((limit, words[0], done.returncode))
        print(sorted(codes))
        self.assertIn((64, "fit", 5), codes)
        self.assertIn((4096, "fit", 0), codes)
        for limit, word, code in codes:
            self.assertIn(code, (0, 5) if word != "svm-train" else (0, 1, 5), (limit, word))


if __name__ == "__main__":
    unittest.main()
