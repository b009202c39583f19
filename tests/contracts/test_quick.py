"""Every room has fast tests: `pytest -m quick` says within a minute what a change broke."""

from pathlib import Path

import pytest

from tests.contracts.test_floors import ROOMS

pytestmark = pytest.mark.quick
TESTS = Path(__file__).parents[1]
FOLDERS = sorted(path.name for path in TESTS.iterdir() if (path / "__init__.py").exists())
# What is tested of the project as a whole; every other folder is named after a room.
NO_ROOMS = {
    *("contracts", "first_hour", "golden", "hostile", "museum", "oracle"),
    *("reports_make", "scenarios", "statistical"),
}


def test_there_is_a_folder_of_tests_for_every_room():
    assert set(FOLDERS) == {*ROOMS, *NO_ROOMS}


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_folder_has_quick_tests(folder):
    files = (TESTS / folder).rglob("test_*.py")
    assert any("pytest.mark.quick" in path.read_text(encoding="utf-8") for path in files)


def test_every_folder_is_a_package_and_there_is_one_conftest():
    """Two modules of one name would hide each other, and so would two fixtures."""
    folders = {path.parent for path in TESTS.rglob("*.py")}
    assert [path for path in folders if not (path / "__init__.py").exists()] == []
    assert list(TESTS.rglob("conftest.py")) == [TESTS / "conftest.py"]
