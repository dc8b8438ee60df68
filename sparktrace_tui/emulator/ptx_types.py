"""What a parsed PTX kernel is: operands, instructions, parameters, variables, as frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass

TYPE_BYTES = {
    "b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2,
    "b32": 4, "u32": 4, "s32": 4, "f32": 4, "f16x2": 4, "bf16x2": 4, "pred": 1,
    "b64": 8, "u64": 8, "s64": 8, "f64": 8, "b128": 16,
}  # fmt: skip


@dataclass(frozen=True)
class Reg:
    """A register: its slot in the kernel's register file, and its width in bytes (0 for a predicate)."""

    slot: int
    width: int
    name: str = ""


@dataclass(frozen=True)
class Imm:
    """A literal. Integers as written, floats as their bits with `float_bits` 32 or 64."""

    value: int
    float_bits: int = 0


@dataclass(frozen=True)
class Address:
    """`[base + offset]`; a variable's own address is already in the offset, `space` the variable's."""

    base: Reg | None
    offset: int
    space: str | None = None


@dataclass(frozen=True)
class Symbol:
    """The address of a variable, in its own space."""

    space: str
    offset: int
    name: str


@dataclass(frozen=True)
class Special:
    """A read-only register such as `%tid.x`."""

    name: str


@dataclass(frozen=True)
class Vector:
    """`{a, b, ...}`; None stands for `_`."""

    items: tuple["Operand | None", ...]


@dataclass(frozen=True)
class Pair:
    """`d|p`, a destination with a predicate beside it."""

    first: "Operand | None"
    second: "Operand | None"


@dataclass(frozen=True)
class Label:
    """A branch target, by name and pc."""

    name: str
    pc: int = -1


Operand = Reg | Imm | Address | Symbol | Special | Vector | Pair | Label


@dataclass(frozen=True)
class Instruction:
    """One PTX instruction. `parts` are the dotted words; `line` is 1-based in the compiled file, None where unknown."""

    pc: int
    parts: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Reg | None
    guard_negated: bool
    line: int | None
    text: str
    table: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        return self.parts[0]


@dataclass(frozen=True)
class Param:
    """A kernel parameter in the parameter block: bytes at an offset; `type` as declared."""

    name: str
    type: str
    offset: int
    size: int


@dataclass(frozen=True)
class Variable:
    """A module or kernel variable in shared, global, constant or local space, at `offset` of that space."""

    name: str
    space: str
    offset: int
    size: int
    align: int
    data: bytes = b""


@dataclass(frozen=True)
class Kernel:
    """A kernel ready to run. `labels` maps names to pcs; shared memory is the static part, then the dynamic one."""

    name: str
    params: tuple[Param, ...]
    instructions: tuple[Instruction, ...]
    registers: tuple[Reg, ...]
    variables: Mapping[str, Variable]
    static_shared_bytes: int
    dynamic_shared_offset: int
    local_bytes: int
    constants: bytes
    globals: bytes

    @property
    def param_bytes(self) -> int:
        return max((p.offset + p.size for p in self.params), default=0)

    @property
    def lines(self) -> tuple[int | None, ...]:
        return tuple(i.line for i in self.instructions)


@dataclass(frozen=True)
class Module:
    """All kernels of one PTX text."""

    kernels: Mapping[str, Kernel]
    target: str
