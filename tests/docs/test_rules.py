"""What run_page.py takes for the same, and what not."""
import os
import unittest

os.environ.setdefault("FENCHEL", "fenchel")
from run_page import agree, commands_of, same  # noqa: E402

PAGE = """Words.

    $ first
    shown

    more of it
    $ second

```
$ third
x
```
    not of it
"""


class Rules(unittest.TestCase):
    def test_numbers(self):
        for shown, found, expected in (
                ("1.173", "1.174", True), ("1.173", "1.175", False), ("1.44", "1.441", True),
                ("1.44", "1.449", False), ("0.686196683", "0.686196999", True),
                ("0.68619", "0.68629", False), ("17", "17", True), ("17", "18", False),
                ("1", "0.9999", True), ("1e-08", "1e-07", False), ("2.164e-07", "2.165e-07", True),
                ("2.164e-07", "2.17e-07", False), ("-3.2", "3.2", False), ("4281.2", "4281.4", False),
                ("3.4e-08", "9e-08", True), ("3.4e-08", "4e-07", False), ("3.4e-08", "0", True),
                ("3.4e-15", "8.1e-13", True), ("3.4e-15", "8.1e-09", False), ("0", "2e-16", True),
                ("0", "2e-08", False), ("0", "1", False), ("0.3 s", "14 ms", True),
                ("1 min 42 s", "9.1 s", True), ("12 MB", "1.1 GB", True), ("12 MB", "12 s", False),
                ("12 MB", "12", False), ("x1", "x2", False), ("holds", "fails", False)):
            with self.subTest(shown=shown, found=found):
                self.assertEqual(agree(shown, found), expected)

    def test_texts(self):
        for shown, found, expected in (
                (["a  b", "c"], ["a b c"], True), (["a b"], ["ab"], False), (["a"], ["a", "b"], False),
                (["a", "..."], ["a", "b"], True), (["...", "b"], ["a", "b"], True),
                (["...", "b", "...", "d"], ["a", "b", "c", "d"], True), (["..."], [], True),
                (["...", "d", "...", "b"], ["a", "b", "c", "d"], False), (["a"], [], False),
                (["...", "a", "..."], ["b"], False), (["in 2.1 s and 87", "MB"],
                                                      ["in 12 ms and 9.3 MB"], True)):
            with self.subTest(shown=shown, found=found):
                self.assertEqual(same(shown, found), expected)

    def test_commands(self):
        self.assertEqual(commands_of(PAGE), [(3, "first", ["shown", "", "more of it"]),
                                             (7, "second", [""]), (10, "third", ["x"])])


if __name__ == "__main__":
    unittest.main()
