"""What opendp releases in the audits that are not public, as mechanisms."""

from __future__ import annotations

from typing import Any

import numpy as np
from opendp_calls import released


@released
def components(dp: Any, data: Any, values: float, vector: float, features: int) -> Any:
    """make_private_pca with one component: sizes of its entries, and the singular values.

    Rows of norm at most 1 around a known origin, filled up with zeros to `features`; n is public.
    values, vector : ε of the eigenvalues, and of the first eigenvector.
    """
    from opendp.extras.sklearn.decomposition import PCAEpsilons, make_private_pca

    X = np.pad(data, ((0, 0), (0, features - data.shape[1])))
    bound = {"norm": 1.0, "p": 2, "origin": 0.0}
    domain = dp.numpy.array2_domain(**bound, num_columns=features, size=len(X), T=float)
    spent = PCAEpsilons(eigvals=values, eigvecs=[vector], mean=None)
    made = make_private_pca(domain, dp.symmetric_distance(), spent, num_components=1)
    return made >> (lambda found: np.r_[np.abs(found.Vt[0]), found.S]), X, 2
