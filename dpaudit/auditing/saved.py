"""What can be had from the content of result.json: of a result just made, and of one that is read.

That content, the record, is what both have in common. `Recorded` is what both do with it, and
`SavedResult` is what is read from a folder.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit._core.check import fail
from dpaudit._core.files import replace_file
from dpaudit._core.result_file import RESULT, is_one_run, load, reading
from dpaudit._core.shown.frame import frame
from dpaudit._core.shown.printable import printable
from dpaudit._core.shown.short_repr import html_repr, short_repr
from dpaudit._core.types import Array
from dpaudit.curves.claims import Claim
from dpaudit.curves.spectrum import Spectrum
from dpaudit.errors import InvalidInput
from dpaudit.report.data import read_curves
from dpaudit.verdict.headline import Headline

if TYPE_CHECKING:
    from dpaudit.report.style import Axes

FILES = (RESULT, "report.html", "spectrum.png")
SIZE = (5.6, 5.6)  # inches, of a figure
# what an audit has in memory alone, and what is kept of it
NOT_KEPT = {
    "certified": "to_dict()['certified'] has ε at a few δ, μ, ρ and divergences",
    "estimate": "spectrum.delta and spectrum.low are kept, and to_dict()['empirical']",
    "settings": "to_dict() has level, seed, samples and classifier",
    "sizes": "to_dict()['samples'] has them",
    "fitted": "to_dict()['classifier'] names the score",
    "subject": "to_dict() names mechanism, dataset and neighbour",
    "sequential": "to_dict()['sequential'] has it",
    "evidence": "to_dict()['evidence'] has it",
    "ledger": "to_dict()['ledger'] has it",
    "trial": "to_dict()['trial'] has it",
}


class Recorded(ABC):
    """A result with a record: it can be saved, plotted and made a table."""

    @property
    @abstractmethod
    def _record(self) -> dict[str, Any]:
        """The content of result.json."""

    def to_dict(self) -> dict[str, Any]:
        """The content of result.json: JSON types only, no NaN, infinity as the string "inf"."""
        return deepcopy(self._record)

    def save(self, folder: str | Path) -> Path:
        """Write result.json, report.html and a figure into `folder`; returns the folder.

        The figure is spectrum.png; of one run, guesses.png. The folder is made if it does not
        exist. Raises OSError.
        """
        return save_record(self._record, Path(folder))

    def plot(self, ax: Axes | None = None) -> Axes:
        """The report's figure of δ(ε): exact, claimed, estimated and certified; ε in nats.

        ax : matplotlib axes to draw on; None for a new figure of pyplot, which a notebook shows.
        Returns the axes.
        """
        from dpaudit.report.figures import plot_spectrum
        from dpaudit.report.style import pyplot_axes

        return plot_spectrum(read_curves(self._record), ax or pyplot_axes(*SIZE))

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row for each ε of the grid, in ascending order.

        Columns: `epsilon` (nats); and δ at it, in [0, 1]: `estimate` (of the larger direction, no
        bound), `certified` (lower bound of the larger direction; all rows hold together at the
        result's level), `exact`, `claim` (largest δ allowed), `interval_low` and `interval_high`
        (ends of `Spectrum.interval`), NaN where there is none. `estimate_forward` and the like
        are of M(D) against M(D'), `_backward` of the reverse.

        Raises ImportError without pandas.
        """
        return frame(columns(self._record))


@dataclass(frozen=True, eq=False, repr=False)
class SavedResult(Recorded):
    """An audit's result, read from its result.json.

    spectrum : estimate and certified bound on the grid of ε. exact : Spectrum or None; between the
        grid's ε it is read by chords, which lie above the curve, and it has no Rényi divergences.
    claim : None where there is none. Of claims other than (ε, δ), μ-GDP and ρ-zCDP only δ at the
        grid's ε is kept, and asking for more raises `InvalidInput`.
    verdict, reason, detectable, timings, peak_memory_mb : as of `AuditResult`.
    headline : None in a file that was written before there were headlines.
    record : the content of the file. `to_dict`, `save`, `plot`, `to_frame` are those of
        `AuditResult`. Its other attributes are not kept: asking for one raises AttributeError.
    """

    spectrum: Spectrum
    exact: Spectrum | None
    claim: Claim | None
    verdict: str
    reason: str
    detectable: dict[str, float] | None
    headline: Headline | None
    timings: dict[str, Any]
    peak_memory_mb: float | None
    record: dict[str, Any]

    @classmethod
    def load(cls, folder: str | Path) -> SavedResult:
        """Read result.json from a folder that `save` or `dpaudit run` wrote.

        Raises `InvalidInput` where there is none, or its content is not that of a result.
        """
        place = Path(folder)
        found = load(place)
        if is_one_run(found):
            fail("folder", str(place), "an audit of two samples", "read it by OneRunResult.load")
        with reading(place):
            return cls.of(found)

    @classmethod
    def of(cls, content: dict[str, Any]) -> SavedResult:
        """From the content of a result.json."""
        curves = read_curves(content)
        head = curves.headline
        return cls(
            _spectrum(content),
            _exact(content, curves.epsilon),
            _claim(content, curves.epsilon, head),
            content["verdict"],
            content["reason"],
            content["detectable"],
            head,
            content["timings"],
            content["peak_memory_mb"],
            content,
        )

    @property
    def _record(self) -> dict[str, Any]:
        return self.record

    def __repr__(self) -> str:
        said = "" if self.headline is None else f": {self.headline.text}"
        return f"SavedResult({self.verdict}{said})"

    _repr_html_ = html_repr

    def __getattr__(self, name: str) -> Any:
        """Say what is kept of an attribute that only a result just made has."""
        if name in NOT_KEPT:
            raise AttributeError(f"{name} is not kept in result.json; {NOT_KEPT[name]}")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def save_record(record: dict[str, Any], folder: Path) -> Path:
    """Write the report, and result.json last; a killed run leaves no half-written file."""
    from dpaudit.report import write_report  # loads the HTML templates and matplotlib

    folder.mkdir(parents=True, exist_ok=True)
    write_report(folder, record)
    text = json.dumps(record, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    replace_file(folder / RESULT, printable(text))
    return folder


def columns(content: Mapping[str, Any]) -> dict[str, Array]:
    """The curves of a result by the names of `Recorded.to_frame`, (m,) each."""
    curves, empirical, exact = read_curves(content), content["empirical"], content["exact"] or {}
    unknown = np.full(curves.epsilon.shape, np.nan)
    low, high = (unknown, unknown) if curves.interval is None else curves.interval
    ways = ("forward", "backward")
    return {
        "epsilon": curves.epsilon,
        "estimate": curves.estimate,
        "certified": curves.low,
        "exact": unknown if curves.exact is None else curves.exact,
        "claim": unknown if curves.claim is None else curves.claim,
        "interval_low": low,
        "interval_high": high,
        **{f"estimate_{way}": _numbers(empirical[way]["delta"]) for way in ways},
        **{f"certified_{way}": _numbers(empirical[way]["low"]) for way in ways},
        **{f"exact_{way}": _numbers(exact[way]) if exact.get(way) else unknown for way in ways},
    }


def _spectrum(content: Mapping[str, Any]) -> Spectrum:
    of = columns(content)
    interval = np.stack([of["interval_low"], of["interval_high"]])
    return Spectrum(
        of["epsilon"],
        of["estimate"],
        of["estimate_forward"],
        of["estimate_backward"],
        low=of["certified"],
        level=content["level"],
        law=f"estimate ({content['classifier']['chosen']})",
        interval=None if np.isnan(interval).any() else interval,
    )


def _exact(content: Mapping[str, Any], epsilon: Array) -> Spectrum | None:
    exact = content["exact"]
    if exact is None:
        return None
    names = ("delta", "forward", "backward", "asymptotic")
    delta, forward, backward, asymptotic = (
        None if exact[name] is None else _numbers(exact[name]) for name in names
    )
    assert delta is not None
    return Spectrum(epsilon, delta, forward, backward, law=exact["law"], asymptotic=asymptotic)


def _claim(content: Mapping[str, Any], epsilon: Array, head: Headline | None) -> Claim | None:
    """The claim itself, if it has that name and gives that δ again; else its δ on the grid."""
    part = content["claim"]
    if part is None:
        return None
    text, delta = part["text"], _numbers(part["delta"])
    made = _made_again(part["epsilon"], epsilon, delta, head)
    if made is not None and text.startswith(made.text) and _agree(made.delta_at(epsilon), delta):
        return replace(made, text=text, origin=head.origin if head else "")
    return Claim(None, 0.0, text, GridCurve(text, epsilon, delta))


def _made_again(
    own: float | None, epsilon: Array, delta: Array, head: Headline | None
) -> Claim | None:
    """By the claim's own ε, or its μ or ρ in the headline."""
    if own is not None:
        return Claim(own, float(delta[int(np.argmin(np.abs(epsilon - own)))]))
    families = {"μ": Claim.gdp, "ρ": Claim.zcdp}
    if head is None or head.claimed is None or head.symbol not in families:
        return None
    return families[head.symbol](head.claimed)


@dataclass(frozen=True, eq=False)
class GridCurve:
    """δ of a claim at the ε of a grid, (m,) each, which is all that is known of it."""

    text: str
    epsilon: Array
    delta: Array

    __repr__ = short_repr

    def __call__(self, epsilon: Array) -> Array:
        """δ at ε of the grid. Raises `InvalidInput` at others."""
        at = np.searchsorted(self.epsilon, epsilon).clip(max=len(self.epsilon) - 1)
        if np.any(self.epsilon[at] != epsilon):
            raise InvalidInput(
                f"of the claim {self.text} a saved result has δ at the ε of its grid alone; make "
                "the claim again for other ε",
                argument="epsilon",
            )
        return np.asarray(self.delta[at])


def _agree(one: Array, other: Array) -> bool:
    return np.allclose(one, other, rtol=1e-9, atol=1e-12)


def _numbers(values: Any) -> Array:
    """Numbers of result.json, with "inf" for infinity."""
    return np.array([float(value) for value in values], dtype=np.float64)
