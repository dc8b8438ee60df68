"""A launch's parameter block and special registers: what a kernel is told before it starts."""

from typing import Any

import numpy as np

from sparktrace_tui.domain.errors import BadInput
from sparktrace_tui.domain.kernel.plan import DTYPE_BYTES, ArrayArg, ResolvedLaunch, ScalarArg
from sparktrace_tui.emulator.lanes import Value
from sparktrace_tui.emulator.memory import DeviceMemory
from sparktrace_tui.emulator.ops import Operands
from sparktrace_tui.emulator.ptx import Kernel

_FLOATS: dict[str, Any] = {"f32": np.float32, "f64": np.float64, "f16": np.float16}


def parameter_block(kernel: Kernel, launch: ResolvedLaunch, memory: DeviceMemory) -> bytes:
    """The bytes of the kernel's parameters; BadInput where the plan's arguments do not fit them."""
    if len(launch.args) != len(kernel.params):
        raise BadInput(
            f"the kernel {kernel.name} takes {len(kernel.params)} parameters, the plan gives {len(launch.args)}"
        )
    block = bytearray(kernel.param_bytes)
    for place, (param, arg) in enumerate(zip(kernel.params, launch.args, strict=True)):
        match arg:
            case ArrayArg(array=name, offset=offset):
                if param.size != 8:
                    raise BadInput(
                        f"parameter {place} of {kernel.name} has {param.size} bytes; the plan gives it the array {name}"
                    )
                if name not in memory.regions:
                    raise BadInput(f"the plan names the array {name}, which is not in memory")
                data = memory.address(name, offset).to_bytes(8, "little", signed=True)
            case ScalarArg(dtype=dtype, value=value):
                if DTYPE_BYTES[dtype] != param.size:
                    raise BadInput(
                        f"parameter {place} of {kernel.name} has {param.size} bytes; the plan gives it a {dtype}"
                    )
                data = scalar_bytes(dtype, value)
        block[param.offset : param.offset + param.size] = data
    return bytes(block)


def scalar_bytes(dtype: str, value: int | float) -> bytes:
    """A by-value argument as the device holds it."""
    if dtype in _FLOATS:
        return bytes(_FLOATS[dtype](value).tobytes())
    if dtype == "bf16":
        bits = int(np.float32(value).view(np.uint32))
        return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 & 0xFFFF).to_bytes(2, "little")
    size = DTYPE_BYTES[dtype]
    return (int(value) & ((1 << 8 * size) - 1)).to_bytes(size, "little")


def special_values(operands: Operands, launch: ResolvedLaunch, shared_bytes: int) -> dict[int, Value]:
    """The special registers that are the same for every block, by slot."""
    threads = launch.threads_per_block
    index = np.arange(threads, dtype=np.int64)[None, :]
    bx, by, _ = launch.block
    lane = index % 32
    one = np.uint32
    grid = dict(zip("xyz", launch.grid, strict=True))
    block = dict(zip("xyz", launch.block, strict=True))
    tid = {"x": index % bx, "y": index // bx % by, "z": index // (bx * by)}
    values: dict[int, Value] = {}
    for name, slot in operands.specials.items():
        axis = name[-1]
        match name.split(".")[0]:
            case "%tid":
                value = tid[axis]
            case "%ntid":
                value = np.full((1, 1), block[axis])
            case "%nctaid":
                value = np.full((1, 1), grid[axis])
            case "%ctaid":
                continue
            case "%laneid":
                value = lane
            case "%warpid":
                value = index // 32
            case "%nwarpid":
                value = np.full((1, 1), -(-threads // 32))
            case "%lanemask_eq":
                value = 1 << lane
            case "%lanemask_lt":
                value = (1 << lane) - 1
            case "%lanemask_le":
                value = (2 << lane) - 1
            case "%lanemask_gt":
                value = 0xFFFFFFFF ^ ((2 << lane) - 1)
            case "%lanemask_ge":
                value = 0xFFFFFFFF ^ ((1 << lane) - 1)
            case "%dynamic_smem_size":
                value = np.full((1, 1), launch.shared_bytes)
            case "%total_smem_size":
                value = np.full((1, 1), shared_bytes)
            case _:
                raise BadInput(f"PTX special register not covered: {name} in {operands.kernel.name}")
        if value.size > 1 and bool((value == value[0, 0]).all()):
            value = value[:, :1]
        values[slot] = value.astype(one)
    return values
