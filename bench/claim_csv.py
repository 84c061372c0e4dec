"""Reading a numeric CSV file of more than 100 MB, 12 columns, against pandas' C engine.

Two files: six digits as people round them, and the 16 or 17 digits that programs write."""
import os

import numpy
import pandas

import measure

COLUMNS, BYTES, RUNS = 12, 110e6, 5
STYLES = {"6 digits": "%.6g", "17 digits": None}


def write(path, style):
    """Whole tables appended until the file is long enough."""
    random, first = numpy.random.default_rng(1), True
    while first or os.path.getsize(path) < BYTES:
        table = pandas.DataFrame(random.standard_normal((50000, COLUMNS)) * 100,
                                 columns=[f"x{j}" for j in range(COLUMNS)])
        table.to_csv(path, mode="w" if first else "a", header=first, index=False,
                     float_format=style)
        first = False


def main():
    for name, style in STYLES.items():
        claim = measure.Claim(f"csv, {name}", "fen_table_read is at least 2 times faster than "
                              "pandas.read_csv(engine='c')", at_least=2)
        with measure.scratch() as directory:
            path = os.path.join(directory, "numbers.csv")
            write(path, style)
            size = os.path.getsize(path) / 1e6
            worker = measure.Worker("csv", path)
            ours, theirs = measure.alternate(
                worker, RUNS, lambda: worker("read"),
                lambda: measure.stopwatch(lambda: pandas.read_csv(path, engine="c")))
            worker.close()
        claim.judge({"fenchel s": ours, "pandas s": theirs,
                     "fenchel MB/s": [size / s for s in ours]}, measure.quotients(theirs, ours))


main()
