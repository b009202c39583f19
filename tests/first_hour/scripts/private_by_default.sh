# No value of the data is printed unless it is asked for.

printf 'height,income\n73.1234567,-8191.515625\n61.7654321,4099.890625\n66.5432109,5021.203125\n' > rows.csv
cat > broken.py <<'PYTHON'
def release(data, size, *, rng):
    if data[0, 0] > 0.0:
        raise ValueError(f"cannot release {data[1]} or {data[1, 1]}")
    return data.sum() + rng.laplace(size=(size, 1))


def leak(data, size, *, rng):
    return data.sum() + rng.laplace(size=(size, 1))
PYTHON
cat > test_release.py <<'PYTHON'
import pytest

import dpaudit as dp
from broken import leak, release


@pytest.fixture
def data():
    return dp.datasets.read_rows("rows.csv")


def test_leak(data):
    dp.testing.assert_private(leak, data, (1.0, 0.0), draws=2000)


def test_broken(data):
    dp.testing.assert_private(release, dp.neighbours.zero_row(data, 0), (1.0, 0.0), draws=2000)
PYTHON
dpaudit audit broken:leak --data rows.csv --claim 1,0 --draws 2000 --out report > out.txt 2>&1 || test $? -eq 1
dpaudit audit broken:release --data rows.csv --claim 1,0 --draws 2000 >> out.txt 2>&1 || test $? -eq 2
pytest -p no:cacheprovider --showlocals --tb=long test_release.py >> out.txt 2>&1 || test $? -eq 1
python - >> out.txt 2>&1 <<'PYTHON'
import dpaudit as dp
from broken import leak

data = dp.datasets.read_rows("rows.csv")
pair = dp.neighbours.remove_row(data, 1)
found = dp.search_neighbours(leak, data, claim=(1.0, 0.0), draws=2000, rng=0)
print(repr(pair), repr(found), repr(found.audit), repr(found.selection), found.table())
PYTHON
for value in 73.12 8191.5 61.76 4099.8 66.54 5021.2; do
    if grep -r -F -- "$value" out.txt report; then exit 1; fi
done
