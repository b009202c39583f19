"""The settings of pairs.json, and each as independent parts at high precision.

Parameters are plain numbers. Covariances are diagonal here; the tests turn them too, by integer
matrices.
"""

from collections import Counter

from mpmath import mp, mpf

from tests.oracle.parts import Axis, Block, Wishart

NEAR = 2.0**-20  # about 1e-6 of the variance
DATA = [[3, 1, -2], [0, 2, 1], [1, -1, 4], [-2, 5, 1], [2, 2, 0], [1, 0, -3]]

LINES = [  # d = 1: (shift, ratio)
    (0.0, 1.3),
    (0.0, 0.6),
    (0.5, 1.2),
    (0.5, 0.8),
    (3.0, 0.1),
    (2.0, 9.0),
    (0.7, 1e-3),
    (0.0, 1 + NEAR),
    (0.01, 1 + NEAR),
    (0.3, 1 - NEAR),
    (0.0, 1e-6),
    (1.0, 1e-6),
    (0.0, 1e6),
    (1000.0, 1e6),
    (1e-4, 1.0),
]
PAIRS = [  # d = 2, 3, 5, 12: (shifts, ratios)
    ([0.0, 0.0], [1.3, 0.7]),
    ([1.0, 0.0], [1.3, 0.7]),
    ([0.4, -0.2], [0.5, 2.0]),
    ([0.1, 0.0], [1 + NEAR, 1 - NEAR / 2]),
    ([0.0, 0.5], [1e-6, 1e6]),
    ([1.0, 1.0], [1.0, 1.5]),
    ([0.5, 0.3], [1.0, 0.9999]),
    ([3.0, 0.0], [0.05, 0.04]),
    ([0.0, 0.0], [0.9, 0.9]),
    ([0.2, 0.4, 0.0], [0.9, 1.2, 1.05]),
    ([0.0, 0.0, 0.0], [0.5, 0.8, 2.0]),
    ([1.0, 0.0, 0.0], [1e-3, 1.0, 1e3]),
    ([0.5, 0.5, 0.5], [1.1, 1.5, 2.0]),
    ([0.0, 0.0, 0.0], [1 + NEAR, 1 - NEAR, 1 + 2 * NEAR]),
    ([0.5, 0.0, 0.0], [0.8, 0.8, 0.8]),
    ([0.3, -0.1, 0.2, 0.0, 0.1], [0.7, 0.95, 1.1, 1.3, 1.0]),
    ([0.0, 0.0, 0.0, 0.0, 0.0], [1.02, 1.1, 1.25, 1.5, 3.0]),
    ([0.2, 0.2, 0.2, 0.2, 0.2], [0.3, 0.5, 0.6, 0.8, 0.95]),
    ([0.1, 0.0, 0.05, 0.0, 0.0], [1 + NEAR, 1 + 2 * NEAR, 1 - NEAR, 1 - 2 * NEAR, 1 + 4 * NEAR]),
    ([0.5, 0.0, 2.0, 0.0, 0.0], [1e-6, 1e-2, 1.0, 1e3, 1e6]),
    ([0.5] + [0.0] * 11, [0.97 / 0.85] + [0.97] * 11),
    ([0.0] * 12, [1.02] * 12),
    (
        [0.1 * (i % 3) for i in range(12)],
        [0.8, 0.83, 0.87, 0.9, 0.94, 0.98, 1.01, 1.04, 1.08, 1.13, 1.19, 1.25],
    ),
    ([0.2] * 12, [0.02 * (i + 1) for i in range(12)]),
    ([1.0] + [0.0] * 11, [50.0 + 10 * i for i in range(12)]),
    ([0.02] * 12, [1 + NEAR * (i - 5) for i in range(12)]),
    ([0.0] * 12, [1.3, 0.75] + [1.0] * 10),
]
REPLACED = [  # variance factors 1 + up and 1 − down on two axes, rows
    (0.1, 0.05, 1),
    (0.1, 0.05, 30),
    (0.5, 0.3, 3),
    (2.0, 0.9, 3),
    (0.25, 0.2, 50),
    (0.02, 0.02, 1200),
    (0.0, 0.2, 10),
    (10.0, 0.0, 2),
    (2.0**-13, 2.0**-12, 100),
    (0.5, 0.999, 20),
]
PADDED = [("RandomProjection", 0, 1.5, 5), ("GaussMix", 2, 4.0, 40), ("WishartDraw", 3, 0.5, 3)]
INVERSE = [(0, 0.0, 3), (3, 1.5, 12), (1, 10.0, 400)]
NOISE = [  # q, k, d; k = d, d + 1, d + 2 and more
    (0.5, 3, 3),
    (4.0, 12, 12),
    (2.0, 4, 3),
    (0.01, 2, 1),
    (2.0, 5, 3),
    (0.1, 14, 12),
    (0.5, 20, 3),
    (5.0, 20, 3),
    (40.0, 60, 5),
    (1e-6, 30, 4),
    (3.0, 500, 13),
    (0.05, 100_000, 2),
]
SHIFT = ("gaussian-shift", {"mu": 0.3})
FIRST = ("gaussian-pair", {"shift": [0.5], "ratio": [0.8]})
SECOND = ("gaussian-pair", {"shift": [-0.2], "ratio": [1.5]})


STRAIGHT = [1.0001, 1 - 2.0**-36]  # of variances: an axis hardly bent beside curved ones
BULKY = [0.0, 1.0, 3.0, 4.5, 10.0]


def wishart(q, dof, dim):
    return "additive-wishart", {"q": q, "dof": dof, "dim": dim}


def sketch(leverage, rows):
    return "gaussian-sketch", {"leverage": leverage, "rows": rows}


SKETCH = sketch(0.02, 50)
COMPOSED = [  # [(law, parameters, times)]
    [(*SKETCH, 10)],
    [(*sketch(0.3, 4), 5)],
    [(*SHIFT, 1), (*SKETCH, 1)],
    [(*SHIFT, 100), ("gaussian-shift", {"mu": 1.0}, 1)],
    [(*FIRST, 1), (*SECOND, 1)],
    [(*FIRST, 20), (*SECOND, 30), (*SHIFT, 4)],
    [(*FIRST, 3), ("replaced-sketch", {"up": 0.1, "down": 0.05, "rows": 30}, 2), (*SKETCH, 1)],
    [(*wishart(0.5, 20, 3), 1), (*SHIFT, 1)],
    [(*wishart(0.5, 20, 3), 1), (*SHIFT, 25)],
    [(*wishart(0.01, 60, 12), 1), (*SHIFT, 1)],
    [(*wishart(0.5, 20, 3), 1), (*SKETCH, 1)],
    [(*wishart(0.5, 20, 3), 2)],
    [(*wishart(5.0, 20, 3), 2)],
    [(*wishart(0.01, 60, 12), 2)],
    [(*wishart(2.0, 4, 3), 2)],
    [(*wishart(2.0, 4, 3), 1), (*SHIFT, 1)],
    [(*wishart(2.0, 5, 3), 1), (*SHIFT, 1)],
    [(*wishart(2.0, 5, 3), 1), (*wishart(0.5, 20, 3), 1)],
]
# at epsilons given: k = d has a loss that is large near c = 0, where the quadrature's reach ends
GIVEN = [
    ([(*wishart(0.5, 3, 3), 1), (*SHIFT, 1)], [0.0, 0.78, 5.0, 25.3]),
    ([(*wishart(0.5, 3, 3), 2)], [0.0, 2.31, 30.8]),
    # by Tricomi's function
    ([(*wishart(0.5, 20, 3), 4), (*SHIFT, 1)], [0.0, 0.3, 1.0, 3.0]),
    ([(*wishart(0.1, 30, 5), 10)], [0.0, 0.2, 0.6, 1.5]),
    # were off by 2e-7 to 2e-4, or 1
    ([(*wishart(0.1, 33, 3), 2)], [0.0, 3.0]),
    ([(*wishart(1.773, 4, 3), 1), (*wishart(0.03218, 33, 3), 1)], [0.0, 8.72]),
    ([(*wishart(0.04057, 7, 1), 1), (*sketch(0.001027, 3), 1)], [0.0, 13.155]),
    ([(*wishart(0.03373, 4, 3), 1), (*wishart(0.010088, 3, 3), 1)], [0.0, 0.3, 19.2247]),
    ([(*wishart(0.010845, 4, 1), 1), (*sketch(0.16117, 1), 1)], [0.0, 6.15982]),
    # sizes far apart: the digits of the smaller loss were lost beside the larger
    ([(*wishart(1.83544, 6, 1), 1), (*wishart(2.0105e-07, 4, 1), 1)], [0.0, 1e-4, 0.3]),
    ([(*wishart(0.00016583, 4, 4), 1), (*sketch(0.0020166, 2), 1)], [0.0, 1e-4, 0.3]),
    ([(*wishart(31.4111, 35, 5), 1), (*wishart(2.8766e-05, 34, 4), 1)], [0.0, 1e-4, 0.3]),
    # each degree of freedom beside a sketch
    *(([(*wishart(0.4, 2 + m, 2), 1), (*sketch(0.2, 2), 1)], [0.0, 0.3, 3.0]) for m in range(4)),
]


def settings():
    """(law, parameters, epsilons or None)."""
    pairs = [*(([m], [v]) for m, v in LINES), *PAIRS]
    cases = [
        *(("gaussian-pair", {"shift": list(m), "ratio": list(v)}) for m, v in pairs),
        *(
            ("replaced-sketch", {"up": up, "down": down, "rows": rows})
            for up, down, rows in REPLACED
        ),
        *(
            ("padded-sketch", dict(zip(("mechanism", "row", "padding", "rows"), x, strict=True)))
            for x in PADDED
        ),
        *(
            ("inverse-wishart", dict(zip(("row", "padding", "dof"), x, strict=True)))
            for x in INVERSE
        ),
        *(wishart(*values) for values in NOISE),
    ]
    composed = [("composition", {"parts": parts}, None) for parts in COMPOSED]
    given = [("composition", {"parts": parts}, epsilons) for parts, epsilons in GIVEN]
    straight = [
        ("gaussian-pair", {"shift": [0.0, 0.125, 2.0], "ratio": [0.4, v, 0.85]}, BULKY)
        for v in STRAIGHT
    ]
    return [*((law, params, None) for law, params in cases), *composed, *given, *straight]


def units(law, params, forward):
    """[(part, times)] of one direction, equal parts merged, at the working precision."""
    if law != "composition":
        return merged(singles(law, params), forward)
    return merged(
        [
            (one, n * times)
            for name, given, times in params["parts"]
            for one, n in singles(name, given)
        ],
        forward,
    )


def singles(law, params):
    """[((shift, ratio) or Wishart's arguments, how often)]."""
    if law == "gaussian-pair":
        return [
            ((mpf(m), mpf(v)), 1) for m, v in zip(params["shift"], params["ratio"], strict=True)
        ]
    if law == "gaussian-shift":
        return [((mpf(params["mu"]), mpf(1)), 1)]
    if law == "gaussian-sketch":
        return [((mpf(0), 1 - mpf(params["leverage"])), params["rows"])]
    if law == "replaced-sketch":
        return [
            ((mpf(0), 1 + mpf(params["up"])), params["rows"]),
            ((mpf(0), 1 - mpf(params["down"])), params["rows"]),
        ]
    if law == "padded-sketch":
        return [((mpf(0), 1 - padded_leverage(params)), params["rows"])]
    if (
        law == "inverse-wishart"
    ):  # the precision matrices of the draws are Wishart with scales Σ⁻¹ and (Σ − vvᵀ)⁻¹
        return [((mpf(0), 1 / (1 - padded_leverage(params))), params["dof"])]
    return [((params["q"], params["dof"], params["dim"]), 1)]


def padded_leverage(params):
    """vᵀ(DᵀD + w²I)⁻¹v of the row."""
    data = mp.matrix(DATA)
    row = data[params["row"], :].T
    scatter = data.T * data + mpf(params["padding"]) ** 2 * mp.eye(3)
    return mp.fdot(row, mp.lu_solve(scatter, row))


def merged(found, forward):
    """Equal axes turn so that one carries the shift of them all; what is left of them is a χ²."""
    squares, counts, parts = Counter(), Counter(), []
    for key, times in found:
        if len(key) == 3:
            parts.append((Wishart(*key), times))
        else:
            squares[key[1]] += times * key[0] ** 2
            counts[key[1]] += times
    for ratio, count in counts.items():
        moved = squares[ratio] > 0
        if moved:
            parts.append((Axis(mp.sqrt(squares[ratio]), ratio), 1))
        if ratio != 1 and count > moved:
            parts.append((Block(ratio, count - moved), 1))
    return parts if forward else [(part.reversed(), times) for part, times in parts]
