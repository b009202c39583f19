"""Global generators: set for each call, restored after it, the same draws with any workers."""

import random
import sys
import threading
import types

import joblib
import numpy as np
import pytest

import dpaudit as dp
from dpaudit import adapters
from tests.drawing import draw

DATA = np.ones((4, 2))
SEED = np.random.SeedSequence(7)


def release(data):
    """A sum."""
    return [data.sum() + np.random.laplace(), random.random()]  # noqa: NPY002


def batch(data, size, *, rng):
    return np.random.normal(size=(size, 1))  # noqa: NPY002


def states():
    return repr((np.random.get_state(), random.getstate()))  # noqa: NPY002


MECHANISMS = {
    "one_draw": adapters.one_draw(adapters.global_seeds(release)),
    "of one_draw": adapters.global_seeds(adapters.limited(adapters.one_draw(release), 60)),
    "values": adapters.global_seeds(adapters.values(release, record=0)),
    "batch": adapters.global_seeds(batch),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_draws_follow_the_seed_with_any_workers_and_generators_are_restored(name):
    before = states()
    alone = draw(MECHANISMS[name], DATA, 280, SEED, 0)
    with joblib.parallel_config(backend="threading"):
        several = draw(MECHANISMS[name], DATA, 280, SEED, 0, n_jobs=3)
    assert alone.tobytes() == several.tobytes()
    assert len(np.unique(alone)) >= 280
    assert states() == before
    assert (
        draw(MECHANISMS[name], DATA, 280, np.random.SeedSequence(8), 0).tobytes() != alone.tobytes()
    )


@pytest.mark.slow  # 3 s: starts two processes
def test_workers_in_processes_make_the_same_draws():
    with joblib.parallel_config(backend="loky"):
        there = draw(MECHANISMS["one_draw"], DATA, 280, SEED, 0, n_jobs=2)
    assert there.tobytes() == draw(MECHANISMS["one_draw"], DATA, 280, SEED, 0).tobytes()


def test_draws_of_one_call_at_a_time_overlap_with_no_other():
    inside, most = [0], [0]

    def counts(data):
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        threading.Event().wait(0.0002)
        inside[0] -= 1
        return np.random.random()  # noqa: NPY002

    draw(adapters.one_draw(adapters.global_seeds(counts)), DATA, 257, SEED, 0, n_jobs=2)
    assert most == [1]


def test_an_error_restores_the_generators_too():
    def fails(data):
        raise ArithmeticError(str(np.random.random()))  # noqa: NPY002

    before = states()
    with pytest.raises(dp.MechanismError, match="ArithmeticError"):
        adapters.one_draw(adapters.global_seeds(fails))(DATA, 1, rng=1)
    assert states() == before


def test_the_generator_still_goes_to_a_function_that_takes_it():
    def both(data, *, rng):
        return rng.random() + np.random.random()  # noqa: NPY002

    mechanism = adapters.one_draw(adapters.global_seeds(both))
    draws = mechanism(DATA, 50, rng=1)
    assert draws == mechanism(DATA, 50, rng=1)
    assert max(draws) > 1.0


class Torch(types.ModuleType):
    """What is used of torch: a generator whose state fork_rng restores."""

    def __init__(self):
        super().__init__("torch")
        self.state, self.random = random.Random(0), self

    def manual_seed(self, seed):
        assert 0 <= seed < 1 << 63
        self.state.seed(seed)

    def fork_rng(self):
        return self

    def __enter__(self):
        self.kept = self.state.getstate()

    def __exit__(self, *error):
        self.state.setstate(self.kept)


def test_torch_is_set_from_the_first_call_on_also_where_that_call_loads_it(monkeypatch):
    torch = Torch()

    def imports(data):
        monkeypatch.setitem(sys.modules, "torch", torch)
        return [torch.state.random(), random.random()]

    monkeypatch.delitem(sys.modules, "torch", raising=False)
    mechanism = adapters.one_draw(adapters.global_seeds(imports))
    first = mechanism(DATA, 3, rng=1)
    between = torch.state.getstate()
    assert mechanism(DATA, 3, rng=1) == first
    assert torch.state.getstate() == between
    assert "torch" in mechanism.summary


def test_the_summary_says_so(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)  # loaded where the extra is installed
    message = "(global seeds of numpy.random, random set for each call)"
    mechanism = MECHANISMS["one_draw"]
    assert (mechanism.name, mechanism.summary) == ("release", f"A sum. {message}")
    record = dp.audit(mechanism, dp.neighbours.zero_row(DATA, 0), draws=100, rng=1).to_dict()
    assert record["mechanism"]["description"] == f"A sum. {message}"
