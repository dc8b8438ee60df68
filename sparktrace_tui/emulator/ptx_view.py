"""What alignment, scoreboard and timing need of a PTX instruction: its class, its memory access, what it reads."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sparktrace_tui.emulator.counters import Operation, Space
from sparktrace_tui.emulator.flow import Node
from sparktrace_tui.emulator.ptx import TYPE_BYTES, Address, Instruction, Kernel, Label, Pair, Reg, Symbol, Vector

_SPACES: dict[str, Space] = {"shared": "shared", "global": "global", "local": "local", "const": "constant"}
# Names whose first operand is read, not written.
_NO_RESULT = frozenset(("st", "red", "bar", "barrier", "bra", "brx", "ret", "exit", "membar", "fence", "trap"))


@dataclass(frozen=True)
class Memory:
    """A memory access: space, operation, bytes a lane, and the address as a base register's slot and an offset."""

    space: Space
    operation: Operation
    bytes: int
    base: int | None
    offset: int


@dataclass(frozen=True)
class Op:
    """One PTX instruction. `kind` is a latency class of the profile (`alu`, `fma`, `imad`, `xu`, `fp64`, `shuffle`,
    `barrier`, `branch`, `uniform`) or `memory`; reads and writes are register slots."""

    pc: int
    name: str
    parts: tuple[str, ...]
    line: int | None
    kind: str
    guarded: bool
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    memory: Memory | None = None
    target: int | None = None

    @property
    def integer(self) -> bool:
        return self.parts[-1][0] in "usb"


def view(kernel: Kernel) -> tuple[Op, ...]:
    """Every instruction of a kernel, by pc."""
    return tuple(_op(instruction) for instruction in kernel.instructions)


def nodes(ops: tuple[Op, ...], kernel: Kernel) -> list[Node]:
    """The kernel's control flow, for `flow.units`."""
    found = []
    for op, instruction in zip(ops, kernel.instructions, strict=True):
        leaves = op.name in ("bra", "brx", "ret", "exit", "trap") and not op.guarded
        targets = instruction.table or ((op.target,) if op.target is not None else ())
        found.append(Node(targets, not leaves, op.kind == "barrier"))
    return found


def _op(instruction: Instruction) -> Op:
    parts = instruction.parts
    results = 0 if parts[0] in _NO_RESULT else 1
    writes = tuple(_slots(instruction.operands[:results], addresses=False))
    reads = list(_slots(instruction.operands[results:], addresses=True))
    if instruction.guard is not None:
        reads.append(instruction.guard.slot)
    target = next((item.pc for item in instruction.operands if isinstance(item, Label)), None)
    return Op(
        pc=instruction.pc,
        name=parts[0],
        parts=parts,
        line=instruction.line,
        kind=_kind(parts),
        guarded=instruction.guard is not None,
        reads=tuple(reads),
        writes=writes,
        memory=_memory(instruction),
        target=target,
    )


def _slots(operands: tuple[object, ...], *, addresses: bool) -> Iterator[int]:
    for operand in operands:
        match operand:
            case Reg(slot=slot):
                yield slot
            case Address(base=Reg(slot=slot)):
                yield slot
            case Vector(items=items):
                yield from _slots(items, addresses=addresses)
            case Pair(first=first, second=second):
                yield from _slots((first, second), addresses=addresses)


def _memory(instruction: Instruction) -> Memory | None:
    parts = instruction.parts
    operation: Operation
    match parts[0]:
        case "ld" | "ldu":
            operation = "load"
        case "st":
            operation = "store"
        case "atom":
            operation = "atomic"
        case "red":
            operation = "reduction"
        case _:
            return None
    if "param" in parts:
        return None
    address = next((item for item in instruction.operands if isinstance(item, Address | Symbol)), None)
    space = next((_SPACES[part.partition("::")[0]] for part in parts if part.partition("::")[0] in _SPACES), None)
    if space is None:
        space = _SPACES.get(getattr(address, "space", None) or "", "global")
    count = next((int(part[1:]) for part in parts if re.fullmatch(r"v[248]", part)), 1)
    base = address.base.slot if isinstance(address, Address) and address.base is not None else None
    return Memory(space, operation, TYPE_BYTES.get(parts[-1], 4) * count, base, address.offset if address else 0)


def _kind(parts: tuple[str, ...]) -> str:
    name, type_name = parts[0], parts[-1]
    match name:
        case "ld" | "ldu" | "st" | "atom" | "red":
            return "uniform" if "param" in parts else "memory"
        case "bar" | "barrier" if "warp" not in parts:
            return "barrier"
        case "bra" | "brx" | "ret" | "exit" | "bar" | "barrier" | "trap":
            return "branch"
        case "shfl":
            return "shuffle"
        case "vote" | "match" | "activemask" | "redux":
            return name if name == "redux" else "vote"
        case "ex2" | "lg2" | "rcp" | "rsqrt" | "sqrt" | "sin" | "cos" | "tanh" | "popc" | "clz" | "brev" | "bfind":
            return "xu"
        case "add" | "sub" | "mul" | "fma" | "mad" | "neg" | "abs" if type_name == "f64":
            return "fp64"
        case "fma" | "mul" | "add" | "sub" if type_name in ("f32", "f16", "f16x2", "bf16", "bf16x2"):
            return "fma"
        case "mad" | "mul" | "mul24" | "mad24":
            return "imad"
        case "cvt" if any(part.startswith("f") for part in parts[-2:]) and parts[-1] != parts[-2]:
            return "xu"
        case "div" | "rem":
            return "divide"
    return "alu"
