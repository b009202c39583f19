# DP-SGD that forgets to clip the gradients one by one, on 60 rows of a CSV file. The scenario, the
# one-liner, Python and pytest all call it violated, about the same row and with the same ε.

cat > train.py <<'PYTHON'
import numpy as np


def dp_sgd(data, size, *, rng):
    """Five steps of least squares; the mean gradient is clipped, not each person's."""
    X, y = data[:, :-1], data[:, -1]
    weights = np.zeros((size, X.shape[1]))
    for _ in range(5):
        gradient = (weights @ X.T - y) @ X / len(X)
        norm = np.linalg.norm(gradient, axis=1, keepdims=True)
        gradient /= np.maximum(norm, 1.0)
        noise = rng.normal(scale=0.4, size=gradient.shape)
        weights = weights - 0.5 * (gradient + noise)
    return weights
PYTHON

python - <<'PYTHON'
import numpy as np

rng = np.random.default_rng(5)
X = rng.normal(size=(60, 2))
y = X @ [1.0, -0.5] + 0.1 * rng.normal(size=60)
X[11], y[11] = (7.5, -6.0), -9.25
np.savetxt("rows.csv", np.column_stack([X, y]), delimiter=",", header="dose,age,effect", comments="")
PYTHON

cat > scenario.toml <<'TOML'
[data]
path = "rows.csv"

[mechanism]
call = "train:dp_sgd"

[claim]
epsilon = 2.0
delta = 1e-5

[audit]
draws = 20_000
TOML

status=0; dpaudit run scenario.toml --out by-scenario > scenario.txt || status=$?
test $status -eq 1

status=0; dpaudit audit train:dp_sgd --data rows.csv --claim 2,1e-5 --neighbours zero-out --draws 20000 --out by-audit > audit.txt || status=$?
test $status -eq 1

python - > python.txt <<'PYTHON'
import dpaudit as dp
from train import dp_sgd

data = dp.datasets.read_rows("rows.csv")
found = dp.search_neighbours(dp_sgd, data, claim=(2, 1e-5), draws=20_000, rng=0)
print(found.pair.relation, found.pair.index, found.audit.verdict)
print(found.audit.headline.text)
assert found.audit.verdict == "violated"
found.audit.save("by-python")
PYTHON

cat > test_train.py <<'PYTHON'
import dpaudit as dp
from train import dp_sgd


def test_training_is_private():
    data = dp.datasets.read_rows("rows.csv")
    search = {"budget": 10}
    dp.testing.assert_private(dp_sgd, data, (2, 1e-5), draws=20_000, level=0.95, rng=0, search=search)
PYTHON
status=0; pytest -p no:cacheprovider test_train.py > pytest.txt || status=$?
test $status -eq 1

python - <<'PYTHON'
import json
from pathlib import Path

heads = {name: json.loads(Path(name, "result.json").read_text())["headline"]
         for name in ("by-scenario", "by-audit", "by-python")}
text = heads["by-python"]["text"]
print(text)
assert text.startswith("Claimed ε = 2 at δ = 10⁻⁵. At 95 % confidence at least "), text
assert "row 11 zeroed" in text
assert all(head == heads["by-python"] for head in heads.values()), heads
for output in ("scenario.txt", "audit.txt", "python.txt", "pytest.txt"):
    assert text in Path(output).read_text(), output
PYTHON
