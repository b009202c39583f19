"""The stable surface: what users script against, and what importing it costs."""

import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest

import dpaudit as dp

HEAVY = ("matplotlib", "lightgbm", "sklearn", "pandas", "pydantic")
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
    "testing": "assert_private assert_matches assert_bound search_bound BoundSearch",
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
    "Claim": "gdp from_function zcdp tcdp rdp gaussmix",
    "Canaries": "inserted record",
    "one_run": "GradientAlignment LossDifference NearestRecord SumAlignment",
    "AuditResult": "to_dict save load plot to_frame",
    "StepAudit": "update to_dict",
}


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize(
    "use",
    [
        "",
        "dpaudit.Claim(1, 1e-5).delta_at(0.5)",
        "dpaudit.neighbours.zero_row([[1.0, 2.0], [3.0, 4.0]], 1)",
    ],
)
def test_importing_is_light(use):
    loaded = run(f"import dpaudit, sys\n{use}\nprint(*sys.modules)")
    assert "dpaudit" in loaded
    assert not {module.split(".")[0] for module in loaded} & set(HEAVY)


@pytest.mark.parametrize(
    "use", ["dpaudit.exact.als(0.1, 0.1, 3, 9, 1.0)", "dpaudit.mechanisms.ALS(9)", "dpaudit.audit"]
)
def test_the_exact_side_and_the_names_of_the_empirical_one_are_light(use):
    loaded = run(f"import dpaudit, sys\n{use}\nprint(*sys.modules)")
    assert not {module.split(".")[0] for module in loaded} & set(HEAVY)
    assert "scipy.stats" not in loaded  # half as slow as all the rest


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
    with pytest.raises(AttributeError, match="module 'dpaudit' has no attribute 'audits'"):
        dp.audits  # noqa: B018


def test_names_stay_what_they_are_when_submodules_are_imported():
    modules = "auditing auditing.result curves.claims neighbours sampling scoring report cli run"
    for module in modules.split():
        importlib.import_module(f"dpaudit.{module}")
    assert inspect.isfunction(dp.audit)
    assert inspect.isfunction(dp.audit_samples)
    assert inspect.isfunction(dp.exact.spectrum)
    assert inspect.isclass(dp.Claim)
    assert inspect.isclass(dp.Spectrum)


@pytest.mark.parametrize(
    "use", ["", "[getattr(dpaudit.exact, n) for n in dpaudit.exact.__all__ if n != 'printed']"]
)
def test_the_exact_side_loads_no_mechanism_no_paper_and_nothing_heavy(use):
    """scipy.optimize alone would be a third of the time."""
    loaded = run(f"import dpaudit.exact, sys\n{use}\nprint(*sys.modules)")
    heavy = (*HEAVY, "scipy.stats", "scipy.optimize", "scipy.integrate")
    below = ("dpaudit.mechanisms", "dpaudit.papers", *heavy)
    assert [name for name in loaded if name.startswith(below)] == []


def test_no_module_of_the_exact_side_has_the_name_of_a_function():
    """Importing it would hide the function, which is loaded on first use."""
    modules = {module.name for module in pkgutil.iter_modules(dp.exact.__path__)}
    assert modules & set(dp.exact.__all__) == set()


def test_a_submodule_imported_first_hides_no_function():
    code = "import dpaudit.exact.zeroed_rows.als, dpaudit.auditing\n"
    code += "print(callable(dpaudit.audit), callable(dpaudit.exact.als))"
    assert run(code) == ["True", "True"]


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


def test_the_signatures_of_the_exact_side():
    assert defaults(dp.exact.als)[1] == [
        "leverage",
        "residual_share",
        "features",
        "rows",
        "epsilon",
        "law",
    ]
    assert defaults(dp.exact.als)[0]["law"] == "finite"
    assert defaults(dp.exact.gaussian_sketch)[1] == ["leverage", "rows", "epsilon"]
    assert defaults(dp.exact.gaussian_pair)[1] == ["mean1", "cov1", "mean2", "cov2", "epsilon"]
    assert defaults(dp.exact.gaussian_shift)[1] == ["mu", "epsilon"]
    assert defaults(dp.exact.spectrum)[1] == ["mechanism", "pair", "epsilon"]
    assert defaults(dp.exact.worst_case)[1] == ["mechanism", "data", "epsilon"]


def test_errors_are_the_builtin_ones_too():
    assert issubclass(dp.InvalidInput, ValueError)
    assert issubclass(dp.ScenarioError, dp.InvalidInput)
    assert issubclass(dp.DegenerateData, dp.InvalidInput)
    assert issubclass(dp.DataNotFound, FileNotFoundError)
    assert issubclass(dp.NoExactSpectrum, NotImplementedError)
    assert issubclass(dp.MechanismError, RuntimeError)
    errors = (dp.InvalidInput, dp.DataNotFound, dp.NoExactSpectrum, dp.MechanismError)
    assert all(issubclass(error, dp.DpauditError) for error in errors)
