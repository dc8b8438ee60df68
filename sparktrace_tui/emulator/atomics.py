"""Read-modify-write on memory cells, one lane after the other in a given order."""

from typing import Any

import numpy as np
import numpy.typing as npt

from sparktrace_tui.emulator.lanes import SIGNED, UNSIGNED, Bits
from sparktrace_tui.emulator.ops import uncovered
from sparktrace_tui.emulator.ptx import Instruction

ATOMIC_NAMES = ("add", "min", "max", "exch", "cas", "inc", "dec", "and", "or", "xor")
_FLOATS: dict[str, Any] = {"f32": np.float32, "f64": np.float64, "f16": np.float16}
_AT: dict[str, Any] = {
    "add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}  # fmt: skip


def _seen(cells: Bits, type_name: str, ins: Instruction) -> Bits:
    """The cells as the type the operation works on."""
    if type_name in _FLOATS:
        return cells.view(_FLOATS[type_name])
    if type_name in ("f16x2", "bf16x2", "bf16", "b128"):
        raise uncovered(ins)
    size = cells.dtype.itemsize
    return cells.view(SIGNED[size] if type_name[0] == "s" else UNSIGNED[size])


def perform(
    cells: Bits, places: npt.NDArray[np.int64], values: list[Bits], name: str, type_name: str, wants_old: bool,
    ins: Instruction,
) -> Bits | None:  # fmt: skip
    """Applies the operation at `places` in order; the values found before, as bits, where they are wanted."""
    seen = _seen(cells, type_name, ins)
    operands = [np.ascontiguousarray(v).view(seen.dtype) for v in values]
    if not wants_old and name in _AT:
        _AT[name].at(seen, places, operands[0])
        return None
    if name == "add" and seen.dtype.kind in "ui":
        return _added(seen, places, operands[0])
    old = np.empty(places.size, seen.dtype)
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1]))) if places.size else ordered
    lengths = np.diff(np.append(starts, places.size))
    for turn in range(int(lengths.max(initial=0))):
        lane = order[starts[lengths > turn] + turn]
        where = places[lane]
        before = seen[where]
        old[lane] = before
        seen[where] = _next(name, before, [v[lane] for v in operands])
    return old.view(UNSIGNED[seen.dtype.itemsize])


def _added(seen: Bits, places: npt.NDArray[np.int64], values: Bits) -> Bits:
    """Integer additions: each lane finds the sum of those before it at its address."""
    order = np.argsort(places, kind="stable")
    ordered, added = places[order], values[order]
    before = np.cumsum(added, dtype=added.dtype) - added
    fresh = np.concatenate(([True], ordered[1:] != ordered[:-1])) if places.size else np.zeros(0, bool)
    base = before[fresh][np.cumsum(fresh) - 1] if places.size else before
    old = np.empty_like(values)
    old[order] = seen[ordered] + (before - base)
    np.add.at(seen, places, values)
    return old.view(UNSIGNED[seen.dtype.itemsize])


def _next(name: str, old: Bits, values: list[Bits]) -> Bits:
    new = values[0]
    match name:
        case "exch":
            return new
        case "cas":
            bits = UNSIGNED[old.dtype.itemsize]
            return np.where(old.view(bits) == new.view(bits), values[1], old)
        case "inc":
            made: Bits = np.where(old >= new, old.dtype.type(0), old + old.dtype.type(1))
            return made
        case "dec":
            return np.where((old == 0) | (old > new), new, old - old.dtype.type(1))
    return _AT[name](old, new)  # type: ignore[no-any-return]
