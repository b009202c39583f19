"""Every algorithm of the papers in each of its variants, with parameters that its pair allows."""

import dataclasses

from dpaudit.papers import PAPERS, VARIANTS

SETTINGS = {
    "epsilon": 0.8,
    "delta": 1e-3,
    "mu": 0.7,
    "rows": 30,
    "sensitivity": 1.0,
    "gamma": 8.0,
    "eta": 0.05,
    "trace": 3.0,
    "coef_norm": 1.0,
    "label_bound": 1.0,
    "coef_bound": 1.0,
    "steps": 3,
    "public_rows": 3,
    "min_rows": 30,
    "min_dof": 30,
    "row_bound": 1.0,
    "rho": 3.0,
}
PUBLIC = {  # what a corrected variant takes as public
    "RandomProjectionLS": {"row_bound": 1.0},
    "PracticalDPRR": {"trace": 3.0, "label_moment": 1.0},
}


def _made(cls, **given):
    fields = {one.name: one for one in dataclasses.fields(cls)}
    required = {name for name, one in fields.items() if one.default is dataclasses.MISSING}
    given = {
        name: SETTINGS[name] for name in required | ({"steps", "public_rows"} & fields.keys())
    } | given
    return cls(**given)


def _variants(cls):
    return VARIANTS if "variant" in {one.name for one in dataclasses.fields(cls)} else (None,)


def _given(cls, variant):
    public = PUBLIC.get(cls.__name__, {}) if variant == "corrected" else {}
    return public | ({} if variant is None else {"variant": variant})


CASES = [
    _made(cls, **_given(cls, variant)) for cls in PAPERS.values() for variant in _variants(cls)
]
