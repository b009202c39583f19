# Functions that return what people release: a group-by table, JSON text, a ranking. No adapter.

cat > release.py <<'PYTHON'
import json

import pandas as pd


def frame(data):
    return pd.DataFrame(data, columns=["region", "income"])


def by_region(data, rng):
    """A table of sums; the noise is for a contribution of at most 1, but rows have up to 4."""
    sums = frame(data).groupby("region").income.sum()
    return sums + rng.laplace(size=len(sums))


def service(data, rng):
    """An answer in JSON; the count has noise of scale 1, the mean has none."""
    answer = {"count": len(data) + rng.laplace(), "mean": round(data[:, 1].mean(), 2)}
    answer["mean"] += round(rng.laplace(scale=0.02), 2)
    return json.dumps(answer)


def ranking(data, rng):
    """Regions by income; the noise is too small for the largest row."""
    sums = frame(data).groupby("region").income.sum()
    noisy = sums + rng.gumbel(scale=1.0, size=len(sums))
    names = ["north", "east", "south", "west"]
    return [names[int(region)] for region in noisy.sort_values(ascending=False).index]
PYTHON
python - <<'PYTHON'
import numpy as np

rng = np.random.default_rng(0)
rows = np.column_stack([np.arange(60) % 4, rng.uniform(0.0, 1.0, size=60)])
rows[7, 1] = 4.0
np.savetxt("rows.csv", rows, delimiter=",", header="region,income", comments="")
PYTHON
for name in by_region service ranking; do
    status=0
    dpaudit audit release:$name --data rows.csv --claim 1,0 --draws 1500 > $name.txt || status=$?
    test $status -eq 1
    grep -q "VIOLATED" $name.txt
done
