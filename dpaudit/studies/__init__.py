"""Experiments of the papers redone: `STUDIES` by name, each run by a scenario file with a [study] table."""

from dpaudit.studies.content import Content, Line, Panel, Table
from dpaudit.studies.mixing import MixingBounds
from dpaudit.studies.mixing_logistic import MixingLogistic
from dpaudit.studies.mixing_regression import MixingRegression
from dpaudit.studies.outliers import OutlierStudy
from dpaudit.studies.public_logistic import RealLogistic, SimulatedLogistic
from dpaudit.studies.public_moments import RealRidge, RealRidgePrivacy, SimulatedRidge, SimulatedRidgePrivacy
from dpaudit.studies.second_moments import SeveralRegressions, SingleRegression
from dpaudit.studies.spectra import SpectrumStudy
from dpaudit.studies.study import Progress, Study
from dpaudit.studies.utility import UtilityStudy

STUDIES: dict[str, type[Study]] = {
    "figure-2-paper-1": UtilityStudy,
    "figure-3-paper-1": SpectrumStudy,
    "lemma-7-paper-1": OutlierStudy,
    "figure-1-paper-2": SimulatedRidge,
    "figure-2-paper-2": SimulatedRidgePrivacy,
    "figure-4-paper-2": RealRidge,
    "figure-5-paper-2": RealRidgePrivacy,
    "figure-7-paper-2": SimulatedLogistic,
    "figure-9-paper-2": RealLogistic,
    "figure-1-paper-3": MixingBounds,
    "figure-2-paper-3": MixingRegression,
    "figure-3-paper-3": MixingLogistic,
    "figures-1-to-4-paper-4": SingleRegression,
    "figures-5-and-6-paper-4": SeveralRegressions,
}

__all__ = ["STUDIES", "Content", "Line", "Panel", "Progress", "Study", "Table"]
