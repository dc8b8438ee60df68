"""How fast the emulator counts: against numba's CUDA simulator, on the whole clamp, and in memory. Prints ratios.

Run `python benchmarks/emulator_speed.py`. One run measures everything in the same process conditions; the simulator
runs in a subprocess of its own, because numba chooses it at import.
"""

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from sparktrace_tui.domain.kernel.plan import ArrayArg, ResolvedLaunch, ScalarArg
from sparktrace_tui.emulator import machine, ptx, toolchain
from sparktrace_tui.emulator.counters import LaunchCounters
from sparktrace_tui.emulator.memory import DeviceMemory
from sparktrace_tui.store.families import read_family

KERNELS = Path(__file__).resolve().parents[1] / "kernels"
SIMULATED = 64  # numba takes about a second for so many rows and columns
COUNTED = 8192
TRANSPOSE = """
extern "C" __global__ void transpose(const float* in, float* out, int n) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    if (x < n && y < n) tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
    if (x < n && y < n) out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}"""
SIMULATOR = f"""
import time
import numpy as np
from numba import cuda, float32

@cuda.jit
def transpose(a, out, n):
    tile = cuda.shared.array((32, 33), float32)
    x = cuda.blockIdx.x * 32 + cuda.threadIdx.x
    y = cuda.blockIdx.y * 32 + cuda.threadIdx.y
    if x < n and y < n:
        tile[cuda.threadIdx.y, cuda.threadIdx.x] = a[y, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * 32 + cuda.threadIdx.x
    y = cuda.blockIdx.x * 32 + cuda.threadIdx.y
    if x < n and y < n:
        out[y, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y]

n = {SIMULATED}
a = np.random.rand(n, n).astype(np.float32)
out = np.zeros_like(a)
started = time.perf_counter()
transpose[(n // 32, n // 32), (32, 32)](a, out, n)
seconds = time.perf_counter() - started
assert (out == a.T).all()
print(seconds)
"""


def transpose(size: int, mode: str) -> tuple[float, LaunchCounters | None]:
    """Seconds of one launch, and its counters."""
    module = ptx.parse(toolchain.compile_cuda(TRANSPOSE, "transpose.cu").ptx)
    memory = DeviceMemory({name: ((size, size), np.float32) for name in ("in", "out")}, checked=mode == "verify")
    blocks = -(-size // 32)
    args = (ArrayArg("in"), ArrayArg("out"), ScalarArg("i32", size))
    launch = ResolvedLaunch("transpose", (blocks, blocks, 1), (32, 32, 1), 0, args)
    started = time.perf_counter()
    result = machine.run(module.kernels["transpose"], launch, memory, mode=mode)  # type: ignore[arg-type]
    return time.perf_counter() - started, result.counters


def against_numba() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SIMULATOR],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    seconds, counters = transpose(COUNTED, "count")
    assert counters is not None
    each = counters.thread_instructions / COUNTED**2
    rate = counters.thread_instructions / seconds
    print(
        f"transpose 32x33, {COUNTED}^2, every block: {seconds:.3f} s, {rate / 1e6:,.0f} M thread instructions a second"
    )
    checked, _ = transpose(SIMULATED * 4, "verify")
    checked_rate = each * (SIMULATED * 4) ** 2 / checked
    print(f"  checked, {SIMULATED * 4}^2: {checked:.3f} s, {checked_rate / 1e6:,.1f} M a second")
    if done.returncode:
        print(f"  numba's simulator is not here: {done.stderr.strip().splitlines()[-1]}")
        return
    simulated = each * SIMULATED**2 / float(done.stdout)
    print(f"  numba's simulator, {SIMULATED}^2: {float(done.stdout):.3f} s, {simulated:,.0f} a second")
    print(
        f"  ratio: {rate / simulated:,.0f}x counting (claim: at least 5,000x), {checked_rate / simulated:,.0f}x checked"
    )


def whole_clamp() -> None:
    family = read_family(KERNELS / "clamp_smem")
    module = ptx.parse(toolchain.compile_cuda(family.original.source, family.original.source_name).ptx)
    (launch,) = family.launches("original", family.problem)
    shapes = {name: (array.resolve_shape(family.problem), np.float32) for name, array in family.arrays.items()}
    memory = DeviceMemory(shapes, checked=False)
    started = time.perf_counter()
    counters = machine.run(module.kernels[launch.kernel], launch, memory, mode="count").counters
    seconds = time.perf_counter() - started
    assert counters is not None
    rate = counters.thread_instructions / seconds
    loads, stores = counters.total("shared", "load"), counters.total("shared", "store")
    print(f"clamp_smem original, {counters.sampled_blocks:,} of {counters.blocks:,} blocks: {seconds:.3f} s")
    print(
        f"  {counters.thread_instructions:,} thread instructions, {rate / 1e6:,.0f} M a second (claim: at least 300 M)"
    )
    print(f"  conflicts: {loads.conflicts:,} loads, {stores.conflicts:,} stores")


def families() -> None:
    """The time of a sampled count of each family's five variants, without compiling."""
    worst = 0.0
    for folder in sorted(KERNELS.iterdir()):
        family = read_family(folder)
        total = 0.0
        for variant in family.variants:
            module = ptx.parse(toolchain.compile_cuda(variant.source, variant.source_name).ptx)
            types = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "u32": np.uint32}
            shapes = {n: (a.resolve_shape(family.problem), types[a.dtype]) for n, a in family.arrays.items()}
            memory = DeviceMemory(shapes, checked=False)
            started = time.perf_counter()
            for launch in dict.fromkeys(family.launches(variant.id, family.problem)):
                kernel = module.kernels[launch.kernel]
                machine.run(kernel, launch, memory, mode="count", sample=machine.Sample(288, 2))
            total += time.perf_counter() - started
        worst = max(worst, total)
        print(f"  {family.id:15s} {total:.2f} s")
    print(f"  the slowest family: {worst:.2f} s (claim: about 2 s)")


def main() -> None:
    against_numba()
    whole_clamp()
    print("sampled counts of all variants of a family, caches not followed:")
    families()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(f"peak memory of this process: {peak:.2f} GB (claim: under 1.5 GB)")


if __name__ == "__main__":
    main()
