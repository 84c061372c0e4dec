"""House rules that a script can see: what the library may not call, how long a file may be,
one version number, and no path of somebody's machine in a tracked file."""
import os
import re
import subprocess
import sys

# name -> why not; the tool may print and exit, the library may not
FORBIDDEN = {
    "rand": "randomness comes from the seed", "srand": "randomness comes from the seed",
    "random": "randomness comes from the seed", "setlocale": "the locale belongs to the program",
    "getenv": "the library does not read the environment",
    "printf": "the library does not print", "vprintf": "the library does not print",
    "puts": "the library does not print", "perror": "the library does not print",
    "putchar": "the library does not print", "exit": "the library returns a status",
    "abort": "the library returns a status", "_exit": "the library returns a status",
}
STREAMS = re.compile(r"\b(stdout|stderr|stdin)\b")
LINES = 500
MACHINE = re.compile(r"(?<![\w.$}])/(?:work|home|Users|root|mnt|tmp)/\w")


def without_comments(text):
    """Comments and strings become blanks of the same length in lines."""
    pattern = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
    return pattern.sub(lambda found: "\n" * found.group().count("\n") or " ", text)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as text:
        return text.read()


def sources(root, *tops):
    for top in tops:
        for directory, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    yield os.path.relpath(os.path.join(directory, name), root)


def forbidden_calls(path, text):
    code = without_comments(text)
    for number, line in enumerate(code.split("\n"), 1):
        for name in re.findall(r"(?<![\w.>])(\w+)\s*\(", line):
            if name in FORBIDDEN:
                yield f"{path}:{number}: calls {name}: {FORBIDDEN[name]}"
        if STREAMS.search(line):
            yield f"{path}:{number}: uses a standard stream: the library does not print"


def version_places(root, tracked):
    """project(VERSION) is the only place; the changelog and its tests may name it in words."""
    version = re.search(r"project\(fenchel VERSION ([0-9.]+)", read(root, "CMakeLists.txt")).group(1)
    pattern = re.compile(r"(?<![\d.])" + re.escape(version) + r"(?![\d.])")
    for path in tracked:
        if path in ("CMakeLists.txt", "CHANGELOG.md") or not path.endswith(
                (".c", ".h", ".in", ".cmake", ".py", ".sh", ".txt", ".json")):
            continue
        if pattern.search(read(root, path)):
            yield f"{path}: names version {version}; it stands in CMakeLists.txt alone"


def self_test():
    """Each rule must catch its own violation and leave the harmless look-alike alone."""
    bad = "int f(void) { return rand(); }\nvoid g(void) { fputs(s, stderr); }\n"
    good = '/* no rand() here */ void f(void) { snprintf(b, 9, "exit(1)"); text.rand(0); }\n'
    if len(list(forbidden_calls("a.c", bad))) != 2 or list(forbidden_calls("a.c", good)):
        sys.exit("self-test: the rule about calls does not work")
    if not MACHINE.search("see /" + "work/thing") or MACHINE.search("network/thing"):
        sys.exit("self-test: the rule about machine paths does not work")


def main():
    self_test()
    root = sys.argv[1]
    found = []
    for path in sources(root, "src"):
        found += forbidden_calls(path, read(root, path))
    for path in sources(root, "src", "cli", "include"):
        lines = read(root, path).count("\n")
        if lines >= LINES:
            found.append(f"{path}: {lines} lines; {LINES} is the limit, split it")
    listed = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True,
                            check=False)
    tracked = [path for path in listed.stdout.splitlines() if os.path.exists(os.path.join(root, path))]
    for path in tracked:
        for number, line in enumerate(read(root, path).split("\n"), 1):
            if MACHINE.search(line):
                found.append(f"{path}:{number}: names a path of one machine: {line.strip()[:80]}")
    found += version_places(root, tracked)
    print("\n".join(found) or f"{len(tracked)} tracked files follow the rules")
    if listed.returncode != 0 and not found:
        print("SKIPPED: not a git checkout, so only the sources were looked at")
        sys.exit(77)
    sys.exit(1 if found else 0)


main()
