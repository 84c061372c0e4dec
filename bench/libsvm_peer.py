"""LIBSVM as the distribution has it (libsvm.so of the package libsvm-tools), called in memory.

The structures are those of LIBSVM's documented C interface, version 3."""
import ctypes
import time

import numpy

C_SVC, EPSILON_SVR, RBF = 0, 3, 2


class Node(ctypes.Structure):
    _fields_ = [("index", ctypes.c_int), ("value", ctypes.c_double)]


class Problem(ctypes.Structure):
    _fields_ = [("rows", ctypes.c_int), ("y", ctypes.POINTER(ctypes.c_double)),
                ("x", ctypes.POINTER(ctypes.POINTER(Node)))]


class Parameter(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("kernel", ctypes.c_int), ("degree", ctypes.c_int),
                ("gamma", ctypes.c_double), ("coef0", ctypes.c_double),
                ("cache", ctypes.c_double), ("tolerance", ctypes.c_double),
                ("cost", ctypes.c_double), ("weights", ctypes.c_int),
                ("labels", ctypes.POINTER(ctypes.c_int)),
                ("weight", ctypes.POINTER(ctypes.c_double)), ("nu", ctypes.c_double),
                ("epsilon", ctypes.c_double), ("shrinking", ctypes.c_int),
                ("probability", ctypes.c_int)]


class Model(ctypes.Structure):      # the first members; the library allocates the whole
    _fields_ = [("parameter", Parameter), ("classes", ctypes.c_int), ("support", ctypes.c_int),
                ("rows", ctypes.POINTER(ctypes.POINTER(Node))),
                ("coef", ctypes.POINTER(ctypes.POINTER(ctypes.c_double))),
                ("rho", ctypes.POINTER(ctypes.c_double)),
                ("first", ctypes.POINTER(ctypes.c_double)),
                ("second", ctypes.POINTER(ctypes.c_double)),
                ("places", ctypes.POINTER(ctypes.c_int))]


def library():
    """The library with its progress dots silenced; None: it is not installed."""
    try:
        found = ctypes.CDLL("libsvm.so.3")
    except OSError:
        return None
    found.svm_train.restype = ctypes.POINTER(Model)
    found.silence = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(lambda text: None)
    found.svm_set_print_string_function(found.silence)
    return found


class Peer:
    """One data set in LIBSVM's own arrays."""

    def __init__(self, x, y, classify):
        self.library, self.x, self.y, self.classify = library(), x, y, classify
        rows, columns = x.shape
        self.nodes = (Node * (rows * (columns + 1)))()
        flat = numpy.frombuffer(self.nodes, dtype=[("index", "i4"), ("pad", "i4"), ("v", "f8")])
        flat = flat.reshape(rows, columns + 1)
        flat["index"] = numpy.append(numpy.arange(1, columns + 1), -1)
        flat["v"][:, :-1] = x
        start, step = ctypes.addressof(self.nodes), ctypes.sizeof(Node) * (columns + 1)
        pointers = (ctypes.POINTER(Node) * rows)(
            *(ctypes.cast(start + i * step, ctypes.POINTER(Node)) for i in range(rows)))
        self.labels = numpy.ascontiguousarray(y, dtype=float)
        self.problem = Problem(rows, self.labels.ctypes.data_as(ctypes.POINTER(ctypes.c_double)),
                               pointers)

    def train(self, cost, gamma, epsilon, tolerance=1e-3):
        """Seconds of svm_train with everything else at its default, and the primal objective
        that its answer reaches, as mean loss + lambda ||f||^2."""
        parameter = Parameter(C_SVC if self.classify else EPSILON_SVR, RBF, 3, gamma, 0.0, 100.0,
                              tolerance, cost, 0, None, None, 0.5, epsilon, 1, 0)
        start = time.perf_counter()
        model = self.library.svm_train(ctypes.byref(self.problem), ctypes.byref(parameter))
        seconds = time.perf_counter() - start
        value = self.objective(model.contents, cost, gamma, epsilon)
        self.library.svm_free_and_destroy_model(ctypes.byref(model))
        return seconds, value

    def objective(self, model, cost, gamma, epsilon):
        count = model.support
        places = numpy.ctypeslib.as_array(model.places, (count,)) - 1
        coef = numpy.ctypeslib.as_array(model.coef[0], (count,)).copy()
        centres = self.x[places]
        f = numpy.empty(len(self.x))
        for first in range(0, len(f), 2000):
            block = self.x[first:first + 2000]
            square = ((block ** 2).sum(1)[:, None] + (centres ** 2).sum(1)
                      - 2 * block @ centres.T)
            f[first:first + 2000] = numpy.exp(-gamma * numpy.maximum(square, 0)) @ coef
        norm, score = coef @ f[places], f - model.rho[0]
        if self.classify:       # of labels -1 and +1 the second is LIBSVM's first class
            loss = numpy.maximum(0, 1 - self.y * score)
        else:
            loss = numpy.maximum(0, abs(self.y - score) - epsilon)
        value = loss.mean() + norm / (2 * len(f) * cost)
        worst = min(abs(self.y - numpy.median(self.y)).mean(), 1.0)
        if not value < worst:           # a constant does better: then it is not LIBSVM's answer
            raise ValueError(f"objective {value} of a LIBSVM model, a constant has {worst}")
        return value
