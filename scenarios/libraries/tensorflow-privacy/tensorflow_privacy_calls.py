"""What TensorFlow Privacy releases, as mechanisms to audit: imported when one is called.

Data are records of a query, or features of a linear model whose gradients they are, one a record.
A graph is traced once for each database, with a seed from the audit's generator, and goes on
drawing from call to call, so a call alone cannot be repeated with its seed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

MISSING = -9.0  # stands for NaN in the data, which dpaudit reads without gaps
FAR = 1e6  # a target: the gradient of |target - wx| is -x


class Traced:
    """A mechanism that keeps a graph for each database: to trace it takes longer than to draw."""

    def __init__(self) -> None:
        self.graphs: dict[bytes, Callable[[Any], Any]] = {}

    def __call__(self, data: Any, size: int, *, rng: np.random.Generator) -> Any:
        import tensorflow as tf

        key = np.asarray(data).tobytes()
        if key not in self.graphs:
            tf.random.set_seed(int(rng.integers(2**31)))
            records = np.where(data == MISSING, np.nan, data).astype(np.float32)
            self.graphs[key] = self.graph(records)
        return self.graphs[key](rng.integers(2**62, size=size))

    def graph(self, records: Any) -> Callable[[Any], Any]:
        """From seeds, (size,), to draws, (size, k)."""
        raise NotImplementedError


class Query(Traced):
    """The answers of a DPQuery, one a step: (steps · columns), with the clipping norm if it adapts.

    name : of its class. steps : the records are in the first of so many, and none in others.
    denominator : of a NormalizedQuery of it. restart : of a RestartQuery of it, the steps after
    which its tree begins anew; the records are in the first step of each tree. whole : records are
    integers. Other keywords are those of the query, or of its method build_l2_gaussian_query.
    """

    def __init__(
        self,
        name: str,
        steps: int = 1,
        denominator: float | None = None,
        restart: int | None = None,
        whole: bool = False,
        **options: Any,
    ) -> None:
        super().__init__()
        self.name, self.steps, self.denominator = name, steps, denominator
        self.restart, self.whole, self.options = restart, whole, options

    def graph(self, records: Any) -> Callable[[Any], Any]:
        """From seeds, (size,), to draws, (size, k)."""
        import tensorflow as tf

        records = records.astype(np.int32 if self.whole else np.float32)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.int64)])
        def draws(seeds: Any) -> Any:
            answers = lambda seed: self._answers(records, seed)  # noqa: E731 (of a graph)
            return tf.map_fn(answers, seeds, fn_output_signature=records.dtype)

        return lambda seeds: draws(seeds).numpy().astype(float)

    def _answers(self, records: Any, seed: Any) -> Any:
        import tensorflow as tf

        query = self._made(records.shape[1], seed)
        state, released = query.initial_global_state(), []
        for step in range(self.steps):
            settings = query.derive_sample_params(state)
            sample = query.initial_sample_state(tf.zeros_like(records[0]))
            if step % (self.restart or self.steps) == 0:
                for record in tf.constant(records):
                    sample = query.accumulate_record(settings, sample, record)
            answer, state, _ = query.get_noised_result(sample, state)
            released.append(answer)
            if "Adaptive" in self.name:
                released.append(query.derive_metrics(state)["clip"][None])
        return tf.concat(released, axis=0)

    def _made(self, columns: int, seed: Any) -> Any:
        import tensorflow as tf
        import tensorflow_privacy as package

        made = getattr(package, self.name)
        if "Tree" not in self.name:
            query = made(**self.options)
            divided = self.denominator is not None
            return package.NormalizedQuery(query, self.denominator) if divided else query
        query = made.build_l2_gaussian_query(**self.options, record_specs=tf.TensorSpec([columns]))
        noise = query._tree_aggregator.value_generator  # seeded by a number or by the clock
        noise.initialize = lambda: noise.make_state(tf.stack([seed, seed]), noise._noise_std)
        if self.restart is None:
            return query
        after = package.restart_query.PeriodicRoundRestartIndicator(self.restart)
        return package.RestartQuery(query, after)


class Step(Traced):
    """The weights of a linear model after a step of an optimizer from zero, with learning rate 1.

    name : of its class. layers : each column is a parameter of its own. Other keywords are the
    optimizer's.
    """

    def __init__(self, name: str, layers: bool = False, **options: Any) -> None:
        super().__init__()
        self.name, self.layers, self.options = name, layers, options

    def graph(self, records: Any) -> Callable[[Any], Any]:
        """From seeds, (size,), to draws, (size, k)."""
        import tensorflow as tf

        features = tf.constant(records)
        parts = tf.split(features, features.shape[1], axis=1) if self.layers else [features]
        weights = [tf.Variable(tf.zeros(part.shape[1])) for part in parts]
        optimizer = self._made()

        def losses() -> Any:
            return sum(tf.linalg.matvec(x, w) for x, w in zip(parts, weights, strict=True))

        @tf.function
        def draw() -> Any:
            for one in weights:
                one.assign(tf.zeros_like(one))
            with tf.GradientTape(persistent=True) as tape:
                loss = losses()
            optimizer.minimize(loss, weights, tape=tape)
            return tf.concat(weights, axis=0)

        return lambda seeds: np.array([draw().numpy() for _ in seeds], dtype=float)

    def _made(self) -> Any:
        import tensorflow_privacy as package
        from tensorflow_privacy.privacy.optimizers import dp_optimizer_keras_sparse as sparse

        made = getattr(sparse if "Sparse" in self.name else package, self.name)
        return made(learning_rate=1.0, **self.options)


class Model(Traced):
    """The weights of a linear DPModel after a train_step from zero, with learning rate 1.

    fast : its layers are in a registry. dropout : share of the features that are dropped. uses :
    how often the layer is applied, each time to all features. Other keywords are the model's.
    """

    def __init__(
        self, fast: bool = False, dropout: float = 0.0, uses: int = 1, **options: Any
    ) -> None:
        super().__init__()
        self.fast, self.dropout, self.uses, self.options = fast, dropout, uses, options

    def graph(self, records: Any) -> Callable[[Any], Any]:
        """From seeds, (size,), to draws, (size, k)."""
        import tensorflow as tf

        features = tf.constant(records)
        model = self._made(features.shape[1])
        optimizer, loss = tf.keras.optimizers.legacy.SGD(1.0), tf.keras.losses.MeanAbsoluteError()
        model.compile(optimizer=optimizer, loss=loss)
        (weights,) = model.trainable_variables

        @tf.function
        def draw() -> Any:
            weights.assign(tf.zeros_like(weights))
            model.train_step((features, tf.fill([len(records), 1], FAR)))
            return tf.squeeze(weights, axis=1)

        return lambda seeds: np.array([draw().numpy() for _ in seeds], dtype=float)

    def _made(self, columns: int) -> Any:
        import tensorflow as tf
        from tensorflow_privacy import DPModel
        from tensorflow_privacy.privacy.fast_gradient_clipping import layer_registry

        entry = tf.keras.Input((columns,))
        layer = tf.keras.layers.Dense(1, use_bias=False)
        dropped = tf.keras.layers.Dropout(self.dropout)(entry) if self.dropout else entry
        outputs = [layer(dropped) for _ in range(self.uses)]
        registry = layer_registry.make_default_layer_registry() if self.fast else None
        return DPModel(
            inputs=entry,
            outputs=tf.keras.layers.add(outputs) if self.uses > 1 else outputs[0],
            layer_registry=registry,
            use_xla=False,
            **self.options,
        )
