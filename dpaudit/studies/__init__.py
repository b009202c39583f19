"""Experiments of the papers redone: `STUDIES` by name, each run by a scenario file with a [study] table."""

from dpaudit.studies.content import Content, Line, Panel, Table
from dpaudit.studies.study import Progress, Study

STUDIES: dict[str, type[Study]] = {}

__all__ = ["STUDIES", "Content", "Line", "Panel", "Progress", "Study", "Table"]
