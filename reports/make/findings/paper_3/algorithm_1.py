"""Paper 3, section 4 and appendices D and E: algorithm 1, which reads λ_min, and theorem 1."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import chdtr, chdtrc, ndtr

from dpaudit.exact import gaussian_shift
from dpaudit.neighbours import zero_row
from dpaudit.papers import ModifiedGaussMix, printed
from dpaudit.papers.paper_3.sketches import axis_pair
from dpaudit.testing import choices, integers, reals
from reports.make.findings.evidence import CERTIFIED, Evidence, claimed, stated
from reports.make.findings.measures import sketch
from reports.make.findings.statement import Searched, Swept, Tested

Z = np.linspace(-8.0, 8.0, 401)
MASS = np.exp(-0.5 * Z**2) * (Z[1] - Z[0]) / math.sqrt(2.0 * math.pi)
FAR = 9.0  # deviations of z that are left out


def _tau(delta: float) -> float:
    return math.sqrt(2.0 * math.log(3.0 / delta))


def _claimed(mechanism: ModifiedGaussMix) -> float:
    epsilon = mechanism.claim.epsilon
    assert epsilon is not None
    return epsilon


def theorem_1(mixtures: int, gamma: float, delta: float) -> float:
    """Theorem 1's ε at η = γ/√k."""
    return printed.theorem_1_epsilon(mixtures, gamma, delta, gamma / mixtures**0.5)


def _copies(row_bound: float, mixtures: int, gamma: float, delta: float) -> int:
    """Rows of norm C of one feature, so many that the printed line 6 adds no noise."""
    eta = gamma / math.sqrt(mixtures)
    return math.ceil(gamma / row_bound**2 + eta * (_tau(delta) + FAR)) + 1


def _leak_without_noise(row_bound: float, mixtures: int, gamma: float, delta: float) -> float:
    """δ of the output on that many rows, of which one is zeroed, at least.

    λ_min = mC² for m rows. The noise is 0 on both sides except for a probability p, so that δ is
    at least that of a sketch with q = 1/m less (1 + e^ε)p.
    """
    count, eta = _copies(row_bound, mixtures, gamma, delta), gamma / math.sqrt(mixtures)
    epsilon = printed.theorem_1_epsilon(mixtures, gamma, delta, eta)
    unlikely = float(ndtr(_tau(delta) - (count - 1 - gamma / row_bound**2) / eta))
    return sketch(1.0 / count, mixtures, epsilon) - (1.0 + math.exp(min(epsilon, 700.0))) * unlikely


def _leak_in_units(row_bound: float, mixtures: int, gamma: float, delta: float) -> float:
    """The corrected line on the same rows: λ̃ and the output together."""
    mechanism = ModifiedGaussMix(mixtures, gamma, delta, row_bound=row_bound, variant="corrected")
    count = _copies(row_bound, mixtures, gamma, delta)
    pair = zero_row(np.full((count, 1), row_bound), 0)
    return float(mechanism.joint_spectrum(pair, _claimed(mechanism)).delta)


def _together(mixtures: int, gamma: float, eta: float, delta: float, eigenvalue: float) -> float:
    """λ̃ and the output together at ε̃, for C = 1, a row of norm 1 on the axis of λ_min."""
    epsilon = printed.theorem_1_epsilon(mixtures, gamma, delta, eta)
    mechanism = ModifiedGaussMix(mixtures, gamma, delta, eta)
    return float(mechanism.joint_spectrum(axis_pair(1.0, eigenvalue), epsilon).delta)


def output_leak(
    mixtures: int, gamma: float, eta: float, delta: float, columns: int, epsilon: float
) -> float:
    """δ(ε) of the output alone, at least, for C = 1 and XᵀX = λI with d columns.

    The sum T of the squares on d − 1 axes is (λ′ + η̃²)χ² with k(d − 1) degrees of freedom, λ′ the
    eigenvalue there. A zeroed row (1, 0, …) lowers λ_min by 1 and so raises η̃². The events are
    {T > t}, by quadrature over z.
    """
    eigenvalue = 1.0 + eta * (_tau(delta) + 6.0) + 1.0
    dof, shift = mixtures * (columns - 1), eta * (_tau(delta) - Z)
    sides = [
        1.0001 * eigenvalue + np.maximum(gamma - np.maximum(lowest - shift, 0.0), 0.0)
        for lowest in (eigenvalue, eigenvalue - 1.0)
    ]

    def leak(scale: float) -> float:
        tails = [
            [float(np.sum(MASS * tail(dof, dof * scale / one))) for one in sides]
            for tail in (chdtr, chdtrc)
        ]
        both = [*tails, *(one[::-1] for one in tails)]
        return max(first - math.exp(min(epsilon, 700.0)) * second for first, second in both)

    scales = 1.0 + gamma + eta * _tau(delta) + np.linspace(-6.0 * eta - 2.0, 6.0 * eta + 2.0, 25)
    best = scales[int(np.argmax([leak(one) for one in scales]))]
    step = scales[1] - scales[0]
    return max(leak(one) for one in np.linspace(best - step, best + step, 15))


def _leak_of_output(mixtures: int, gamma: float, eta: float, delta: float, columns: int) -> float:
    epsilon = printed.theorem_1_epsilon(mixtures, gamma, delta, eta)
    return output_leak(mixtures, gamma, eta, delta, columns, epsilon)


def _bound_of_output(mixtures: int, gamma: float, eta: float, delta: float) -> float:
    """An upper bound with the exact ε of λ̃: λ̃ and the output, for any number of columns."""
    mechanism = ModifiedGaussMix(mixtures, gamma, delta, eta, variant="corrected")
    eigenvalue = 1.0 + eta * (_tau(delta) + 6.0) + 1.0
    return float(mechanism.joint_spectrum(axis_pair(1.0, eigenvalue), _claimed(mechanism)).delta)


def _leak_after_theorem(mixtures: int, gamma: float, delta: float) -> float:
    """δ of the output at the ε printed for η = γ/√k, at least: a row of norm 1, and zeros.

    λ_min = 1, so the noise is as if it were 0 unless z > τ − 1/η; q is then 1/(1 + noise²).
    """
    epsilon = printed.after_theorem_1_epsilon(mixtures, gamma, delta)
    if gamma <= _tau(delta):
        return sketch(1.0 / (1.0 + gamma**2), mixtures, epsilon)
    unlikely = float(ndtr(math.sqrt(mixtures) / gamma - _tau(delta)))
    least = sketch(1.0 / (1.0 + gamma), mixtures, epsilon)
    return least - (1.0 + math.exp(min(epsilon, 700.0))) * unlikely


def _bound_after_theorem(mixtures: int, gamma: float, delta: float) -> float:
    """λ̃ and the output on the same pair, at theorem 1's own ε."""
    mechanism = ModifiedGaussMix(mixtures, gamma, delta)
    epsilon = _claimed(ModifiedGaussMix(mixtures, gamma, delta, variant="corrected"))
    return float(mechanism.joint_spectrum(axis_pair(1.0, 1.0), epsilon).delta)


# Appendices D and E: the steps from λ̃ to theorem 1, and the sign of ε̃


def _second(mixtures: int, gamma: float, delta: float) -> float:
    """The second term of ε̃: the least over 1 < α < γ, by search over ln(α − 1)."""

    def value(place: float) -> float:
        order = 1.0 + math.exp(place)
        renyi = float(printed.lemma_1_renyi(order, mixtures, gamma))
        return renyi + math.log1p(-1.0 / order) + math.log(3.0 / (order * delta)) / (order - 1.0)

    ends = math.log(1e-3), math.log((gamma - 1.0) * (1.0 - 1e-9))
    starts = np.linspace(*ends, 41)
    best = int(np.argmin([value(one) for one in starts]))
    bounds = starts[max(best - 1, 0)], starts[min(best + 1, 40)]
    return float(minimize_scalar(value, bounds=bounds, method="bounded").fun)


def _power(mixtures: int, gamma: float, delta: float) -> float:
    """e^ε̃ at η = γ/√k."""
    first = math.sqrt(2.0 * mixtures * math.log(3.75 / delta)) / gamma
    return math.exp(min(first + _second(mixtures, gamma, delta), 700.0))


def _textbook(eta: float, delta: float) -> float:
    """The ε of the Gaussian mechanism's textbook formula at δ/3."""
    return math.sqrt(2.0 * math.log(3.75 / delta)) / eta


def _leak_of_estimate(eta: float, delta: float) -> float:
    """δ of λ̃ alone, a shift of 1/η, at the textbook's ε."""
    return float(gaussian_shift(1.0 / eta, _textbook(eta, delta)))


def _leak_at_exact_epsilon(eta: float, delta: float) -> float:
    """δ of λ̃ alone at the exact ε, where that is more than the textbook's."""
    epsilon = _textbook(eta, delta) + ModifiedGaussMix(1, 3.0, delta, eta).shortfall
    return float(gaussian_shift(1.0 / eta, epsilon)) * (1.0 - 1e-9)


def _below(delta: float, above: bool = True) -> Evidence:
    """The chance that λ̃ ≥ λ_min fails (z < τ), or λ̃ ≤ λ_min (z > τ), where λ_min > 0."""
    fails = float(ndtr(_tau(delta) if above else -_tau(delta)))
    return claimed(delta / 3.0, fails, quantity="P(λ̃ < λ_min)" if above else "P(λ̃ > λ_min)")


def _event(gamma: float, eta: float, delta: float, sign: float = -1.0) -> Evidence:
    """P(η̃² + λ_min ≥ γ) by lines 5 and 6 against P(z ≤ sign·τ), at C = 1 and λ_min = γ/2."""
    mechanism, z = ModifiedGaussMix(100, gamma, delta, eta), np.linspace(-9.0, 9.0, 180_001)
    noise = mechanism.noise_at(0.5 * gamma - eta * (mechanism.tau - z))
    largest = float(z[noise**2 + 0.5 * gamma >= gamma * (1.0 - 1e-12)].max())
    shown = float(ndtr(sign * _tau(delta)))
    return stated("P(η̃² + λ_min ≥ γ)", shown, float(ndtr(largest)), tolerance=1e-3)


def _missed(gamma: float, delta: float, eigenvalue: float, strict: bool = False) -> float:
    """P(η̃² + λ_min ≤ γ), or < γ if `strict`, at C = 1: at λ_min = 0 they are equal unless z > τ."""
    if eigenvalue == 0.0 and not strict:
        return 1.0
    return float(ndtr(-_tau(delta))) if eigenvalue <= gamma else 0.0


TESTS: dict[str, Tested] = {
    "3-algorithm-1-scale": Searched(
        lambda delta: delta,
        _leak_without_noise,
        {
            "row_bound": reals(1.0, 1000.0),
            "mixtures": integers(1, 100_000),
            "gamma": reals(2.6, 1000.0),
            "delta": 1e-5,
        },
        hypotheses=lambda gamma, delta: gamma > _tau(delta),
        kind=CERTIFIED,
        tries=40,
        at={"row_bound": 100.0, "mixtures": 10_000, "gamma": 100.0, "delta": 1e-5},
        also=lambda row_bound, mixtures, gamma, delta: (
            f"so ε = {theorem_1(mixtures, gamma, delta):.4g}, "
            f"{_copies(row_bound, mixtures, gamma, delta)} rows of norm C"
        ),
        fixed={"exact": _leak_in_units},
    ),
    "3-algorithm-1-line-3": Searched(
        lambda gamma: gamma,
        lambda gamma: math.sqrt(gamma),
        {"gamma": reals(2.51, 20.0), "delta": reals(1e-80, 0.1)},
        hypotheses=lambda gamma, delta: gamma <= _tau(delta),
        side="both",
        quantity="w/C",
        tries=200,
        fixed={"printed": lambda gamma: math.sqrt(gamma)},
    ),
    "3-theorem-1": Searched(
        lambda delta: delta,
        _together,
        {
            "mixtures": integers(1, 1000),
            "gamma": reals(2.6, 200.0),
            "eta": reals(1.0, 100.0),
            "delta": reals(1e-8, 0.3),
            "eigenvalue": reals(1.0, 200.0),
        },
        tries=60,
    ),
    "3-theorem-1-small-eta": Searched(
        lambda delta: delta,
        _leak_of_output,
        {
            "mixtures": integers(1, 100),
            "gamma": reals(5.0, 100.0),
            "eta": reals(0.05, 5.0),
            "delta": reals(1e-6, 0.1),
            "columns": integers(10, 1_000_000),
        },
        hypotheses=lambda gamma, delta: gamma > _tau(delta),
        kind=CERTIFIED,
        tries=40,
        at={"mixtures": 10, "gamma": 20.0, "eta": 0.2, "delta": 0.01, "columns": 10_000},
        also=lambda mixtures, gamma, eta, delta, columns: (
            f"so ε = {printed.theorem_1_epsilon(mixtures, gamma, delta, eta):.4g}"
        ),
        fixed={"exact": _bound_of_output},
    ),
    "3-theorem-1-epsilon": Searched(
        lambda delta: delta,
        _leak_after_theorem,
        {"mixtures": integers(1, 1000), "gamma": reals(2.6, 1000.0), "delta": reals(1e-12, 0.1)},
        kind=CERTIFIED,
        tries=60,
        at={"mixtures": 1, "gamma": 10.0, "delta": 1e-10},
        also=lambda mixtures, gamma, delta: (
            f"so ε = {printed.after_theorem_1_epsilon(mixtures, gamma, delta):.4g}"
        ),
        rounding=1e-18,
        fixed={"exact": _bound_after_theorem},
    ),
    "3-theorem-1-eta": Searched(
        lambda delta: delta / 3.0,
        _leak_of_estimate,
        {"eta": reals(0.05, 50.0), "delta": reals(1e-10, 0.5)},
        at={"eta": 0.2, "delta": 1e-5},
        also=lambda eta, delta: f"so ε = {_textbook(eta, delta):.4g}",
        fixed={"exact": _leak_at_exact_epsilon},
    ),
    "3-theorem-1-sketch": Swept(
        _below,
        {"delta": 1e-5},
        {"delta": (0.1, 1e-2, 1e-5, 1e-10)},
        fixed=partial(_below, above=False),
    ),
    "3-equation-48": Swept(
        _event,
        {"gamma": 50.0, "eta": 5.0, "delta": 1e-5},
        {"gamma": (10.0, 50.0, 1000.0), "eta": (0.1, 5.0), "delta": (1e-2, 1e-5)},
        fixed=partial(_event, sign=1.0),
    ),
    "3-equation-49": Searched(
        lambda delta: delta / 3.0,
        _missed,
        {
            "gamma": reals(2.6, 1000.0),
            "delta": reals(1e-10, 0.5),
            "eigenvalue": choices(0.0, 1.0, 10.0),
        },
        quantity="P(η̃² + λ_min ≤ γ)",
        tries=200,
        fixed={"exact": partial(_missed, strict=True)},
    ),
    "3-appendix-e-sign": Searched(
        lambda: 1.0,
        _power,
        {"mixtures": integers(1, 100), "gamma": reals(2.6, 1e5), "delta": reals(1e-4, 0.99)},
        side="lower",
        quantity="exp(ε̃)",
        tries=300,
        at={"mixtures": 1, "gamma": 100.0, "delta": 0.5},
        fixed={"printed": lambda delta: 1.0 - delta / 3.0},
    ),
    "3-equation-50": Searched(
        lambda mixtures, gamma, delta: (
            0.2 * mixtures / gamma + math.log(3.0 / delta) / (0.4 * gamma - 1.0)
        ),
        _second,
        {"mixtures": integers(1, 10_000), "gamma": reals(2.51, 1e5), "delta": reals(1e-10, 0.9)},
        quantity="ε",
        tries=200,
    ),
}
