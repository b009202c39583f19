"""
Clipping that comes too late
============================

Standard scores are clipped to three standard deviations, and their mean is released with noise for
that range. But the centre and the scale come from the data before they are clipped, so one far
value moves the score of everybody. The example measures how the leak grows with that value, and
shows that clipping first stops it. You will learn to audit a family of pairs and to draw what each
audit certifies.
"""

import matplotlib.pyplot as plt
import numpy as np

import dpaudit as dp

# %%
# Both versions release the mean score of 400 people, and both claim ε = 1 when one person's value
# is replaced. A score lies between −3 and 3, so one score moves the mean by at most 6/n.

ages = np.random.default_rng(0).normal(45.0, 12.0, size=(400, 1)).clip(18.0, 95.0).round()


def clipped_late(data, size, *, rng):
    """Centre and scale are read off the data, then the scores are clipped."""
    scores = (data - data.mean()) / data.std()
    return scores.clip(-3.0, 3.0).mean() + rng.laplace(scale=6.0 / len(data), size=(size, 1))


def clipped_first(data, size, *, rng):
    """Values are clipped to 0 … 120; centre 60 and scale 20 are public."""
    scores = (data.clip(0.0, 120.0) - 60.0) / 20.0
    return scores.mean() + rng.laplace(scale=6.0 / len(data), size=(size, 1))


# %%
# Person 7 gives another value: 120, or an error of typing that is larger and larger. Each pair is
# audited with 20,000 draws a side. ``focus="pure"`` spends the confidence on ε at δ = 0, which is
# what the claim is about.

claim = dp.Claim(1.0, 0.0)
values = [120.0, 200.0, 400.0, 1_000.0, 10_000.0]


def audited(mechanism, value):
    """The audit of one pair."""
    pair = dp.neighbours.replace_row(ages, 7, [value])
    return dp.audit(mechanism, pair, claim=claim, draws=20_000, focus="pure", rng=1)


late = [audited(clipped_late, value) for value in values]
first = [audited(clipped_first, value) for value in values]
for value, one, other in zip(values, late, first, strict=True):
    print(f"value {value:>6g}: clipped late {one.verdict}, clipped first {other.verdict}")
print(late[-1].headline.text)

# %%
# The larger the value, the more it shows. One far value gives every other person a score of about
# −1/√n, so the mean moves by almost √n/n = 20/400, where the noise was made for 6/400.

fig, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
for results, name, look in (
    (late, "clipped late", {"color": "#0072B2", "marker": "o"}),
    (first, "clipped first", {"color": "#009E73", "marker": "s", "linestyle": "--"}),
):
    ax.plot(values, [one.certified.epsilon_at(0.0) for one in results], label=name, **look)
ax.axhline(1.0, color="#D55E00", linestyle="-.", label="claimed")
ax.set(xscale="log", xlabel="value that replaces an age (years)", ylim=(0.0, None))
ax.set_ylabel("certified ε at δ = 0 (nats), 95 % each")
ax.grid(color="#e4e4e4")
ax.legend()
ax.set_title("What a late clip lets through")
plt.show()

# %%
# Each of the ten bounds holds at 95 % by itself, not all ten together, and no audit here says
# anything of a person other than number 7, or of two values that change at once.
#
# Read on: :doc:`know what your draws can show </docs/draws>`,
# :doc:`how a verdict is reached </docs/verdict>`.
