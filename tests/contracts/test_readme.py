"""The README's Python blocks run one after the other, as a reader would type them."""

import os
import re
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"
BLOCKS = re.findall(
    r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)


@pytest.mark.slow
def test_the_blocks_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "readme"}
    for number, block in enumerate(BLOCKS):
        exec(compile(block, f"README block {number + 1}", "exec"), names)
    assert os.listdir("dpaudit-out/readme")
    assert names["result"].verdict == "violated"


def test_there_are_blocks():
    assert len(BLOCKS) >= 8
