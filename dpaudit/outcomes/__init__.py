"""What one draw of a mechanism may be, and how draws become rows of float64.

Numbers of any real type, booleans, text, None, NaN and both infinities are outcomes as they are; so
are lists and tuples of any length, dicts and sets of outcomes, one in another. Three forms, each a
.npy file without pickle:

- tables: (n, k) float64, a draw a row (`tables`);
- lists of numbers of different length: a structured (n,) array, length first, NaN to the widest
  (`tables`);
- all else: canonical JSON text, (n,) bytes (`trees`).

Tables are rows already. The other two become rows when the draws of both sides are known
(`columns`, `aligned`). A draw's row depends on the draw alone, once the columns are chosen.
"""

from dpaudit.outcomes.columns import Columns, aligned, columns
from dpaudit.outcomes.parts import are_lists, joined, rows
from dpaudit.outcomes.refused import NotOutcomes
from dpaudit.outcomes.repeats import period, same_throughout
from dpaudit.outcomes.tables import LISTS

__all__ = [
    "LISTS",
    "Columns",
    "NotOutcomes",
    "aligned",
    "are_lists",
    "columns",
    "joined",
    "period",
    "rows",
    "same_throughout",
]
