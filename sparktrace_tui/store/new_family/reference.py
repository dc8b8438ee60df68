"""What every variant must compute, in float64."""

import numpy as np


def reference(arrays: dict[str, np.ndarray], scalars: dict[str, float]) -> dict[str, np.ndarray]:
    """`out` of shape (n,) from `in` of the same shape."""
    return {"out": arrays["in"].astype(np.float64) * scalars["factor"]}
