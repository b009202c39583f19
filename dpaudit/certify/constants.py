"""The numbers of this room, with the command that measures each again and what a wrong one costs.

A certificate is valid whatever these numbers are, except for those under "Exact tests", which say
so. All others are fixed before the certifying draws are made, so a wrong one costs certified δ,
speed or accuracy of the estimate, and never the level. `python -m reports.make NAME` makes the page
NAME again. A share of level is a share of 1 − level. A number that only keeps floats from rounding
or overflowing stands beside the code that it guards.
"""

from __future__ import annotations

import numpy as np

# Split of the draws (`split.py`). Page "oracle": too few training draws lose power by a poor score,
# too many leave few draws to certify.
TRAIN, CHOOSE = 0.4, 0.1  # shares of the draws that train and choose, where draws are few
TRAIN_COLUMNS = {1: 0.2, 2: 0.3}  # the training share of outputs with one or two numbers
WIDE, TRAIN_WIDE = 100, 0.5  # that of outputs with more than WIDE and more than √draws numbers
TRAIN_ROOT, CHOOSE_ROOT = 100.0, 50.0  # at most this many times √draws train and choose
# with the focus "pure", whose deciding sets are small: the share that chooses for a trained score,
# and for a known one
PURE_CHOOSE, PURE_CHOOSE_KNOWN = 0.1, 0.2
SMALLEST = 10  # draws a side that each part needs
STORED = 1 << 16  # scores a side that `counting.py` stores, for the tests of independence

# Candidate sets (`sets.py`). Page "oracle": fewer sets or a wider mean lose certified δ, more cost
# time.
CANDIDATE_EPSILONS = 64  # a longer grid of ε is represented by this many of them
EVEN, FINE = 400, 120  # thresholds: at evenly spaced quantiles, and further ones towards each end
NEAR = 0.45  # relative difference in size of the sets over which estimates are averaged
WITHIN = 3.0  # standard errors, on the choosing draws, by which a mean may differ from an estimate

# Sets and their shares of level (`sets.py`). Page "oracle": shares in other
# proportions lose certified δ, at most by a few hundredths where a share is off by a factor of 2.
INTERVALS = (1.3, 0.2)  # 1.3 · draws^0.2 intervals of ε: 4 at 200 certifying draws, 18 at 5e5
# for P(S)/Q(S) in the better direction and in the other one, by focus
RATIO_SHARES = {"spectrum": (0.05, 0.015), "pure": (0.9, 0.02)}
# sets of each direction at the ε where the other direction has the interval's set: the share of
# level of all these sets, and how many each direction has
REST_SHARE, REST_SETS = 0.06, 4
CLAIM_SHARE, ODDS_SHARE = 0.2, 0.1  # at a claim's ε: the set chosen by counts, by odds (if any)
CLEAR = 4.0  # standard errors of the choosing draws above which an excess at a claim's ε is clear
AIM = 30.0  # nats; a region aimed at this ε serves all larger ε
CAP = 0.04  # larger relative standard errors count as this when level is shared

# Few draws (`few.py`). Page "few": other numbers lose certified δ or power.
FEWEST, FEW = 20, 500  # the least and the largest number of draws of the shorter side
# shares of the draws that train and choose: for a known score, outputs of one number, other outputs
FEW_KNOWN, FEW_ONE_COLUMN, FEW_COLUMNS = 0.2, 0.2, 0.35
FEW_LEARNED = 6  # draws a side that train and choose, at least
BANDWIDTH = 0.7  # the width of a kernel, in standard deviations of a side's scores
PSEUDO = 0.5  # hits added to each count, and as many misses
# Shares of level: for the least ε, for MIDDLE and for half of the promised ε (at least FARTHER),
# and for P(S)/Q(S). A claim's own ε replaces MIDDLE and half of the promised ε.
FIRST_SHARE, MIDDLE_SHARE, RATIO_SHARE = 0.45, 0.1, 0.35
MIDDLE, FARTHER = 0.5, 1.0  # nats
# for a claim's own ε, and each for the least ε and for P(S)/Q(S) beside it
FEW_CLAIM_SHARE, BESIDE_CLAIM = 0.5, 0.25  # these sum to 1 as 0.5 + 2 · 0.25
OUTSIDE = 1e-6  # probability of counts that an exact sum of power leaves out (`refuting.py`)
LARGEST_CLAIM = 500.0  # nats, the largest ε of a claim that an audit takes
PURE_SHARE = 0.9  # for P(S)/Q(S) with the focus "pure"

# Exact tests (`binomial.py`): the confidence regions that make a band. The level rests on RESERVE
# and on what it pays for, which `pytest -m slow tests/certify/test_binomial.py` measures: fewer
# points, wider strides or a shorter reach than these would need a larger reserve.
# shares of α for the interval of q, where more widens the region and less makes it longer; of
# NUISANCE_SHARE for the interval's lower end, which hardly matters; of α for numerical error of the
# sums and of the polygon
NUISANCE_SHARE, LOWER_SHARE, RESERVE = 0.02, 0.1, 0.005
# values of q on the polygon; MORE_POINTS times as many below FEW_HITS hits of Q, where it bends
NUISANCE_POINTS, FEW_HITS, MORE_POINTS = 9, 25, 2
STEPS, TOLERANCE = 60, 5e-4  # of the root search for p; the tolerance is in standard errors
# Sums go REACH standard deviations and MARGIN counts beyond the mean, and what is outside counts in
# full. Bennett's inequality bounds it by e^−31, which is small beside FAR_ALPHA. For a smaller α
# the sums go farther.
REACH, MARGIN, FAR_ALPHA = 8.0, 10, 1e-10
AT_CLAIM = 0.95  # of α is spent by the test at the claim, which stands for the region's
EXACT_TERMS = 200  # a variable that spans no more values is summed over each of them
STRIDE, CORNER_STRIDE = 0.55, 0.25  # standard deviations between terms of long sums; for two γ
STEP_STRIDE = 0.1  # the same for sums that begin at a step
MOST_TERMS = 300  # terms in one sum over x for several p; a longer sum is split, for speed alone
# where the spread of X is below this share of what one more hit of Q adds to the bound on x, that
# bound is a step function
BLUR = 0.5

# Reading the band (`band.py`, `divergence.py`). More points cost time and read a larger μ, ρ or
# D_α; any number of them reads a valid one.
GDP_POINTS, GDP_LARGEST = 24, 30.0  # how many ε each of two searches for μ tries; the largest, nats
DIVERGENCE_NODES = 240  # on either side of γ = 1, evenly spaced in ln γ
LARGEST_ORDER = 1e5  # stands for all larger orders, as D_α does not fall with α
REPORTED_DELTAS, REPORTED_ORDERS = (0.0, 1e-6, 1e-5, 1e-3), (2.0, 8.0)  # readings in result.json
PARAMETER_GRID = np.log(10.0) * np.arange(-12.0, 7.0)  # ln of values that bracket a least parameter
PARAMETER_ERROR = 1e-9  # relative, of that parameter
LARGEST_GAMMA = 300.0  # nats; (e^ε)² does not overflow there, and ratios of counts are far below

# Estimate (`plug_in.py`). Page "estimate": the error of the estimated δ.
# shares of the draws at whose |log-odds| the two directions are compared; with more of them, 5,000
# draws seldom show that directions differ, and the larger δ is estimated too small
DIRECTION_NODES = np.array([0.5, 0.1, 0.02])
LARGEST_SCORE = 50.0  # nats; scores of any scale are clipped there
FLATTENED = 5.0  # nats from which the flattened score grows as a square root
END_BENDS = np.array([0.0003, 0.001, 0.003, 0.01, 0.03])
# shares of the draws below the bends of the log-odds
BENDS = np.concatenate([END_BENDS, np.linspace(0.1, 0.9, 17), 1.0 - END_BENDS[::-1]])
# TRUSTED: prior variances of constant, line and parabola, times draws, for scores that are
# log-odds, whose own error falls as 1/draws. FREE: those for other scores. BENT: those of bends.
TRUSTED, FREE = np.array([12.0, 12.0, 2.4]), np.ones(3)
BENT = (1e-5, 1e-3, 1e-1, 10.0)
ALIKE = 1e-6  # share of the variance below which functions of the counts are the same one
NEWTON_GAIN = 1e-4  # nats; a Newton step that gains no more is the last one
FITTED = 300  # groups of neighbouring cells, at most, that a regression is fitted to

# Interval (`interval.py`). Page "interval": its coverage is found by simulation.
SMALLEST_ALPHA = 0.01  # 1 − level; for a smaller one too few replicates lie beyond the ends
INTERVAL_SETS, INTERVAL_NODES = 64, 24  # how many ε have sets of their own, and how many decide z
REPLICATES = 500  # simulated samples of counts
FOLDS = 4
HOPE = 1.5  # standard errors, added to the value of the sets of the upper end
END_SHARES = 0.55, 0.2  # of level, for the lower and the upper end
RIVAL = 2.0  # standard errors by which a direction is ahead of one that does not matter
WIDEST, BISECTIONS = 6.0, 8  # the largest z, and how often the range of z is halved

# Bets (`betting.py`, `bet_choice.py`). Pages "anytime" and "ledger": other values lose wealth.
# Evidence of several audits multiplies only if all had the same WIDTHS.
# nats; at most 1 − e⁻⁴ of the wealth is at risk, at least 1/2000
WIDTHS = np.ldexp(4.0, -np.arange(14))
CAUTION = 1.0  # standard errors by which estimated gains are reduced
CUTS = 32  # candidate sets a side, at quantiles of the pooled scores
MOST_TO_CHOOSE = 1 << 16  # draws a side by which bets are chosen
STARTS, VISIBLE = 8, 1e-3  # ε of a curve at which bets may start, where δ is this share of δ(0)
CURVE = np.concatenate([[0.0], np.geomspace(1e-3, 30.0, 120)])  # ε at which a claim is read
TILT_REACH, TILT_STEPS = 6.0, 36  # largest |θ| of a price, and steps of golden section to the best
LOW_HALVINGS = 30  # how often the interval that contains a lower bound is halved
SEQUENCE_BETS = 16  # values of λ in `Counts.low`, each half of the previous value

# One run (`one_run/`). Page "one-run": other values certify a smaller ε.
RECURSION, LATEST = 0.2, 3.0  # the recursion's share of level; the latest ε of likelihood bounds
# Numbers of guesses, in √m, each with its share of level; all m guesses have the rest.
GUESSES = {1.0: 0.1, 5.5: 0.6, 16.0: 0.2}
STAGES = (12, 24, 48, 96, 192)  # draws times 1 − level
SURE, HOPELESS = 3.0, 2.0  # deviations of the hits that decide for and against a bound
MOST_DRAWS = 80_000  # if the first stage needs more, wealth must reach 1/a instead
EARLY = 0.02  # share of level for wealth so large that no draws are needed
ALONE, GROWTH = 32, 1.12  # the strongest guesses are cells of their own; then cells grow by this
COINS = 16  # groups of coins of unequal probability; a group counts as its most probable coin
SLOPES = np.geomspace(0.1, 12.0, 16)  # of the log-odds in strength, in typical strengths
ADDED = (0.25, 0.5, 1.0, 2.0, 4.0)  # nats above ε, of the strongest guesses
FEWEST_BETTER, BETTER_SHARES = 8, 10  # the least and the number of shares of better guesses
SIDES = {"both": 0.7, "in": 0.2, "out": 0.1}  # weight of profiles in which these guesses are better
LEAST_LEFT = 0.2  # share of level that the chance of a failure must leave

# Steps of one run (`one_run/steps.py`). Page "one-run": other values need more steps.
EPSILONS, DEVIATIONS = 8, 3.0  # thresholds of ε, from 0 to DEVIATIONS above the mean loss
STAKES = 0.9, 0.3, 0.06  # largest possible loss of one side, as a share of the wealth
STAKE_SIDES = (1.0, 0.0), (0.0, 1.0), (0.6, 0.6)  # bets on "in", on "out", on both
# τ = σ·2^−x of the bets: a few for noise that is a little too small, then down to no noise at all
HALVINGS = np.array([0.125, 0.25, 0.5, 1, 2, 3, 5, 8, 11, 14, 18, 22, 26, 30, 34, 38])
NOT_RISKED = 0.1  # share of the wealth that a bet on noise does not risk
DOUBT = 0.1  # weight of the claimed rate in every forecast, so that no coin ruins the bet
MEMORY = 0.98  # factor by which a step's weight falls each step: about 50 steps count
PRIOR = 0.1  # how many steps the expected shift of one clip norm counts as
