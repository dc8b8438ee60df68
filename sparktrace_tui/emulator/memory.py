"""Device memory as one flat address space: named arrays between guard bands, and who owns an address."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

GLOBAL_BASE = 0x7000_0000_0000
SHARED_WINDOW = 0x0100_0000_0000
LOCAL_WINDOW = 0x0200_0000_0000
CONSTANT_WINDOW = 0x0300_0000_0000
WINDOW_BYTES = 0x0100_0000_0000
GUARD_BYTES = 512
ALIGNMENT = 256
PATTERN = 0xA5

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Region:
    """One array: `address` of its first byte, and its bytes; `dtype` as NumPy stores it (bf16 as uint16)."""

    name: str
    address: int
    size: int
    shape: Shape
    dtype: np.dtype[np.generic]


@dataclass(frozen=True)
class GuardHit:
    """A changed byte in a guard band: the array it borders and the offset from that array's start."""

    array: str
    offset: int


class DeviceMemory:
    """Arrays in one 64-bit address space, each 256-byte aligned with a guard band before and after it.

    `contents` maps names to arrays, or to (shape, dtype) for zeros (of which untouched pages cost nothing).
    `checked` false leaves the guard bands zero.
    """

    def __init__(
        self,
        contents: Mapping[str, npt.NDArray[np.generic] | tuple[Shape, npt.DTypeLike]],
        *,
        checked: bool = True,
        spare_bytes: int = 1 << 16,
    ) -> None:
        self.regions: dict[str, Region] = {}
        self.checked = checked
        offset = 0
        for name, item in contents.items():
            shape, dtype = (item.shape, item.dtype) if isinstance(item, np.ndarray) else (item[0], np.dtype(item[1]))
            size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
            offset = -(-(offset + GUARD_BYTES) // ALIGNMENT) * ALIGNMENT
            self.regions[name] = Region(name, GLOBAL_BASE + offset, size, tuple(shape), dtype)
            offset += size
        self._spare = -(-(offset + GUARD_BYTES) // ALIGNMENT) * ALIGNMENT
        self._bands = self._between(self._spare)
        total = self._spare + spare_bytes
        raw = np.zeros(total + ALIGNMENT, np.uint8)
        start = -raw.ctypes.data % ALIGNMENT
        self.heap = raw[start : start + total]
        self.views = {w: self.heap[: total // w * w].view(f"u{w}") for w in (1, 2, 4, 8)}
        for name, item in contents.items():
            if isinstance(item, np.ndarray):
                self.write(name, item)
        if checked:
            for start, end in self._bands:
                self.heap[start:end] = PATTERN
        self._order()

    def _order(self) -> None:
        ordered = sorted(self.regions.values(), key=lambda r: r.address)
        self._ordered = [r for r in ordered if r.size]
        self.starts = np.array([r.address for r in self._ordered], np.int64)
        self.ends = np.array([r.address + r.size for r in self._ordered], np.int64)

    def _between(self, end: int) -> list[tuple[int, int]]:
        bands, last = [], 0
        for region in self.regions.values():
            start = region.address - GLOBAL_BASE
            bands.append((last, start))
            last = start + region.size
        bands.append((last, end))
        return bands

    def place_globals(self, name: str, data: bytes) -> int:
        """The address of a module's `__device__` variables, made at the first call and kept from then on."""
        key = f"<{name}>"
        if key not in self.regions:
            start = self._spare
            if start + len(data) > self.heap.size:
                raise MemoryError(f"{len(data)} bytes of __device__ variables do not fit")
            self.heap[start : start + len(data)] = np.frombuffer(data, np.uint8)
            shape = (len(data),)
            self.regions[key] = Region(key, GLOBAL_BASE + start, len(data), shape, np.dtype(np.uint8))
            self._spare = -(-(start + len(data) + GUARD_BYTES) // ALIGNMENT) * ALIGNMENT
            self._order()
        return self.regions[key].address

    def address(self, name: str, element: int = 0) -> int:
        """The address of an array's element; KeyError for an unknown name."""
        region = self.regions[name]
        return region.address + element * region.dtype.itemsize

    def read(self, name: str) -> npt.NDArray[np.generic]:
        """A copy of the array as it is now, in its own shape and dtype."""
        region = self.regions[name]
        start = region.address - GLOBAL_BASE
        return self.heap[start : start + region.size].view(region.dtype).reshape(region.shape).copy()

    def write(self, name: str, values: npt.NDArray[np.generic]) -> None:
        region = self.regions[name]
        start = region.address - GLOBAL_BASE
        flat = np.ascontiguousarray(values, region.dtype).reshape(-1)
        self.heap[start : start + region.size] = flat.view(np.uint8)

    def guard_hits(self) -> tuple[GuardHit, ...]:
        """The first changed byte of each guard band that a kernel wrote into."""
        if not self.checked:
            return ()
        hits = []
        for start, end in self._bands:
            changed = np.flatnonzero(self.heap[start:end] != PATTERN)
            if changed.size:
                name, offset = self.owner(GLOBAL_BASE + start + int(changed[0]))
                hits.append(GuardHit(name, offset))
        return tuple(hits)

    def owner(self, address: int) -> tuple[str, int]:
        """The array nearest to an address, and the byte offset from its start (negative before it)."""
        if not self._ordered:
            return "(no array)", 0
        at = int(np.searchsorted(self.starts, address, side="right")) - 1
        nearest = self._ordered[max(at, 0)]
        if at + 1 < len(self._ordered) and at >= 0:
            after = self._ordered[at + 1]
            if after.address - address < address - (nearest.address + nearest.size):
                nearest = after
        return nearest.name, address - nearest.address

    def describe(self, address: int) -> str:
        """Where an address is, in words: the array and its element, or how far outside."""
        name, offset = self.owner(address)
        if name not in self.regions:
            return f"address {address:#x}"
        region = self.regions[name]
        element = offset // region.dtype.itemsize
        count = region.size // region.dtype.itemsize
        if 0 <= offset < region.size:
            return f"{name}[{element}]"
        return f"{name}[{element}], outside its {count} elements"

    def inside(self, addresses: npt.NDArray[np.int64], width: int) -> npt.NDArray[np.bool_]:
        """Whether each access of `width` bytes lies within one array."""
        if not self._ordered:
            return np.zeros(addresses.shape, bool)
        at = np.searchsorted(self.starts, addresses, side="right") - 1
        return (at >= 0) & (addresses + width <= self.ends[np.maximum(at, 0)])
