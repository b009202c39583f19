"""One run: a scenario file in, draws kept on the way, a folder with the report out."""

from dpaudit.run.analysis import analyse
from dpaudit.run.calibration import calibrate
from dpaudit.run.execute import folder_of, run
from dpaudit.run.samples import run_samples
from dpaudit.run.scenario.file import Scenario
from dpaudit.run.scenario.study import StudyScenario, is_study

__all__ = [
    "Scenario",
    "StudyScenario",
    "analyse",
    "calibrate",
    "folder_of",
    "is_study",
    "run",
    "run_samples",
]
