"""Bit field, permutation, counting and dot-product instructions."""

from collections.abc import Callable

import numpy as np

from sparktrace_tui.emulator.lanes import Bits
from sparktrace_tui.emulator.ops import (
    Action,
    Operands,
    lanewise,
    signed,
    sources,
    target_of,
    type_and_width,
    uncovered,
)
from sparktrace_tui.emulator.ptx import Imm, Instruction


def _funnel(ops: Operands, ins: Instruction) -> Action:
    """shf.l and shf.r, wrapped or clamped: 32 bits out of the 64 in {b, a}."""
    target = target_of(ops, ins)
    places = sources(ops, ins, 4)
    left, wrap = ins.parts[1] == "l", ins.parts[2] == "wrap"

    def run(a: Bits, b: Bits, c: Bits) -> Bits:
        joined = (b.astype(np.uint64) << np.uint64(32)) | a.astype(np.uint64)
        n = (c & np.uint32(31) if wrap else np.minimum(c, np.uint32(32))).astype(np.uint64)
        moved = (joined << n) >> np.uint64(32) if left else joined >> n
        return moved.astype(np.uint32)

    return lanewise(ops, run, target, places)


def _permute(ops: Operands, ins: Instruction) -> Action:
    target = target_of(ops, ins)
    places = sources(ops, ins, 4)
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
    target = target_of(ops, ins)
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
    type_name, width = type_and_width(ins)
    bits = 8 * width
    target = target_of(ops, ins)
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
    _, width = type_and_width(ins)
    bits = 8 * width
    target = target_of(ops, ins)
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
        type_name, width = type_and_width(ins)
        target = target_of(ops, ins)
        places = sources(ops, ins, width)
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
    made: Bits = place + (rest != 0)
    return made


def _reverse(ops: Operands, ins: Instruction) -> Action:
    _, width = type_and_width(ins)

    def run(a: Bits) -> Bits:
        result = np.zeros_like(a)
        one = a.dtype.type(1)
        for bit in range(8 * width):
            result |= ((a >> a.dtype.type(bit)) & one) << a.dtype.type(8 * width - 1 - bit)
        return result

    return lanewise(ops, run, target_of(ops, ins), sources(ops, ins, width))


def _find(ops: Operands, ins: Instruction) -> Action:
    type_name, width = type_and_width(ins)
    shift = "shiftamt" in ins.parts

    def run(a: Bits) -> Bits:
        value = np.where(signed(a) < 0, ~a, a) if type_name[0] == "s" else a
        place = _top_bit(value)
        if shift:
            place = np.where(place >= 0, 8 * width - 1 - place, -1)
        return place.astype(np.int32).view(np.uint32)

    return lanewise(ops, run, target_of(ops, ins), sources(ops, ins, width))


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

    return lanewise(ops, run, target_of(ops, ins), sources(ops, ins, 4))


BITS: dict[str, Callable[[Operands, Instruction], Action]] = {
    "shf": _funnel, "prmt": _permute, "lop3": _lop3, "bfe": _extract, "bfi": _insert, "brev": _reverse,
    "bfind": _find, "dp4a": _dot, "dp2a": _dot,
    "popc": _unary_bits(lambda a, _: np.bitwise_count(a)),
    "clz": _unary_bits(lambda a, _: 8 * a.dtype.itemsize - 1 - _top_bit(a)),
}  # fmt: skip
