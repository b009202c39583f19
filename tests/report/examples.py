"""Results as a run writes them: a full least-squares audit and one of draws made elsewhere."""

from typing import Any

import numpy as np
from scipy.stats import norm

EPSILON = np.round(np.linspace(0.0, 4.0, 41), 3)


def gaussian_shift(c: float, epsilon: np.ndarray = EPSILON) -> np.ndarray:
    """δ(ε) of N(0, 1) against N(c, 1), (m,)."""
    return norm.cdf(c / 2 - epsilon / c) - np.exp(epsilon) * norm.cdf(-c / 2 - epsilon / c)


def make_result(c: float = 1.0, claimed: float = 0.05, test: int = 100_000) -> dict[str, Any]:
    """An audit of a Gaussian-like mechanism with shift `c` that claims to be (1, claimed)-DP."""
    exact = gaussian_shift(c)
    noise = np.random.default_rng(0).normal(size=exact.size) * np.sqrt(exact / test)
    estimate = np.clip(exact * 0.99 + 0.5 * noise, 0, 1)
    low = np.clip(estimate - 4.5 * np.sqrt(estimate / test) - 5 / test, 0, 1)
    claim = np.where(EPSILON < 1, 1 - np.exp(EPSILON - 1) * (1 - claimed), claimed)
    excess = float((low - claim).max())
    violated = excess > 0
    worst = EPSILON[(low - claim).argmax()]
    reason = "The certified lower bound is below the claim at every ε."
    if violated:
        reason = f"At ε = {worst:g} the certified lower bound exceeds the claim by {excess:.3g}."
    over = EPSILON[low > claimed]
    certified = float(over[-1]) if violated else 0.3
    least = f"At 95 % confidence at least {certified:g} (row 7008 zeroed)."
    held = "Ruled out at 95 % confidence: every ε below 0.3 (row 7008 zeroed)."
    text = f"Claimed ε = 1 at δ = {claimed:g}. {least if violated else held}"
    return {
        "schema_version": 1,
        "scenario": "flight-als",
        "scenario_text": '[data]\nname = "flight"\n',
        "source": {"sha256": "9f86d081884c7d659a2f" + 44 * "0"},
        "mechanism": {
            "name": "ALS",
            "parameters": {"rows": 1200, "sampler": "student"},
            "description": "least squares on a Gaussian sketch of the data",
            "regression": True,
        },
        "dataset": {
            "name": "flight",
            "n": 327346,
            "features": 2,
            "feature_names": ["constant", "dep_delay"],
            "target": "arr_delay",
            "columns": ["constant", "dep_delay", "arr_delay"],
            "shape": [327346, 3],
            "changes": ["a column of ones added first"],
            "source": "departures from New York City in 2013",
            "dropped": {"missing value": 9430},
        },
        "neighbour": {
            "relation": "zero-out",
            "index": 7008,
            "leverage": 0.00316,
            "residual_share": 2.2e-5,
            "rule": "row 7008 zeroed: the worst of 48 neighbours audited at ε = 1, out of 327,346",
            "change": "row 7008 zeroed",
            "tried": 48,
            "pool": 327346,
        },
        "search": make_search(),
        "level": 0.95,
        "verdict": "violated" if violated else "not violated",
        "reason": f"{text} {reason}",
        "headline": {
            "symbol": "ε",
            "delta": claimed,
            "claimed": 1.0,
            "certified": certified,
            "exceeded": violated,
            "epsilon": 1.0,
            "certified_delta": float(low[10]),
            "allowed_delta": claimed,
            "level": 0.95,
            "who": "row 7008 zeroed",
            "claimant": "Claimed",
            "text": text,
        },
        "epsilon": EPSILON.tolist(),
        "empirical": {
            "delta": estimate.tolist(),
            "low": low.tolist(),
            "forward": {"delta": estimate.tolist(), "low": low.tolist()},
            "backward": {"delta": (0.97 * estimate).tolist(), "low": (0.97 * low).tolist()},
        },
        "exact": {
            "delta": exact.tolist(),
            "law": "Student t, finite r",
            "forward": exact.tolist(),
            "backward": (0.97 * exact).tolist(),
            "asymptotic": gaussian_shift(1.08 * c).tolist(),
        },
        "claim": {"text": f"(1, {claimed:g})-DP", "delta": claim.tolist(), "epsilon": 1.0},
        "certified": {
            "epsilon_at": {"0": 2.7123, "1e-05": 2.61, "1e-03": 2.2},
            "gdp_mu": 0.95,
            "zcdp_rho": 0.4312,
        },
        "detectable": {"epsilon": 1.0, "excess": 0.0012, "power": 0.8},
        "samples": {"train": 80000, "choose": 20000, "test": test},
        "classifier": {
            "requested": "auto",
            "chosen": "qda",
            "note": None,
            "portfolio": {"qda": 0.6830, "logistic": 0.6841, "lightgbm": 0.6829},
        },
        "seed": 1,
        "versions": {"dpaudit": "0.1.0", "python": "3.11.7", "numpy": "2.4.6", "scipy": "1.17.1"},
        "timings": {
            "started": "2026-11-23T06:30:00Z",
            "sample_s": 1.84,
            "fit_s": 12.71,
            "certify_s": 0.62,
            "total_s": 15.4,
        },
        "peak_memory_mb": 812.3,
    }


def make_search(size: int = 48) -> dict[str, Any]:
    """The record of a search that tried `size` neighbours, in three rounds."""
    rungs = [3 if place < 3 else 2 if place < 12 else 1 for place in range(size)]
    tried = [
        {
            "relation": "zero-out",
            "row": 7008 - place,
            "score": 1.0 / (1 + place),
            "rung": rung,
            "draws": 10_000 * rung,
            "delta": 0.38 / (1 + place),
            "counted": 0.37 / (1 + place),
            "error": 0.004,
            "gain": 0.1,
            "note": "" if place < 47 else "the mechanism raised",
        }
        for place, rung in enumerate(rungs)
    ]
    more = {"pool": 327346, "ranked": 512, "draws": 1_600_000, "rank": "rank auto"}
    rounds = [{"neighbours": 48, "draws": 10_000}]
    return {"epsilon": 1.0, **more, "rungs": rounds, "tried": tried}


UNCLAIMED = {
    "symbol": "ε",
    "delta": 1e-5,
    "claimed": None,
    "certified": 0.5,
    "epsilon": 0.0,
    "certified_delta": 0.2,
    "allowed_delta": None,
    "level": 0.95,
    "exceeded": False,
    "text": "Nothing is claimed. At 95 % confidence ε is at least 0.5 at δ = 10⁻⁵.",
}


def make_samples_result() -> dict[str, Any]:
    """Draws made elsewhere: no data set, nothing exact, no claim, and no optional key at all."""
    full = make_result()
    kept = ("schema_version", "level", "epsilon")
    return {key: full[key] for key in kept} | {
        "empirical": {key: full["empirical"][key] for key in ("delta", "low")},
        "verdict": "inconclusive",
        "reason": f"{UNCLAIMED['text']} There is no claim to judge by.",
        "headline": dict(UNCLAIMED),
        "mechanism": {"name": "samples", "parameters": {}, "description": None},
        "neighbour": {"relation": "samples", "index": None},
        "dataset": None,
        "exact": None,
        "claim": None,
    }
