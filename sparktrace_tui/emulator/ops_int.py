"""Integer and logic arithmetic, and the table of all instructions that work on bits."""

from collections.abc import Callable
from typing import Any

import numpy as np

from sparktrace_tui.emulator import lanes
from sparktrace_tui.emulator.lanes import UNSIGNED, Bits, Value
from sparktrace_tui.emulator.ops import (
    Action,
    Operands,
    lanewise,
    signed,
    sources,
    target_of,
    type_and_width,
    type_of,
    typed_view,
    uncovered,
    valued,
)
from sparktrace_tui.emulator.ops_bits import BITS
from sparktrace_tui.emulator.ops_move import MOVES
from sparktrace_tui.emulator.ptx import TYPE_BYTES, Instruction, Reg


def build(ops: Operands, ins: Instruction) -> Action | None:
    """The action of an integer, logic or move instruction; None where it is not one."""
    maker = _MAKERS.get(ins.name)
    if maker is None:
        return None
    type_name = type_of(ins)
    if ins.name not in ("mov", "parammove", "selp", "cvta", "isspacep") and (
        type_name in ("f32", "f64", "f16", "bf16", "f16x2", "bf16x2") or type_name not in TYPE_BYTES
    ):
        return None
    return maker(ops, ins)


def _add_sub(ops: Operands, ins: Instruction) -> Action:
    _, width = type_and_width(ins)
    target = target_of(ops, ins)
    places = sources(ops, ins, width)
    extra = ins.parts[1:-1]
    negative = ins.name in ("sub", "subc")
    if target is None:
        return lambda: None
    if ins.name in ("addc", "subc") or "cc" in extra:
        return _carrying(ops, ins, target, places, negative)
    if "sat" in extra:
        if type_of(ins) != "s32":
            raise uncovered(ins)

        def saturated(a: Bits, b: Bits) -> Bits:
            x, y = signed(a).astype(np.int64), signed(b).astype(np.int64)
            total = x - y if negative else x + y
            made: Bits = np.clip(total, -(2**31), 2**31 - 1).astype(np.int32).view(np.uint32)
            return made

        return lanewise(ops, saturated, target, places)
    return valued(ops, lanes.subtract if negative else lanes.add, target, places)


def _carrying(ops: Operands, ins: Instruction, target: Reg, places: tuple[int, ...], negative: bool) -> Action:
    """add.cc, addc, sub.cc, subc: the carry (or borrow) flag is a register of its own."""
    slots, carry = ops.slots, ops.carry
    takes, gives = ins.name in ("addc", "subc"), "cc" in ins.parts

    def act() -> None:
        a, b = lanes.full(slots[places[0]]), lanes.full(slots[places[1]])
        flag = lanes.full(slots[carry]).astype(a.dtype) if takes else np.zeros((1, 1), a.dtype)
        if negative:
            result = a - b - flag
            out = (a < b) | ((a == b) & (flag != 0))
        else:
            result = a + b + flag
            out = (result < a) | ((result == a) & (flag != 0) & (b != 0)) if takes else result < a
        slots[target.slot] = result
        if gives:
            slots[carry] = out

    return act


def _high(a: Bits, b: Bits, is_signed: bool) -> Bits:
    """The upper half of the product."""
    size = a.dtype.itemsize
    if size < 8:
        wide: Any = np.int64 if is_signed else np.uint64
        x, y = (signed(a), signed(b)) if is_signed else (a, b)
        made: Bits = (x.astype(wide) * y.astype(wide) >> (8 * size)).astype(UNSIGNED[size])
        return made
    mask = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    a0, a1, b0, b1 = a & mask, a >> half, b & mask, b >> half
    low = a0 * b0
    mid = a1 * b0 + (low >> half)
    mid2 = a0 * b1 + (mid & mask)
    high: Bits = a1 * b1 + (mid >> half) + (mid2 >> half)
    if is_signed:
        high = high - np.where(signed(a) < 0, b, np.uint64(0)) - np.where(signed(b) < 0, a, np.uint64(0))
    return high


def _widened(value: Value, is_signed: bool) -> Value:
    if value.dtype.itemsize == 4:
        return lanes.widen(value, is_signed)
    array = lanes.full(value)
    wide = np.int32 if is_signed else np.uint32
    return (signed(array) if is_signed else array).astype(wide).view(np.uint32)


def _mul(ops: Operands, ins: Instruction) -> Action:
    type_name, width = type_and_width(ins)
    is_signed = type_name[0] == "s"
    target = target_of(ops, ins)
    if target is None:
        return lambda: None
    form = ins.parts[1]
    accumulates = ins.name in ("mad", "mad24")
    wide_add = ops.source(ins.operands[3], 2 * width if form == "wide" else width, ins) if accumulates else -1
    places = tuple(ops.source(o, width, ins) for o in ins.operands[1:3])
    if "cc" in ins.parts or "sat" in ins.parts or ins.name == "madc":
        return _mad_carry(ops, ins, target, places)

    def product(a: Value, b: Value) -> Value:
        match form:
            case "wide":
                return lanes.multiply(_widened(a, is_signed), _widened(b, is_signed))
            case "hi":
                return _high(lanes.full(a), lanes.full(b), is_signed)
            case _:
                return lanes.multiply(a, b)

    if ins.name in ("mul24", "mad24"):
        if form != "lo":
            raise uncovered(ins)

        def low24(a: Value, b: Value) -> Value:
            x: Bits
            y: Bits
            x, y = (lanes.full(v) << np.uint32(8) for v in (a, b))
            shift = 8
            x, y = (signed(x) >> shift, signed(y) >> shift) if is_signed else (x >> np.uint32(8), y >> np.uint32(8))
            return (x * y).view(np.uint32)

        product = low24
    if not accumulates:
        return valued(ops, product, target, places)
    return valued(ops, lambda a, b, c: lanes.add(product(a, b), c), target, (*places, wide_add))


def _mad_carry(ops: Operands, ins: Instruction, target: Reg, places: tuple[int, ...]) -> Action:
    """mad.cc and madc: the product, then an addition with carry."""
    if "sat" in ins.parts or "wide" in ins.parts:
        raise uncovered(ins)
    type_name, width = type_and_width(ins)
    third = ops.source(ins.operands[3], width, ins)
    temporary = len(ops.slots)
    ops.slots.append(np.zeros((1, 1), UNSIGNED[width]))
    takes = ins.name == "madc"
    carry = Instruction(
        ins.pc, ("addc" if takes else "add", *(("cc",) if "cc" in ins.parts else ()), type_name),
        ins.operands, ins.guard, ins.guard_negated, ins.line, ins.text,
    )  # fmt: skip
    addition = _carrying(ops, carry, target, (temporary, third), False)
    high = "hi" in ins.parts

    def act() -> None:
        a, b = lanes.full(ops.slots[places[0]]), lanes.full(ops.slots[places[1]])
        ops.slots[temporary] = _high(a, b, type_name[0] == "s") if high else np.multiply(a, b)
        addition()

    return act


def _lanes_op(function: Callable[[Any, Any], Any]) -> Callable[[Operands, Instruction], Action]:
    """Binary and unary operations on the typed view; the result comes back as bits."""

    def make(ops: Operands, ins: Instruction) -> Action:
        type_name, width = type_and_width(ins)
        if type_name == "pred":
            width = 0
        see = typed_view(type_name)
        target = target_of(ops, ins)
        places = sources(ops, ins, width)
        bits = UNSIGNED[width] if width else np.dtype(bool)

        def run(*values: Bits) -> Bits:
            result = function(*(see(v) for v in values))
            made: Bits = result.view(bits) if result.dtype.itemsize == bits.itemsize else result.astype(bits)
            return made

        return lanewise(ops, run, target, places)

    return make


def _divide(a: Any, b: Any) -> Any:
    """Toward zero; by zero gives all ones."""
    safe = np.where(b == 0, 1, b).astype(a.dtype)
    if a.dtype.kind == "u":
        return np.where(b == 0, np.iinfo(a.dtype).max, a // safe).astype(a.dtype)
    quotient = a // safe
    quotient = quotient + ((quotient < 0) & (quotient * safe != a)).astype(a.dtype)
    overflow = (safe == -1) & (a == np.iinfo(a.dtype).min)
    return np.where(b == 0, -1, np.where(overflow, a, quotient)).astype(a.dtype)


def _remainder(a: Any, b: Any) -> Any:
    safe = np.where(b == 0, 1, b).astype(a.dtype)
    if a.dtype.kind == "u":
        return np.where(b == 0, a, a % safe).astype(a.dtype)
    return np.where(b == 0, a, a - _divide(a, safe) * safe).astype(a.dtype)


def _shift_right(ops: Operands, ins: Instruction) -> Action:
    type_name, width = type_and_width(ins)
    bits = 8 * width
    target = target_of(ops, ins)
    value, amount = ops.source(ins.operands[1], width, ins), ops.source(ins.operands[2], 4, ins)

    def run(a: Bits, b: Bits) -> Bits:
        few = np.minimum(b, bits - 1).astype(a.dtype)
        if type_name[0] == "s":
            return (signed(a) >> signed(few)).view(a.dtype)
        if b.size == 1:
            return a >> few if int(b.flat[0]) < bits else np.zeros_like(a)
        return np.where(b < bits, a >> few, 0).astype(a.dtype)

    return lanewise(ops, run, target, (value, amount))


def _shift_left(ops: Operands, ins: Instruction) -> Action:
    _, width = type_and_width(ins)
    target = target_of(ops, ins)
    places = (ops.source(ins.operands[1], width, ins), ops.source(ins.operands[2], 4, ins))
    if target is None:
        return lambda: None
    return valued(ops, lanes.shift_left, target, places)


def _difference(ops: Operands, ins: Instruction) -> Action:
    type_name, width = type_and_width(ins)
    see = typed_view(type_name)

    def run(a: Bits, b: Bits, c: Bits) -> Bits:
        x, y = see(a), see(b)
        return np.where(x > y, a - b, b - a) + c

    return lanewise(ops, run, target_of(ops, ins), sources(ops, ins, width))


_ONE: dict[str, Callable[..., Any]] = {
    "neg": np.negative,
    "not": np.invert,
    "abs": np.abs,
    "cnot": lambda a: (a == 0).astype(a.dtype),
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "min": np.minimum,
    "max": np.maximum,
    "div": _divide,
    "rem": _remainder,
}


_MAKERS: dict[str, Callable[[Operands, Instruction], Action]] = {
    **{name: _lanes_op(function) for name, function in _ONE.items()},
    **BITS,
    **MOVES,
    "add": _add_sub, "sub": _add_sub, "addc": _add_sub, "subc": _add_sub,
    "mul": _mul, "mad": _mul, "mul24": _mul, "mad24": _mul, "madc": _mul,
    "shl": _shift_left, "shr": _shift_right, "sad": _difference,
}  # fmt: skip
