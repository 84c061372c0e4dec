"""Includes point one way: a file may include its own layer and those below it, never above.

The table is the architecture. Folders in one line are one layer and may not include each other,
except as ALSO says.
"""
import os
import re
import sys
import tempfile

LAYERS = [
    ["include/fenchel"],
    ["src/simd"],                # hot loops, compiled for several instruction sets
    ["src/base"],
    ["src/kernel", "src/data", "src/loss", "src/penalty"],
    ["src/tensor"],
    ["src/solver"],
    ["src/feature"],
    ["src/promise"],
    ["src/model"],
    ["src", "src/svm"],          # the story: fit, certify, predict, select, plan; LIBSVM's own
]
# The tool is outside the house: it sees its own headers and the public ones.
CLI_MAY = ["cli", "include/fenchel"]
ALSO = {}

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)


def folder_of(path):
    return os.path.dirname(path)


def layer_of(folder):
    for height, folders in enumerate(LAYERS):
        if folder in folders:
            return height
    return None


def resolve(root, source, name):
    """The file that a quoted include means, relative to root; generated headers are public."""
    if name in ("fenchel/export.h", "fenchel/version.h"):
        return "include/" + name
    for base in (folder_of(source), "src", "include"):
        candidate = os.path.normpath(os.path.join(base, name))
        if os.path.exists(os.path.join(root, candidate)):
            return candidate
    return None


def allowed(source, target):
    here, there = folder_of(source), folder_of(target)
    if here == "cli":
        return there in CLI_MAY
    if here == there or there in ALSO.get(here, []):
        return True
    low, high = layer_of(there), layer_of(here)
    return low is not None and high is not None and low < high


def violations(root):
    found, seen = [], 0
    for top in ("include", "src", "cli"):
        for directory, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if not name.endswith((".c", ".h")):
                    continue
                source = os.path.relpath(os.path.join(directory, name), root)
                seen += 1
                with open(os.path.join(root, source), encoding="utf-8") as text:
                    for include in INCLUDE.findall(text.read()):
                        target = resolve(root, source, include)
                        if target is None:
                            found.append(f'{source} includes "{include}", which does not exist')
                        elif not allowed(source, target):
                            found.append(f"{source} includes {target}: that points upward or sideways")
    return found, seen


def self_test():
    """Planted includes: each wrong one must be caught, the right one must pass."""
    planted = [
        ("src/base/a.c", "model/model.h", False),
        ("src/kernel/a.c", "data/table.h", False),
        ("src/solver/a.c", "model/model.h", False),
        ("src/model/a.c", "story.h", False),
        ("cli/a.c", "../src/base/text.h", False),
        ("include/fenchel/a.h", "../../src/base/text.h", False),
        ("src/model/a.c", "base/text.h", True),
        ("src/fit.c", "solver/solver.h", True),
        ("cli/a.c", "fenchel/fenchel.h", True),
    ]
    headers = ["src/base/text.h", "src/data/table.h", "src/model/model.h", "src/story.h",
               "src/solver/solver.h", "include/fenchel/fenchel.h"]
    for source, include, fine in planted:
        with tempfile.TemporaryDirectory() as root:
            for path in headers + [source]:
                os.makedirs(os.path.join(root, folder_of(path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as text:
                    text.write(f'#include "{include}"\n' if path == source else "")
            found, _ = violations(root)
            if bool(found) == fine:
                sys.exit(f"self-test: {source} including {include} was judged wrongly: {found}")


def main():
    self_test()
    found, seen = violations(sys.argv[1])
    print("\n".join(found) or f"{seen} files, every include points down")
    sys.exit(1 if found or seen == 0 else 0)


main()
