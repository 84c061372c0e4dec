"""Losses by their definitions, and dual vectors moved to where they are feasible, with NumPy: what
the tests of certificates share."""
from peer import numpy

# the columns of "certificate" in a model file
KEYS = ["primal", "dual", "gap", "relative_gap", "null", "mean_loss", "norm", "stationarity"]
INF = numpy.inf
# loss -> value(y, t, par), conjugate of -z as a function of (y, z, par), box of z
LOSSES = {
    "square": (lambda y, t, p: (y - t) ** 2, lambda y, z, p: z ** 2 / 4 - z * y,
               lambda y, p: (-INF, INF)),
    "absolute": (lambda y, t, p: abs(y - t), lambda y, z, p: -z * y, lambda y, p: (-1, 1)),
    "eps": (lambda y, t, p: numpy.maximum(0, abs(y - t) - p), lambda y, z, p: -z * y + p * abs(z),
            lambda y, p: (-1, 1)),
    "sqeps": (lambda y, t, p: numpy.maximum(0, abs(y - t) - p) ** 2,
              lambda y, z, p: -z * y + p * abs(z) + z ** 2 / 4, lambda y, p: (-INF, INF)),
    "huber": (lambda y, t, p: numpy.where(abs(y - t) <= p, (y - t) ** 2 / 2,
                                          p * abs(y - t) - p ** 2 / 2),
              lambda y, z, p: -z * y + z ** 2 / 2, lambda y, p: (-p, p)),
    "pinball": (lambda y, t, p: numpy.maximum(p * (y - t), (p - 1) * (y - t)),
                lambda y, z, p: -z * y, lambda y, p: (p - 1, p)),
    "tube": (lambda y, t, p: numpy.where(abs(y - t) <= p + 1e-9 * (p + abs(y)), 0, INF),
             lambda y, z, p: -z * y + p * abs(z), lambda y, p: (-INF, INF)),
    "hinge": (lambda y, t, p: numpy.maximum(0, p - y * t), lambda y, z, p: -p * y * z,
              lambda y, p: (numpy.minimum(y, 0), numpy.maximum(y, 0))),
    "sqhinge": (lambda y, t, p: numpy.maximum(0, 1 - y * t) ** 2,
                lambda y, z, p: z ** 2 / 4 - y * z,
                lambda y, p: (numpy.where(y > 0, 0, -INF), numpy.where(y > 0, INF, 0))),
    "logistic": (lambda y, t, p: numpy.logaddexp(0, -y * t),
                 lambda y, z, p: entropy(y * z) + entropy(1 - y * z),
                 lambda y, p: (numpy.minimum(y, 0), numpy.maximum(y, 0))),
}


def entropy(x):
    x = numpy.clip(x, 1e-300, None)
    return x * numpy.log(x)


def shifted(z, w, low, high):
    """z - s inside its boxes with sum w z = 0, s by bisection."""
    a, b = -1e6, 1e6
    for _ in range(200):
        s = (a + b) / 2
        if w @ numpy.clip(z - s, low, high) > 0:
            a = s
        else:
            b = s
    return numpy.clip(z - (a + b) / 2, low, high)
