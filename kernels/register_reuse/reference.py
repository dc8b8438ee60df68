"""The weighted sum of 64 terms in float64."""

import numpy as np

TERMS = 64


def reference(arrays: dict[str, np.ndarray], scalars: dict[str, float]) -> dict[str, np.ndarray]:
    """`y` of shape (n,) from `x` of shape (n,) and `w` of shape (64,): y = sum over t of w[t] (x + t)."""
    x = arrays["x"].astype(np.float64)
    w = arrays["w"].astype(np.float64)
    total = np.zeros_like(x)
    with np.errstate(invalid="ignore"):
        for t in range(TERMS):
            total += w[t] * (x + t)
    return {"y": total}
