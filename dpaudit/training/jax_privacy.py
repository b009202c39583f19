"""The audit of a training run with jax-privacy."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.types import Array
from dpaudit.training.audit import LENGTH, TrainingAudit


class JaxPrivacyAudit(TrainingAudit):
    """An audit of a training run with jax-privacy; see `TrainingAudit`.

    Use its `clipped_grad` for that of `jax_privacy.clipping`, and wrap the privatizer. Both may be
    called inside `jax.jit`. Every step computes the gradients twice, to know what the batch adds to
    the weights of the canaries.

    Parameters
    ----------
    sample_rate : float
        As in `TrainingAudit`.
    noise_multiplier : float > 0
        The standard deviation of the noise over the sensitivity of the clipped sum.
    rows, canaries, level, rng : optional
        As in `TrainingAudit`. Examples that `is_padding_example` marks do not count as rows.

    Examples
    --------
    ::

        audit = dp.training.JaxPrivacyAudit(sample_rate=0.1, noise_multiplier=1.0, rows=1_000)
        clipped_sum = audit.clipped_grad(loss, l2_clip_norm=1.0, batch_argnums=(1, 2))
        privatizer = audit.privatizer(gaussian_privatizer(stddev=1.0, prng_key=key))
        ...  # train as before
        audit.result().save("audit")
    """

    subject = "privatizer"
    advice = "train with audit.clipped_grad(...) and audit.privatizer(...)"
    units = "pass normalize_by= to audit.clipped_grad, and do not divide its sum before the noise"

    _unit = 1.0  # the clip norm, once `clipped_grad` was called

    def clipped_grad(
        self,
        fun: Callable[..., Any],
        argnums: int = 0,
        has_aux: bool = False,
        *,
        l2_clip_norm: float,
        batch_argnums: int | tuple[int, ...] = 1,
        **options: Any,
    ) -> Any:
        """`jax_privacy.clipping.clipped_grad(...)` of the same arguments, with canaries.

        `argnums` is one integer. Auxiliary outputs are those of the examples alone.
        """
        import jax
        import jax.numpy as jnp
        from jax_privacy import clipping

        argnum = check.integer("argnums", argnums, 0)
        batched = (batch_argnums,) if isinstance(batch_argnums, int) else tuple(batch_argnums)
        length = LENGTH * check.real("l2_clip_norm", l2_clip_norm, 0.0, open_=True)

        def loss(*args: Any, **keywords: Any) -> Any:
            """The loss of an example (tag 0), or of canary `tag`, or 0 (tag −1)."""
            *own, tag = args
            tag, found = tag.reshape(()), fun(*own, **keywords)
            value = found[0] if has_aux else found
            canary, first = 0.0, 1
            for leaf, entries in zip(jax.tree.leaves(own[argnum]), self._entries, strict=True):
                mine = tag == jnp.arange(first, first + len(entries))
                canary = canary + length * jnp.sum(leaf.ravel()[entries] * mine)
                first += len(entries)
            value = jnp.where(tag == 0, value, jnp.asarray(canary, value.dtype))
            return (value, found[1]) if has_aux else value

        @cache
        def sums(arguments: int) -> Any:
            return clipping.clipped_grad(
                loss,
                argnum,
                has_aux,
                l2_clip_norm=l2_clip_norm,
                batch_argnums=(*batched, arguments),
                **options,
            )

        bounded = sums(max(batched) + 1)
        self._unit = float(bounded.l2_norm_bound)
        rows_at_once = options.get("microbatch_size") or 1

        def clipped_sum(*args: Any, is_padding_example: Any = None, **keywords: Any) -> Any:
            self._place([leaf.size for leaf in jax.tree.leaves(args[argnum])])
            count = len(self._known)
            added = -(-count // rows_at_once) * rows_at_once  # a multiple of a microbatch
            size = jax.tree.leaves(args[batched[0]])[0].shape[0]
            if is_padding_example is None:
                is_padding_example = jnp.zeros(size, bool)
            padding = jnp.concatenate([is_padding_example, jnp.zeros(added, bool)])
            longer = [
                jax.tree.map(lambda x: _padded(x, added), arg) if i in batched else arg
                for i, arg in enumerate(args)
            ]
            clipped = sums(len(args))

            def summed(tags: Any) -> Any:
                rest = jnp.full(added - count, -1, jnp.int32)
                tags = jnp.concatenate([jnp.zeros(size, jnp.int32), tags, rest])
                return clipped(*longer, tags, is_padding_example=padding, **keywords)

            tags = jax.experimental.io_callback(
                self._tags, jax.ShapeDtypeStruct((count,), np.int32), ordered=True
            )
            rest, found = summed(jnp.full(count, -1, jnp.int32)), summed(tags)
            if clipped.has_aux:
                rest, (total, aux) = rest[0], found
                found = total, jax.tree.map(lambda x: x[:size], aux)
            jax.experimental.io_callback(
                self._seen, None, self._read(rest), jnp.sum(~is_padding_example), ordered=True
            )
            return found

        return clipping.BoundedSensitivityCallable(
            clipped_sum, bounded.l2_norm_bound, bounded.has_aux
        )

    def privatizer(self, privatizer: Any) -> Any:
        """The privatizer, watched: it returns noisy sums without the canaries' gradients."""
        import jax
        import jax.numpy as jnp
        import optax

        def update(sums: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
            if not self._entries:
                fail("privatizer", privatizer, "used after audit.clipped_grad", self.advice)
            noisy, state = privatizer.update(sums, state, params)
            shape = jax.ShapeDtypeStruct((len(self._known),), np.float32)
            added = jax.tree.map(lambda x, y: jnp.ravel(x - y), noisy, sums)
            noise = jnp.concatenate(jax.tree.leaves(added))[:: self._stride]
            seen = self._read(noisy), self._read(sums), noise
            leaves, form = jax.tree.flatten(noisy)
            step = partial(self._noisy, max(float(jnp.finfo(one.dtype).eps) for one in leaves))
            shares = jax.experimental.io_callback(step, shape, *seen, ordered=True)
            first, less = 0, []
            for leaf, entries in zip(leaves, self._entries, strict=True):
                share = shares[first : first + len(entries)].astype(leaf.dtype)
                less.append(jnp.ravel(leaf).at[entries].add(-share).reshape(leaf.shape))
                first += len(entries)
            return jax.tree.unflatten(form, less), state

        return optax.GradientTransformation(privatizer.init, update)

    def _read(self, tree: Any) -> Any:
        """The entries of the canaries' weights in a tree like the weights, (m,)."""
        import jax
        import jax.numpy as jnp

        leaves = zip(jax.tree.leaves(tree), self._entries, strict=True)
        return jnp.concatenate([jnp.ravel(leaf)[entries] for leaf, entries in leaves])

    def _tags(self) -> np.ndarray:
        """The numbers of the canaries that are in, from 1; −1 for the others."""
        coins = self._flip()
        return np.where(coins, np.arange(1, len(coins) + 1), -1).astype(np.int32)

    def _seen(self, known: Any, size: Any) -> None:
        self._add(np.asarray(known, dtype=np.float64) / self._unit, int(size))

    def _noisy(self, precision: float, *seen: Any) -> Array:
        """End the step; returns what the canaries have added, (m,)."""
        sums = (np.asarray(one, dtype=np.float64) / self._unit for one in seen)
        coins = self._step(*sums, precision=precision)
        return np.asarray(self._unit * coins, dtype=np.float32)


def _padded(x: Any, added: int) -> Any:
    """An array of a batch with further rows, copies of its last one, or of zeros if it is empty."""
    import jax.numpy as jnp

    if x.shape[0] == 0:
        return jnp.zeros((added, *x.shape[1:]), x.dtype)
    return jnp.concatenate([x, jnp.broadcast_to(x[-1:], (added, *x.shape[1:]))])
