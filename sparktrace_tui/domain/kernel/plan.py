"""Launch plans: the arrays, scalars and ordered kernel launches of a variant, as data that any backend runs."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sparktrace_tui.domain.kernel.expressions import Number, evaluate

DType = Literal["f32", "f64", "f16", "bf16", "i32", "u32", "i64", "u64", "i8", "u8"]
DTYPE_BYTES: dict[str, int] = {
    "f32": 4, "f64": 8, "f16": 2, "bf16": 2, "i32": 4, "u32": 4, "i64": 8, "u64": 8, "i8": 1, "u8": 1,
}  # fmt: skip
Role = Literal["in", "out", "inout", "temp"]
Size = Mapping[str, Number]


@dataclass(frozen=True)
class Fill:
    """How an array's contents are drawn: `kind` names the distribution, `parameters` are its numbers."""

    kind: str
    parameters: Mapping[str, Number | str | list[Number]]


@dataclass(frozen=True)
class Tolerance:
    """An output element x passes against its reference r if |x - r| <= absolute + relative * |r|.

    Both may be expressions over the size. `exact` asks for equal values (bits, but for the contract's freedoms).
    """

    absolute: str | Number = 0.0
    relative: str | Number = 0.0
    exact: bool = False


@dataclass(frozen=True)
class Array:
    """A device array: `shape` holds expressions over the size; `out` and `inout` arrays are compared."""

    name: str
    dtype: DType
    shape: tuple[str | Number, ...]
    role: Role
    fill: Fill
    tolerance: Tolerance

    def resolve_shape(self, size: Size) -> tuple[int, ...]:
        return tuple(int(evaluate(extent, size)) for extent in self.shape)


@dataclass(frozen=True)
class Scalar:
    """A by-value kernel argument; `value` may be an expression over the size."""

    name: str
    dtype: DType
    value: str | Number


@dataclass(frozen=True)
class Launch:
    """One kernel launch, or `repeat` of them; expressions may use the size, the scalars and `rep` (0, 1, ...).

    An argument is an array's name, an array's name with an element offset (`in[rep * chunk]`), a scalar's name,
    or `dtype:expression` for a value of its own (`i32:rep + 1`). `in_step`: repeated together with the launch
    before it (which has the `repeat`), so that the two take turns.
    """

    kernel: str
    grid: tuple[str | Number, str | Number, str | Number]
    block: tuple[int, int, int]
    args: tuple[str, ...]
    shared_bytes: str | Number = 0
    repeat: str | Number = 1
    in_step: bool = False


@dataclass(frozen=True)
class ArrayArg:
    """A pointer argument: the array and the element it points at."""

    array: str
    offset: int = 0


@dataclass(frozen=True)
class ScalarArg:
    """A by-value argument."""

    dtype: DType
    value: Number


@dataclass(frozen=True)
class ResolvedLaunch:
    """A launch with every expression evaluated."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    args: tuple[ArrayArg | ScalarArg, ...]

    @property
    def blocks(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads_per_block(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]


_OFFSET = re.compile(r"^(?P<array>[A-Za-z_]\w*)\[(?P<offset>.+)\]$")


def resolve_launches(
    launches: tuple[Launch, ...], arrays: Mapping[str, Array], scalars: Mapping[str, Scalar], size: Size
) -> tuple[ResolvedLaunch, ...]:
    """The launches of a plan at one size, repeats unrolled; ValueError names what does not resolve."""
    values = resolve_scalars(scalars, size)
    symbols: dict[str, Number] = {**values, **size}
    resolved = []
    for group in _groups(launches):
        for rep in range(int(evaluate(group[0].repeat, symbols))):
            resolved += [_resolve(launch, arrays, scalars, {**symbols, "rep": rep}) for launch in group]
    return tuple(resolved)


def _groups(launches: tuple[Launch, ...]) -> list[list[Launch]]:
    """Each launch with those that are repeated in step with it."""
    groups: list[list[Launch]] = []
    for launch in launches:
        if launch.in_step and not groups:
            raise ValueError("the first launch has none before it to be in step with")
        if launch.in_step and launch.repeat != 1:
            raise ValueError("a launch in step has no repeat of its own")
        if launch.in_step:
            groups[-1].append(launch)
        else:
            groups.append([launch])
    return groups


def _resolve(
    launch: Launch, arrays: Mapping[str, Array], scalars: Mapping[str, Scalar], symbols: Mapping[str, Number]
) -> ResolvedLaunch:
    gx, gy, gz = (int(evaluate(extent, symbols)) for extent in launch.grid)
    return ResolvedLaunch(
        kernel=launch.kernel,
        grid=(gx, gy, gz),
        block=launch.block,
        shared_bytes=int(evaluate(launch.shared_bytes, symbols)),
        args=tuple(_argument(text, arrays, scalars, symbols) for text in launch.args),
    )


def resolve_scalars(scalars: Mapping[str, Scalar], size: Size) -> dict[str, Number]:
    """The scalars' values at one size; a scalar may use those written before it."""
    values: dict[str, Number] = {}
    for scalar in scalars.values():
        values[scalar.name] = evaluate(scalar.value, {**values, **size})
    return values


def _argument(
    text: str, arrays: Mapping[str, Array], scalars: Mapping[str, Scalar], symbols: Mapping[str, Number]
) -> ArrayArg | ScalarArg:
    if text in arrays:
        return ArrayArg(text)
    if text in scalars:
        return ScalarArg(scalars[text].dtype, symbols[text])
    if (found := _OFFSET.match(text)) and found["array"] in arrays:
        return ArrayArg(found["array"], int(evaluate(found["offset"], symbols)))
    dtype, colon, expression = text.partition(":")
    if colon and dtype in DTYPE_BYTES:
        return ScalarArg(dtype, evaluate(expression, symbols))  # type: ignore[arg-type]
    raise ValueError(f"argument {text!r} is neither an array, a scalar, array[offset] nor dtype:expression")
