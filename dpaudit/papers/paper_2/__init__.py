"""Paper 2: Cao, Bi and Zhang, truncation by public second moments.

Zilong Cao, Xuan Bi and Hai Zhang,
*Differentially Private Truncation of Unbounded Data via Public Second Moments*, 2026.

The paper's formulas for radii and noise are in `dpaudit.papers.printed`, named after their
statements. This table lists its algorithms:

| statement | formulas in `printed` | algorithm |
| --- | --- | --- |
| algorithm 1 (PMT) | `algorithm_1_radius` | `truncation.PMT`; cutting alone: `PMT.truncated` |
| theorem 3.2 | `theorem_3_2_sigma`, `theorem_3_2_norm` | `truncation.PMT` |
| algorithm 2 (DP-PMTRR), theorem 4.2 | `algorithm_2_sigmas` | `ridge.PMTRR` |
| theorem 4.3 (DP-RR) | `theorem_4_3_radius`, `theorem_4_3_sigmas` | `ridge.DPRR` |
| remark 4.4 | `remark_4_4_label_radius`, `remark_4_4_sigmas` | `ridge.PracticalDPRR` |
| algorithm 3 (DP-PMTLR), theorem 5.2 | `algorithm_3_sigmas` | `newton.PMTLR` |
| algorithm 4 (DP-PMTGLM), theorem 5.5 | `algorithm_4_sigmas` | `newton.PMTGLM` |
| algorithm 5 (DP-LR), theorem 5.4 | `algorithm_5_sigmas` | `newton.DPLR` |
| section 6, DP-GD (2023) | `gradient_descent_sigma` | `gradient_descent.DPGD` |

DP-GD, by Avella-Medina, Bradshaw & Loh, is the baseline with which the paper compares.

The paper's experiments are repeated in `scenarios/papers/studies/paper_2`: figures 1, 2, 4 and 5 in
`ridge`, figures 7 and 9 in `logistic`.
"""
