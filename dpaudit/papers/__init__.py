"""The four papers' formulas as printed and their algorithms.

`printed` has the formulas, named after their statements, such as `theorem_3_1_padding`. No verdict
rests on them: an audit refutes them, or measures how loose they are.

`paper_1` to `paper_4` have the algorithms: subclasses of `Algorithm` with the steps as printed, the
claim as printed, and the exact law of the output where it is known. The docstring of each has the
full citation and a table from lemma, theorem, algorithm or figure to the function or class. Most
algorithms have `variant="printed"` and `variant="corrected"`; the attribute `correction` says what
differs. No paper imports another one. `PAPERS` has all algorithms by name, and a scenario file
names them so, as it does the other mechanisms of `REGISTRY`.
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
