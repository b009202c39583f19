"""Tables as data frames of pandas, which dpaudit imports on demand and does not depend on."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import Any


def frame(table: Mapping[str, Any] | Iterable[Mapping[str, Any]]) -> Any:
    """A pandas DataFrame from columns by name, or from rows that are mappings by name.

    Raises ImportError without pandas, whose text says how to install it.
    """
    try:
        pandas = importlib.import_module("pandas")
    except ModuleNotFoundError as error:
        if error.name != "pandas":
            raise
        raise ImportError("to_frame() needs pandas: pip install pandas") from None
    return pandas.DataFrame(table)
