"""Exact privacy spectra: analytic, to relative accuracy in the tail.

It holds the spectrum of a mechanism on a pair, the worst case over all neighbours, calibration and
composition. `pairs/` has a file for each kind of pair of laws, `zeroed_rows/` the laws that differ
by one zeroed row, for all rows at once, `numerics/` the numerical methods. A mechanism is asked for
its output law alone: the room imports no mechanism, no paper and nothing of the empirical side.

The names below are loaded on first use; besides the functions for users they are the curves that
other rooms make themselves.

Building blocks return (forward, backward) = (full → zeroed, zeroed → full); ε in nats.
"""

from typing import TYPE_CHECKING

from dpaudit._core.lazy import on_first_use

if TYPE_CHECKING:
    from dpaudit.curves.gaussian_shift import gaussian_shift as gaussian_shift
    from dpaudit.exact.calibration import Calibration as Calibration
    from dpaudit.exact.calibration import calibrate as calibrate
    from dpaudit.exact.composition import PrivacyLoss as PrivacyLoss
    from dpaudit.exact.composition import compose as compose
    from dpaudit.exact.pair_spectrum import privacy_loss as privacy_loss
    from dpaudit.exact.pair_spectrum import spectrum as spectrum
    from dpaudit.exact.pairs.gaussian import gaussian_pair as gaussian_pair
    from dpaudit.exact.worst_neighbour import worst_case as worst_case
    from dpaudit.exact.zeroed_rows.additive_wishart import additive_wishart as additive_wishart
    from dpaudit.exact.zeroed_rows.als import als as als
    from dpaudit.exact.zeroed_rows.gaussian_sketch import gaussian_sketch as gaussian_sketch

# No module of this folder has the name of a function: importing it would hide the function.
__getattr__, __dir__, __all__ = on_first_use(
    __name__,
    {
        "dpaudit.curves.gaussian_shift": "gaussian_shift",
        "dpaudit.exact.adaptive": "FirstRelease adaptive_curve",
        "dpaudit.exact.calibration": "Calibration calibrate",
        "dpaudit.exact.composition": "PrivacyLoss compose",
        "dpaudit.exact.pair_spectrum": (
            "curve_on_pair exact_spectrum privacy_loss spectrum spectrum_of"
        ),
        "dpaudit.exact.pairs.discrete": "Atoms BranchCurve",
        "dpaudit.exact.pairs.dispatch": "curve_of_laws limit",
        "dpaudit.exact.pairs.gaussian": "gaussian_pair",
        "dpaudit.exact.pairs.laplace": "LaplaceShift",
        "dpaudit.exact.pairs.replaced_wishart": "ReplacedWishartCurve",
        "dpaudit.exact.pairs.student_t": "StudentPairCurve",
        "dpaudit.exact.worst_neighbour": "worst_case",
        "dpaudit.exact.zeroed_rows.additive_wishart": "additive_wishart",
        "dpaudit.exact.zeroed_rows.als": "StudentCurve als asymptotic_loss",
        "dpaudit.exact.zeroed_rows.gaussian_sketch": "gaussian_sketch",
    },
    modules="printed",
)
