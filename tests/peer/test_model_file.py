"""docs/model-file.md is enough to predict: the page's own NumPy against the tool, and every key of
the preparation stands in it."""
import json
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from peer import PeerTest, numpy, read_model  # noqa: E402

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "model-file.md")
with open(PAGE, encoding="utf-8") as file:
    TEXT = file.read()


def page_code():
    blocks = [block.split("```")[0] for block in TEXT.split("```python\n")[1:]]
    assert len(blocks) == 1, "the page has one program"
    names = {}
    exec(compile(blocks[0], PAGE, "exec"), names)
    return names


class ModelFile(PeerTest):
    def write_rows(self, name, seed, rows=90):
        draw = random.Random(seed)
        lines = ["age;city;flat;income;rooms;y"]
        for _ in range(rows):
            age, city = draw.uniform(20, 70), draw.choice(["rome", "oslo", "", "NA", "a, b"])
            income = draw.choice(["-999", "", f"{draw.gauss(50, 9):.3f}"])
            rooms = draw.choice(["?", "2"])                  # constant where it is there
            lines.append(f"{age:.3f};{city};7;{income};{rooms};{age / 10 + len(city):.3f}")
        return self.write(name, "\n".join(lines) + "\n")

    def test_the_program_of_the_page(self):
        self.write_rows("train.csv", 1)
        self.write_rows("new.csv", 2)
        code = page_code()
        for options in (("--kernel", "gaussian", "--gamma", "0.2"), ("--kernel", "linear"),
                        ("--penalty", "l1"), ("--loss", "eps:0.5", "--gamma", "0.2"),
                        ("--gamma", "0.2", "--scale", "range", "--target", "y,age")):
            self.run_tool("fit", "train.csv", "--missing=-999,NA,?", "--lambda", "1e-2", "--quiet",
                          *options)
            inputs = json.loads(read_model(self.path("train.fen"))[0]["preparation"])["inputs"]
            self.assertTrue(any("gaps" in one for one in inputs))
            self.assertTrue(any("levels" in one for one in inputs))
            self.assertTrue(any(one.get("constant") and one.get("gaps") for one in inputs))
            told = self.run_tool("predict", "train.fen", "new.csv", "--json").json["predictions"]
            told = numpy.array(told, float).reshape(len(told), -1)
            found = code["predict"](self.path("train.fen"), self.path("new.csv"))
            self.assertLess(numpy.abs(found - told).max(), 1e-9 * numpy.abs(told).max())

    def test_every_key_is_in_the_page(self):
        self.write_rows("csv.csv", 1)
        self.write("svm.svm", "".join(f"{i % 5} 1:{i} 3:{i % 3}\n" for i in range(30)))
        self.write("class.csv", "a,w,k\n" + "".join(f"{i},1,{'ab'[i % 2]}\n" for i in range(30)))
        fits = (("csv.csv",), ("svm.svm",), ("class.csv", "--weights", "w", "--target", "k"),
                ("csv.csv", "--penalty", "l1", "--no-bias", "--scale", "none"))
        keys = set()
        for name, *options in fits:
            self.run_tool("fit", name, "--lambda", "1e-2", "--quiet", "--task", "auto", *options)
            text = read_model(self.path(name[:3] + name[3:].split(".")[0] + ".fen"))[0]["preparation"]
            prepared = json.loads(text)
            keys |= set(prepared) | set(prepared.get("reading", {}))
            keys |= {key for one in prepared["inputs"] for key in one}
        self.assertLessEqual({"classes", "weights", "reading", "index_base", "range"}, keys)
        for key in sorted(keys):
            self.assertIn(f"`{key}`", TEXT)


if __name__ == "__main__":
    unittest.main()
