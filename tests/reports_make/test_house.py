"""The figures of the house: what counts as code, and as a circle."""

import pytest

from reports.make.house import circles, lines_of_code, room_imports

pytestmark = pytest.mark.quick


def test_lines_of_code_are_no_comments_and_no_docstrings(tmp_path):
    path = tmp_path / "module.py"
    text = '"""A module.\n\nIt adds."""\n\n# a reason\ndef f(x):\n    """Add."""\n'
    path.write_text(f"{text}    return (\n        x + 1\n    )\n")
    assert lines_of_code(path) == 4


def test_a_circle_is_found_once():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set()}
    assert circles(graph) == [{"a", "b", "c"}]
    assert circles({"a": {"b"}, "b": set()}) == []


def test_imports_see_those_inside_of_functions_and_by_name():
    assert {"auditing", "curves"} <= room_imports()["run"]
