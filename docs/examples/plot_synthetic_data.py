"""
Synthetic data that give a record away
======================================

A synthesizer makes a noisy histogram of a table and draws artificial records from it. One version
takes the cells of its histogram from the data, the other from a public list. Both add the same
noise, and only one of them keeps its claim. You will learn to audit a fit and its synthetic table
as one mechanism, and which pair of databases to try first.
"""

import matplotlib.pyplot as plt
import numpy as np

import dpaudit as dp

# %%
# Sixty people, each with an age group (0 to 3) and an answer (0 to 2). Nobody in the oldest group
# gave the answer 2.

rng = np.random.default_rng(0)
people = np.column_stack([rng.integers(0, 4, 60), rng.integers(0, 3, 60)]).astype(float)
people[(people[:, 0] == 3) & (people[:, 1] == 2), 1] = 0.0
everything = np.array([[age, answer] for age in range(4) for answer in range(3)], dtype=float)


def noisy_histogram(data, cells, rng):
    """Counts of the cells, with Laplace noise for ε = 1 when a record is added."""
    counts = np.array([np.all(data == cell, axis=1).sum() for cell in cells])
    return cells, np.maximum(counts + rng.laplace(scale=1.0, size=len(cells)), 1e-9)


def fit_observed(data, rng):
    """The cells that occur in the data."""
    return noisy_histogram(data, np.unique(data, axis=0), rng)


def fit_public(data, rng):
    """All cells there can be."""
    return noisy_histogram(data, everything, rng)


def sample(model, rng):
    """A synthetic table of 60 records."""
    cells, weights = model
    return cells[rng.choice(len(cells), size=60, p=weights / weights.sum())]


# %%
# ``record_templates`` proposes pairs. Here one record comes in whose two values are frequent, but
# do not occur together.

pair = dp.neighbours.record_templates(people)["combination"]
print(pair, pair.right[-1])

# %%
# One draw is a fit and its table. The adapter turns each table into numbers that do not depend on
# the order of its records.

results = {}
for name, fit in {"observed cells": fit_observed, "public cells": fit_public}.items():
    tables = dp.adapters.synthesizer(fit, sample, pair)
    results[name] = dp.audit(tables, pair, claim=(1.0, 0.0), draws=3_000, focus="pure", rng=1)
    print(f"{name}: {results[name].verdict}")
    print(f"  {results[name].headline.text}")

# %%
# Where the cells are read off the data, the added record opens a cell of its own. Without that
# record no table holds the combination, so a table that holds it tells that the record was there.

results["observed cells"].plot()
plt.show()

# %%
# The reason is easier to see in the tables than in the curve: how many records of a synthetic table
# equal the record that was added, in 500 tables of each kind.

fig, axes = plt.subplots(1, 2, figsize=(6.4, 3.6), sharey=True, layout="constrained")
places = np.arange(8)
for ax, (name, fit) in zip(
    axes, {"observed": fit_observed, "public": fit_public}.items(), strict=True
):
    for side, data, look in (
        (-0.2, pair.left, {"color": "#0072B2", "label": "without the record"}),
        (0.2, pair.right, {"color": "#D55E00", "label": "with the record", "hatch": "//"}),
    ):
        rng = np.random.default_rng(2)
        drawn = (sample(fit(data, rng), rng) for _ in range(500))
        equal = [min(np.all(one == pair.right[-1], axis=1).sum(), 7) for one in drawn]
        share = np.bincount(equal, minlength=8) / 500
        ax.bar(places + side, share, width=0.4, edgecolor="white", **look)
    ax.set(xlabel="records equal to it (7: or more)", title=f"{name} cells")
axes[0].set_ylabel("share of tables")
axes[1].legend()
plt.show()

# %%
# This concerns one record on one data set: the version with public cells may still leak about other
# records, or by something of a table that the numbers of the adapter do not hold.
#
# Read on: :doc:`audit synthetic data </docs/synthetic-data>`.
