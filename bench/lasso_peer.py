"""Peers of claim_lasso.py that are called from Python: scikit-learn, celer, skglm.

    lasso_peer.py FOLDER      jobs: TOOL TOLERANCE [FILE]

FOLDER is what lasso_problem.Problem.write has left. A job fits the whole path and answers with its
seconds; with FILE the coefficients (columns x lambdas, by columns) are written there, outside the
clock, and dual points, where the tool has them, into FILE.dual. An empty line lists the tools that
are here, with their versions. The path starts from data in memory, arranged as the tool wants
them; centring, where the tool leaves it to the caller, is within the clock, compiling is not."""
import importlib
import json
import os
import sys
import time
import warnings

import numpy
import scipy.sparse

warnings.filterwarnings("ignore")       # "did not converge": the gap is measured anyway


class Data:
    def __init__(self, folder):
        with open(os.path.join(folder, "facts.json"), encoding="ascii") as file:
            self.__dict__ |= json.load(file)
        read = lambda name, kind="f8": numpy.fromfile(os.path.join(folder, name), kind)
        self.y, self.lambdas = read("y"), read("lambda")
        if self.sparse:
            self.x = scipy.sparse.csc_matrix((read("value"), read("row", "i4"),
                                              read("start", "i4")), (self.rows, self.columns))
        else:
            self.x = read("x").reshape(self.columns, self.rows).T
        # everyone else has half of the square
        self.alphas = self.lambdas / 2 if self.loss == "square" else self.lambdas
        self.alphas = numpy.ascontiguousarray(self.alphas)

    def centred(self):
        """What a path without an intercept needs to have one: arguments x, y and offsets."""
        y = self.y - self.y.mean()
        mean = numpy.asarray(self.x.mean(0)).ravel()
        if self.sparse:
            return self.x, y, {"X_offset": mean, "X_scale": numpy.ones(self.columns)}
        return self.x - mean, y, {}

    def row_groups(self):
        return [list(range(j, j + self.group)) for j in range(0, self.columns, self.group)]


def sklearn_path(data, tolerance):
    if data.loss == "logistic":
        return sklearn_logistic(data, tolerance)
    from sklearn.linear_model import lasso_path
    x, y, offsets = data.centred()
    return lasso_path(x, y, alphas=data.alphas, tol=tolerance, max_iter=1000000, **offsets)[1]


def sklearn_logistic(data, tolerance):
    """SAGA with warm starts: the only solver here that has l1 and an unpenalised intercept."""
    from sklearn.linear_model import LogisticRegression
    model = LogisticRegression(penalty="l1", solver="saga", tol=tolerance, warm_start=True,
                               max_iter=200, random_state=0)
    beta = []
    for alpha in data.alphas:
        beta.append(model.set_params(C=1 / (data.rows * alpha)).fit(data.x, data.y).coef_[0].copy())
    return numpy.array(beta).T


def celer_path(data, tolerance):
    from celer import celer_path as path
    settings = {"tol": tolerance, "max_iter": 1000, "max_epochs": 100000, "return_thetas": True}
    if data.loss == "logistic":         # has no intercept: the easier problem without one
        return path(data.x, data.y, "logreg", alphas=data.alphas * data.rows, use_PN=True,
                    **settings)[1::2]
    x, y, offsets = data.centred()
    if data.group > 1:
        weights = numpy.full(data.columns // data.group, numpy.sqrt(data.group))
        return path(x, y, "grouplasso", alphas=data.alphas, groups=data.group, weights=weights,
                    **settings)[1::2]
    return path(x, y, "lasso", alphas=data.alphas, prune=1, **settings, **offsets)[1::2]


def skglm_path(data, tolerance):
    """skglm stops on the largest violation of a condition: tolerance is that, over the largest
    alpha."""
    from skglm.datafits import Logistic, Quadratic
    from skglm.penalties import L1
    from skglm.solvers import AndersonCD, ProxNewton
    tolerance *= data.alphas[0]
    if data.group > 1:
        return skglm_groups(data, tolerance)
    if data.loss == "logistic":
        solver = ProxNewton(max_iter=1000, max_pn_iter=1000, tol=tolerance, fit_intercept=True)
        return skglm_steps(data, solver, skglm_compiled(Logistic), skglm_compiled(L1, data.alphas[0]))
    solver = AndersonCD(max_iter=1000, max_epochs=100000, tol=tolerance, fit_intercept=True)
    return solver.path(data.x, data.y, skglm_compiled(Quadratic),
                       skglm_compiled(L1, data.alphas[0]), alphas=data.alphas)[1][:-1]


def skglm_groups(data, tolerance):
    from skglm.datafits import QuadraticGroup
    from skglm.penalties import WeightedGroupL2
    from skglm.solvers import GroupBCD
    from skglm.utils.data import grp_converter
    places, pointers = grp_converter(data.group, data.columns)
    weights = numpy.full(data.columns // data.group, numpy.sqrt(data.group))
    penalty = skglm_compiled(WeightedGroupL2, data.alphas[0], weights, pointers, places)
    solver = GroupBCD(max_iter=1000, max_epochs=100000, tol=tolerance, fit_intercept=True)
    return skglm_steps(data, solver, skglm_compiled(QuadraticGroup, pointers, places), penalty)


def skglm_steps(data, solver, datafit, penalty):
    """A path of warm starts for the solvers that have none of their own."""
    w, fit, beta = numpy.zeros(data.columns + 1), numpy.zeros(data.rows), []
    for alpha in data.alphas:
        penalty.alpha = alpha
        w = solver.solve(data.x, data.y, datafit, penalty, w, fit)[0]
        fit = numpy.asarray(data.x @ w[:-1]) + w[-1]
        beta.append(w[:-1].copy())
    return numpy.array(beta).T


def skglm_compiled(kind, *arguments):
    """Version 0.5 compiles what is handed to an estimator; solvers called directly want it so."""
    from skglm.utils.jit_compilation import compiled_clone
    return compiled_clone(kind(*arguments))


TOOLS = {"sklearn": ("sklearn", sklearn_path), "celer": ("celer", celer_path),
         "skglm": ("skglm", skglm_path)}


def present():
    found = {}
    for name, (module, _) in TOOLS.items():
        try:
            found[name] = importlib.import_module(module).__version__
        except ImportError:
            pass
    return found


def write(answer, lambdas, path):
    """Coefficients alone, or with the dual points theta of celer: |x_j'theta| <= 1."""
    beta, theta = answer if isinstance(answer, tuple) else (answer, None)
    numpy.ascontiguousarray(beta.T).tofile(path)
    if theta is not None:
        (theta * lambdas[:, None]).tofile(path + ".dual")


def main():
    data, warm = Data(sys.argv[1]), set()
    for line in sys.stdin:
        words = line.split()
        if not words:
            print(json.dumps(present()), flush=True)
            continue
        fit = TOOLS[words[0]][1]
        if words[0] not in warm:            # compiles; two lambdas are enough for that
            warm.add(words[0])
            whole, data.alphas = data.alphas, data.alphas[:2]
            fit(data, 1e-3)
            data.alphas = whole
        start = time.perf_counter()
        answer = fit(data, float(words[1]))
        seconds = time.perf_counter() - start
        if len(words) > 2:
            write(answer, data.lambdas, words[2])
        print(f"{seconds:.9f}", flush=True)


main()
