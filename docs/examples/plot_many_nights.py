"""
An excess found over many nights
================================

An excess of δ that is too small for one night's draws shows over many nights, if their evidence is
pooled. A ledger multiplies e-values, which keeps false alarms at 5 % over the whole history. You
will watch the evidence of a sound and of a leaking mechanism for ten nights.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from dpaudit.run import Ledger, Scenario
from dpaudit.run import run as run_scenario

# %%
# A scenario names the mechanism, so that every night audits the same. The claim is ε = 1. One
# version keeps it, the other one has 15 % too little noise.

TOML = """
name = "{name}"
[data]
path = "rows.csv"
[mechanism]
call = "nightly:{name}"
[neighbour]
rule = "replace"
index = 0
row = [1.0]
[claim]
epsilon = 1.0
[audit]
draws = 2000
"""
CODE = """
def sound(data, size, *, rng):
    return data.sum() + rng.laplace(scale=1.0, size=(size, 1))

def leaking(data, size, *, rng):
    return data.sum() + rng.laplace(scale=0.85, size=(size, 1))
"""
NIGHTS = 10


def evidence(folder, name):
    """ln of the pooled e-value after each night."""
    (folder / f"{name}.toml").write_text(TOML.format(name=name))
    scenario, ledger, grown = Scenario.load(folder / f"{name}.toml"), folder / f"{name}.jsonl", []
    for night in range(NIGHTS):
        run_scenario(scenario, folder / name, seed=night, ledger=ledger)
        (standing,) = Ledger(ledger).standings()
        grown.append(standing.log_e)
    return np.array(grown)


with tempfile.TemporaryDirectory() as place:
    folder = Path(place)
    (folder / "rows.csv").write_text("x\n0\n1\n0\n")
    (folder / "nightly.py").write_text(CODE)
    pooled = {name: evidence(folder, name) for name in ("sound", "leaking")}

# %%
# The claim is rejected when the pooled e-value reaches 40, the threshold of the first version of a
# mechanism's code.

for name, grown in pooled.items():
    over = np.flatnonzero(grown >= np.log(40.0))
    print(f"{name}: {'never rejected' if not len(over) else f'rejected in night {over[0] + 1}'}")

fig, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
nights = np.arange(1, NIGHTS + 1)
looks = {"sound": ("#0072B2", "o-"), "leaking": ("#D55E00", "s--")}
for name, (color, style) in looks.items():
    ax.plot(nights, np.exp(pooled[name]), style, color=color, label=name, markersize=4)
ax.axhline(40.0, color="black", linewidth=1.0, label="rejected from here on")
ax.set(xlabel="night", ylabel="pooled e-value", yscale="log")
ax.legend()
ax.set_title("Evidence night by night")
plt.show()

# %%
# The draws and the excess are chosen so that a page can show them; real excesses are smaller, and
# take more draws. A ledger that rejects nothing shows nothing about excesses below its reach.
#
# Read on: :doc:`pool many nights in a ledger </docs/ledger>`.
