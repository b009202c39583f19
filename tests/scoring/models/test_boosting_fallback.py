"""Boosting works without LightGBM, whose wheel needs the system's libgomp, and says so."""

import importlib.abc
import sys

import numpy as np
import pytest

from dpaudit.scoring.models import boosted
from tests.scoring.gaussian_task import TRUE, audit, draws


class NoLibrary(importlib.abc.MetaPathFinder):
    """The import as it fails on a slim image."""

    def find_spec(self, name, path=None, target=None):
        if name == "lightgbm":
            raise OSError(
                "libgomp.so.1: cannot open shared object file: "
                "No such file or directory\n(traceback)"
            )


@pytest.fixture(params=["not installed", "no libgomp"])
def hidden(request):
    """LightGBM out of reach, and back afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "not installed":
            patch.setitem(sys.modules, "lightgbm", None)
        else:
            patch.delitem(sys.modules, "lightgbm", raising=False)
            patch.setattr(sys, "meta_path", [NoLibrary(), *sys.meta_path])
        boosted.boosting.cache_clear()
        yield request.param
    boosted.boosting.cache_clear()


@pytest.mark.parametrize("hidden", ["no libgomp"], indirect=True)
def test_boosting_falls_back_to_histograms(hidden):
    """Certified share of the true loss on 16 seeds: 0.87 ± 0.08.

    Below 0.4 with probability under 1e-7.
    """
    P, Q = draws(4000)
    result = audit(P, Q, "lightgbm")
    record = result.to_dict()["classifier"]
    assert record["requested"] == "lightgbm"
    assert record["chosen"] == "histogram boosting"
    assert "histogram boosting was used instead" in record["note"]
    assert "\n" not in record["note"]
    assert result.spectrum.low[0] > 0.4 * audit(P, Q, TRUE).spectrum.low[0]


@pytest.mark.parametrize("hidden", ["no libgomp"], indirect=True)
def test_auto_carries_the_note_if_trees_took_part(hidden):
    P, Q = np.random.default_rng(1).uniform(size=(2, 4000, 2))
    P[:, 1] = (P[:, 1] + np.floor(8.0 * P[:, 0])) / 8.0
    record = audit(P, Q, "auto").to_dict()["classifier"]
    assert "histogram boosting was used instead" in record["note"]
    assert not any(name.startswith("lightgbm") for name in record["portfolio"])
