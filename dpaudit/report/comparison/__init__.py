"""Two results of one mechanism side by side: what moved beyond its uncertainty, in one figure.

`moved` finds the differences between two contents of result.json, `figure` draws both, and
`compare` is what users call.
"""

from dpaudit.report.comparison.compare import Comparison, compare
from dpaudit.report.comparison.moved import Moved, moved

__all__ = ["Comparison", "Moved", "compare", "moved"]
