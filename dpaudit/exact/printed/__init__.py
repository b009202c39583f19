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
from dpaudit.exact.printed.truncation import (
    algorithm_1_radius,
    algorithm_2_sigmas,
    algorithm_3_sigmas,
    algorithm_4_sigmas,
    algorithm_5_sigmas,
    gradient_descent_sigma,
    remark_4_4_label_radius,
    remark_4_4_sigmas,
    theorem_3_2_norm,
    theorem_3_2_sigma,
    theorem_4_3_radius,
    theorem_4_3_sigmas,
)

__all__ = [
    "algorithm_1_radius",
    "algorithm_2_sigmas",
    "algorithm_3_sigmas",
    "algorithm_4_sigmas",
    "algorithm_5_sigmas",
    "corollary_1_epsilon",
    "corollary_1_tcdp",
    "corollary_b_2_padding",
    "figure_4_padding",
    "gaussmix_epsilon",
    "gradient_descent_sigma",
    "lemma_1_renyi",
    "lemma_10",
    "lemma_11",
    "proposition_2",
    "proposition_2_sigma",
    "remark_4_4_label_radius",
    "remark_4_4_sigmas",
    "sheffet_2019",
    "theorem_3_1_padding",
    "theorem_3_2_norm",
    "theorem_3_2_sigma",
    "theorem_4_1_dof",
    "theorem_4_1_scale",
    "theorem_4_3_radius",
    "theorem_4_3_sigmas",
    "theorem_5_1_padding",
    "theorem_b_1_padding",
    "theorem_b_3_dof",
    "theorem_b_3_scale",
    "theorem_b_4_padding",
    "theorem_b_5_sigma",
]
