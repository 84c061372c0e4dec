"""l^p penalties with tensor kernels: what the packed tensor saves in memory and in time, an
exponential kernel at 1000 rows, and the iterations of the default solver beside the paper's."""
import itertools
import json
import os
import statistics
import subprocess
import sys

import measure
import tensor_paper as paper

SIZES, RUNS, SEEDS = (60, 90, 120), 5, (1, 2, 3)
ROWS, GAMMA = 1000, 10.0


# ---- the packed tensor ------------------------------------------------------------------------

def packed():
    """Bytes and one gradient, beside the whole tensor as an n^2 x n^2 matrix. 10 inputs: the
    tensor has the same size and shape for any number of them."""
    bytes_claim = measure.Claim("tensor, bytes", "packed, q = 4, the tensor takes at most a 20th "
                                "of n^4 doubles, n = 60, 90, 120", at_least=20)
    sizes, saved = [], []
    for rows in SIZES:
        worker = measure.Worker("tensor", rows, 10, 1)
        sizes.append(worker("bytes"))
        saved.append(8 * rows ** 4 / sizes[-1])
        ours, whole, pairs = measure.alternate(worker, RUNS, lambda: worker("packed"),
                                               lambda: worker("gemv"), lambda: worker("pairs"))
        worker.close()
        measure.Claim(f"tensor / gemv, {rows}", f"a gradient out of the packed tensor, n = {rows}, "
                      "is at least 4 times faster than by the n^2 x n^2 matrix", at_least=4).judge(
            {"packed ms": [1e3 * t for t in ours], "gemv ms": [1e3 * t for t in whole],
             "pairs ms": [1e3 * t for t in pairs]}, measure.quotients(whole, ours), rows=rows,
            pairs=statistics.median(measure.quotients(pairs, ours)))
    bytes_claim.judge({"rows": list(SIZES), "MB": [size / 1e6 for size in sizes]}, saved,
                      every=True, unit="times less")


def with_and_without():
    """Iterations of our solvers at the sizes of Table 2, out of the tensor and of the features;
    and one gradient alone, also by two products with the features, as the paper has it. Our own
    route reads the features once and not twice: its ratio is half of that to the products."""
    worker = measure.Worker("tensor", 90, 650, 1)
    once = [f"{1e3 * statistics.median(seconds):.3g} ms by {name}"
            for name, seconds in zip(("the tensor", "features", "two products"), measure.alternate(
                worker, RUNS, lambda: worker("packed"), lambda: worker("features"),
                lambda: worker("products")))]
    print("\none gradient, n = 90, d = 650, degree 2: " + ", ".join(once))
    jobs = [f"{solver} {route}" for solver in ("gradient", "newton")
            for route in ("packed", "features")]
    seconds = dict(zip(jobs, measure.alternate(worker, RUNS,
                                               *(lambda job=job: worker(job) for job in jobs))))
    worker.close()
    for solver in ("gradient", "newton"):
        fast, slow = seconds[f"{solver} packed"], seconds[f"{solver} features"]
        measure.Claim(f"tensor / features, {solver}", f"an iteration of lp-{solver} with the "
                      "tensor, n = 90, d = 650, degree 2, is at least 8 times faster than with the "
                      "211575 features", at_least=8).judge(
            {"packed ms": [1e3 * t for t in fast], "features ms": [1e3 * t for t in slow]},
            measure.quotients(slow, fast))


# ---- 1000 rows --------------------------------------------------------------------------------

def thousand_rows():
    """The exponential kernel: 42 billion distinct entries, so the low-rank route."""
    path = os.path.join(measure.DATA, "concrete.csv")
    if not os.path.exists(path):
        print(f"SKIPPED: {path} is not there; name its directory in FENCHEL_DATA")
        return
    with measure.scratch() as directory:
        part, model = (os.path.join(directory, name) for name in ("part.csv", "model.fen"))
        with open(path, encoding="utf-8") as file, open(part, "w", encoding="utf-8") as out:
            out.writelines(itertools.islice(file, ROWS + 1))
        spent = measure.cost(measure.TOOL, "fit", part, "-o", model, "--penalty", "lp:4/3",
                             "--kernel", "tensor-exponential", "--memory", "4G",
                             "--lambda", f"{2 / (ROWS * GAMMA * 4 / 3):.17g}", "--json")
    if spent["code"] not in (0, 1):
        sys.exit(f"fenchel fit ended with {spent['code']}")
    facts = json.loads(spent["stdout"])
    print(f"\nconcrete.csv, first {ROWS} rows, tensor-exponential, p = 4/3: {facts['method']}, "
          f"{spent['seconds']:.0f} s, relative gap {facts['relative_gap']:.2g} "
          f"({facts['verdict']}), predictions of the training rows within "
          f"{facts['prediction_error']:.2g} of the certified ones")
    measure.Claim("tensor 1000 rows, GB", "fit with an exponential kernel, 1000 rows, q = 4: peak "
                  "below 4 GB", at_most=4).judge({"seconds": [spent["seconds"]]},
                                                 [spent["peak_bytes"] / 1e9], unit="GB")
    measure.Claim("tensor 1000 rows, gap", "and its relative gap, for the kernel as it is, is at "
                  "most 1e-6", at_most=1e-6).judge(
        {}, [facts["relative_gap"]], unit="gap", verdict=facts["verdict"],
        prediction_error=facts["prediction_error"])


# ---- iterations -------------------------------------------------------------------------------

def iterations(sizes, p, solvers):
    """Counts to a relative gap of 1e-8, one list per solver."""
    out = []
    for seed in SEEDS:
        command = [measure.program("lp"), sizes["rows"], sizes["columns"], sizes["relevant"],
                   f"{p:.17g}", sizes["kernel"], 1, seed, 1, *solvers]
        done = subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE,
                              check=True, env={**os.environ, **measure.WAITING})
        found = [json.loads(line) for line in done.stdout.splitlines()[1:]]
        if any(one["true_gap"] > 1e-8 for one in found):
            sys.exit(f"{command}: a gap above 1e-8")
        out.append([one["iterations"] for one in found])
    return [list(column) for column in zip(*out)]


def half_the_iterations():
    cases = [(f"p = {name}", paper.TABLE1_SIZES, p, printed)
             for (name, p), printed in zip(paper.POWERS, paper.ITERATIONS)]
    cases.append(("Table 2", paper.TABLE2_SIZES, 4 / 3, paper.TABLE2["with"][1]))
    for name, sizes, p, printed in cases:
        ours, = iterations(sizes, p, ["lp-newton"])
        measure.Claim(f"tensor, steps, {name}", "the default solver needs at most half of the "
                      f"{printed} iterations that the paper prints, to a relative gap of 1e-8 "
                      f"({name}, seeds {', '.join(map(str, SEEDS))})", at_most=0.5).judge(
            {"seed": list(SEEDS), "lp-newton": ours}, [count / printed for count in ours],
            printed=printed)


def main():
    packed()
    with_and_without()
    half_the_iterations()
    thousand_rows()


main()
