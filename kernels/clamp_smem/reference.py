"""The clamp in float64: NaN stays NaN, infinities become the bounds."""

import numpy as np


def reference(arrays: dict[str, np.ndarray], scalars: dict[str, float]) -> dict[str, np.ndarray]:
    """`out` of shape (height, width) from `in` of the same shape."""
    values = arrays["in"].astype(np.float64)
    low, high = scalars["lo"], scalars["hi"]
    return {"out": np.where(values < low, low, np.where(values > high, high, values))}
