"""Peers of claim_lasso.py and claim_folds.py that are called from Python.

    lasso_peer.py FOLDER [TOOL...]      jobs: TOOL TOLERANCE [FILE]

FOLDER is what lasso_problem.Problem.write has left. The job is the whole way from the matrix as it
is (by rows) to the path: standardised columns (dense matrices), centred targets, the order that
the tool works with, the path. It answers with two times: that of all, and that of the path alone.
With FILE the coefficients (columns x lambdas, by columns, in the units of the matrix) are written
there, outside the clock, and dual points, where the tool has them, into FILE.dual. An empty line
lists the tools that are here, with their versions. What the TOOLs compile they compile before the
first job."""
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
        self.target, self.lambdas = read("y"), read("lambda")
        if self.sparse:
            self.raw = scipy.sparse.csc_matrix((read("value"), read("row", "i4"), read(
                "start", "i4")), (self.rows, self.columns)).tocsr()
        else:
            self.raw = numpy.ascontiguousarray(read("x").reshape(self.columns, self.rows).T)
        # everyone else has half of the square
        self.alphas = self.lambdas / 2 if self.loss == "square" else self.lambdas
        self.alphas = numpy.ascontiguousarray(self.alphas)

    def prepare(self):
        """x, y and, for paths without an intercept, what stands for the means of sparse columns."""
        self.offsets = {}
        if self.sparse:
            self.x, self.scales = self.raw.tocsc(), numpy.ones(self.columns)
            if self.loss == "square":
                self.offsets = {"X_offset": numpy.asarray(self.x.mean(0)).ravel(),
                                "X_scale": numpy.ones(self.columns)}
        else:
            from sklearn.preprocessing import StandardScaler
            scaler = StandardScaler()
            self.x = numpy.asfortranarray(scaler.fit_transform(self.raw))
            self.scales = scaler.scale_
        self.y = self.target - self.target.mean() if self.loss == "square" else self.target


def sklearn_path(data, tolerance):
    if data.loss == "logistic":
        return sklearn_logistic(data, tolerance)
    from sklearn.linear_model import lasso_path
    return lasso_path(data.x, data.y, alphas=data.alphas, tol=tolerance, max_iter=1000000,
                      **data.offsets)[1]


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
    if data.group > 1:
        weights = numpy.full(data.columns // data.group, numpy.sqrt(data.group))
        return path(data.x, data.y, "grouplasso", alphas=data.alphas, groups=data.group,
                    weights=weights, **settings)[1::2]
    return path(data.x, data.y, "lasso", alphas=data.alphas, prune=1, **settings,
                **data.offsets)[1::2]


def skglm_path(data, tolerance):
    """skglm stops on the largest violation of a condition: tolerance is that, over the largest
    alpha. Where all columns are centred no intercept is needed."""
    from skglm.datafits import Logistic, Quadratic
    from skglm.penalties import L1
    from skglm.solvers import AndersonCD, ProxNewton
    tolerance *= data.alphas[0]
    if data.group > 1:
        return skglm_groups(data, tolerance)
    if data.loss == "logistic":
        solver = ProxNewton(max_iter=1000, max_pn_iter=1000, tol=tolerance, fit_intercept=True)
        return skglm_steps(data, solver, skglm_compiled(Logistic),
                           skglm_compiled(L1, data.alphas[0]))
    solver = AndersonCD(max_iter=1000, max_epochs=100000, tol=tolerance, fit_intercept=data.sparse)
    return solver.path(data.x, data.y, skglm_compiled(Quadratic), skglm_compiled(
        L1, data.alphas[0]), alphas=data.alphas)[1][:data.columns]


def skglm_groups(data, tolerance):
    from skglm.datafits import QuadraticGroup
    from skglm.penalties import WeightedGroupL2
    from skglm.solvers import GroupBCD
    from skglm.utils.data import grp_converter
    places, pointers = grp_converter(data.group, data.columns)
    weights = numpy.full(data.columns // data.group, numpy.sqrt(data.group))
    penalty = skglm_compiled(WeightedGroupL2, data.alphas[0], weights, pointers, places)
    solver = GroupBCD(max_iter=1000, max_epochs=100000, tol=tolerance, fit_intercept=False)
    return skglm_steps(data, solver, skglm_compiled(QuadraticGroup, pointers, places), penalty)


def skglm_steps(data, solver, datafit, penalty):
    """A path of warm starts for the solvers that have none of their own."""
    p, beta = data.columns, []
    w, fit = numpy.zeros(p + solver.fit_intercept), numpy.zeros(data.rows)
    for alpha in data.alphas:
        penalty.alpha = alpha
        w = solver.solve(data.x, data.y, datafit, penalty, w, fit)[0]
        fit = data.x @ w[:p] + (w[p] if solver.fit_intercept else 0)
        beta.append(w[:p].copy())
    return numpy.array(beta).T


def skglm_compiled(kind, *arguments):
    """Version 0.5 compiles what is handed to an estimator; solvers called directly want it so."""
    from skglm.utils.jit_compilation import compiled_clone
    return compiled_clone(kind(*arguments))


def sklearn_folds(data, tolerance):
    """Ten folds of the same lambdas, and the fit at the best of them."""
    from sklearn.linear_model import LassoCV
    model = LassoCV(alphas=data.alphas, cv=10, tol=tolerance, max_iter=100000)
    return model.fit(data.x, data.y).coef_[:, None]


TOOLS = {"sklearn": ("sklearn", sklearn_path), "celer": ("celer", celer_path),
         "skglm": ("skglm", skglm_path)}
JOBS = {name: job for name, (_, job) in TOOLS.items()} | {"LassoCV": sklearn_folds}


def present():
    found = {}
    for name, (module, _) in TOOLS.items():
        try:
            found[name] = importlib.import_module(module).__version__
        except ImportError:
            pass
    return found


def write(answer, data, path):
    """Coefficients alone, or with the dual points theta of celer: |x_j'theta| <= 1."""
    beta, theta = answer if isinstance(answer, tuple) else (answer, None)
    numpy.ascontiguousarray(beta.T / data.scales).tofile(path)
    if theta is not None:
        (theta * data.lambdas[:, None]).tofile(path + ".dual")


def compile_now(tool, data):
    """Two lambdas are enough for that."""
    whole, data.alphas = data.alphas, data.alphas[:2]
    JOBS[tool](data, 1e-3)
    data.alphas = whole


def main():
    data = Data(sys.argv[1])
    data.prepare()
    for tool in sys.argv[2:]:
        compile_now(tool, data)
    for line in sys.stdin:
        words = line.split()
        if not words:
            print(json.dumps(present()), flush=True)
            continue
        start = time.perf_counter()
        data.prepare()
        ready = time.perf_counter()
        answer = JOBS[words[0]](data, float(words[1]))
        end = time.perf_counter()
        if len(words) > 2:
            write(answer, data, words[2])
        print(f"{end - start:.9f} {end - ready:.9f}", flush=True)


main()
