# A mechanism that takes a hundredth of a second a draw, under a budget of time: what it costs and
# what it can show is told before the draws, and the run ends about in time.

cat > slow.py <<'PYTHON'
import time


def mean(data, rng):
    time.sleep(0.01)
    return data.mean() + rng.laplace(scale=0.05 / len(data))  # the noise is 20 times too small
PYTHON
printf 'x\n0.2\n0.9\n0.4\n1.0\n0.7\n' > rows.csv

began=$SECONDS
status=0; dpaudit audit slow:mean --data rows.csv --claim 1,0 --neighbours remove --time 20s > run.txt 2> chatter.txt || status=$?
test $status -eq 1
test $((SECONDS - began)) -le 40
grep -q "note: About 1[0-3].* s for at most .* draws, search included" chatter.txt
grep -q "drawing M(D) and M(D'): 0 of" chatter.txt

# a time and a number of draws contradict each other
status=0; dpaudit audit slow:mean --data rows.csv --claim 1,0 --time 20s --draws 500 2> error.txt || status=$?
test $status -eq 2
grep -q -- "--time and --draws exclude each other" error.txt
