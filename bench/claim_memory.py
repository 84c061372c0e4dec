"""Peak memory of an exact fit beyond the process that holds the data, in units of 8 n^2 bytes."""
import json
import os
import subprocess

import numpy

import measure

ROWS, RUNS = 6000, 3


def main():
    claim = measure.Claim("memory", "the peak of fen_fit beyond the data is at most 1.15 times "
                          "8 n^2 bytes", at_most=1.15)
    before, peak, ratio = [], [], []
    with measure.scratch() as directory:
        path = os.path.join(directory, "train.npy")
        numpy.save(path, numpy.column_stack(measure.friedman(ROWS, 1)))
        for _ in range(RUNS):
            done = subprocess.run([measure.program("memory"), path, "0.05", "1e-4"], text=True,
                                  stdout=subprocess.PIPE, check=True)
            facts = json.loads(done.stdout)
            before.append(facts["before_bytes"] / 1e6)
            peak.append(facts["peak_bytes"] / 1e6)
            ratio.append((facts["peak_bytes"] - facts["before_bytes"]) / (8 * ROWS ** 2))
    claim.judge({"before MB": before, "peak MB": peak}, ratio)


main()
