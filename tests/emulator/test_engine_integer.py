"""Integer, logic, move and conversion instructions against Python's own integers."""

from collections.abc import Callable

import numpy as np
import pytest

from tests.emulator.engine_support import one_instruction

EDGES = [0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x12345678, 0x7FFFFFFF,
         0x80000000, 0xFFFFFFFE, 0xFFFFFFFF, 0xDEADBEEF]  # fmt: skip


def pairs(width: int, count: int) -> list[np.ndarray]:
    """Columns of edge cases and random bits, every edge with every other in the first two."""
    random = np.random.default_rng(7)
    dtype = np.dtype(f"u{width}")
    mask = (1 << 8 * width) - 1
    edges = [e & mask for e in EDGES] + ([0x8000000000000000, 0x7FFFFFFFFFFFFFFF, mask] if width == 8 else [])
    left = [a for a in edges for _ in edges]
    right = [b for _ in edges for b in edges]
    noise = random.integers(0, mask, (3, 200), dtype=np.uint64, endpoint=True)
    third = [edges[(i * 7 + 3) % len(edges)] for i in range(len(left))]
    columns = [np.array(c, np.uint64) for c in (left, right, third)]
    return [np.concatenate([c, n]).astype(dtype) for c, n in zip(columns, noise, strict=True)][:count]


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def s(function: Callable[..., int], bits: int = 32) -> Callable[..., int]:
    return lambda *values: function(*(signed(v, bits) for v in values))


def bfe(a: int, p: int, n: int, bits: int, is_signed: bool) -> int:
    p, n = p & 0xFF, n & 0xFF
    sign = (a >> min(p + n - 1, bits - 1)) & 1 if is_signed and n else 0
    return sum((((a >> (p + i)) & 1) if i < n and p + i < bits else sign) << i for i in range(bits))


def bfi(a: int, b: int, p: int, n: int, bits: int) -> int:
    result = b
    for i in range(n & 0xFF):
        at = (p & 0xFF) + i
        if at < bits:
            result = result & ~(1 << at) | ((a >> i) & 1) << at
    return result


def prmt(a: int, b: int, c: int) -> int:
    pool = [(a >> 8 * i) & 0xFF for i in range(4)] + [(b >> 8 * i) & 0xFF for i in range(4)]
    result = 0
    for i in range(4):
        code = (c >> 4 * i) & 0xF
        byte = pool[code & 7]
        if code & 8:
            byte = 0xFF if byte & 0x80 else 0
        result |= byte << 8 * i
    return result


def dp4a(a: int, b: int, c: int) -> int:
    return c + sum(signed((a >> 8 * i) & 0xFF, 8) * signed((b >> 8 * i) & 0xFF, 8) for i in range(4))


def funnel(a: int, b: int, n: int, left: bool) -> int:
    joined = (b << 32) | a
    return (joined << n) >> 32 if left else joined >> n


CASES_32 = {
    "add.s32 {d}, {a}, {b}": lambda a, b: a + b,
    "sub.s32 {d}, {a}, {b}": lambda a, b: a - b,
    "mul.lo.s32 {d}, {a}, {b}": lambda a, b: a * b,
    "mul.hi.s32 {d}, {a}, {b}": s(lambda a, b: a * b >> 32),
    "mul.hi.u32 {d}, {a}, {b}": lambda a, b: a * b >> 32,
    "mad.lo.s32 {d}, {a}, {b}, {c}": lambda a, b, c: a * b + c,
    "mad.hi.u32 {d}, {a}, {b}, {c}": lambda a, b, c: (a * b >> 32) + c,
    "mul24.lo.s32 {d}, {a}, {b}": lambda a, b: signed(a & 0xFFFFFF, 24) * signed(b & 0xFFFFFF, 24),
    "add.sat.s32 {d}, {a}, {b}": s(lambda a, b: max(-(2**31), min(2**31 - 1, a + b))),
    "div.u32 {d}, {a}, {b}": lambda a, b: a // b if b else 0xFFFFFFFF,
    "div.s32 {d}, {a}, {b}": s(lambda a, b: quotient(a, b) if b else -1),
    "rem.u32 {d}, {a}, {b}": lambda a, b: a % b if b else a,
    "rem.s32 {d}, {a}, {b}": s(lambda a, b: a - quotient(a, b) * b if b else a),
    "min.s32 {d}, {a}, {b}": s(min),
    "max.u32 {d}, {a}, {b}": max,
    "neg.s32 {d}, {a}": lambda a: -a,
    "abs.s32 {d}, {a}": s(abs),
    "not.b32 {d}, {a}": lambda a: ~a,
    "cnot.b32 {d}, {a}": lambda a: int(a == 0),
    "and.b32 {d}, {a}, {b}": lambda a, b: a & b,
    "or.b32 {d}, {a}, {b}": lambda a, b: a | b,
    "xor.b32 {d}, {a}, 255": lambda a: a ^ 255,
    "shl.b32 {d}, {a}, {b}": lambda a, b: a << b if b < 32 else 0,
    "shr.u32 {d}, {a}, {b}": lambda a, b: a >> min(b, 64),
    "shr.s32 {d}, {a}, {b}": lambda a, b: signed(a, 32) >> min(b, 64),
    "shf.l.wrap.b32 {d}, {a}, {b}, {c}": lambda a, b, c: funnel(a, b, c & 31, True),
    "shf.l.clamp.b32 {d}, {a}, {b}, {c}": lambda a, b, c: funnel(a, b, min(c, 32), True),
    "shf.r.wrap.b32 {d}, {a}, {b}, {c}": lambda a, b, c: funnel(a, b, c & 31, False),
    "shf.r.clamp.b32 {d}, {a}, {b}, {c}": lambda a, b, c: funnel(a, b, min(c, 32), False),
    "prmt.b32 {d}, {a}, {b}, {c}": prmt,
    "lop3.b32 {d}, {a}, {b}, {c}, 0xCA": lambda a, b, c: (a & b) | (~a & c),
    "lop3.b32 {d}, {a}, {b}, {c}, 0x96": lambda a, b, c: a ^ b ^ c,
    "bfe.u32 {d}, {a}, {b}, {c}": lambda a, b, c: bfe(a, b, c, 32, False),
    "bfe.s32 {d}, {a}, {b}, {c}": lambda a, b, c: bfe(a, b, c, 32, True),
    "bfi.b32 {d}, {a}, {b}, 5, {c}": lambda a, b, c: bfi(a, b, 5, c, 32),
    "brev.b32 {d}, {a}": lambda a: int(f"{a:032b}"[::-1], 2),
    "clz.b32 {d}, {a}": lambda a: 32 - a.bit_length(),
    "popc.b32 {d}, {a}": lambda a: a.bit_count(),
    "bfind.u32 {d}, {a}": lambda a: a.bit_length() - 1,
    "bfind.s32 {d}, {a}": s(lambda a: (~a if a < 0 else a).bit_length() - 1),
    "bfind.shiftamt.u32 {d}, {a}": lambda a: 32 - a.bit_length() if a else -1,
    "sad.s32 {d}, {a}, {b}, {c}": s(lambda a, b, c: abs(a - b) + c),
    "sad.u32 {d}, {a}, {b}, {c}": lambda a, b, c: abs(a - b) + c,
    "dp4a.s32.s32 {d}, {a}, {b}, {c}": dp4a,
    "slct.s32.s32 {d}, {a}, {b}, {c}": lambda a, b, c: a if signed(c, 32) >= 0 else b,
    "setp.lt.s32 %p0, {a}, {b}; selp.b32 {d}, {a}, {b}, %p0": s(min),
    "setp.hi.u32 %p0, {a}, {b}; selp.b32 {d}, 1, 0, %p0": lambda a, b: int(a > b),
    "setp.eq.s32 %p0, {a}, {b}; setp.gt.or.u32 %p1|%p2, {a}, 40, %p0; selp.b32 {d}, 1, 0, %p2":
        lambda a, b: int(a <= 40 or a == b),
    "setp.lt.s32 %p1|%p2, {a}, {b}; selp.b32 {d}, 1, 0, %p2": s(lambda a, b: int(a >= b)),
    "set.ne.u32.s32 {d}, {a}, {b}": lambda a, b: -int(a != b),
    "mov.b32 {{%h0, %h1}}, {a}; mov.b32 {d}, {{%h1, %h0}}": lambda a: (a >> 16) | (a << 16),
    "add.cc.u32 %r11, {a}, {b}; addc.u32 {d}, {c}, 5": lambda a, b, c: c + 5 + (a + b >> 32),
    "sub.cc.u32 %r11, {a}, {b}; subc.u32 {d}, {c}, 5": lambda a, b, c: c - 5 - int(a < b),
    "mad.lo.cc.u32 %r11, {a}, {b}, {c}; madc.hi.u32 {d}, {a}, {b}, 1":
        lambda a, b, c: (a * b >> 32) + 1 + (((a * b & 0xFFFFFFFF) + c) >> 32),
    "cvt.u8.u32 %h0, {a}; cvt.u32.u16 {d}, %h0": lambda a: a & 0xFF,
    "cvt.s32.s8 {d}, {a}": lambda a: signed(a & 0xFF, 8),
    "cvt.s32.s16 {d}, {a}": lambda a: signed(a & 0xFFFF, 16),
    "cvt.sat.u8.s32 {d}, {a}": s(lambda a: max(0, min(255, a))),
    "cvt.sat.s8.s32 {d}, {a}": s(lambda a: max(-128, min(127, a))),
    "cvt.s64.s32 %d0, {a}; shr.s64 %d0, %d0, 16; cvt.u32.u64 {d}, %d0": lambda a: signed(a, 32) >> 16,
    "mul.wide.s32 %d0, {a}, {b}; shr.u64 %d0, %d0, 20; cvt.u32.u64 {d}, %d0": s(lambda a, b: a * b >> 20),
    "mad.wide.u32 %d0, {a}, {b}, 12; shr.u64 %d0, %d0, 20; cvt.u32.u64 {d}, %d0": lambda a, b: a * b + 12 >> 20,
    "{{ .reg .b32 %t; add.s32 %t, {a}, 1; {{ .reg .b32 %t; mov.b32 %t, {b}; mov.b32 %r11, %t; }} "
    "add.s32 {d}, %t, %r11; }}":
        lambda a, b: a + 1 + b,
}  # fmt: skip
CASES_64 = {
    "add.s64 {d}, {a}, {b}": lambda a, b: a + b,
    "mul.lo.s64 {d}, {a}, {b}": lambda a, b: a * b,
    "mul.hi.s64 {d}, {a}, {b}": s(lambda a, b: a * b >> 64, 64),
    "mul.hi.u64 {d}, {a}, {b}": lambda a, b: a * b >> 64,
    "div.s64 {d}, {a}, {b}": s(lambda a, b: quotient(a, b) if b else -1, 64),
    "rem.u64 {d}, {a}, {b}": lambda a, b: a % b if b else a,
    "max.s64 {d}, {a}, {b}": s(max, 64),
    "bfe.u64 {d}, {a}, 60, 9": lambda a: bfe(a, 60, 9, 64, False),
    "bfe.s64 {d}, {a}, 3, 30": lambda a: bfe(a, 3, 30, 64, True),
    "brev.b64 {d}, {a}": lambda a: int(f"{a:064b}"[::-1], 2),
    "setp.lt.s64 %p0, {a}, {b}; selp.b64 {d}, {a}, {b}, %p0": s(min, 64),
    "mov.b64 {{%r11, %r12}}, {a}; mov.b64 {d}, {{%r12, %r11}}": lambda a: (a >> 32) | (a << 32),
}  # fmt: skip
CASES_16 = {
    "add.s16 {d}, {a}, {b}": lambda a, b: a + b,
    "mul.hi.u16 {d}, {a}, {b}": lambda a, b: a * b >> 16,
    "mul.lo.s16 {d}, {a}, {b}": lambda a, b: a * b,
    "shr.s16 {d}, {a}, 3": lambda a: signed(a, 16) >> 3,
    "min.s16 {d}, {a}, {b}": s(min, 16),
    "div.s16 {d}, {a}, {b}": s(lambda a, b: quotient(a, b) if b else -1, 16),
}


@pytest.mark.parametrize(
    ("text", "width", "model"),
    [
        *((text, 4, model) for text, model in CASES_32.items()),
        *((text, 8, model) for text, model in CASES_64.items()),
        *((text, 2, model) for text, model in CASES_16.items()),
    ],
)
def test_an_integer_instruction_does_what_python_integers_do(text: str, width: int, model: Callable[..., int]) -> None:
    count = 1 + ("{b}" in text) + ("{c}" in text)
    inputs = pairs(width, count)
    got = one_instruction(text, inputs, np.dtype(f"u{width}"))
    mask = (1 << 8 * width) - 1
    expected = [model(*(int(v) for v in row)) & mask for row in zip(*inputs, strict=True)]
    wrong = [
        (row, int(g), e) for row, g, e in zip(zip(*inputs, strict=True), got, expected, strict=True) if int(g) != e
    ]
    assert not wrong, wrong[:3]
