"""Exact privacy spectra: analytic, to relative accuracy in the tail. Knows nothing of the empirical side.

Building blocks return (forward, backward) = (full → zeroed, zeroed → full); ε in nats.
"""

from dpaudit.exact import printed
from dpaudit.exact.als import als
from dpaudit.exact.calibrate import Calibration, calibrate
from dpaudit.exact.front import privacy_loss, spectrum, worst_case
from dpaudit.exact.gaussian import gaussian_shift
from dpaudit.exact.loss import PrivacyLoss, compose
from dpaudit.exact.pair import gaussian_pair
from dpaudit.exact.rows import gaussian_sketch
from dpaudit.exact.wishart import additive_wishart

__all__ = [
    "Calibration",
    "PrivacyLoss",
    "additive_wishart",
    "als",
    "calibrate",
    "compose",
    "gaussian_pair",
    "gaussian_shift",
    "gaussian_sketch",
    "printed",
    "privacy_loss",
    "spectrum",
    "worst_case",
]
