"""Sixty-four rounds of group sums in 32-bit arithmetic."""

import numpy as np

ROUNDS = 64
GROUP = 32


def reference(arrays: dict[str, np.ndarray], scalars: dict[str, float]) -> dict[str, np.ndarray]:
    """`out` of shape (n,) from `in` of shape (n,): groups of 32, the last one filled up with zeros."""
    values = arrays["in"].astype(np.int64)
    padded = np.zeros(-(-values.size // GROUP) * GROUP, np.int64)
    padded[: values.size] = values
    groups = padded.reshape(-1, GROUP)
    for k in range(ROUNDS):
        totals = groups.sum(axis=1, keepdims=True)
        groups = groups ^ ((totals + k) & 0xFFFFFFFF)
    return {"out": groups.reshape(-1)[: values.size]}
