"""The faults of a scenario file."""

from pathlib import Path

import pytest

from dpaudit.errors import ScenarioError
from dpaudit.run import Scenario


def faults(path: Path) -> list[str]:
    """A line for each fault, without the name of the file."""
    with pytest.raises(ScenarioError) as caught:
        Scenario.load(path)
    return [line.removeprefix(f"{path.name}: ") for line in str(caught.value).splitlines()]
