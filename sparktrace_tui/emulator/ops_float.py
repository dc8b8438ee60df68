"""Floating-point instructions in float32, float64, float16 and bfloat16.

Rounded forms are exact. Approximate forms (`ex2`, `lg2`, `sin`, `cos`, `tanh`, `rcp`, `rsqrt`, `sqrt`, `div`) are
worked out in double and rounded to float32: within half a unit in the last place of the exact value, where hardware
may be off by the few units that the PTX manual allows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparktrace_tui.emulator import lanes, rounding
from sparktrace_tui.emulator.lanes import Bits, Value
from sparktrace_tui.emulator.ops import Action, Operands, lanewise, uncovered
from sparktrace_tui.emulator.ops_move import set_predicate
from sparktrace_tui.emulator.ptx import TYPE_BYTES, Instruction

_MODES = ("rn", "rz", "rm", "rp")
_TYPES = ("f32", "f64", "f16", "bf16", "f16x2", "bf16x2")
_NAN32 = np.uint32(0x7FFFFFFF)


@dataclass(frozen=True)
class _Form:
    """The modifiers of a floating-point instruction."""

    name: str
    type: str
    mode: str
    ftz: bool
    saturates: bool
    relu: bool
    parts: tuple[str, ...]


def build(ops: Operands, ins: Instruction) -> Action | None:
    """The action of a floating-point instruction; None where it is not one."""
    if ins.parts[-1] not in _TYPES:
        return None
    if ins.name in ("setp", "set"):
        return _compare(ops, ins)
    form = _form(ins)
    function = _function(form, ins)
    if function is None:
        return None
    target = ops.result(ins.operands[0], ins)
    width = TYPE_BYTES[form.type]
    places = tuple(ops.source(o, width, ins) for o in ins.operands[1:])
    if ins.name == "testp":
        return lanewise(ops, function, target, places)
    if form.type in ("f16x2", "bf16x2"):
        return lanewise(ops, _paired(function), target, places)
    return lanewise(ops, function, target, places)


def _form(ins: Instruction) -> _Form:
    extra = ins.parts[1:-1]
    known = {*_MODES, "ftz", "sat", "relu", "approx", "full", "NaN", "xorsign", "abs", "noftz", "oob"}
    if ins.name == "testp":
        known |= {"finite", "infinite", "number", "notanumber", "normal", "subnormal"}
    for part in extra:
        if part not in known:
            raise uncovered(ins)
    mode = next((part for part in extra if part in _MODES), "rn")
    return _Form(ins.name, ins.parts[-1], mode, "ftz" in extra, "sat" in extra, "relu" in extra, ins.parts)


def _paired(function: Callable[..., Bits]) -> Callable[..., Bits]:
    """A function of 16-bit values on both halves of 32-bit ones."""

    def run(*values: Bits) -> Bits:
        low = function(*((v & np.uint32(0xFFFF)).astype(np.uint16) for v in values))
        high = function(*((v >> np.uint32(16)).astype(np.uint16) for v in values))
        return low.astype(np.uint32) | (high.astype(np.uint32) << np.uint32(16))

    return run


def _see(form: _Form, bits: Bits) -> Any:
    """The bits as floats; subnormals flushed where the instruction says so."""
    match form.type:
        case "f32":
            values = bits.view(np.float32)
            return rounding.flush32(values) if form.ftz else values
        case "f64":
            return bits.view(np.float64)
        case "f16" | "f16x2":
            values = bits.view(np.float16)
            if form.ftz:
                return np.where(np.abs(values) < np.float16(6.104e-05), np.copysign(np.float16(0), values), values)
            return values
        case _:
            return rounding.bf16_to_f32(bits)


def _back(form: _Form, values: Any) -> Bits:
    """Floats of the type as bits, saturated and flushed as asked."""
    match form.type:
        case "f32":
            values = np.asarray(values, np.float32)
            if form.saturates:
                values = np.where(values > 0, np.minimum(values, np.float32(1)), np.float32(0)).astype(np.float32)
            if form.ftz:
                values = rounding.flush32(values)
            bits: Bits = values.view(np.uint32)
            return np.where(np.isnan(values), _NAN32, bits) if np.isnan(values).any() else bits
        case "f64":
            return np.asarray(values, np.float64).view(np.uint64)
        case "f16" | "f16x2":
            values = np.asarray(values, np.float16)
            if form.saturates:
                values = np.where(values > 0, np.minimum(values, np.float16(1)), np.float16(0)).astype(np.float16)
            if form.relu:
                values = np.where(values < 0, np.float16(0), values)
            if form.ftz:
                small = np.abs(values) < np.float16(6.104e-05)
                values = np.where(small, np.copysign(np.float16(0), values), values)
            bits = values.view(np.uint16)
            return np.where(np.isnan(values), np.uint16(0x7FFF), bits)
        case _:
            values = np.asarray(values, np.float64)
            if form.relu:
                values = np.where(values < 0, 0.0, values)
            return rounding.bf16_of(values)


def _function(form: _Form, ins: Instruction) -> Callable[..., Bits] | None:
    name = form.name
    if name in ("abs", "neg"):
        return _sign_function(form)
    if name == "copysign":
        return _copysign(form)
    if name in ("min", "max"):
        return _extreme_function(form)
    if name == "testp":
        return _test_function(form)
    if name in ("add", "sub", "mul", "fma", "mad", "div", "rcp", "sqrt"):
        arithmetic = _arithmetic(form, ins)
        return lambda *bits: _back(form, arithmetic(*(_see(form, b) for b in bits)))
    if name in _APPROXIMATE and (form.type == "f32" or name in ("tanh", "ex2")):
        approximate = _APPROXIMATE[name]
        return lambda bits: _back(form, _narrow(form, approximate(_see(form, bits).astype(np.float64))))
    if name in _APPROXIMATE and form.type == "f64":
        approximate = _APPROXIMATE[name]
        return lambda bits: _back(form, approximate(_see(form, bits)))
    return None


def _narrow(form: _Form, values: Any) -> Any:
    match form.type:
        case "f32":
            return values.astype(np.float32)
        case "f16" | "f16x2":
            return values.astype(np.float16)
        case _:
            return values


_APPROXIMATE: dict[str, Callable[[Any], Any]] = {
    "ex2": np.exp2,
    "lg2": np.log2,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "rsqrt": lambda x: np.where(x == 0, np.copysign(np.inf, x), 1.0 / np.sqrt(x)),
}


def _arithmetic(form: _Form, ins: Instruction) -> Callable[..., Any]:
    name, mode = form.name, form.mode
    if form.type == "f64":
        if mode != "rn":
            raise uncovered(ins, "directed rounding in double precision")
        plain: dict[str, Callable[..., Any]] = {
            "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "sqrt": np.sqrt,
            "rcp": lambda x: 1.0 / x, "fma": rounding.fma64, "mad": rounding.fma64,
        }  # fmt: skip
        return plain[name]
    if form.type == "f32" and mode == "rn":
        one = np.float32(1)
        single: dict[str, Callable[..., Any]] = {
            "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "sqrt": np.sqrt,
            "rcp": lambda x: one / x, "fma": rounding.fma32, "mad": rounding.fma32,
        }  # fmt: skip
        return single[name]
    return _exactly(form, ins)


def _exactly(form: _Form, ins: Instruction) -> Callable[..., Any]:
    """Through doubles and their remainders, for halves, bfloats and directed roundings."""
    kind: Any = {"f32": np.float32, "f16": np.float16, "f16x2": np.float16}.get(form.type)

    def rounded(s: Any, e: Any) -> Any:
        if kind is None:
            return rounding.to_odd(s, e)
        return rounding.directed(s, e, form.mode, kind)

    def run(*values: Any) -> Any:
        a, *others = (v.astype(np.float64) for v in np.broadcast_arrays(*values))
        match form.name:
            case "add":
                return rounded(*rounding.two_sum(a, others[0]))
            case "sub":
                return rounded(*rounding.two_sum(a, -others[0]))
            case "mul":
                return rounded(a * others[0], 0.0)
            case "fma" | "mad":
                return rounded(*rounding.two_sum(a * others[0], others[1]))
            case "div" | "rcp":
                over, under = (a, others[0]) if form.name == "div" else (np.ones_like(a), a)
                q = over / under
                p, pe = rounding.two_product(q, under)
                rest = (over - p) - pe
                return rounded(q, np.where(np.isfinite(q), np.sign(rest) * np.sign(under) * np.abs(q) * 1e-20, 0.0))
            case "sqrt":
                q = np.sqrt(a)
                p, pe = rounding.two_product(q, q)
                rest = (a - p) - pe
                return rounded(q, np.where(np.isfinite(q), np.sign(rest) * q * 1e-20, 0.0))
        raise uncovered(ins)

    return run


def _sign_bits(form: _Form) -> tuple[Any, Any]:
    kind: Any = {"f32": np.uint32, "f64": np.uint64}.get(form.type, np.uint16)
    top = kind(1 << (8 * kind().itemsize - 1))
    return top, kind(~top)


def _sign_function(form: _Form) -> Callable[..., Bits]:
    top, rest = _sign_bits(form)

    def run(bits: Bits) -> Bits:
        result = bits & rest if form.name == "abs" else bits ^ top
        if form.ftz and form.type == "f32":
            return rounding.flush32(result.view(np.float32)).view(np.uint32)
        made: Bits = result
        return made

    return run


def _copysign(form: _Form) -> Callable[..., Bits]:
    top, rest = _sign_bits(form)
    return lambda a, b: (b & rest) | (a & top)


def _extreme_function(form: _Form) -> Callable[..., Bits]:
    """min and max: a NaN gives way to a number (unless .NaN), and -0 is less than +0."""
    top, rest = _sign_bits(form)
    smallest = form.name == "min"
    keeps_nan = "NaN" in form.parts
    xor_sign = "xorsign" in form.parts
    canonical = {"f32": 0x7FFFFFFF, "f64": 0x7FFFFFFFFFFFFFFF}.get(form.type, 0x7FFF)

    def two(a: Bits, b: Bits) -> Bits:
        sign = (a ^ b) & top
        if xor_sign:
            a, b = a & rest, b & rest
        x, y = _see(form, a), _see(form, b)
        if form.ftz and form.type == "f32":
            a, b = x.view(np.uint32), y.view(np.uint32)
        tie = a | b if smallest else a & b
        chosen = np.where(x == y, tie, np.where(x < y if smallest else x > y, a, b))
        x_nan, y_nan = np.isnan(x), np.isnan(y)
        lone = np.where(x_nan, b, np.where(y_nan, a, chosen))
        gone = (x_nan | y_nan) if keeps_nan else (x_nan & y_nan)
        result = np.where(gone, a.dtype.type(canonical), lone).astype(a.dtype)
        if form.relu:
            negative = (result & top != 0) & ~gone
            result = np.where(negative, a.dtype.type(0), result)
        return np.where(gone, result, (result & rest) | sign) if xor_sign else result

    def run(*values: Bits) -> Bits:
        result = values[0]
        for value in values[1:]:
            result = two(result, value)
        return result

    return run


def _test_function(form: _Form) -> Callable[..., Bits]:
    tiny = 1.1754944e-38 if form.type == "f32" else 2.2250738585072014e-308

    def run(bits: Bits) -> Bits:
        values = _see(form, bits)
        made: Bits
        match form.parts[1]:
            case "finite":
                made = np.isfinite(values)
            case "infinite":
                made = np.isinf(values)
            case "number":
                made = ~np.isnan(values)
            case "notanumber":
                made = np.isnan(values)
            case "normal":
                made = np.isfinite(values) & (np.abs(values) >= tiny)
            case _:
                made = (np.abs(values) < tiny) & (values != 0)
        return made

    return run


_ORDERED: dict[str, Callable[[Any, Any], Any]] = {
    "eq": np.equal, "ne": lambda a, b: (a < b) | (a > b), "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal,
    "equ": lambda a, b: ~((a < b) | (a > b)), "neu": np.not_equal,
    "ltu": lambda a, b: ~(a >= b), "leu": lambda a, b: ~(a > b),
    "gtu": lambda a, b: ~(a <= b), "geu": lambda a, b: ~(a < b),
    "num": lambda a, b: ~(np.isnan(a) | np.isnan(b)), "nan": lambda a, b: np.isnan(a) | np.isnan(b),
}  # fmt: skip


def _compare(ops: Operands, ins: Instruction) -> Action:
    type_name = ins.parts[-1]
    if type_name in ("f16x2", "bf16x2") or ins.parts[1] not in _ORDERED:
        raise uncovered(ins)
    function = _ORDERED[ins.parts[1]]
    join = next((part for part in ins.parts[2:-1] if part in ("and", "or", "xor")), None)
    form = _Form(ins.name, type_name, "rn", "ftz" in ins.parts, False, False, ins.parts)

    def compare(a: Value, b: Value) -> Bits:
        return function(_see(form, lanes.full(a)), _see(form, lanes.full(b)))  # type: ignore[no-any-return]

    return set_predicate(ops, ins, compare, TYPE_BYTES[type_name], join)
