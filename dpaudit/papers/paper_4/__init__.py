"""Paper 4: Sheffet, private approximations of the second-moment matrix.

Or Sheffet, *Private Approximations of the 2nd-Moment Matrix Using Existing Techniques in Linear
Regression*, 2018.

`additive_noise` has the algorithms that add noise, `scatter_draws` the draws about the matrix,
`matrix_release` what they share. The experiments are repeated in
`scenarios/papers/studies/paper_4`: figures 1 to 6 in `regressions`.
"""
