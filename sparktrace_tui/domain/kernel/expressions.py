"""Arithmetic over problem sizes, as written in a family file: parsed, checked against a short list, evaluated."""

import ast
import math
from collections.abc import Callable, Mapping

Number = int | float

_BINARY: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
    ast.LShift: lambda a, b: _shift(a, b),
    ast.RShift: lambda a, b: _shift(a, -b),
}


def _shift(a: Number, bits: Number) -> int:
    if not (isinstance(a, int) and isinstance(bits, int) and abs(bits) < 64):
        raise ValueError(f"cannot shift {a} by {abs(bits)} bits")
    return a << bits if bits >= 0 else a >> -bits


def ceil_div(a: Number, b: Number) -> int:
    """The number of pieces of `b` that cover `a`."""
    return int(-(-a // b))


_FUNCTIONS: dict[str, Callable[..., Number]] = {
    "ceil_div": ceil_div,
    "min": min,
    "max": max,
    "sqrt": math.sqrt,
    "log2": math.log2,
}


def evaluate(text: str | Number, symbols: Mapping[str, Number]) -> Number:
    """The value of `text` where names are `symbols`; ValueError says what cannot be read.

    Allowed: numbers, names, + - * / // % << >> (whole numbers), unary minus, and ceil_div, min, max, sqrt, log2.
    """
    if not isinstance(text, str):
        return text
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError as error:
        raise ValueError(f"cannot read the expression {text!r}") from error
    return _value(tree.body, symbols, text)


def _value(node: ast.expr, symbols: Mapping[str, Number], text: str) -> Number:
    match node:
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.Name(id=name):
            if name in symbols:
                return symbols[name]
            known = ", ".join(sorted(symbols)) or "none"
            raise ValueError(f"unknown name {name!r} in {text!r} (known: {known})")
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, symbols, text)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            a, b = _value(left, symbols, text), _value(right, symbols, text)
            try:
                return _BINARY[type(op)](a, b)
            except ZeroDivisionError as error:
                raise ValueError(f"division by zero in {text!r}") from error
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_value(arg, symbols, text) for arg in args))
        case _:
            raise ValueError(f"not allowed in an expression: {text!r}")
