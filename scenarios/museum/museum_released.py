"""Released packages, as museum scenarios call them: the same call in a version with a fault and in
one without. Each package is imported when it is called.

Data are (n, d); every function ends in `size` draws. pure-ldp, DataSynthesizer and diffprivlib take
their seed from the draw's generator, opendp draws from the operating system and cannot be seeded.
"""

from __future__ import annotations

import inspect
import random
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np


def bit_vector(data: Any, size: int, *, rng: Any) -> Any:
    """opendp's randomised response on a vector of eight bits of which at most one is set.

    Every bit is flipped with probability 1/4, which opendp's own map calls 2 ln 3.
    """
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.bitvector_domain(max_weight=1), dp.discrete_distance()
    respond = dp.m.make_randomized_response_bitvec(*space, f=0.5)
    bits = np.packbits(data[0].astype(bool), bitorder="little").tobytes()
    drawn = np.frombuffer(b"".join(respond(bits) for _ in range(size)), dtype=np.uint8)
    return np.unpackbits(drawn[:, None], axis=1, bitorder="little")


def boolean(data: Any, size: int, *, rng: Any) -> Any:
    """opendp's randomised response on a boolean, kept with probability 3/4: its own relation
    accepts ln 3.
    """
    respond = _opendp("meas", "measurements").make_randomized_response_bool(prob=0.75)
    truth = bool(data[0, 0])
    return np.array([respond(truth) for _ in range(size)], dtype=float)


def laplace(data: Any, size: int, *, rng: Any) -> Any:
    """opendp's Laplace noise of scale 1 on a number in [0, 1]: its own relation accepts 1."""
    noisy, value = _opendp("meas", "measurements").make_base_laplace(scale=1.0), float(data[0, 0])
    return np.array([noisy(value) for _ in range(size)])


def sized_sum(data: Any, size: int, *, rng: Any) -> Any:
    """opendp's sum of n floats between public bounds 2⁵³ and 2⁵³ + 2, with the Laplace noise that
    opendp itself finds for ε = 1. Released is the sum less n 2⁵³.
    """
    from opendp.mod import binary_search_param

    lower, measurements = 2.0**53, _opendp("meas", "measurements")
    make_sum = _opendp("trans", "transformations").make_sized_bounded_sum
    total = make_sum(size=len(data), bounds=(lower, lower + 2.0))
    released = binary_search_param(
        lambda scale: total >> measurements.make_base_laplace(scale), d_in=2, d_out=1.0
    )
    noisy = total >> measurements.make_base_laplace(released)
    values = (lower + data[:, 0]).tolist()
    return np.array([noisy(values) for _ in range(size)]) - len(data) * lower


def unary_encoding(data: Any, size: int, *, rng: Any) -> Any:
    """pure-ldp's symmetric unary encoding of one of four values, ε = 0.5."""
    from pure_ldp.frequency_oracles.unary_encoding import UEClient

    _seed(rng)
    client = UEClient(epsilon=0.5, d=4, index_mapper=lambda value: value)
    return np.array([client.privatise(int(data[0, 0])) for _ in range(size)])


def noisy_counts(data: Any, size: int, *, rng: Any) -> Any:
    """DataSynthesizer's noisy counts of two binary columns, from which it makes conditional
    distributions, ε = 1.
    """
    import pandas as pd
    from DataSynthesizer.lib.PrivBayes import get_noisy_distribution_of_attributes

    _seed(rng)
    frame = pd.DataFrame(data.astype(int), columns=["a", "b"])
    return np.array(
        [
            get_noisy_distribution_of_attributes(["a", "b"], frame, epsilon=1.0)["count"]
            for _ in range(size)
        ]
    )


class LinearRegression:
    """diffprivlib's LinearRegression without intercept, x in [0, 1] and y in [-1, 1], ε = 1; with
    the line of pull request 110 where `fixed`.
    """

    def __init__(self, fixed: bool) -> None:
        self.fixed = fixed

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        module = import_module("diffprivlib.models.linear_regression")
        model, X, y = _mended(module) if self.fixed else module.LinearRegression, *_split(data)
        return np.array(
            [
                model(
                    epsilon=1.0,
                    bounds_X=(0.0, 1.0),
                    bounds_y=(-1.0, 1.0),
                    fit_intercept=False,
                    random_state=int(rng.integers(2**31 - 1)),
                )
                .fit(X, y)
                .coef_
                for _ in range(size)
            ]
        )


def _mended(module: Any) -> Any:
    """The class of a copy of the module, whose code has one index changed."""
    wrong, right = "[bounds_X[0][i], bounds_X[0][i]]", "[bounds_X[0][i], bounds_X[1][i]]"
    source = inspect.getsource(module)
    assert source.count(wrong) == 1
    names: dict[str, Any] = {"__name__": module.__name__}
    exec(compile(source.replace(wrong, right), module.__file__, "exec"), names)
    return names["LinearRegression"]


def _split(data: Any) -> tuple[Any, Any]:
    return data[:, :-1], data[:, -1]


def _opendp(old: str, new: str) -> Any:
    """A module of opendp that was renamed in 0.6."""
    from opendp.mod import enable_features

    enable_features("contrib", "floating-point")
    early = tuple(map(int, version("opendp").split(".")[:2])) < (0, 6)
    return import_module(f"opendp.{old if early else new}")


def _seed(rng: Any) -> None:
    """The two global generators that a package draws from."""
    seed = int(rng.integers(2**31 - 1))
    np.random.seed(seed)  # noqa: NPY002
    random.seed(seed)
