"""Paper 3: Lev et al., the Gaussian mixing mechanism.

Omri Lev, Vishwak Srinivasan, Moshe Shenfeld, Katrina Ligett, Ayush Sekhari and Ashia
C. Wilson, *The Gaussian Mixing Mechanism: Rényi Differential Privacy via Gaussian Sketches*, 2025.

The privacy that it prints for Gaussian mixing is in `printed`; how its algorithms set their noise
is in `printed_calibration`.

| statement | formula |
| --- | --- |
| lemma 1 | `printed.lemma_1_renyi` |
| lemma 1 with proposition 1 | `printed.gaussmix_epsilon`, `printed_calibration.gaussmix_gamma` |
| proposition 1 | `dpaudit.curves.renyi.RenyiCurve.by_moments` |
| corollary 1, and the ε below it | `printed.corollary_1_tcdp`, `printed.corollary_1_epsilon` |
| proposition 2 | `printed.proposition_2` |
| Sheffet 2019, theorem 2, as quoted | `printed.sheffet_2019` |
| theorem 1 | `printed_calibration.theorem_1_epsilon` |
| the ε printed below theorem 1 | `printed_calibration.after_theorem_1_epsilon` |
| section 3, Gaussian noise alone | `printed_calibration.gaussian_noise_epsilon` |
| figure 1 | `required_gamma.gammas` |

| algorithm | class | noise, in `printed_calibration` |
| --- | --- | --- |
| GaussMix (section 4) | `gauss_mix.CalibratedGaussMix` | `gaussmix_gamma` |
| algorithm 1 | `modified_gauss_mix.ModifiedGaussMix` | `theorem_1_epsilon` |
| algorithm 2, theorem 2 | `linear_mixing.LinearMixing` | `linear_mixing_gamma` |
| algorithm 3 | `ada_ssp.AdaSSP` | `ada_ssp_deviation` |
| algorithm 4 | `sheffet.SheffetOLS` | `sheffet_2017_gamma` |
| algorithm 5 | `sheffet.SheffetRenyiOLS` | `sheffet_renyi_gamma` |
| algorithm 6 | `objective_perturbation.ObjectivePerturbation` | `objective_sigma`, `_ridge` |
| section 5.2, appendix G | `logistic_mixing.LogisticMixing` | `linear_mixing_gamma` |

`noisy_sketch` draws the sketches that the algorithms share, `zeroed_row` has the exact loss of one
zeroed row of them, and `extreme_pairs` the pairs of databases on which they are audited.

Experiments are studies beside the scenarios, in `scenarios/papers/studies/paper_3`: figure 1 in
`bounds`, figures 2 and 4 in `regression`, figures 3 and 5 in `logistic`.

No module here imports another paper's folder, and no formula here is used for a verdict.
"""
