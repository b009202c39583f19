"""Paper 1: Lu, Magdon-Ismail, Wei and Zikas, least squares with random projections.

Yun Lu, Malik Magdon-Ismail, Yu Wei and Vassilis Zikas,
*Privacy-Utility Tradeoff of OLS with Random Projections*, 2023.

What it prints of privacy and noise is in `printed`, its algorithms are in `least_squares`.

| statement | here |
| --- | --- |
| proposition 2, σ of M_{ε,δ} | `printed.proposition_2_sigma`, `least_squares.GaussianMechanismLS` |
| lemma 10, random linear combination | `printed.lemma_10` |
| lemma 11, random projection | `printed.lemma_11` |
| figure 4, RP LS | `printed.figure_4_padding`, `least_squares.RandomProjectionLS` |

What holds as printed is a part of the library:

| statement | there |
| --- | --- |
| definition 1, neighbours | `dpaudit.neighbours.zero_row` |
| figure 1 (algorithm 1), ALS | `dpaudit.mechanisms.ALS` |
| lemmas 1 and 3, asymptotic ALS | `dpaudit.exact.als(..., law="asymptotic")` |
| lemma 2, two Gaussians | `dpaudit.exact.gaussian_pair` |
| proposition 1, Gaussian LS | `dpaudit.mechanisms.GaussianLS`, `dpaudit.exact.gaussian_shift` |
| lemma 4, random linear combination | `dpaudit.mechanisms.RandomLinearCombination` |
| lemma 5, random projection | `dpaudit.mechanisms.RandomProjection` |
| lemmas 4 and 5, the curves | `dpaudit.exact.gaussian_sketch` |

Experiments are studies beside the scenarios, in `scenarios/papers/studies/paper_1`: figure 2 in
`utility`, figure 3 in `spectra`, lemmas 6 and 7 in `outliers`.

No module here imports another paper's folder, and no formula here is used for a verdict.
"""
