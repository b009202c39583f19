r"""Text that no encoding holds: lone surrogates, as '\udce9', which Python makes of foreign bytes.

They once made a finished result unwritable for ever.
"""

import json
import os
import xml.etree.ElementTree as ET

import pytest

import dpaudit as dp
from dpaudit.cli import main

pytestmark = pytest.mark.usefixtures("in_tmp_path")

NAME = os.fsdecode(b"caf\xe9")  # in Latin-1, which a shell may hand on
ROW = 'rule = "row"\nindex = 4'
AUDIT = 'draws = 600\nclassifier = "qda"\nepsilon = [0.0, 1.0]'
OWN = r"""
def release(data, size, *, rng):
    "A word, \udc80."
    share = 0.5 + 0.1 * data[4].any()
    return ["\udc80" * 40 if one < share else "ok" for one in rng.random(size)]

def constant(data, size, *, rng):
    return ["\udc80"] * size
"""


@pytest.fixture
def scenario(write_scenario, tmp_path):
    """scenario(target): a scenario whose file's name is not UTF-8."""
    (tmp_path / "surrogate_own.py").write_text(OWN)

    def write(target="release", name=NAME):
        return str(
            write_scenario(
                name, mechanism=f'call = "surrogate_own:{target}"', neighbour=ROW, audit=AUDIT
            )
        )

    return write


def sound(folder):
    """Whether all files of a folder are UTF-8, and the result strict JSON without surrogates."""
    texts = {path: path.read_bytes().decode() for path in folder.rglob("*.[hj][ts]*")}
    assert {path.name for path in texts} >= {"report.html", "result.json"}
    record = json.loads(next(text for path, text in texts.items() if path.name == "result.json"))
    return json.dumps(record, ensure_ascii=False).encode()


@pytest.mark.usefixtures("undrawn")
def test_a_result_is_written_whatever_its_names_and_outputs_hold(
    scenario, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr("dpaudit.report.audit.as_png", lambda figure: b"")
    assert main(["run", scenario(), "--out", "out", "--junit", "junit.xml"]) == 0
    assert rb"caf\\udce9" in sound(tmp_path / "out")
    assert rb"A word, \\udc80." in sound(tmp_path / "out")
    assert r"caf\udce9" in capsys.readouterr().out
    assert next(ET.parse("junit.xml").iter("testcase")).get("name") == r"caf\udce9"
    assert main(["report", "out"]) == 0
    assert dp.__version__ in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
