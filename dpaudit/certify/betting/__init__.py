"""Bets against an upper curve of δ(ε): the e-process by which a sequential audit stops.

A pair of fresh draws x ~ P, y ~ Q, scored by log-odds s of P against Q, pays e = U(s(x))·V(s(y))/C.
U grows and V falls with s, and C bounds E U · E V over all pairs of laws that keep the curve. So
under the claim the product of the payoffs is an e-process, however score and bet were chosen from
earlier draws. By Ville's inequality it ever exceeds 1/α with probability at most α (Ramdas,
Grünwald, Vovk & Shafer 2023).

`null` holds the null hypothesis and the price C of a bet, `bets` what a bet is, `choice` the choice
of the next bet, `sequence` lower bounds on δ(ε) that hold at any stopping time, `pooled` the
evidence of several audits together. The room knows scores as numbers only; it knows neither draws
nor mechanisms.
"""

from dpaudit.certify.betting.bets import NO_BET, Bet, Side
from dpaudit.certify.betting.choice import Menu, cuts_by_draws
from dpaudit.certify.betting.null import Null
from dpaudit.certify.betting.pooled import Hits, log_mean
from dpaudit.certify.betting.sequence import Counts, Cuts

__all__ = [
    "NO_BET",
    "Bet",
    "Counts",
    "Cuts",
    "Hits",
    "Menu",
    "Null",
    "Side",
    "cuts_by_draws",
    "log_mean",
]
