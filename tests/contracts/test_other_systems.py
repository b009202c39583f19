"""Without `resource` and `fcntl`, as on Windows, audits work and say what is missing.

Each test runs Python in a process that refuses to import the two modules.
"""

import json
import subprocess
import sys

import pytest

WITHOUT = """
import importlib.abc, sys, warnings

class Refuses(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name in ("resource", "fcntl"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

for name in ("resource", "fcntl"):
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Refuses())
import dpaudit as dp
"""
AUDIT = """
pair = dp.neighbours.zero_row([[1.0], [1.0]], 1)
mean = lambda data, size, *, rng: data.sum() + rng.normal(size=(size, 1))
result = dp.audit(mean, pair, claim=(0.1, 0.01), draws=2000, classifier="qda", rng=1)
"""


def without_modules(code, *arguments):
    """What such a process prints."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT + code, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.mark.slow
def test_an_audit_works_and_leaves_its_memory_out(tmp_path):
    """The claim is far from N(0, 1) | N(1, 1): 2000 draws refute it."""
    out, err = without_modules(f"{AUDIT}print(result.verdict)\nresult.save(sys.argv[1])", tmp_path)
    assert (out, err) == ("violated\n", "")
    record = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert record["peak_memory_mb"] is None
    assert record["timings"]["total_s"] > 0.0
    assert (tmp_path / "report.html").exists()


@pytest.mark.slow
def test_a_run_works_with_a_lock_that_is_a_file_alone(write_scenario, tmp_path):
    code = (
        "from dpaudit.run import Scenario, run\n"
        "print(run(Scenario.load(sys.argv[1]), sys.argv[2]).verdict)"
    )
    out, err = without_modules(code, write_scenario(), tmp_path / "out")
    assert out == "not violated\n"
    assert "only soft file lock is available" in err  # what filelock says
    assert (tmp_path / "out" / "result.json").exists()
