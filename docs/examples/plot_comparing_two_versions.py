"""
Two versions of a mechanism
===========================

A change of code may change the privacy of its output. Two audits of the same pair, put side by
side, say what moved by more than their uncertainty. You will compare a count before and after a
change that was meant to make it faster.
"""

import matplotlib.pyplot as plt
import numpy as np

import dpaudit as dp

# %%
# Version 1.0 adds Laplace noise. Version 1.1 takes a cheaper noise of the same variance, and still
# claims ε = 1.

answers = np.array([[1.0], [0.0], [1.0], [1.0], [0.0]])
pair = dp.neighbours.replace_row(answers, 0, [0.0])


def count_1_0(data, size, *, rng):
    return data.sum() + rng.laplace(scale=1.0, size=(size, 1))


def count_1_1(data, size, *, rng):
    half_width = np.sqrt(6.0)  # uniform noise with the variance of the Laplace noise
    return data.sum() + rng.uniform(-half_width, half_width, size=(size, 1))


versions = {"1.0": count_1_0, "1.1": count_1_1}
results = [
    dp.audit(each, pair, claim=(1.0, 0.0), draws=20_000, rng=1) for each in versions.values()
]
for name, result in zip(versions, results, strict=True):
    print(f"{name}: {result.verdict}. {result.headline.text}")

# %%
# The comparison lists what moved, and leaves out what chance alone explains. What has risen comes
# first: the new noise hides more at small ε, and nothing at large ones.

comparison = dp.report.compare(*results, names=tuple(versions))
print(comparison)

# %%
# Both estimates with their uncertainty, in one figure. Uniform noise has ends: an output near one
# end is possible from one database of the pair, and impossible from the other. No ε covers that.

comparison.plot()
plt.show()

# %%
# What is compared is what the scores of the two audits saw, on one pair. A better score would move
# the certified bound, too.
#
# Read on: :doc:`read and share a report </docs/reports>`, :doc:`run a suite in CI </docs/suites>`.
