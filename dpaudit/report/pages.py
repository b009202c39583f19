"""Pages from templates: every value escaped, a missing value is an error, JSON inside a page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from dpaudit._core.check import fail
from dpaudit._core.shown.printable import printable
from dpaudit.verdict.numbers import number, percent, plain


@cache
def environment() -> Environment:
    """The templates of this folder, with the filters `number`, `percent` and `plain`."""
    environment = Environment(
        loader=PackageLoader("dpaudit.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        optimized=False,  # most pages are made once: compiling takes longer than they do
    )
    environment.filters.update(number=number, percent=percent, plain=plain)
    return environment


def _shown(value: Any) -> Any:
    """Text as a reader may see it: nothing hidden, nothing that turns its direction."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def render(template: str, **values: Any) -> str:
    """The page of a template of this folder, every value escaped."""
    return environment().get_template(template).render(**values)


def embed(result: Mapping[str, Any]) -> Markup:
    """`result` as JSON that cannot end the script element that holds it.

    Raises `InvalidInput` for NaN, infinity, and what JSON does not know.
    """
    try:
        text = json.dumps(result, allow_nan=False, indent=1)
    except (TypeError, ValueError) as error:
        fail("result", str(error), "the content of result.json")
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)
