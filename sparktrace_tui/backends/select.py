"""Which backend a command uses when it is not told, and what its set is called. Imports no CUDA, and calls none."""

import ctypes
import importlib.util
from dataclasses import dataclass
from datetime import date
from pathlib import Path

DEFAULT_PROFILE = "gb10"
# Any of these is there where a driver is: the kernel module, its devices, a Jetson's, Windows' under WSL.
DRIVER_PLACES = ("/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/nvhost-gpu", "/dev/dxg")


@dataclass(frozen=True)
class NoGpu:
    """Why the PyCUDA backend cannot be used here, and how to get there."""

    reason: str
    hint: str


def why_no_gpu(places: tuple[str, ...] = DRIVER_PLACES) -> NoGpu | None:
    """None where a GPU is likely to work: a driver's files are there, libcuda loads, PyCUDA is installed.

    Cheap, and safe in any process: CUDA itself is started in the worker only.
    """
    if not any(Path(place).exists() for place in places):
        return NoGpu(
            "there is no NVIDIA driver here", "Run on a machine with an NVIDIA GPU; the emulator works everywhere."
        )
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return NoGpu(
            "libcuda.so.1 does not load", "Install the NVIDIA driver's user-space libraries; see `sparktrace doctor`."
        )
    if importlib.util.find_spec("pycuda") is None:
        return NoGpu(
            "PyCUDA is not installed", "Install it with: pip install 'sparktrace-tui[gpu]' (nvcc on the PATH)."
        )
    return None


def choose_backend(backend: str | None, device: str | None) -> tuple[str, str]:
    """(backend, device): what was asked for; a named profile means the emulator, a number a GPU.

    Where nothing was asked for: the first GPU where one works, else the emulator of the default profile.
    """
    if backend == "pycuda" or (backend is None and device is not None and device.isdecimal()):
        return "pycuda", device or "0"
    if backend is None and device is None and why_no_gpu() is None:
        return "pycuda", "0"
    return "emulated", device or DEFAULT_PROFILE


def default_set_name(backend: str, device: str) -> str:
    """`gb10-emulated`, or the GPU's id (as its worker's hello gives it) and the day for a measured set."""
    if backend == "emulated":
        return f"{device.removesuffix('.toml').rsplit('/', 1)[-1]}-emulated"
    return f"{device}-{date.today().isoformat()}"
