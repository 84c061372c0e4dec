"""fenchel plan: predicted peak memory over the measured one, for given and searched parameters."""
import os

import measure

GIVEN = ["--gamma", "0.05", "--lambda", "1e-4"]
CASES = [(2000, GIVEN), (6000, GIVEN), (12000, GIVEN), (1200, []), (6000, []),
         (20000, ["--kernel", "linear"])]


def main():
    claim = measure.Claim("plan", "the predicted peak memory is within 15% of the measured one",
                          at_least=0.85, at_most=1.15)
    columns = {"rows": [], "options": [], "predicted MB": [], "measured MB": []}
    with measure.scratch() as directory:
        for rows, options in CASES:
            data, model = (os.path.join(directory, name) for name in ("data.csv", "model.fen"))
            measure.answer("generate", "friedman", "--rows", rows, "-o", data)
            planned = measure.answer("plan", data, *options)["peak_bytes"]
            spent = measure.cost(measure.TOOL, "fit", data, "-o", model, "--json", *options)
            columns["rows"].append(rows)
            columns["options"].append("given" if options is GIVEN else " ".join(options) or "auto")
            columns["predicted MB"].append(planned / 1e6)
            columns["measured MB"].append(spent["peak_bytes"] / 1e6)
    claim.judge(columns, measure.quotients(columns["predicted MB"], columns["measured MB"]),
                every=True)


main()
