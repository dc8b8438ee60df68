"""A CUDA device through PyCUDA: one context, modules loaded from cubins, and launch plans run on it."""

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparktrace_tui.backends.gpu_facts import device_limits
from sparktrace_tui.backends.gpu_memory import Arena
from sparktrace_tui.backends.inputs import to_bf16
from sparktrace_tui.domain.errors import BadInput, MissingTool, UsageError
from sparktrace_tui.domain.kernel.expressions import Number
from sparktrace_tui.domain.kernel.plan import ArrayArg, ResolvedLaunch, ScalarArg
from sparktrace_tui.emulator.occupancy import occupancy
from sparktrace_tui.emulator.profile import DeviceProfile

# By-value arguments as the struct module packs them; 16-bit floats travel as their bits.
_FORMATS = {
    "f32": "f", "f64": "d", "f16": "H", "bf16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q", "i8": "b",
    "u8": "B",
}  # fmt: skip
STATIC_SHARED_LIMIT = 49152  # more dynamic shared memory than this must be asked for


class Gpu:
    """The device and its primary context, current on the thread that made it until `close`.

    MissingTool says what is not there: PyCUDA, the driver, or a device; UsageError that there is no such number.
    """

    def __init__(self, number: int = 0) -> None:
        self.driver = import_driver()
        try:
            self.driver.init()
            count = self.driver.Device.count()
        except self.driver.Error as error:
            raise MissingTool(f"the NVIDIA driver finds no device: {error}", hint=DOCTOR_HINT) from error
        if not 0 <= number < count:
            raise UsageError(f"there is no CUDA device {number}; there are {count}, numbered from 0")
        self.device = self.driver.Device(number)
        self.name: str = self.device.name()
        self.compute_capability: tuple[int, int] = tuple(self.device.compute_capability())
        self.arch = "sm_{}{}".format(*self.compute_capability)
        self.limits: DeviceProfile = device_limits(self.attribute, self.name, self.compute_capability)
        try:
            self.context = self.device.retain_primary_context()
            self.context.push()
        except self.driver.Error as error:
            raise MissingTool(f"cannot start CUDA on {self.name}: {error}", hint=DOCTOR_HINT) from error

    def attribute(self, name: str) -> int:
        """A device attribute by PyCUDA's name."""
        return int(self.device.get_attribute(getattr(self.driver.device_attribute, name)))

    @property
    def integrated(self) -> bool:
        """Whether the device shares the system's memory."""
        return bool(self.attribute("INTEGRATED"))

    @property
    def l2_bytes(self) -> int:
        return self.attribute("L2_CACHE_SIZE")

    def close(self) -> None:
        """Leave the context; one that is left current at exit aborts the process."""
        self.context.pop()
        self.context.detach()


DOCTOR_HINT = "See `sparktrace doctor`."


def import_driver() -> Any:
    """pycuda.driver; MissingTool tells a missing PyCUDA from a missing driver."""
    try:
        import pycuda.driver as driver
    except ImportError as error:
        if "libcuda" in str(error):
            raise MissingTool("there is no NVIDIA driver here (libcuda.so.1)", hint=DOCTOR_HINT) from error
        raise MissingTool(
            f"PyCUDA is not installed here ({error})",
            hint="Install it with: pip install 'sparktrace-tui[gpu]' (it is built from source, with nvcc on the PATH).",
        ) from error
    return driver


@dataclass(frozen=True)
class KernelFacts:
    """What the driver says of one loaded kernel: registers a thread, static shared bytes a block, local bytes."""

    registers: int
    shared_bytes: int
    local_bytes: int


class LoadedPlan:
    """One variant's module on the device, and its plans as calls that are prepared once."""

    def __init__(self, gpu: Gpu, cubin: bytes, source_name: str) -> None:
        self._gpu, self._source = gpu, source_name
        self._module = gpu.driver.module_from_buffer(cubin)
        self._functions: dict[str, Any] = {}

    def function(self, kernel: str) -> Any:
        """The kernel of that (unmangled) name; BadInput where the source does not define it."""
        if kernel not in self._functions:
            try:
                self._functions[kernel] = self._module.get_function(kernel)
            except self._gpu.driver.LogicError as error:
                raise BadInput(
                    f"the plan launches {kernel!r}, which {self._source} does not define",
                    hint='Kernels are looked up by their plain names: declare them extern "C".',
                ) from error
        return self._functions[kernel]

    def facts(self, kernel: str) -> KernelFacts:
        function = self.function(kernel)
        return KernelFacts(function.num_regs, function.shared_size_bytes, function.local_size_bytes)

    def resources(self, launches: Sequence[ResolvedLaunch]) -> dict[str, float | int | None]:
        """The most that any launch of the plan takes of each resource, and the least occupancy."""
        facts = {launch: self.facts(launch.kernel) for launch in dict.fromkeys(launches)}
        shared = {launch: fact.shared_bytes + launch.shared_bytes for launch, fact in facts.items()}
        fits = [
            occupancy(self._gpu.limits, launch.threads_per_block, fact.registers, shared[launch])
            for launch, fact in facts.items()
        ]
        return {
            "registers": max(fact.registers for fact in facts.values()),
            "shared_bytes": max(shared.values()),
            "local_bytes": max(fact.local_bytes for fact in facts.values()),
            "blocks_per_sm": min(fit.blocks for fit in fits),
            "occupancy": min(fit.share for fit in fits),
        }

    def calls(self, launches: Sequence[ResolvedLaunch], arena: Arena) -> list[tuple[str, Callable[[Any], None]]]:
        """Each launch as (kernel, call); a call enqueues it onto a stream. Arguments are made up here, once."""
        return [(launch.kernel, self._call(launch, arena)) for launch in launches]

    def _call(self, launch: ResolvedLaunch, arena: Arena) -> Callable[[Any], None]:
        function = self.function(launch.kernel)
        function.prepare("".join("P" if isinstance(arg, ArrayArg) else _FORMATS[arg.dtype] for arg in launch.args))
        if launch.shared_bytes > STATIC_SHARED_LIMIT:
            limit = self._gpu.driver.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
            function.set_attribute(limit, launch.shared_bytes)
        values = tuple(
            arena.address(arg.array, arg.offset) if isinstance(arg, ArrayArg) else pack_value(arg)
            for arg in launch.args
        )
        grid, block, shared = launch.grid, launch.block, launch.shared_bytes

        def call(stream: Any) -> None:
            function.prepared_async_call(grid, block, stream, *values, shared_size=shared)

        return call

    def run(self, launches: Sequence[ResolvedLaunch], arena: Arena) -> tuple[str, str] | None:
        """Run a plan, waiting after each launch so that a fault has a name; (verdict, message) of one, or None."""
        for kernel, call in self.calls(launches, arena):
            try:
                call(None)
                self._gpu.context.synchronize()
            except self._gpu.driver.Error as error:
                return fault_of(kernel, str(error))
        return None


def pack_value(arg: ScalarArg) -> Number:
    """A by-value argument as its format wants it; 16-bit floats as bits, whole numbers whole."""
    match arg.dtype:
        case "bf16":
            return int(to_bf16(np.array([arg.value], np.float32))[0])
        case "f16":
            return int(struct.unpack("<H", struct.pack("<e", arg.value))[0])
        case "f32" | "f64":
            return float(arg.value)
        case _:
            return int(arg.value)


def fault_of(kernel: str, error: str) -> tuple[str, str]:
    """The verdict that a driver's complaint comes to. After `hang` and `crash` the context is lost."""
    what = error.rpartition(": ")[2]
    if "timed out" in error:
        return "hang", f"{kernel}: {what}"
    if "cuLaunchKernel" in error and not any(word in error for word in ("illegal", "unspecified", "misaligned")):
        return "not_launched", f"{kernel} was not launched: {what}"
    return "crash", f"{kernel}: {what}"
