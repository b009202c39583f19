"""What a type checker says of a caller: wrong arguments of the surface are rejected."""

import subprocess
import sys

import pytest

GOOD = """
import numpy as np
import dpaudit as dp

def noisy(data, size, *, rng):
    return data.sum() + rng.laplace(size=size)

pair = dp.neighbours.zero_row(np.ones((3, 1)), 0)
result = dp.audit(noisy, pair, claim=(1.0, 0.0), epsilon=[0.0, 1.0], rng=1)
found = dp.audit(dp.mechanisms.ALS(rows=9), pair, claim=dp.Claim(1.0), rng=np.random.default_rng(0))
print(result.verdict.upper(), found.spectrum.delta.shape)
"""
BAD = {
    "mechanism": "dp.audit(1, pair)",
    "pair": "dp.audit(noisy, np.ones((3, 1)))",
    "claim": "dp.audit(noisy, pair, claim='tight')",
    "rng": "dp.audit(noisy, pair, rng='today')",
    "epsilon": "dp.audit(noisy, pair, epsilon=print)",
}


def checked(folder, source):
    pytest.importorskip("mypy")
    path = folder / "caller.py"
    path.write_text(source)
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--config-file=",
        "--cache-dir",
        str(folder),
        str(path),
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


@pytest.mark.slow
def test_a_type_checker_accepts_good_calls_and_rejects_bad_ones(tmp_path):
    lines = GOOD.splitlines()
    output = checked(tmp_path, GOOD + "\n".join(BAD.values()) + "\n")
    for number, call in enumerate(BAD.values(), len(lines) + 1):
        assert f"caller.py:{number}: error:" in output, call
    errors = [line for line in output.splitlines() if "caller.py" in line and "error:" in line]
    assert len(errors) == len(BAD), output
