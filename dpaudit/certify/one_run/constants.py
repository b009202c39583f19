"""The numbers of audits of one run. A certificate is valid whatever they are, since they are fixed
before the scores are seen. `python -m reports.make NAME` makes the page NAME again.
"""

from __future__ import annotations

import numpy as np

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
