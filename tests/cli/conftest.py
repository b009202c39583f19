"""Small scenarios on a small CSV file."""

import numpy as np
import pytest

TABLES = {
    "data": 'path = "small.csv"\ntarget = "y"',
    "mechanism": 'name = "ALS"\nrows = 20',
    "neighbour": 'rule = "worst"',
    "claim": "epsilon = 1.0\ndelta = 0.9",
    "audit": 'samples = 2000\nclassifier = "qda"\nepsilon = [0.0, 1.0, 2.0]',
}


@pytest.fixture
def write(tmp_path):
    """write(name, table=text, ...) → the path of a valid scenario with some tables replaced, or
    left out (None).
    """
    values = np.round(np.random.default_rng(0).normal(size=(30, 3)), 3)
    np.savetxt(tmp_path / "small.csv", values, delimiter=",", header="a,b,y", comments="", fmt="%g")

    def write(name="small", head="", **changes):
        tables = {key: text for key, text in {**TABLES, **changes}.items() if text is not None}
        path = tmp_path / f"{name}.toml"
        path.write_text(
            head + "\n".join(f"[{key}]\n{text}" for key, text in tables.items()), encoding="utf-8"
        )
        return path

    return write
