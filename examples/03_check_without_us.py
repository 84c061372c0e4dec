#!/usr/bin/env python3
"""03_check_without_us.py [MODEL DATA] -- the certificate recomputed with NumPy alone.

For gaussian models of one target, numeric columns without gaps, equal weights.
Fenchel's inequality makes D <= P true for any vector u with sum u = 0; a small
P - D proves that the model cannot be improved by more than that. Powers of the norm
above 1 only: at 1 and below the bound has another form (docs/certificate.md).
"""
import json
import struct
import sys

import numpy as np


def read(path):
    raw = open(path, "rb").read()
    size = struct.unpack("<Q", raw[:8])[0]
    head = json.loads(raw[8:8 + size])
    meta = head.pop("__metadata__")
    start = 8 + size
    arrays = {}
    for name, tensor in head.items():
        first, last = tensor["data_offsets"]
        arrays[name] = np.frombuffer(raw[start + first:start + last], "<f8").reshape(tensor["shape"])
    return meta, arrays


def main(model="friedman.fen", data="friedman.csv"):
    meta, array = read(model)
    table = np.genfromtxt(data, delimiter=",", skip_header=1)
    x = (table[:, :-1] - array["prepare.center"]) / array["prepare.scale"]
    y, n = table[:, -1], len(table)
    lam, gamma, m = float(meta["lambda"]), float(meta["gamma"]), float(meta["power"])
    square = (x ** 2).sum(1)
    K = np.exp(-gamma * np.maximum(square[:, None] + square[None, :] - 2 * x @ x.T, 0))

    u, b = array["dual"][0], array["offset"][0]
    c = array["coef_scale"][0] * u
    P = np.mean((y - K @ c - b) ** 2) + lam * (c @ K @ c) ** (m / 2)
    z = n * (u - u.mean())                       # exactly feasible: sum u = 0
    g = np.sqrt((z / n) @ K @ (z / n))
    D = np.mean(z * y - z ** 2 / 4) - lam * (m - 1) * (g / (lam * m)) ** (m / (m - 1))
    print("primal", P, "dual", D, "relative gap", (P - D) / P)
    return 0 if abs(P - D) <= 1e-6 * P else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
