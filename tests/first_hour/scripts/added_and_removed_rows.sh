# Neighbours by adding and removing rows, and all rows of one user.

cat > count.py <<'PYTHON'
def release(data, size, *, rng):
    """A count with noise for one row more or less."""
    return len(data) + rng.laplace(scale=1.0, size=(size, 1))
PYTHON
printf 'x,y\n0.2,1\n0.9,0\n0.4,1\n0.7,1\n' > rows.csv
dpaudit audit count:release --data rows.csv --claim 1,0 --neighbours remove --draws 20000 > held.txt
grep -q "removed" held.txt
status=0; dpaudit audit count:release --data rows.csv --claim 1,0 --neighbours add --draws 20000 2> error.txt || status=$?
test $status -eq 2
grep -q -e "--row-bound" error.txt
dpaudit audit count:release --data rows.csv --claim 1,0 --neighbours add --row-bound 1 --draws 20000 > added.txt
grep -q "added" added.txt

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
