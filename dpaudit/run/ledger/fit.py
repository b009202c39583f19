"""Which scenarios a ledger can hold."""

from __future__ import annotations

from dpaudit.errors import ScenarioError
from dpaudit.run.scenario.file import Scenario

ADVICE = "run this without --ledger, or with --isolated where pyproject.toml sets it"


def check_fit(scenario: object) -> None:
    """Raise `ScenarioError` for one without evidence that adds up with that of other runs."""
    if not isinstance(scenario, Scenario) or scenario.claim is None:
        name = getattr(scenario, "name", "it")
        what = "pools evidence against a claim that is one for all pairs, of audits by draws"
        raise ScenarioError(f"{name}: --ledger {what}; {ADVICE}")
    if scenario.settings.stop is not None:
        what = "decides when the draws of many runs are enough, and a run that stops by itself"
        raise ScenarioError(
            f"{scenario.name}: --ledger {what} brings less than it could: leave out stop; {ADVICE}"
        )
