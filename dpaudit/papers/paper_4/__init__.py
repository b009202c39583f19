"""Paper 4: Sheffet, private approximations of the second-moment matrix.

Or Sheffet,
*Private Approximations of the 2nd-Moment Matrix Using Existing Techniques in Linear Regression*,
2018.

The paper's formulas for padding and noise are in `dpaudit.papers.printed`, named after their
statements. This table lists its algorithms:

| statement | class |
| --- | --- |
| section 2, Analyze Gauss | `additive_noise.AnalyzeGaussNoise` |
| algorithm 1, ridge regression on a sketch | `scatter_draws.JLRidge` |
| algorithm 2, the same with a private σ_min | `scatter_draws.AdaptiveJLRidge` |
| algorithm 3, additive Wishart noise | `additive_noise.AdditiveWishartNoise` |
| algorithm 4, inverse-Wishart posterior | `scatter_draws.InverseWishartPosterior` |
| algorithm 5, the same with a private σ_min | `scatter_draws.AdaptiveInverseWishart` |
| theorem B.5, noise on the inverse | `additive_noise.NoisyInverse` |

| statement | formula in `printed` |
| --- | --- |
| section 2, Analyze Gauss | `section_2_sigma` |
| theorem 3.1 (algorithms 1, 2 and 5) | `theorem_3_1_padding` |
| theorem B.1, corollary B.2 (sketches) | `theorem_b_1_padding`, `corollary_b_2_padding`, `_rows` |
| algorithm 3 | `algorithm_3_dof` |
| theorem 4.1 (Wishart noise) | `theorem_4_1_dof` |
| theorem 5.1 (algorithm 4), theorem B.4 | `theorem_5_1_padding`, `theorem_b_4_padding` |
| theorem B.5 | `theorem_b_5_sigma` |

The steps of algorithms 2 and 5 are missing from our copy of the paper; the docstrings of their
classes say which steps were chosen here.

`matrix_release` has the base class and the functions that the algorithms share.

The paper's experiments are repeated in `scenarios/papers/studies/paper_4`: figures 1 to 6 in
`regressions`.
"""
