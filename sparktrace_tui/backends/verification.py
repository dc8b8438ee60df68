"""Verifies a variant against its family's reference: the one judge of every backend, which only runs the plan."""

import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sparktrace_tui.backends.compare import Mismatch, compare
from sparktrace_tui.backends.inputs import NUMPY_DTYPES, AnyArray, check_arrays, from_bf16
from sparktrace_tui.backends.protocol import CheckResult, Verification
from sparktrace_tui.domain.errors import BadInput
from sparktrace_tui.domain.kernel.expressions import Number
from sparktrace_tui.domain.kernel.family import Check, Family
from sparktrace_tui.domain.kernel.plan import ResolvedLaunch, Size, resolve_scalars

POISON_BYTE = 0x7B  # a large finite number in every float type, so that no tolerance lets an unwritten element pass

# After these the device (or the worker) is not to be trusted with the next check.
FATAL_VERDICTS = ("hang", "crash")

Reference = Callable[[dict[str, AnyArray], dict[str, Number]], Mapping[str, npt.NDArray[np.generic]]]


class Ran(NamedTuple):
    """What came of one run of a plan: the arrays afterwards, and what the backend saw on the way.

    faults: (verdict, message) of what is wrong in itself, worst first (`race`, `out_of_bounds`, `hang`, ...).
    notes: benign findings. guard_violations: one message for each array with writes before or past its ends.
    """

    arrays: Mapping[str, AnyArray]
    faults: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    guard_violations: tuple[str, ...] = ()


RunPlan = Callable[[tuple[ResolvedLaunch, ...], dict[str, AnyArray]], Ran]


def verify_variant(
    family: Family,
    folder: Path,
    variant_id: str,
    seed: int,
    run_plan: RunPlan,
    progress: Callable[[str], None] | None = None,
) -> Verification:
    """Run every check of the family through `run_plan` and judge what comes back.

    `run_plan` gets the launches at the check's size and the filled arrays; `out` and `temp` arrays hold a poison
    pattern. It may change the arrays it is given. BadInput where the family's reference.py fails.
    """
    reference = load_reference(folder)
    results: list[CheckResult] = []
    notes: dict[str, None] = {}
    for number, check in enumerate(family.checks, 1):
        if progress is not None:
            progress(f"verify {number} of {len(family.checks)} ({show_size(check.size)})")
        result, found = _run_check(family, folder, variant_id, check, seed, run_plan, reference)
        results.append(result)
        notes.update(dict.fromkeys(found))
        if result.verdict in FATAL_VERDICTS:
            break
    verdict = next((r.verdict for r in results if r.verdict != "correct"), "correct")
    return Verification(variant_id, verdict, tuple(results), tuple(notes))


def _run_check(
    family: Family,
    folder: Path,
    variant_id: str,
    check: Check,
    seed: int,
    run_plan: RunPlan,
    reference: Reference,
) -> tuple[CheckResult, tuple[str, ...]]:
    arrays = check_arrays(family, check, seed)
    expected = expected_outputs(family, folder, check.size, arrays, reference)
    ran = run_plan(family.launches(variant_id, check.size), device_arrays(family, arrays))
    verdict, message = judge(family, check.size, arrays, expected, ran)
    return CheckResult(check.size, verdict, message), ran.notes


def device_arrays(family: Family, arrays: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
    """Fresh copies for a run: inputs as drawn, what the plan must write itself poisoned."""
    return {
        name: poison(array) if family.arrays[name].role in ("out", "temp") else array.copy()
        for name, array in arrays.items()
    }


def poison(like: AnyArray) -> AnyArray:
    """An array of that shape and dtype whose every byte is POISON_BYTE."""
    return np.full(like.nbytes, POISON_BYTE, np.uint8).view(like.dtype).reshape(like.shape)


def judge(
    family: Family,
    size: Size,
    before: Mapping[str, AnyArray],
    expected: Mapping[str, npt.NDArray[np.generic]],
    ran: Ran,
) -> tuple[str, str]:
    """(verdict, message) of one run, by its faults, guard bands, inputs, then outputs in the family's order."""
    at = show_size(size)
    if ran.faults:
        verdict, message = ran.faults[0]
        return verdict, f"{message} ({at})"
    if ran.guard_violations:
        return "out_of_bounds", f"{ran.guard_violations[0]} ({at})"
    for name, array in family.arrays.items():
        if array.role == "in":
            changed = ran.arrays[name].view(np.uint8).reshape(-1) != before[name].view(np.uint8).reshape(-1)
            if changed.any():
                place = _index(int(np.argmax(changed)) // before[name].itemsize, before[name].shape)
                return "wrong", f"{name} is an input, but {name}[{place}] was changed ({at})"
    for name, array in family.arrays.items():
        if array.role in ("out", "inout"):
            mismatch = compare(array, ran.arrays[name], expected[name], family.contract, size)
            if mismatch is not None:
                return "wrong", _describe(mismatch, ran.arrays[name], array.role, at)
    return "correct", ""


def _describe(mismatch: Mismatch, got: AnyArray, role: str, at: str) -> str:
    unwritten = role == "out" and got[mismatch.index].tobytes() == bytes([POISON_BYTE]) * got.itemsize
    if unwritten:
        place = ", ".join(str(i) for i in mismatch.index)
        return (
            f"{mismatch.array}[{place}] was not written, expected {mismatch.expected:.9g} "
            f"({mismatch.wrong} of {mismatch.elements} elements differ; {at})"
        )
    return f"{str(mismatch).removesuffix(')')}; {at})"


def _index(flat: int, shape: tuple[int, ...]) -> str:
    return ", ".join(str(int(i)) for i in np.unravel_index(flat, shape))


def show_size(size: Size) -> str:
    """`width = 31, height = 37`."""
    return ", ".join(f"{name} = {value}" for name, value in size.items())


def expected_outputs(
    family: Family,
    folder: Path,
    size: Size,
    arrays: Mapping[str, AnyArray],
    reference: Reference | None = None,
) -> dict[str, npt.NDArray[np.generic]]:
    """What the family's reference makes of `arrays` at one size; bf16 arrays reach it as float64 values.

    BadInput where it raises, leaves an output out, or gives one another shape.
    """
    reference = reference or load_reference(folder)
    given = {
        name: from_bf16(array) if family.arrays[name].dtype == "bf16" else array.copy()
        for name, array in arrays.items()
        if family.arrays[name].role in ("in", "inout")
    }
    path = folder / "reference.py"
    try:
        with np.errstate(all="ignore"):
            made = dict(reference(given, resolve_scalars(family.scalars, size)))
    except Exception as error:
        raise BadInput(f"{_where(path, error)}: {type(error).__name__}: {error} ({show_size(size)})") from error
    results = {}
    for name, array in family.arrays.items():
        if array.role not in ("out", "inout"):
            continue
        if name not in made:
            raise BadInput(f"{path}: the reference returns no {name!r}")
        value = np.asarray(made[name])
        shape = array.resolve_shape(size)
        if value.shape != shape and value.size == int(np.prod(shape)) == 1:
            value = value.reshape(shape)
        if value.shape != shape:
            raise BadInput(f"{path}: {name} has the shape {value.shape}, not {shape} ({show_size(size)})")
        results[name] = value
    return results


def load_reference(folder: Path) -> Reference:
    """The `reference` function of a family's reference.py, loaded by path; no bytecode is left beside it.

    It is the family's own Python: call this in a worker process only.
    """
    path = folder / "reference.py"
    names: dict[str, object] = {"__name__": f"reference_of_{folder.name}", "__file__": str(path)}
    try:
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror or error}") from error
    except Exception as error:
        raise BadInput(f"{_where(path, error)}: {type(error).__name__}: {error}") from error
    function = names.get("reference")
    if not callable(function):
        raise BadInput(f"{path}: defines no function `reference(arrays, scalars)`")
    return function


def _where(path: Path, error: BaseException) -> str:
    """`path:line` of the deepest frame in the file, or the path alone."""
    if isinstance(error, SyntaxError) and error.lineno is not None:
        return f"{path}:{error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f"{path}:{lines[-1]}" if lines else str(path)


def array_bytes(family: Family, size: Size) -> dict[str, int]:
    """Bytes of each array at one size."""
    return {
        name: int(np.prod(array.resolve_shape(size), dtype=np.int64)) * NUMPY_DTYPES[array.dtype].itemsize
        for name, array in family.arrays.items()
    }
