"""The copy: the trips through the tile change nothing."""

import numpy as np


def reference(arrays: dict[str, np.ndarray], scalars: dict[str, float]) -> dict[str, np.ndarray]:
    """`dst` of shape (height, width), equal to `src`."""
    return {"dst": arrays["src"].astype(np.float64)}
