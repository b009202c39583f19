"""The four papers' formulas as printed and their algorithms.

`paper_1` to `paper_4` are the papers. The docstring of each has the full citation and a table from
lemma, theorem, algorithm or figure to the function or class. A folder has two kinds of modules:

* `printed`: formulas as printed, named after their statement, such as `theorem_3_1_padding`. No
  verdict rests on them: an audit refutes them, or measures how loose they are.
  `dpaudit.papers.printed` lists those of all papers.
* the algorithms: subclasses of `Algorithm` with the steps as printed, the claim as printed, and the
  exact law of the output where it is known. `PAPERS` has them all by name, and a scenario file
  names them so, as it does the other mechanisms of `REGISTRY`.

Most algorithms have `variant="printed"` and `variant="corrected"`; the attribute `correction` says
what differs. `algorithm` and `data` hold what the papers share. No paper's folder imports another
paper's.
"""

from dpaudit.mechanisms import OWN, LawMechanism
from dpaudit.papers import printed
from dpaudit.papers.algorithm import VARIANTS, Algorithm
from dpaudit.papers.paper_1.least_squares import GaussianMechanismLS, RandomProjectionLS
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
)
from dpaudit.papers.paper_3.objective_perturbation import ObjectivePerturbation
from dpaudit.papers.paper_3.sheffet import SheffetOLS, SheffetRenyiOLS
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
