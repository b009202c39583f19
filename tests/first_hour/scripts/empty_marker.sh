# A test with the marker `privacy` that audits nothing fails.

cat > test_empty.py <<'PYTHON'
import pytest


@pytest.mark.privacy(draws=1000)
def test_release_is_private():
    assert 1 + 1 == 2
PYTHON
status=0; pytest -p no:cacheprovider test_empty.py > pytest.txt || status=$?
test $status -eq 1
grep -q "audited nothing" pytest.txt
