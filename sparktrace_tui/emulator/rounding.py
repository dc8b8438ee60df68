"""Exact floating-point building blocks: fused multiply-add, directed roundings, halves and bfloats.

`s + e` below is a double and its exact remainder (the two-sum of Knuth and Dekker). Rounding to odd first and to
nearest afterwards gives the singly rounded result (Boldo and Melquiond, "Emulation of FMA and correctly rounded
sums", IEEE Transactions on Computers 57(4), 2008), given two spare bits.
"""

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """The rounded sum and what it misses."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def odd_sum(a: Any, b: Any) -> Any:
    """a + b in double, rounded to odd: inexact results get a last bit of 1."""
    s, e = two_sum(np.asarray(a, np.float64), np.asarray(b, np.float64))
    return to_odd(s, e)


def to_odd(s: Any, e: Any) -> Any:
    """The double s with remainder e, rounded to odd."""
    s = np.ascontiguousarray(s, np.float64)
    e = np.broadcast_to(e, s.shape)
    bits = s.view(np.int64)
    fix = (e != 0) & np.isfinite(s) & (bits & 1 == 0) & ~np.isnan(e)
    step = np.where((e > 0) == (s > 0), 1, -1)
    zero = fix & (s == 0)
    moved = np.where(fix & ~zero, bits + step, bits).view(np.float64)
    return np.where(zero, e, moved)


def fma32(a: npt.NDArray[np.float32], b: npt.NDArray[np.float32], c: npt.NDArray[np.float32]) -> Any:
    """a * b + c with one rounding: the product is exact in double, the sum is rounded to odd."""
    return odd_sum(a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)).astype(np.float32)


_SPLIT = 134217729.0


def two_product(a: F64, b: F64) -> tuple[F64, F64]:
    """The rounded product and what it misses (Dekker, by splitting)."""
    p = a * b
    t = _SPLIT * a
    ah = t - (t - a)
    al = a - ah
    t = _SPLIT * b
    bh = t - (t - b)
    bl = b - bh
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


def fma64(a: F64, b: F64, c: F64) -> F64:
    """a * b + c in double with one rounding; lanes near overflow or underflow are worked out in fractions."""
    a, b, c = np.broadcast_arrays(a, b, c)
    uh, ul = two_product(a, b)
    th, tl = two_sum(c, ul)
    vh, vl = two_sum(uh, th)
    result = np.array(vh + odd_sum(tl, vl))
    plain = a * b + c
    size = np.maximum(np.abs(a), np.abs(b))
    risky = (size > 1e150) | ((np.abs(uh) < 1e-280) & (a != 0) & (b != 0)) | (np.abs(c) > 1e300)
    nonfinite = ~np.isfinite(plain) & ~(np.isfinite(a) & np.isfinite(b) & np.isfinite(c))
    exact_zero = (a == 0) | (b == 0)
    result = np.where(nonfinite | exact_zero, plain, result)
    for place in zip(*np.nonzero(risky & ~nonfinite & ~exact_zero), strict=True):
        result[place] = _fraction_fma(float(a[place]), float(b[place]), float(c[place]))
    return result


def _fraction_fma(a: float, b: float, c: float) -> float:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c
    try:
        return float(exact)
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")


def directed(s: Any, e: Any, mode: str, kind: type[np.floating[Any]]) -> Any:
    """The exact value s + e as `kind` (float32 or float16), rounded by `rn`, `rz`, `rm` (down) or `rp` (up)."""
    odd = to_odd(s, e)
    near = odd.astype(kind)
    if mode == "rn":
        return near
    back = near.astype(np.float64)
    above, below = back > odd, back < odd
    infinity = kind(np.inf)
    match mode:
        case "rz":
            down, up = above & (odd > 0), below & (odd < 0)
        case "rm":
            down, up = above, np.zeros_like(above)
        case _:
            down, up = np.zeros_like(above), below
    result = np.where(down, np.nextafter(near, -infinity), near)
    return np.where(up, np.nextafter(result, infinity), result).astype(kind)


def bf16_of(values: Any, mode: str = "rn") -> npt.NDArray[np.uint16]:
    """Doubles as bfloat16 bits, rounded once."""
    values = np.asarray(values, np.float64)
    near = values.astype(np.float32)
    bits = near.view(np.uint32)
    back = near.astype(np.float64)
    inexact = (back != values) & np.isfinite(values) & ~np.isnan(values)
    toward = np.abs(back) > np.abs(values)
    bits = np.where(inexact & toward, bits - np.uint32(1), bits) | inexact.astype(np.uint32)
    kept = (bits >> np.uint32(16)).astype(np.uint32)
    rest = bits & np.uint32(0xFFFF)
    negative = (bits >> np.uint32(31)).astype(bool)
    match mode:
        case "rn":
            up = (rest > 0x8000) | ((rest == 0x8000) & (kept & np.uint32(1) != 0))
        case "rz":
            up = np.zeros(rest.shape, bool)
        case "rm":
            up = (rest != 0) & negative
        case _:
            up = (rest != 0) & ~negative
    result = np.where(np.isnan(values), 0x7FFF, kept + up)
    return result.astype(np.uint16)


def bf16_to_f32(bits: npt.NDArray[np.uint16]) -> npt.NDArray[np.float32]:
    """bfloat16 bits as floats."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def flush32(values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Subnormal floats as zeros of their sign."""
    small = np.abs(values) < np.float32(1.1754944e-38)
    return np.where(small, np.copysign(np.float32(0), values), values)
