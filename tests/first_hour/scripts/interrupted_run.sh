# Ctrl-C keeps the draws and says so; --resume goes on to the same result; without it, the command
# says what it throws away.
set -m # a shell without job control starts commands in the background deaf to Ctrl-C
trap 'test $? -eq 0 || tail -n 20 ./*.txt >&2' EXIT # what the commands said, if one did not do as it should

cat > slow.py <<'PYTHON'
import time
from pathlib import Path


def release(data, size, *, rng):
    if not Path("fast").exists():
        time.sleep(size / 1_000)
    return data.sum() + rng.laplace(scale=1.0, size=(size, 1))
PYTHON
printf 'x\n0.2\n0.9\n0.4\n1.0\n' > rows.csv
cat > scenario.toml <<'TOML'
[data]
path = "rows.csv"

[mechanism]
call = "slow:release"

[neighbour]
rule = "row"
index = 3

[claim]
epsilon = 1.0

[audit]
draws = 60_000
TOML

interrupted() { # the run, until it has made draws; it would take two minutes
    rm -f fast
    dpaudit run scenario.toml --out report > run.txt 2> chatter.txt & process=$!
    for _ in $(seq 60); do
        sleep 0.3
        dpaudit status report > status.txt 2> errors.txt || true
        if grep -q "Draws of M(D) *[1-9]" status.txt; then break; fi
    done
    grep -q "Draws of M(D) *[1-9]" status.txt
    kill -INT $process
    status=0; wait $process || status=$?
    test $status -eq 130
    grep -q "interrupted.*--resume" chatter.txt
    touch fast
}

interrupted
dpaudit run scenario.toml --out report --resume > resumed.txt
cp report/result.json resumed.json

interrupted
dpaudit run scenario.toml --out report > whole.txt 2> chatter.txt
grep -q "draws of an interrupted run" chatter.txt

python - <<'PYTHON'
import json
from pathlib import Path

resumed, whole = (json.loads(Path(name).read_text()) for name in ("resumed.json", "report/result.json"))
for record in (resumed, whole):
    del record["timings"], record["peak_memory_mb"]
assert resumed == whole
PYTHON
