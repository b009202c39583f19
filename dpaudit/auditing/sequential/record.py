"""The sizes of the batches of a sequential audit."""

from __future__ import annotations

from collections.abc import Iterator

FIRST = 8  # draws a side before the first bet
# Up to FEW draws a side batches grow by an eighth, up to MANY by a third; then they double.
FEW, MANY = (200, 2_000)
LARGEST = 1 << 20  # draws a side of a batch, which bounds memory


def batch_sizes(samples: int) -> Iterator[int]:
    """Sizes of the batches that make `samples` draws a side; the first one only trains."""
    done = 0
    while done < samples:
        size = min(max(_wanted(done), 1), LARGEST, samples - done)
        yield size
        done += size


def _wanted(done: int) -> int:
    if done == 0:
        return FIRST
    if done < FEW:
        return done // 8
    return done // 3 if done < MANY else done
