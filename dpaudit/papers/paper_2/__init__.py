"""Paper 2: Cao, Bi and Zhang, truncation by public second moments.

Zilong Cao, Xuan Bi and Hai Zhang, *Differentially Private Truncation of Unbounded Data via Public
Second Moments*, 2026.

`truncation` has algorithm 1 and what all share, `ridge` the ridge regressions, `newton` generalised
linear models, `gradient_descent` the baseline by Avella-Medina, Bradshaw & Loh. The experiments are
repeated in `scenarios/papers/studies/paper_2`: figures 1, 2, 4 and 5 in `ridge`, figures 7 and 9 in
`logistic`.
"""
