"""
The least noise for a target
============================

How much Gaussian noise gives (ε, δ)? The textbook answers with a formula that is safe for all data,
and larger than it has to be. Where the law of the output is known, the least noise follows from the
exact spectrum. You will calibrate the noise of a second-moment matrix in three ways, and see what
the formula gives away, and what a public bound costs.
"""

import matplotlib.pyplot as plt
import numpy as np

import dpaudit as dp

# %%
# The data are 327,346 flights. A row is 1, the delay at departure and the delay at arrival, both in
# minutes. What is released is the matrix of second moments, with Gaussian noise on each entry. The
# norm of a row is at most 2,000, a bound that is taken to be public.

data = dp.datasets.load("flight").database
bound, target, allowed = 2_000.0, 0.5, 1e-5
print(f"{len(data):,} rows, the longest has norm {np.linalg.norm(data, axis=1).max():.0f}")

# %%
# The textbook: a row of norm C moves the matrix by at most s = C², and σ = s √(2 ln(1.25/δ))/ε is
# enough for ε < 1 (Dwork and Roth 2014, theorem A.1).


def textbook(epsilon):
    """σ by the formula, in minutes²."""
    return bound**2 * np.sqrt(2.0 * np.log(1.25 / allowed)) / epsilon


# %%
# The exact spectrum: the least σ that keeps the target for every row within the bound that may be
# added, and the least σ for the rows of these data, each of which may be set to zero.

start = dp.mechanisms.AnalyzeGauss(sigma=1e7)
within = dp.exact.calibrate(start, data, target, allowed, relation="add", row_bound=bound)
here = dp.exact.calibrate(start, data, target, allowed)
for name, sigma in (
    ("textbook formula", textbook(target)),
    ("any row in the bound", within.value),
    ("the rows of the data", here.value),
):
    print(f"{name:<21} σ = {sigma / 1e6:.1f} million minutes², {sigma / here.value:.2f} × the last")
print(f"the row that needs most noise is row {here.index}")

# %%
# What each noise gives the rows of these data. The least one goes through the target; the others
# keep δ far below what was asked for.

epsilon = np.linspace(0.0, 0.8, 81)
fig, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
for name, sigma, color, style in (
    ("least σ for the rows of the data", here.value, "#0072B2", "-"),
    ("least σ for any row in the bound", within.value, "#009E73", "--"),
    ("σ of the textbook formula", textbook(target), "black", "-."),
):
    curve = dp.exact.worst_case(dp.mechanisms.AnalyzeGauss(sigma=sigma), data, epsilon)
    ax.plot(epsilon, curve.delta, color=color, linestyle=style, label=name)
    print(f"{name}: δ({target}) = {float(curve.delta_at(target)):.2g}")
ax.plot(target, allowed, "D", color="#D55E00", label="target")
ax.set(xlabel="ε (nats)", ylabel="δ(ε), worst row", yscale="log", xlim=(0.0, 0.8), ylim=(1e-14, 1))
ax.legend(loc="lower left")
ax.set_title("Noise that keeps the target")
plt.show()

# %%
# The formula alone, with the same bound on both sides: how many times the noise that is needed it
# takes, for targets in the range of its theorem.

targets = np.linspace(0.05, 0.95, 10)
times = [
    textbook(one)
    / dp.exact.calibrate(start, data, one, allowed, relation="add", row_bound=bound).value
    for one in targets
]
print(f"{min(times):.2f} to {max(times):.2f} times the noise that is needed")
fig, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
ax.plot(targets, times, "o-", color="black", markersize=4, label="textbook formula")
ax.axhline(1.0, color="#009E73", linestyle="--", label="least σ for any row in the bound")
ax.set(xlabel="ε of the target (nats)", ylabel="σ over the least σ")
ax.set(xlim=(0.0, 1.0), ylim=(0.9, None))
ax.legend(loc="center left")
ax.set_title("What the textbook formula adds")
plt.show()

# %%
# The least σ for the rows of the data says nothing of the next flight, and as it was read off the
# data it is no setting to release with. The one for the bound does not depend on the data.
#
# Read on: :doc:`compute an exact spectrum </docs/exact-spectra>`,
# :doc:`where the papers and the exact curves differ </docs/printed-bounds>`.
