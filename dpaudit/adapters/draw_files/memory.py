"""How much memory there is, and a clear refusal before it runs out."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from pathlib import Path

from dpaudit.errors import InvalidInput

MEMINFO = Path("/proc/meminfo")
GROUP = Path("/sys/fs/cgroup")  # limits of a container


def available() -> float:
    """Bytes of memory that this process may still take; ∞ where the system does not say.

    What Linux counts as available, and no more than a container leaves. Elsewhere, where the system
    says it, all the memory that there is.
    """
    return min(_of_the_machine(), _of_the_container())


def _of_the_machine() -> float:
    with suppress(OSError, ValueError, IndexError):
        for line in MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024.0 * int(line.split()[1])
    with suppress(OSError, ValueError, AttributeError):
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    return math.inf


def _of_the_container() -> float:
    with suppress(OSError, ValueError):
        most, used = ((GROUP / name).read_text() for name in ("memory.max", "memory.current"))
        return math.inf if most.strip() == "max" else float(most) - float(used)
    return math.inf


def check_room(name: str, needed: float, holds: str) -> None:
    """Raises `InvalidInput` where `needed` bytes are more than there are.

    name : of the file. holds : what is in it, for the message.
    """
    room = available()
    if needed > room:
        raise InvalidInput(
            f"{name} holds {holds}, and to audit them takes {needed / 2**30:.3g} GiB of memory; "
            f"{max(room, 0.0) / 2**30:.3g} GiB are available, so give fewer draws or columns"
        )
