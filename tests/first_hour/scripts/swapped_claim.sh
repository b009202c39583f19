# A claim with ε and δ in the wrong order holds for every mechanism. No gate turns green by it.

cat > mean.py <<'PYTHON'
def release(data, size, *, rng):
    return data.mean() + rng.laplace(scale=0.001, size=(size, 1))
PYTHON
printf 'x\n0.2\n0.9\n0.4\n' > rows.csv

status=0; dpaudit audit mean:release --data rows.csv --claim 1e-5,1 --draws 2000 2> error.txt || status=$?
test $status -eq 2
grep -q swapped error.txt

printf '[data]\npath = "rows.csv"\n[mechanism]\ncall = "mean:release"\n[claim]\nepsilon = 1e-5\ndelta = 1.0\n' > scenario.toml
status=0; dpaudit run scenario.toml 2> error.txt || status=$?
test $status -eq 2
grep -q swapped error.txt

cat > test_mean.py <<'PYTHON'
import dpaudit as dp
from mean import release


def test_mean_is_private():
    dp.testing.assert_private(release, [[0.2], [0.9], [0.4]], (1e-5, 1.0), draws=2000)
PYTHON
status=0; pytest -p no:cacheprovider test_mean.py > pytest.txt || status=$?
test $status -eq 1
grep -q swapped pytest.txt
