"""Judging a variant by what a backend made of its plan."""

from pathlib import Path

import numpy as np
import pytest

from sparktrace_tui.backends.verification import POISON_BYTE, Ran, load_reference, verify_variant
from sparktrace_tui.domain.errors import BadInput
from sparktrace_tui.domain.kernel.plan import ResolvedLaunch, ScalarArg
from sparktrace_tui.store.families import read_family
from sparktrace_tui.store.paths import kernels_dir

FOLDER = kernels_dir() / "clamp_smem"
FAMILY = read_family(FOLDER)


def clamp(launches: tuple[ResolvedLaunch, ...], arrays: dict[str, np.ndarray]) -> Ran:
    """What the kernel computes, in NumPy, from the launch's own arguments."""
    low, high = (a.value for a in launches[0].args[4:] if isinstance(a, ScalarArg))
    values = arrays["in"]
    arrays["out"] = np.where(values < low, np.float32(low), np.where(values > high, np.float32(high), values))
    return Ran(arrays)


def test_a_right_result_on_every_size_is_correct() -> None:
    found = verify_variant(FAMILY, FOLDER, "padded", 3, clamp)
    assert (found.verdict, found.message) == ("correct", "")
    assert [dict(check.size) for check in found.checks] == [dict(check.size) for check in FAMILY.checks]


def test_a_wrong_element_is_named_with_both_values_the_share_and_the_size() -> None:
    def run(launches: tuple[ResolvedLaunch, ...], arrays: dict[str, np.ndarray]) -> Ran:
        ran = clamp(launches, arrays)
        if arrays["out"].shape == (37, 31):
            arrays["out"][3, 5] = 0.25
            arrays["out"][36, 30] = 7
        return ran

    found = verify_variant(FAMILY, FOLDER, "original", 0, run)
    assert found.verdict == "wrong"
    assert [check.verdict for check in found.checks] == ["correct", "wrong", "correct", "correct", "correct"]
    assert found.message.startswith("out[3, 5] is 0.25, expected ")
    assert found.message.endswith("(2 of 1147 elements differ; width = 31, height = 37)")


def test_an_element_that_was_never_written_is_said_to_be_that() -> None:
    def run(launches: tuple[ResolvedLaunch, ...], arrays: dict[str, np.ndarray]) -> Ran:
        before = arrays["out"].copy()
        assert set(before.tobytes()) == {POISON_BYTE}
        ran = clamp(launches, arrays)
        arrays["out"][-1] = before[-1]
        return ran

    found = verify_variant(FAMILY, FOLDER, "original", 0, run)
    assert found.message.startswith("out[0, 0] was not written, expected ")


def test_an_input_that_comes_back_changed_is_wrong_even_where_the_output_is_right() -> None:
    def run(launches: tuple[ResolvedLaunch, ...], arrays: dict[str, np.ndarray]) -> Ran:
        ran = clamp(launches, arrays)
        arrays["in"].reshape(-1)[-1] += 1
        return ran

    found = verify_variant(FAMILY, FOLDER, "original", 0, run)
    assert found.checks[1].message == "in is an input, but in[36, 30] was changed (width = 31, height = 37)"


def test_a_fault_of_the_run_comes_before_its_guard_bands_and_those_before_its_values() -> None:
    def run(launches: tuple[ResolvedLaunch, ...], arrays: dict[str, np.ndarray]) -> Ran:
        faults = (("race", "two threads wrote tile[3]"),) if arrays["in"].size == 1 else ()
        return Ran(arrays, faults, ("a benign race on done",), ("out was written 4 bytes past its end",))

    found = verify_variant(FAMILY, FOLDER, "original", 0, run)
    assert (found.verdict, found.message) == ("race", "two threads wrote tile[3] (width = 1, height = 1)")
    assert found.checks[1].verdict == "out_of_bounds"
    assert found.checks[1].message == "out was written 4 bytes past its end (width = 31, height = 37)"
    assert found.notes == ("a benign race on done",)


def test_a_crash_ends_the_checks_since_the_device_is_not_to_be_trusted_any_more() -> None:
    def run(launches: tuple[ResolvedLaunch, ...], arrays: dict[str, np.ndarray]) -> Ran:
        return Ran(arrays, (("crash", "illegal address in clamp_kernel"),))

    found = verify_variant(FAMILY, FOLDER, "original", 0, run)
    assert (found.verdict, len(found.checks)) == ("crash", 1)


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("def reference(arrays, scalars):\n    return {'out': arrays['nowhere']}\n", "reference.py:2: KeyError"),
        ("def reference(arrays, scalars):\n    return {}\n", "returns no 'out'"),
        ("def reference(arrays, scalars):\n    return {'out': arrays['in'][0]}\n", "has the shape (31,), not (37, 31)"),
        ("def other():\n    pass\n", "defines no function"),
        ("def reference(:\n", "reference.py:1: SyntaxError"),
    ],
)
def test_a_reference_that_fails_is_named_with_its_line(tmp_path: Path, source: str, complaint: str) -> None:
    folder = tmp_path / "clamp_smem"
    folder.mkdir()
    (folder / "reference.py").write_text(source)
    with pytest.raises(BadInput) as caught:
        verify_variant(FAMILY, folder, "original", 0, clamp)
    assert complaint in caught.value.message


def test_loading_a_reference_leaves_no_bytecode_beside_it(tmp_path: Path) -> None:
    (tmp_path / "reference.py").write_text((FOLDER / "reference.py").read_text())
    load_reference(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["reference.py"]
