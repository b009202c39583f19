"""What Opacus releases in training, as mechanisms to audit: imported when one is called.

For `Step` the data are gradients, one a record; for `Training` they are features of a linear model
whose gradients they are. Draws are seeded by torch.Generator: an audit comes again digit by digit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

MISSING = -9.0  # stands for NaN in the data, which dpaudit reads without gaps


class Step:
    """A step of an optimizer of opacus.optimizers: the noisy sum of the clipped gradients.

    name : of its class. noise : noise_multiplier. layers : each column is a parameter of its own.
    bound : the clipping bound after the step is seen too. Other keywords are the optimizer's.
    """

    def __init__(
        self, name: str, noise: float, layers: bool = False, bound: bool = False, **options: Any
    ) -> None:
        self.name, self.layers, self.bound = name, layers, bound
        self.options = {"noise_multiplier": noise, "loss_reduction": "sum", **options}

    def __call__(self, data: Any, size: int, *, rng: np.random.Generator) -> Any:
        import torch

        gradients = torch.tensor(np.where(data == MISSING, np.nan, data), dtype=torch.float64)
        columns = list(gradients.T[:, :, None]) if self.layers else [gradients]
        weights = [torch.nn.Parameter(torch.zeros_like(one[0])) for one in columns]
        generator, draws = _generator(rng), []
        for _ in range(size):
            optimizer = self._made(weights, generator)
            for one, column in zip(weights, columns, strict=True):
                one.grad_sample = column.clone()
            optimizer.step()
            noisy = [number for one in weights for number in one.grad.tolist()]
            draws.append([*noisy, float(optimizer.max_grad_norm)] if self.bound else noisy)
            optimizer.zero_grad()
        return np.array(draws)

    def _made(self, weights: Any, generator: Any) -> Any:
        import torch
        from opacus import optimizers

        inner = torch.optim.SGD(weights, lr=0.0)
        made = getattr(optimizers, self.name)
        return made(inner, expected_batch_size=None, generator=generator, **self.options)


class Training:
    """An epoch of PrivacyEngine.make_private: the weights of a linear model after each step.

    noise, clip : noise_multiplier and max_grad_norm. batch : of the data loader; the sampling rate
    is 1 / (n // batch). mode : "hooks" or "ghost". column : the losses of a batch have shape
    (n, 1), as the model's output has; else (n,).
    """

    def __init__(
        self, noise: float, clip: float, batch: int, mode: str = "hooks", column: bool = False
    ) -> None:
        self.batch, self.column = batch, column
        self.options = {
            "noise_multiplier": noise,
            "max_grad_norm": clip,
            "grad_sample_mode": mode,
        }

    def __call__(self, data: Any, size: int, *, rng: np.random.Generator) -> Any:
        import torch
        from opacus import PrivacyEngine
        from torch.utils.data import DataLoader, TensorDataset

        features, generator = torch.tensor(data, dtype=torch.float32), _generator(rng)
        far = torch.full((len(data), 1), 1e6)  # the gradient of |far - wx| is -x
        model, loss = torch.nn.Linear(data.shape[1], 1, bias=False), torch.nn.L1Loss()
        table = TensorDataset(features, far)
        wrapped, optimizer, *criterion, loader = PrivacyEngine().make_private(
            module=model,
            optimizer=torch.optim.SGD(model.parameters(), lr=1.0),
            criterion=loss,
            data_loader=DataLoader(table, self.batch, drop_last=True, generator=generator),
            noise_generator=generator,
            **self.options,
        )

        def epoch() -> Iterator[list[float]]:
            torch.nn.init.zeros_(model.weight)
            for x, y in loader:
                optimizer.zero_grad()
                output = wrapped(x)
                of = (output, y) if self.column else (output[:, 0], y[:, 0])
                (criterion or [loss])[0](*of).backward()
                optimizer.step()
                yield model.weight[0].tolist()

        return np.array([np.ravel(list(epoch())) for _ in range(size)])


def _generator(rng: np.random.Generator) -> Any:
    import torch

    return torch.Generator().manual_seed(int(rng.integers(2**62)))
