"""Experiments of the papers redone: `STUDIES` by name, each run by a scenario file with a [study] table."""

from dpaudit.studies.content import Content, Line, Panel, Table
from dpaudit.studies.public_logistic import RealLogistic, SimulatedLogistic
from dpaudit.studies.public_moments import RealRidge, RealRidgePrivacy, SimulatedRidge, SimulatedRidgePrivacy
from dpaudit.studies.study import Progress, Study

STUDIES: dict[str, type[Study]] = {
    "figure-1-paper-2": SimulatedRidge,
    "figure-2-paper-2": SimulatedRidgePrivacy,
    "figure-4-paper-2": RealRidge,
    "figure-5-paper-2": RealRidgePrivacy,
    "figure-7-paper-2": SimulatedLogistic,
    "figure-9-paper-2": RealLogistic,
}

__all__ = ["STUDIES", "Content", "Line", "Panel", "Progress", "Study", "Table"]
