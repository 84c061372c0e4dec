"""Penalty lp: what a plan says of the memory, and what the fit takes."""
import math
import os
import re
import resource
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tool import FENCHEL, ToolTest  # noqa: E402

LP = ["--penalty", "lp:4/3"]
EXPONENTIAL = [*LP, "--kernel", "tensor-exponential"]
POLYNOMIAL = [*LP, "--kernel", "tensor-polynomial", "--coef0", "1"]
GIVEN = ["--lambda", "0.1"]


class Memory(ToolTest):
    def some_data(self, rows, columns):
        """Columns that look like measurements: no two alike, a few rows far out."""
        lines = [",".join([f"x{j}" for j in range(columns)] + ["y"])]
        for i in range(rows):
            x = [math.sin(1 + (i + 1) * (j + 2) ** 1.5) + 0.5 * math.sin(i * i * (j + 1.3)) ** 3
                 for j in range(columns)]
            lines.append(",".join(f"{v:.5f}" for v in [*x, x[0] * x[1] + x[2] + 0.1 * x[3]]))
        return self.write(f"data{rows}x{columns}.csv", "\n".join(lines) + "\n")

    def taken(self, *words, codes=(0,)):
        """Peak of a process, which counts as no less than that of whoever starts it."""
        print("$ fenchel", *words, flush=True)
        pid = os.posix_spawn(FENCHEL, [FENCHEL, *words], {**os.environ, "OMP_NUM_THREADS": "2"},
                             file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
        _, state, usage = os.wait4(pid, 0)
        self.assertIn(os.waitstatus_to_exitcode(state), codes)
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self.assertGreater(usage.ru_maxrss, own, "too small to be measured from here")
        return usage.ru_maxrss * 1024

    def check(self, rows, columns, *words, route, times=1.4):
        data = self.some_data(rows, columns)
        plan = self.run_tool("plan", data, *words, "--threads", "2", "--json").json
        self.assertTrue(plan["why"].startswith(route), plan["why"])
        taken = self.taken("fit", self.path(data), *words, "--threads", "2", "--quiet", "-o",
                           self.path("model.fen"))
        print(f"planned {plan['peak_bytes'] / 1e6:.1f} MB, taken {taken / 1e6:.1f} MB", flush=True)
        self.assertLessEqual(taken, plan["peak_bytes"])
        # Some MB are set aside for BLAS, and a low rank is not known before: within a quarter or so.
        self.assertLessEqual(plan["peak_bytes"], times * taken + 20e6)

    def test_packed(self):
        self.check(100, 6, *EXPONENTIAL, *GIVEN, "--route", "packed", route="packed")
        self.check(100, 6, *EXPONENTIAL, "--select", "kfold:3", "--lambda", "1,0.1", "--route",
                   "packed", route="packed")

    def test_features(self):
        self.check(2500, 16, *POLYNOMIAL, "--degree", "3", *GIVEN, route="features")
        self.check(1500, 16, *POLYNOMIAL, "--degree", "3", "--select", "kfold:3", "--lambda",
                   "1,0.1", route="features")

    def test_low_rank(self):
        self.check(500, 8, *POLYNOMIAL, "--degree", "2", *GIVEN, "--route", "low-rank",
                   route="low rank")
        # A factor grows as far as the gap asks for, which may be to the end that a plan is for.
        self.check(150, 4, *EXPONENTIAL, *GIVEN, "--route", "low-rank", route="low rank", times=3)
        self.check(220, 4, *EXPONENTIAL, "--lambda", "1e-4", "--tolerance", "1e-8", "--route",
                   "low-rank", route="low rank", times=3)

    def test_other_routes_by_one_figure(self):
        """What a plan says of a route, as chosen and as another, and advice that holds."""
        data = self.some_data(130, 5)
        plan = {route: self.run_tool("plan", data, *EXPONENTIAL, *GIVEN, "--route", route,
                                     "--json").json for route in ("packed", "low-rank")}
        for mine, other in (("packed", "low-rank"), ("low-rank", "packed")):
            words = re.search(other + r" would take \S+ s and ([\d.]+) MB", plan[mine]["why"])
            self.assertAlmostEqual(float(words[1]), plan[other]["peak_bytes"] / 1e6, delta=1.5)
        ran = self.run_tool("plan", data, *EXPONENTIAL, *GIVEN, "--route", "packed", "--memory",
                            "100M", "--json", code=5)
        least, better = re.search(r"--route low-rank \((?:at least ([\d.]+) MB, better )?([\d.]+) "
                                  r"MB; packed, the kernel tensor of 130 rows takes \d+ MB\)",
                                  ran.json["advice"]).groups()
        self.assertIn("lp-gradient", ran.json["method"])
        self.assertIn("(no engine fits, this one takes least)", ran.json["why"])
        self.assertAlmostEqual(float(better), plan["low-rank"]["peak_bytes"] / 1e6, delta=1.5)
        tight = ["fit", data, *EXPONENTIAL, *GIVEN, "--route", "low-rank", "--quiet", "-o", "m.fen",
                 "--memory"]
        if least:   # it begins, and may end where the memory does
            done = subprocess.run([FENCHEL, *tight, least + "M"], cwd=self.folder, check=False)
            self.assertIn(done.returncode, (0, 1))
        self.run_tool(*tight, better + "M")
        self.run_tool("verify", "m.fen", data, "--quiet")

    def test_pivots_of_the_model(self):
        self.check(50, 30, *EXPONENTIAL, *GIVEN, route="packed")


def is_instrumented():
    with open(FENCHEL, "rb") as file:
        program = file.read()
    return any(name in program for name in (b"__asan_init", b"__tsan_init", b"__msan_init"))


if __name__ == "__main__":
    if is_instrumented():
        print("SKIPPED: a sanitizer takes memory of its own")
        sys.exit(77)
    unittest.main()
