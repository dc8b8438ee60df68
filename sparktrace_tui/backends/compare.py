"""Compares an output with its reference under the family's tolerance and contract."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sparktrace_tui.backends.inputs import NUMPY_DTYPES, AnyArray, from_bf16, to_bf16
from sparktrace_tui.domain.kernel.expressions import evaluate
from sparktrace_tui.domain.kernel.family import Contract
from sparktrace_tui.domain.kernel.plan import Array, Size


@dataclass(frozen=True)
class Mismatch:
    """The first wrong element of an array: its index, both values, and how many are wrong in all."""

    array: str
    index: tuple[int, ...]
    got: float
    expected: float
    wrong: int
    elements: int

    def __str__(self) -> str:
        place = ", ".join(str(i) for i in self.index)
        return (
            f"{self.array}[{place}] is {self.got:.9g}, expected {self.expected:.9g} "
            f"({self.wrong} of {self.elements} elements differ)"
        )


def compare(
    array: Array, got: AnyArray, reference: npt.NDArray[np.generic], contract: Contract, size: Size
) -> Mismatch | None:
    """The first element that breaks the tolerance or the contract, in C order; None where all hold.

    `got` has the array's dtype and shape; `reference` is float64 or int64 of the same shape.
    """
    reference = np.asarray(reference)
    if reference.shape != got.shape:
        raise ValueError(f"the reference gives {array.name} the shape {reference.shape}, not {got.shape}")
    if array.dtype[0] in "iu":
        right = got == reference.astype(got.dtype)
        return _first(array.name, ~right, got.astype(np.float64), reference.astype(np.float64))
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        if array.dtype == "bf16":
            expected = from_bf16(to_bf16(reference.astype(np.float64)))
            values = from_bf16(got)
        else:
            expected = reference.astype(NUMPY_DTYPES[array.dtype]).astype(np.float64)
            values = got.astype(np.float64)
        right = _right(array, values, expected, reference.astype(np.float64), contract, size)
    return _first(array.name, ~right, values, expected)


def _right(
    array: Array,
    values: npt.NDArray[np.float64],
    expected: npt.NDArray[np.float64],
    exact_reference: npt.NDArray[np.float64],
    contract: Contract,
    size: Size,
) -> npt.NDArray[np.bool_]:
    if array.tolerance.exact:
        right = values == expected
    else:
        absolute = float(evaluate(array.tolerance.absolute, size))
        relative = float(evaluate(array.tolerance.relative, size))
        right = np.abs(values - exact_reference) <= absolute + relative * np.abs(exact_reference)
        right |= np.isinf(expected) & (values == expected)
    if contract.nan == "match":
        right = np.where(np.isnan(expected), np.isnan(values), right)
    if contract.signed_zero == "exact":
        right &= (expected != 0) | (np.signbit(values) == np.signbit(expected))
    if contract.denormal == "may_flush":
        tiny = float(np.finfo(np.float32).tiny)
        right |= (np.abs(expected) < tiny) & (values == 0)
    return np.asarray(right, np.bool_)


def _first(
    name: str,
    wrong: npt.NDArray[np.bool_],
    got: npt.NDArray[np.float64],
    expected: npt.NDArray[np.float64],
) -> Mismatch | None:
    count = int(wrong.sum())
    if not count:
        return None
    place = int(np.argmax(wrong.reshape(-1)))
    index = tuple(int(i) for i in np.unravel_index(place, wrong.shape))
    return Mismatch(name, index, float(got[index]), float(expected[index]), count, wrong.size)
