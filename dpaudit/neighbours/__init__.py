"""Neighbouring databases: pairs to compare, and statistics of how much each row matters.

- `pair`: two databases and the relation between them. `changes` makes pairs: a row, or all rows of
  one user, zeroed, removed, replaced or added; or a pair again from result.json.
- `source`: the origin of a row that comes in. `outliers`: leverage, residual share and displacement
  of each row, and extreme rows inside a public bound.
- `templates`: unusual records to try first where records are released.

This room knows nothing of mechanisms or audits.
"""

from dpaudit.neighbours.changes import (
    add_row,
    from_record,
    remove_group,
    remove_row,
    replace_group,
    replace_row,
    zero_row,
)
from dpaudit.neighbours.outliers import RowStatistics, row_statistics
from dpaudit.neighbours.pair import RELATIONS, NeighbourPair
from dpaudit.neighbours.source import RowSource
from dpaudit.neighbours.templates import record_templates

__all__ = [
    "RELATIONS",
    "NeighbourPair",
    "RowSource",
    "RowStatistics",
    "add_row",
    "from_record",
    "record_templates",
    "remove_group",
    "remove_row",
    "replace_group",
    "replace_row",
    "row_statistics",
    "zero_row",
]
