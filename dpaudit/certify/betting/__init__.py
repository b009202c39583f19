"""The stopping rule: bets on scored draws against an upper curve of δ(ε). Numbers in, wealth out.

A pair of fresh draws x ~ P, y ~ Q, scored by log-odds s of P against Q, pays e = U(s(x))·V(s(y))/C.
U grows and V falls with s, and C bounds E U · E V over all pairs of laws that keep the curve, so
that under the claim the product of payoffs is a supermartingale whatever picked score and bet from
earlier draws. By Ville's inequality it ever exceeds 1/α with probability at most α (Ramdas,
Grünwald, Vovk & Shafer 2023).
"""

from dpaudit.certify.betting.bets import NOTHING, Bet, Side
from dpaudit.certify.betting.choice import Menu, cuts_by_draws
from dpaudit.certify.betting.null import Null
from dpaudit.certify.betting.sequence import Counts, Cuts

__all__ = ["NOTHING", "Bet", "Counts", "Cuts", "Menu", "Null", "Side", "cuts_by_draws"]
