"""The faults of a scenario file."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpaudit.errors import ScenarioError
from dpaudit.run import Scenario


def faults(path: Path, load: Callable[[Path], Any] = Scenario.load) -> list[str]:
    """A line for each fault, without the name of the file."""
    with pytest.raises(ScenarioError) as caught:
        load(path)
    return [line.removeprefix(f"{path.name}: ") for line in str(caught.value).splitlines()]
