"""What jax-privacy releases in training, as mechanisms to audit: imported when one is called.

Data are features of a linear model, whose gradients they are, one a record. Keys of JAX and seeds
of batches are drawn from the audit's generator: an audit comes again digit by digit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

MISSING = -9.0  # stands for NaN in the data, which dpaudit reads without gaps


class Steps:
    """Noisy sums of gradients that clipped_grad clips to norm 1, one a step: (steps · features).

    noise : standard deviation in units of the sensitivity. matrix : of
    matrix_factorization_privatizer, "toeplitz" or "dense" with `rows` rows and columns of norm 1;
    else gaussian_privatizer. sampling : keywords of CyclicPoissonSampling; else all records are in
    the batch of the step `at`, and none in others.
    """

    def __init__(
        self,
        noise: float,
        steps: int = 1,
        at: int = 0,
        matrix: str = "",
        rows: int = 0,
        sampling: dict[str, Any] | None = None,
    ) -> None:
        self.noise, self.steps, self.at = noise, steps, at
        self.matrix, self.rows, self.sampling = matrix, rows, sampling

    def __call__(self, data: Any, size: int, *, rng: np.random.Generator) -> Any:
        import jax

        values = np.where(data == MISSING, np.nan, data)
        padded = np.vstack([values, np.zeros(data.shape[1])])  # row -1 pads a batch
        batches = np.array([self._batches(len(data), rng) for _ in range(size)])
        keys = jax.random.split(jax.random.key(int(rng.integers(2**31))), size)
        noisy = jax.jit(Steps._noisy, static_argnums=0)(self, padded, batches, keys)
        return np.array(noisy, dtype=float).reshape(size, -1)

    def _batches(self, records: int, rng: np.random.Generator) -> Any:
        """Places of the records of each batch, filled up with -1: (steps, records)."""
        from jax_privacy.batch_selection import CyclicPoissonSampling

        drawn = np.full((self.steps, records), -1)
        if self.sampling is None:
            drawn[self.at] = np.arange(records)
            return drawn
        sampler = CyclicPoissonSampling(iterations=self.steps, **self.sampling)
        for row, batch in zip(drawn, sampler.batch_iterator(records, rng), strict=True):
            row[: len(batch)] = batch
        return drawn

    def _noisy(self, values: Any, batches: Any, keys: Any) -> Any:
        import jax

        return jax.vmap(self._one, (None, 0, 0))(values, batches, keys)

    def _one(self, values: Any, batches: Any, key: Any) -> Any:
        import jax.numpy as jnp
        from dp_accounting import NeighboringRelation
        from jax_privacy.clipping import clipped_grad

        gradient = clipped_grad(lambda weights, row: (weights * row).sum(), l2_clip_norm=1.0)
        moved = gradient.sensitivity(NeighboringRelation.ADD_OR_REMOVE_ONE)
        privatizer = self._privatizer(self.noise * moved, key)
        weights = jnp.zeros(values.shape[1])
        state, released = privatizer.init(weights), []
        for batch in batches:
            total = gradient(weights, values[batch], is_padding_example=batch < 0)
            noisy, state = privatizer.update(total, state)
            released.append(noisy)
        return jnp.stack(released)

    def _privatizer(self, stddev: float, key: Any) -> Any:
        import jax
        import jax.numpy as jnp
        from jax_privacy import noise_addition
        from jax_privacy.matrix_factorization import toeplitz

        if not self.matrix:
            return noise_addition.gaussian_privatizer(stddev=stddev, prng_key=key)
        rows = self.rows or self.steps
        with jax.ensure_compile_time_eval():
            strategy = toeplitz.optimal_max_error_strategy_coefs(rows)
            strategy /= jnp.linalg.norm(strategy)
            noising = toeplitz.inverse_as_streaming_matrix(strategy, column_normalize_for_n=rows)
            if self.matrix == "dense":
                noising = jnp.linalg.inv(toeplitz.materialize_lower_triangular(strategy))
        return noise_addition.matrix_factorization_privatizer(noising, stddev=stddev, prng_key=key)
