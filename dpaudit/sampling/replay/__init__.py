"""Where the random numbers of a mechanism depend on the data: a hint for people, never a verdict.

The mechanism is called with the same seeds on both databases. `recorder` has generators that note
each draw, `compare` finds the first place where the draws on D and on D' differ for every seed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpaudit import outcomes
from dpaudit._core import check
from dpaudit._core.seeds import Purpose, below, root
from dpaudit._core.types import Array, Mechanism, RngLike
from dpaudit._core.value import value_class
from dpaudit.errors import MechanismError
from dpaudit.neighbours import NeighbourPair
from dpaudit.sampling.block import checked, outputs, sampler_of
from dpaudit.sampling.form import check_mechanism
from dpaudit.sampling.replay.compare import Difference, Rows, first_difference, other_width
from dpaudit.sampling.replay.recorder import Log, generator, recorded

__all__ = ["Difference", "Replay", "hint", "replay"]


SEEDS, SIZE = 3, 2  # calls on each database, and draws that each makes
HINT = (
    "This is a hint and no verdict: a proof may allow it (smooth sensitivity, sampling of rows), "
    "and only an audit shows what it gives away."
)
NOTHING = "No draw was recorded: the mechanism draws outside Python's and NumPy's generators."
SAME = "The draws do not depend on the data, as far as they were recorded."


@value_class(eq=True)
class Replay:
    """What a replay showed.

    difference : the first one, or None. draws : how many calls of generators were recorded with the
    first seed, on D and on D'.
    """

    difference: Difference | None
    draws: tuple[int, int]

    @property
    def text(self) -> str:
        """What the replay showed, in sentences for people, without a value of the data."""
        if self.difference is not None:
            return f"{self.difference.text} {HINT}"
        return SAME if any(self.draws) else NOTHING

    def __repr__(self) -> str:
        return f"Replay({self.text})"

    def to_dict(self, *, show_data: bool = False) -> dict[str, Any]:
        """The replay in JSON types. show_data : with the values of an argument that differs."""
        difference = self.difference
        return {
            "text": self.text,
            "draws": list(self.draws),
            "difference": None if difference is None else difference.to_dict(show_data=show_data),
        }


def replay(mechanism: Mechanism, pair: NeighbourPair, *, rng: RngLike = 0) -> Replay:
    """Call a mechanism with the same seeds on D and D', and compare what it draws.

    Parameters
    ----------
    mechanism : callable
        `mech(data, size, *, rng)`, as `dpaudit.audit` takes it. It is called three times on each
        database, for two draws each, from one thread. Meanwhile the global generators of
        `numpy.random` and `random` are others, which record; then they are as before.
    pair : NeighbourPair
        The two databases.
    rng : seed or Generator, default 0
        The seeds. The same one gives the same result.

    Returns
    -------
    Replay
        With the first difference that is the same for all seeds: an argument that says how wide
        noise is ("scale"; a location may depend on the data), the size of a draw, the number of
        draws, or a branch; else noise of another width in an output.

    Raises
    ------
    MechanismError
        When the mechanism fails.

    Notes
    -----
    It is a hint, never a verdict. It misses what other generators draw (compiled code, the
    system's, another process) and leaks that leave the draws alone, as a sensitivity that is too
    small. And it points at mechanisms that are private, where a proof takes care of what depends on
    the data.

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit as dp
    >>> def release(data, size, *, rng):
    ...     spread = np.ptp(data)  # a sensitivity must not be read off the data
    ...     return data.sum() + rng.laplace(scale=spread, size=(size, 1))
    >>> pair = dp.neighbours.replace_row(np.ones((3, 1)), 0, [5.0])
    >>> dp.replay(release, pair).difference.name
    'scale'
    """
    check_mechanism(mechanism)
    if not isinstance(pair, NeighbourPair):
        check.fail("pair", pair, "a NeighbourPair")
    seed = below(root(rng), int(Purpose.COMMON), 1)
    databases = pair.left, pair.right
    runs = [[_run(mechanism, data, below(seed, at)) for at in range(SEEDS)] for data in databases]
    left, right = ([log for log, _ in side] for side in runs)
    rows = Rows(len(pair.left), len(pair.right))
    difference = first_difference(left, right, rows)
    if difference is None:
        ours, theirs = (_joined([draws for _, draws in side]) for side in runs)
        difference = other_width(ours, theirs, rows)
    return Replay(difference, (len(left[0].drawn), len(right[0].drawn)))


def hint(mechanism: Mechanism, pair: NeighbourPair, *, show_data: bool = False) -> Any:
    """`replay` as result.json has it; None where the mechanism cannot be replayed."""
    try:
        return replay(mechanism, pair).to_dict(show_data=show_data)
    except Exception:  # a hint must not end an audit
        return None


def _run(mechanism: Mechanism, data: Array, seed: np.random.SeedSequence) -> tuple[Log, np.ndarray]:
    """Call a mechanism once: the log of its random draws, and its outputs."""
    log, where = Log(seed), "a replay"
    with recorded(log):
        draws = outputs(sampler_of(mechanism, data), SIZE, generator(log), where)
        return log, checked(draws, SIZE, where)


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    try:
        return outcomes.joined(parts)
    except outcomes.NotOutcomes as error:
        raise MechanismError(f"the mechanism must return {error}") from None
