"""Moves, selections, comparisons and conversions of addresses."""

from collections.abc import Callable
from typing import Any

import numpy as np

from sparktrace_tui.emulator import lanes
from sparktrace_tui.emulator.lanes import SIGNED, UNSIGNED, Bits, Sum, Value
from sparktrace_tui.emulator.memory import CONSTANT_WINDOW, GLOBAL_BASE, LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES
from sparktrace_tui.emulator.ops import (
    Action,
    Operands,
    cut,
    lanewise,
    signed,
    target_of,
    type_and_width,
    typed_view,
    uncovered,
    valued,
)
from sparktrace_tui.emulator.ptx import TYPE_BYTES, Instruction, Pair, Reg, Symbol, Vector

_WINDOWS = {
    "global": 0,
    "shared": SHARED_WINDOW,
    "local": LOCAL_WINDOW,
    "const": CONSTANT_WINDOW,
    "param": 0,
}


def _select(ops: Operands, ins: Instruction) -> Action:
    _, width = type_and_width(ins)
    target = target_of(ops, ins)
    a, b = (ops.source(o, width, ins) for o in ins.operands[1:3])
    p = ops.source(ins.operands[3], 0, ins)
    if target is None:
        return lambda: None

    def run(x: Value, y: Value, chosen: Value) -> Value:
        test = lanes.full(chosen)
        if test.size == 1:
            return x if test.flat[0] else y
        return np.where(test, lanes.full(x), lanes.full(y))

    return valued(ops, run, target, (a, b, p))


def _slct(ops: Operands, ins: Instruction) -> Action:
    width = TYPE_BYTES[ins.parts[-2]]
    target = target_of(ops, ins)
    a, b = (ops.source(o, width, ins) for o in ins.operands[1:3])
    c = ops.source(ins.operands[3], 4, ins)
    floats = ins.parts[-1] == "f32"

    def run(x: Bits, y: Bits, z: Bits) -> Bits:
        return np.where(z.view(np.float32) >= 0 if floats else signed(z) >= 0, x, y)

    return lanewise(ops, run, target, (a, b, c))


_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "lo": np.less, "ls": np.less_equal, "hi": np.greater, "hs": np.greater_equal,
}  # fmt: skip


_JOIN: dict[str, Callable[[Any, Any], Any]] = {
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
}


def decide(name: str, a: Value, b: Value, is_signed: bool) -> bool | None:
    """A comparison of sums settled by their bounds alone; None where it cannot be."""
    left, right = lanes.range_of(a, is_signed), lanes.range_of(b, is_signed)
    if left is None or right is None:
        return None
    match name:
        case "lt" | "lo":
            return True if left[1] < right[0] else False if left[0] >= right[1] else None
        case "ge" | "hs":
            return True if left[0] >= right[1] else False if left[1] < right[0] else None
        case "le" | "ls":
            return True if left[1] <= right[0] else False if left[0] > right[1] else None
        case "gt" | "hi":
            return True if left[0] > right[1] else False if left[1] <= right[0] else None
        case "eq" if left[1] < right[0] or right[1] < left[0]:
            return False
        case "ne" if left[1] < right[0] or right[1] < left[0]:
            return True
    return None


def set_predicate(
    ops: Operands, ins: Instruction, compare: Callable[[Value, Value], Bits], width: int, join: str | None
) -> Action:
    """setp and set: compares, joins with a third predicate, and writes p (and q)."""
    first = ins.operands[0]
    p, q = (first.first, first.second) if isinstance(first, Pair) else (first, None)
    a, b = (ops.source(o, width, ins) for o in ins.operands[1:3])
    slots = ops.slots
    third = ins.operands[3] if join else None
    negate = False
    c = ops.source(third, 0, ins) if third is not None else -1
    combine = _JOIN[join] if join else None
    if ins.name == "set":
        return _set_value(ops, ins, compare, (a, b), c, combine)
    p_slot = p.slot if isinstance(p, Reg) else -1
    q_slot = q.slot if isinstance(q, Reg) else -1
    last: list[Any] = [None, None, None]

    def act() -> None:
        x, y = slots[a], slots[b]
        if x is last[0] and y is last[1]:
            result = last[2]
        else:
            result = compare(x, y)
            if result.shape[0] == 1:
                last[:] = [x, y, result]
        if combine is None:
            slots[p_slot] = result
            if q_slot >= 0:
                slots[q_slot] = ~result
            return
        other = lanes.full(slots[c])
        other = ~other if negate else other
        if p_slot >= 0:
            slots[p_slot] = combine(result, other)
        if q_slot >= 0:
            slots[q_slot] = combine(~result, other)

    return act


def _set_value(
    ops: Operands, ins: Instruction, compare: Callable[[Value, Value], Bits], places: tuple[int, int], c: int,
    combine: Callable[[Any, Any], Any] | None,
) -> Action:  # fmt: skip
    target = target_of(ops, ins)
    kind = next(part for part in ins.parts[2:] if part in TYPE_BYTES)
    if kind == "f32":
        on: Any = np.uint32(0x3F800000)
    elif kind in ("f16", "bf16"):
        on = np.uint16(0x3C00 if kind == "f16" else 0x3F80)
    else:
        on = np.uint32(0xFFFFFFFF) if TYPE_BYTES[kind] == 4 else np.uint16(0xFFFF)

    def act() -> None:
        result = compare(ops.slots[places[0]], ops.slots[places[1]])
        if combine is not None:
            result = combine(result, lanes.full(ops.slots[c]))
        if target is not None:
            ops.slots[target.slot] = np.where(result, on, on.dtype.type(0))

    return act


def _setp(ops: Operands, ins: Instruction) -> Action:
    type_name, width = type_and_width(ins)
    name = ins.parts[1]
    join = next((part for part in ins.parts[2:-1] if part in _JOIN), None)
    if name not in _COMPARE:
        raise uncovered(ins)
    see = typed_view(type_name)
    is_signed = type_name[0] == "s"
    function = _COMPARE[name]

    def compare(a: Value, b: Value) -> Bits:
        if a.__class__ is Sum or b.__class__ is Sum:
            settled = decide(name, a, b, is_signed)
            if settled is not None:
                return np.full((1, 1), settled)
        x, y = cut(lanes.full(a), width), cut(lanes.full(b), width)
        return function(see(x), see(y))  # type: ignore[no-any-return]

    return set_predicate(ops, ins, compare, width, join)


def _move(ops: Operands, ins: Instruction) -> Action:
    type_name, width = type_and_width(ins)
    first, second = ins.operands[0], ins.operands[1]
    if type_name == "pred":
        width = 0
    if ins.name == "parammove":
        return _parameter_move(ops, ins, width)
    if isinstance(first, Vector) or isinstance(second, Vector):
        return _pack(ops, ins, width)
    target = ops.result(first, ins)
    if target is None:
        return lambda: None
    if isinstance(second, Symbol) and second.space == "param":
        place = ops.constant(second.offset, width)
    else:
        place = ops.source(second, width, ins)
    return _copy(ops, target, place)


def _copy(ops: Operands, target: Reg, place: int) -> Action:
    slots, slot, width = ops.slots, target.slot, target.width

    def act() -> None:
        value = slots[place]
        if width and value.dtype.itemsize != width:
            value = lanes.full(value).astype(UNSIGNED[width])
        slots[slot] = value

    return act


def _parameter_move(ops: Operands, ins: Instruction, width: int) -> Action:
    first, second = ins.operands
    left = first.items if isinstance(first, Vector) else (first,)
    right = second.items if isinstance(second, Vector) else (second,)
    moves = []
    for a, b in zip(left, right, strict=True):
        if isinstance(a, Reg) and b is not None:
            place = ops.source(b, width, ins)
            if ins.parts[-1][0] == "s" and a.width > width:
                moves.append(lanewise(ops, _extender(width, a.width), a, (place,)))
            else:
                moves.append(_copy(ops, a, place))

    def act() -> None:
        for move in moves:
            move()

    return act


def _extender(width: int, wide: int) -> Callable[[Bits], Bits]:
    return lambda v: signed(cut(v, width)).astype(SIGNED[wide]).view(UNSIGNED[wide])


def _pack(ops: Operands, ins: Instruction, width: int) -> Action:
    first, second = ins.operands
    slots = ops.slots
    if isinstance(first, Vector):
        items = first.items
        piece = width // len(items)
        place = ops.source(second, width, ins)

        def unpack() -> None:
            value = lanes.full(slots[place])
            for index, item in enumerate(items):
                if isinstance(item, Reg):
                    moved = value >> value.dtype.type(8 * piece * index) if index else value
                    slots[item.slot] = moved.astype(UNSIGNED[piece])

        return unpack
    assert isinstance(second, Vector)
    piece = width // len(second.items)
    places = [ops.source(item, piece, ins) for item in second.items if item is not None]
    target = ops.result(first, ins)
    bits = UNSIGNED[width]

    def pack(*values: Bits) -> Bits:
        result = cut(values[0], piece).astype(bits)
        for index, value in enumerate(values[1:], 1):
            result = result | (cut(value, piece).astype(bits) << bits.type(8 * piece * index))
        return result

    return lanewise(ops, pack, target, tuple(places))


def _convert_address(ops: Operands, ins: Instruction) -> Action:
    """cvta: between a space's own addresses and generic ones."""
    _, width = type_and_width(ins)
    outward = ins.parts[1] == "to"
    space = ins.parts[2 if outward else 1].split("::")[0]
    window = _WINDOWS[space]
    target = target_of(ops, ins)
    assert target is not None
    source = ins.operands[1]
    place = ops.source(source, width, ins)
    if window == 0:
        return _copy(ops, target, place)
    shift = ops.constant(window, width)
    return valued(ops, lanes.subtract if outward else lanes.add, target, (place, shift))


def _is_space(ops: Operands, ins: Instruction) -> Action:
    space = ins.parts[1].split("::")[0]
    target = target_of(ops, ins)
    place = ops.source(ins.operands[1], 8, ins)
    low = _WINDOWS[space] or GLOBAL_BASE

    def run(a: Bits) -> Bits:
        if space == "global":
            return a >= np.uint64(GLOBAL_BASE)
        return (a >= np.uint64(low)) & (a < np.uint64(low + WINDOW_BYTES))

    return lanewise(ops, run, target, (place,))


MOVES: dict[str, Callable[[Operands, Instruction], Action]] = {
    "selp": _select, "slct": _slct, "setp": _setp, "set": _setp, "mov": _move, "parammove": _move,
    "cvta": _convert_address, "isspacep": _is_space,
}  # fmt: skip
