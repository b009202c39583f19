# Neighbours by adding and removing rows, and all rows of one user.

cat > count.py <<'PYTHON'
def release(data, size, *, rng):
    """A count with noise for one row more or less."""
    return len(data) + rng.laplace(scale=1.0, size=(size, 1))
PYTHON
printf 'x,y\n0.2,1\n0.9,0\n0.4,1\n0.7,1\n' > rows.csv
dpaudit audit count:release --data rows.csv --claim 1,0 --neighbours remove --draws 20000 > held.txt
grep -q "removed" held.txt
dpaudit audit count:release --data rows.csv --claim 1,0 --neighbours add --draws 20000 > unbounded.txt
head -n 1 unbounded.txt | grep -q "bounds of the rows that may come in were taken from the data"
dpaudit audit count:release --data rows.csv --claim 1,0 --neighbours add --bounds 0:1,0:1 --draws 20000 > added.txt
grep -q "a row added" added.txt
status=0; grep -q "taken from the data" added.txt || status=$?
test $status -eq 1

python - <<'PYTHON'
import dpaudit as dp
from count import release

data = dp.datasets.read_rows("rows.csv")
one = dp.neighbours.remove_row(data, 1)
assert (one.relation, one.index, len(one.right)) == ("remove", 1, 3)
user = dp.neighbours.remove_group(data, [0, 3])
result = dp.audit(release, user, claim=(1.0, 0.0), draws=20_000, rng=0)
assert result.verdict == "violated", result.reason  # the claim is for one row, not for two
assert "0.2" not in repr(user) and "0.9" not in repr(one)
PYTHON
