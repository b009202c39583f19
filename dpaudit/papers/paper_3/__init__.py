"""Paper 3: Lev et al., the Gaussian mixing mechanism.

Omri Lev, Vishwak Srinivasan, Moshe Shenfeld, Katrina Ligett, Ayush Sekhari and Ashia
C. Wilson, *The Gaussian Mixing Mechanism: Rényi Differential Privacy via Gaussian Sketches*, 2025.

The paper's privacy formulas for Gaussian mixing, and the formulas by which its algorithms set their
noise, are in `dpaudit.papers.printed`.

| statement | formula |
| --- | --- |
| lemma 1 | `printed.lemma_1_renyi` |
| lemma 1 with proposition 1 | `printed.gaussmix_epsilon`, `printed.gaussmix_gamma` |
| proposition 1 | `dpaudit.curves.renyi.RenyiCurve.by_moments` |
| corollary 1, and the ε below it | `printed.corollary_1_tcdp`, `printed.corollary_1_epsilon` |
| Sheffet 2019, theorem 2, as quoted | `printed.sheffet_2019` |
| theorem 1 | `printed.theorem_1_epsilon` |
| the ε printed below theorem 1 | `printed.after_theorem_1_epsilon` |
| figure 1 | `printed.figure_1_gammas` |

| algorithm | class | noise, in `printed` |
| --- | --- | --- |
| GaussMix (section 4) | `mixing.CalibratedGaussMix` | `gaussmix_gamma` |
| algorithm 1 | `mixing.ModifiedGaussMix` | `theorem_1_epsilon` |
| algorithm 2, theorem 2 | `mixing.LinearMixing` | `linear_mixing_gamma` |
| algorithm 3 | `ada_ssp.AdaSSP` | `ada_ssp_deviation` |
| algorithm 4 | `mixing.SheffetOLS` | `sheffet_2017_gamma` |
| algorithm 5 | `mixing.SheffetRenyiOLS` | `sheffet_renyi_gamma` |
| algorithm 6 | `objective_perturbation.ObjectivePerturbation` | `objective_sigma`, `_ridge` |
| section 5.2, appendix G | `mixing.LogisticMixing` | `linear_mixing_gamma` |

`sketches` draws the noisy sketches that several algorithms use. It also computes the exact privacy
loss of a zeroed row, and makes the pairs of databases on which the algorithms are audited.

The paper's experiments are repeated in `scenarios/papers/studies/paper_3`: figure 1 in `bounds`,
figures 2 and 4 in `regression`, figures 3 and 5 in `logistic`.
"""
