"""Pages from templates: every value is escaped, a missing value is an error, nothing is fetched."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from dpaudit._core.check import fail
from dpaudit._core.text import printable
from dpaudit.verdict.numbers import counted, number, percent, plain
from dpaudit.verdict.sentences import reason_of

if TYPE_CHECKING:
    from jinja2 import Environment

# symbol and word show the verdict, colour only repeats it
BADGES = {"violated": "✕", "not violated": "○", "inconclusive": "?"}


def _visible(value: Any) -> Any:
    """Text as a reader may see it: nothing hidden, nothing that turns its direction."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # here: slow to import

    environment = Environment(
        loader=PackageLoader("dpaudit.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
        optimized=False,  # most pages are made once: compiling takes longer than they do
    )
    environment.filters.update(counted=counted, number=number, percent=percent, plain=plain)
    environment.filters["cell"] = lambda value: number(value, 3)
    return environment


def render(template: str, **values: Any) -> str:
    return environment().get_template(template).render(**values)


def render_result(template: str, result: Mapping[str, Any], **values: Any) -> str:
    return render(
        template,
        result=result,
        symbol=BADGES[result["verdict"]],
        sentences=reason_of(result),
        **values,
    )


def embed(result: Mapping[str, Any]) -> Markup:
    """A record as JSON that cannot end the script element that holds it. Raises `InvalidInput` for
    what JSON does not know.
    """
    try:
        text = json.dumps(result, allow_nan=False, indent=1)
    except (TypeError, ValueError) as error:
        fail("result", str(error), "the content of result.json")
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)
