"""
The worst row of a data set
===========================

Approximate least squares solves a regression on a random sketch of the data. How much one row shows
in the result depends on that row: on its leverage, and on its share of the residuals. Where the law
of the output is known, δ(ε) of every row is computed exactly, without a draw. You will learn to
find the worst row, and see what an audit of a row picked at random would have missed.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LogNorm

import dpaudit as dp

# %%
# The data are 442 patients, with a constant, ten features and the progress of a disease. The
# leverage of a row says how far its features lie from those of the others; its residual share, how
# much of the squared residuals is due to it alone.

found = dp.datasets.load("diabetes")
data, features = found.database, found.X.shape[1]
mechanism = dp.mechanisms.ALS(rows=200)
statistics = dp.neighbours.row_statistics(data)
leverage, share = statistics.leverage, statistics.residual_share
print(f"{len(data)} rows, leverage {leverage.min():.4f} to {leverage.max():.4f}")
print(f"residual share up to {share.max():.4f}")

# %%
# One call gives the largest δ(ε) over all rows that may be set to zero, and names the row for each
# ε. Which row is the worst may depend on ε.

epsilon = np.linspace(0.0, 2.0, 41)
worst = dp.exact.worst_case(mechanism, data, epsilon)
for row in np.unique(worst.index):
    ranges = epsilon[worst.index == row]
    print(f"row {row} is the worst for ε from {ranges.min():.2f} to {ranges.max():.2f}")

# %%
# The curves of all rows, one by one, agree with it: the largest of them is the worst case. The
# number that counts for a pair is the larger one of its two directions.

curves = np.array(
    [
        np.max(dp.exact.als(h, t, features, mechanism.rows, epsilon), axis=0)
        for h, t in zip(leverage, share, strict=True)
    ]
)
print(f"largest difference {np.max(np.abs(curves.max(axis=0) - worst.delta)):.1g}")

# %%
# Each row has a place by its two numbers, and its δ at ε = 0.5 as its colour. Neither number alone
# picks the worst row: the two of them decide together.

at = int(np.argmin(np.abs(epsilon - 0.5)))
each, row = curves[:, at], int(worst.index[at])
for name, one in {
    "worst row": row,
    "row of the largest leverage": int(np.argmax(leverage)),
    "row of the largest residual share": int(np.argmax(share)),
}.items():
    print(f"{name}: row {one}, δ(0.5) = {each[one]:.4f}")

fig, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
norm = LogNorm(1e-8, each.max())
order = np.argsort(each)
dots = ax.scatter(leverage[order], share[order], c=each[order], s=18, cmap="viridis_r", norm=norm)
place = leverage[row], share[row]
ax.scatter(*place, s=110, facecolors="none", edgecolors="#D55E00", linewidths=1.8)
ax.annotate(f"row {row}", place, xytext=(10, 0), textcoords="offset points", va="center")
ax.set(xlabel="leverage", ylabel="residual share", xlim=(0.0, None), ylim=(0.0, None))
fig.colorbar(dots, label="δ at ε = 0.5 nats", extend="min")
ax.set_title("Rows by leverage and residual")
plt.show()

# %%
# What a row picked at random would have shown: half of all rows have less than the dashed line, and
# nine of ten less than the upper end of what is shaded.

median, high = np.quantile(curves, [0.5, 0.9], axis=0)
print(f"the median of δ(0.5) over the rows is {median[at]:.2g}")
print(f"{np.mean(each < 0.1 * each[row]):.0%} of the rows have less than a tenth of the worst δ")

fig, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
ax.fill_between(
    epsilon, 1e-12, high, color="#0072B2", alpha=0.15, linewidth=0, label="90 % of rows"
)
ax.plot(epsilon, median, color="#0072B2", linestyle="--", label="median over the rows")
ax.plot(epsilon, worst.delta, color="#D55E00", label="worst row")
ax.set(xlabel="ε (nats)", ylabel="δ(ε)", yscale="log", xlim=(0.0, 2.0), ylim=(1e-12, 1.0))
ax.legend(loc="upper right")
ax.set_title("Spectra of the rows")
plt.show()

# %%
# This is the worst row of these data when rows are set to zero: it says nothing of other data, or
# of rows that are replaced or added.
#
# Read on: :doc:`find the worst neighbour </docs/neighbours>`,
# :doc:`which row is the worst </docs/theory/monotonicity>`.
