"""The shared library shows fen_* and nothing else; the static one adds only fenp_*."""
import re
import subprocess
import sys


def defined(*command):
    """Names with global binding and a definition, as nm lists them."""
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return re.findall(r"^[0-9a-f]+ [A-TV-Z] (\S+)$", text, re.M)


def main():
    _, _, shared, static = sys.argv
    shown = defined("nm", "--dynamic", "--defined-only", "--extern-only", shared)
    inside = defined("nm", "--defined-only", "--extern-only", static)
    stray = [f"{shared} exports {name}" for name in shown if not name.startswith("fen_")]
    stray += [f"{static} defines {name}: neither fen_ nor fenp_, should it be static?"
              for name in inside if not name.startswith(("fen_", "fenp_"))]
    missing = [name for name in inside if name.startswith("fen_") and name not in shown]
    stray += [f"{name} is named as public but is not exported: FEN_API is missing"
              for name in missing]
    print("\n".join(stray) or f"{len(shown)} names exported, {len(inside)} inside")
    sys.exit(1 if stray or not shown else 0)


main()
