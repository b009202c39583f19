"""Paper 3: Lev et al., the Gaussian mixing mechanism.

Omri Lev, Vishwak Srinivasan, Moshe Shenfeld, Katrina Ligett, Ayush Sekhari and Ashia C. Wilson,
*The Gaussian Mixing Mechanism: Rényi Differential Privacy via Gaussian Sketches*, 2025.

`mixing` has GaussMix and the regressions on it, `sketches` their draws and the exact privacy loss
of a zeroed row, `ada_ssp` and `objective_perturbation` the algorithms of others. Proposition 1 is
`dpaudit.curves.renyi.RenyiCurve.by_moments`. The experiments are repeated in
`scenarios/papers/studies/paper_3`: figure 1 in `bounds`, figures 2 and 4 in `regression`, figures 3
and 5 in `logistic`.
"""
