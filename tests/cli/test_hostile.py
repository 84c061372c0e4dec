"""Names, labels and texts of a hostile file, and of the command line, through every command: no
control character reaches a terminal or a report, data keep their bytes, JSON stays JSON."""
import json
import os
import pty
import re
import subprocess
import sys
import xml.dom.minidom

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from tool import FENCHEL, ToolTest, unittest     # noqa: E402

ESC, CSI, TURN = b"\x1b[31m", "\u009b31m".encode(), "\u202e".encode()
BAD = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae\x8e\x8f]|\xe2\x81[\xa6-\xa9]")
NAMES = [b"a" + ESC, b"b" + CSI, "é日本".encode() + TURN, b"t\nfenchel: all is well", b"y" + ESC]
LABELS = [b"yes" + ESC, "no日".encode() + CSI]
TEXTS = [b"p" + ESC, b"q\nr" + TURN, b"s\x7f"]


def quoted(cell):
    return b'"' + cell + b'"'


class Hostile(ToolTest):
    def setUp(self):
        super().setUp()
        rows = [b",".join(map(quoted, NAMES))]
        labels = [rows[0]]
        for i in range(40):
            x = [b"%.15f" % ((i * k) % 13 / 3) for k in (1, 5, 7)]
            text = quoted(TEXTS[i % 3])
            rows.append(b",".join([*x, text, b"%d" % (i * i % 17)]))
            labels.append(b",".join([*x, text, quoted(LABELS[i * 7 % 13 > 6])]))
        self.write("r.csv", b"\n".join(rows) + b"\n")
        self.write("c.csv", b"\n".join(labels) + b"\n")

    def shown(self, *words, codes=(0,)):
        """What people read: free of what a terminal obeys, the lines the tool's own."""
        done = subprocess.run([FENCHEL, *words], cwd=self.folder, capture_output=True, timeout=120)
        print("$ fenchel", *map(ascii, words), flush=True)
        self.assertIn(done.returncode, codes, done.stderr)
        for text in (done.stdout, done.stderr):
            self.assertIsNone(BAD.search(text), text)
            self.assertNotIn(b"\nfenchel: all is well", text)
            text.decode()
        return done.stdout + done.stderr

    def test_reports_of_every_command(self):
        for data in ("r.csv", "c.csv"):
            said = self.shown("fit", data, "-o", "m.fen")
            self.assertIn(b"y\\u001b[31m", said)
            for words in (["predict", "m.fen", data, "-o", "p.csv"], ["info", "m.fen"],
                          ["verify", "m.fen", data], ["select", data], ["plan", data],
                          ["convert", data, "o.csv"]):
                self.shown(*words)
        linear = ["--penalty", "l1", "--kernel", "linear", "--lambda", "0.01"]
        said = self.shown("fit", "r.csv", "-o", "l.fen", *linear)
        self.assertIn("é日本\\u202e".encode(), said)
        self.shown("info", "l.fen")
        self.shown("path", "r.csv", "--penalty", "l1", "--plot", "p.svg")
        xml.dom.minidom.parseString(self.read("p.svg"))
        self.assertIsNone(BAD.search(self.read("p.svg")))
        self.shown("fit", "r.csv", "-o", "g.fen", "--penalty", "group:auto", "--kernel", "linear",
                   "--lambda", "0.01")
        self.shown("path", "r.csv", "--over", "lambda")

    def test_errors(self):
        self.write("cell.csv", self.read("r.csv") + b"1,2,x" + ESC + b",p,3\n")
        self.assertIn(b"\\u001b", self.shown("fit", "cell.csv", codes=(3,)))
        self.shown("fit", "r.csv", "--target", "y\x1b[31n", codes=(2, 3))
        self.shown("fit", "r.csv", "--text", "\x9b\udcff", codes=(2, 3))
        self.assertIn(b"\\u001b]0;x\\u0007\\u000afenchel: all is well",
                      self.shown("fit", "no\x1b]0;x\x07\nfenchel: all is well.csv", codes=(4,)))
        self.assertIn(b"\\xff", self.shown("fit", b"no\xff.csv", codes=(4,)))
        self.shown("\x1b[2J", codes=(2,))
        self.shown("fit", "r.csv", "--loss", "\x1b[2J", codes=(2,))
        self.write("bad.svm", b"1 1:2\n1 2:\x1b[31m\n")
        self.assertIn(b"\\u001b", self.shown("fit", "bad.svm", "--format", "svmlight", codes=(3,)))
        self.assertIn(b"\\u001b", self.shown("svm-train", "no\x1b[31m", codes=(1,)))
        self.write("groups", b"\x1b[31m,nothing\n")
        self.shown("fit", "r.csv", "--penalty", "group:groups", "--kernel", "linear", codes=(2, 3))

    def test_data_keep_their_bytes(self):
        self.shown("fit", "c.csv", "-o", "m.fen")
        out = subprocess.run([FENCHEL, "predict", "m.fen", "c.csv", "--quiet"], cwd=self.folder,
                             capture_output=True, timeout=120, check=True).stdout
        self.assertTrue(any(label in out for label in LABELS), out[:300])
        self.run_tool("convert", "r.csv", "o.csv")
        for name in NAMES + TEXTS:
            self.assertIn(name, self.read("o.csv"))

    def test_json_is_json(self):
        self.shown("fit", "c.csv", "-o", "m.fen")
        for words in (["info", "m.fen"], ["fit", "r.csv", "-o", "n.fen"], ["select", "r.csv"],
                      ["predict", "m.fen", "c.csv", "-o", "p.csv"]):
            said = json.loads(self.shown(*words, "--json"))
        said = json.loads(self.shown("info", "m.fen", "--json"))
        self.assertIn(NAMES[1].decode(), json.dumps(said, ensure_ascii=False))

    def test_a_terminal_gets_no_data_as_they_are(self):
        self.shown("fit", "c.csv", "-o", "m.fen")
        for words in (["predict", "m.fen", "c.csv"], ["convert", "r.csv", "-"]):
            mine, others = pty.openpty()
            with subprocess.Popen([FENCHEL, *words], cwd=self.folder, stdout=others,
                                  stderr=subprocess.DEVNULL) as tool:
                os.close(others)
                seen = b""
                try:
                    while piece := os.read(mine, 4096):
                        seen += piece
                except OSError:         # how the end of a terminal is told
                    pass
                os.close(mine)
                self.assertEqual(tool.wait(), 0)
            self.assertIn(b"\\u001b[31m", seen)
            self.assertIsNone(BAD.search(seen.replace(b"\r\n", b"\n")), seen[:300])


if __name__ == "__main__":
    unittest.main()
