"""Gaussian pairs, sketches, Wishart noise and compositions against pairs.json.

Also pairs.json against other routes.
"""

import json
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from mpmath import mp, mpf

from dpaudit import exact, mechanisms, neighbours
from dpaudit.curves import ComposedCurves
from dpaudit.exact.zeroed_rows.additive_wishart import WishartCurve
from tests.oracle.inversion import Together, inverted
from tests.oracle.pair_settings import DATA, NEAR, settings, units
from tests.oracle.tables import SIDES, assert_matches, disagreements

TABLE = json.loads(Path(__file__).with_name("pairs.json").read_text(encoding="utf-8"))
SMALL = 1e-30
RELATIVE = 1e-8  # for deltas of at least SMALL
ROUNDING = 2.0**-52  # a factor exp(epsilon) cannot be more accurate than epsilon times this
Loss = exact.PrivacyLoss


def pair_of(shift, ratio):
    size = len(shift)
    return np.zeros(size), np.eye(size), np.array(shift), np.diag(ratio)


def loss_of(law, params):
    """The `PrivacyLoss` of a release."""
    if law == "gaussian-pair":
        return Loss.gaussian_pair(*pair_of(**params))
    if law == "gaussian-shift":
        return Loss.gaussian_shift(**params)
    if law == "gaussian-sketch":
        return Loss.gaussian_sketch(**params)
    if law == "replaced-sketch":
        row = Loss.gaussian_pair(*pair_of([0.0, 0.0], [1.0 + params["up"], 1.0 - params["down"]]))
        return exact.compose([row], [params["rows"]])
    parts = params["parts"]
    return exact.compose([loss_of(*part[:2]) for part in parts], [part[2] for part in parts])


def noisy(row):
    """Whether a row is of a composition with additive Wishart noise, which has bounds alone."""
    parts = row["params"].get("parts", ())
    return any(law == "additive-wishart" for law, _, _ in parts)


def mechanism_of(law, params):
    padding = params["padding"]
    if law == "inverse-wishart":
        return mechanisms.InverseWishartDraw(params["dof"], padding)
    if params["mechanism"] == "GaussMix":
        return mechanisms.GaussMix(params["rows"], padding)
    return getattr(mechanisms, params["mechanism"])(params["rows"], padding=padding)


def package_deltas(law, params, epsilon):
    if law == "gaussian-pair":
        return exact.gaussian_pair(*pair_of(**params), epsilon)
    if law == "additive-wishart":
        return exact.additive_wishart(**params, epsilon=epsilon)
    if law in ("padded-sketch", "inverse-wishart"):
        pair = neighbours.zero_row(np.array(DATA, dtype=float), params["row"])
        found = exact.spectrum(mechanism_of(law, params), pair, epsilon)
        return found.forward, found.backward
    return loss_of(law, params).delta(epsilon)


def label(entry):
    return f"{entry['law']} {json.dumps(list(entry['params'].values()))}"


GROUPS = {name: list(rows) for name, rows in groupby(TABLE, key=label)}


def allowed(row, wanted):
    return max((RELATIVE + ROUNDING * row["epsilon"]) * wanted, SMALL * RELATIVE)


@pytest.mark.parametrize("law", sorted({row["law"] for row in TABLE}))
def test_package_matches_the_table(law):
    for rows in GROUPS.values():
        if rows[0]["law"] == law and not noisy(rows[0]):
            assert_matches(rows, package_deltas, allowed)


def test_bounds_enclose_compositions_with_wishart_noise():
    """The upper bound exceeds narrow losses by their chords on a grid of 0.001, 4e-5 at most."""
    for rows in filter(lambda rows: noisy(rows[0]), GROUPS.values()):
        parts = rows[0]["params"]["parts"]
        curves = tuple((wishart_or_loss(*part[:2]), part[2]) for part in parts)
        bounds = ComposedCurves(curves, "parts")
        epsilon = np.array([row["epsilon"] for row in rows], dtype=float)
        both = np.array([[float(row[side]) for row in rows] for side in SIDES])
        above, low = np.array(bounds.delta(epsilon)), bounds.low(epsilon)
        assert np.all((above >= both) & (above <= both + 5e-5))
        assert np.all((low >= 0.0) & (low <= both.max(axis=0)))
        later = epsilon + bounds.interval * sum(times for _, times in curves)
        assert np.all(low >= np.max(bounds.delta(later), axis=0) - 1e-8)


def wishart_or_loss(law, params):
    if law == "additive-wishart":
        return WishartCurve.of(**params)
    return loss_of(law, params)


def test_table_covers_every_law_and_holds_probabilities():
    known = {label({"law": law, "params": params}) for law, params, _ in settings()}
    assert known >= set(GROUPS)
    assert len(GROUPS) >= 60
    assert {row["law"] for row in TABLE} == {law for law, _, _ in settings()}
    assert all(0 <= mpf(row[side]) <= 1 for row in TABLE for side in SIDES)


def test_directions_agree_at_zero():
    """At epsilon zero both are the total variation distance, by two computations."""
    rows = [row for row in TABLE if row["epsilon"] == 0]
    assert len(rows) == len(GROUPS)
    assert all(
        mp.almosteq(mpf(row["forward"]), mpf(row["backward"]), rel_eps=mpf(10) ** -15)
        for row in rows
    )


@pytest.mark.parametrize(
    "law", ["gaussian-pair", "replaced-sketch", "inverse-wishart", "additive-wishart"]
)
@pytest.mark.parametrize("side", SIDES)
def test_table_is_what_the_reference_gives(law, side):
    row = next(r for r in TABLE if r["law"] == law and r["epsilon"] > 0 and r[side] != "0")
    with mp.workdps(30):
        whole = Together(units(law, row["params"], side == "forward"))
        found = (
            whole.conditioned(row["epsilon"])
            if whole.upright
            else inverted(whole, row["epsilon"], 68, 14)
        )
    assert mp.almosteq(found, mpf(row[side]), rel_eps=mpf(10) ** -14)


# entries so small that products with NEAR are exact
UNIMODULAR = np.array([[1, 2, 0], [0, 1, -1], [1, 0, 3]])


@pytest.mark.parametrize("ratio", [[1 + NEAR, 1 - NEAR, 1 + 2 * NEAR]])
def test_nearly_equal_covariances_as_full_matrices(ratio):
    """The same pair in other coordinates, exactly: 1e-6 apart and still to 1e-8."""
    rows = [r for r in TABLE if r["params"] == {"shift": [0.0, 0.0, 0.0], "ratio": ratio}]
    epsilon = np.array([row["epsilon"] for row in rows])
    one, other = UNIMODULAR @ UNIMODULAR.T, (UNIMODULAR * ratio) @ UNIMODULAR.T
    for side, values in zip(
        SIDES, exact.gaussian_pair(np.zeros(3), one, np.zeros(3), other, epsilon), strict=True
    ):
        assert disagreements(rows, side, values, allowed) == []
