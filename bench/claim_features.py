"""Random features streamed from a file of 515345 rows and 90 inputs: memory, and the time beside
the arithmetic alone."""
import os

import numpy

import measure

ROWS, INPUTS, COLUMNS, RUNS = 515345, 90, 300, 5
SETTING = ("--gamma", "mean", "--lambda", "1e-5", "--approx", f"fourier:{COLUMNS}")


def make(path):
    """An array on the disk, written in pieces; four digits, so that the CSV has the usual size."""
    random = numpy.random.default_rng(1)
    out = numpy.lib.format.open_memmap(path, mode="w+", dtype="<f8", shape=(ROWS, INPUTS + 1))
    for first in range(0, ROWS, 65536):
        x = random.standard_normal((min(65536, ROWS - first), INPUTS))
        y = (numpy.sin(x[:, 0]) + x[:, 1] * x[:, 2] + 0.1 * x[:, 3:].sum(axis=1)
             + random.standard_normal(len(x)))
        out[first:first + len(x)] = numpy.round(numpy.column_stack([x, y]), 4)
    out.flush()


def peak(claim, name, path, directory):
    """Peak memory of the command, and whether the certificate holds on the streamed file."""
    model = os.path.join(directory, "model.fen")
    costs = [measure.cost(measure.TOOL, "fit", path, "-o", model, *SETTING) for _ in range(2)]
    if not measure.answer("verify", model, path)["holds"]:
        raise SystemExit(f"the certificate of the model of {path} does not hold")
    claim.judge({f"{name} s": [one["seconds"] for one in costs]},
                [one["peak_bytes"] / 1e6 for one in costs], every=True, unit="MB")


def main():
    limit = measure.Claim("features / limit", "fit --approx fourier:300, 515345 x 90 from npy, "
                          "takes at most 1.5 times GEMM + sincos + dsyrk alone", at_most=1.5)
    memory = {name: measure.Claim(f"features memory, {name}", f"the same from {name}: peak below "
                                  "300 MB", at_most=300) for name in ("npy", "csv")}
    with measure.scratch() as directory:
        paths = {name: os.path.join(directory, "train." + name) for name in memory}
        make(paths["npy"])
        measure.cost(measure.TOOL, "convert", paths["npy"], paths["csv"])
        for name, claim in memory.items():
            peak(claim, name, paths[name], directory)
        os.remove(paths["csv"])
        worker = measure.Worker("features", paths["npy"], COLUMNS, "mean", "1e-5")
        ours, bare, reading = measure.alternate(worker, RUNS, lambda: worker("fit"),
                                                lambda: worker("limit"), lambda: worker("read"))
        worker.close()
    limit.judge({"fenchel s": ours, "limit s": bare, "reading s": reading},
                measure.quotients(ours, bare))


main()
