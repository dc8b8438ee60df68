"""cvt: between integers, floats, halves and bfloats, with every rounding and saturation."""

from collections.abc import Callable
from typing import Any

import numpy as np

from sparktrace_tui.emulator import lanes, rounding
from sparktrace_tui.emulator.lanes import SIGNED, UNSIGNED, Bits, Value
from sparktrace_tui.emulator.ops import Action, Operands, cut, lanewise, signed, uncovered, valued
from sparktrace_tui.emulator.ptx import TYPE_BYTES, Instruction, Reg

_FLOATS: dict[str, Any] = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
_INTEGER_MODES: dict[str, Callable[[Any], Any]] = {
    "rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil,
}  # fmt: skip
_MODES = ("rn", "rz", "rm", "rp")
_KNOWN = {*_MODES, *_INTEGER_MODES, "ftz", "sat", "satfinite", "relu"}


def build(ops: Operands, ins: Instruction) -> Action | None:
    """The action of a conversion; None where the instruction is not one."""
    if ins.name != "cvt":
        return None
    to, of = ins.parts[-2:]
    extra = set(ins.parts[1:-2])
    if to in ("f16x2", "bf16x2") and of == "f32" and len(ins.operands) == 3:
        return _pack(ops, ins, to, extra)
    if not extra <= _KNOWN - {"satfinite"} or to not in TYPE_BYTES or of not in TYPE_BYTES:
        raise uncovered(ins)
    target = ops.result(ins.operands[0], ins)
    width = TYPE_BYTES[of]
    place = ops.source(ins.operands[1], width, ins)
    if target is None:
        return lambda: None
    if to[0] in "us" and of[0] in "us" and not extra:
        return _integers(ops, to, of, target, place)
    function = _function(ins, to, of, extra)
    return lanewise(ops, lambda v: _spread(function(cut(v, width)), to, target), target, (place,))


def _spread(bits: Bits, to: str, target: Reg) -> Bits:
    """A result narrower than its register: sign-extended for signed types, else filled with zeros."""
    size = bits.dtype.itemsize
    if size == target.width:
        return bits
    if to[0] == "s":
        return signed(bits).astype(SIGNED[target.width]).view(UNSIGNED[target.width])
    return bits.astype(UNSIGNED[target.width])


def _integers(ops: Operands, to: str, of: str, target: Reg, place: int) -> Action:
    source, result = TYPE_BYTES[of], TYPE_BYTES[to]
    is_signed = of[0] == "s"

    def run(value: Value) -> Value:
        if source == 4 and result == 8 and value.dtype.itemsize == 4:
            return lanes.widen(value, is_signed)
        if source == result == value.dtype.itemsize == target.width:
            return value
        bits = cut(lanes.full(value), source)
        wide = signed(bits).astype(np.int64).view(np.uint64) if is_signed else bits.astype(np.uint64)
        return _spread(wide.astype(UNSIGNED[result]), to, target)

    return valued(ops, run, target, (place,))


def _read(bits: Bits, of: str, ftz: bool) -> Any:
    """The source as integers, or as doubles that hold it exactly."""
    if of == "bf16":
        return rounding.bf16_to_f32(bits).astype(np.float64)
    if of[0] == "s":
        return signed(bits)
    if of[0] in "ub":
        return bits
    values = bits.view(_FLOATS[of])
    if ftz and of == "f32":
        values = rounding.flush32(values)
    return values.astype(np.float64)


def _function(ins: Instruction, to: str, of: str, extra: set[str]) -> Callable[[Bits], Bits]:
    mode = next((m for m in _MODES if m in extra), "rn")
    whole = next((m for m in _INTEGER_MODES if m in extra), None)
    ftz, saturates = "ftz" in extra, "sat" in extra
    if to[0] in "us":
        limits = np.iinfo((SIGNED if to[0] == "s" else UNSIGNED)[TYPE_BYTES[to]])
        if of[0] in "us":
            return lambda bits: _clamp_integers(_read(bits, of, ftz), limits, to)
        rounding_of = _INTEGER_MODES[whole or "rzi"]
        return lambda bits: _to_integer(rounding_of(_read(bits, of, ftz)), limits, to)
    if to == "tf32" or (to[0] == "b" and to != "bf16"):
        raise uncovered(ins)

    def run(bits: Bits) -> Bits:
        values = _read(bits, of, ftz)
        rest: Any = 0.0
        if values.dtype.kind in "iu":
            values, rest = _integer_as_double(values)
        elif whole is not None:
            values = np.copysign(_INTEGER_MODES[whole](values), values)
        if saturates:
            values = np.where(values > 0, np.minimum(values, 1.0), 0.0)
        if "relu" in extra:
            values = np.where(values < 0, 0.0, values)
        return _from_double(values, rest, to, mode, ftz, ins)

    return run


def _clamp_integers(values: Any, limits: Any, to: str) -> Bits:
    if values.dtype.kind == "u":
        clipped = np.minimum(values, np.uint64(limits.max)) if values.itemsize == 8 else np.minimum(values, limits.max)
    else:
        low = max(int(limits.min), int(np.iinfo(values.dtype).min))
        high = min(int(limits.max), int(np.iinfo(values.dtype).max))
        clipped = np.clip(values, low, high)
    made: Bits = clipped.astype(UNSIGNED[TYPE_BYTES[to]])
    return made


def _to_integer(values: Any, limits: Any, to: str) -> Bits:
    """Out of range gives the nearest end; NaN gives 0 (for 64-bit results from float, the top bit)."""
    size = TYPE_BYTES[to]
    low, high = float(limits.min), float(limits.max)
    inside = (values >= low) & (values < high if size == 8 else values <= high)
    safe = np.where(inside, values, 0.0)
    result = safe.astype((SIGNED if to[0] == "s" else UNSIGNED)[size])
    result = np.where(values >= high, result.dtype.type(limits.max), result)
    result = np.where(values < low, result.dtype.type(limits.min), result)
    if size == 8:
        result = np.where(np.isnan(values), np.uint64(1 << 63).astype(result.dtype), result)
    return result.astype((SIGNED if to[0] == "s" else UNSIGNED)[size]).view(UNSIGNED[size])


def _integer_as_double(values: Any) -> tuple[Any, Any]:
    """An integer as a double and what the double misses (64-bit integers have more bits)."""
    if values.itemsize < 8:
        return values.astype(np.float64), 0.0
    high = values >> 32
    low = values & values.dtype.type(0xFFFFFFFF)
    return rounding.two_sum(high.astype(np.float64) * 4294967296.0, low.astype(np.float64))


def _from_double(values: Any, rest: Any, to: str, mode: str, ftz: bool, ins: Instruction) -> Bits:
    if to == "bf16":
        return rounding.bf16_of(rounding.to_odd(values, rest), mode)
    if to == "f64":
        if mode != "rn" and np.any(rest != 0):
            raise uncovered(ins, "directed rounding in double precision")
        return np.asarray(values, np.float64).view(np.uint64)
    result = rounding.directed(values, rest, mode, _FLOATS[to])
    if ftz and to == "f32":
        result = rounding.flush32(result)
    if to == "f32":
        bits = np.asarray(result, np.float32).view(np.uint32)
        return np.where(np.isnan(result), np.uint32(0x7FFFFFFF), bits)
    bits16 = np.asarray(result, np.float16).view(np.uint16)
    return np.where(np.isnan(result), np.uint16(0x7FFF), bits16)


def _pack(ops: Operands, ins: Instruction, to: str, extra: set[str]) -> Action:
    """cvt.rn.f16x2.f32 d, a, b: a in the upper half."""
    if not extra <= {"rn", "rz", "relu"}:
        raise uncovered(ins)
    target = ops.result(ins.operands[0], ins)
    places = tuple(ops.source(o, 4, ins) for o in ins.operands[1:])
    function = _function(ins, "f16" if to == "f16x2" else "bf16", "f32", extra)

    def run(a: Bits, b: Bits) -> Bits:
        return (function(a).astype(np.uint32) << np.uint32(16)) | function(b).astype(np.uint32)

    return lanewise(ops, run, target, places)
