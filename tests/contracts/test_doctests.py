"""Every example in a docstring runs as it stands there."""

import doctest
import importlib
from pathlib import Path

import pytest

import dpaudit

ROOT = Path(dpaudit.__file__).parent
WITH_EXAMPLES = sorted(
    path for path in ROOT.rglob("*.py") if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_examples_run(path):
    module = importlib.import_module(".".join(path.relative_to(ROOT.parent).with_suffix("").parts))
    done = doctest.testmod(module)
    assert done.attempted >= 2
    assert done.failed == 0
