"""What a CUDA device and the driver say of themselves: limits, memory, clocks, versions. No CUDA call of its own."""

import ctypes
import platform
import re
import subprocess
from pathlib import Path
from typing import Any

from sparktrace_tui.backends.timing import Clock
from sparktrace_tui.emulator.profile import Constant, DeviceProfile

DRIVER_VERSION = Path("/proc/driver/nvidia/version")
_SMI_SECONDS = 20

# Bits of nvmlDeviceGetCurrentClocksEventReasons (nvml.h); idle and application settings hold nothing back here.
_REASONS = {
    0x4: "software power cap",
    0x8: "hardware slowdown",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "hardware power brake",
}


def device_slug(name: str) -> str:
    """A device's id from its name: `NVIDIA GeForce RTX 4090` is `rtx4090`, `NVIDIA H200` is `h200`."""
    words = [w for w in name.lower().split() if w not in ("nvidia", "geforce", "tesla", "quadro", "graphics", "device")]
    return re.sub(r"[^a-z0-9-]", "", "".join(words)) or "gpu"


def device_limits(attribute: Any, name: str, compute_capability: tuple[int, int]) -> DeviceProfile:
    """The device's own limits in the form that the occupancy rules read. `attribute` gives one by PyCUDA's name.

    What no attribute tells is from the CUDA occupancy header: register and shared-memory units, four schedulers.
    """
    values = {
        "sms": attribute("MULTIPROCESSOR_COUNT"),
        "schedulers": 4,
        "threads": attribute("MAX_THREADS_PER_MULTIPROCESSOR"),
        "warps": attribute("MAX_THREADS_PER_MULTIPROCESSOR") // attribute("WARP_SIZE"),
        "blocks": attribute("MAX_BLOCKS_PER_MULTIPROCESSOR"),
        "registers": attribute("MAX_REGISTERS_PER_MULTIPROCESSOR"),
        "register_unit": 256,
        "registers_per_thread": 255,
        "shared": attribute("MAX_SHARED_MEMORY_PER_MULTIPROCESSOR"),
        "shared_static": attribute("MAX_SHARED_MEMORY_PER_BLOCK"),
        "shared_optin": attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
        "shared_reserved": attribute("RESERVED_SHARED_MEMORY_PER_BLOCK"),
        "shared_unit": 128 if compute_capability >= (8, 0) else 256,
    }
    constants = {f"limits.{key}": Constant(float(value), "", "the device") for key, value in values.items()}
    major, minor = compute_capability
    return DeviceProfile(device_slug(name), name, f"{major}.{minor}", f"sm_{major}{minor}", constants)


def bandwidth_gb_s(attribute: Any) -> float | None:
    """Theoretical memory bandwidth from clock (kHz) and bus width (bits), two transfers a clock; None if not told."""
    clock, width = attribute("MEMORY_CLOCK_RATE"), attribute("GLOBAL_MEMORY_BUS_WIDTH")
    return round(clock * 1e3 * width / 8 * 2 / 1e9, 1) if clock and width else None


def driver_version(path: Path = DRIVER_VERSION) -> str | None:
    """Such as `580.95.05`, from the kernel module; None where there is none."""
    try:
        found = re.search(r"Kernel Module(?: for \S+)?\s+(\d+(?:\.\d+)+)", path.read_text(errors="replace"))
    except OSError:
        return None
    return found[1] if found else None


def host_architecture() -> str:
    """Such as `aarch64`."""
    return platform.machine()


class ClockReader:
    """Reads a device's SM clock through NVML, or nvidia-smi without it; `Clock()` where neither answers."""

    def __init__(self, pci_bus_id: str) -> None:
        self._bus = pci_bus_id
        self._nvml: Any = None
        self._handle = ctypes.c_void_p()
        self._smi = True
        self._open()

    @property
    def source(self) -> str:
        """What answers: `NVML`, `nvidia-smi` or `not available`."""
        if self._nvml is not None:
            return "NVML"
        return "nvidia-smi" if self._smi and self.read().sm_mhz is not None else "not available"

    def read(self) -> Clock:
        """The clock now, and what holds it back."""
        return self._from_nvml() if self._nvml is not None else self._from_smi()

    def most_mhz(self) -> float | None:
        """The highest SM clock that the device can have, None where it cannot be read."""
        if self._nvml is None:
            return self._ask_smi("clocks.max.sm")
        mhz = ctypes.c_uint()
        failed = self._nvml.nvmlDeviceGetMaxClockInfo(self._handle, 1, ctypes.byref(mhz))
        return None if failed else float(mhz.value)

    def _open(self) -> None:
        try:
            nvml = ctypes.CDLL("libnvidia-ml.so.1")
            if nvml.nvmlInit_v2():
                return
            if nvml.nvmlDeviceGetHandleByPciBusId_v2(self._bus.encode(), ctypes.byref(self._handle)):
                return
        except (OSError, AttributeError):
            return
        self._nvml = nvml

    def _from_nvml(self) -> Clock:
        mhz, reasons = ctypes.c_uint(), ctypes.c_ulonglong()
        if self._nvml.nvmlDeviceGetClockInfo(self._handle, 1, ctypes.byref(mhz)):  # 1: NVML_CLOCK_SM
            return Clock()
        for name in ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"):
            call = getattr(self._nvml, name, None)
            if call is not None and not call(self._handle, ctypes.byref(reasons)):
                held = tuple(text for bit, text in _REASONS.items() if reasons.value & bit)
                return Clock(float(mhz.value), held)
        return Clock(float(mhz.value))

    def _from_smi(self) -> Clock:
        return Clock(self._ask_smi("clocks.sm"))

    def _ask_smi(self, what: str) -> float | None:
        if not self._smi:
            return None
        command = ["nvidia-smi", f"--id={self._bus}", f"--query-gpu={what}", "--format=csv,noheader,nounits"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_SMI_SECONDS, check=False)
            return float(done.stdout.strip())
        except (OSError, ValueError, subprocess.TimeoutExpired):
            self._smi = False
            return None
