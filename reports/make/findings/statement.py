"""A numbered statement of a paper: what is printed, under which hypotheses, and how it is tested.

Every theorem, lemma, proposition, corollary, claim, remark, algorithm and numeric claim of a paper
is one `Statement`, or several for its parts; a line of a proof or of the prose is one where
something was to be said of it. Its words are a table of `paper_N/statements.toml`, in the order of
the paper: what is printed, of which sort a failure is, and from which slip it follows. Its test, if
it has one, stands under the same key in `TESTS` of a module beside that file: it is `Searched` (an
inequality or equality, searched for a setting at which it fails) or `Swept` (a function that gives
`Evidence`, over a grid). Whether the statement holds is computed (`outcome.py`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from reports.make.findings.evidence import EXACT, Grid, Test

PRIVACY, FALSE, MISPRINT = "A", "B", "C"
SORTS = {
    PRIVACY: "more privacy is promised than there is, where a user would meet it",
    FALSE: "false as stated: throughout, or in a corner for want of a condition",
    MISPRINT: "a misprint, of the paper or of our text",
}
KINDS = "theorem", "lemma", "proposition", "corollary", "claim", "remark", "algorithm"
NUMBER = r"(?:[A-Z]\.)?\d+(?:\.\d+)*"
NUMBERED = re.compile(
    rf"(?:, | and )?(?P<kind>{'|'.join(KINDS)})s? (?P<numbers>{NUMBER}(?:(?:, | and ){NUMBER})*)"
)
TRIES = 1000
Number = Callable[..., float]
Condition = Callable[..., bool]


@dataclass(frozen=True)
class Searched:
    """exact ≤ printed at every admitted setting, or the other way round; for `search_bound`.

    printed, exact : functions of the parameters in `domain`, by name; each may take a part of them.
        exact : the exact value, a certified bound of it, or the other side of the inequality.
    domain : parameter names to `dpaudit.testing.reals(low, high)`, `integers(low, high)`,
        `choices(...)`, or one fixed value.
    hypotheses : conditions of the statement; False, or a `DpauditError`, excludes a setting.
    side : "upper" where `printed` is an upper bound of `exact` (a δ; a noise that is enough),
        "lower" where it is a lower bound, "both" where the two are said to be equal.
    quantity : what the two values are, "δ" or the unit of a parameter.
    kind : EXACT, or CERTIFIED where `exact` is a certified bound.
    tries : the number of settings at which it is computed. tolerance : relative.
    rounding : absolute error of `exact`.
    at : a setting to show first, for example one that the paper names.
    also : setting → what follows from it, in words: "so σ = 0.3".
    fixed : what the test of the corrected line changes, by field, or that test itself. `at` and
        `also` are not carried over.
    """

    printed: Number
    exact: Number
    domain: Mapping[str, Any]
    hypotheses: Condition | Sequence[Condition] | None = None
    side: str = "upper"
    quantity: str = "δ"
    kind: str = EXACT
    tries: int = TRIES
    tolerance: float = 1e-9
    rounding: float = 1e-15
    at: Mapping[str, Any] | None = None
    also: Callable[..., str] | None = None
    fixed: Mapping[str, Any] | Searched | None = None

    @property
    def corrected(self) -> Searched | None:
        """The test of the corrected line; None where there is none."""
        if not isinstance(self.fixed, Mapping):
            return self.fixed
        return replace(self, **{"at": None, "also": None, "fixed": None, **self.fixed})


@dataclass(frozen=True)
class Swept:
    """A function of a setting that gives `Evidence` (`claimed`, `asked`, `stated`), over a grid.

    For what is not a search: a run on data, draws, one number.

    setting : parameters by name, which `test` takes. grid : values of some of them.
    more : settings that are shown beside the first.
    fixed : what takes the place of `test` for the corrected line.
    """

    test: Test
    setting: Mapping[str, Any]
    grid: Grid = field(default_factory=dict)
    more: Sequence[Mapping[str, Any]] = ()
    fixed: Test | None = None

    @property
    def corrected(self) -> Swept | None:
        """The test of the corrected line; None where there is none."""
        return None if self.fixed is None else replace(self, test=self.fixed, fixed=None)


Tested = Searched | Swept


@dataclass(frozen=True)
class Statement:
    """One row of the page.

    key : its name on the command line, "4-theorem-b-5". paper : 1 to 4. place : "theorem B.5".
    section : where it stands, "section 4.1" or "appendix B".
    printed : the sentence or formula, verbatim as in our text.
    stated_for : conditions in force there: on ε, δ, r, n; which neighbours; what is an input.
    reading : "", or where the conversion from PDF may have damaged the formula, with the other
        reading.
    test : how it is tested; None where it is not, and then `untested` says why, or `study` what a
        simulation of ours showed: no count of failures, and no verdict.
    fails : "" where it holds, else its sort: "A", "B" or "C" of `SORTS`. The test must agree.
    aside : the test shows what a user should know, but no claim of the paper is at fault.
    fault : what is wrong where it fails; where it holds a note, or "".
    cause : key of the statement whose slip this failure repeats or follows from; "" where the
        slip is its own.
    corrected : the least change that makes it true.
    code : what the authors' public code does at that line; "" where it was not read.
    """

    key: str
    paper: int
    place: str
    section: str
    printed: str
    stated_for: str = ""
    reading: str = ""
    test: Tested | None = None
    untested: str = ""
    study: str = ""
    fails: str = ""
    aside: bool = False
    fault: str = ""
    cause: str = ""
    corrected: str = ""
    code: str = ""

    @property
    def fixed(self) -> Tested | None:
        """The test of the corrected line, over the same domain; None where there is none."""
        return None if self.test is None else self.test.corrected

    @property
    def numbers(self) -> list[str]:
        """The numbered statements that it is, or is a part of: ["theorem 4.2", "algorithm 2"].

        They begin the place. Proofs, equations, figures and sections are none.
        """
        found, rest = [], self.place
        while (match := NUMBERED.match(rest)) is not None:
            found += [f"{match['kind']} {one}" for one in re.findall(NUMBER, match["numbers"])]
            rest = rest[match.end() :]
        return found


@dataclass(frozen=True)
class Paper:
    """A paper and the fair summary of what came of it.

    name : "Sheffet". title : as printed. version : which version our text is, "arXiv v2, 2017".
    code : where the authors' code is public, "" where none is known.
    well : paragraphs on what holds and what is good, in the authors' words.
    advice : paragraphs on what to fix. No counts in either: the page makes them.
    statements : in the order of the paper.
    letters : parameters to the paper's letters, where it has letters of its own.
    """

    number: int
    name: str
    title: str
    version: str
    code: str
    well: Sequence[str]
    advice: Sequence[str]
    statements: Sequence[Statement]
    letters: Mapping[str, str] = field(default_factory=dict)


def read_paper(path: Path, *tests: Mapping[str, Tested]) -> Paper:
    """The paper that `path` tells of; each statement gets the test under its key.

    Lines of the file are joined by single spaces.
    """
    content = _joined(tomllib.loads(path.read_text(encoding="utf-8")))
    by_key = {key: test for each in tests for key, test in each.items()}
    statements = []
    for key, words in content.pop("statements").items():
        place, section = words.pop("where")
        test = by_key.pop(key, None)
        statements.append(Statement(key, content["number"], place, section, test=test, **words))
    if by_key:
        raise ValueError(f"{path} has no statement {min(by_key)!r}, which is tested")
    return Paper(**content, statements=statements)


def _joined(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _joined(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_joined(one) for one in value]
    return " ".join(value.split()) if isinstance(value, str) else value
