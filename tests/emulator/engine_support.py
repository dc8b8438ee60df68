"""What the engine's tests share: CUDA or PTX in, arrays and faults or counters out."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from sparktrace_tui.domain.errors import MissingTool
from sparktrace_tui.domain.kernel.plan import ArrayArg, ResolvedLaunch, ScalarArg
from sparktrace_tui.emulator import machine, ptx, toolchain
from sparktrace_tui.emulator.counters import Fault, LaunchCounters
from sparktrace_tui.emulator.memory import DeviceMemory, GuardHit

Triple = tuple[int, int, int]


@dataclass(frozen=True)
class Outcome:
    """What a launch left: arrays, faults by kind, and counters."""

    arrays: Mapping[str, np.ndarray]
    faults: tuple[Fault, ...]
    benign: tuple[Fault, ...]
    guards: tuple[GuardHit, ...]
    counters: LaunchCounters | None

    @property
    def kinds(self) -> set[str]:
        return {fault.kind for fault in self.faults}

    def fault(self, kind: str) -> Fault:
        return next(fault for fault in self.faults if fault.kind == kind)

    @property
    def counts(self) -> LaunchCounters:
        assert self.counters is not None, self.faults
        return self.counters


@functools.cache
def compiled(source: str, arch: str = "sm_121") -> ptx.Module:
    """The module of a CUDA source; the test is skipped where there is no compiler."""
    try:
        return ptx.parse(toolchain.compile_cuda(source, "test.cu", arch).ptx)
    except MissingTool as missing:
        pytest.skip(missing.message)


def triple(value: int | Sequence[int]) -> Triple:
    values = (value,) if isinstance(value, int) else tuple(value)
    return (*values, 1, 1, 1)[:3]  # type: ignore[return-value]


def run(
    source: str | ptx.Module,
    grid: int | Sequence[int],
    block: int | Sequence[int],
    arrays: Mapping[str, np.ndarray],
    args: Sequence[object] = (),
    *,
    mode: str = "verify",
    kernel: str | None = None,
    shared: int = 0,
    arch: str = "sm_121",
    **options: object,
) -> Outcome:
    """Runs the only kernel (or the one named) of a source on `arrays`, then scalars given as (dtype, value)."""
    module = compiled(source, arch) if isinstance(source, str) else source
    chosen = module.kernels[kernel] if kernel else next(iter(module.kernels.values()))
    memory = DeviceMemory(arrays, checked=mode == "verify")
    given: list[ArrayArg | ScalarArg] = [ArrayArg(name) for name in arrays]
    for item in args:
        dtype, value = item if isinstance(item, tuple) else ("i32", item)
        given.append(ScalarArg(dtype, value))
    launch = ResolvedLaunch(chosen.name, triple(grid), triple(block), shared, tuple(given))
    result = machine.run(chosen, launch, memory, mode=mode, **options)  # type: ignore[arg-type]
    return Outcome(
        {name: memory.read(name) for name in arrays}, result.faults, result.benign, memory.guard_hits(), result.counters
    )


_REGISTERS = """
.reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .b64 %d<16>;
"""
_WIDTHS = {"b16": 2, "u16": 2, "s16": 2, "b32": 4, "u32": 4, "s32": 4, "f32": 4, "b64": 8, "u64": 8, "s64": 8, "f64": 8}
_BANK = {2: "%h", 4: "%r", 8: "%d"}


def one_instruction(text: str, inputs: Sequence[np.ndarray], out: np.dtype) -> np.ndarray:
    """`text` with {d}, {a}, {b}, {c} for registers, run once for each element of the inputs."""
    count = len(inputs[0])
    names = {}
    loads = []
    for letter, place, values in zip("abc", range(3), inputs, strict=False):
        width = values.dtype.itemsize
        names[letter] = f"{_BANK[width]}{place}"
        loads.append(f"ld.param.u64 %d8, [k_{place}]; add.s64 %d9, %d8, %d{10 + width.bit_length()};")
        loads.append(f"ld.global.b{8 * width} {names[letter]}, [%d9];")
    width = out.itemsize
    names["d"] = f"{_BANK[width]}7"
    params = ", ".join(f".param .u64 k_{place}" for place in range(len(inputs) + 1))
    body = "\n".join(loads)
    source = f"""
.version 9.0
.target sm_90
.address_size 64
.visible .entry k({params}) {{
{_REGISTERS}
mov.u32 %r8, %tid.x; mov.u32 %r9, %ctaid.x; mov.u32 %r10, %ntid.x; mad.lo.s32 %r8, %r9, %r10, %r8;
setp.ge.s32 %p7, %r8, {count};
@%p7 bra END;
mul.wide.s32 %d12, %r8, 2; mul.wide.s32 %d13, %r8, 4; mul.wide.s32 %d14, %r8, 8;
{body}
{text.format(**names)};
ld.param.u64 %d8, [k_{len(inputs)}]; add.s64 %d9, %d8, %d{10 + width.bit_length()};
st.global.b{8 * width} [%d9], {names["d"]};
END: ret;
}}
"""
    arrays = {f"in{place}": values for place, values in enumerate(inputs)}
    arrays["out"] = np.zeros(count, out)
    outcome = run(ptx.parse(source), -(-count // 64), 64, arrays)
    assert not outcome.faults, outcome.faults
    return outcome.arrays["out"]
