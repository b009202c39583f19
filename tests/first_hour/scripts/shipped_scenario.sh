# A scenario that comes with dpaudit runs by its name from any folder; its report is drawn again.

dpaudit run flight-als --draws 1e5 > run.txt
grep -q "Claimed ε = 0.1 at δ = 0.01" run.txt
grep -q "row 7008 zeroed" run.txt
rm dpaudit-out/flight-als/report.html
dpaudit report dpaudit-out/flight-als > report.txt
test -s dpaudit-out/flight-als/report.html

status=0; dpaudit run flight-ols 2> error.txt || status=$?
test $status -eq 2
grep -q "flight-als" error.txt

dpaudit run flight-als flight-als-broken-claim --draws 1e5 --out suite --junit suite.xml > suite.txt || test $? -eq 3
rm suite/index.html suite/flight-als/report.html
dpaudit report suite
test -s suite/index.html && test -s suite/flight-als/report.html
grep -q "would have been shown with" suite.xml
dpaudit list scenarios --json | python -m json.tool > /dev/null
