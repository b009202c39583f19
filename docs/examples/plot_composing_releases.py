"""
Composing releases exactly
==========================

Each release of the same data adds to what is known about a row. Basic and advanced composition
bound the sum from the (ε, δ) of each release alone. Where the laws are known, the privacy losses
themselves are added, and the result is exact. You will compose a year of releases, and see how far
above it both theorems are.
"""

import matplotlib.pyplot as plt
import numpy as np

import dpaudit as dp

# %%
# Each week the coefficients of a regression are released with Gaussian noise, and each quarter a
# noisy sketch of the data. The neighbour has one row set to zero: the one that is worst for the
# weekly release.

data = dp.datasets.load("diabetes").database
regression = dp.mechanisms.GaussianLS(sigma=4_000.0)
row = int(dp.exact.worst_case(regression, data, 0.5).index)
pair = dp.neighbours.zero_row(data, row)
print(pair)

weekly = dp.exact.privacy_loss(regression, pair)
quarterly = dp.exact.privacy_loss(dp.mechanisms.GaussMix(rows=100, sigma=1.0), pair)

allowed = 1e-5
for name, loss in {"a weekly release": weekly, "a quarterly release": quarterly}.items():
    print(f"{name}: ε = {float(loss.spectrum(0.0).epsilon_at(allowed)):.3f} at δ = {allowed:g}")

# %%
# ``compose`` adds privacy losses of independent releases. k Gaussian releases are one with √k times
# the shift, which checks it.

year = dp.exact.compose([weekly], times=[52])
shift = float(weekly.spectrum(0.0).gdp_mu(0.0))
epsilon = np.linspace(0.0, 4.0, 161)
known = dp.exact.gaussian_shift(shift * np.sqrt(52), epsilon)
print(f"largest relative error {np.max(np.abs(year.spectrum(epsilon).delta / known - 1.0)):.0e}")

# %%
# The theorems see one (ε₀, δ₀) of each release. Basic composition gives (kε₀, kδ₀), advanced
# composition ε₀√(2k ln(1/δ′)) + kε₀(e^ε₀ − 1) at kδ₀ + δ′ (Dwork and Roth 2014, theorem 3.20). The
# total is δ = 0.00001 for both; advanced composition splits it as is best for it. Each function
# gives ε of k weekly releases, in nats.

splits = np.linspace(0.02, 0.98, 25)


def basic(k):
    return k * float(weekly.spectrum(0.0).epsilon_at(allowed / k))


def advanced(k):
    one = weekly.spectrum(0.0).epsilon_at(splits * allowed / k)
    rest = (1.0 - splits) * allowed
    return float(np.min(one * np.sqrt(2 * k * np.log(1 / rest)) + k * one * np.expm1(one)))


def exactly(k):
    return float((k * weekly).spectrum(0.0).epsilon_at(allowed))


weeks = np.unique(np.geomspace(1, 260, 20).round().astype(int))
fig, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
for name, function, color, style in (
    ("basic composition", basic, "#D55E00", "-."),
    ("advanced composition", advanced, "#009E73", "--"),
    ("exact", exactly, "#0072B2", "-"),
):
    ax.plot(weeks, [function(int(k)) for k in weeks], color=color, linestyle=style, label=name)
    print(f"{name}: ε = {function(52):.2f} after 52 weeks, {function(260):.2f} after 260")
ax.set(xscale="log", yscale="log", xlabel="weekly releases", ylabel="ε at δ = 10⁻⁵ (nats)")
ax.legend()
ax.set_title("ε of weekly releases")
plt.show()

# %%
# Releases of different kinds compose in the same way: 52 weekly and four quarterly ones.

both = dp.exact.compose([weekly, quarterly], times=[52, 4])
fig, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
for name, loss, color, style in (
    ("52 weekly releases", year, "#0072B2", "-"),
    ("4 quarterly releases", 4 * quarterly, "#009E73", "--"),
    ("all 56", both, "black", "-."),
):
    curve = loss.spectrum(epsilon)
    ax.plot(epsilon, curve.delta, color=color, linestyle=style, label=name)
    print(f"{name}: ε = {float(curve.epsilon_at(allowed)):.2f} at δ = {allowed:g}")
ax.set(xlabel="ε (nats)", ylabel="δ(ε)", yscale="log", xlim=(0.0, 4.0), ylim=(1e-10, 1.0))
ax.legend()
ax.set_title("Releases composed")
plt.show()

# %%
# This is the privacy of one row in releases that are independent given the data: another row may
# leak more, and a query that was chosen after seeing earlier answers may have another law.
#
# Read on: :doc:`compute an exact spectrum </docs/exact-spectra>`,
# :doc:`mechanisms that come with dpaudit </docs/mechanisms>`.
