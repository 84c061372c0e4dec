"""Vectors wider than the baseline's travel in registers that code compiled for the baseline does not
have: such a call passes them elsewhere, and a callee compiled for them reads what nobody wrote. So
whole files are compiled for a level, all of them in src/simd; elsewhere nothing names an instruction
set, calls SLEEF or makes a vector. What is left, a vector argument in src/simd at a level that lacks
it, the compilers refuse: -Wpsabi is an error and nobody may turn it off."""
import os
import re
import sys

KERNELS = "src/simd/"
FOR_A_LEVEL = re.compile(r"__attribute__\s*\(\(\s*(?:__)?target|#\s*pragma\s+(?:GCC|clang)\s+"
                         r"(?:target|attribute)|\btarget(?:_clones)?\s*\(\s*\"")
VECTORS = re.compile(r"\b__m(?:128|256|512)[di]?\b|\b_mm(?:256|512)?_\w+|\bSleef_\w+|"
                     r"\bvector_size\b|\bfloat64x2_t\b|<(?:sleef|\w*intrin|arm_neon|arm_sve)\.h>")
SILENCED = re.compile(r"-Wno-(?:error=)?psabi|-march=|\bWpsabi\b.*ignored|ignored.*\bWpsabi\b")

# what each rule must find, the first being the declaration that once zeroed half of all lanes
FOUND = ((FOR_A_LEVEL, '__attribute__((target("avx2"))) static void four(const double *x)'),
         (VECTORS, "extern __m256d Sleef_sind4_u10avx2(__m256d);"),
         (VECTORS, "typedef double eight __attribute__((vector_size(64)));"),
         (SILENCED, "set_source_files_properties(smo.c PROPERTIES COMPILE_OPTIONS -Wno-psabi)"))


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", lambda found: "\n" * found.group().count("\n"), text,
                  flags=re.S)


def files(root):
    yield from ("CMakeLists.txt", "CMakePresets.json")
    for top in ("bench", "cli", "cmake", "examples", "include", "src", "tests"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            yield from (os.path.relpath(os.path.join(folder, name), root) for name in names)


def rules_of(path):
    if path.endswith((".c", ".h")):
        yield FOR_A_LEVEL, "is compiled for a level in part; whole files are, in " + KERNELS
        if not path.startswith(KERNELS):
            yield VECTORS, "names vectors of a processor outside " + KERNELS
        yield SILENCED, "silences -Wpsabi"
    elif path.endswith((".txt", ".cmake", ".json", ".in")):
        yield SILENCED, "silences -Wpsabi, or builds for one processor alone"


def main():
    root = sys.argv[1]
    for rule, example in FOUND:
        assert rule.search(example), example
    wrong, count = [], 0
    for path in files(root):
        rules = list(rules_of(path))
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            text = without_comments(file.read()) if rules else ""
        for number, line in enumerate(text.split("\n"), 1):
            wrong += [f"{path}:{number}: {why}: {line.strip()}" for rule, why in rules
                      if rule.search(line)]
        count += bool(rules)
    print("\n".join(wrong) or f"{count} files")
    sys.exit(1 if wrong or not count else 0)


main()
