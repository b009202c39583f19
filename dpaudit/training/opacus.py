"""The audit of a training run with Opacus."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpaudit._core.check import Words, fail
from dpaudit._core.types import RngLike
from dpaudit.training.audit import LENGTH, TrainingAudit


class OpacusAudit(TrainingAudit):
    """An audit of a training run with Opacus, which attaches itself to the optimizer.

    What it assumes and does not see is said at `TrainingAudit`.

    Parameters
    ----------
    optimizer : opacus.optimizers.DPOptimizer
        The optimizer that `make_private` returned, with clipping of all weights together or by
        layer, on one process. Ghost clipping is refused, since it has no gradients of examples.
    loader : DataLoader
        The loader that `make_private` returned, which tells the sampling rate and the number of
        examples; with `BatchMemoryManager` too.
    sample_rate, noise_multiplier : float, optional
        What is claimed, if not what loader and optimizer say when the audit is made.
    canaries, level, rng : optional
        As in `TrainingAudit`.

    Notes
    -----
    The claim stays what it was when the audit was made. Noise that is lowered later, by a schedule
    too, is refuted unless `noise_multiplier` is the least of the schedule. A clip norm that changes
    is followed.

    Examples
    --------
    ::

        model, optimizer, loader = PrivacyEngine().make_private(...)
        audit = dp.training.OpacusAudit(optimizer, loader)
        ...  # train as before
        result = audit.result()
        print(result.verdict, result.epsilon_at(1e-5))
        result.save("audit")
    """

    subject = "optimizer"
    advice = "train with the optimizer that make_private returned, after the audit was made"

    def __init__(
        self,
        optimizer: Any,
        loader: Any,
        *,
        sample_rate: float | None = None,
        noise_multiplier: float | None = None,
        canaries: int = 50,
        level: float = 0.95,
        rng: RngLike = None,
    ) -> None:
        from opacus.optimizers import DPOptimizer
        from opacus.optimizers.optimizer_fast_gradient_clipping import (
            DPOptimizerFastGradientClipping,
        )

        kind = Words(type(optimizer).__name__)
        if not isinstance(optimizer, DPOptimizer):
            fail("optimizer", kind, "the one that make_private returned")
        if isinstance(optimizer, DPOptimizerFastGradientClipping):
            advice = 'use grad_sample_mode="hooks"'
            fail("optimizer", kind, "one with gradients of examples", advice)
        if isinstance(getattr(optimizer.pre_step, "__self__", None), TrainingAudit):
            fail("optimizer", kind, "one without an audit", "make one audit of each optimizer")
        if getattr(optimizer, "world_size", 1) > 1:
            fail("optimizer", kind, "of one process", "audit a run on one process")
        if not hasattr(loader, "dataset") or hasattr(loader.batch_sampler, "max_batch_size"):
            name = Words(type(loader).__name__)
            fail("loader", name, "the data loader that make_private returned")
        if sample_rate is None:
            sample_rate = getattr(loader, "sample_rate", 1.0 / len(loader))
        super().__init__(
            sample_rate=sample_rate,
            noise_multiplier=optimizer.noise_multiplier
            if noise_multiplier is None
            else noise_multiplier,
            rows=len(loader.dataset),
            canaries=canaries,
            level=level,
            rng=rng,
        )
        self._optimizer = optimizer
        self._expected, self._divisor, self._clip = optimizer.expected_batch_size, 1.0, 1.0
        self._clip_and_accumulate, self._pre_step = (
            optimizer.clip_and_accumulate,
            optimizer.pre_step,
        )
        optimizer.clip_and_accumulate, optimizer.pre_step = self._insert, self._watch

    def _insert(self) -> None:
        """Add canaries to the gradients of examples, then let Opacus clip and sum them."""
        import torch

        optimizer, parameters = self._optimizer, self._optimizer.params
        self._place([p.numel() for p in parameters])
        each = [
            g.detach().reshape(len(g), size)
            for g, size in zip(optimizer.grad_samples, self._sizes, strict=True)
        ]
        self._divisor = 1.0
        if optimizer.loss_reduction == "mean":
            self._divisor = float(self._expected * optimizer.accumulated_iterations)
        self._clip = float(optimizer.max_grad_norm)
        norms = torch.stack([g.norm(dim=1).to(each[0].device) for g in each])
        limits = getattr(optimizer, "max_grad_norms", None)  # of each tensor, if clipped by layer
        if limits is None:
            limits, norms = [self._clip] * len(each), norms.norm(dim=0).expand_as(norms)
        coins = self._flip()
        numbers = self._split(np.where(coins, np.cumsum(coins) - 1, -1))  # of the added rows
        known = []
        for p, g, norm, limit, entries, number in zip(
            parameters, each, norms, limits, self._entries, numbers, strict=True
        ):
            factor = (limit / (norm + 1e-6)).clamp(max=1.0).double().cpu().numpy()
            known.append(factor @ _array(g[:, entries]))
            rows = g.new_zeros((int(coins.sum()), p.numel()))
            rows[number[number >= 0], entries[number >= 0]] = LENGTH * self._clip
            _append(p, rows.view(len(rows), *p.shape))
        self._limits = [float(limit) for limit in limits]
        self._add(np.concatenate(known) / self._clip, len(each[0]))
        self._clip_and_accumulate()

    def _watch(self, closure: Any = None) -> Any:
        """Let Opacus add noise, read the noisy sum, and take the canaries out of it."""
        import torch

        try:
            moves = self._pre_step(closure)
        except BaseException:
            self._forget()
            raise
        if not moves:
            return moves
        if self._included is None:
            if any(p.summed_grad is not None for p in self._optimizer.params):
                advice = "leave the optimizer as it is once the audit is made"
                fail("optimizer", Words("a step"), "one whose gradients the audit saw", advice)
            return moves
        gradients = [p.grad for p in self._optimizer.params]
        places = [
            _index(entries, g.shape) for entries, g in zip(self._entries, gradients, strict=True)
        ]
        sums = [p.summed_grad.view_as(p) for p in self._optimizer.params]
        projection, total = (
            np.concatenate([_array(t[place]) for t, place in zip(tensors, places, strict=True)])
            for tensors in (gradients, sums)
        )
        noise = [(self._divisor * g - s).flatten() for g, s in zip(gradients, sums, strict=True)]
        coins = self._step(
            projection * (self._divisor / self._clip),
            total / self._clip,
            _array(torch.cat(noise)[:: self._stride]) / self._clip,
            precision=max(torch.finfo(g.dtype).eps for g in gradients),
        )
        for g, place, limit, share in zip(
            gradients, places, self._limits, self._split(coins), strict=True
        ):
            g[place] -= g.new_tensor(share * (limit / self._divisor)).view_as(g[place])
        return moves


def _index(entries: np.ndarray, shape: Any) -> tuple[Any, ...]:
    """The index of a tensor of this shape that gives its entries at flat indices."""
    import torch

    if not shape:
        return ()
    return tuple(map(torch.as_tensor, np.unravel_index(entries, tuple(shape))))


def _array(values: Any) -> np.ndarray:
    """Entries of a tensor, (..., k), as float64."""
    return np.atleast_1d(values.detach().double().cpu().numpy())


def _append(p: Any, rows: Any) -> None:
    """Append rows to a parameter's gradients of examples, the last ones if there is a list."""
    import torch

    several = isinstance(p.grad_sample, list)
    before = p.grad_sample[-1] if several else p.grad_sample
    if len(rows) == 0 or hasattr(before, "_processed"):  # Opacus refuses gradients used before
        return
    after = torch.cat([before, rows])
    if several:
        p.grad_sample[-1] = after
    else:
        p.grad_sample = after
