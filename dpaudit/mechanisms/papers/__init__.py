"""The algorithm boxes of the papers, each with the privacy that is printed for it: `PAPERS` by name."""

from dpaudit.mechanisms.papers.algorithm import VARIANTS, Algorithm

PAPERS: dict[str, type[Algorithm]] = {}

__all__ = ["PAPERS", "VARIANTS", "Algorithm"]
