"""The calls and commands whose results are recorded, each quick and seeded."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import norm

import dpaudit as dp

M = dp.mechanisms
DATA = np.round(np.random.default_rng(0).normal(size=(30, 3)), 3)
PAIR = dp.neighbours.zero_row(DATA, 4)
COUNTS = dp.neighbours.zero_row(np.array([[1.0], [1.0]]), 0)


def laplace(data, size, *, rng):
    return data.sum() + rng.laplace(size=(size, 1))


def columns(data, size, *, rng):
    return data.sum(axis=0) + rng.normal(scale=[0.5, 1.0, 2.0], size=(size, 3))


def rounded(data, size, *, rng):
    return np.rint(data.sum() + rng.laplace(size=(size, 1)))


def lists(data, size, *, rng):
    lengths = rng.poisson(2.0 + data.sum(), size=size)
    return [rng.normal(size=length).tolist() for length in lengths]


def records(data, size, *, rng):
    return [{"count": int(n), "name": "a"} for n in rng.poisson(2.0 + data.sum(), size=size)]


def leaking(data, size, *, rng):
    return np.broadcast_to(data.sum(), (size, 1)) + 0.0


def draws_of(shift: float, columns: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    P, Q = rng.normal(size=(2, 3000, columns))
    P[:, 0] += shift
    return P, Q


def audit(mechanism, pair=PAIR, **settings) -> dict[str, Any]:
    settings = {"draws": 2000, "epsilon": [0.0, 0.5, 1.0, 2.0], "rng": 3, **settings}
    return dp.audit(mechanism, pair, **settings).to_dict()


def curve(spectrum: dp.Spectrum) -> dict[str, Any]:
    parts = {
        name: getattr(spectrum, name, None) for name in ("delta", "forward", "backward", "index")
    }
    return {name: np.asarray(part).tolist() for name, part in parts.items() if part is not None}


def exact(mechanism, pair=PAIR) -> dict[str, Any]:
    return curve(dp.exact.spectrum(mechanism, pair, [0.0, 0.5, 1.0, 3.0]))


def worst(mechanism, relation="zero-out", **settings) -> dict[str, Any]:
    return curve(dp.exact.worst_case(mechanism, DATA, [0.0, 1.0], relation=relation, **settings))


def one_run(**settings) -> dict[str, Any]:
    rng = np.random.default_rng(2)
    included = rng.random(1000) < 0.5
    return dp.audit_one_run(rng.normal(size=1000) + 3.0 * included, included, **settings).to_dict()


def steps() -> dict[str, Any]:
    rng, audit = np.random.default_rng(4), dp.StepAudit(sample_rate=0.5, noise_multiplier=2.0)
    for _ in range(30):
        included = rng.random(20) < 0.5
        audit.update(1.5 * included + rng.normal(size=20), included)
    return {"verdict": audit.verdict, "reason": audit.reason}


def canaries() -> dict[str, Any]:
    found = dp.canaries(DATA, 40, row_bound=3.0, rng=1)

    def total(data, *, rng):
        return data.sum(axis=0) + rng.normal(size=data.shape[1])

    def score(output, rows):
        return rows @ np.asarray(output).ravel()

    return dp.audit_canaries(total, DATA, found, score, claim=(1.0, 1e-5), rng=2).to_dict()


def search() -> dict[str, Any]:
    settings = {"draws": 1000, "shortlist": 4, "budget": 2.0, "rng": 6}
    found = dp.search_neighbours(columns, DATA, claim=(0.5, 0.0), **settings)
    return {"index": found.pair.index, "relation": found.pair.relation}


def calibrated() -> dict[str, Any]:
    found = dp.exact.calibrate(M.GaussianLS(sigma=1.0), DATA, 1.0, 1e-3)
    return {"value": found.value, "delta": found.delta}


def loss() -> dict[str, Any]:
    gaussian = dp.exact.privacy_loss(dp.mechanisms.GaussianLS(sigma=1.0), PAIR)
    return curve((3 * gaussian + gaussian).spectrum([0.0, 1.0, 4.0]))


CALLS: dict[str, Callable[[], dict[str, Any]]] = {
    "audit of ALS": lambda: audit(M.ALS(rows=20)),
    "audit of ALS with a claim": lambda: audit(M.ALS(rows=20), claim=(1.0, 0.001)),
    "audit of Gaussian least squares": lambda: audit(M.GaussianLS(sigma=0.1)),
    "audit of a sketch": lambda: audit(M.RandomProjection(rows=5)),
    "audit of the additive Wishart": lambda: audit(M.AdditiveWishart(dof=8, scale=1.0)),
    "audit of a Laplace sum": lambda: audit(laplace, claim=(2.0, 0.0)),
    "audit of a Laplace sum, violated": lambda: audit(laplace, COUNTS, claim=(0.2, 0.0)),
    "audit of columns": lambda: audit(columns, claim=dp.Claim.gdp(1.0)),
    "audit of whole numbers": lambda: audit(rounded, COUNTS, claim=(1.0, 0.0)),
    "audit of lists": lambda: audit(lists, COUNTS, claim=(1.0, 0.0)),
    "audit of records": lambda: audit(records, COUNTS, claim=(1.0, 0.0)),
    "audit of a leak": lambda: audit(leaking, COUNTS, claim=(1.0, 0.0)),
    "audit without a claim": lambda: audit(laplace),
    "audit that detects": lambda: audit(laplace, claim=(2.0, 0.0), detect=0.01),
    "audit by call": lambda: audit(laplace, COUNTS, claim=(1.0, 0.0), unit="call", draws=600),
    "audit of bits": lambda: audit(laplace, COUNTS, claim=(1.0, 0.0), bits=True),
    "audit for pure ε": lambda: audit(laplace, COUNTS, focus="pure"),
    "few draws": lambda: audit(laplace, COUNTS, claim=(0.2, 0.0), draws=300),
    "fewest draws": lambda: audit(laplace, COUNTS, claim=(0.2, 0.0), draws=20),
    "few draws of columns": lambda: audit(columns, claim=(1.0, 1e-3), draws=200),
    "sequential": lambda: audit(laplace, COUNTS, claim=(0.2, 0.0), stop="verdict", draws=20_000),
    "sequential, true claim": lambda: audit(laplace, COUNTS, claim=(1.5, 0.0), stop="verdict"),
    **{
        f"audit by {name}": lambda name=name: audit(columns, claim=(1.0, 1e-3), classifier=name)
        for name in ("qda", "elliptical", "logistic", "lightgbm", "knn")
    },
    "samples": lambda: dp.audit_samples(*draws_of(1.0, 2), claim=(1.0, 0.01), rng=1).to_dict(),
    "samples of P = Q": lambda: dp.audit_samples(
        *draws_of(0.0, 2), claim=(1.0, 0.0), rng=1
    ).to_dict(),
    "one run": lambda: one_run(claim=(1.0, 1e-5)),
    "one run, a large claim": lambda: one_run(claim=(6.0, 1e-5)),
    "one run, δ": lambda: one_run(delta=1e-5),
    "one run, Gaussian claim": lambda: one_run(claim=dp.Claim.gdp(1.0)),
    "steps": steps,
    "canaries": canaries,
    "search": search,
    "spectrum of ALS": lambda: exact(M.ALS(rows=20)),
    "spectrum of Gaussian least squares": lambda: exact(M.GaussianLS(sigma=1.0)),
    "spectrum of a sketch": lambda: exact(M.RandomProjection(rows=5)),
    "spectrum of the additive Wishart": lambda: exact(M.AdditiveWishart(dof=8, scale=1.0)),
    "spectrum of Analyze Gauss": lambda: exact(M.AnalyzeGauss(sigma=1.0)),
    "spectrum of a composition": lambda: exact(
        M.Composition((M.GaussianLS(sigma=1.0), M.RandomProjection(rows=5)))
    ),
    "worst case of ALS": lambda: worst(M.ALS(rows=20)),
    "worst case of Gaussian least squares": lambda: worst(M.GaussianLS(sigma=1.0)),
    "worst case, added rows": lambda: worst(M.RandomProjection(rows=5), "add", row_bound=2.0),
    "worst case, replaced rows": lambda: worst(
        M.GaussianLS(sigma=1.0), "replace", candidates=2.0 * DATA[:5]
    ),
    "calibration": calibrated,
    "composed losses": loss,
    "claims": lambda: {
        name: np.asarray(claim.delta_at([0.0, 1.0, 4.0])).tolist()
        for name, claim in {
            "plain": dp.Claim(1.0, 1e-3),
            "pure": dp.Claim(1.0, 0.0),
            "gdp": dp.Claim.gdp(1.0),
            "group": dp.Claim.gdp(0.5).group(3),
        }.items()
    },
}

SCENARIO = """[data]
path = "small.csv"
target = "y"
[mechanism]
name = "ALS"
rows = 20
[neighbour]
{neighbour}
[claim]
epsilon = 1.0
delta = {delta}
[audit]
draws = 2000
classifier = "qda"
epsilon = [0.0, 1.0, 2.0]
{more}
"""
MODULE = """import numpy as np
def release(data, size, *, rng):
    return data[:, :1].sum() + rng.laplace(size=(size, 1))
def once(data, *, rng):
    return float(data[:, 0].sum() + rng.laplace())
"""
COMMANDS: dict[str, str] = {
    "run": "run worst.toml",
    "run a broken claim": "run broken.toml",
    "run an index": "run index.toml --json",
    "run a search": "run search.toml",
    "run that stops": "run stop.toml",
    "run three": "run worst.toml broken.toml index.toml --junit j.xml",
    "run with a fault": "run fault.toml",
    "run quietly": "run worst.toml --quiet",
    "run into a ledger": "run worst.toml --ledger ledger.jsonl --seed 4",
    "check": "run --check worst.toml",
    "audit": "audit golden_module:release --data small.csv --claim 3,0 --neighbours add,remove"
    " --draws 2000",
    "audit of two relations": "audit golden_module:release --data small.csv --claim 0.1,0"
    " --draws 2000",
    "audit of one draw": "audit golden_module:once --data small.csv --one-draw --claim 0.1,0"
    " --draws 500 --neighbours zero-out",
    "samples": "samples P.npy Q.npy --claim 1,0.01",
    "canaries": "canaries scores.csv --claim 1,1e-5",
    "spectrum": "spectrum worst.toml --json",
    "plan": "plan --claim 1,1e-5 --excess 0.01",
    "list": "list mechanisms",
    "usage": "run",
}


def files(folder: Path) -> None:
    """Write what the commands read."""
    np.savetxt(folder / "small.csv", DATA, delimiter=",", header="a,b,y", comments="", fmt="%g")
    np.save(folder / "P.npy", draws_of(1.0, 2)[0])
    np.save(folder / "Q.npy", draws_of(1.0, 2)[1])
    scores = norm.ppf((np.arange(200) + 0.5) / 200)
    lines = [f"{score:.6f},{int(score > 0.1)}" for score in scores]
    (folder / "scores.csv").write_text("score,included\n" + "\n".join(lines) + "\n")
    (folder / "golden_module.py").write_text(MODULE)
    plain = {"neighbour": 'rule = "worst"', "delta": 0.9, "more": ""}
    for name, changes in {
        "worst": {},
        "broken": {"delta": 1e-6},
        "index": {"neighbour": 'rule = "row"\nindex = 4'},
        "search": {"neighbour": 'rule = "search"\nshortlist = 4\nbudget = 2.0'},
        "stop": {"delta": 1e-6, "more": 'stop = "verdict"'},
        "fault": {"neighbour": 'rule = "wrost"'},
    }.items():
        (folder / f"{name}.toml").write_text(SCENARIO.format(**plain | changes))


def plain(value: Any) -> Any:
    """A record as JSON reads it again."""
    return json.loads(json.dumps(value, default=float))
