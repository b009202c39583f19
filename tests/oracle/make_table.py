"""Write reference.json: ``python -m tests.oracle.make_table``.

It takes long: every value is computed twice.

The epsilons of a setting are chosen here by coarse evaluations, for each direction: zero, a third
of delta(0), tails down to about 2e-25 and, where the loss is bounded, both sides of the bound.
"""

from functools import cache
from itertools import product
from pathlib import Path

from mpmath import mp, mpf

from tests.oracle import reference
from tests.oracle.inversion import Together
from tests.oracle.tables import write_table

TABLE = Path(__file__).with_name("reference.json")
TAILS = ("1e-12", "2e-25")
BOUND_SHARES = (0.99, 0.9999, 1.0001)

CANCER = (0.5129873001960021, 0.0017419917729445584)  # its row of largest leverage
ROWS_OF_DATA = [
    CANCER,
    (0.51, 0.0017),
    (0.0032, 2e-5),
    (0.0058, 0.0256),
    (0.3, 0.0),
    (0.0, 0.3),
    (0.0, 0.0256),
    (1 - 1e-6, 0.01),
    (0.999, 0.001),
    (0.1, 0.99),
    (1e-9, 1e-9),
    (0.25, 0.25),
    (0.999, 0.99),
]
FEATURES = (1, 2, 3, 12, 50)
LEVERAGES = (1e-9, 1e-4, 0.0032, 0.2, 0.5129873, 0.9, 0.999, 1 - 1e-9)
SHIFTS = (0.0, 1e-9, 1e-4, 0.01, 0.3, 1.0, 3.0, 10.0, 30.0)


def finite_sizes():
    return [
        (p, r)
        for p in FEATURES
        for r in sorted({p + 1, p + 2, 20, 50, 200, 1200, 100_000})
        if r > p
    ]


def als_settings(law, sizes):
    """Every size with two rows of data, so that every row of data meets several sizes."""
    pairs = {}
    for index, (p, r) in enumerate(sizes):
        for offset in (0, 5):
            h, t = ROWS_OF_DATA[(index + offset) % len(ROWS_OF_DATA)]
            pairs[h, t, p, r] = None
    pairs[0.0, 0.0, 3, 20] = None
    if law == "als-finite":
        pairs.update({(*CANCER, 12, 50): None, (*CANCER, 12, 200): None})
    names = ("leverage", "residual_share", "features", "rows")
    return [
        (law, dict(zip(names, values, strict=True))) for values in pairs if values[3] > values[2]
    ]


def settings():
    asymptotic_sizes = [*product(FEATURES, (20, 200, 100_000)), (12, 50)]
    sketches = product(LEVERAGES, (1, 2, 3, 10, 100, 1200))
    return [
        *(("gaussian-shift", {"mu": mu}) for mu in SHIFTS),
        *(("gaussian-sketch", {"leverage": q, "rows": r}) for q, r in (*sketches, (0.0, 3))),
        *als_settings("als-asymptotic", asymptotic_sizes),
        *als_settings("als-finite", finite_sizes()),
    ]


# --- the epsilons of a setting --------------------------------------------------------------------


def limits(law, params):
    if law == "als-finite":
        return reference.finite_limits(**params)
    found = reference.of_parts(law, params)
    sides = (found, [part.reversed() for part in found])
    return tuple(Together([(part, 1) for part in side]).maximum for side in sides)


def where(delta, target, start, limit):
    """An epsilon at which the decreasing function delta is within a factor e of target, or None."""
    if not delta(0) > target:
        return None
    low, high = mpf(0), min(start, limit)
    while high < limit and delta(high) > target:
        low, high = high, min(2 * high, limit)
    while high - low > low / 1000:
        middle = (low + high) / 2
        value = delta(middle)
        if value > 0 and abs(mp.log(value / target)) < 1:
            return middle
        low, high = (middle, high) if value > target else (low, middle)
    return None


def direction_epsilons(delta, limit, tails=TAILS):
    """ε of one direction: a third of δ(0), the tails, and both sides of a finite largest loss."""
    first = delta(mpf(0))
    found = [where(delta, target, first / 2, limit) for target in (first / 3, *map(mpf, tails))]
    chosen = {float(mp.nstr(x, 3)) for x in found if x is not None}
    if 0 < limit < mp.inf:
        chosen |= {float(mp.nstr(share * limit, 6)) for share in BOUND_SHARES}
    return chosen


def epsilons(law, params):
    @cache
    def coarse(epsilon):
        return reference.evaluate(law, params, epsilon, dps=35, order=10, splits=1, digits=2)

    chosen = {0.0}
    for side, limit in enumerate(limits(law, params)):
        chosen |= direction_epsilons(lambda x, side=side: coarse(mpf(x))[side], limit)
    if (params.get("leverage"), params.get("features")) == (CANCER[0], 12):
        chosen |= {0.1, 0.5, 1.0, 2.0}  # the published points of the cancer data
    return sorted(chosen)


# --- the table ------------------------------------------------------------------------------------


def decimal(value):
    return mp.nstr(value, 20, strip_zeros=False) if value else "0"


def entries(setting):
    law, params = setting
    rows = []
    for epsilon in epsilons(law, params):
        forward, backward = map(decimal, reference.checked(law, params, epsilon))
        row = {"law": law, "params": params, "epsilon": epsilon}
        rows.append({**row, "forward": forward, "backward": backward})
    return rows


if __name__ == "__main__":
    write_table(TABLE, entries, settings())
