# docs/quick-start.md, from `dpaudit init` on: a gate that is red while the noise is halved, and green
# before and after.

dpaudit init my-audit
cd my-audit

dpaudit run scenario.toml > first.txt
grep -qF "NOT VIOLATED: Claimed ε = 1 at δ = 0. Ruled out at 95 % confidence: every ε below 0.9" first.txt
grep -qF "This concerns one pair of databases and one score: it is no proof of privacy." first.txt

cp mechanism.py sound.py
sed 's/scale = MOST/scale = 0.5 * MOST/' sound.py > mechanism.py
! cmp -s sound.py mechanism.py
status=0; dpaudit run scenario.toml > red.txt || status=$?
test $status -eq 1
grep -qF "VIOLATED: Claimed ε = 1 at δ = 0. At 95 % confidence at least 1.9" red.txt
test -s dpaudit-out/mean-hours/report.html

status=0; pytest -p no:cacheprovider > red-test.txt || status=$?
test $status -eq 1
grep -qF "PrivacyFailure: VIOLATED: Claimed ε = 1 at δ = 0. At 99.99995 % confidence at least 1." red-test.txt

cp sound.py mechanism.py
dpaudit run scenario.toml --out report --junit report/junit.xml > green.txt
grep -qF "NOT VIOLATED: Claimed ε = 1 at δ = 0." green.txt
pytest -p no:cacheprovider > green-test.txt
grep -qF "not violated: (1, 0)-DP" green-test.txt

dpaudit compare dpaudit-out/mean-hours report --names leaking,mended --out moved.png > moved.txt
grep -qF "  verdict: violated, now not violated" moved.txt
test -s moved.png

grep -qF "dpaudit run scenario.toml --out report" .github/workflows/privacy.yml
rm report/report.html
dpaudit report report
test -s report/report.html
