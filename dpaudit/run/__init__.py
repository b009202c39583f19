"""Runs: they read a scenario file and write a folder with the report, but print nothing.

`scenario/` reads the files, `execute` runs one, `analysis` and `planning` need no draws, `files`
audits draws that another program made. `store/` stores the draws of an unfinished run, `suite/`
combines several scenarios, and `ledger` pools the evidence of many runs of one mechanism.
"""

from dpaudit.run.analysis import analyse, calibrate
from dpaudit.run.execute import run
from dpaudit.run.ledger import Ledger
from dpaudit.run.one_run import OneRunScenario
from dpaudit.run.planning import plan
from dpaudit.run.scenario.file import Scenario
from dpaudit.run.scenario.files import audits_in
from dpaudit.run.scenario.study import StudyScenario, load_scenario
from dpaudit.run.training import TrainingScenario

__all__ = [
    "Ledger",
    "OneRunScenario",
    "Scenario",
    "StudyScenario",
    "TrainingScenario",
    "analyse",
    "audits_in",
    "calibrate",
    "load_scenario",
    "plan",
    "run",
]
