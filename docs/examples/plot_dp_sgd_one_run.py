"""
DP-SGD audited in one training run
==================================

A training run of hours cannot be repeated thousands of times. Instead, canaries go into the
data: rows made up for the audit, each put in or left out by a coin. One run then decides many
coins, and how well its output tells them bounds ε from below. The example audits DP-SGD with the
noise that it claims, and one with noise divided by the batch size. You will learn what
one run can show, and what it cannot.
"""

import matplotlib.pyplot as plt
import numpy as np

import dpaudit as dp
from dpaudit.mechanisms.dp_sgd import NoiseDividedTwice

# %%
# A linear model with 200 features is trained for 100 steps. Both versions claim the same (ε, δ),
# computed from their number of steps, their sampling and their noise.

rng = np.random.default_rng(0)
features = rng.normal(size=(500, 200)) / np.sqrt(200)
data = np.column_stack([features, features @ rng.normal(size=200)])

setting = {"steps": 100, "sample_rate": 0.1, "noise_multiplier": 1.0, "loss": "linear"}
sound = dp.mechanisms.DPSGD(**setting)
broken = NoiseDividedTwice(**setting)
print(sound.claim.text)

# %%
# The canaries point in directions that are orthogonal to each other, so they disturb each other as
# little as possible. The number of rows is public here, so a row of zeros stands for each canary
# that stays out.

canaries = dp.canaries(data, 200, row_bound=10.0, label_bound=10.0, rng=1)
included = canaries.flip(rng=2)
inserted = canaries.inserted(data, included, relation="zero-out")
score = dp.one_run.GradientAlignment("squared", data)

# %%
# Each version is trained once. The score of a canary is large where the weights seem to have
# learned from it. It sees the weights and the canaries, and not the coins.

scores, results = {}, {}
for name, mechanism in {"noise as claimed": sound, "noise too small": broken}.items():
    weights = mechanism.train(inserted, rng=3)
    scores[name] = score(weights, canaries.rows)
    results[name] = dp.audit_one_run(scores[name], included, claim=sound.claim)
    print(f"{name}: {results[name].verdict}")
    print(f"  {results[name].headline.text}")

# %%
# What the audit sees: the scores of the canaries that were in and of those that were out. The more
# the two overlap, the less one run can tell.

fig, axes = plt.subplots(1, 2, figsize=(6.4, 3.6), layout="constrained")
for ax, (name, found) in zip(axes, scores.items(), strict=True):
    bins = np.linspace(found.min(), found.max(), 25)
    ax.hist(found[~included], bins, color="#0072B2", alpha=0.6, label="out")
    ax.hist(found[included], bins, color="#D55E00", alpha=0.6, hatch="//", label="in")
    ax.set(xlabel="score of a canary", title=name)
axes[0].set_ylabel("canaries")
axes[0].legend()
plt.show()

# %%
# *Not violated* says nothing of other canaries or scores, and an ε that one run certifies is
# usually far below the true one.
#
# Read on: :doc:`audit one run with canaries </docs/canaries>`,
# :doc:`watch DP-SGD step by step </docs/step-by-step>`.
