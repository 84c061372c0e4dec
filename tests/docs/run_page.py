"""Runs every "$ command" of a Markdown page, in order, in a fresh folder that holds a copy of
examples/ and nothing else, and compares what is printed (both streams) with what the page shows
below the command.

Words count, not the blanks and line ends between them. A line "..." stands for anything. A
command whose last line is an error ("fenchel: ...") must fail, all others must end with 0. What a
page says holds on every processor, so numbers are compared as follows.

    whole numbers             the same
    before a unit             any number: times (h, min, s, ms, us) and sizes (B, kB, MB, GB, TB)
                              depend on the machine
    two digits and 1e-6 or    a gap or its like, what rounding and the last step leave: at most
    less, such as 3.4e-09;    ten times the number shown, or 1e-9 (docs/certificate.md: below
    0 where that is found     that a gap means no more)
    all others                to one unit in the last digit printed, and to at most six
                              significant digits

Usage: run_page.py PAGE.md, with the tool's path in the variable FENCHEL."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

FENCHEL = os.path.abspath(os.environ["FENCHEL"])
EXAMPLES = os.path.join(os.path.dirname(__file__), "..", "..", "examples")
NUMBER = r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w])"
UNITS = {"time": r"(?:h|min|s|ms|us)\b", "size": r"(?:B|kB|MB|GB|TB)\b"}
MEASURED = {kind: rf"{NUMBER}\s+{unit}(?:\s+\d+\s+{unit})*" for kind, unit in UNITS.items()}
TOKEN = re.compile("|".join([*MEASURED.values(), NUMBER, r"\w+", r"\S"]))
ANYTHING = "..."


def commands_of(page):
    """[(line number, command, lines shown)] of the indented and fenced blocks of a page."""
    found, fenced = [], False
    for number, line in enumerate(page.splitlines(), 1):
        if line.startswith("```"):
            fenced, line = not fenced, None
        elif not fenced:
            line = line[4:] if line.startswith("    ") else "" if not line.strip() else None
        if line is not None and line.startswith("$ "):
            found.append((number, line[2:], []))
        elif line is None:
            found.append((number, None, []))        # prose and fences end a block
        elif found:
            found[-1][2].append(line)
    return [one for one in found if one[1] is not None]


def last_place(number):
    mantissa, _, exponent = number.partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def agree(shown, found):
    """Whether two tokens are the same, numbers as far as digits hold everywhere."""
    if shown == found:
        return True
    for pattern in MEASURED.values():
        if re.fullmatch(pattern, shown) or re.fullmatch(pattern, found):
            return bool(re.fullmatch(pattern, shown) and re.fullmatch(pattern, found))
    if not re.fullmatch(NUMBER, shown) or not re.fullmatch(NUMBER, found):
        return False
    x, y = float(shown), float(found)
    if shown == "0" and "e-" in found or 0 < x <= 1e-6 and re.match(r"\d\.\de", shown):
        return 0 <= y <= max(10 * x, 1e-9)
    if "." not in shown and "." not in found:
        return False
    return abs(x - y) <= 1.001 * max(min(last_place(shown), last_place(found)), 1e-6 * abs(x))


def begins(found, part):
    return len(found) >= len(part) and all(map(agree, part, found))


def same(shown, found):
    """Whether the tokens found are those shown, with anything in the place of a line "..."."""
    parts = [[]]
    for line in shown:
        if line.strip() == ANYTHING:
            parts.append([])
        else:
            parts[-1].append(line)
    parts = [TOKEN.findall("\n".join(part)) for part in parts]
    found = TOKEN.findall("\n".join(found))
    first, *others = parts
    if not begins(found, first):
        return False
    found = found[len(first):]
    if not others:
        return not found
    for part in others[:-1]:
        while found and not begins(found, part):
            found = found[1:]
        if len(found) < len(part):
            return False
        found = found[len(part):]
    return len(found) >= len(others[-1]) and begins(found[len(found) - len(others[-1]):], others[-1])


def stripped(lines):
    lines = [line.rstrip() for line in lines]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def run_page(path):
    """The number of commands that did what the page says, and of all."""
    with open(path, encoding="utf-8") as file:
        commands = commands_of(file.read())
    folder = tempfile.mkdtemp(prefix="fenchel-page-")
    shutil.copytree(EXAMPLES, os.path.join(folder, "examples"))
    environment = {**os.environ, "LC_ALL": "C",
                   "PATH": os.path.dirname(FENCHEL) + os.pathsep + os.environ["PATH"]}
    good = 0
    for number, command, shown in commands:
        done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, timeout=600,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        shown, found = stripped(shown), stripped(done.stdout.decode().splitlines())
        refused = bool(shown) and shown[-1].startswith("fenchel: ")
        right = same(shown, found) and refused == (done.returncode != 0)
        good += right
        print(f"{path}:{number}: $ {command}")
        if not right:
            print("the page shows\n", *("    " + line + "\n" for line in shown),
                  f"but it printed, with exit code {done.returncode}\n",
                  *("    " + line + "\n" for line in found), sep="")
    shutil.rmtree(folder)
    return good, len(commands)


if __name__ == "__main__":
    good, count = run_page(sys.argv[1])
    print(f"{good} of {count} commands do what the page says")
    sys.exit(good != count)
