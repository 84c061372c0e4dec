"""What reproduce-tensor holds its own figures against, and what they leave open.

Salzo, Suykens, Rosasco: Solving l^p-norm regularization with tensor kernels, section 4."""

# Table 1: iterations to a relative precision of 1e-8; in brackets as printed (over repetitions,
# one supposes). None: not printed. n = 200, d = 100000, 10 relevant, sigma = 0.05, gamma = 10.
POWERS = [("4/3", 4 / 3), ("5/4", 1.25), ("1.1", 1.1), ("1.05", 1.05)]
TABLE1 = {"dual": ["12(5)", "15(4)", "63(22)", "258(55)"], "primal": [">5000"] * 4,
          "fista": ["1158", "1542", "-", "-"]}
ITERATIONS = [12, 15, 63, 258]                # of the paper's method, as numbers
TABLE1_SIZES = {"rows": 200, "columns": 100000, "relevant": 10, "kernel": "linear"}

# Table 2: seconds (2 GHz Core 2 Duo, MATLAB) and iterations. n = 90, d = 650, degree 2,
# N = 211575, 6 relevant.
TABLE2 = {"build": (2.73, None), "with": (2.49, 29), "without": (9.87, 28)}
TABLE2_SIZES = {"rows": 90, "columns": 650, "relevant": 6, "kernel": "tensor-polynomial"}

# Figure 1, right: weights, no numbers are printed. p = 4/3, linear, 6 relevant.
FIGURE_SIZES = {"rows": 85, "columns": 1500, "relevant": 6, "kernel": "linear"}

WORDS = """\
X is standard normal, y = Phi w* + 0.05 e, gamma = 10 in gamma/2 |Phi w - y|^2 + |w|_p^p / p.
Not in the paper, and every count depends on it: the size of the entries of w* (here +-{amplitude}),
delta and theta of the line search (here 1/2 and 1/2), where a search begins (here at lambda_0 each
time, as in its Algorithm 3.3; the primal gradient: at twice its last step), the starting points
(here 0) and how often an experiment was repeated. Its slips are mended: the step takes the
gradient of phi_1, and the proximal map the step that is tried.
"By objective": |F - F*| <= 1e-8 F*, as the paper counts. "By gap": primal minus dual value
<= 1e-8 F, which needs no F* and takes longer; our solvers stop by it. lp-gradient is the paper's
method from the best multiple of y, lp-newton our default.
"""
