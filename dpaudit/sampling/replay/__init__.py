"""Where the random numbers of a mechanism depend on the data: a hint for people, never a verdict.

1. `parameters`: which arguments of a random draw say how much noise there is.
2. `recorder`: generators that note each draw, in place of those that a mechanism would use.
3. `compare`: the first place where the draws on D and on D' differ for every seed.
4. `outputs`: noise of another width in the outputs, which no generator sees.
5. `same_seeds`: the mechanism called with the same seeds on both databases.
"""

from dpaudit.sampling.replay.compare import Difference
from dpaudit.sampling.replay.same_seeds import Replay, hint, replay

__all__ = ["Difference", "Replay", "hint", "replay"]
