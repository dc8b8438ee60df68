"""Device memory of a plan: plain allocations with guard bands, sized against what is free, and all of it freed."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sparktrace_tui.backends.inputs import AnyArray
from sparktrace_tui.domain.errors import MissingTool

GUARD_BYTES = 4096
GUARD_BYTE = 0xC5
KEEP_FREE = 0.9  # of what is free: the rest is for the system, which shares the memory on unified parts
MEMINFO = Path("/proc/meminfo")


def free_bytes(driver: Any, integrated: bool, meminfo: Path = MEMINFO) -> int:
    """Bytes that can be allocated: what the driver says, or on a unified-memory part what the system says if more.

    On such parts the driver counts the page cache as used, although the system gives it back when asked.
    """
    free, total = driver.mem_get_info()
    available = available_in(meminfo) if integrated else None
    if available is None:
        return int(free)
    return int(max(free, min(available, total)))


def available_in(meminfo: Path) -> int | None:
    """`MemAvailable` of a /proc/meminfo in bytes, None where it cannot be read."""
    try:
        found = re.search(r"^MemAvailable:\s+(\d+) kB", meminfo.read_text(), flags=re.MULTILINE)
    except OSError:
        return None
    return int(found[1]) * 1024 if found else None


def show_bytes(count: float) -> str:
    """`12.0 MiB`, `3.4 GiB`."""
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.1f} MiB"


def require_room(needed: int, free: int) -> None:
    """MissingTool where `needed` bytes are more than nine tenths of the `free` ones."""
    if needed > KEEP_FREE * free:
        raise MissingTool(
            f"the plan needs {show_bytes(needed)} of GPU memory and {show_bytes(free)} are free",
            hint="Close what else uses the GPU, or use one with more memory.",
        )


class Arena:
    """The arrays of one plan on the device, each between guard bands. A context manager: leaving it frees them all.

    `driver` is pycuda.driver. `free` is what may be allocated (bytes); MissingTool where the arrays do not fit.
    """

    def __init__(self, driver: Any, arrays: Mapping[str, AnyArray], free: int) -> None:
        self.driver = driver
        self._shapes = {name: (array.shape, array.dtype) for name, array in arrays.items()}
        self._whole: dict[str, Any] = {}
        needed = sum(array.nbytes + 2 * GUARD_BYTES for array in arrays.values())
        require_room(needed, free)
        try:
            for name, array in arrays.items():
                self._whole[name] = driver.mem_alloc(array.nbytes + 2 * GUARD_BYTES)
            self.upload(arrays)
        except driver.MemoryError as error:
            self.free()
            raise MissingTool(
                f"the GPU has no room for {show_bytes(needed)}: {error}",
                hint="Close what else uses the GPU, or use one with more memory.",
            ) from error
        except BaseException:
            self.free()
            raise

    def __enter__(self) -> "Arena":
        return self

    def __exit__(self, *_: object) -> None:
        self.free()

    def address(self, name: str, offset: int = 0) -> int:
        """The device address of element `offset` of an array."""
        return int(self._whole[name]) + GUARD_BYTES + offset * int(self._shapes[name][1].itemsize)

    def upload(self, arrays: Mapping[str, AnyArray]) -> None:
        """Write arrays, with fresh guard bands around them."""
        for name, array in arrays.items():
            guard = np.full(GUARD_BYTES, GUARD_BYTE, np.uint8)
            content = np.ascontiguousarray(array).view(np.uint8).reshape(-1)
            self.driver.memcpy_htod(int(self._whole[name]), np.concatenate([guard, content, guard]))

    def download(self) -> tuple[dict[str, AnyArray], tuple[str, ...]]:
        """The arrays as they are now, and a message for each whose guard bands were written."""
        arrays, hits = {}, []
        for name, (shape, dtype) in self._shapes.items():
            size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
            whole = np.empty(size + 2 * GUARD_BYTES, np.uint8)
            self.driver.memcpy_dtoh(whole, int(self._whole[name]))
            arrays[name] = whole[GUARD_BYTES : GUARD_BYTES + size].copy().view(dtype).reshape(shape)
            hits += _guard_hits(name, whole, size)
        return arrays, tuple(hits)

    def free(self) -> None:
        """Free everything; safe to call twice, and after a fault, when the driver refuses every call."""
        while self._whole:
            _, allocation = self._whole.popitem()
            try:
                allocation.free()
            except self.driver.Error:
                continue  # the context is lost, and the memory with it


def _guard_hits(name: str, whole: AnyArray, size: int) -> list[str]:
    hits = []
    before = np.flatnonzero(whole[:GUARD_BYTES] != GUARD_BYTE)
    after = np.flatnonzero(whole[GUARD_BYTES + size :] != GUARD_BYTE)
    if before.size:
        hits.append(f"{name} was written {GUARD_BYTES - int(before[-1])} bytes before its start")
    if after.size:
        hits.append(f"{name} was written {int(after[0]) + 1} bytes past its end")
    return hits
