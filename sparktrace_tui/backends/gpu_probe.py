"""Looks at the CUDA devices and prints what it saw as JSON: a program of its own, since a broken driver can hang.

`python -m sparktrace_tui.backends.gpu_probe`. Needs the driver library alone; PyCUDA is tried where it is installed.
"""

import ctypes
import json
import sys
import time
from typing import Any

from sparktrace_tui.backends.gpu_facts import ClockReader

_INTEGRATED, _MAJOR, _MINOR = 18, 75, 76  # CUdevice_attribute
BUSY_SECONDS = 0.4


def look() -> dict[str, Any]:
    """The driver's devices, PyCUDA's state, and the first device's clock while it is busy."""
    found: dict[str, Any] = {"devices": [], "cuda": None, "error": None, "pycuda": None, "clock": None}
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        found["error"] = f"libcuda.so.1 does not load: {error}"
        return found
    status = cuda.cuInit(0)
    if status:
        text = ctypes.c_char_p()
        cuda.cuGetErrorString(status, ctypes.byref(text))
        found["error"] = (text.value or b"").decode() or f"cuInit gave error {status}"
        return found
    version, count = ctypes.c_int(), ctypes.c_int()
    cuda.cuDriverGetVersion(ctypes.byref(version))
    cuda.cuDeviceGetCount(ctypes.byref(count))
    found["cuda"] = f"{version.value // 1000}.{version.value % 1000 // 10}"
    found["devices"] = [_device(cuda, number) for number in range(count.value)]
    found["pycuda"], found["clock"] = _pycuda()
    return found


def _device(cuda: Any, number: int) -> dict[str, Any]:
    handle, name = ctypes.c_int(), ctypes.create_string_buffer(128)
    cuda.cuDeviceGet(ctypes.byref(handle), number)
    cuda.cuDeviceGetName(name, len(name), handle)

    def attribute(which: int) -> int:
        value = ctypes.c_int()
        cuda.cuDeviceGetAttribute(ctypes.byref(value), which, handle)
        return value.value

    return {
        "name": name.value.decode("utf-8", "replace"),
        "compute_capability": f"{attribute(_MAJOR)}.{attribute(_MINOR)}",
        "integrated": bool(attribute(_INTEGRATED)),
    }


def _pycuda() -> tuple[dict[str, Any], dict[str, Any] | None]:
    """PyCUDA's state, and the clock of the first device after some time of work (None where it cannot be read)."""
    try:
        import pycuda.driver as driver
    except ImportError as error:
        return {"error": str(error)}, None
    state: dict[str, Any] = {"built_for": ".".join(str(n) for n in driver.get_version()[:2]), "error": None}
    try:
        driver.init()
        device = driver.Device(0)
        context = device.retain_primary_context()
        context.push()
    except driver.Error as error:
        state["error"] = str(error)
        return state, None
    try:
        reader = ClockReader(device.pci_bus_id())
        buffer = driver.mem_alloc(1 << 26)
        stream = driver.Stream()
        end = time.monotonic() + BUSY_SECONDS
        while time.monotonic() < end:
            driver.memset_d32_async(buffer, 0, 1 << 24, stream)
            stream.synchronize()
        driver.memset_d32_async(buffer, 0, 1 << 24, stream)
        clock = reader.read()
        stream.synchronize()
        buffer.free()
        if clock.sm_mhz is None:
            return state, None
        return state, {"mhz": clock.sm_mhz, "max_mhz": reader.most_mhz(), "held_back": clock.held_back}
    except driver.Error as error:
        state["error"] = str(error)
        return state, None
    finally:
        context.pop()
        context.detach()


if __name__ == "__main__":
    print(json.dumps(look()))
    sys.exit(0)
