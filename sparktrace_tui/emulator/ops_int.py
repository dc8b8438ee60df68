"""Integer, logic, predicate, move and address instructions."""

from collections.abc import Callable
from typing import Any

import numpy as np

from sparktrace_tui.emulator import lanes
from sparktrace_tui.emulator.lanes import SIGNED, UNSIGNED, Bits, Sum, Value
from sparktrace_tui.emulator.memory import (
    CONSTANT_WINDOW,
    GLOBAL_BASE,
    LOCAL_WINDOW,
    SHARED_WINDOW,
    WINDOW_BYTES,
)
from sparktrace_tui.emulator.ops import Action, Operands, cut, lanewise, type_of, uncovered, valued
from sparktrace_tui.emulator.ptx import TYPE_BYTES, Imm, Instruction, Pair, Reg, Symbol, Vector

_WINDOWS = {
    "global": 0,
    "shared": SHARED_WINDOW,
    "local": LOCAL_WINDOW,
    "const": CONSTANT_WINDOW,
    "param": 0,
}


def signed(a: Bits) -> Bits:
    return a.view(SIGNED[a.dtype.itemsize])


def unsigned(a: Bits) -> Bits:
    return a.view(UNSIGNED[a.dtype.itemsize])


def _typed(type_name: str) -> Callable[[Bits], Bits]:
    return signed if type_name[0] == "s" else (lambda a: a)


def _parts(ins: Instruction) -> tuple[str, int]:
    name = type_of(ins)
    return name, TYPE_BYTES[name]


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


def _sources(ops: Operands, ins: Instruction, width: int) -> tuple[int, ...]:
    return tuple(ops.source(o, width, ins) for o in ins.operands[1:])


def _target(ops: Operands, ins: Instruction) -> Reg | None:
    return ops.result(ins.operands[0], ins)


def _value_op(function: Callable[..., Value]) -> Callable[[Operands, Instruction], Action]:
    def make(ops: Operands, ins: Instruction) -> Action:
        _, width = _parts(ins)
        target = _target(ops, ins)
        places = _sources(ops, ins, width)
        if target is None:
            return lambda: None
        return valued(ops, function, target, places)

    return make


def _add_sub(ops: Operands, ins: Instruction) -> Action:
    _, width = _parts(ins)
    target = _target(ops, ins)
    places = _sources(ops, ins, width)
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
            return np.clip(total, -(2**31), 2**31 - 1).astype(np.int32).view(np.uint32)

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
        return (x.astype(wide) * y.astype(wide) >> (8 * size)).astype(UNSIGNED[size])
    mask = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    a0, a1, b0, b1 = a & mask, a >> half, b & mask, b >> half
    low = a0 * b0
    mid = a1 * b0 + (low >> half)
    mid2 = a0 * b1 + (mid & mask)
    high = a1 * b1 + (mid >> half) + (mid2 >> half)
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
    type_name, width = _parts(ins)
    is_signed = type_name[0] == "s"
    target = _target(ops, ins)
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
    type_name, width = _parts(ins)
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
        type_name, width = _parts(ins)
        if type_name == "pred":
            width = 0
        see = _typed(type_name)
        target = _target(ops, ins)
        places = _sources(ops, ins, width)
        bits = UNSIGNED[width] if width else np.dtype(bool)

        def run(*values: Bits) -> Bits:
            result = function(*(see(v) for v in values))
            return result.view(bits) if result.dtype.itemsize == bits.itemsize else result.astype(bits)

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
    type_name, width = _parts(ins)
    bits = 8 * width
    target = _target(ops, ins)
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
    _, width = _parts(ins)
    target = _target(ops, ins)
    places = (ops.source(ins.operands[1], width, ins), ops.source(ins.operands[2], 4, ins))
    if target is None:
        return lambda: None
    return valued(ops, lanes.shift_left, target, places)


def _funnel(ops: Operands, ins: Instruction) -> Action:
    """shf.l and shf.r, wrapped or clamped: 32 bits out of the 64 in {b, a}."""
    target = _target(ops, ins)
    places = _sources(ops, ins, 4)
    left, wrap = ins.parts[1] == "l", ins.parts[2] == "wrap"

    def run(a: Bits, b: Bits, c: Bits) -> Bits:
        joined = (b.astype(np.uint64) << np.uint64(32)) | a.astype(np.uint64)
        n = (c & np.uint32(31) if wrap else np.minimum(c, np.uint32(32))).astype(np.uint64)
        moved = (joined << n) >> np.uint64(32) if left else joined >> n
        return moved.astype(np.uint32)

    return lanewise(ops, run, target, places)


def _permute(ops: Operands, ins: Instruction) -> Action:
    target = _target(ops, ins)
    places = _sources(ops, ins, 4)
    if len(ins.parts) > 2:
        raise uncovered(ins)

    def run(a: Bits, b: Bits, c: Bits) -> Bits:
        joined = (b.astype(np.uint64) << np.uint64(32)) | a.astype(np.uint64)
        result = np.zeros(np.broadcast_shapes(a.shape, b.shape, c.shape), np.uint32)
        for place in range(4):
            code = (c >> np.uint32(4 * place)).astype(np.uint64)
            byte = (joined >> (np.uint64(8) * (code & np.uint64(7)))) & np.uint64(0xFF)
            sign = np.where(byte & np.uint64(0x80), np.uint64(0xFF), np.uint64(0))
            byte = np.where(code & np.uint64(8), sign, byte)
            result |= byte.astype(np.uint32) << np.uint32(8 * place)
        return result

    return lanewise(ops, run, target, places)


def _lop3(ops: Operands, ins: Instruction) -> Action:
    table = ins.operands[4]
    if not isinstance(table, Imm) or len(ins.parts) > 2:
        raise uncovered(ins)
    target = _target(ops, ins)
    places = tuple(ops.source(o, 4, ins) for o in ins.operands[1:4])

    def run(a: Bits, b: Bits, c: Bits) -> Bits:
        result = np.zeros(np.broadcast_shapes(a.shape, b.shape, c.shape), np.uint32)
        for row in range(8):
            if table.value >> row & 1:
                result |= (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
        return result

    return lanewise(ops, run, target, places)


def _extract(ops: Operands, ins: Instruction) -> Action:
    """bfe: `length` bits from `position`, sign-extended for signed types."""
    type_name, width = _parts(ins)
    bits = 8 * width
    target = _target(ops, ins)
    value = ops.source(ins.operands[1], width, ins)
    position, length = (ops.source(o, 4, ins) for o in ins.operands[2:4])

    def run(a: Bits, p: Bits, n: Bits) -> Bits:
        at = (p & np.uint32(0xFF)).astype(np.int64)
        count = np.minimum((n & np.uint32(0xFF)).astype(np.int64), bits)
        wide = a.astype(np.uint64)
        moved = np.where(at < bits, wide >> np.minimum(at, 63).astype(np.uint64), np.uint64(0))
        mask = np.where(count >= 64, ~np.uint64(0), (np.uint64(1) << np.minimum(count, 63).astype(np.uint64)) - 1)
        result = moved & mask
        if type_name[0] == "s":
            top = np.minimum(np.maximum(at + count - 1, 0), bits - 1).astype(np.uint64)
            sign = ((wide >> top) & np.uint64(1)).astype(bool) & (count > 0)
            have = np.minimum(np.maximum(bits - at, 0), count)
            keep = np.where(have >= 64, ~np.uint64(0), (np.uint64(1) << np.minimum(have, 63).astype(np.uint64)) - 1)
            result = np.where(sign, (result & keep) | ~keep, result)
        return result.astype(a.dtype)

    return lanewise(ops, run, target, (value, position, length))


def _insert(ops: Operands, ins: Instruction) -> Action:
    _, width = _parts(ins)
    bits = 8 * width
    target = _target(ops, ins)
    places = (
        *(ops.source(o, width, ins) for o in ins.operands[1:3]),
        *(ops.source(o, 4, ins) for o in ins.operands[3:5]),
    )

    def run(a: Bits, b: Bits, p: Bits, n: Bits) -> Bits:
        at = (p & np.uint32(0xFF)).astype(np.int64)
        count = np.minimum((n & np.uint32(0xFF)).astype(np.int64), 64)
        ones = np.where(count >= 64, ~np.uint64(0), (np.uint64(1) << np.minimum(count, 63).astype(np.uint64)) - 1)
        shift = np.minimum(at, 63).astype(np.uint64)
        mask = np.where(at < bits, ones << shift, np.uint64(0))
        moved = np.where(at < bits, a.astype(np.uint64) << shift, np.uint64(0))
        return ((b.astype(np.uint64) & ~mask) | (moved & mask)).astype(a.dtype)

    return lanewise(ops, run, target, places)


def _unary_bits(function: Callable[[Bits, str], Bits]) -> Callable[[Operands, Instruction], Action]:
    def make(ops: Operands, ins: Instruction) -> Action:
        type_name, width = _parts(ins)
        target = _target(ops, ins)
        places = _sources(ops, ins, width)
        return lanewise(ops, lambda a: function(a, type_name).astype(np.uint32), target, places)

    return make


def _top_bit(a: Bits) -> Bits:
    """The place of the highest set bit, -1 where there is none."""
    place = np.full(a.shape, -1, np.int64)
    rest = a.astype(np.uint64)
    for step in (32, 16, 8, 4, 2, 1):
        big = rest >= np.uint64(1 << step)
        place = np.where(big, place + step, place)
        rest = np.where(big, rest >> np.uint64(step), rest)
    return place + (rest != 0)


def _reverse(ops: Operands, ins: Instruction) -> Action:
    _, width = _parts(ins)

    def run(a: Bits) -> Bits:
        result = np.zeros_like(a)
        one = a.dtype.type(1)
        for bit in range(8 * width):
            result |= ((a >> a.dtype.type(bit)) & one) << a.dtype.type(8 * width - 1 - bit)
        return result

    return lanewise(ops, run, _target(ops, ins), _sources(ops, ins, width))


def _find(ops: Operands, ins: Instruction) -> Action:
    type_name, width = _parts(ins)
    shift = "shiftamt" in ins.parts

    def run(a: Bits) -> Bits:
        value = np.where(signed(a) < 0, ~a, a) if type_name[0] == "s" else a
        place = _top_bit(value)
        if shift:
            place = np.where(place >= 0, 8 * width - 1 - place, -1)
        return place.astype(np.int32).view(np.uint32)

    return lanewise(ops, run, _target(ops, ins), _sources(ops, ins, width))


def _select(ops: Operands, ins: Instruction) -> Action:
    type_name, width = _parts(ins)
    target = _target(ops, ins)
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
    target = _target(ops, ins)
    a, b = (ops.source(o, width, ins) for o in ins.operands[1:3])
    c = ops.source(ins.operands[3], 4, ins)
    floats = ins.parts[-1] == "f32"

    def run(x: Bits, y: Bits, z: Bits) -> Bits:
        return np.where(z.view(np.float32) >= 0 if floats else signed(z) >= 0, x, y)

    return lanewise(ops, run, target, (a, b, c))


def _difference(ops: Operands, ins: Instruction) -> Action:
    type_name, width = _parts(ins)
    see = _typed(type_name)

    def run(a: Bits, b: Bits, c: Bits) -> Bits:
        x, y = see(a), see(b)
        return np.where(x > y, a - b, b - a) + c

    return lanewise(ops, run, _target(ops, ins), _sources(ops, ins, width))


def _dot(ops: Operands, ins: Instruction) -> Action:
    """dp4a and dp2a: products of bytes (with bytes or halves) added to c."""
    kinds = [part for part in ins.parts[1:] if part in ("u32", "s32")]
    first, second = kinds[0] == "s32", kinds[1] == "s32"
    four = ins.name == "dp4a"
    high = "hi" in ins.parts

    def run(a: Bits, b: Bits, c: Bits) -> Bits:
        total = c.astype(np.int64)
        for place in range(4 if four else 2):
            size = 8 if four else 16
            x = (a >> np.uint32(size * place)).astype(f"u{size // 8}")
            y = (b >> np.uint32(8 * (place if four else place + (2 if high else 0)))).astype(np.uint8)
            total = total + (signed(x) if first else x).astype(np.int64) * (signed(y) if second else y).astype(np.int64)
        return total.astype(np.uint64).astype(np.uint32)

    return lanewise(ops, run, _target(ops, ins), _sources(ops, ins, 4))


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
    target = _target(ops, ins)
    kind = next(part for part in ins.parts[2:] if part in TYPE_BYTES)
    if kind == "f32":
        on = np.float32(1).view(np.uint32)
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
    type_name, width = _parts(ins)
    name = ins.parts[1]
    join = next((part for part in ins.parts[2:-1] if part in _JOIN), None)
    if name not in _COMPARE:
        raise uncovered(ins)
    see = _typed(type_name)
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
    type_name, width = _parts(ins)
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
    _, width = _parts(ins)
    outward = ins.parts[1] == "to"
    space = ins.parts[2 if outward else 1].split("::")[0]
    window = _WINDOWS[space]
    target = _target(ops, ins)
    assert target is not None
    source = ins.operands[1]
    place = ops.source(source, width, ins)
    if window == 0:
        return _copy(ops, target, place)
    shift = ops.constant(window, width)
    return valued(ops, lanes.subtract if outward else lanes.add, target, (place, shift))


def _is_space(ops: Operands, ins: Instruction) -> Action:
    space = ins.parts[1].split("::")[0]
    target = _target(ops, ins)
    place = ops.source(ins.operands[1], 8, ins)
    low = _WINDOWS[space] or GLOBAL_BASE

    def run(a: Bits) -> Bits:
        if space == "global":
            return a >= np.uint64(GLOBAL_BASE)
        return (a >= np.uint64(low)) & (a < np.uint64(low + WINDOW_BYTES))

    return lanewise(ops, run, target, (place,))


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
    "add": _add_sub, "sub": _add_sub, "addc": _add_sub, "subc": _add_sub,
    "mul": _mul, "mad": _mul, "mul24": _mul, "mad24": _mul, "madc": _mul,
    "shl": _shift_left, "shr": _shift_right, "shf": _funnel, "prmt": _permute, "lop3": _lop3,
    "bfe": _extract, "bfi": _insert, "brev": _reverse, "bfind": _find,
    "popc": _unary_bits(lambda a, _: np.bitwise_count(a)),
    "clz": _unary_bits(lambda a, _: 8 * a.dtype.itemsize - 1 - _top_bit(a)),
    "selp": _select, "slct": _slct, "sad": _difference, "dp4a": _dot, "dp2a": _dot,
    "setp": _setp, "set": _setp, "mov": _move, "parammove": _move,
    "cvta": _convert_address, "isspacep": _is_space,
}  # fmt: skip
