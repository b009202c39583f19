"""Runs: a scenario file in, a folder with the report out. It knows nothing of the terminal.

`scenario/` reads the files, `execute` runs one, `analysis` and `planning` need no draws, `files`
audits what was drawn elsewhere. `store/` keeps what is under way on disk, `suite/` runs several
scenarios, `ledger/` pools what many runs of one mechanism show.
"""

from dpaudit.run.analysis import analyse, calibrate
from dpaudit.run.execute import run
from dpaudit.run.files import run_samples
from dpaudit.run.ledger import Ledger
from dpaudit.run.one_run import OneRunScenario
from dpaudit.run.planning import plan
from dpaudit.run.scenario.file import Scenario
from dpaudit.run.scenario.files import audits_in
from dpaudit.run.scenario.study import StudyScenario, load_scenario

__all__ = [
    "Ledger",
    "OneRunScenario",
    "Scenario",
    "StudyScenario",
    "analyse",
    "audits_in",
    "calibrate",
    "load_scenario",
    "plan",
    "run",
    "run_samples",
]
