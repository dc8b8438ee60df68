"""Prints the timing model's times beside public measurements: `python benchmarks/model_accuracy.py [--quick]`.

Every row names its source. Nothing here feeds back into the model: its constants are in the device profile. `--quick`
leaves out the 4096-cubed matrix multiplies, which take most of the time. `--markdown` prints the rows of docs/model.md.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from sparktrace_tui.domain.kernel.plan import ArrayArg, ResolvedLaunch, ScalarArg
from sparktrace_tui.emulator import profile, toolchain
from sparktrace_tui.emulator.estimate import Prepared, estimate, prepare
from sparktrace_tui.emulator.memory import DeviceMemory
from sparktrace_tui.emulator.profile import DeviceProfile
from sparktrace_tui.store.families import read_family

REPOSITORY = Path(__file__).resolve().parents[1]
KERNELS = REPOSITORY / "tests" / "emulator" / "data" / "public"
APART = 1.25


@dataclass(frozen=True)
class Row:
    """One comparison, in ms: the published figure and the modelled one, and the error allowed (None: order only)."""

    group: str
    name: str
    published: float
    emulated: float
    bound: str
    allowed: float | None

    @property
    def error(self) -> float:
        return self.emulated / self.published - 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out the 4096-cubed matrix multiplies")
    parser.add_argument("--markdown", action="store_true", help="print the rows as docs/model.md has them")
    arguments = parser.parse_args()
    device = profile.load("gb10")
    if arguments.markdown:
        print("\n".join(markdown(row) for row in rows(device, arguments.quick)))
        return 0
    print(f"device profile {device.id}, {toolchain.compiler_version()}; times in ms\n")
    print(f"{'':46}{'published':>10} {'emulated':>10} {'error':>7}  allowed  bound")
    found = []
    for row in rows(device, arguments.quick):
        found.append(row)
        allowed = "order" if row.allowed is None else f"{100 * row.allowed:.0f}%"
        verdict = "" if row.allowed is None or abs(row.error) <= row.allowed else "  MISSED"
        print(
            f"{row.group:28}{row.name:18}{row.published:10.3f} {row.emulated:10.3f} {100 * row.error:+6.1f}%"
            f"  {allowed:>7}  {row.bound}{verdict}",
            flush=True,
        )
    missed = [row for row in found if row.allowed is not None and abs(row.error) > row.allowed]
    wrong = _order([row for row in found if row.group == LADDER])
    return 1 if missed or wrong else 0


CLAMP = "clamp (write-up)"
STRIDE = "stride copy (lab notes)"
BLOCK = "block size, copy (lab notes)"
MATMUL = "matmul 1024^3 (lab notes)"
LADDER = "matmul 4096^3 (lab notes)"


def markdown(row: Row) -> str:
    """A row of the table in docs/model.md."""
    return (
        f"| {row.group} | {row.name} | {round(row.published, 3):g} ms | {round(row.emulated, 3):g} ms "
        f"| {100 * row.error:+.1f}% |"
    )


def rows(device: DeviceProfile, quick: bool) -> Iterator[Row]:
    """All comparisons, in order; quick: without the 4096-cubed matrix multiplies."""
    yield from _clamp(device)
    yield from _copies(device)
    yield from _matmul(device, 1024, MATMUL, {"naive": 1.23, "tile_16": 0.91, "registers": 0.53})
    if not quick:
        ladder = {"naive": 112.6, "quads": 103.4, "tile_16": 87.8, "tile_32": 78.2, "registers": 51.1}
        yield from _matmul(device, 4096, LADDER, ladder)


def _clamp(device: DeviceProfile) -> Iterator[Row]:
    family = read_family(REPOSITORY / "kernels" / "clamp_smem")
    published = {"original": 10.465, "padded": 0.98, "registers": 0.621, "flat_block": 10.2}
    for name, ms in published.items():
        variant = family.variant(name)
        made = prepare(toolchain.compile_cuda(variant.source, variant.source_name, device.arch), variant.source_name)
        sizes = {key: array.resolve_shape(family.problem) for key, array in family.arrays.items()}
        yield _row(CLAMP, name, ms, 0.15, made, family.launches(name, family.problem), sizes, device)


def _copies(device: DeviceProfile) -> Iterator[Row]:
    made = _prepared("copy.cu", device)
    total = 16 * 2**20

    def row(group: str, name: str, gb_s: float, block: int, stride: int) -> Row:
        threads = total // stride
        args = (ArrayArg("in"), ArrayArg("out"), ScalarArg("i32", threads), ScalarArg("i32", stride))
        launch = ResolvedLaunch("copy_strided", (threads // block, 1, 1), (block, 1, 1), 0, args)
        sizes = {"in": (total,), "out": (threads,)}
        return _row(group, name, 8 * threads / gb_s / 1e6, 0.25, made, (launch,), sizes, device)

    for stride, gb_s in ((1, 209), (2, 146), (4, 91), (8, 53), (16, 29)):
        yield row(STRIDE, f"stride {stride}", gb_s, 256, stride)
    for block, gb_s in ((32, 98), (64, 182), (128, 206), (256, 204), (512, 194), (1024, 202)):
        yield row(BLOCK, f"{block} threads", gb_s, block, 1)


def _matmul(device: DeviceProfile, n: int, group: str, published: dict[str, float]) -> Iterator[Row]:
    made = _prepared("matmul.cu", device)
    shapes = {
        "naive": (16, (16, 16, 1)),
        "quads": (16, (16, 16, 1)),
        "tile_16": (16, (16, 16, 1)),
        "tile_32": (32, (32, 32, 1)),
        "registers": (64, (1024, 1, 1)),
    }
    args = (ArrayArg("a"), ArrayArg("b"), ArrayArg("c"), ScalarArg("i32", n))
    for kernel, ms in published.items():
        edge, block = shapes[kernel]
        launch = ResolvedLaunch(kernel, (n // edge, n // edge, 1), block, 0, args)
        allowed = 0.25 if group == MATMUL else None
        yield _row(group, kernel, ms, allowed, made, (launch,), dict.fromkeys("abc", (n, n)), device)


def _prepared(name: str, device: DeviceProfile) -> Prepared:
    return prepare(toolchain.compile_cuda((KERNELS / name).read_text(), name, device.arch), name)


def _row(
    group: str, name: str, published: float, allowed: float | None, made: Prepared,
    launches: tuple[ResolvedLaunch, ...], sizes: Mapping[str, tuple[int, ...]], device: DeviceProfile,
) -> Row:  # fmt: skip
    memory = DeviceMemory({key: (shape, np.float32) for key, shape in sizes.items()}, checked=False)
    found = estimate(made, launches, memory, device)
    return Row(group, name, published, found.ms, found.dominant.time.by, allowed)


def _order(ladder: list[Row]) -> bool:
    """Print every pair of the ladder; whether one that is far enough apart comes out in the wrong order."""
    wrong = False
    if ladder:
        print(f"\nThe ladder in pairs; a pair less than {APART} apart is too close to model.")
    for first, second in combinations(ladder, 2):
        slow, fast = sorted((first, second), key=lambda row: -row.published)
        published, emulated = slow.published / fast.published, slow.emulated / fast.emulated
        if published < APART:
            verdict = "too close to model"
        elif emulated > 1:
            verdict = "in order"
        else:
            verdict, wrong = "WRONG ORDER", True
        print(f"  {slow.name:10} over {fast.name:10} published {published:5.2f}, emulated {emulated:5.2f}: {verdict}")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
