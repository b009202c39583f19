"""The printed formulas of all papers in one list, under the names of their statements.

None of these is used for a verdict: an audit refutes them, or measures how loose they are. Each is
written in the `printed` modules of its paper's folder, whose docstring maps statements to names.
"""

# ruff: noqa: F401 -- `__all__` lists what is imported here

from dpaudit.papers.paper_1.printed import figure_4_padding, lemma_10, lemma_11, proposition_2_sigma
from dpaudit.papers.paper_2.printed import (
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
from dpaudit.papers.paper_3.printed import (
    ada_ssp_deviation,
    after_theorem_1_epsilon,
    corollary_1_epsilon,
    corollary_1_tcdp,
    gaussian_noise_epsilon,
    gaussmix_epsilon,
    gaussmix_gamma,
    lemma_1_renyi,
    linear_mixing_gamma,
    objective_ridge,
    objective_sigma,
    proposition_2,
    sheffet_2017_gamma,
    sheffet_2019,
    sheffet_renyi_gamma,
    theorem_1_epsilon,
)
from dpaudit.papers.paper_4.printed import (
    algorithm_3_dof,
    corollary_b_2_padding,
    corollary_b_2_rows,
    section_2_sigma,
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

__all__ = sorted(name for name, formula in globals().items() if callable(formula))
