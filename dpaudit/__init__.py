"""dpaudit: audit differentially private mechanisms and estimate their real privacy on real data."""

import os
import sys


def _leave_current_folder() -> None:
    """Take the current folder off `sys.path`, where `python -m` puts it first.

    No file in it may stand in for a module that dpaudit or its libraries import. It stays, last,
    where dpaudit itself is in it.
    """
    here = sys.path.pop(0)
    if os.path.dirname(os.path.dirname(__file__)) == here:
        sys.path.append(here)


# before any other import, since `python -m dpaudit` imports this package before the command
_COMMAND = sys.argv[:1] == ["-m"] and sys.orig_argv[-len(sys.argv)] in ("dpaudit", "-mdpaudit")
if _COMMAND and not sys.flags.safe_path:
    _leave_current_folder()

import importlib  # noqa: E402
from typing import TYPE_CHECKING, Any  # noqa: E402

__version__ = "0.1.0"

_ATTRIBUTES = {
    "AuditResult": "dpaudit.auditing.result",
    "Canaries": "dpaudit.one_run.canaries",
    "Claim": "dpaudit.curves.claims",
    "DataNotFound": "dpaudit.errors",
    "DegenerateData": "dpaudit.errors",
    "DpauditError": "dpaudit.errors",
    "EurekaEstimate": "dpaudit.scoring.models.eureka",
    "InvalidInput": "dpaudit.errors",
    "MechanismError": "dpaudit.errors",
    "NeighbourPair": "dpaudit.neighbours",
    "NoExactSpectrum": "dpaudit.errors",
    "ScenarioError": "dpaudit.errors",
    "OneRunResult": "dpaudit.one_run.result",
    "SearchResult": "dpaudit.search",
    "Spectrum": "dpaudit.curves.spectrum",
    "StepAudit": "dpaudit.one_run.steps",
    "audit": "dpaudit.auditing.api",
    "audit_canaries": "dpaudit.one_run.insertion",
    "audit_one_run": "dpaudit.one_run.api",
    "audit_samples": "dpaudit.auditing.api",
    "canaries": "dpaudit.one_run.canaries",
    "eureka": "dpaudit.scoring.models.eureka",
    "eureka_bound": "dpaudit.scoring.models.eureka",
    "replay": "dpaudit.sampling.replay",
    "search_neighbours": "dpaudit.search",
}
_MODULES = (
    "adapters",
    "datasets",
    "exact",
    "mechanisms",
    "neighbours",
    "one_run",
    "papers",
    "power",
    "report",
    "scoring",
    "testing",
)

if TYPE_CHECKING:
    from dpaudit import (
        adapters,
        datasets,
        exact,
        mechanisms,
        neighbours,
        one_run,
        papers,
        power,
        report,
        scoring,
        testing,
    )
    from dpaudit.auditing.api import audit, audit_samples
    from dpaudit.auditing.result import AuditResult
    from dpaudit.curves.claims import Claim
    from dpaudit.curves.spectrum import Spectrum
    from dpaudit.errors import (
        DataNotFound,
        DegenerateData,
        DpauditError,
        InvalidInput,
        MechanismError,
        NoExactSpectrum,
        ScenarioError,
    )
    from dpaudit.neighbours import NeighbourPair
    from dpaudit.one_run.api import audit_one_run
    from dpaudit.one_run.canaries import Canaries, canaries
    from dpaudit.one_run.insertion import audit_canaries
    from dpaudit.one_run.result import OneRunResult
    from dpaudit.one_run.steps import StepAudit
    from dpaudit.sampling.replay import replay
    from dpaudit.scoring.models.eureka import EurekaEstimate, eureka, eureka_bound
    from dpaudit.search import SearchResult, search_neighbours

__all__ = [
    "AuditResult",
    "Canaries",
    "Claim",
    "DataNotFound",
    "DegenerateData",
    "DpauditError",
    "EurekaEstimate",
    "InvalidInput",
    "MechanismError",
    "NeighbourPair",
    "NoExactSpectrum",
    "OneRunResult",
    "ScenarioError",
    "SearchResult",
    "Spectrum",
    "StepAudit",
    "__version__",
    "adapters",
    "audit",
    "audit_canaries",
    "audit_one_run",
    "audit_samples",
    "canaries",
    "datasets",
    "eureka",
    "eureka_bound",
    "exact",
    "mechanisms",
    "neighbours",
    "one_run",
    "papers",
    "power",
    "replay",
    "report",
    "scoring",
    "search_neighbours",
    "testing",
]


def __getattr__(name: str) -> Any:
    """Load on first use, so that `import dpaudit` is quick (PEP 562)."""
    if name in _MODULES:
        return importlib.import_module(f"dpaudit.{name}")
    if name in _ATTRIBUTES:
        value = getattr(importlib.import_module(_ATTRIBUTES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'dpaudit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
