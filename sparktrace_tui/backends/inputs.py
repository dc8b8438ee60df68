"""Draws the contents of a family's arrays from their fills, by seed: the same bytes for every variant and backend."""

import zlib
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sparktrace_tui.domain.kernel.family import Check, Family
from sparktrace_tui.domain.kernel.plan import Array, Fill, Size

AnyArray = npt.NDArray[np.generic]

NUMPY_DTYPES: Mapping[str, np.dtype[np.generic]] = {
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(np.uint16),
    "i32": np.dtype(np.int32),
    "u32": np.dtype(np.uint32),
    "i64": np.dtype(np.int64),
    "u64": np.dtype(np.uint64),
    "i8": np.dtype(np.int8),
    "u8": np.dtype(np.uint8),
}


def draw_arrays(family: Family, size: Size, fills: Mapping[str, Fill], seed: int) -> dict[str, AnyArray]:
    """Every array of the family at one size, C-contiguous, of its dtype (bf16 as uint16 bits)."""
    return {
        name: draw(array, array.resolve_shape(size), fills.get(name, array.fill), seed)
        for name, array in family.arrays.items()
    }


def check_arrays(family: Family, check: Check, seed: int) -> dict[str, AnyArray]:
    """The arrays of one verification."""
    return draw_arrays(family, check.size, check.fills, seed)


def draw(array: Array, shape: tuple[int, ...], fill: Fill, seed: int) -> AnyArray:
    """The contents of one array. Each array has a stream of its own, so that adding one changes no other."""
    rng = np.random.default_rng([seed, zlib.crc32(array.name.encode())])
    values = _values(fill, shape, array.dtype, rng)
    if array.dtype == "bf16":
        return to_bf16(values)
    return np.ascontiguousarray(values.astype(NUMPY_DTYPES[array.dtype]))


def to_bf16(values: AnyArray) -> AnyArray:
    """Float values as bfloat16 bits, rounded to nearest even (NaN kept quiet)."""
    bits = values.astype(np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    nan = np.isnan(values.astype(np.float32))
    return np.where(nan, np.uint32(0x7FC0), rounded).astype(np.uint16)


def from_bf16(bits: AnyArray) -> npt.NDArray[np.float64]:
    """bfloat16 bits as float64 values."""
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def _values(fill: Fill, shape: tuple[int, ...], dtype: str, rng: np.random.Generator) -> AnyArray:
    def number(name: str, default: float) -> float:
        return float(fill.parameters.get(name, default))  # type: ignore[arg-type]

    low, high = number("low", 0.0), number("high", 1.0)
    whole = dtype[0] in "iu"
    match fill.kind:
        case "zeros":
            return np.zeros(shape, NUMPY_DTYPES[dtype])
        case "constant":
            return np.full(shape, number("value", 0.0), np.float64 if not whole else np.int64)
        case "uniform" if not whole:
            return (rng.random(shape, np.float32) * np.float32(high - low) + np.float32(low)).astype(np.float32)
        case "uniform" | "integers":
            return rng.integers(int(low), int(high), shape, np.int64)
        case "normal":
            return rng.normal(number("mean", 0.0), number("std", 1.0), shape)
        case "sequence":
            return (np.arange(int(np.prod(shape))) * number("step", 1.0) + number("start", 0.0)).reshape(shape)
        case "skewed":
            spread = rng.integers(int(low), int(high), shape, np.int64)
            return np.where(rng.random(shape) < number("share", 0.9), int(number("value", low)), spread)
        case "special":
            return _special(shape, low, high, rng, str(fill.parameters.get("values", "all")))
        case _:
            raise ValueError(f"unknown fill {fill.kind!r}")


SPECIAL_VALUES: Mapping[str, tuple[float, ...]] = {
    "all": (np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-40, -1e-40),
    "finite": (-0.0, 0.0, 1e-40, -1e-40),
    "no_nan": (np.inf, -np.inf, -0.0, 0.0, 1e-40, -1e-40),
}


def _special(shape: tuple[int, ...], low: float, high: float, rng: np.random.Generator, values: str) -> AnyArray:
    """Uniform values with special ones at seeded places (about one in eight), and at both ends."""
    result = (rng.random(shape) * (high - low) + low).astype(np.float32)
    flat = result.reshape(-1)
    pool = np.array(SPECIAL_VALUES[values], np.float32)
    places = rng.permutation(flat.size)[: max(1, flat.size // 8)]
    flat[places] = pool[np.arange(places.size) % pool.size]
    if flat.size:
        flat[0], flat[-1] = pool[0], pool[1 % pool.size]
    return result
