"""Each family's reference gives, on a case small enough to work by hand, what the hand gets."""

import math
from pathlib import Path

import numpy as np
import pytest

from sparktrace_tui.backends.inputs import check_arrays
from sparktrace_tui.backends.verification import expected_outputs, load_reference
from sparktrace_tui.domain.kernel.expressions import evaluate
from sparktrace_tui.domain.kernel.family import FAMILY_IDS
from sparktrace_tui.store.families import read_family

KERNELS = Path(__file__).parents[2] / "kernels"
E1, E2 = math.e, math.e**2


def f32(*values: object) -> np.ndarray:
    return np.array(values[0] if len(values) == 1 and isinstance(values[0], list) else values, np.float32)


def chain(value: float) -> float:
    """Sixteen stages of one value."""
    for k in range(16):
        value = (1.25 - k / 16) * value + (k / 8 - 0.5)
        value = value if value >= 0 else value / 4
    return value


def group_rounds(first: int, second: int) -> list[int]:
    """64 rounds of a group of 32 lanes, lane by lane in plain integers."""
    lanes = [first, second, *[0] * 30]
    for k in range(64):
        total = (sum(lanes) + k) % 2**32
        lanes = [lane ^ total for lane in lanes]
    return lanes[:2]


# family: (arrays, scalars, outputs worked by hand)
CASES: dict[str, tuple[dict[str, np.ndarray], dict[str, float], dict[str, object]]] = {
    "stride_copy": ({"in": f32([[1, 2, 3, 4]])}, {}, {"out": [[1, 2, 3, 4]]}),
    "stride_smem": ({"src": f32([[1, -2], [0, 4]])}, {}, {"dst": [[1, -2], [0, 4]]}),
    "clamp_smem": (
        {"in": f32([[-3, -0.5, np.inf, np.nan]])},
        {"lo": -1.0, "hi": 1.0},
        {"out": [[-1, -0.5, 1, np.nan]]},
    ),
    "stride_expf": ({"x": f32([[0, 1, -1, 2]])}, {}, {"y": [[1, E1, 1 / E1, E2]]}),
    # 1*5 + 2*7 = 19, 1*6 + 2*8 = 22; 3*5 + 4*7 = 43, 3*6 + 4*8 = 50
    "matmul_tiled": (
        {"A": f32([[1, 2], [3, 4]]), "B": f32([[5, 6], [7, 8]])},
        {},
        {"C": [[19, 22], [43, 50]]},
    ),
    # two pixels of eight channels: channel c of pixel p holds 10 c + p
    "transpose": (
        {"planes": f32([[[10 * c + p for p in range(2)] for c in range(8)]])},
        {},
        {"pixels": [[[0, 10, 20, 30, 40, 50, 60, 70], [1, 11, 21, 31, 41, 51, 61, 71]]]},
    ),
    "row_reduce": ({"in": f32([[1, 2, 3, 4], [-1, 1, 0.5, 0]])}, {}, {"sums": [10, 0.5]}),
    "atomic_reduce": ({"in": f32([1, 2, 3.5]), "total": f32([0.5])}, {}, {"total": [7]}),
    # 1.5 * -1 + 0.25 < 0; 1.5 * 2 + 0.25
    "scale_relu": ({"x": f32([-1, 2])}, {"gain": 1.5, "shift": 0.25}, {"y": [0, 3.25]}),
    "launch_chain": ({"from": f32([0.0, -2.0])}, {}, {"to": [chain(0.0), chain(-2.0)]}),
    "softmax": ({"x": f32([[0, 0], [0, np.log(3.0)]])}, {}, {"y": [[0.5, 0.5], [0.25, 0.75]]}),
    # mean 2, deviations -1, -1, 1, 1, variance 1
    "layernorm": (
        {"x": f32([[1, 1, 3, 3]]), "gamma": f32([1, 2, 1, 2]), "beta": f32([0, 0, 5, 0])},
        {"epsilon": 0.0},
        {"y": [[-1, -2, 6, 2]]},
    ),
    "histogram": (
        {"data": np.array([0, 255, 0, 7], np.int32), "bins": np.ones(256, np.uint32)},
        {},
        {"bins": [3] + [1] * 6 + [2] + [1] * 247 + [2]},
    ),
    "warp_reduce": ({"in": np.array([1, 2], np.uint32)}, {}, {"out": group_rounds(1, 2)}),
    # sum over t of (x + t) with all weights 1: 64 x + 2016
    "register_reuse": ({"x": f32([0.5, -1]), "w": np.ones(64, np.float32)}, {}, {"y": [2048, 1952]}),
}


@pytest.mark.parametrize("name", FAMILY_IDS)
def test_the_reference_agrees_with_a_case_worked_by_hand(name: str) -> None:
    arrays, scalars, expected = CASES[name]
    made = load_reference(KERNELS / name)(dict(arrays), dict(scalars))
    assert made.keys() == expected.keys()
    for output, values in expected.items():
        np.testing.assert_allclose(made[output], np.array(values, np.float64), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("name", FAMILY_IDS)
def test_the_reference_serves_every_check_size(name: str) -> None:
    family = read_family(KERNELS / name)
    for check in family.checks:
        arrays = check_arrays(family, check, seed=1)
        for output, values in expected_outputs(family, KERNELS / name, check.size, arrays).items():
            assert values.dtype in (np.float64, np.int64), output


def test_the_tolerances_catch_what_they_must() -> None:
    """A softmax off by 1e-3 and a sum that lacks one element of size 1 fail at every check size."""
    softmax = read_family(KERNELS / "softmax").arrays["y"].tolerance
    assert float(softmax.relative) < 1e-3
    for name, output in (("row_reduce", "sums"), ("atomic_reduce", "total"), ("matmul_tiled", "C")):
        family = read_family(KERNELS / name)
        ones = [c for c in family.checks if any(f.parameters.get("value") == 1.0 for f in c.fills.values())]
        assert ones, f"{name} has no check of ones"
        for check in ones:
            assert float(evaluate(family.arrays[output].tolerance.absolute, check.size)) < 0.1


def test_every_family_is_checked_at_an_odd_size_and_at_its_smallest() -> None:
    for name in FAMILY_IDS:
        family = read_family(KERNELS / name)
        assert len(family.checks) >= 4
        products = [math.prod(check.size.values()) for check in family.checks]
        assert min(products) <= 4, f"{name}: no check near size 1"
        assert any(p % 256 for p in products), name
        if len(family.problem) > 1:
            assert any(len(set(check.size.values())) > 1 for check in family.checks), name
