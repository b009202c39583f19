"""The package's exact spectra against reference.json, and that against other derivations."""

import importlib
import json
from functools import cache
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from mpmath import mp, mpf

from tests.oracle import reference
from tests.oracle.tables import SIDES, assert_matches

TABLE = json.loads(Path(__file__).with_name("reference.json").read_text(encoding="utf-8"))
SMALL = 1e-20
RELATIVE = 1e-9  # for deltas of at least SMALL
ROUNDING = 2.0**-52  # a factor exp(epsilon) cannot be more accurate than epsilon times this


def package_deltas(law, params, epsilon):
    exact = importlib.import_module("dpaudit.exact")
    if law == "gaussian-shift":
        delta = exact.gaussian_shift(**params, epsilon=epsilon)
        return delta, delta
    if law == "gaussian-sketch":
        return exact.gaussian_sketch(**params, epsilon=epsilon)
    return exact.als(**params, epsilon=epsilon, law=law.removeprefix("als-"))


def label(entry):
    return " ".join([entry["law"], *(f"{value:g}" for value in entry["params"].values())])


GROUPS = {name: list(rows) for name, rows in groupby(TABLE, key=label)}


def allowed(row, wanted):
    relative = RELATIVE + ROUNDING * row["epsilon"]
    return relative * wanted if wanted >= SMALL else SMALL


@pytest.mark.quick
@pytest.mark.parametrize("law", sorted({row["law"] for row in TABLE}))
def test_package_matches_the_table(law):
    for rows in GROUPS.values():
        if rows[0]["law"] == law:
            assert_matches(rows, package_deltas, allowed)


def als(h, t, p, r):
    return {"leverage": h, "residual_share": t, "features": p, "rows": r}


CHEAP = [
    ("als-finite", {"features": 1, "rows": 20}),
    ("als-asymptotic", {"features": 1, "rows": 20}),
    ("gaussian-sketch", {"rows": 10}),
    ("gaussian-shift", {}),
]


@pytest.mark.parametrize(("law", "params"), CHEAP)
def test_table_is_what_the_reference_gives(law, params):
    row = next(
        r
        for r in TABLE
        if r["law"] == law and params.items() <= r["params"].items() and r["epsilon"] > 0
    )
    deltas = reference.evaluate(law, row["params"], row["epsilon"], dps=32, digits=12)
    for side, value in zip(SIDES, deltas, strict=True):
        assert mp.almosteq(value, mpf(row[side]), rel_eps=mpf(10) ** -14, abs_eps=0)


def test_table_covers_every_law_and_holds_probabilities():
    assert {row["law"] for row in TABLE} == set(reference.LAWS)
    assert len(GROUPS) >= 60
    assert all(0 <= mpf(row[side]) <= 1 for row in TABLE for side in SIDES)


@cache
def database(p, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(p + 5, p)), rng.normal(size=p + 5)


class LeastSquares:
    """Solution, residual and Gram matrix of a database in exact-enough arithmetic."""

    def __init__(self, B, b):
        self.B, self.b = mp.matrix(B.tolist()), mp.matrix(b.tolist())
        self.gram = self.B.T * self.B
        self.solution = mp.lu_solve(self.gram, self.B.T * self.b)
        self.residual = self.b - self.B * self.solution
        self.rss = mp.fdot(self.residual, self.residual)
        self.logdet = mp.log(mp.det(self.gram))

    def log_student(self, x, rows):
        """Log density at x, up to a constant that depends on the sizes alone."""
        p = len(x)
        move = x - self.solution
        distance = mp.fdot(move, self.gram * move) / self.rss
        return (self.logdet - p * mp.log(self.rss) - (rows + 1) * mp.log1p(distance)) / 2


def zeroed(values):
    values = values.copy()
    values[0] = 0
    return values


def whitened(full, x):
    """(leverage, residual share) of row 0 and two numbers of x.

    Those are (axis coordinate, squared radius on the other axes).
    """
    v = full.B[0, :].T
    influence = mp.lu_solve(full.gram, v)
    leverage = mp.fdot(v, influence)
    share = full.residual[0] ** 2 / ((1 - leverage) * full.rss)
    move = (x - full.solution) / mp.sqrt(full.rss)
    axis = -mp.sign(full.residual[0]) * mp.fdot(v, move) / mp.sqrt(leverage)
    return leverage, share, axis, mp.fdot(move, full.gram * move) - axis**2


def random_case(p, seed):
    B, b = database(p, seed)
    full, less = LeastSquares(B, b), LeastSquares(zeroed(B), zeroed(b))
    x = full.solution + mp.matrix(np.random.default_rng(seed + 100).normal(size=p).tolist())
    return full, less, x


@pytest.mark.parametrize(("p", "rows", "seed"), [(1, 2, 1), (3, 50, 3), (5, 1200, 5)])
def test_finite_loss_is_the_ratio_of_student_densities(p, rows, seed):
    with mp.workdps(30):
        full, less, x = random_case(p, seed)
        h, t, axis, s2 = whitened(full, x)
        direct = full.log_student(x, rows) - less.log_student(x, rows)
        assert abs(reference.finite_loss(h, t, p, rows, axis, s2) - direct) < 1e-20


def quick(law, h, t, p, r, epsilon, digits=9):
    return reference.evaluate(law, als(h, t, p, r), epsilon, dps=32, order=14, digits=digits)


def close(value, expected, relative):
    assert abs(value - expected) <= relative * abs(expected)


def test_asymptotic_without_leverage_is_a_chi_square_problem():
    t, p, epsilon = mpf("0.3"), 5, mpf("0.6")
    u = (epsilon - p * mp.log1p(-t) / 2) * (1 - t) / t
    upper = [mp.gammainc(mpf(p) / 2, x, regularized=True) for x in (u, u / (1 - t))]
    close(
        quick("als-asymptotic", 0, t, p, 20, epsilon)[0],
        upper[0] - mp.exp(epsilon) * upper[1],
        1e-13,
    )
