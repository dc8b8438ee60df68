"""A kernel prepared to run: what each instruction reads and writes, straight-line segments, liveness and the slice.

In counting mode only what reaches an address or a branch is worked out; the rest is only counted.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from sparktrace_tui.domain.errors import BadInput
from sparktrace_tui.emulator.ptx import Address, Instruction, Kernel, Operand, Pair, Reg, Vector

CONTROL = ("bra", "brx", "ret", "exit", "trap")
_NO_RESULT = (
    "st", "red", "bra", "brx", "ret", "exit", "trap", "membar", "fence", "prefetch", "prefetchu", "nanosleep",
    "discard", "applypriority", "brkpt", "pmevent",
)  # fmt: skip
_MEMORY = ("ld", "ldu", "st", "atom", "red")


def is_barrier(ins: Instruction) -> bool:
    """Whether threads wait here for others of the block."""
    return ins.name in ("bar", "barrier") and "warp" not in ins.parts and "cluster" not in ins.parts


def space_of(ins: Instruction) -> str:
    """The state space a memory instruction names, `generic` where it names none."""
    for part in ins.parts[1:]:
        if part in ("global", "shared", "local", "const", "param"):
            return part
        if part.startswith("shared::"):
            return "shared"
        if part.startswith("param::"):
            return "param"
    return "generic"


def is_memory(ins: Instruction) -> bool:
    """Whether the instruction touches shared, global, local or constant memory."""
    return ins.name in _MEMORY and space_of(ins) != "param"


def _regs(operand: Operand | None) -> Iterable[Reg]:
    match operand:
        case Reg():
            yield operand
        case Vector(items=items):
            for item in items:
                yield from _regs(item)
        case Pair(first=first, second=second):
            yield from _regs(first)
            yield from _regs(second)
        case Address(base=Reg() as base):
            yield base


def has_result(ins: Instruction) -> bool:
    if ins.name in ("bar", "barrier"):
        return "red" in ins.parts
    return ins.name not in _NO_RESULT and bool(ins.operands)


def results(ins: Instruction) -> tuple[int, ...]:
    """The slots an instruction writes."""
    return tuple(reg.slot for reg in _regs(ins.operands[0])) if has_result(ins) else ()


def sources(ins: Instruction) -> tuple[int, ...]:
    """The slots an instruction reads, its guard included."""
    operands = ins.operands[1:] if has_result(ins) else ins.operands
    slots = [reg.slot for operand in operands for reg in _regs(operand)]
    if ins.guard is not None:
        slots.append(ins.guard.slot)
    return tuple(slots)


def _address_slots(ins: Instruction) -> list[int]:
    return [o.base.slot for o in ins.operands if isinstance(o, Address) and o.base is not None]


@dataclass(frozen=True)
class Slice:
    """What must be worked out: by pc, whether its result is needed, and whether a load or store moves data."""

    needed: tuple[bool, ...]
    moves_data: tuple[bool, ...]
    loads_global: bool


def slice_of(kernel: Kernel, everything: bool = False) -> Slice:
    """The slice of a kernel, or all of it."""
    code = kernel.instructions
    if everything:
        return Slice((True,) * len(code), (True,) * len(code), any(space_of(i) == "global" for i in code))
    wanted: set[int] = set()
    spaces: set[str] = set()
    needed = [False] * len(code)
    moves = [False] * len(code)
    for ins in code:
        if ins.name in CONTROL or is_barrier(ins):
            wanted.update(sources(ins) if not is_barrier(ins) else _barrier_operands(ins))
        elif is_memory(ins):
            wanted.update(_address_slots(ins))
            if ins.guard is not None:
                wanted.add(ins.guard.slot)
    changed = True
    while changed:
        changed = False
        for ins in code:
            pc = ins.pc
            hit = any(slot in wanted for slot in results(ins))
            if ins.name in ("st", "red", "atom") and (
                space_of(ins) in spaces or (spaces and space_of(ins) == "generic")
            ):
                hit = True
            if not hit or needed[pc]:
                continue
            needed[pc] = changed = True
            if ins.name in ("ld", "ldu", "atom") and space_of(ins) not in ("param", "const"):
                spaces.add(space_of(ins))
                if space_of(ins) == "generic":
                    spaces.update(("global", "shared", "local"))
            moves[pc] = ins.name in _MEMORY
            wanted.update(sources(ins))
    loads_global = "global" in spaces
    return Slice(tuple(needed), tuple(moves), loads_global)


def _barrier_operands(ins: Instruction) -> tuple[int, ...]:
    operands = ins.operands[1:2] if "red" in ins.parts else ins.operands
    return tuple(reg.slot for operand in operands for reg in _regs(operand))


def lanes_at_once(kernel: Kernel, chosen: Slice, budget: int) -> int:
    """How many lanes may run together so that their registers take at most `budget` bytes, were each of full size."""
    widths = {reg.slot: max(reg.width, 1) for reg in kernel.registers}
    written = {slot for ins in kernel.instructions if chosen.needed[ins.pc] for slot in results(ins)}
    each = sum(widths.get(slot, 8) for slot in written) + kernel.local_bytes
    return min(1 << 20, max(1 << 12, budget // max(each, 1)))


@dataclass(frozen=True)
class Segment:
    """Instructions start..end-1 that always run together; `closer` ends them (None: falls through to `end`)."""

    index: int
    start: int
    end: int
    closer: Instruction | None
    live_in: int
    live_at_close: int
    only_returns: bool


def segments_of(kernel: Kernel, chosen: Slice) -> tuple[Segment, ...]:
    """The segments in order of pc, with the registers live on entry as bits of an integer."""
    code = kernel.instructions
    if not code:
        raise BadInput(f"the kernel {kernel.name} has no instructions")
    starts = {0}
    for ins in code:
        if ins.name in CONTROL or is_barrier(ins):
            starts.add(ins.pc + 1)
            starts.update(targets(ins))
    ordered = sorted(start for start in starts if start < len(code))
    ends = [*ordered[1:], len(code)]
    use: list[int] = []
    kill: list[int] = []
    for start, end in zip(ordered, ends, strict=True):
        used = killed = 0
        for ins in code[start:end]:
            if not counts_as_work(ins, chosen):
                continue
            for slot in sources(ins):
                used |= (1 << slot) & ~killed
            for slot in results(ins):
                if ins.guard is None:
                    killed |= 1 << slot
                else:
                    used |= (1 << slot) & ~killed
        use.append(used)
        kill.append(killed)
    place = {start: index for index, start in enumerate(ordered)}
    after: list[list[int]] = []
    for end in ends:
        last = code[end - 1]
        follow = [place[t] for t in targets(last) if t in place] if last.name in CONTROL else []
        if (last.name not in CONTROL or last.guard is not None) and end in place:
            follow.append(place[end])
        after.append(follow)
    live = list(use)
    changed = True
    while changed:
        changed = False
        for index in range(len(ordered) - 1, -1, -1):
            out = 0
            for follower in after[index]:
                out |= live[follower]
            now = use[index] | (out & ~kill[index])
            if now != live[index]:
                live[index], changed = now, True
    made = []
    for index, (start, end) in enumerate(zip(ordered, ends, strict=True)):
        last = code[end - 1]
        closes = last.name in CONTROL or is_barrier(last)
        close_live = 0
        for follower in after[index]:
            close_live |= live[follower]
        for slot in sources(last) if closes else ():
            close_live |= 1 << slot
        made.append(
            Segment(index, start, end, last if closes else None, live[index], close_live,
                    end - start == 1 and last.name in ("ret", "exit") and last.guard is None)
        )  # fmt: skip
    return tuple(made)


def counts_as_work(ins: Instruction, chosen: Slice) -> bool:
    """Whether the engine runs the instruction at all in this slice (for its result, its access or its control)."""
    return chosen.needed[ins.pc] or is_memory(ins) or ins.name in CONTROL or is_barrier(ins)


def targets(ins: Instruction) -> tuple[int, ...]:
    """The pcs a branch may go to, beside falling through."""
    if ins.name == "bra":
        label = ins.operands[0]
        return (getattr(label, "pc", -1),)
    return ins.table if ins.name == "brx" else ()
