# Ctrl-C keeps the draws and says so; --resume goes on to the same result; without it, the command
# says what it throws away.

cat > slow.py <<'PYTHON'
import time


def release(data, size, *, rng):
    time.sleep(size / 20_000)
    return data.sum() + rng.laplace(scale=1.0, size=(size, 1))
PYTHON
printf 'x\n0.2\n0.9\n0.4\n1.0\n' > rows.csv
command="dpaudit audit slow:release --data rows.csv --claim 1,0 --draws 60000 --out report"

$command > /dev/null 2> first.txt & process=$!
for _ in $(seq 120); do
    sleep 0.5
    dpaudit status report > status.txt 2> /dev/null || true
    if grep -q "Draws of M(D)  *[1-9]" status.txt; then break; fi
done
kill -INT $process
status=0; wait $process || status=$?
test $status -eq 130
grep -q -- "--resume" first.txt

$command --resume > resumed.txt
cp report/result.json resumed.json

$command > /dev/null 2> /dev/null & process=$!
for _ in $(seq 120); do
    sleep 0.5
    dpaudit status report > status.txt 2> /dev/null || true
    if grep -q "Draws of M(D)  *[1-9]" status.txt; then break; fi
done
kill -INT $process
wait $process || true
$command > whole.txt 2> again.txt
grep -q "interrupted run" again.txt

python - <<'PYTHON'
import json
from pathlib import Path

resumed, whole = (json.loads(Path(name).read_text()) for name in ("resumed.json", "report/result.json"))
for record in (resumed, whole):
    del record["timings"], record["peak_memory_mb"]
assert resumed == whole
PYTHON
