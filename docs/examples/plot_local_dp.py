"""
Local differential privacy
==========================

Each person randomises their own answer and sends it. The neighbours are then two values of one
record. You will audit randomised response among four answers, and a version with a usual slip: the
true answer is sent as often as if there were only two.
"""

import matplotlib.pyplot as plt
import numpy as np

import dpaudit as dp

# %%
# Among k answers, the true one is sent with probability e^ε/(e^ε + k − 1), else one of the others.
# With k = 2 that is e^ε/(e^ε + 1), the probability that most texts print.

EPSILON, ANSWERS = 1.0, 4


def respond(answer, keep, rng):
    """The true answer with probability `keep`, else one of the others."""
    others = [one for one in range(ANSWERS) if one != answer]
    return answer if rng.random() < keep else int(rng.choice(others))


def sound(answer, rng):
    return respond(answer, np.exp(EPSILON) / (np.exp(EPSILON) + ANSWERS - 1), rng)


def slipped(answer, rng):
    return respond(answer, np.exp(EPSILON) / (np.exp(EPSILON) + 1), rng)


VERSIONS = {"sound": sound, "with the slip": slipped}

# %%
# The adapter calls the function for a record by itself. The database holds one record, and its
# neighbour the same record with another answer.

pair = dp.neighbours.replace_row(np.array([[0.0]]), 0, [2.0])
results = {}
for name, function in VERSIONS.items():
    mechanism = dp.adapters.values(function, each=True, dtype="int", form="list")
    results[name] = dp.audit(mechanism, pair, claim=(EPSILON, 0.0), draws=20_000, rng=1)
    print(f"{name}: {results[name].verdict}. {results[name].headline.text}")

# %%
# What a reader of the answers sees: the share of each answer, for the two true ones. The ratio of
# two bars must not exceed e^ε = 2.72.

fig, axes = plt.subplots(1, 2, figsize=(6.4, 3.4), sharey=True, layout="constrained")
for ax, (name, function) in zip(axes, VERSIONS.items(), strict=True):
    rng = np.random.default_rng(0)
    shares = []
    for side, answer, color in ((-0.2, 0, "#0072B2"), (0.2, 2, "#D55E00")):
        sent = [function(answer, rng) for _ in range(20_000)]
        share = np.bincount(sent, minlength=ANSWERS) / len(sent)
        shares.append(share)
        hatch = "//" if answer else ""
        ax.bar(np.arange(4) + side, share, 0.4, color=color, hatch=hatch, label=f"true: {answer}")
    print(f"{name}: largest ratio {np.max(shares[0] / shares[1]):.2f}")
    ax.set(xlabel="answer sent", title=name, xticks=range(4))
axes[0].set_ylabel("share")
axes[0].set_ylim(0, 0.95)
axes[1].legend(ncols=2, loc="upper center")
plt.show()

# %%
# Two of four answers were compared, for one record. Randomisers that treat answers differently need
# a look at every pair of answers.
#
# Read on: :doc:`plug in your own mechanism </docs/plug-in>`.
