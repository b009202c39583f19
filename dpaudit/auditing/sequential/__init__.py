"""An audit that may stop early: draws in growing waves, each bet on by a score and a bet that
earlier waves picked.

A wave's draws are scored by what trained on all draws before it, so the product of payoffs may be
looked at after every draw. The first time it reaches 1/(1 − level) the claim is rejected; under the
claim that happens with probability at most 1 − level, whenever one stops.
"""

from dpaudit.auditing.sequential.loop import Outcome, audit_in_waves
from dpaudit.auditing.sequential.record import Sequential
from dpaudit.auditing.sequential.source import Source, of_arrays, of_mechanism

__all__ = ["Outcome", "Sequential", "Source", "audit_in_waves", "of_arrays", "of_mechanism"]
