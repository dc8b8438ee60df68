"""Floating-point instructions and conversions against exact fractions, rounded once by a slow model."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from tests.emulator.engine_support import one_instruction
from tests.emulator.slow_models import rounded

SPECIAL_32 = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 3.0, math.inf, -math.inf, math.nan, 1e-45, -1e-45, 1.1754944e-38,
              3.4028235e38, -3.4028235e38, 16777217.0, 0.1, 1 / 3, 2.0**-126, 1e-40]  # fmt: skip


def floats(kind: str, count: int) -> list[np.ndarray]:
    """Columns of special values (all pairs) and of random bits and near-cancelling values."""
    random = np.random.default_rng(11)
    dtype = {"f16": np.float16, "f32": np.float32, "f64": np.float64}[kind]
    left = [a for a in SPECIAL_32 for _ in SPECIAL_32]
    right = [b for _ in SPECIAL_32 for b in SPECIAL_32]
    third = [SPECIAL_32[(i * 7 + 3) % len(SPECIAL_32)] for i in range(len(left))]
    bits = {2: np.uint16, 4: np.uint32, 8: np.uint64}[np.dtype(dtype).itemsize]
    columns = []
    with np.errstate(all="ignore"):
        x = random.normal(size=300)
        y = random.normal(size=300) * 10.0 ** random.integers(-6, 6, 300)
        near = -(x.astype(dtype).astype(np.float64) * y.astype(dtype).astype(np.float64)) * (
            1 + 1e-7 * random.normal(size=300)
        )
        for special, normal in zip((left, right, third), (x, y, near), strict=True):
            noise = random.integers(0, np.iinfo(bits).max, 200, dtype=bits).view(dtype)
            columns.append(np.concatenate([np.array(special, np.float64).astype(dtype), normal.astype(dtype), noise]))
    return columns[:count]


def exactly(function: Callable[..., Fraction], plain: Callable[..., float], kind: str, mode: str = "rn"):
    """A model: exact where all is finite and the result is not zero, Python's own floats for the rest."""

    def model(*values: float) -> float:
        values = tuple(float(v) for v in values)
        with np.errstate(all="ignore"):
            rough = float(plain(*(np.float64(v) for v in values)))
        if not all(math.isfinite(v) for v in values):
            return rough
        try:
            exact = function(*(Fraction(v) for v in values))
        except ZeroDivisionError:
            return rough
        return rounded(exact, kind, mode) if exact else rough

    return model


def root(kind: str) -> Callable[[float], float]:
    def model(value: float) -> float:
        value = float(value)
        if not value > 0 or math.isinf(value):
            return value if value == 0 or value > 0 else math.nan
        scale = 1 << 400
        return (
            rounded(Fraction(math.isqrt(int(Fraction(value) * scale * scale)) * 2 + 1, 2 * scale), kind)
            if math.isqrt(int(Fraction(value) * scale * scale)) ** 2 != Fraction(value) * scale * scale
            else rounded(Fraction(math.isqrt(int(Fraction(value) * scale * scale)), scale), kind)
        )

    return model


ADD = (lambda a, b: a + b, lambda a, b: a + b)
MUL = (lambda a, b: a * b, lambda a, b: a * b)
DIV = (lambda a, b: a / b, lambda a, b: np.divide(a, b))
FMA = (lambda a, b, c: a * b + c, lambda a, b, c: a * b + c)
CASES = [
    ("add.f32 {d}, {a}, {b}", "f32", exactly(*ADD, "f32")),
    ("sub.rn.f32 {d}, {a}, {b}", "f32", exactly(lambda a, b: a - b, lambda a, b: a - b, "f32")),
    ("mul.f32 {d}, {a}, {b}", "f32", exactly(*MUL, "f32")),
    ("fma.rn.f32 {d}, {a}, {b}, {c}", "f32", exactly(*FMA, "f32")),
    ("fma.rz.f32 {d}, {a}, {b}, {c}", "f32", exactly(*FMA, "f32", "rz")),
    ("add.rm.f32 {d}, {a}, {b}", "f32", exactly(*ADD, "f32", "rm")),
    ("add.rp.f32 {d}, {a}, {b}", "f32", exactly(*ADD, "f32", "rp")),
    ("mul.rz.f32 {d}, {a}, {b}", "f32", exactly(*MUL, "f32", "rz")),
    ("div.rn.f32 {d}, {a}, {b}", "f32", exactly(*DIV, "f32")),
    ("div.rz.f32 {d}, {a}, {b}", "f32", exactly(*DIV, "f32", "rz")),
    ("rcp.rn.f32 {d}, {a}", "f32", exactly(lambda a: 1 / a, lambda a: np.divide(1.0, a), "f32")),
    ("sqrt.rn.f32 {d}, {a}", "f32", root("f32")),
    ("add.f64 {d}, {a}, {b}", "f64", exactly(*ADD, "f64")),
    ("mul.f64 {d}, {a}, {b}", "f64", exactly(*MUL, "f64")),
    ("fma.rn.f64 {d}, {a}, {b}, {c}", "f64", exactly(*FMA, "f64")),
    ("div.rn.f64 {d}, {a}, {b}", "f64", exactly(*DIV, "f64")),
    ("add.f16 {d}, {a}, {b}", "f16", exactly(*ADD, "f16")),
    ("mul.f16 {d}, {a}, {b}", "f16", exactly(*MUL, "f16")),
    ("fma.rn.f16 {d}, {a}, {b}, {c}", "f16", exactly(*FMA, "f16")),
]


def same(got: float, expected: float) -> bool:
    if math.isnan(expected):
        return math.isnan(got)
    return got == expected and math.copysign(1, got) == math.copysign(1, expected)


@pytest.mark.parametrize(("text", "kind", "model"), CASES, ids=[case[0].split()[0] for case in CASES])
def test_a_rounded_instruction_is_the_exact_result_rounded_once(
    text: str, kind: str, model: Callable[..., float]
) -> None:
    inputs = floats(kind, 1 + ("{b}" in text) + ("{c}" in text))
    got = one_instruction(text, inputs, inputs[0].dtype)
    wrong = [
        (row, g, model(*row))
        for row, g in zip(zip(*inputs, strict=True), got, strict=True)
        if not same(float(g), model(*row))
    ]
    assert not wrong, (len(wrong), wrong[:3])


def test_fused_multiply_add_differs_from_two_roundings_where_it_must() -> None:
    a = np.array([1 + 2**-12], np.float32)
    got = one_instruction("fma.rn.f32 {d}, {a}, {a}, {b}", [a, np.array([-(1 + 2**-11)], np.float32)], a.dtype)
    assert got[0] == np.float32(2**-24)


def test_fused_multiply_add_is_not_rounded_to_double_on_the_way() -> None:
    """24929 x 673 = 2^24 + 1: the product is halfway between two floats, and 2^-80 tips it upward."""
    a, b, c = (np.array([v], np.float32) for v in (24929.0, 673.0 * 2.0**-24, 2.0**-80))
    assert one_instruction("fma.rn.f32 {d}, {a}, {b}, {c}", [a, b, c], a.dtype)[0] == np.float32(1 + 2**-23)
    assert one_instruction("fma.rn.f32 {d}, {a}, {b}, {c}", [a, b, -c], a.dtype)[0] == np.float32(1)


@pytest.mark.parametrize(
    ("name", "chosen", "nan"),
    [("min", min, False), ("max", max, False), ("min.NaN", min, True), ("max.NaN", max, True)],
)
def test_extremes_prefer_numbers_to_nan_unless_told(name: str, chosen: Callable[..., float], nan: bool) -> None:
    a, b = floats("f32", 2)
    got = one_instruction(f"{name}.f32 {{d}}, {{a}}, {{b}}", [a, b], a.dtype)
    for x, y, g in zip(a.tolist(), b.tolist(), got.tolist(), strict=True):
        if math.isnan(x) or math.isnan(y):
            expected = math.nan if nan or (math.isnan(x) and math.isnan(y)) else y if math.isnan(x) else x
        elif x == y == 0:
            signs = (math.copysign(1, x), math.copysign(1, y))
            expected = math.copysign(0.0, chosen(signs))
        else:
            expected = chosen(x, y)
        assert same(g, expected), (x, y, g)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("ex2.approx.f32", lambda x: 2.0**x),
        ("lg2.approx.f32", math.log2),
        ("sin.approx.f32", math.sin),
        ("cos.approx.f32", math.cos),
        ("tanh.approx.f32", math.tanh),
        ("rsqrt.approx.f32", lambda x: 1 / math.sqrt(x)),
        ("sqrt.approx.f32", math.sqrt),
        ("rcp.approx.ftz.f32", lambda x: 1 / x),
    ],
)
def test_an_approximate_form_is_within_one_unit_of_the_exact_value(
    name: str, function: Callable[[float], float]
) -> None:
    x = np.linspace(0.01, 30, 400).astype(np.float32)
    got = one_instruction(f"{name} {{d}}, {{a}}", [x], x.dtype)
    expected = np.array([function(float(v)) for v in x])
    assert np.all(np.abs(got - expected) <= np.spacing(np.abs(expected).astype(np.float32)))


def test_flush_to_zero_keeps_the_sign() -> None:
    x = np.array([1e-40, -1e-40, 1.0], np.float32)
    got = one_instruction("add.ftz.f32 {d}, {a}, {b}", [x, np.array([-0.0, -0.0, 1e-40], np.float32)], x.dtype)
    assert got.tolist() == [0.0, -0.0, 1.0]
    assert np.signbit(got).tolist() == [False, True, False]
    kept = one_instruction("add.f32 {d}, {a}, {b}", [x, np.zeros(3, np.float32)], x.dtype)
    assert kept.tolist() == x.tolist()


@pytest.mark.parametrize(
    ("test", "model"),
    [
        ("lt", lambda a, b: a < b),
        ("neu", lambda a, b: a != b),
        ("ne", lambda a, b: a < b or a > b),
        ("geu", lambda a, b: not a < b),
        ("equ", lambda a, b: not (a < b or a > b)),
        ("num", lambda a, b: not (math.isnan(a) or math.isnan(b))),
        ("nan", lambda a, b: math.isnan(a) or math.isnan(b)),
    ],
)
def test_comparisons_treat_nan_as_the_name_says(test: str, model: Callable[[float, float], bool]) -> None:
    a, b = floats("f32", 2)
    got = one_instruction(f"setp.{test}.f32 %p0, {{a}}, {{b}}; selp.u32 {{d}}, 1, 0, %p0", [a, b], np.dtype("u4"))
    assert got.tolist() == [int(model(x, y)) for x, y in zip(a.tolist(), b.tolist(), strict=True)]


INTEGER = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}


@pytest.mark.parametrize("mode", INTEGER)
@pytest.mark.parametrize(("to", "low", "high"), [("s32", -(2**31), 2**31 - 1), ("u32", 0, 2**32 - 1)])
def test_float_to_integer_rounds_as_asked_and_stops_at_the_ends(mode: str, to: str, low: int, high: int) -> None:
    (x,) = floats("f32", 1)
    x = np.concatenate([x, np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 2147483520.0, 4294967040.0], np.float32)])
    got = one_instruction(f"cvt.{mode}.{to}.f32 {{d}}, {{a}}", [x], np.dtype("i4" if to == "s32" else "u4"))
    for value, g in zip(x.tolist(), got.tolist(), strict=True):
        if math.isnan(value):
            assert g == 0
        else:
            whole = INTEGER[mode](value) if math.isfinite(value) else (high + 1 if value > 0 else low - 1)
            assert g == max(low, min(high, whole)), value


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
def test_integers_and_doubles_become_floats_rounded_as_asked(mode: str) -> None:
    random = np.random.default_rng(3)
    whole = random.integers(-(2**63), 2**63 - 1, 300)
    got = one_instruction(f"cvt.{mode}.f32.s64 {{d}}, {{a}}", [whole.view(np.uint64)], np.dtype("f4"))
    assert got.tolist() == [rounded(Fraction(int(w)), "f32", mode) for w in whole]
    (double,) = floats("f64", 1)
    double = double[np.isfinite(double) & (double != 0)]
    got = one_instruction(f"cvt.{mode}.f32.f64 {{d}}, {{a}}", [double], np.dtype("f4"))
    assert got.tolist() == [rounded(Fraction(float(v)), "f32", mode) for v in double]


def test_halves_and_bfloats_come_and_go_with_one_rounding() -> None:
    (x,) = floats("f32", 1)
    x = x[np.isfinite(x) & (x != 0)]
    half = one_instruction("cvt.rn.f16.f32 {d}, {a}", [x], np.dtype("f2"))
    assert half.astype(np.float64).tolist() == [rounded(Fraction(float(v)), "f16") for v in x]
    brain = one_instruction("cvt.rn.bf16.f32 {d}, {a}", [x], np.dtype("u2"))
    back = (brain.astype(np.uint32) << 16).view(np.float32)
    assert back.tolist() == [rounded(Fraction(float(v)), "bf16") for v in x]
    again = one_instruction("cvt.f32.bf16 {d}, {a}", [brain], np.dtype("f4"))
    assert again.tolist() == back.tolist()
    packed = one_instruction("cvt.rn.f16x2.f32 {d}, {a}, {b}", [x, x[::-1].copy()], np.dtype("u4"))
    assert (packed >> 16).astype(np.uint16).tolist() == half.view(np.uint16).tolist()
    assert (packed & 0xFFFF).astype(np.uint16).tolist() == half.view(np.uint16)[::-1].tolist()


def test_bfloat_fused_multiply_add_rounds_once() -> None:
    random = np.random.default_rng(5)
    bits = [(random.normal(size=300).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16) for _ in range(3)]
    got = one_instruction("fma.rn.bf16 {d}, {a}, {b}, {c}", bits, np.dtype("u2"))
    values = [(b.astype(np.uint32) << 16).view(np.float32).tolist() for b in bits]
    expected = [rounded(Fraction(a) * Fraction(b) + Fraction(c), "bf16") for a, b, c in zip(*values, strict=True)]
    assert (got.astype(np.uint32) << 16).view(np.float32).tolist() == expected


def test_packed_halves_are_two_sums() -> None:
    x = np.array([0x3C004000, 0x7BFF0001], np.uint32)
    y = np.array([0x3C003C00, 0x7BFF0001], np.uint32)
    got = one_instruction("add.f16x2 {d}, {a}, {b}", [x, y], np.dtype("u4"))
    assert [hex(v) for v in got] == ["0x40004200", "0x7c000002"]


def test_saturation_ends_at_zero_and_one_and_sends_nan_to_zero() -> None:
    x = np.array([-1.0, 0.25, 2.0, math.nan], np.float32)
    got = one_instruction("add.sat.f32 {d}, {a}, {b}", [x, np.zeros(4, np.float32)], x.dtype)
    assert got.tolist() == [0.0, 0.25, 1.0, 0.0]
