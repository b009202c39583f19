"""The [claim] table: a privacy claim of one kind, of a group of rows, or by distance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from dpaudit._core.check import fail
from dpaudit.auditing.settings import LARGEST_EPSILON
from dpaudit.curves.claims import DISTANCES, Claim, MetricClaim
from dpaudit.errors import InvalidInput
from dpaudit.run.scenario.section import FLAG, Checked, Section, integer, number
from dpaudit.run.scenario.target import TARGET, imported, is_target

KINDS: dict[tuple[str, ...], Callable[..., Claim]] = {
    ("epsilon",): Claim,
    ("epsilon", "delta"): Claim,
    ("gdp",): Claim.gdp,
    ("rho",): Claim.zcdp,
    ("rho", "omega"): Claim.tcdp,
    ("rows", "gamma"): Claim.gaussmix,
}
EXPECTED = (
    "must be of one kind: epsilon (and delta), gdp, rho (and omega), rows and gamma, or printed"
)
PRINTED, PER, GROUP = "printed", "per", "group"
ABOVE_1, AT_LEAST_0 = number(1.0, open_=True), number(0.0)


@dataclass(frozen=True)
class Distance:
    """A distance of the user's, which is imported when two records are there."""

    name: str

    @property
    def __name__(self) -> str:
        return self.name.rpartition(":")[2]

    def __call__(self, x: Any, y: Any) -> Any:
        """d(x, y). Raises `ScenarioError` where it cannot be imported."""
        return imported(self.name, f"[claim] {PER}")(x, y)


def _distance(key: str, value: Any) -> str | Distance:
    if is_target(value):
        return Distance(value)
    if not isinstance(value, str) or value not in DISTANCES:
        fail(key, value, f'one of {", ".join(DISTANCES)}, or "package.module:callable"')
    return value


class RowClaim(Section):
    """A claim about one row, of one kind."""

    epsilon: Annotated[float | None, number(0.0, LARGEST_EPSILON)] = None
    """ε of (ε, δ)-DP, nats."""
    delta: Annotated[float | None, number(0.0, 1.0)] = None
    """δ of (ε, δ)-DP; 0 without it."""
    gdp: Annotated[float | None, AT_LEAST_0] = None
    """μ of Gaussian DP."""
    rho: Annotated[float | None, AT_LEAST_0] = None
    """ρ of zero-concentrated DP."""
    omega: Annotated[float | None, ABOVE_1] = None
    """ω of truncated concentrated DP."""
    rows: Annotated[int | None, integer(1)] = None
    """Rows of the sketch of Gaussian mixing."""
    gamma: Annotated[float | None, ABOVE_1] = None
    """γ of Gaussian mixing."""
    printed: Annotated[bool, FLAG] = False
    """What the mechanism's own source claims."""

    def claim(self, mechanism: Any) -> Claim | MetricClaim:
        """The claim; `printed` is that of the mechanism. Raises `InvalidInput`."""
        values = self.values_set(PER, GROUP)
        if tuple(values) == (PRINTED,):
            return self._printed(mechanism)
        if tuple(values) not in KINDS:
            raise InvalidInput(EXPECTED)
        return KINDS[tuple(values)](*values.values())

    def _printed(self, mechanism: Any) -> Claim:
        if not self.printed:
            raise InvalidInput("must be true, or be left out", argument=PRINTED)
        claim = getattr(mechanism, "claim", None)
        if not isinstance(claim, Claim):
            name = getattr(mechanism, "name", "a callable")
            message = f"{name} claims nothing with these parameters"
            raise InvalidInput(message, argument=PRINTED)
        return claim


class PairClaim(RowClaim):
    """The privacy claim, of one kind. Without the table there is no claim."""

    per: Annotated[
        str | Distance | None, Checked(_distance, {"anyOf": [{"enum": list(DISTANCES)}, TARGET]})
    ] = None
    """ε is per unit of this distance between the two records; not with [one_run]."""
    group: Annotated[int, integer(1)] = 1
    """The claim is turned into one about so many changed rows; not with [one_run]."""

    def claim(self, mechanism: Any) -> Claim | MetricClaim:
        """As of a row, of `group` rows or by the distance `per`. Raises `InvalidInput`."""
        claim = super().claim(mechanism)
        assert isinstance(claim, Claim)
        if self.per is None:
            return claim.group(self.group)
        if claim.epsilon is None or self.model_fields_set & {PRINTED, GROUP}:
            wanted = "goes with epsilon (and delta) alone: the distances of rows add up"
            raise InvalidInput(wanted, argument=PER)
        return Claim.metric(claim.epsilon, self.per, claim.delta)
