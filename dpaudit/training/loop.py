"""The audit of a training loop of one's own, in numpy, torch, or what numpy can read."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit._core.types import Array, RngLike
from dpaudit.training.audit import LENGTH, TrainingAudit


class LoopAudit(TrainingAudit):
    """An audit of a training loop that has the gradient of each example; see `TrainingAudit`.

    In each step give it the gradients, and go on with those that it returns; then give it the noisy
    sum, and go on with the one that it returns. Several batches may go into one noisy sum.

    Parameters
    ----------
    sample_rate, noise_multiplier : float
        As in `TrainingAudit`.
    clip : float > 0
        The norm to which the loop clips each gradient.
    rows : int, optional
        As in `TrainingAudit`.
    divisor : float > 0, default 1
        The fixed number by which the loop divides the noisy sum before `watch` gets it, such as the
        expected size of a batch. A noisy sum that is far too small at the first step is refused.
    canaries, level, rng : optional
        As in `TrainingAudit`.

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit as dp
    >>> rng = np.random.default_rng(0)
    >>> audit = dp.training.LoopAudit(
    ...     sample_rate=0.1, noise_multiplier=1.0, clip=1.0, rows=1_000, rng=1
    ... )
    >>> weights = np.zeros(200)
    >>> for _ in range(50):
    ...     batch = rng.normal(size=(rng.binomial(1_000, 0.1), 200))  # gradients of the examples
    ...     each = audit.insert(batch)  # added: with those of canaries
    ...     each = each / np.maximum(np.linalg.norm(each, axis=1, keepdims=True), 1.0)
    ...     total = each.sum(axis=0)
    ...     noisy = total + 0.5 * rng.normal(size=200)  # half of the noise
    ...     noisy = audit.watch(noisy, total=total)  # added: without canaries
    ...     weights -= 0.001 * noisy
    >>> audit.steps_audit.verdict
    'violated'
    """

    subject = "noisy"
    advice = "call insert(gradients) and watch(noisy) at each step"
    units = "pass as divisor= the fixed number by which the loop divides the sum"

    def __init__(
        self,
        *,
        sample_rate: float,
        noise_multiplier: float,
        clip: float,
        rows: int | None = None,
        divisor: float = 1.0,
        canaries: int = 50,
        level: float = 0.95,
        rng: RngLike = None,
    ) -> None:
        super().__init__(
            sample_rate=sample_rate,
            noise_multiplier=noise_multiplier,
            rows=rows,
            canaries=canaries,
            level=level,
            rng=rng,
        )
        self._clip = check.real("clip", clip, 0.0, open_=True)
        self._divisor = check.real("divisor", divisor, 0.0, open_=True)

    def insert(self, gradients: Any) -> Any:
        """Take the gradients of a batch, not clipped, (b, d); return them and those of canaries.

        Call `watch` before the next step, also where its noisy sum is then not used.
        Returns an array or tensor of the same kind, of shape (b + k, d), k canaries below.
        """
        each = _numpy(gradients)
        if each.ndim != 2:
            advice = "flatten and join the gradients of several tensors"
            fail(
                "gradients", Words(f"shape {each.shape}"), "a row for each example, (b, d)", advice
            )
        self._place([each.shape[1]])
        included, entries = self._flip(), self._entries[0]
        norms = np.linalg.norm(each, axis=1)
        factor = np.minimum(1.0, self._clip / np.maximum(norms, np.finfo(norms.dtype).tiny))
        self._add(factor @ each[:, entries] / self._clip, len(each))
        rows = np.zeros((included.sum(), each.shape[1]))
        rows[np.arange(len(rows)), entries[included]] = LENGTH * self._clip
        if hasattr(gradients, "new_tensor"):  # torch
            import torch

            return torch.cat([gradients, gradients.new_tensor(rows)])
        return np.concatenate([gradients, rows.astype(each.dtype)])

    def watch(self, noisy: Any, *, total: Any = None) -> Any:
        """Take the noisy sum of a step, (d,); return it without the canaries' gradients.

        total : the sum before noise, (d,), not divided by anything. Without it the noise is known
        less well, and the certified ε is smaller.
        """
        values, unit = self._entire("noisy", noisy), self._clip / self._divisor
        entries, share = self._entries[0], np.zeros(len(values))
        more: tuple[Array, ...] = ()
        if total is not None:
            before = self._entire("total", total)
            more = (
                before[entries] / self._clip,
                (values / unit - before / self._clip)[:: self._stride],
            )
        precision = _precision(noisy)
        share[entries] = unit * self._step(values[entries] / unit, *more, precision=precision)
        if hasattr(noisy, "new_tensor"):
            return noisy - noisy.new_tensor(share)
        return noisy - share.astype(_numpy(noisy).dtype)

    def _entire(self, name: str, array: Any) -> Array:
        """A vector with an entry for each weight, as float64, (d,)."""
        values = _numpy(array).astype(np.float64)
        if values.shape != (sum(self._sizes),):
            expected = f"of shape ({sum(self._sizes)},), as rows of the gradients are"
            fail(name, Words(f"shape {values.shape}"), expected)
        return values


def _numpy(array: Any) -> np.ndarray:
    if hasattr(array, "detach"):
        array = array.detach().cpu()
        if "bfloat16" in str(array.dtype):  # which numpy has not
            array = array.float()
    return np.asarray(array)


def _precision(array: Any) -> float:
    """The relative precision of the numbers of an array or tensor; 0 if they are of 64 bits."""
    kind = str(array.dtype) if hasattr(array, "dtype") else ""
    return 2.0 ** {"bfloat16": -7, "float16": -10, "float32": -23}.get(kind.split(".")[-1], -np.inf)
