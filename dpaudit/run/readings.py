"""What is read off an exact spectrum beside its values on a grid: ε at a δ, μ, total variation."""

from __future__ import annotations

from dataclasses import dataclass, field

from dpaudit.curves.claims import Claim
from dpaudit.curves.spectrum import Spectrum
from dpaudit.errors import NoExactSpectrum

DELTAS = (1e-5, 1e-6)
EPSILON = 1.0


@dataclass(frozen=True)
class Readings:
    """Numbers read off a spectrum; ε and divergences in nats, infinite where none is finite.

    epsilon_at : ε by δ, at 10⁻⁵, 10⁻⁶ and the claim's own δ > 0.
    total_variation : δ(0).
    gdp_mu : the μ of the Gaussian shift with the same δ(ε), by ε, at 1 and the claim's own.
    renyi_2 : Rényi divergence of order 2, of the larger direction; None where no closed form is
        known.
    pure_epsilon : the largest privacy loss.
    notes : by the name of a number that is None, why it is.
    """

    epsilon_at: dict[float, float]
    total_variation: float
    gdp_mu: dict[float, float]
    renyi_2: float | None
    pure_epsilon: float
    notes: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, spectrum: Spectrum, claim: Claim | None) -> Readings:
        """Read them off an exact spectrum, which carries its curve."""
        own_epsilon = [] if claim is None or claim.epsilon is None else [claim.epsilon]
        own_delta = [claim.delta] if claim is not None and own_epsilon and claim.delta > 0.0 else []
        deltas, epsilons = (
            sorted({*DELTAS, *own_delta}, reverse=True),
            sorted({EPSILON, *own_epsilon}),
        )
        renyi, notes = _renyi(spectrum)
        return cls(
            {
                delta: float(epsilon)
                for delta, epsilon in zip(deltas, spectrum.epsilon_at(deltas), strict=True)
            },
            spectrum.total_variation,
            {
                epsilon: float(mu)
                for epsilon, mu in zip(epsilons, spectrum.gdp_mu(epsilons), strict=True)
            },
            renyi,
            spectrum.pure_epsilon,
            notes,
        )


def _renyi(spectrum: Spectrum) -> tuple[float | None, dict[str, str]]:
    try:
        return float(spectrum.renyi(2.0)), {}
    except NoExactSpectrum as error:
        return None, {"renyi_2": str(error)}
