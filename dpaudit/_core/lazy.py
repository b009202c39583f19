"""Names of a package that are loaded when they are first used, so that importing it is quick."""

from __future__ import annotations

import importlib
import sys

TYPE_CHECKING = False  # not from `typing`: `import dpaudit` runs this module and must stay quick
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

# From a name in one room to the object in a higher room that it stands for, "module" or
# "module:name". Rooms do not know higher rooms, so `dpaudit` itself fills this table.
FROM_ABOVE: dict[str, str] = {}


def on_first_use(
    package: str, names: Mapping[str, str], modules: str = ""
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The functions `__getattr__` and `__dir__` and the list `__all__` of a package (PEP 562).

    names : for each module the names that the package takes from it, separated by spaces. modules :
    names of the package that are its own modules or keys of `FROM_ABOVE`. Type checkers read the
    imports below `TYPE_CHECKING` instead.
    """
    home = {name: module for module, several in names.items() for name in several.split()}
    public = sorted([*home, *modules.split()])

    def load(name: str) -> Any:
        if name not in public:
            # with name and obj Python suggests a name that is near
            text = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(text, name=name, obj=sys.modules[package])
        if name not in home:
            place = FROM_ABOVE.get(f"{package}.{name}", f"{package}.{name}")
            module, _, attribute = place.partition(":")
            loaded = importlib.import_module(module)
            return getattr(loaded, attribute) if attribute else loaded
        value = getattr(importlib.import_module(home[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return load, lambda: public, public
