# A table as people have it: a CSV file with an identifier, texts, dates and missing values, and a
# function of pandas. Regions of fewer than five people are left out by their true size.

cat > release.py <<'PYTHON'
def by_region(people, rng, epsilon=1.0):
    """Income by region; each person adds at most 1."""
    groups = people.groupby("region").income
    sums = groups.sum() + rng.laplace(scale=1.0 / epsilon, size=groups.ngroups)
    return sums[groups.size() >= 5]
PYTHON
cat > annotated.py <<'PYTHON'
import pandas as pd

import release


def by_region(people: pd.DataFrame, rng):
    return release.by_region(people, rng)
PYTHON
python - <<'PYTHON'
import random

random.seed(0)
lines = ["person_id,region,since,income"]
for region, size in {"north": 60, "east": 40, "south": 30, "west": 5}.items():
    lines += [f"P{random.random()},{region},2024-03-1{at % 9},{random.random()}" for at in range(size)]
lines.append("P7,south,2024-03-12,")
open("people.csv", "w").write("\n".join(lines))
PYTHON

# without a word, the message says how to ask for a data frame
audit="--data people.csv --ignore person_id --claim 1,0 --draws 1000"
status=0; dpaudit audit release:by_region $audit 2> error.txt || status=$?
test $status -eq 2
grep -q -- "--kind frame" error.txt

status=0; dpaudit audit release:by_region --kind frame $audit --neighbours remove > one.txt 2> chatter.txt || status=$?
test $status -eq 1
grep -q "135 rows .* 3 columns (region, since, income)" one.txt
grep -q "1 row left out (missing value)" one.txt
grep -q "draws, search included; .* They show an excess of" chatter.txt
status=0; dpaudit audit annotated:by_region $audit --neighbours remove > two.txt || status=$?
test $status -eq 1
status=0; dpaudit audit release:by_region --kind frame --parameters epsilon=0.5 $audit --neighbours remove > three.txt || status=$?
test $status -eq 1
if grep -q -r "west" dpaudit-out; then exit 1; fi # texts are values of people

# the same in Python
python - <<'PYTHON'
import dpaudit as dp
from release import by_region

table = dp.datasets.read_table("people.csv", ignore=["person_id"])
mechanism = dp.adapters.records(by_region, table.types)
options = {"relations": "remove", "claim": (1.0, 0.0), "draws": 1000}
found = dp.search_neighbours(mechanism, table.database, **options, rng=0)
assert found.audit.verdict == "violated"
assert found.index >= 130, found.index  # one of the five people of the west
PYTHON
