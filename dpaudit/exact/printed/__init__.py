"""Formulas of the papers as printed, under their own names and numbers.

None of these is used for a verdict. Each is here so that an audit can refute it, or measure how loose it is.
"""

from dpaudit.exact.printed.mixing import (
    corollary_1_epsilon,
    corollary_1_tcdp,
    gaussmix_epsilon,
    lemma_1_renyi,
    proposition_2,
    sheffet_2019,
)
from dpaudit.exact.printed.moments import (
    corollary_b_2_padding,
    theorem_3_1_padding,
    theorem_4_1_dof,
    theorem_4_1_scale,
    theorem_5_1_padding,
    theorem_b_1_padding,
    theorem_b_3_dof,
    theorem_b_3_scale,
    theorem_b_4_padding,
    theorem_b_5_sigma,
)
from dpaudit.exact.printed.projections import figure_4_padding, lemma_10, lemma_11, proposition_2_sigma

__all__ = [
    "corollary_1_epsilon",
    "corollary_1_tcdp",
    "corollary_b_2_padding",
    "figure_4_padding",
    "gaussmix_epsilon",
    "lemma_1_renyi",
    "lemma_10",
    "lemma_11",
    "proposition_2",
    "proposition_2_sigma",
    "sheffet_2019",
    "theorem_3_1_padding",
    "theorem_4_1_dof",
    "theorem_4_1_scale",
    "theorem_5_1_padding",
    "theorem_b_1_padding",
    "theorem_b_3_dof",
    "theorem_b_3_scale",
    "theorem_b_4_padding",
    "theorem_b_5_sigma",
]
