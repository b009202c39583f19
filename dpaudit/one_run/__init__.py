"""Audits of a mechanism that runs once: canaries put in by coins, and DP-SGD watched by step.

- `canaries`: rows made up for the audit, of several kinds, and the record of who is in.
- `insertion`: coins, one run, scores, and their audit. `scores`: functions that estimate from an
  output which canaries were in.
- `steps`: DP-SGD from inside, a step at a time.
- `table`: a finished table, by the records that it was made from and a hold-out.

The bounds are in `dpaudit.certify.one_run`. This room knows mechanisms only as callables.
"""

from dpaudit.one_run.scores import GradientAlignment, LossDifference, NearestRecord, SumAlignment

__all__ = ["GradientAlignment", "LossDifference", "NearestRecord", "SumAlignment"]
