"""The shared library shows fen_* and nothing else; the static one adds only fenp_*. What computes
certificates calls no solver."""
import glob
import os
import re
import subprocess
import sys


def defined(*command):
    """Names with global binding and a definition, as nm lists them."""
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return re.findall(r"^[0-9a-f]+ [A-TV-Z] (\S+)$", text, re.M)


def borrowed(root, static):
    """Functions of src/solver that certify*.c call."""
    declared = set()
    for path in glob.glob(os.path.join(root, "src", "solver", "*.h")):
        with open(path, encoding="utf-8") as text:
            declared |= set(re.findall(r"\b(fenp_\w+)\(", text.read()))
    text = subprocess.run(["nm", "-A", "--undefined-only", static], check=True,
                          capture_output=True, text=True).stdout
    called = re.findall(r":certify\w*\.c\.o:.* U (\S+)$", text, re.M)
    if not declared or not called:
        sys.exit("no solvers, or no certificates: is the layout another one?")
    return sorted(declared & set(called))


def main():
    _, root, shared, static = sys.argv
    shown = defined("nm", "--dynamic", "--defined-only", "--extern-only", shared)
    inside = defined("nm", "--defined-only", "--extern-only", static)
    stray = [f"{shared} exports {name}" for name in shown if not name.startswith("fen_")]
    stray += [f"{static} defines {name}: neither fen_ nor fenp_, should it be static?"
              for name in inside if not name.startswith(("fen_", "fenp_"))]
    missing = [name for name in inside if name.startswith("fen_") and name not in shown]
    stray += [f"{name} is named as public but is not exported: FEN_API is missing"
              for name in missing]
    stray += [f"{name} of src/solver is called by certify*.c: the certificate stands by itself"
              for name in borrowed(root, static)]
    print("\n".join(stray) or f"{len(shown)} names exported, {len(inside)} inside")
    sys.exit(1 if stray or not shown else 0)


main()
