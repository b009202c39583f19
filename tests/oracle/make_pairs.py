"""Write pairs.json: ``python -m tests.oracle.make_pairs``.

It takes long: every value is computed by two routes.

Gaussian pairs, sketches, Wishart noise and their compositions. Where at most two variables matter
one route conditions (`parts`) and the other inverts the moment function along a line (`inversion`);
elsewhere two lines at two precisions do. The epsilons are zero, a third of delta(0), tails down to
about 3e-30 and both sides of a bound on the loss.
"""

from functools import cache, partial
from pathlib import Path

from mpmath import mp, mpf

from tests.oracle import reference
from tests.oracle.inversion import Together, inverted
from tests.oracle.make_table import decimal, direction_epsilons
from tests.oracle.pair_settings import settings, units
from tests.oracle.tables import write_table

TABLE = Path(__file__).with_name("pairs.json")
TAILS = ("1e-12", "3e-30")
AGREE = mpf(10) ** -16
VANISHED = mpf(10) ** -1000
COARSE = {"order": 10, "splits": 1, "digits": 3}
FINE = {"order": 25, "splits": 7, "digits": 20}
SIDES = (True, False)


class Setting:
    """One setting: its two directions, by either route."""

    def __init__(self, law, params):
        self.law, self.params = law, params

    def together(self, forward):
        return Together(units(self.law, self.params, forward))

    def conditioned(self, epsilon, forward, dps, swapped=False, **mesh):
        return reference.with_mesh(
            lambda: self.together(forward).conditioned(mpf(epsilon), swapped), dps, **mesh
        )

    def inverted(self, epsilon, forward, angle, dps, digits):
        with mp.workdps(dps):
            return inverted(self.together(forward), epsilon, angle, digits)

    @property
    def routes(self):
        """(first, second) computations of a value; the first is the one that is kept."""
        whole = self.together(True)
        # a closed form may be a difference of what agrees to 60
        digits = 55 if whole.depth > 1 else 120
        nested = partial(self.conditioned, dps=digits, **FINE)
        line = partial(self.inverted, angle=62, dps=50, digits=20)
        if not whole.upright:
            steeper = partial(self.inverted, angle=75, dps=60, digits=22)
            return (nested if whole.depth <= 2 else steeper), line
        if whole.depth <= 2:
            return nested, partial(self.conditioned, dps=50, swapped=True)
        return tuple(
            partial(self.inverted, angle=90, dps=dps, digits=digits)
            for dps, digits in ((35, 18), (30, 16))
        )

    def coarse(self, epsilon, forward):
        if self.together(forward).upright:
            return self.conditioned(epsilon, forward, 35, **COARSE)
        return self.inverted(epsilon, forward, 62, 35, 4)

    def checked(self, epsilon, forward):
        one, two = (route(epsilon, forward) for route in self.routes)
        if abs(one - two) > max(abs(one) * AGREE, VANISHED):
            raise ArithmeticError(
                f"{self.law} {self.params} at {epsilon}, forward {forward}: {one} and {two}"
            )
        return one

    def epsilons(self):
        chosen = {0.0}
        with mp.workdps(35):  # a floor of 1e-2 and a rest of 1e-30
            for side in SIDES:
                whole, coarse = self.together(side), cache(partial(self.coarse, forward=side))

                def excess(e, whole=whole, coarse=coarse):
                    return coarse(e) - whole.floor

                chosen |= direction_epsilons(excess, whole.maximum, TAILS)
        return sorted(chosen)


def entries(case):
    law, params, given = case
    setting = Setting(law, params)
    rows = []
    for epsilon in given or setting.epsilons():
        forward, backward = (decimal(setting.checked(epsilon, side)) for side in SIDES)
        row = {"law": law, "params": params, "epsilon": epsilon}
        rows.append({**row, "forward": forward, "backward": backward})
    return rows


if __name__ == "__main__":
    write_table(TABLE, entries, settings())
