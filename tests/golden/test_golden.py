"""Calls and commands return what they returned when `python -m tests.golden.renew` last ran.

A change of behaviour renews the record, and its diff shows what changed.
"""

import pytest

from tests.golden.calls import CALLS, COMMANDS
from tests.golden.record import command, differences, recorded, result


@pytest.mark.slow  # 20 CPU seconds together, with the commands
@pytest.mark.parametrize("name", CALLS)
def test_call(name):
    assert differences(result(name), recorded()["calls"][name]) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_command(name, tmp_path, monkeypatch, capsys):
    assert (
        differences(command(name, tmp_path, monkeypatch, capsys), recorded()["commands"][name])
        == []
    )


@pytest.mark.quick
def test_differences_name_the_place():
    old = {"delta": [0.1, 0.2], "verdict": "violated"}
    assert differences({**old, "delta": [0.1, 0.2 + 1e-12]}, old) == []
    assert differences({**old, "delta": [0.1, 0.3]}, old) == [".delta[1]: 0.3 was 0.2"]
    assert differences({"delta": old["delta"]}, old) == [".verdict is in one alone"]
