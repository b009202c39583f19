"""The scripts of docs/step-by-step.md run as they stand, where their libraries are installed."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "step-by-step.md"
SCRIPTS = re.findall(
    r"^## ([\w-]+)\n(?:(?!^## ).)*?^```py\n(.*?)^```",
    PAGE.read_text(encoding="utf-8"),
    re.MULTILINE | re.DOTALL,
)
LIBRARIES = {"Opacus": "opacus", "jax-privacy": "jax_privacy"}


@pytest.mark.quick
def test_a_script_takes_at_most_ten_lines_more():
    assert [name for name, _ in SCRIPTS] == list(LIBRARIES)
    for name, script in SCRIPTS:
        compile(script, name, "exec")
        assert 4 <= len(re.findall(r"# added$|# was .*$", script, re.MULTILINE)) <= 10


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("name", "script"), SCRIPTS, ids=[name for name, _ in SCRIPTS])
def test_a_script_runs(name, script, capsys):
    pytest.importorskip(LIBRARIES[name])
    seeded = re.sub(r"(Audit\(.*)\)  # added$", r"\1, rng=0)", script, flags=re.MULTILINE)
    assert seeded != script
    if name == "Opacus":
        seeded = f"import torch\ntorch.manual_seed(0)\n{seeded}"
    exec(compile(seeded, name, "exec"), {})
    verdict, certified, claimed = capsys.readouterr().out.rsplit(maxsplit=2)
    assert verdict == "not violated"
    assert 0.8 * float(claimed) < float(certified) <= float(claimed)
