"""Help, man page and completion say all that the option table says."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import re
import shutil
import subprocess
import unittest

from tool import ToolTest

COMMANDS = ("fit", "predict", "select", "path", "verify", "plan", "generate", "convert", "info")
LEARN = {"target", "weights", "task", "format", "index-base", "missing", "text", "loss", "nu",
         "multiclass", "class-weights", "kernel", "gamma", "degree", "coef0", "penalty",
         "feature-weights", "nonnegative", "lambda", "power", "as", "no-bias", "scale", "select",
         "engine", "route", "tolerance", "seed", "threads", "memory"}
ONE = LEARN | {"smoothness"}                # what ends in one setting
SWITCHES = {"no-bias", "nonnegative", "probability", "force", "scores", "features"}
READ = {"format", "index-base", "missing", "text", "memory"}
OPTIONS = {
    "fit": ONE | {"probability", "approx", "time-limit", "force", "output"},
    "select": ONE | {"time-limit", "output"},
    "path": LEARN | {"over", "plot", "time-limit", "output"},
    "plan": ONE | {"probability", "approx"}, "predict": READ | {"threads", "scores", "output"},
    "verify": READ | {"threads", "tolerance"}, "convert": READ, "info": {"features"},
    "generate": {"seed", "rows", "noise", "memory", "output"},
}


class Help(ToolTest):
    def test_overview(self):
        text = self.run_tool("--help").out
        for command in COMMANDS:
            self.assertRegex(text, rf"(?m)^  {command} ")
        for word in ("--version", "--man", "--completion", "130"):
            self.assertIn(word, text)
        self.assertEqual(text, self.run_tool("help").out)
        self.assertLessEqual(max(map(len, text.splitlines())), 80)

    def test_every_option_of_every_command(self):
        for command in COMMANDS:
            text = self.run_tool(command, "--help").out
            shown = set(re.findall(r"(?m)^ {2,6}(?:-\w, )?--([a-z0-9-]+)", text))
            self.assertEqual(shown, OPTIONS[command] | {"json", "quiet", "help"}, command)
            self.assertIn(f"fenchel {command} ", text)
            self.assertIn("Examples:", text)
            self.assertEqual(text, self.run_tool("help", command).out)

    def test_every_option_is_accepted(self):
        for command in COMMANDS:
            for name in OPTIONS[command] - SWITCHES:
                result = self.run_tool(command, "--" + name, code=2)
                self.assertIn(f"--{name} needs a value", result.err)

    def test_version(self):
        self.assertRegex(self.run_tool("--version").out, r"^fenchel \d+\.\d+\.\d+\n$")

    def test_choices_are_listed(self):
        text = self.run_tool("fit", "--help").out
        for word in ("matern32", "precomputed", "square", "cholesky", "svmlight", "kfold:K", "elastic",
                     "1se:K", "active-set", "coordinate", "interior", "homotopy", "elastic:MIX",
                     "--penalty elastic:", "--penalty group:prefix:", "--penalty group:groups.csv"):
            self.assertIn(word, text)
        words = " ".join(text.split())
        for part in ("group:auto", "group:prefix:SEP", "group:targets", "group:FILE",
                     "below 20 rows loo", "0 <= MIX < 1", "errors go to standard error"):
            self.assertIn(part, words)

    def test_help_wins_over_missing_operands(self):
        self.run_tool("fit", "data.csv", "--lambda", "1", "--help")


class Manual(ToolTest):
    def test_where_errors_go(self):
        text = " ".join(self.run_tool("--man").out.split())
        self.assertIn("With 2, 3 and 4 standard output is empty", text)

    def test_complete(self):
        text = self.run_tool("--man").out.replace("\\-", "-")
        for command in COMMANDS:
            self.assertIn(f"\n.SS {command}\n", text)
        for name in set().union(*OPTIONS.values()):
            self.assertIn(f"--{name}", text)
        for section in ("NAME", "SYNOPSIS", "COMMANDS", "OPTIONS", "EXIT STATUS", "FILES"):
            self.assertIn(f"\n.SH {section}\n", text)
        for word in ("friedman", "moons", "matern52", "safetensors", "fB130"):
            self.assertIn(word, text)

    def test_lint(self):
        if not shutil.which("mandoc"):
            self.skipTest("SKIPPED: mandoc is not installed")
        self.write("fenchel.1", self.run_tool("--man").out)
        done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", "fenchel.1"],
                              cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""))


class Completion(ToolTest):
    def test_bash_parses(self):
        self.write("fenchel.bash", self.run_tool("--completion", "bash").out)
        done = subprocess.run(["bash", "-n", "fenchel.bash"], cwd=self.folder, capture_output=True,
                              check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def complete(self, *words):
        """What bash would offer for the last word."""
        script = ('source fenchel.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _fenchel; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-c", script, "bash", *words], cwd=self.folder,
                              capture_output=True, text=True, check=True)
        return set(done.stdout.split())

    def test_bash_offers(self):
        self.write("fenchel.bash", self.run_tool("--completion", "bash").out)
        self.assertEqual(self.complete("fenchel", "pl"), {"plan"})
        self.assertEqual(self.complete("fenchel", "path", "--ov"), {"--over"})
        self.assertLessEqual(set(COMMANDS), self.complete("fenchel", ""))
        self.assertEqual(self.complete("fenchel", "fit", "--kernel", "mat"),
                         {"matern32", "matern52"})
        self.assertEqual(self.complete("fenchel", "path", "--engine", "h"), {"homotopy"})
        self.assertLessEqual({"auto", "cholesky", "active-set", "coordinate", "interior"},
                             self.complete("fenchel", "fit", "--engine", ""))
        self.assertEqual(self.complete("fenchel", "fit", "--lam"), {"--lambda"})
        self.assertEqual(self.complete("fenchel", "info", "--lam"), set())
        self.assertEqual(self.complete("fenchel", "generate", "fr"), {"friedman"})
        self.assertEqual(self.complete("fenchel", "fit", "fen"), {"fenchel.bash"})

    def test_zsh_and_fish(self):
        for shell, comment in (("zsh", "#compdef fenchel\n"), ("fish", "complete -c fenchel")):
            text = self.run_tool("--completion", shell).out
            self.assertIn(comment, text)
            for command in COMMANDS:
                self.assertIn(command, text)
            for name in set().union(*OPTIONS.values()):
                self.assertRegex(text, rf"(--|-l ){name}\b")
            if not shutil.which(shell):
                print(f"SKIPPED: {shell} is not installed, its completion is not parsed")
                continue
            self.write("script", text)
            subprocess.run([shell, "-n", "script"], cwd=self.folder, check=True)


if __name__ == "__main__":
    unittest.main(verbosity=2)
