"""Wrong scenario files are refused in lines that name the file, the key and what may be there."""

import pytest

from dpaudit.cli import main
from tests.scenarios.wrong_files import MINE, WRONG


@pytest.mark.quick
@pytest.mark.parametrize(("text", "place", "words"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said_with_its_place(text, place, words, tmp_path, capsys):
    path = tmp_path / "wrong.toml"
    path.write_text(text, encoding="utf-8")
    assert main(["run", str(path), "--check"]) == 2
    lines = capsys.readouterr().err.splitlines()
    start = f"wrong.toml: {place}"
    message = " ".join(line.removeprefix("error: ") for line in lines)
    assert start in message
    assert [word for word in words if word not in message.partition(start)[2]] == []


@pytest.mark.parametrize("key", ["row = [0.5, 73417.25, true]", 'bounds = [[1.0, "73417.25"]]'])
def test_values_of_rows_are_in_no_error(key, tmp_path, capsys):
    rule = "replace" if key.startswith("row") else "search"
    path = tmp_path / "wrong.toml"
    path.write_text(f'{MINE}[neighbour]\nrule = "{rule}"\nindex = 0\n{key}\n', encoding="utf-8")
    assert main(["run", str(path), "--check"]) == 2
    assert "73417" not in capsys.readouterr().err
