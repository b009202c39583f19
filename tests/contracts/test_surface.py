"""The stable surface: what users script against, and what importing it costs."""

import inspect
import pkgutil
import subprocess
import sys

import pytest

import dpaudit as dp
from tests.sparse import one_in

HEAVY = ("matplotlib", "lightgbm", "sklearn", "pandas", "pydantic", "torch", "jax")
NAMES = {  # of the package, and of its rooms and classes
    "adapters": (
        "one_draw estimator command synthesizer limited read_draws values transformer records "
        "global_seeds"
    ),
    "datasets": "load",
    "mechanisms": (
        "ALS GaussianLS RPLS RandomProjection RandomLinearCombination GaussMix WishartDraw "
        "InverseWishartDraw AdditiveWishart AnalyzeGauss GaussianInverse SufficientStatistics "
        "Composition"
    ),
    "neighbours": (
        "zero_row replace_row remove_row add_row remove_group replace_group from_record "
        "record_templates"
    ),
    "power": "draws_to_detect excess_of",
    "testing": (
        "assert_private assert_private_training assert_matches assert_bound search_bound "
        "BoundSearch"
    ),
    "training": "LoopAudit OpacusAudit JaxPrivacyAudit TrainingAudit",
    "NeighbourPair": "change",
    "SearchResult": "index relation table",
    "": (
        "NeighbourPair NoExactSpectrum Spectrum Claim audit audit_samples canaries "
        "audit_canaries search_neighbours"
    ),
    "exact": (
        "spectrum worst_case als gaussian_sketch additive_wishart gaussian_pair gaussian_shift "
        "PrivacyLoss privacy_loss compose"
    ),
    "Spectrum": "delta_at epsilon_at tradeoff gdp_mu renyi total_variation pure_epsilon",
    "Claim": "advantage gdp from_function zcdp tcdp rdp gaussmix",
    "Canaries": "inserted record",
    "one_run": "GradientAlignment LossDifference NearestRecord SumAlignment",
    "AuditResult": "to_dict save load plot to_frame tpr_at roc advantage accuracy",
    "StepAudit": "update to_dict epsilon_at result",
    "StepResult": "epsilon_at save load to_dict plot",
}


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


# scipy.stats is half as slow as all the rest; scipy.optimize would be a third of the exact side
LATER = ("scipy.stats", "scipy.optimize", "scipy.integrate", "dpaudit.mechanisms", "dpaudit.papers")


@pytest.mark.parametrize(
    ("use", "heavy"),
    one_in(
        3,
        [
            ("dpaudit.Claim(1, 1e-5).delta_at(0.5)", HEAVY),
            ("dpaudit.neighbours.zero_row([[1.0, 2.0], [3.0, 4.0]], 1)", HEAVY),
            ("dpaudit.exact.als(0.1, 0.1, 3, 9, 1.0)", (*HEAVY, "scipy.stats")),
            ("dpaudit.mechanisms.ALS(9)", (*HEAVY, "scipy.stats")),
            ("dpaudit.audit", (*HEAVY, "scipy.stats")),
            ("dpaudit.training.OpacusAudit, dpaudit.training.JaxPrivacyAudit", HEAVY),
            (
                "[getattr(dpaudit.exact, n) for n in dpaudit.exact.__all__ if n != 'printed']",
                (*HEAVY, *LATER),
            ),
        ],
    ),
)
def test_importing_is_light(use, heavy):
    loaded = run(f"import dpaudit, sys\n{use}\nprint(*sys.modules)")
    assert "dpaudit" in loaded
    assert [
        name for name in loaded if f"{name}.".startswith(tuple(f"{one}." for one in heavy))
    ] == []


@pytest.mark.parametrize("owner", NAMES)
def test_names_of_the_contract_resolve_and_are_documented(owner):
    for name in NAMES[owner].split():
        thing = getattr(getattr(dp, owner) if owner else dp, name)
        assert callable(thing) or isinstance(thing, property), name
        assert inspect.getdoc(thing), name


def test_everything_announced_is_there():
    assert set(dp.__all__) <= set(dir(dp))
    for name in dp.__all__:
        assert getattr(dp, name) is not None


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'dpaudit' has no attribute 'neighbors'") as no:
        dp.neighbors  # noqa: B018
    assert (no.value.name, no.value.obj) == ("neighbors", dp)  # Python suggests a near name


def test_no_module_of_the_exact_side_has_the_name_of_a_function():
    """Importing it would hide the function, which is loaded on first use."""
    modules = {module.name for module in pkgutil.iter_modules(dp.exact.__path__)}
    assert modules & set(dp.exact.__all__) == set()


def test_a_submodule_imported_first_hides_no_function():
    modules = (
        "auditing.result curves.claims neighbours sampling scoring report exact.zeroed_rows.als"
    )
    code = "".join(f"import dpaudit.{name}\n" for name in modules.split())
    names = "audit audit_samples exact.spectrum exact.als Claim Spectrum"
    code += "print(" + ", ".join(f"callable(dpaudit.{name})" for name in names.split()) + ")"
    assert run(code) == ["True"] * len(names.split())


def defaults(function):
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters}, [
        p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD
    ]


def test_the_signature_of_an_audit():
    found, positional = defaults(dp.audit)
    assert positional == ["mechanism", "pair"]
    contract = {
        "epsilon": None,
        "draws": 1_000_000,
        "claim": None,
        "level": 0.95,
        "classifier": "auto",
        "rng": None,
    }
    assert contract.items() <= found.items()
    assert {"n_jobs", "progress", "detect"} <= found.keys()
    assert {"P", "Q", *contract} - {"draws"} <= defaults(dp.audit_samples)[0].keys()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("als", "leverage residual_share features rows epsilon law"),
        ("gaussian_sketch", "leverage rows epsilon"),
        ("gaussian_pair", "mean1 cov1 mean2 cov2 epsilon"),
        ("gaussian_shift", "mu epsilon"),
        ("spectrum", "mechanism pair epsilon"),
        ("worst_case", "mechanism data epsilon"),
    ],
)
def test_the_signatures_of_the_exact_side(name, arguments):
    values, positional = defaults(getattr(dp.exact, name))
    assert positional == arguments.split()
    assert values.get("law", "finite") in ("finite", None)
