"""Ten folds along 100 lambdas and the fit at the best one, against cv.glmnet and LassoCV.

The problem is "lasso tall" of claim_lasso.py: 20000 rows, 500 correlated columns, the same lambdas
for everybody, and the job is the whole way from a matrix in memory to the chosen model. glmnet and
scikit-learn work at their default tolerances, which is all that folds need; ours ends with a
certificate. Folds differ, and with them the last digits of the choice."""
import os
import sys

import lasso_problem
import measure

RUNS = 5
TARGETS = {"glmnet": 2, "LassoCV": 2}


class Peer(measure.Worker):
    """A peer of claim_lasso.py, which answers with two times."""

    def __init__(self, label, job, command, environment):
        self.label, self.job = label, job
        self.start(command, **environment)

    def __call__(self):
        self.process.stdin.write(self.job + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline().split()[0])


def peers(folder):
    python = [sys.executable, "-B", os.path.join(measure.BENCH, "lasso_peer.py"), folder, "LassoCV"]
    elsewhere = os.environ.get("FENCHEL_PEERS")
    yield Peer("glmnet", "folds 1e-7", ["Rscript", os.path.join(measure.BENCH, "glmnet_peer.R"),
                                        folder], {})
    yield Peer("LassoCV", "LassoCV 1e-4", python, {})
    if elsewhere:
        yield Peer("LassoCV newer", "LassoCV 1e-4", python, {"PYTHONPATH": elsewhere})


def main():
    problem = lasso_problem.dense("lasso folds", 20000, 500, 1e-3)
    first, last = problem.lambdas[[0, -1]].tolist()
    with measure.scratch() as folder:
        ours = measure.Worker("settings", problem.write(folder), "penalty=l1", "scale=standard",
                              "select=kfold:10",
                              f"lambda={last!r}:{first!r}:{lasso_problem.LAMBDAS}")
        rivals = list(peers(folder))
        seconds = measure.alternate([ours, *rivals], RUNS, lambda: ours(""), *rivals, patience=2)
        for rival, theirs in zip(rivals, seconds[1:]):
            least = TARGETS[rival.label.split()[0]]
            measure.Claim(f"folds, {rival.label}", f"ten folds, {lasso_problem.LAMBDAS} lambdas, "
                          f"{problem.rows} rows, {problem.columns} columns: at least {least:g} "
                          f"times faster than {rival.label}", at_least=least).judge(
                              {"theirs s": theirs, "ours s": seconds[0]},
                              measure.quotients(theirs, seconds[0]))
        for one in (ours, *rivals):
            one.close()


main()
