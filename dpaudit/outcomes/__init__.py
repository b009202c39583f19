"""What one draw of a mechanism may be, and how draws become rows of float64.

Numbers of any real type, booleans, text, None, NaN and both infinities are outcomes. So are lists
and tuples of any length, dicts and sets of outcomes, nested to any form. Draws are kept in one of
four forms, each of which NumPy saves as a .npy file without pickle:

- tables: (n, k) float64, one draw a row (`tables`);
- lists of numbers of different length: a structured (n,) array of rows that hold the length, the
  entries, and NaN up to the longest list; a list of more than 1000 numbers is stored as its length,
  its first 999 numbers and a code of all of them (`tables`);
- lists of m records of c floats each: a structured (n,) array of fields (m, c) (`tables.records`);
- other draws, and integers that no float equals: canonical JSON text, (n,) bytes (`nested`).

Tables are rows already. Draws of the other forms become rows once the draws of both sides are
known (`described`, `aligned`). Given the columns, a draw's row depends on that draw alone.

This room knows nothing of mechanisms, scores or audits.
"""

from dpaudit.outcomes.columns import Columns, Described, aligned, described, numbered
from dpaudit.outcomes.forms import as_bytes, equal, is_table, joined, rows
from dpaudit.outcomes.tables import LISTS, NotOutcomes

__all__ = [
    "LISTS",
    "Columns",
    "Described",
    "NotOutcomes",
    "aligned",
    "as_bytes",
    "described",
    "equal",
    "is_table",
    "joined",
    "numbered",
    "rows",
]
