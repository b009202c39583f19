"""The point estimate of δ(ε), from counts of scores in cells.

`odds` fits each cell's log-odds, `laws` makes a pair of laws of them, `curves` weighs their exact
δ(ε) against counts of sets. Nothing here is certified.
"""

from dpaudit.certify.plug_in.curves import estimated
from dpaudit.certify.plug_in.laws import Counted, mean_scores

__all__ = ["Counted", "estimated", "mean_scores"]
