"""Evidence against a claim over many runs of unchanged code, in a file that grows by a line a run.

`entry` is a line, `file` the file (append, read, merge), `standing` what all lines say together,
`judged` the verdict on a run by all of them.
"""

from dpaudit.run.ledger.entry import Entry
from dpaudit.run.ledger.file import Ledger
from dpaudit.run.ledger.judged import judged_by
from dpaudit.run.ledger.standing import Standing

__all__ = ["Entry", "Ledger", "Standing", "judged_by"]
