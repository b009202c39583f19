"""The figures of the house: what counts as code, and as a circle."""

import pytest

from reports.make.house import circles, imports, lines_of_code

pytestmark = pytest.mark.quick


def test_lines_of_code_are_no_comments_and_no_docstrings(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(
        '"""A module.\n\nIt adds."""\n\n# a reason\n'
        'def f(x):\n    """Add."""\n    return (\n        x + 1\n    )\n'
    )
    assert lines_of_code(path) == 4


def test_a_circle_is_found_once():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set()}
    assert circles(graph) == [{"a", "b", "c"}]
    assert circles({"a": {"b"}, "b": set()}) == []


def test_imports_see_those_inside_of_functions_and_by_name():
    assert "dpaudit.auditing.engine" in imports()["dpaudit.auditing.api"]
    assert "dpaudit.curves.claims" in imports()["dpaudit"]
