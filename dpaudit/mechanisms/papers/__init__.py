"""The algorithm boxes of the papers, each with the privacy that is printed for it: `PAPERS` by name."""

from dpaudit.mechanisms.papers.ada_ssp import AdaSSP
from dpaudit.mechanisms.papers.algorithm import VARIANTS, Algorithm
from dpaudit.mechanisms.papers.analyze_gauss import AnalyzeGaussNoise, NoisyInverse
from dpaudit.mechanisms.papers.gradient_descent import DPGD
from dpaudit.mechanisms.papers.inverse_wishart import AdaptiveInverseWishart, InverseWishartPosterior
from dpaudit.mechanisms.papers.johnson_lindenstrauss import AdaptiveJLRidge, JLRidge
from dpaudit.mechanisms.papers.least_squares import GaussianMechanismLS, RandomProjectionLS
from dpaudit.mechanisms.papers.linear_mixing import LinearMixing
from dpaudit.mechanisms.papers.logistic_mixing import LogisticMixing
from dpaudit.mechanisms.papers.mixing import CalibratedGaussMix
from dpaudit.mechanisms.papers.modified_mixing import ModifiedGaussMix
from dpaudit.mechanisms.papers.objective_perturbation import ObjectivePerturbation
from dpaudit.mechanisms.papers.practical_ridge import PracticalDPRR
from dpaudit.mechanisms.papers.sheffet import SheffetOLS, SheffetRenyiOLS
from dpaudit.mechanisms.papers.truncated_glm import DPLR, PMTGLM, PMTLR
from dpaudit.mechanisms.papers.truncated_ridge import DPRR, PMTRR
from dpaudit.mechanisms.papers.truncation import PMT
from dpaudit.mechanisms.papers.wishart_noise import AdditiveWishartNoise

PAPERS: dict[str, type[Algorithm]] = {
    mechanism.__name__: mechanism
    for mechanism in (
        GaussianMechanismLS,
        RandomProjectionLS,
        PMT,
        PMTRR,
        DPRR,
        PracticalDPRR,
        PMTLR,
        PMTGLM,
        DPLR,
        DPGD,
        CalibratedGaussMix,
        ModifiedGaussMix,
        LinearMixing,
        AdaSSP,
        SheffetOLS,
        SheffetRenyiOLS,
        LogisticMixing,
        ObjectivePerturbation,
        AnalyzeGaussNoise,
        JLRidge,
        AdaptiveJLRidge,
        AdditiveWishartNoise,
        InverseWishartPosterior,
        AdaptiveInverseWishart,
        NoisyInverse,
    )
}

__all__ = [
    "DPGD",
    "DPLR",
    "DPRR",
    "PAPERS",
    "PMT",
    "PMTGLM",
    "PMTLR",
    "PMTRR",
    "VARIANTS",
    "AdaSSP",
    "AdaptiveInverseWishart",
    "AdaptiveJLRidge",
    "AdditiveWishartNoise",
    "Algorithm",
    "AnalyzeGaussNoise",
    "CalibratedGaussMix",
    "GaussianMechanismLS",
    "InverseWishartPosterior",
    "JLRidge",
    "LinearMixing",
    "LogisticMixing",
    "ModifiedGaussMix",
    "NoisyInverse",
    "ObjectivePerturbation",
    "PracticalDPRR",
    "RandomProjectionLS",
    "SheffetOLS",
    "SheffetRenyiOLS",
]
