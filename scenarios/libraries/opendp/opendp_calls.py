"""What opendp releases, as mechanisms to audit: imported when one is called.

opendp draws from the operating system and cannot be seeded: no run comes again digit by digit.

A function below `released` makes a measurement, what it is given and the distance of the neighbours
that are audited; opendp's own map must promise the `claim` at this distance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

Bounds = Sequence[float]  # least and largest value


class Measured:
    """opendp's mean of the label with Laplace noise (ε), Gaussian noise (`rho`), or mean and sum
    composed (ε).

    The scale is what the bounds and n call for, and opendp's own map must agree that a changed row
    costs no more than what is claimed. Between databases of one size a changed row is at symmetric
    distance 2.
    """

    def __init__(self, kind: str, claim: float, y: Bounds) -> None:
        self.kind, self.claim, self.bounds = kind, claim, tuple(y)

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        values = np.clip(data[:, -1], *self.bounds).tolist()
        measurement = self._measurement(len(values))
        return np.array([measurement(values) for _ in range(size)], dtype=np.float64)

    def _measurement(self, n: int) -> Any:
        import opendp.prelude as dp

        dp.enable_features("contrib")
        domain = dp.vector_domain(dp.atom_domain(bounds=self.bounds), size=n)
        space, width = (domain, dp.symmetric_distance()), self.bounds[1] - self.bounds[0]
        mean, total = dp.t.make_mean(*space), dp.t.make_sum(*space)
        if self.kind == "gaussian":
            made = mean >> dp.m.then_gaussian(scale=width / n / np.sqrt(2 * self.claim))
        elif self.kind == "laplace":
            made = mean >> dp.m.then_laplace(scale=width / n / self.claim)
        else:
            halves = [(mean, 2 * width / n / self.claim), (total, 2 * width / self.claim)]
            made = dp.c.make_composition(
                [part >> dp.m.then_laplace(scale=scale) for part, scale in halves]
            )
        return _agreed(made, self.claim)


class MeasuredScalar:
    """opendp's noise on a mean that numpy has taken, for large databases: Laplace (ε) or Gaussian
    (`rho`).

    Of another row the mean moves by (largest − least)/n at most.
    """

    def __init__(self, kind: str, claim: float, y: Bounds) -> None:
        self.kind, self.claim, self.bounds = kind, claim, tuple(y)

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        import opendp.prelude as dp

        dp.enable_features("contrib")
        sensitivity = (self.bounds[1] - self.bounds[0]) / len(data)
        space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
        if self.kind == "gaussian":
            made = dp.m.make_gaussian(*space, scale=sensitivity / np.sqrt(2 * self.claim))
        else:
            made = dp.m.make_laplace(*space, scale=sensitivity / self.claim)
        measurement, mean = (
            _agreed(made, self.claim, sensitivity),
            float(np.clip(data[:, -1], *self.bounds).mean()),
        )
        return np.array([measurement(mean) for _ in range(size)])


def _agreed(measurement: Any, claim: Any, distance: Any = 2) -> Any:
    """The measurement, if its own map promises the claim, rounding apart."""
    promised = measurement.map(distance)
    if np.any(np.asarray(promised) > np.asarray(claim) * (1 + 1e-9)):
        raise ValueError(f"opendp promises {promised}, claimed is {claim}")
    return measurement


def released(build: Callable[..., Any]) -> Callable[..., Any]:
    """From (data, options) ↦ (measurement, argument, distance) to a factory of mechanisms.

    claim : ε, ρ or (ε, δ). shown : what of a release is a draw.
    """

    @wraps(build)
    def make(claim: Any, **options: Any) -> Any:
        def mechanism(data: Any, size: int, *, rng: Any) -> Any:
            import opendp.prelude as dp

            dp.enable_features("contrib", "idealized-numerics", "honest-but-curious")
            measurement, argument, distance = build(dp, data, **options)
            agreed = _agreed(measurement, claim, distance)
            return [_plain(agreed(argument)) for _ in range(size)]

        return mechanism

    return make


def _plain(release: Any) -> Any:
    """Lists and numbers."""
    return release.tolist() if hasattr(release, "tolist") else release


@released
def number(dp: Any, data: Any, noise: str, whole: bool = False, **options: Any) -> Any:
    """Noise on the one value, at distance 1: make_laplace, make_gaussian, make_geometric …"""
    T = int if whole else float
    space = dp.atom_domain(T=T, nan=None if whole else False), dp.absolute_distance(T=T)
    make = getattr(dp.m, f"make_{noise}")
    if noise == "canonical_noise":
        options["d_out"] = tuple(options["d_out"])
    if "bounds" in options:
        options["bounds"] = tuple(options["bounds"])
    return make(*space, **options), T(data[0, 0]), 1


@released
def vector(
    dp: Any, data: Any, noise: str, distance: float, whole: bool = True, **options: Any
) -> Any:
    """Noise on the one row, at L1 distance (Laplace) or L2 distance (Gaussian) `distance`."""
    T = int if whole else float
    metric = dp.l1_distance(T=T) if noise == "laplace" else dp.l2_distance(T=float)
    domain = dp.vector_domain(dp.atom_domain(T=T, nan=None if whole else False))
    made = getattr(dp.m, f"make_{noise}")(domain, metric, **options)
    return made, data[0].astype(T).tolist(), distance


@released
def response(dp: Any, data: Any, kind: str, **options: Any) -> Any:
    """Randomised response of the one value: of a bool, or of categories."""
    if kind == "bool":
        return dp.m.make_randomized_response_bool(**options), bool(data[0, 0]), 1
    return dp.m.make_randomized_response(**options), options["categories"][int(data[0, 0])], 1


@released
def bits(dp: Any, data: Any, weight: int, f: float) -> Any:
    """make_randomized_response_bitvec on the one row of bits, unpacked again."""
    domain = dp.bitvector_domain(max_weight=weight)
    made = dp.m.make_randomized_response_bitvec(domain, dp.discrete_distance(), f=f)
    unpacked = made >> (lambda release: np.unpackbits(np.frombuffer(release, np.uint8)).tolist())
    return unpacked, np.packbits(data[0].astype(np.uint8)), 1


@released
def choice(
    dp: Any, data: Any, measure: str, distance: float = 1.0, k: int = 0, **options: Any
) -> Any:
    """make_noisy_max on the one row of scores, or make_noisy_top_k."""
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    output = getattr(dp, measure)()
    if k:
        made = dp.m.make_noisy_top_k(*space, output, k=k, **options)
    else:
        made = dp.m.make_noisy_max(*space, output, **options)
    return made, data[0].tolist(), distance


@released
def quantile(
    dp: Any,
    data: Any,
    candidates: Sequence[float],
    scale: float,
    alpha: float,
    scored: bool,
    distance: int = 1,
) -> Any:
    """make_private_quantile of the first column, or noisy max of the scores of candidates."""
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    if scored:
        scores = dp.t.make_quantile_score_candidates(*space, candidates, alpha=alpha)
        made = scores >> dp.m.then_noisy_max(dp.max_divergence(), scale=scale, negate=True)
    else:
        made = dp.m.make_private_quantile(*space, dp.max_divergence(), candidates, alpha, scale)
    return made, data[:, 0].tolist(), distance


@released
def statistic(
    dp: Any,
    data: Any,
    name: str,
    scale: float,
    distance: int = 1,
    bounds: Any = None,
    known: bool = False,
    whole: bool = False,
    noise: str = "laplace",
    **options: Any,
) -> Any:
    """A statistic of the first column with noise: count, sum, mean, variance …

    bounds : values are clamped to them first. known : the number of rows is public.
    """
    T = int if whole else float
    domain = dp.vector_domain(
        dp.atom_domain(T=T, nan=None if whole else False), size=len(data) if known else None
    )
    made = (domain, dp.symmetric_distance())
    if bounds:
        made = made >> dp.t.then_clamp(tuple(T(one) for one in bounds))
    made = made >> getattr(dp.t, f"then_{name}")(**options)
    made = made >> getattr(dp.m, f"then_{noise}")(scale=scale)
    return made, data[:, 0].astype(T).tolist(), distance


@released
def resized(dp: Any, data: Any, size: int, bounds: Any, scale: float) -> Any:
    """The mean of floats that are clamped and resized to a public number of rows."""
    made = (
        (dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance())
        >> dp.t.then_clamp(tuple(bounds))
        >> dp.t.then_resize(size=size, constant=float(bounds[0]))
        >> dp.t.then_mean()
        >> dp.m.then_laplace(scale=scale)
    )
    return made, data[:, 0].tolist(), 1


@released
def tree(dp: Any, data: Any, leaves: int, scale: float) -> Any:
    """A binary tree of counts of the categories 0, 1, … with Laplace noise on each node."""
    made = (
        (dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance())
        >> dp.t.then_count_by_categories(list(range(leaves)), null_category=False)
        >> dp.t.then_b_ary_tree(leaf_count=leaves, branching_factor=2)
        >> dp.m.then_laplace(scale=scale)
    )
    return made, data[:, 0].astype(int).tolist(), 1


@released
def threshold(dp: Any, data: Any, noise: str, scale: float, threshold: int) -> Any:
    """Counts of the categories that the data have, those with a noisy count below it left out."""
    made = (
        (dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance())
        >> dp.t.then_count_by()
        >> getattr(dp.m, f"then_{noise}_threshold")(scale=scale, threshold=threshold)
        >> (lambda release: {str(key): count for key, count in release.items()})
    )
    return made, data[:, 0].astype(int).tolist(), 1


@released
def projection(dp: Any, data: Any, scale: float, total: int) -> Any:
    """make_alp_queryable on the one row of counts: its answers for all keys."""
    domain = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int))
    metric = dp.l01inf_distance(dp.absolute_distance(T=int))
    made = dp.m.make_alp_queryable(
        domain, metric, scale=scale, total_limit=total, value_limit=total
    )
    names = [f"key {place}" for place in range(data.shape[1])]
    answers = made >> (lambda queryable: [queryable(name) for name in names])
    return answers, dict(zip(names, data[0].astype(int).tolist(), strict=True)), (1, 1, 1)


@released
def adaptive(dp: Any, data: Any, scales: Sequence[float]) -> Any:
    """Two noisy counts, the second asked after the first, by adaptive composition."""
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    counts = [space >> dp.t.then_count() >> dp.m.then_laplace(scale=one) for one in scales]
    made = dp.c.make_adaptive_composition(
        *space, dp.max_divergence(), d_in=1, d_mids=[one.map(1) for one in counts]
    )
    asked = made >> (lambda queryable: [queryable(one) for one in counts])
    return asked, data[:, 0].astype(int).tolist(), 1


@released
def converted(dp: Any, data: Any, scale: float, delta: float) -> Any:
    """A count with Gaussian noise, its zero-concentrated loss turned into (ε, δ)."""
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    counted = space >> dp.t.then_count() >> dp.m.then_gaussian(scale=scale)
    made = dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(counted), delta=delta)
    return made, data[:, 0].astype(int).tolist(), 1


@released
def candidate(dp: Any, data: Any, scale: float, stop: float, threshold: float) -> Any:
    """make_select_private_candidate among noisy counts, the count being its own score."""
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    counted = space >> dp.t.then_count() >> dp.m.then_laplace(scale=scale)
    scored = dp.m.make_user_measurement(
        *space,
        dp.max_divergence(),
        lambda rows: (float(found := counted(rows)), found),
        counted.map,
        TO="(f64, ExtrinsicObject)",
    )
    made = dp.c.make_select_private_candidate(scored, stop_probability=stop, threshold=threshold)
    return made >> (lambda found: found and found[0]), data[:, 0].astype(int).tolist(), 1
