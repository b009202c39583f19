# `dpaudit init` makes a folder that runs as it is, and is not written over.

dpaudit init my-audit
dpaudit run my-audit/scenario.toml > run.txt
grep -q "NOT VIOLATED" run.txt
grep -q "would have been shown with" run.txt
pytest -p no:cacheprovider my-audit > pytest.txt
grep -q "not violated" pytest.txt
status=0; dpaudit init my-audit 2> error.txt || status=$?
test $status -eq 2
