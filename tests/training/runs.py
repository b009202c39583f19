"""Training runs of the size of a test: scikit-learn's digits, and texts made here."""

import numpy as np
from sklearn.datasets import load_digits

import dpaudit as dp

X, Y = load_digits(return_X_y=True)
X = (X / 16.0).astype(np.float32)
WORDS = 50


def texts(count=800, length=6):
    """Sentences of `length` words out of 50, (count, length), and whether most words are early."""
    words = np.random.default_rng(3).integers(0, WORDS, size=(count, length))
    return words, ((words < WORDS // 2).mean(axis=1) > 0.5).astype(int)


def opacus(model="logistic", *, seed=0, epochs=3, batch=128, audited=True, fault=None, **options):
    """Train with Opacus; fault(optimizer) changes it before the audit is made, and may return what
    changes it after. Returns the audit and the weights.
    """
    import torch
    from opacus import PrivacyEngine
    from opacus.utils.batch_memory_manager import BatchMemoryManager
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    rows = [torch.tensor(one) for one in (texts() if model == "text" else (X, Y))]
    convolution = (nn.Unflatten(1, (1, 8, 8)), nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2))
    net = {
        "logistic": lambda: nn.Linear(64, 10),
        "convolutional": lambda: nn.Sequential(*convolution, nn.Flatten(), nn.Linear(72, 10)),
        "text": lambda: nn.Sequential(nn.Embedding(WORDS, 8), nn.Flatten(), nn.Linear(48, 2)),
    }[model]()
    physical = options.pop("physical", None)
    accumulate = options.pop("accumulate", 1)
    told = options.pop("told", {})
    net, optimizer, loader = PrivacyEngine().make_private(
        module=net,
        optimizer=torch.optim.SGD(net.parameters(), lr=0.5),
        data_loader=DataLoader(TensorDataset(*rows), batch_size=batch),
        **{"noise_multiplier": 1.0, "max_grad_norm": 1.0, **options},
    )
    later = fault(optimizer) if fault is not None else None
    audit = dp.training.OpacusAudit(optimizer, loader, rng=seed, **told) if audited else None
    if later is not None:
        later(optimizer)
    loss = nn.CrossEntropyLoss()

    def train(batches):
        for number, (inputs, labels) in enumerate(batches, start=1):
            loss(net(inputs), labels).backward()
            if number % accumulate == 0:
                optimizer.step()
                optimizer.zero_grad()

    for _ in range(epochs):
        if physical is None:
            train(loader)
        else:
            with BatchMemoryManager(
                data_loader=loader, max_physical_batch_size=physical, optimizer=optimizer
            ) as batches:
                train(batches)
    return audit, torch.cat([p.detach().flatten() for p in net.parameters()]).numpy()


def jax_privacy(*, seed=0, steps=60, deviation=1.0, audited=True, clip=1.0, fixed=False, jit=True):
    """Train a small network with jax-privacy; returns the audit and the weights."""
    import jax
    import jax.numpy as jnp
    import optax
    from jax_privacy import batch_selection, clipping, noise_addition

    rate, size = 0.07, 192

    def loss(weights, row, label):
        scores = jnp.tanh(row @ weights["in"]) @ weights["out"] + weights["bias"]
        return optax.softmax_cross_entropy_with_integer_labels(scores, label)

    settings = {"l2_clip_norm": clip, "batch_argnums": (1, 2), "keep_batch_dim": False}
    privatizer = noise_addition.gaussian_privatizer(stddev=deviation, prng_key=jax.random.key(seed))
    audit, clipped_sum = None, None
    if audited:
        audit = dp.training.JaxPrivacyAudit(
            sample_rate=rate, noise_multiplier=1.0, rows=len(X), rng=seed
        )
        clipped_sum, privatizer = audit.clipped_grad(loss, **settings), audit.privatizer(privatizer)
    else:
        clipped_sum = clipping.clipped_grad(loss, **settings)
    key = jax.random.key(1)
    weights = {
        "in": 0.1 * jax.random.normal(key, (64, 8)),
        "out": jnp.zeros((8, 10)),
        "bias": jnp.zeros(10),
    }
    state = privatizer.init(weights)

    def step(weights, state, rows, labels, padding):
        sums = clipped_sum(weights, rows, labels, is_padding_example=padding)
        noisy, state = privatizer.update(sums, state)
        return jax.tree.map(lambda w, g: w - 0.5 * g / (rate * len(X)), weights, noisy), state

    step = jax.jit(step) if jit else step
    batches = (
        batch_selection.FixedBatchSampling(batch_size=126, iterations=steps)
        if fixed
        else batch_selection.CyclicPoissonSampling(sampling_prob=rate, iterations=steps)
    )
    for batch in batches.batch_iterator(len(X), rng=seed):
        rows = batch_selection.pad_to_multiple_of(batch, size)
        weights, state = step(weights, state, X[rows], Y[rows], rows == -1)
    return audit, np.concatenate([np.ravel(one) for one in jax.tree.leaves(weights)])
