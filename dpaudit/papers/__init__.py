"""The formulas and the algorithms of four papers, as they are printed.

`printed` has the formulas, named after their statements, such as `theorem_3_1_padding`. No verdict
relies on them: audits refute them or measure how loose they are.

`paper_1` to `paper_4` have the algorithms: subclasses of `Algorithm` with the steps as printed, the
claim as printed, and the exact law of the output where it is known. Most have `variant="printed"`
and `variant="corrected"`. No paper's module imports another paper's. `PAPERS` maps names to
algorithms, `REGISTRY` the names that a scenario file may use to all mechanisms; docs/papers.md has
a table of them.
"""

from dpaudit.mechanisms import OWN, LawMechanism
from dpaudit.papers import printed
from dpaudit.papers.algorithm import VARIANTS, Algorithm
from dpaudit.papers.paper_1 import GaussianMechanismLS, RandomProjectionLS
from dpaudit.papers.paper_2.gradient_descent import DPGD
from dpaudit.papers.paper_2.newton import DPLR, PMTGLM, PMTLR
from dpaudit.papers.paper_2.ridge import DPRR, PMTRR, PracticalDPRR
from dpaudit.papers.paper_2.truncation import PMT
from dpaudit.papers.paper_3.ada_ssp import AdaSSP
from dpaudit.papers.paper_3.mixing import (
    CalibratedGaussMix,
    LinearMixing,
    LogisticMixing,
    ModifiedGaussMix,
    SheffetOLS,
    SheffetRenyiOLS,
)
from dpaudit.papers.paper_3.objective_perturbation import ObjectivePerturbation
from dpaudit.papers.paper_4.additive_noise import (
    AdditiveWishartNoise,
    AnalyzeGaussNoise,
    NoisyInverse,
)
from dpaudit.papers.paper_4.scatter_draws import (
    AdaptiveInverseWishart,
    AdaptiveJLRidge,
    InverseWishartPosterior,
    JLRidge,
)

PAPERS: dict[str, type[Algorithm]] = {
    kind.__name__: kind
    for kind in (
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
REGISTRY: dict[str, type[LawMechanism]] = {**{kind.__name__: kind for kind in OWN}, **PAPERS}

__all__ = ["PAPERS", "REGISTRY", "VARIANTS", "Algorithm", "printed", *PAPERS]
