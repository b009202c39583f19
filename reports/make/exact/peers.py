"""Gaussian pairs against other methods: gx2's generalised χ² probabilities, and Monte Carlo.

δ(ε) = P(L > ε) − e^ε Q(L > ε), L a quadratic form of normals; the truth is a line integral with 40
digits (mpmath). Needs the extra `peers`. Every method runs on the same pairs in the same run, all ε
in one call where it takes them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpaudit import exact
from dpaudit._core.types import Array
from reports.make.extras import package
from reports.make.timing import seconds

EXTRA = "peers"
DRAWS, BLOCK = 10_000_000, 500_000
DIGITS = 40
ANGLE = 65  # of the line to the real axis, in degrees
RELATIVE = 1e-3  # what counts as having reached a δ
TIGHT = {"AbsTol": 1e-14, "RelTol": 1e-12}


@dataclass(frozen=True)
class Pair:
    """N(0, I) against N(shift, diag(ratio)), and the ε at which it is asked for."""

    name: str
    shift: Array
    ratio: Array
    epsilon: Array

    @property
    def loss(self) -> tuple[Array, Array, float]:
        """(a, b, c) of L(x) = Σ a x² + Σ b x + c."""
        constant = 0.5 * float(np.sum(self.shift**2 / self.ratio + np.log(self.ratio)))
        return 0.5 * (1.0 / self.ratio - 1.0), -self.shift / self.ratio, constant


PAIRS = (
    Pair(
        "11-d, one axis apart",
        np.r_[0.5, np.zeros(10)],
        np.r_[0.97 / 0.85, np.full(10, 0.97)],
        np.array([0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 2.9]),
    ),
    Pair(
        "3-d, sketch-like",
        np.array([0.3, 0.0, 0.1]),
        np.array([1.3, 0.9, 0.75]),
        np.array([0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 14.0, 20.0]),
    ),
    Pair(
        "12-d, sketch-like",
        np.array([0.0, 0.1, 0.2] * 4),
        np.array([0.8, 0.83, 0.87, 0.9, 0.94, 0.98, 1.01, 1.04, 1.08, 1.13, 1.19, 1.25]),
        np.array([0.0, 0.5, 1.0, 2.0, 4.0, 6.0, 9.0, 12.0]),
    ),
)


def contour(pair: Pair) -> Array:
    """dpaudit, matrices in; the time is that of both directions and the eigendecomposition."""
    size = len(pair.shift)
    return exact.gaussian_pair(
        np.zeros(size), np.eye(size), pair.shift, np.diag(pair.ratio), pair.epsilon
    )[0]


def monte_carlo(pair: Pair) -> Array:
    """Paper 1's lemma 2: the average of (1 − e^{ε−L})₊ over draws of the first law."""
    a, b, c = pair.loss
    rng, total = np.random.default_rng(1), np.zeros(len(pair.epsilon))
    for _ in range(DRAWS // BLOCK):
        z = rng.standard_normal((BLOCK, len(a)))
        loss = (z**2) @ a + z @ b + c
        total += [-np.expm1(np.minimum(e - loss, 0.0)).sum() for e in pair.epsilon]
    return np.asarray(total / DRAWS)


def generalised(method: str, single: bool, **options: Any) -> Callable[[Pair], Array]:
    """gx2's upper tails of L under both laws, with its own conversion of parameters.

    single : one call for each ε, not one for all.
    """

    def delta(pair: Pair) -> Array:
        gx2 = package("gx2", EXTRA)
        a, b, c = pair.loss
        quadratic = {"q2": np.diag(a), "q1": b, "q0": c}
        size = len(a)
        first = gx2.norm_quad_to_gx2_params(np.zeros(size), np.eye(size), quadratic)
        second = gx2.norm_quad_to_gx2_params(pair.shift, np.diag(pair.ratio), quadratic)

        def above(law: Any, epsilon: Any) -> Any:
            return gx2.cdf(epsilon, *law, side="upper", method=method, **options)

        def delta_at(epsilon: Any) -> Any:
            return above(first, epsilon) - np.exp(epsilon) * above(second, epsilon)

        if single:
            return np.array([float(delta_at(epsilon)) for epsilon in pair.epsilon])
        return np.asarray(delta_at(pair.epsilon))

    return delta


OURS = "dpaudit"
METHODS: dict[str, Callable[[Pair], Array]] = {
    OURS: contour,
    "gx2 Imhof-Davies": generalised("imhof", single=False),
    "gx2 Imhof tight": generalised("imhof", single=False, **TIGHT),
    "gx2 Imhof 1 by 1": generalised("imhof", single=True, **TIGHT),
    "gx2 ray 1e5": generalised("ray", single=True, n_rays=100_000, force_mc=True),
    "gx2 ifft": generalised("ifft", single=False),
    "Monte Carlo 1e7": monte_carlo,
}
SHARING = (OURS, "gx2 Imhof-Davies", "gx2 Imhof tight")  # take all ε in one call


def truth(pair: Pair) -> list[Any]:
    """δ at each ε with 40 digits, by the line integral of `tests/oracle`, until two sums agree."""
    mp = package("mpmath", EXTRA).mp
    inversion, settings = (
        package(f"tests.oracle.{name}", EXTRA) for name in ("inversion", "pair_settings")
    )
    parameters = {"shift": pair.shift.tolist(), "ratio": pair.ratio.tolist()}
    with mp.workdps(DIGITS):
        whole = inversion.Together(settings.units("gaussian-pair", parameters, True))
        return [inversion.inverted(whole, float(epsilon), ANGLE, 20) for epsilon in pair.epsilon]


def timed(method: Callable[[Pair], Array], pair: Pair) -> tuple[Array, float]:
    """(values, seconds per ε); fast methods are repeated and the median counts."""
    values: list[Array] = []
    spent: list[float] = []
    while not spent or (sum(spent) < 0.5 and len(spent) < 9):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # gx2 warns where it clips a probability
            spent.append(seconds(lambda: values.append(method(pair))))
    return values[-1], float(np.median(spent)) / len(pair.epsilon)


def report() -> None:
    """Print, for each pair, the error of every method at every ε, its cost, and what it reached.

    A missing package is reported before the truth is computed. Last comes the cost of 100 ε in one
    call, over which dpaudit and gx2's vector form spread what they share.
    """
    package("gx2", EXTRA)
    for pair in PAIRS:
        true = truth(pair)
        errors, cost = {}, {}
        for name, method in METHODS.items():
            values, cost[name] = timed(method, pair)
            pairs = zip(values, true, strict=True)
            errors[name] = np.array([float(abs(float(v) - t)) for v, t in pairs])
        print(f"\n{pair.name}: ε, true δ, then absolute errors")
        print("     ε   true δ     " + "  ".join(f"{name:>16}" for name in METHODS))
        for i, epsilon in enumerate(pair.epsilon):
            cells = "  ".join(f"{errors[name][i]:16.1e}" for name in METHODS)
            print(f"{epsilon:6g}   {float(true[i]):.3e}  {cells}")
        _summary(errors, cost, np.array(true, dtype=float))
        many = replace(pair, epsilon=np.linspace(0.0, pair.epsilon[-1], 100))
        shared = {name: timed(METHODS[name], many)[1] for name in SHARING}
        shown = ", ".join(f"{name} {1e3 * each:.3f}" for name, each in shared.items())
        ratio = shared[SHARING[-1]] / shared[SHARING[0]]
        print(f"  100 ε in a call, ms per ε: {shown} ({ratio:.0f} × dpaudit's)")


def _summary(errors: dict[str, Array], cost: dict[str, float], true: Array) -> None:
    for name, error in errors.items():
        reached = true[error < RELATIVE * true]
        least = f"{reached.min():.1e}" if len(reached) else "none"
        at_least = int(np.sum(errors[OURS] <= np.maximum(error, np.spacing(true))))
        print(
            f"  {name:<16} {1e3 * cost[name]:10.3f} ms per ε, {cost[name] / cost[OURS]:8.0f} × "
            f"dpaudit's; smallest δ to {RELATIVE:g}: {least}; dpaudit's error is no larger (to "
            f"rounding) at {at_least} of {len(true)} ε"
        )
