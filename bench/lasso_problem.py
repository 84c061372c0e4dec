"""Problems with a sparse truth for claim_lasso.py, and the duality gap of anyone's answer.

    minimise over beta, b    mean_i loss(y_i, x_i.beta + b) + lambda sum_g a_g ||beta_g||

with the square r^2 or the logistic loss; a group of one column is the lasso, a_g is the root of
the group's size. Columns of dense matrices have means and scales of their own, and beta belongs to
the standardised ones (mean 0, mean square 1); sparse ones are taken as they are. A problem is
written into a folder as bare float64 and int32 arrays, for programs in any language, and as a file
that fenchel reads (npy or svmlight).

The gap is measured in one way for everybody, from the coefficients: the best intercept for them,
and as the dual point the residual (the slope of the loss), scaled until it is feasible. Of a tool
that returns dual points these are judged too, and the better one counts. The gap is divided by the
objective at beta = 0."""
import json
import os

import numpy
import scipy.sparse

LAMBDAS = 100


class Problem:
    """raw: a matrix by rows, or a CSR one; y: numbers, or -1 and 1; group: columns in each."""

    def __init__(self, name, raw, y, ratio, loss="square", group=1):
        self.name, self.raw, self.y, self.loss, self.group = name, raw, y, loss, group
        self.rows, self.columns = raw.shape
        self.sparse = scipy.sparse.issparse(raw)
        self.scales = numpy.ones(self.columns) if self.sparse else raw.std(0)
        self.x = raw.tocsc() if self.sparse else numpy.asfortranarray(
            (raw - raw.mean(0)) / self.scales)
        slope, self.null = self.slope(numpy.zeros((self.rows, 1)))
        self.top = self.dual_norm(slope)[0]
        self.lambdas = self.top * numpy.geomspace(1, ratio, LAMBDAS)

    def slope(self, scores, bias=True):
        """Minus the slopes of the mean loss at these scores, one answer a column, and the losses;
        the intercept is the best one."""
        y = self.y[:, None]
        if self.loss == "square":
            residual = y - scores
            if bias:
                residual = residual - residual.mean(0)
            return 2 * residual / self.rows, (residual ** 2).mean(0)
        b = numpy.zeros(scores.shape[1])
        for _ in range(100 if bias else 0):                     # Newton's method
            chance = 1 / (1 + numpy.exp(y * (scores + b)))
            step = (y * chance).sum(0) / numpy.maximum((chance * (1 - chance)).sum(0), 1e-300)
            b += numpy.clip(step, -1, 1)
            if abs(step).max() < 1e-15:
                break
        chance = 1 / (1 + numpy.exp(y * (scores + b)))
        return y * chance / self.rows, numpy.logaddexp(0, -y * (scores + b)).mean(0)

    def norms(self, vectors):
        """Norms of the groups of every column of vectors."""
        parts = vectors.reshape(-1, self.group, vectors.shape[1])
        return numpy.sqrt((parts ** 2).sum(1))

    def dual_norm(self, u):
        return self.norms(numpy.asarray(self.x.T @ u)).max(0) / numpy.sqrt(self.group)

    def gaps(self, beta, points=None, bias=True):
        """Relative gaps of one answer for every lambda: beta (columns x LAMBDAS) in the units of
        the raw columns, points (rows x LAMBDAS, or None) are dual points, feasible for them."""
        beta = beta * self.scales[:, None]
        used = numpy.flatnonzero(beta.any(1))
        slope, loss = self.slope(numpy.asarray(self.x[:, used] @ beta[used]), bias)
        primal = loss + self.lambdas * numpy.sqrt(self.group) * self.norms(beta).sum(0)
        dual = self.dual(slope)
        if points is not None:
            dual = numpy.maximum(dual, self.dual(points - points.mean(0) if bias else points))
        return (primal - dual) / self.null[0]

    def dual(self, u):
        """The dual objective at u, scaled to where it is feasible."""
        most = self.lambdas / numpy.maximum(self.dual_norm(u), 1e-300)
        if self.loss == "square":       # sum u y - n u^2 / 4 is largest at a known factor
            along, across = self.y @ u, self.rows * (u ** 2).sum(0) / 4
            factor = numpy.minimum(most, along / (2 * numpy.maximum(across, 1e-300)))
            return factor * along - factor ** 2 * across
        return -entropy(self.rows * numpy.minimum(most, 1) * u * self.y[:, None]).mean(0)

    def support(self, beta):
        return (self.norms(beta) != 0).sum(0)

    def write(self, folder):
        """Leaves everybody's files there and returns the path of ours."""
        facts = {"rows": self.rows, "columns": self.columns, "loss": self.loss,
                 "group": self.group, "sparse": self.sparse}
        with open(os.path.join(folder, "facts.json"), "w", encoding="ascii") as out:
            json.dump(facts, out)
        numpy.savetxt(os.path.join(folder, "facts.txt"),    # for R, which has no JSON
                      [self.rows, self.columns, self.sparse, self.loss == "logistic"], fmt="%d")
        arrays = {"y": self.y, "lambda": self.lambdas}
        if self.sparse:
            arrays |= {"value": self.x.data, "row": self.x.indices.astype("i4"),
                       "start": self.x.indptr.astype("i4")}
        else:
            arrays["x"] = self.raw.T          # bare arrays are by columns
        for name, array in arrays.items():
            numpy.ascontiguousarray(array).tofile(os.path.join(folder, name))
        return self.write_ours(folder)

    def write_ours(self, folder):
        if not self.sparse:
            path = os.path.join(folder, "ours.npy")
            numpy.save(path, numpy.column_stack([self.raw, self.y]))
            return path
        path = os.path.join(folder, "ours.svm")
        with open(path, "w", encoding="ascii") as out:
            for i in range(self.rows):
                part = slice(self.raw.indptr[i], self.raw.indptr[i + 1])
                out.write(f"{float(self.y[i])!r} " + " ".join(
                    f"{j + 1}:{v!r}" for j, v in zip(self.raw.indices[part].tolist(),
                                                     self.raw.data[part].tolist())) + "\n")
        return path


def entropy(v):
    """v log v + (1 - v) log(1 - v), the conjugate of the logistic loss."""
    v = numpy.clip(v, 0, 1)
    return sum(w * numpy.log(numpy.where(w > 0, w, 1)) for w in (v, 1 - v))


def truth(random, columns, nonzero, among=None):
    beta = numpy.zeros(columns)
    places = random.choice(among or columns, nonzero, replace=False)
    beta[places] = random.choice([-1.0, 1.0], nonzero) * random.uniform(0.5, 1.5, nonzero)
    return beta


def observe(random, signal, ratio=5.0):
    """The signal with noise of a variance that is smaller by the ratio."""
    return signal + random.standard_normal(len(signal)) * signal.std() / numpy.sqrt(ratio)


def neighbours(random, rows, columns, correlation=0.6):
    """Gaussian columns, each with this correlation to the one before."""
    x = numpy.asfortranarray(random.standard_normal((rows, columns)))
    for j in range(1, columns):
        x[:, j] = correlation * x[:, j - 1] + numpy.sqrt(1 - correlation ** 2) * x[:, j]
    return x


def measured(random, x):
    """The same columns in units of their own."""
    units = random.lognormal(0, 1, x.shape[1])
    return numpy.ascontiguousarray((x + random.standard_normal(x.shape[1])) * units)


def dense(name, rows, columns, ratio, nonzero=50, seed=1):
    random = numpy.random.default_rng(seed)
    x = neighbours(random, rows, columns)
    y = observe(random, x @ truth(random, columns, nonzero))
    return Problem(name, measured(random, x), y, ratio)


def words(name, rows=20000, columns=100000, entries=50, ratio=1e-2, nonzero=300, seed=1):
    """As texts are: rows of about so many words, the j-th one is met as often as (20 + j)^-0.9
    says and weighs more the rarer it is; rows have length 1."""
    random = numpy.random.default_rng(seed)
    often = numpy.cumsum((20.0 + numpy.arange(columns)) ** -0.9)
    places = numpy.searchsorted(often, random.random((rows, entries)) * often[-1])
    place, times = numpy.unique(numpy.arange(rows)[:, None] * columns
                                + places.clip(0, columns - 1), return_counts=True)
    row, column = place // columns, place % columns
    values = times * numpy.log(rows / numpy.bincount(column, minlength=columns)[column])
    values = values / numpy.sqrt(numpy.bincount(row, values ** 2))[row]
    x = scipy.sparse.csr_matrix((values, (row, column)), (rows, columns))
    beta = truth(random, columns, nonzero, columns // 20)       # among those often met
    return Problem(name, x, observe(random, x @ beta), ratio)


def classes(name, rows=2000, columns=5000, ratio=1e-2, nonzero=50, seed=1):
    random = numpy.random.default_rng(seed)
    x = neighbours(random, rows, columns)
    signal = x @ truth(random, columns, nonzero)
    chance = 1 / (1 + numpy.exp(-3 * signal / signal.std()))
    y = numpy.where(random.random(rows) < chance, 1.0, -1.0)
    return Problem(name, measured(random, x), y, ratio, loss="logistic")


def groups(name, rows=1000, columns=5000, group=10, ratio=1e-1, nonzero=10, seed=1):
    random = numpy.random.default_rng(seed)
    x = neighbours(random, rows, columns)
    beta = numpy.repeat(truth(random, columns // group, nonzero) != 0, group)
    beta = beta * random.standard_normal(columns)
    y = observe(random, x @ beta)
    return Problem(name, measured(random, x), y, ratio, group=group)
