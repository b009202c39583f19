"""The files: whole or not there, small, the same each time."""

import base64
import os
import xml.etree.ElementTree as ET

import pytest

from dpaudit.errors import InvalidInput
from dpaudit.report import write_report
from dpaudit.report.audit import FIGURES
from tests.report.examples import make_result
from tests.report.test_html import Page

FILES = {"report.html", "spectrum.png"}


def names(folder) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A new folder with the report of a result."""
    folder = tmp_path_factory.mktemp("out") / "audit"
    write_report(folder, make_result())
    return folder


def test_writes_the_two_files_into_a_new_folder(folder):
    assert names(folder) == FILES
    assert (folder / "spectrum.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "spectrum.png").stat().st_size <= 150_000
    assert (folder / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_same_result_same_bytes(tmp_path, folder):
    write_report(tmp_path, make_result())
    assert all((tmp_path / name).read_bytes() == (folder / name).read_bytes() for name in FILES)


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("step", ["render_html", "spectrum_figure", "as_png"])
def test_a_failure_while_drawing_leaves_the_old_report(tmp_path, result, monkeypatch, step):
    for name in FILES:
        (tmp_path / name).write_text("old")

    def fail(*_):
        raise MemoryError

    monkeypatch.setattr(f"dpaudit.report.audit.{step}", fail)
    with pytest.raises(MemoryError):
        write_report(tmp_path, result)
    assert {path.read_text() for path in tmp_path.iterdir()} == {"old"}
    assert names(tmp_path) == FILES


@pytest.mark.usefixtures("undrawn")
def test_a_failure_while_writing_leaves_no_draft(tmp_path, result, monkeypatch):
    def fail(_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write_report(tmp_path, result)
    assert names(tmp_path) == set()


def test_not_a_result(tmp_path):
    with pytest.raises(InvalidInput, match="verdict"):
        write_report(tmp_path / "new", {})
    assert not (tmp_path / "new").exists()


@pytest.mark.usefixtures("undrawn")
def test_lone_surrogates_do_not_stop_the_report(tmp_path, result):
    result["mechanism"]["name"] = result["reason"] = "half \ud83d a pair"
    write_report(tmp_path, result)
    assert r"half \ud83d a pair" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_figures_are_valid_svg_with_alternative_text(folder):
    page = Page((folder / "report.html").read_text(encoding="utf-8"))
    pictures = [attrs["src"] for attrs in page.all("img")] + [
        attrs["srcset"] for attrs in page.all("source")
    ]
    assert len(pictures) == len(FIGURES)
    for picture in pictures:
        head, content = picture.split(",")
        assert head == "data:image/svg+xml;base64"
        assert ET.fromstring(base64.b64decode(content)).tag.endswith("svg")
    assert all(len(attrs["alt"]) > 60 for attrs in page.all("img"))


def test_page_needs_no_network_and_no_script(folder):
    source = (folder / "report.html").read_text(encoding="utf-8")
    page = Page(source)
    assert not page.all("link")[1:]
    assert page.all("html") == [{"lang": "en"}]
    assert "default-src 'none'" in page.all("meta")[2]["content"]
    assert "http" not in source.replace("http-equiv", "")
