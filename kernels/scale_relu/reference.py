"""Scale, shift and clip at zero in float64."""

import numpy as np


def reference(arrays: dict[str, np.ndarray], scalars: dict[str, float]) -> dict[str, np.ndarray]:
    """`y` of shape (n,) from `x` of shape (n,): NaN stays NaN."""
    scaled = arrays["x"].astype(np.float64) * scalars["gain"] + scalars["shift"]
    return {"y": np.where(scaled < 0, 0.0, scaled)}
