"""
Noise in floating point
=======================

Laplace noise on real numbers gives ε-DP. A computer adds it to a float, and which floats come out
depends on where they come from (Mironov 2012). You will see the numbers that give a value away, let
an audit find them, and round them off.
"""

import matplotlib.pyplot as plt
import numpy as np

import dpaudit as dp

# %%
# One bit is released with Laplace noise. Floats near 0 lie closer together than floats near 1: a
# noisy 0 may be any small number, while a noisy 1 that falls near 0 is a difference of two numbers
# near 1, and so a multiple of their spacing.

pair = dp.neighbours.replace_row(np.array([[0.0]]), 0, [1.0])


def naive(data, size, *, rng):
    """A bit with Laplace noise of scale 1: ε = 1 in real numbers."""
    return data.sum() + rng.laplace(scale=1.0, size=(size, 1))


def trailing_zeros(values):
    """Zeros at the end of the 52 bits of each number's fraction."""
    bits = values.view(np.uint64) & np.uint64((1 << 52) - 1)
    lowest = bits & (~bits + np.uint64(1))
    return np.where(bits == 0, 52, np.log2(np.maximum(lowest, 1)).astype(int))


fig, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
places = np.arange(13)
for side, data, color, name in (
    (-0.2, pair.left, "#0072B2", "noisy 0"),
    (0.2, pair.right, "#D55E00", "noisy 1"),
):
    drawn = naive(data, 400_000, rng=np.random.default_rng(0))[:, 0]
    zeros = np.minimum(trailing_zeros(np.ascontiguousarray(drawn[np.abs(drawn) < 0.25])), 12)
    share = np.bincount(zeros, minlength=13) / len(zeros)
    ax.bar(places + side, share, width=0.4, color=color, label=name, hatch="//" * (side > 0))
ax.set(xlabel="zeros at the end of the fraction (12: or more)", ylabel="share of outputs near 0")
ax.legend()
ax.set_title("How noisy numbers are written")
plt.show()

# %%
# An audit that looks at the values alone finds nothing, since in real numbers nothing is wrong.
# With ``bits=True`` the score also reads how a number is written.

for bits in (False, True):
    result = dp.audit(naive, pair, claim=(1.0, 0.0), draws=40_000, bits=bits, rng=1)
    print(f"bits={bits}: {result.verdict}. {result.headline.text}")

# %%
# Rounded to a coarse grid that does not depend on the data, both sides give the same numbers.


def rounded(data, size, *, rng):
    """The same, rounded to multiples of 1/1024."""
    return np.round(naive(data, size, rng=rng) * 1024.0) / 1024.0


result = dp.audit(rounded, pair, claim=(1.0, 0.0), draws=40_000, bits=True, rng=1)
print(f"rounded: {result.verdict}. {result.headline.text}")

# %%
# Rounding to a grid removes this trace. It is no proof that the sampler is sound: the probabilities
# of the grid points themselves may still be slightly off, below what these draws can show.
#
# Read on: :doc:`released libraries </docs/libraries>`, :doc:`the museum </docs/museum>`.
