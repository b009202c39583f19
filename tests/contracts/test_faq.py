"""Every message that docs/faq.md explains still stands in the code.

A message is put together from literals and values. It is found where the literals of one file cover
its words: in runs of three and more, or of two at an end of a literal, but for a few words that are
values.
"""

import re
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "faq.md").read_text(encoding="utf-8")
MESSAGES = re.findall(r"^### `(.*)`$", PAGE, re.MULTILINE)
# where the page leaves something out, and where `fail` and the independence tests join two parts
JOINTS = re.compile(r"…| must be | must return |, got |not independent: |^mechanism\b")
VALUES = 3  # words of a message that may be values, and at most one in three
CONTINUED = re.compile(r"[\"']\s*\n\s*f?[\"']")  # a literal that goes on in the next line
ENDS, END = re.compile(r"[{][^{}]*[}]|[\"{}]"), "|"  # of a literal, or of its part before a value


def words(text):
    return re.findall(r"\w+|[=()|]", text)


@cache
def written():
    """The words of each file, with `END` in place of quotes and of values in braces."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "dpaudit").rglob("*.py")]
    found = [words(ENDS.sub(END, CONTINUED.sub("", text))) for text in texts]
    return [f" {' '.join(one)} " for one in found]


def stands_in(text, part):
    covered = [False] * len(part)
    for at in range(len(part) - 1):
        two = " ".join(part[at : at + 2])
        three = " ".join(part[at : at + 3]) if at + 2 < len(part) else "\n"
        if f" {three} " in text:
            covered[at : at + 3] = [True] * 3
        elif f" {END} {two} " in text or f" {two} {END} " in text:
            covered[at : at + 2] = [True] * 2
    return covered.count(False) <= min(VALUES, len(part) // 3)


def missing(message):
    """The parts of a message that no file of the package writes."""
    parts = [part for one in JOINTS.split(message) if len(part := words(one)) > 1]
    assert sum(map(len, parts)) > 2, "say more of the message"
    return [
        " ".join(part) for part in parts if not any(stands_in(text, part) for text in written())
    ]


def test_the_messages_are_in_the_code():
    assert [(message, parts) for message in MESSAGES if (parts := missing(message))] == []


def test_there_are_many_and_no_one_twice():
    assert len(MESSAGES) >= 25
    assert len(set(MESSAGES)) == len(MESSAGES)


@pytest.mark.parametrize(
    "message",
    [
        "pair must be a flying carpet of wool, got …",
        "the draws are not independent: the same draws sit on the fence, …",
        "the mechanism must return memory from each thread, …",
    ],
)
def test_a_message_that_nobody_writes_is_missed(message):
    assert missing(message)
