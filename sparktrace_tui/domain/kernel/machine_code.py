"""What the compiler makes of a source, as values to look at: its listings, and where its shared accesses fall."""

from dataclasses import dataclass
from typing import Literal

Form = Literal["ptx", "sass"]
FORM_NAMES: dict[Form, str] = {"ptx": "PTX", "sass": "SASS"}
BANKS = 32
WORD_BYTES = 4


@dataclass(frozen=True)
class ListedLine:
    """A line of a listing: `line` is the 1-based source line it comes from, None where there is none.

    address is the byte offset of a machine instruction; PTX, labels and directives have none. executed: how many
    warps ran it, conflicts: its shared-memory bank conflicts, where those were counted.
    """

    text: str
    line: int | None = None
    address: int | None = None
    executed: int | None = None
    conflicts: int | None = None


@dataclass(frozen=True)
class Listing:
    """PTX or machine code. `made_by` says by what and for which target, or which report it stands in.

    start: what the kernel's first instruction has for an address where the listing comes from.
    """

    form: Form
    lines: tuple[ListedLine, ...]
    made_by: str = ""
    start: int = 0


@dataclass(frozen=True)
class SharedAccess:
    """One shared-memory instruction of a kernel, as one warp of the first block performs it for the first time.

    line: 1-based source line, None where there is none. width: bytes a lane. addresses: the byte address of each of
    the 32 lanes in the block's shared memory, None where the lane takes no part. groups: how the lanes are served
    together. words: how many distinct words lie in each bank, summed over the groups. worst: the most in one group.
    wavefronts is the sum over the groups of the worst bank's distinct words; conflicts are wavefronts less groups.
    requests, all_wavefronts and all_conflicts count over the whole block.
    """

    kernel: str
    line: int | None
    operation: str
    width: int
    text: str
    warp: int
    addresses: tuple[int | None, ...]
    groups: tuple[tuple[int, ...], ...]
    words: tuple[int, ...]
    worst: tuple[int, ...]
    wavefronts: int
    requests: int
    all_wavefronts: int
    all_conflicts: int

    @property
    def conflicts(self) -> int:
        return self.wavefronts - len(self.groups)


def bank_of(address: int) -> int:
    """The bank that a byte address of shared memory lies in."""
    return address // WORD_BYTES % BANKS
