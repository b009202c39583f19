# Errors name the next step.

printf 'x,y\n0.2,1\n0.9,0\n0.4,1\n' > rows.csv
cat > mean.py <<'PYTHON'
def release(data, size, *, rng):
    return data.mean() + rng.laplace(scale=0.3, size=(size, 1))


def one_mean(data, rng):
    return data.mean() + rng.laplace(scale=0.3)
PYTHON

python - <<'PYTHON'
import dpaudit as dp
from mean import one_mean, release

data = dp.datasets.read_rows("rows.csv")


def told(function, *arguments, **options):
    try:
        function(*arguments, **options)
    except Exception as error:
        return str(error)
    raise AssertionError("no error")


text = told(dp.audit, release, data, claim=(1.0, 0.0))
assert "zero_row" in text and "search_neighbours" in text, text
pair = dp.neighbours.zero_row(data, 0)
assert dp.audit(one_mean, pair, claim=(4.0, 0.0), draws=2000, rng=0).verdict == "not violated"
assert "'claim'" in told(dp.search_neighbours, release, data, cliam=(1.0, 0.0))
assert "'draws'" in told(dp.search_neighbours, release, data, darws=1000)
assert "read_rows" in told(dp.datasets.load, "rows.csv")
PYTHON

status=0; dpaudit plan --epsilon 1 --delta 0 2> error.txt || status=$?
test $status -eq 2
grep -q -- "--claim" error.txt
dpaudit audit mean:one_mean --data rows.csv --claim 4,0 --neighbours remove --draws 2000 > one.txt
grep -q "^NOT VIOLATED" one.txt  # a function of one output a call is known by its signature
status=0; dpaudit audit mean:relaese --data rows.csv --claim 1,0 2> error.txt || status=$?
test $status -eq 2
grep -q "release" error.txt
status=0; dpaudit audit mean:release --data row.csv --claim 1,0 2> error.txt || status=$?
test $status -eq 2
grep -q "row.csv" error.txt
