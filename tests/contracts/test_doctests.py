"""Every example in a docstring runs as it stands there."""

import doctest
import importlib
import inspect
from pathlib import Path

import pytest

import dpaudit

ROOT = Path(dpaudit.__file__).parent
WITH_EXAMPLES = sorted(
    path for path in ROOT.rglob("*.py") if ">>> " in path.read_text(encoding="utf-8")
)


class Finder(doctest.DocTestFinder):
    """Also finds the examples of decorated functions, which a wrapper hides."""

    def _from_module(self, module, object):
        return super()._from_module(module, inspect.unwrap(object))


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_examples_run(path):
    module = importlib.import_module(".".join(path.relative_to(ROOT.parent).with_suffix("").parts))
    runner = doctest.DocTestRunner()
    for found in Finder().find(module, module.__name__):
        runner.run(found)
    assert runner.tries >= 2
    assert runner.failures == 0
