"""What the peer tests of penalties on coefficients share: drawn data, coefficients by name from
the tool's JSON, and the objective in NumPy, which judges their coefficients and ours alike."""
from peer import PeerTest, numpy

TIGHT = ["--scale", "none", "--select", "none", "--tolerance", "1e-10"]


def losses(name, y, t):
    """Of every row; from the definitions."""
    name, _, value = name.partition(":")
    r, par = y - t, float(value or 0)
    if name == "square":
        return r ** 2
    if name == "logistic":
        return numpy.logaddexp(0, -y * t)
    if name == "hinge":
        return numpy.maximum(0, 1 - y * t)
    if name == "absolute":
        return abs(r)
    if name == "eps":
        return numpy.maximum(0, abs(r) - par)
    if name == "pinball":
        return numpy.maximum(par * r, (par - 1) * r)
    if name == "huber":
        return numpy.where(abs(r) <= par, r ** 2 / 2, par * abs(r) - par ** 2 / 2)
    raise ValueError(name)


class Linear:
    """x . coef + b of whoever fitted it; coef: inputs, or inputs x targets."""

    def __init__(self, coef, b):
        self.coef, self.b = numpy.asarray(coef, float), b

    def __call__(self, x):
        return x @ self.coef + self.b

    @property
    def support(self):
        return numpy.flatnonzero(self.coef.reshape(len(self.coef), -1).any(axis=1)).tolist()


class Problem:
    """mean loss + lambda sum_g a_g (mix |coef_g| + (1 - mix)/2 |coef_g|^2)"""

    def __init__(self, x, y, lam, loss="square", mix=1.0, factors=None, weights=None, groups=None):
        self.x, self.y, self.lam, self.loss, self.mix = x, y, lam, loss, mix
        self.groups = groups if groups is not None else [[j] for j in range(x.shape[1])]
        self.factors = numpy.ones(len(self.groups)) if factors is None else factors
        self.w = numpy.ones(len(y)) if weights is None else weights
        self.w = self.w / self.w.sum()

    def __call__(self, f):
        each = losses(self.loss, self.y, f(self.x)).reshape(len(self.y), -1).sum(axis=1)
        norms = numpy.array([numpy.linalg.norm(f.coef[g]) for g in self.groups])
        return self.w @ each + self.lam * (self.factors @ (
            self.mix * norms + (1 - self.mix) / 2 * norms ** 2))


class SparseTest(PeerTest):
    def draw(self, rows, inputs, seed=5, kinship=0.5):
        """Kin columns, a few that matter, noise."""
        random = numpy.random.default_rng(seed)
        self.x = random.standard_normal((rows, inputs))
        for j in range(1, inputs):
            self.x[:, j] = kinship * self.x[:, j - 1] + (1 - kinship ** 2) ** 0.5 * self.x[:, j]
        self.x += random.standard_normal(inputs)
        truth = numpy.zeros(inputs)
        truth[::max(inputs // 6, 1)] = 3 * random.standard_normal(len(truth[::max(inputs // 6, 1)]))
        clean = (self.x - self.x.mean(axis=0)) @ truth
        self.y = clean + 0.5 * clean.std() * random.standard_normal(rows) + 7
        noisy = clean / clean.std() + random.logistic(size=rows)
        self.signs = numpy.where(noisy > 0, 1.0, -1.0)
        self.times = random.integers(1, 4, rows).astype(float)
        self.names = [f"x{j + 1}" for j in range(inputs)]

    def table(self, labels, name="train.csv", more=()):
        """more: (name, column) pairs after the target y."""
        columns = [self.x, labels] + [column for _, column in more]
        targets = ["y"] if labels.ndim == 1 else [f"y{t}" for t in range(labels.shape[1])]
        return self.save(name, columns, self.names + targets + [one for one, _ in more])

    def coefficients(self, found):
        """By name: many zeros are left out of the JSON."""
        place = {name: j for j, name in enumerate(self.names)}
        b = numpy.array(found["intercept"])
        coef = numpy.zeros((len(self.names),) + b.shape)
        for one in found["coefficients"]:
            coef[place[one["name"]]] = one["value"]
        return Linear(coef, b)

    def ours(self, data, *options):
        self.found = self.fit(data, *TIGHT, *options)
        self.assertEqual(set(numpy.ravel(self.found["verdict"])), {"optimal"})
        return self.coefficients(self.found)

    def assert_peer(self, problem, ours, theirs, support=True):
        """Not worse by more than 1e-8, the objective as reported, and the same support."""
        best, other = problem(ours), problem(theirs)
        print(f"   ours {best:.15g} theirs {other:.15g}", flush=True)
        self.assertLessEqual(best, other + 1e-8 * abs(other))
        for reported in numpy.ravel(self.found["primal"]):     # one problem in all targets
            self.assert_close(reported, best, 1e-9)
        # theirs is what it was asked for: otherwise this compares two different problems
        self.assertLessEqual(other, best + 1e-4 * abs(best))
        if support:
            self.assertEqual(ours.support, theirs.support)
            self.assertTrue(0 < len(ours.support), "nothing is compared")


class Reference:
    """Minimum of a Problem with a smooth loss by proximal gradients: every step is a few lines
    from the definition, momentum starts anew whenever it points uphill, and it ends when steps no
    longer change a digit that matters. Slow and simple."""

    def __init__(self, problem, bias=True, steps=200000):
        self.p, self.bias, self.steps = problem, bias, steps

    def slopes(self, f):
        """Of the mean loss: coefficients, constant."""
        p, t = self.p, f(self.p.x)
        if p.loss == "square":
            z = 2 * (t - p.y)
        elif p.loss == "logistic":
            z = -p.y / (1 + numpy.exp(p.y * t))
        else:
            k = float(p.loss.partition(":")[2])
            z = numpy.clip(t - p.y, -k, k)
        u = (p.w * z.T).T
        return p.x.T @ u, u.sum(axis=0) * self.bias

    def curvature(self):
        """At least the largest eigenvalue of the Hessian."""
        rows = numpy.column_stack([self.p.x, numpy.ones(len(self.p.x)) * self.bias])
        top = numpy.linalg.norm((rows.T * self.p.w) @ rows, 2)
        return top * {"square": 2.0, "logistic": 0.25}.get(self.p.loss, 1.0)

    def shrink(self, coef, step):
        """The prox of the penalty, group by group."""
        p, out = self.p, coef.copy()
        for g, a in zip(p.groups, p.factors):
            norm, cut = numpy.linalg.norm(coef[g]), step * p.lam * a
            factor = max(0.0, 1 - cut * p.mix / norm) if norm > 0 else 0.0
            out[g] = coef[g] * (factor / (1 + cut * (1 - p.mix)))
        return out

    def solve(self):
        p, step = self.p, 1 / self.curvature()
        shape = p.x.shape[1:] + p.y.shape[1:]
        now = Linear(numpy.zeros(shape), numpy.zeros(p.y.shape[1:]))
        ahead, t, still = now, 1.0, 0
        for _ in range(self.steps):
            slope, push = self.slopes(ahead)
            new = Linear(self.shrink(ahead.coef - step * slope, step), ahead.b - step * push)
            move, back = new.coef - now.coef, new.b - now.b
            uphill = numpy.sum((ahead.coef - new.coef) * move) + numpy.sum((ahead.b - new.b) * back)
            t_next = 1.0 if uphill > 0 else (1 + (1 + 4 * t * t) ** 0.5) / 2
            momentum = 0.0 if uphill > 0 else (t - 1) / t_next
            size = numpy.max(abs(new.coef), initial=1e-300)
            still = still + 1 if numpy.max(abs(move)) < 1e-15 * size else 0
            ahead = Linear(new.coef + momentum * move, new.b + momentum * back)
            now, t = new, t_next
            if still > 10:
                break
        return now
