"""The lanes' values: NumPy arrays over (blocks, threads), kept as small as what they depend on.

A register holds unsigned integers of its width (bool for a predicate) in an array of shape (1, 1), (1, T), (B, 1)
or (B, T), or a `Sum`, which stands for `block part + thread part` without being worked out. Addresses are nearly
always such sums, so that a pattern over the threads is worked out once and serves every block and loop trip.
"""

from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[Any]
UNSIGNED: dict[int, np.dtype[Any]] = {width: np.dtype(f"u{width}") for width in (1, 2, 4, 8)}
SIGNED: dict[int, np.dtype[Any]] = {width: np.dtype(f"i{width}") for width in (1, 2, 4, 8)}


class Sum:
    """`block + thread`, modulo the width: block of shape (1, 1) or (B, 1), thread of shape (1, T)."""

    __slots__ = ("_full", "_residue", "block", "dtype", "thread")

    def __init__(self, block: Bits, thread: Bits) -> None:
        self.block, self.thread = block, thread
        self.dtype = block.dtype
        self._full: Bits | None = None
        self._residue = -2

    def residue(self) -> int:
        """The block part modulo 32 where all blocks have the same, else -1."""
        if self._residue == -2:
            block = self.block
            if block.size == 1:
                self._residue = int(block[0, 0]) & 31
            else:
                low = block & block.dtype.type(31)
                first = low[0, 0]
                self._residue = int(first) if bool((low == first).all()) else -1
        return self._residue

    def full(self) -> Bits:
        if self._full is None:
            self._full = np.add(self.block, self.thread)
        return self._full


Value = Bits | Sum


def full(value: Value) -> Bits:
    """The value as one array."""
    return value.full() if isinstance(value, Sum) else value


def is_sum(value: Value) -> TypeGuard[Sum]:
    return value.__class__ is Sum


class _Memo:
    """Results on thread parts, so that equal work gives the same object (which later look-ups recognise)."""

    def __init__(self, limit: int = 2048) -> None:
        self.entries: dict[tuple[int, int, str], tuple[Bits, Bits, Bits]] = {}
        self.limit = limit

    def get(self, what: str, a: Bits, b: Bits) -> Bits:
        key = (id(a), id(b), what)
        found = self.entries.get(key)
        if found is not None:
            return found[2]
        match what:
            case "+":
                result = np.add(a, b)
            case "-":
                result = np.subtract(a, b)
            case "*":
                result = np.multiply(a, b)
            case "<<":
                result = shifted_left(a, b)
            case _:
                result = a.view(SIGNED[a.dtype.itemsize]).astype(np.int64).view(np.uint64)
        if len(self.entries) >= self.limit:
            self.entries.clear()
        self.entries[key] = (a, b, result)
        return result

    def clear(self) -> None:
        self.entries.clear()


MEMO = _Memo()


def _thread_only(value: Bits) -> bool:
    return bool(value.shape[0] == 1 and value.shape[1] > 1)


def _block_only(value: Bits) -> bool:
    return bool(value.shape[1] == 1)


def add(a: Value, b: Value) -> Value:
    """a + b modulo the width; stays a Sum wherever it can."""
    if a.__class__ is Sum or b.__class__ is Sum:
        return _add_sum(a, b)
    assert isinstance(a, np.ndarray)
    assert isinstance(b, np.ndarray)
    if a.shape == b.shape:
        return np.add(a, b)
    if _block_only(a) and _thread_only(b):
        return Sum(a, b)
    if _block_only(b) and _thread_only(a):
        return Sum(b, a)
    return np.add(a, b)


def _add_sum(a: Value, b: Value) -> Value:
    if not is_sum(a):
        a, b = b, a
    assert is_sum(a)
    if is_sum(b):
        return Sum(np.add(a.block, b.block), MEMO.get("+", a.thread, b.thread))
    assert isinstance(b, np.ndarray)
    if _block_only(b):
        return Sum(np.add(a.block, b), a.thread)
    if _thread_only(b):
        return Sum(a.block, MEMO.get("+", a.thread, b))
    return np.add(a.full(), b)


def subtract(a: Value, b: Value) -> Value:
    """a - b modulo the width."""
    if not is_sum(a) and not is_sum(b):
        assert isinstance(a, np.ndarray)
        assert isinstance(b, np.ndarray)
        if a.shape != b.shape and _thread_only(a) and _block_only(b):
            return Sum(np.negative(b), a)
        return np.subtract(a, b)
    if is_sum(a) and is_sum(b):
        return Sum(np.subtract(a.block, b.block), MEMO.get("-", a.thread, b.thread))
    if is_sum(a):
        assert isinstance(b, np.ndarray)
        if _block_only(b):
            return Sum(np.subtract(a.block, b), a.thread)
        if _thread_only(b):
            return Sum(a.block, MEMO.get("-", a.thread, b))
        return np.subtract(a.full(), b)
    return np.subtract(full(a), full(b))


def multiply(a: Value, b: Value) -> Value:
    """a * b modulo the width; a Sum times a uniform value stays one."""
    if is_sum(b):
        a, b = b, a
    if is_sum(a):
        if isinstance(b, np.ndarray) and b.shape == (1, 1):
            return Sum(np.multiply(a.block, b), MEMO.get("*", a.thread, b))
        return np.multiply(a.full(), full(b))
    assert isinstance(a, np.ndarray)
    return np.multiply(a, full(b))


def shifted_left(a: Bits, b: Bits) -> Bits:
    """a << b where a shift by the width or more gives 0 (PTX clamps the amount)."""
    bits = 8 * a.dtype.itemsize
    amount = b.astype(a.dtype, copy=False)
    if b.size == 1:
        return np.left_shift(a, amount) if int(b.flat[0]) < bits else np.zeros_like(a)
    return np.where(b < bits, np.left_shift(a, np.minimum(amount, bits - 1)), 0).astype(a.dtype, copy=False)


def shift_left(a: Value, b: Value) -> Value:
    """a << b; a Sum shifted by a uniform amount stays one."""
    if is_sum(a) and isinstance(b, np.ndarray) and b.shape == (1, 1):
        return Sum(shifted_left(a.block, b), MEMO.get("<<", a.thread, b))
    return shifted_left(full(a), full(b))


def _part_range(part: Bits, signed: bool) -> tuple[int, int]:
    if part.size == 1:
        value = int(part.flat[0])
        if signed and value >> (8 * part.dtype.itemsize - 1):
            value -= 1 << (8 * part.dtype.itemsize)
        return value, value
    seen = part.view(SIGNED[part.dtype.itemsize]) if signed else part
    return int(seen.min()), int(seen.max())


def range_of(value: Value, signed: bool) -> tuple[int, int] | None:
    """Bounds of the value read as signed or unsigned; None where the sum may wrap."""
    if not is_sum(value):
        assert isinstance(value, np.ndarray)
        return _part_range(value, signed)
    bits = 8 * value.dtype.itemsize
    low_block, high_block = _part_range(value.block, True)
    low_thread, high_thread = _part_range(value.thread, True)
    low, high = low_block + low_thread, high_block + high_thread
    if low < -(1 << (bits - 1)) or high >= 1 << (bits - 1) or (low < 0 and not signed):
        return None
    return low, high


def widen(value: Value, signed: bool) -> Value:
    """A 32-bit value as 64 bits; a Sum stays one where it cannot wrap."""
    if is_sum(value):
        if range_of(value, signed) is not None:
            block = value.block.view(np.int32).astype(np.int64).view(np.uint64)
            return Sum(block, MEMO.get("widen", value.thread, value.thread))
        value = value.full()
    assert isinstance(value, np.ndarray)
    size = value.dtype.itemsize
    if signed:
        return value.view(SIGNED[size]).astype(np.int64).view(np.uint64)
    return value.astype(np.uint64)


def choose(mask: Bits, new: Value, old: Value) -> Value:
    """`new` where the mask holds, `old` elsewhere."""
    if new is old:
        return new
    return np.where(mask, full(new), full(old))
