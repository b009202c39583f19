# Audits that could not have found anything are never green: a mechanism that ignores its data, too
# few draws, and a claim that the exact spectrum breaks.

printf 'x\n0.2\n0.9\n0.4\n' > rows.csv
cat > noise.py <<'PYTHON'
def release(data, size, *, rng):
    return rng.normal(size=(size, 1))


def leak(data, size, *, rng):
    return data.sum() + 1e-9 * rng.normal(size=(size, 1))
PYTHON
status=0; dpaudit audit noise:release --data rows.csv --claim 1,0 --draws 5000 > out.txt || status=$?
test $status -eq 3
grep -q "same random numbers" out.txt

status=0; dpaudit audit noise:leak --data rows.csv --claim 1,0.999 --draws 1000 > out.txt || status=$?
test $status -eq 3
grep -q "draws" out.txt

python - <<'PYTHON'
import numpy as np

import dpaudit as dp

data = np.column_stack([dp.datasets.load("diabetes").X, dp.datasets.load("diabetes").y])
mechanism = dp.mechanisms.ALS(rows=1200)
pair = dp.neighbours.zero_row(data, 7)
exact = float(dp.exact.spectrum(mechanism, pair, [0.1]).delta[0])
result = dp.audit(mechanism, pair, claim=(0.1, exact * 0.99), draws=2000, rng=0)
assert result.verdict == "inconclusive", result.reason
assert "exact spectrum breaks" in result.reason, result.reason
PYTHON
