"""Row layer norm in float64."""

import numpy as np


def reference(arrays: dict[str, np.ndarray], scalars: dict[str, float]) -> dict[str, np.ndarray]:
    """`y` of shape (rows, cols) from `x` of the same shape, `gamma` and `beta` of shape (cols,)."""
    x = arrays["x"].astype(np.float64)
    with np.errstate(invalid="ignore"):
        centred = x - x.mean(axis=1, keepdims=True)
        variance = (centred**2).mean(axis=1, keepdims=True)
        scaled = centred / np.sqrt(variance + scalars["epsilon"]) * arrays["gamma"].astype(np.float64)
    return {"y": scaled + arrays["beta"].astype(np.float64)}
