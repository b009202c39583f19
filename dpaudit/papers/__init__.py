"""The four papers' formulas as printed and their algorithms.

`paper_1` to `paper_4` are the papers. The docstring of each has the full citation and a table from
lemma, theorem, algorithm or figure to the function or class. A folder has two kinds of modules:

* `printed` (in paper 3 also `printed_calibration`): formulas as printed, named after their
  statement, such as `theorem_3_1_padding`. No verdict rests on them: an audit refutes them, or
  measures how loose they are. `dpaudit.papers.printed` lists those of all papers.
* the algorithms: subclasses of `Algorithm` with the steps as printed, the claim as printed, and the
  exact law of the output where it is known. `PAPERS` has them all by name, and a scenario file
  names them so.

Most algorithms have `variant="printed"` and `variant="corrected"`; the attribute `correction` says
what differs. `algorithm`, `joint_spectrum` and `data` hold what the papers share. No paper's folder
imports another paper's.
"""

from dpaudit.papers import printed
from dpaudit.papers.algorithm import VARIANTS, Algorithm
from dpaudit.papers.paper_1.least_squares import GaussianMechanismLS, RandomProjectionLS
from dpaudit.papers.paper_2.gradient_descent import DPGD
from dpaudit.papers.paper_2.practical_ridge import PracticalDPRR
from dpaudit.papers.paper_2.truncated_glm import DPLR, PMTGLM, PMTLR
from dpaudit.papers.paper_2.truncated_ridge import DPRR, PMTRR
from dpaudit.papers.paper_2.truncation import PMT
from dpaudit.papers.paper_3.ada_ssp import AdaSSP
from dpaudit.papers.paper_3.gauss_mix import CalibratedGaussMix
from dpaudit.papers.paper_3.linear_mixing import LinearMixing
from dpaudit.papers.paper_3.logistic_mixing import LogisticMixing
from dpaudit.papers.paper_3.modified_gauss_mix import ModifiedGaussMix
from dpaudit.papers.paper_3.objective_perturbation import ObjectivePerturbation
from dpaudit.papers.paper_3.sheffet import SheffetOLS, SheffetRenyiOLS
from dpaudit.papers.paper_4.additive_wishart import AdditiveWishartNoise
from dpaudit.papers.paper_4.analyze_gauss import AnalyzeGaussNoise, NoisyInverse
from dpaudit.papers.paper_4.inverse_wishart import AdaptiveInverseWishart, InverseWishartPosterior
from dpaudit.papers.paper_4.johnson_lindenstrauss import AdaptiveJLRidge, JLRidge

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
    "printed",
]
