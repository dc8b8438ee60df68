"""Sixteen stages of scale, shift and leaky ReLU in float64."""

import numpy as np

STAGES = 16


def reference(arrays: dict[str, np.ndarray], scalars: dict[str, float]) -> dict[str, np.ndarray]:
    """`to` of shape (n,) from `from` of shape (n,)."""
    values = arrays["from"].astype(np.float64)
    for k in range(STAGES):
        values = values * (1.25 - 0.0625 * k) + (0.125 * k - 0.5)
        values = np.where(values < 0, 0.25 * values, values)
    return {"to": values}
