"""The figure of a search for neighbours."""

from dpaudit.report.search.figure import plot_trials

__all__ = ["plot_trials"]
