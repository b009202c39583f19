"""
A sketch against Gaussian noise
===============================

There are two ways to release a regression: solve it on a random sketch of the data (approximate
least squares), or solve it and add Gaussian noise to the coefficients. You will tune both to the
same error, measure the error on the releases themselves, and compare their exact privacy spectra.
"""

import matplotlib.pyplot as plt
import numpy as np

import dpaudit as dp

# %%
# The data are 442 patients: a constant, ten features, and the progress of a disease. The features
# are scaled to variance 1, so that the same noise on each coefficient is fair to all of them.

X, y = dp.datasets.load("diabetes")
X = np.column_stack([X[:, 0], X[:, 1:] / X[:, 1:].std(axis=0)])
data = np.column_stack([X, y])
features = X.shape[1]
solution = np.linalg.lstsq(X, y, rcond=None)[0]
least = np.mean((y - X @ solution) ** 2)
print(f"mean squared error of least squares: {least:.0f}")

# %%
# What a release adds to this error is known. A sketch of r rows adds p/(r − p − 1) times the error,
# where p counts the coefficients; noise adds σ² times the mean squared norm of a row of features.
# Setting both equal gives σ.

rows = 500
added = least * features / (rows - features - 1)
sigma = float(np.sqrt(added / np.mean(np.sum(X**2, axis=1))))
mechanisms = {
    "sketch (ALS)": dp.mechanisms.ALS(rows=rows),
    "Gaussian noise": dp.mechanisms.GaussianLS(sigma=sigma),
}
print(f"{rows} rows and σ = {sigma:.2f} should add {added:.1f} each")

# %%
# The releases themselves agree: the mean over 4,000 of each, with its standard error.

for name, mechanism in mechanisms.items():
    releases = mechanism(data, 4_000, rng=np.random.default_rng(0))
    more = np.mean((y - releases @ X.T) ** 2, axis=1) - least
    print(f"{name}: adds {more.mean():.1f} ± {more.std() / np.sqrt(len(more)):.1f}")

# %%
# At the same error, how much does a row show that is set to zero? The exact spectra of the worst
# row of each, and of the row with the median displacement of the solution.

moved = dp.neighbours.row_statistics(data).displacement
typical = int(np.argsort(moved)[len(moved) // 2])
epsilon = np.linspace(0.0, 3.0, 121)
fig, axes = plt.subplots(1, 2, figsize=(6.4, 3.8), sharey=True, layout="constrained")
for ax, (name, mechanism) in zip(axes, mechanisms.items(), strict=True):
    worst = dp.exact.worst_case(mechanism, data, epsilon)
    median = dp.exact.spectrum(mechanism, dp.neighbours.zero_row(data, typical), epsilon)
    ax.plot(epsilon, worst.delta, color="#D55E00", label="worst row")
    ax.plot(epsilon, median.delta, color="#0072B2", linestyle="--", label="median row")
    ax.set(xlabel="ε (nats)", title=name, xticks=range(4), xlim=(0.0, 3.0))
    ax.set(yscale="log", ylim=(1e-10, 2.0))
    high, low = (float(curve.epsilon_at(1e-5)) for curve in (worst, median))
    print(f"{name}: ε = {high:.2f} at δ = 0.00001, median row {low:.2f}")
axes[0].set_ylabel("δ(ε)")
axes[1].legend(loc="center right")
plt.show()

# %%
# The reason shows in the direction in which row 169, the worst one for Gaussian noise, moves the
# solution. The data determine the solution badly there, so the sketch varies much in it, and hides
# the move. Gaussian noise is the same in all directions.

pair = dp.neighbours.zero_row(data, int(np.argmax(moved)))
without = np.linalg.lstsq(pair.right[:, :-1], pair.right[:, -1], rcond=None)[0]
step = without - solution
along = step / np.linalg.norm(step)
print(f"row {pair.index} moves the solution by {np.linalg.norm(step):.1f}")
fig, axes = plt.subplots(1, 2, figsize=(6.4, 3.6), sharex=True, layout="constrained")
for ax, (name, mechanism) in zip(axes, mechanisms.items(), strict=True):
    sides = [
        (mechanism(side, 4_000, rng=np.random.default_rng(seed)) - solution) @ along
        for seed, side in enumerate((pair.left, pair.right))
    ]
    print(f"{name}: standard deviation in that direction {sides[0].std():.1f}")
    bins = np.linspace(-100.0, 100.0, 81)
    ax.hist(sides[0], bins, color="#0072B2", alpha=0.6, label="with the row")
    ax.hist(sides[1], bins, color="#D55E00", alpha=0.6, hatch="//", label="without it")
    ax.set(xlabel="release along the move", title=name)
axes[0].set_ylabel("releases of 4,000")
fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
plt.show()

# %%
# This is no ranking of the two in general: other data, other scales of the features or another row
# change it, and both curves hold for these data only.
#
# Read on: :doc:`mechanisms that come with dpaudit </docs/mechanisms>`,
# :doc:`compute an exact spectrum </docs/exact-spectra>`.
