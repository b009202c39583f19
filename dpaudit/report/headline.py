"""The headline of an audit: what is claimed and what is certified, in the claim's own parameter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dpaudit._core.check import fail
from dpaudit._core.percent import percent
from dpaudit.report.text import apart, least, number

CLAIMED = "Claimed"  # how the sentence begins where the claim has a parameter of its own
# its fields in result.json, by their types
NUMBERS = ("delta", "claimed", "certified", "epsilon", "certified_delta", "allowed_delta", "level")
OPTIONAL = ("delta", "claimed", "allowed_delta")
WORDS = ("symbol", "who", "claimant", "origin")


@dataclass(frozen=True)
class Headline:
    """What is claimed and what is certified.

    symbol : "ε", "μ" or "ρ" (ε and ρ in nats). delta : the δ at which ε is read, None for μ and ρ.
    claimed : None where nothing is claimed and no exact spectrum is known.
    certified : every smaller value is false at the confidence `level`.
    exceeded : whether the audit refutes what is claimed. A sequential audit may do so with a
        certified value that is the claimed one (the true one is above it) or, where the claim is a
        curve, below.
    epsilon, certified_delta, allowed_delta : the same in δ, at one ε (nats).
    who : what differs between the databases, "row 11 zeroed", or "".
    claimant : how the sentence begins, "Claimed" or what allows the ε.
    origin : what the claimed value was worked out from, "group of 3", or "".
    """

    symbol: str
    delta: float | None
    claimed: float | None
    certified: float
    exceeded: bool
    epsilon: float
    certified_delta: float
    allowed_delta: float | None
    level: float
    who: str = ""
    claimant: str = CLAIMED
    origin: str = ""

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Headline:
        """From the part of result.json. Raises `InvalidInput`, naming the key that is wrong."""
        values: dict[str, Any] = {name: _number(content, name) for name in NUMBERS}
        values |= {name: str(content.get(name) or "") for name in WORDS}
        return cls(**values, exceeded=content.get("exceeded") is True)

    @property
    def text(self) -> str:
        """ "Claimed ε = 1 at δ = 0. At 95 % confidence at least 1.98 (row 11 zeroed)." """
        return f"{self._claimed} {self._certified}{f' ({self.who})' if self.who else ''}."

    @property
    def in_delta(self) -> str:
        """ "δ(1) is at least 0.215, where 0.01 is allowed."; "" where δ does not show an excess."""
        if self.allowed_delta is None or self.certified_delta <= self.allowed_delta:
            return ""
        low, allowed = apart(self.certified_delta, self.allowed_delta, 3)
        return f"δ({number(self.epsilon)}) is at least {low}, where {allowed} is allowed."

    def to_dict(self) -> dict[str, Any]:
        """What result.json holds."""
        return {**asdict(self), "text": self.text}

    @property
    def excess_shown(self) -> bool:
        """Whether the certified value is above the claimed one; bets may refute it otherwise."""
        return self.exceeded and self.claimed is not None and self.certified > self.claimed

    @property
    def at(self) -> str:
        """ "at δ = 0"; empty for μ and ρ."""
        return "" if self.delta is None else f"at δ = {number(self.delta)}"

    @property
    def certified_text(self) -> str:
        """The certified value, rounded down, with digits enough to tell it from the claimed one."""
        return least(self.certified, self.claimed)

    @property
    def claimed_text(self) -> str:
        """The claimed value, with digits enough to be below a certified one that exceeds it."""
        if self.claimed is None or self.certified <= self.claimed:
            return number(self.claimed)
        return apart(self.certified, self.claimed)[1]

    @property
    def ruled_out(self) -> str:
        """The values that are false at the level: "every ε below 0.06", rounded down, or "no ε"."""
        if self.exceeded and self.claimed is not None and not self.excess_shown:
            known = self.claimant == CLAIMED
            return f"every {self.symbol} up to {self.claimed_text}" if known else "the whole curve"
        if np.isinf(self.certified):
            return f"every finite {self.symbol}"
        below = f"every {self.symbol} below {self.certified_text}"
        return below if self.certified > 0.0 else f"no {self.symbol}"

    @property
    def _at(self) -> str:
        return f" {self.at}" if self.at else ""

    @property
    def _claimed(self) -> str:
        if self.claimed is None:
            return "Nothing is claimed."
        origin = f" ({self.origin})" if self.origin else ""
        return f"{self.claimant} {self.symbol} = {self.claimed_text}{self._at}{origin}."

    @property
    def _certified(self) -> str:
        confidence = f"At {percent(self.level)} confidence"
        if np.isinf(self.certified):
            at = self._at if self.claimed is None else ""
            return f"{confidence} no finite {self.symbol} holds{at}"
        if self.claimed is None:
            return f"{confidence} {self.symbol} is at least {self.certified_text}{self._at}"
        if not self.exceeded:
            return f"Ruled out at {percent(self.level)} confidence: {self.ruled_out}"
        if self.certified > self.claimed:
            return f"{confidence} at least {self.certified_text}"
        if self.claimant == CLAIMED:
            return f"{confidence} the true {self.symbol} is larger"
        return f"{confidence} that curve is exceeded"  # not shown to be so at this δ


def _number(content: Mapping[str, Any], key: str) -> float | None:
    """A number ≥ 0, "inf" for infinity; or None, where the field may be None."""
    value = content.get(key)
    if value is None and key in OPTIONAL:
        return None
    if value == "inf":
        return np.inf
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        fail(f"headline.{key}", value, 'a number >= 0 or "inf"')
    return float(value)
