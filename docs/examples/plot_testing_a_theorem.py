"""
A theorem put to the test
=========================

A bound on paper, and a program for what it bounds: these are enough to look for a setting at which
the bound fails. You will test two statements on how sampling amplifies privacy, and learn to read
what a search says: one statement is refuted by a plain counterexample, the other one stands.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

import dpaudit as dp
from dpaudit.testing import assert_bound, reals, search_bound

# %%
# A release adds Gaussian noise, and one row shifts it by μ standard deviations. So it has an exact
# δ₀ at each ε₀. Now each row takes part with probability q only. A rule of thumb for small ε₀ says
# that the release then has qδ₀ at qε₀. Taken as a bound on paper:


def promised(q, mu, epsilon0):
    """The δ that is promised: qδ₀."""
    return q * float(dp.exact.gaussian_shift(mu, epsilon0))


# %%
# What it bounds: with the row the output is drawn from (1 − q) N(0, 1) + q N(μ, 1), without it from
# N(0, 1). The ratio of the two densities grows with the output, so the best sets are half-lines,
# and δ(ε) follows from normal tails, in both directions.


def exact(q, mu, epsilon):
    """The larger δ(ε) of the two directions."""
    end = mu / 2 + np.log1p(np.expm1(epsilon) / q) / mu
    row_in = (1 - q) * norm.sf(end) + q * norm.sf(end - mu) - np.exp(epsilon) * norm.sf(end)
    room = 1 + np.expm1(-epsilon) / q  # where it is negative, no output tells against the row
    if room <= 0:
        return row_in
    end = mu / 2 + np.log(room) / mu
    row_out = norm.cdf(end) - np.exp(epsilon) * ((1 - q) * norm.cdf(end) + q * norm.cdf(end - mu))
    return max(row_in, row_out)


# %%
# The search looks through a box of settings. As a bound the rule of thumb fails; the simplest
# counterexample is the one to show to others.


def at_rule_of_thumb(q, mu, epsilon0):
    return exact(q, mu, q * epsilon0)


domain = {"q": reals(0.01, 1), "mu": reals(1, 4), "epsilon0": reals(0.1, 3)}
found = search_bound(promised, at_rule_of_thumb, domain)
print(found)

# %%
# The theorem has ln(1 + q(e^ε₀ − 1)) in place of qε₀ (Balle, Barthe and Gaboardi 2018).
# ``assert_bound`` is for a test file: where it finds a counterexample, it raises an error. Here it
# finds none. With ``side="both"`` the search tests for equality, and finds no setting where the
# theorem leaves room.


def amplified(q, epsilon0):
    return np.log1p(q * np.expm1(epsilon0))


def at_theorem(q, mu, epsilon0):
    return exact(q, mu, amplified(q, epsilon0))


print(assert_bound(promised, at_theorem, domain))
print("equal:", search_bound(promised, at_theorem, domain, side="both").holds)

# %%
# The counterexample in a picture, and both statements for other ε₀ at the same q and μ. A statement
# holds where it lies on the exact curve or above it.

q, mu, epsilon0 = (found.simplest.setting[name] for name in ("q", "mu", "epsilon0"))
many = np.linspace(0.01, 3.0, 100)
said = np.array([promised(q, mu, one) for one in many])
epsilon = np.linspace(0.0, 1.0, 101)
fig, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
true = [exact(q, mu, one) for one in epsilon]
ax.plot(epsilon, true, color="#0072B2", linewidth=4, alpha=0.4, label="exact")
ax.plot(amplified(q, many), said, color="#009E73", linestyle="--", label="the theorem")
ax.plot(q * many, said, color="#D55E00", linestyle="-.", label="the rule of thumb")
ax.plot(q * epsilon0, promised(q, mu, epsilon0), "D", color="#D55E00", label="the counterexample")
ax.set(xlabel="ε (nats)", ylabel="δ(ε)", yscale="log", xlim=(0.0, 1.0), ylim=(1e-4, 0.1))
ax.legend()
ax.set_title("A rule of thumb against the exact curve")
plt.show()

# %%
# A search that finds nothing is no proof: it looked at 2,000 settings of this box, and at Gaussian
# noise alone.
#
# Read on: :doc:`test your theorem </docs/test-your-theorem>`,
# :doc:`where the papers and the exact curves differ </docs/printed-bounds>`.
