"""Drawing inputs and judging outputs."""

import numpy as np
import pytest

from sparktrace_tui.backends.compare import compare
from sparktrace_tui.backends.inputs import draw, from_bf16, to_bf16
from sparktrace_tui.domain.kernel.family import Contract
from sparktrace_tui.domain.kernel.plan import Array, Fill, Tolerance

EXACT = Tolerance(exact=True)


def array(tolerance: Tolerance = EXACT, dtype: str = "f32", name: str = "out") -> Array:
    return Array(name, dtype, ("n",), "out", Fill("zeros", {}), tolerance)  # type: ignore[arg-type]


def f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def test_the_same_seed_draws_the_same_and_each_array_has_a_stream_of_its_own() -> None:
    fill = Fill("uniform", {"low": -2, "high": 2})
    one, again = (draw(array(name="a"), (1000,), fill, 7) for _ in range(2))
    other = draw(array(name="b"), (1000,), fill, 7)
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    assert one.dtype == np.float32
    assert -2 <= one.min() < -1.9 < 1.9 < one.max() < 2


def test_special_values_stand_at_both_ends_and_in_between() -> None:
    values = draw(array(), (64,), Fill("special", {"low": -1, "high": 1}), 0)
    assert np.isnan(values[0])
    assert np.isinf(values[-1])
    assert (np.abs(values[np.isfinite(values)]) < 1e-38).any()


def test_skewed_integers_hold_one_value_in_the_stated_share() -> None:
    values = draw(array(dtype="i32"), (20_000,), Fill("skewed", {"low": 0, "high": 256, "share": 0.9, "value": 7}), 1)
    assert 0.89 < (values == 7).mean() < 0.92


@pytest.mark.parametrize(("value", "bits"), [(1.0, 0x3F80), (1.00390625, 0x3F80), (1.01171875, 0x3F82), (-2.0, 0xC000)])
def test_bfloat16_rounds_to_nearest_even(value: float, bits: int) -> None:
    # 1.00390625 and 1.01171875 lie halfway between neighbours: the even one of each is taken.
    assert to_bf16(f32(value))[0] == bits
    assert abs(from_bf16(np.array([bits], np.uint16))[0] - value) <= abs(value) * 2**-8


def test_the_first_wrong_index_and_both_values_are_named() -> None:
    found = compare(array(), f32(1, 2, 9, 8), np.array([1.0, 2.0, 3.0, 4.0]), Contract(), {"n": 4})
    assert str(found) == "out[2] is 9, expected 3 (2 of 4 elements differ)"


def test_a_nan_must_stand_where_the_reference_has_one() -> None:
    nan = float("nan")
    assert compare(array(), f32(nan, 1), np.array([nan, 1.0]), Contract(), {}) is None
    assert compare(array(), f32(nan, 1), np.array([0.0, 1.0]), Contract(), {}) is not None
    assert compare(array(), f32(0, 1), np.array([nan, 1.0]), Contract(), {}) is not None


def test_the_sign_of_zero_counts_only_where_the_contract_says_so() -> None:
    assert compare(array(), f32(-0.0), np.array([0.0]), Contract(signed_zero="any"), {}) is None
    assert compare(array(), f32(-0.0), np.array([0.0]), Contract(signed_zero="exact"), {}) is not None


def test_a_flushed_denormal_passes_only_where_the_contract_allows_it() -> None:
    assert compare(array(), f32(0), np.array([1e-40]), Contract(denormal="may_flush"), {}) is None
    assert compare(array(), f32(0), np.array([1e-40]), Contract(denormal="kept"), {}) is not None


def test_a_relative_error_above_the_tolerance_fails_and_one_below_passes() -> None:
    loose = array(Tolerance(relative="1e-6 * n"))
    assert compare(loose, f32(100.0 * (1 + 5e-6)), np.array([100.0]), Contract(), {"n": 10}) is None
    assert compare(loose, f32(100.0 * (1 + 5e-5)), np.array([100.0]), Contract(), {"n": 10}) is not None


def test_an_overflow_to_infinity_passes_only_where_the_reference_overflows_too() -> None:
    loose = array(Tolerance(relative=1e-6))
    inf = float("inf")
    assert compare(loose, f32(inf), np.array([1e300]), Contract(), {}) is None
    assert compare(loose, f32(inf), np.array([1e30]), Contract(), {}) is not None


def test_integers_are_compared_exactly() -> None:
    assert compare(array(dtype="i32"), np.array([3], np.int32), np.array([3]), Contract(), {}) is None
    assert compare(array(dtype="i32"), np.array([3], np.int32), np.array([4]), Contract(), {}) is not None
