"""
A mean with too little noise
============================

The mean of 200 working weeks is released with Laplace noise. The noise was calibrated to the wrong
sensitivity: half of the true one. A search finds the two databases on which this shows most, an
audit certifies that the claim is false, and the same audit of the mended mean finds nothing. You
will learn the first steps of every audit: a mechanism, a pair of databases, a claim, a verdict.
"""

import matplotlib.pyplot as plt
import numpy as np

import dpaudit as dp

# %%
# The data are hours worked in a week, one row a person, and 0 to 80 is the public range. When one
# of n people changes their answer, the mean moves by at most 80/n hours. The author of
# ``leaky_mean`` argued that nobody is further than 40 hours from the middle of the range, and took
# 40/n.

hours = np.random.default_rng(0).normal(38.0, 9.0, size=(200, 1)).clip(0.0, 80.0).round()


def leaky_mean(data, size, *, rng):
    """`size` releases of the mean; claims ε = 1, with the sensitivity 40/n."""
    return data.mean() + rng.laplace(scale=40.0 / len(data), size=(size, 1))


# %%
# Nobody has to guess the worst pair. The search tries to replace rows by values at the ends of the
# public range, and audits the pair that it finds with fresh draws.

claim = dp.Claim(1.0, 0.0)
found = dp.search_neighbours(
    leaky_mean, hours, relations=["replace"], bounds=[[0.0, 80.0]], claim=claim, draws=20_000, rng=1
)
leaky = found.audit
print(found.pair)
print(leaky.verdict)
print(leaky.headline.text)

# %%
# What is shaded is ruled out: the true δ(ε) is above it. The red part lies above the claim, which
# is the violation. The arrow goes from the claimed ε to the certified one.

leaky.plot()
plt.show()

# %%
# With the sensitivity of 80/n the noise is twice as large. The same pair and the same number of
# draws now refute nothing. The last line says what this audit could have found.


def mended_mean(data, size, *, rng):
    """`size` releases of the mean; claims ε = 1, with the sensitivity 80/n."""
    return data.mean() + rng.laplace(scale=80.0 / len(data), size=(size, 1))


mended = dp.audit(mended_mean, found.pair, claim=claim, draws=20_000, rng=1)
print(mended.verdict)
print(mended.reason)

# %%

mended.plot().set_title("mended")
plt.show()

# %%
# *Not violated* is no proof: it says nothing of other pairs of databases, or of leaks that these
# draws and this score could not show.
#
# Read on: :doc:`audit a mechanism and read the result </docs/first-audit>`,
# :doc:`find the worst neighbour </docs/neighbours>`.
