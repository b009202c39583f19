"""Small scenarios on a small CSV file."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

TABLES = {
    "data": 'path = "small.csv"\ntarget = "y"',
    "mechanism": 'name = "ALS"\nrows = 20',
    "neighbour": 'rule = "worst"',
    "claim": "epsilon = 1.0\ndelta = 0.9",
    "audit": 'draws = 2000\nclassifier = "qda"\nepsilon = [0.0, 1.0, 2.0]',
}


def scenario_writer(folder: Path) -> Callable[..., Path]:
    """write(name, head, table=text, ...): the path of a valid scenario in the folder.

    head : text before the tables. A table that is given replaces the one above; None leaves it out.
    """
    values = np.round(np.random.default_rng(0).normal(size=(30, 3)), 3)
    np.savetxt(folder / "small.csv", values, delimiter=",", header="a,b,y", comments="", fmt="%g")

    def write(name: str = "small", head: str = "", **changes: str | None) -> Path:
        tables = {key: text for key, text in {**TABLES, **changes}.items() if text is not None}
        path = folder / f"{name}.toml"
        path.write_text(
            head + "\n".join(f"[{key}]\n{text}" for key, text in tables.items()), encoding="utf-8"
        )
        return path

    return write
