"""One run: a scenario file in, draws kept on the way, a folder with the report out."""

from dpaudit.run.execute import analyse, folder_of, run
from dpaudit.run.samples import run_samples
from dpaudit.run.scenario import Scenario

__all__ = ["Scenario", "analyse", "folder_of", "run", "run_samples"]
