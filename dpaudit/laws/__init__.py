"""Output laws. A mechanism maps a database to a law; sampling and exact spectra need nothing else of it."""

from dpaudit.laws.base import CHUNK, Law, log_ratio
from dpaudit.laws.families import ComposedRows, ScaleRows, ShiftRows, SketchRows, StudentRows, WishartRows, ZeroedRows
from dpaudit.laws.matrices import GaussianRows, InverseWishart, ShiftedWishart, bartlett
from dpaudit.laws.vectors import Gaussian, GaussianNoise, Product, StudentT

__all__ = [
    "CHUNK",
    "ComposedRows",
    "Gaussian",
    "GaussianNoise",
    "GaussianRows",
    "InverseWishart",
    "Law",
    "Product",
    "ScaleRows",
    "ShiftRows",
    "ShiftedWishart",
    "SketchRows",
    "StudentRows",
    "StudentT",
    "WishartRows",
    "ZeroedRows",
    "bartlett",
    "log_ratio",
]
