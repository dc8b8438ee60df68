"""What the tests of alignment, model and report share: a source and a launch in, an estimate out."""

import functools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from sparktrace_tui.domain.errors import MissingTool
from sparktrace_tui.domain.kernel.plan import ArrayArg, ResolvedLaunch, ScalarArg
from sparktrace_tui.emulator import profile, toolchain
from sparktrace_tui.emulator.estimate import LaunchEstimate, PlanEstimate, Prepared, estimate, prepare
from sparktrace_tui.emulator.memory import DeviceMemory

Triple = tuple[int, int, int]
Arg = str | int | float
REPOSITORY = Path(__file__).resolve().parents[2]
PUBLIC = Path(__file__).parent / "data" / "public"
CLAMP = REPOSITORY / "kernels" / "clamp_smem"


@functools.cache
def prepared(source: str, arch: str = "sm_121", name: str = "test.cu") -> Prepared:
    """PTX and machine code of a source, aligned; the test is skipped where there is no compiler."""
    try:
        return prepare(toolchain.compile_cuda(source, name, arch), name)
    except MissingTool as missing:
        pytest.skip(missing.message)


def launch(kernel: str, grid: Triple, block: Triple, *args: Arg, shared: int = 0) -> ResolvedLaunch:
    """A launch; a word is an array, a whole number an i32, any other number an f32."""
    made = tuple(
        ArrayArg(arg) if isinstance(arg, str) else ScalarArg("i32" if isinstance(arg, int) else "f32", arg)
        for arg in args
    )
    return ResolvedLaunch(kernel, grid, block, shared, made)


def plan(
    source: str,
    launches: Sequence[ResolvedLaunch],
    arrays: dict[str, int | np.ndarray],
    device: str = "gb10",
    sampling: bool = True,
) -> PlanEstimate:
    """The estimate of a plan over float arrays of zeros of the given lengths, or with the given contents."""
    loaded = profile.load(device)
    contents = {
        name: ((item,), np.dtype(np.float32)) if isinstance(item, int) else item for name, item in arrays.items()
    }
    memory = DeviceMemory(contents, checked=False)
    return estimate(prepared(source, loaded.arch), list(launches), memory, loaded, sampling=sampling)


def one(
    source: str,
    made: ResolvedLaunch,
    arrays: dict[str, int | np.ndarray],
    device: str = "gb10",
    sampling: bool = True,
) -> LaunchEstimate:
    """The estimate of a single launch."""
    return plan(source, [made], arrays, device, sampling).launches[0]


@functools.cache
def clamp(variant: str, device: str = "gb10", size: int = 4096, sampling: bool = True) -> PlanEstimate:
    """A variant of the bundled clamp at `size` squared."""
    from sparktrace_tui.store.families import read_family

    family = read_family(CLAMP)
    made = family.launches(variant, {"width": size, "height": size})
    arrays: dict[str, int | np.ndarray] = {"in": size * size, "out": size * size}
    return plan(family.variant(variant).source, made, arrays, device, sampling)
