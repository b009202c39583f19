"""The same seeds on D and on D': which draws depend on the data, and which only on the noise."""

import copy
import pickle
import random

import numpy as np
import pytest
from scipy import stats

import dpaudit as dp
from dpaudit.adapters import one_draw
from dpaudit.sampling.replay import hints
from tests.cases import MECHANISMS, database

pytestmark = pytest.mark.quick
broken, textbook = dp.mechanisms.broken, dp.mechanisms.textbook
ROWS = np.array([[0.125], [0.25], [0.9375]])
REPLACED = dp.neighbours.replace_row(ROWS, 2, [0.0625])
REMOVED = dp.neighbours.remove_row(ROWS, 2)


def local_scale(data, size, *, rng):
    return data.sum() + rng.laplace(0.0, np.ptp(data), size=(size, 1))


def local_scale_by_name(data, size, *, rng):
    return data.sum() + rng.laplace(scale=np.ptp(data) * np.ones((size, 1)))


def multiplied(data, size, *, rng):
    return data.sum() + np.ptp(data) * rng.standard_normal((size, 1))


def by_scipy(data, size, *, rng):
    return data.sum() + stats.laplace.rvs(scale=np.ptp(data), size=(size, 1), random_state=rng)


def noise_if_any(data, size, *, rng):
    count = np.sum(data > 0.5)
    return np.full((size, 1), count) + (rng.laplace(size=(size, 1)) if count else 0.0)


def other_noise(data, size, *, rng):
    if np.any(data > 0.5):
        return data.sum() + rng.laplace(size=(size, 1))
    return data.sum() + rng.normal(size=(size, 1))


def present_categories(data, size, *, rng):
    counts = np.unique(data > 0.5, return_counts=True)[1]
    return [list(counts + rng.laplace(size=len(counts))) for _ in range(size)]


def early_stop(data, *, rng):
    noisy = []
    for value in data[:, 0]:
        if value > 0.5:
            break
        noisy.append(value + rng.laplace())
    return len(noisy)


def fresh(data, *, rng):
    return data.sum() + np.random.default_rng().exponential(np.ptp(data))


def of_numpy(data, *, rng):
    return data.sum() + np.random.normal(0.0, np.ptp(data))  # noqa: NPY002


def of_python(data, *, rng):
    return data.sum() + random.gauss(0.0, float(np.ptp(data)))


def of_a_child(data, *, rng):
    return data.sum() + rng.spawn(1)[0].uniform(-np.ptp(data), np.ptp(data))


@pytest.mark.parametrize(
    ("mechanism", "kind", "message"),
    [
        (local_scale, "argument", "The scale of noise call 1, laplace at test_replay.py:"),
        (local_scale_by_name, "argument", "The scale of noise call 1, "),
        (multiplied, "width", "The width of the noise in output 1 depends on the data."),
        (by_scipy, "width", "output 1"),
        (noise_if_any, "number", "on one of the databases there is one more, laplace at test_rep"),
        (other_noise, "branch", "noise call 1 is laplace at"),
        (present_categories, "size", "The size of noise call 1, laplace at"),
        (one_draw(early_stop), "number", "there is one more"),
        (one_draw(fresh), "argument", "The scale of noise call 1, exponential at"),
        (one_draw(of_numpy), "argument", "The scale of noise call 1, normal at"),
        (one_draw(of_python), "argument", "The sigma of noise call 1, gauss at"),
        (one_draw(of_a_child), "argument", "The width of noise call 1, uniform at"),
    ],
)
def test_what_depends_on_the_data_is_named_with_its_place(mechanism, kind, message):
    found = dp.replay(mechanism, REPLACED)
    assert found.difference.kind == kind
    assert message in found.text
    assert "not a verdict" in found.text


def centred(data, size, *, rng):
    return rng.normal(data.mean(), 2.0, (size, 1))


def of_a_noisy_count(data, *, rng):
    count = (data > 0.5).sum() + rng.laplace()
    return data.sum() + rng.laplace(scale=1.0 / max(count, 1.0))


def sparse_vector(data, *, rng):
    threshold = 0.5 + rng.laplace()
    return next((at for at, one in enumerate(data[:, 0]) if one + rng.laplace() > threshold), 9)


def rejection(data, *, rng):
    while (found := rng.normal(data.sum())) < 0.5:
        pass
    return found


def sampled(data, size, *, rng):
    kept = rng.random((size, len(data))) < 0.5
    return kept @ data + rng.laplace(size=(size, 1))


def local_noise(data, *, rng):
    return float(sum(value + rng.laplace() for value in data[:, 0]))


def resampled(data, *, rng):
    at = rng.integers(0, len(data), 5)
    return data[at].sum() + rng.choice(data[:, 0]) + rng.choice(len(data)) + rng.laplace()


@pytest.mark.parametrize("pair", [REPLACED, REMOVED], ids=["replaced", "removed"])
@pytest.mark.parametrize(
    "mechanism",
    [
        centred,
        sampled,
        *map(one_draw, (of_a_noisy_count, sparse_vector, rejection, local_noise, resampled)),
    ],
)
def test_post_processing_locations_and_sampling_of_rows_are_no_hints(mechanism, pair):
    assert dp.replay(mechanism, pair).difference is None


@pytest.mark.parametrize("name", textbook.__all__)
def test_no_textbook_mechanism_gets_a_hint(name):
    mechanism = getattr(textbook, name)()
    assert dp.replay(mechanism, mechanism.pair()).difference is None


@pytest.mark.parametrize("name", ["LocalSensitivity", "NonDPLaplace1", "NonDPGaussian1"])
def test_broken_mechanisms_whose_noise_depends_on_the_data_do(name):
    mechanism = getattr(broken, name)()
    assert dp.replay(mechanism, mechanism.pair()).difference is not None


@pytest.mark.parametrize("mechanism", MECHANISMS[:9:2], ids=lambda one: type(one).__name__)
def test_sketched_least_squares_alone_has_noise_of_the_width_of_its_residuals(mechanism):
    found = dp.replay(mechanism, dp.neighbours.zero_row(database(), 3)).difference
    least_squares = type(mechanism).__name__ in ("ALS", "RPLS")
    assert (found is not None and found.kind == "width") == least_squares


def test_the_global_generators_are_as_before_even_after_an_error():
    def failing(data, *, rng):
        np.random.seed(3)  # noqa: NPY002
        random.random()
        raise ValueError("no output")

    makers = np.random.default_rng, np.random.laplace, np.random.mtrand._rand, random.gauss
    before = pickle.dumps((np.random.get_state(), random.getstate()))  # noqa: NPY002
    dp.replay(one_draw(of_numpy), REPLACED)
    with pytest.raises(dp.MechanismError):
        dp.replay(one_draw(failing), REPLACED)
    assert list(hints(one_draw(failing), REPLACED.left, [REPLACED.right] * 2)) == [None, None]
    assert pickle.dumps((np.random.get_state(), random.getstate())) == before  # noqa: NPY002
    now = np.random.default_rng, np.random.laplace, np.random.mtrand._rand, random.gauss
    assert now == makers


def test_values_of_the_data_only_where_they_are_asked_for():
    found = dp.replay(local_scale, REPLACED)
    assert found.to_dict(show_data=True)["difference"]["values"] == [0.8125, 0.1875]
    for text in (repr(found), repr(found.difference), found.text, str(found.to_dict())):
        assert "0.8125" not in text


def test_generators_may_be_copied_and_code_of_other_generators_is_passed_over():
    def copied(data, size, *, rng):
        other = pickle.loads(pickle.dumps(rng))
        assert isinstance(rng, np.random.Generator)
        assert isinstance(copy.deepcopy(rng), np.random.Generator)
        return data.sum() + other.laplace(size=(size, 1))

    assert dp.replay(copied, REPLACED).difference is None
    elsewhere = dp.replay(lambda data, size, *, rng: np.zeros((size, 1)), REPLACED)
    assert elsewhere.text.startswith("No noise call was recorded")
