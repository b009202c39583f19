"""dpaudit: audit differentially private mechanisms and estimate their real privacy on real data."""

# `python -m dpaudit` imports this package while the current folder is first on sys.path. So nothing
# is imported here that Python has not loaded by then (tests/hostile/test_folders.py).
from dpaudit._core.lazy import FROM_ABOVE, on_first_use

TYPE_CHECKING = False  # as type checkers know it from `typing`
__version__ = "0.1.0"

if TYPE_CHECKING:
    from dpaudit import adapters as adapters
    from dpaudit import datasets as datasets
    from dpaudit import exact as exact
    from dpaudit import mechanisms as mechanisms
    from dpaudit import neighbours as neighbours
    from dpaudit import one_run as one_run
    from dpaudit import papers as papers
    from dpaudit import power as power
    from dpaudit import report as report
    from dpaudit import scoring as scoring
    from dpaudit import testing as testing
    from dpaudit import training as training
    from dpaudit.auditing.api import audit as audit
    from dpaudit.auditing.api import audit_samples as audit_samples
    from dpaudit.auditing.result import AuditResult as AuditResult
    from dpaudit.curves.claims import Claim as Claim
    from dpaudit.curves.spectrum import Spectrum as Spectrum
    from dpaudit.errors import DataNotFound as DataNotFound
    from dpaudit.errors import DegenerateData as DegenerateData
    from dpaudit.errors import DpauditError as DpauditError
    from dpaudit.errors import InvalidInput as InvalidInput
    from dpaudit.errors import MechanismError as MechanismError
    from dpaudit.errors import NoExactSpectrum as NoExactSpectrum
    from dpaudit.errors import ScenarioError as ScenarioError
    from dpaudit.neighbours import NeighbourPair as NeighbourPair
    from dpaudit.one_run.api import audit_one_run as audit_one_run
    from dpaudit.one_run.canaries import Canaries as Canaries
    from dpaudit.one_run.canaries import canaries as canaries
    from dpaudit.one_run.insertion import audit_canaries as audit_canaries
    from dpaudit.one_run.result import OneRunResult as OneRunResult
    from dpaudit.one_run.step_result import StepResult as StepResult
    from dpaudit.one_run.steps import StepAudit as StepAudit
    from dpaudit.one_run.table import audit_table as audit_table
    from dpaudit.papers.eureka import EurekaEstimate as EurekaEstimate
    from dpaudit.papers.eureka import eureka as eureka
    from dpaudit.papers.eureka import eureka_bound as eureka_bound
    from dpaudit.sampling.replay import replay as replay
    from dpaudit.search import SearchResult as SearchResult
    from dpaudit.search import search_neighbours as search_neighbours

__getattr__, __dir__, __all__ = on_first_use(
    __name__,
    {
        "dpaudit.auditing.api": "audit audit_samples",
        "dpaudit.auditing.result": "AuditResult",
        "dpaudit.curves.claims": "Claim",
        "dpaudit.curves.spectrum": "Spectrum",
        "dpaudit.errors": (
            "DataNotFound DegenerateData DpauditError InvalidInput MechanismError "
            "NoExactSpectrum ScenarioError"
        ),
        "dpaudit.neighbours": "NeighbourPair",
        "dpaudit.one_run.api": "audit_one_run",
        "dpaudit.one_run.canaries": "Canaries canaries",
        "dpaudit.one_run.insertion": "audit_canaries",
        "dpaudit.one_run.result": "OneRunResult",
        "dpaudit.one_run.step_result": "StepResult",
        "dpaudit.one_run.steps": "StepAudit",
        "dpaudit.one_run.table": "audit_table",
        "dpaudit.papers.eureka": "EurekaEstimate eureka eureka_bound",
        "dpaudit.sampling.replay": "replay",
        "dpaudit.search": "SearchResult search_neighbours",
    },
    modules=(
        "adapters datasets exact mechanisms neighbours one_run papers power report scoring testing "
        "training"
    ),
)
__all__ += ["__version__"]
FROM_ABOVE.update(
    {
        "dpaudit.exact.printed": "dpaudit.papers.printed",
        "dpaudit.mechanisms.PAPERS": "dpaudit.papers:PAPERS",
        "dpaudit.mechanisms.REGISTRY": "dpaudit.papers:REGISTRY",
    }
)
