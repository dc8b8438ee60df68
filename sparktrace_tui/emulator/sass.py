"""Machine code as `nvdisasm -g -c` prints it, read into functions of instructions with their pipe and line."""

import re
from dataclasses import dataclass

from sparktrace_tui.emulator.counters import Operation, Space

# What an opcode's root (the part before the first dot) runs on. Roots that start with U, and are not listed, run on
# the uniform datapath; everything else not listed is an integer or logic operation of the ALU pipe.
_PIPES: dict[str, str] = {
    **dict.fromkeys(("LDG", "STG", "LD", "ST", "LDL", "STL", "ATOM", "ATOMG", "RED", "REDG"), "lsu"),
    **dict.fromkeys(("LDS", "STS", "ATOMS", "LDSM", "STSM", "LDGSTS"), "lsu"),
    **dict.fromkeys(("FADD", "FMUL", "FFMA", "FFMA2", "FADD2", "FMUL2", "FSWZADD", "IMAD32I"), "fma"),
    **dict.fromkeys(("HADD2", "HMUL2", "HFMA2", "HSETP2", "HSET2", "HMNMX2"), "half"),
    **dict.fromkeys(("IMAD", "IDP", "IMUL"), "imad"),
    **dict.fromkeys(("DADD", "DMUL", "DFMA", "DSETP", "DMNMX"), "fp64"),
    **dict.fromkeys(("MUFU", "I2F", "F2I", "F2F", "I2I", "FRND", "POPC", "FLO", "BREV"), "xu"),
    **dict.fromkeys(("SHFL",), "shuffle"),
    **dict.fromkeys(("VOTE", "MATCH"), "vote"),
    **dict.fromkeys(("REDUX", "CREDUX"), "reduce"),
    **dict.fromkeys(("BAR", "MEMBAR", "ERRBAR", "DEPBAR", "CCTL"), "barrier"),
    **dict.fromkeys(("BRA", "BRX", "JMP", "EXIT", "RET", "CALL", "BSSY", "BSYNC", "BREAK", "WARPSYNC"), "branch"),
    **dict.fromkeys(("NANOSLEEP", "YIELD", "KILL", "BMOV"), "branch"),
    **dict.fromkeys(("S2R", "S2UR", "CS2R", "LDC", "LDCU", "R2UR", "VOTEU"), "uniform"),
}
_MEMORY: dict[str, tuple[Space, Operation]] = {
    "LDG": ("global", "load"), "LD": ("global", "load"), "STG": ("global", "store"), "ST": ("global", "store"),
    "LDS": ("shared", "load"), "STS": ("shared", "store"), "LDL": ("local", "load"), "STL": ("local", "store"),
    "ATOM": ("global", "atomic"), "ATOMG": ("global", "atomic"), "RED": ("global", "reduction"),
    "REDG": ("global", "reduction"), "ATOMS": ("shared", "atomic"),
}  # fmt: skip
PIPES = (
    "fma", "half", "imad", "alu", "xu", "fp64", "uniform", "lsu", "shuffle", "vote", "reduce", "barrier", "branch",
)  # fmt: skip
_ENDS = frozenset({"BRA", "BRX", "JMP", "EXIT", "RET", "KILL", "BREAK"})


@dataclass(frozen=True)
class SassInstruction:
    """One machine instruction: its byte offset, guard (`!P0`, or empty), opcode with modifiers, operands, and line.

    `pipe` is one of PIPES. `line` is 1-based, of the innermost inlined function, None where there is none.
    """

    offset: int
    guard: str
    opcode: str
    operands: str
    line: int | None
    pipe: str

    @property
    def root(self) -> str:
        return self.opcode.partition(".")[0]

    @property
    def memory(self) -> tuple[Space, Operation] | None:
        """The space and operation of a memory instruction, None for any other."""
        return _MEMORY.get(self.root)

    @property
    def width(self) -> int:
        """Bytes a lane that a memory instruction moves."""
        for part, width in (("128", 16), ("64", 8), ("U8", 1), ("S8", 1), ("U16", 2), ("S16", 2)):
            if part in self.opcode.split("."):
                return width
        return 4

    @property
    def target(self) -> str | None:
        """The label that a branch or call names."""
        found = re.search(r"`\((\S+?)\)", self.operands) if self.pipe == "branch" else None
        return found[1] if found else None

    @property
    def ends_block(self) -> bool:
        return self.root in _ENDS

    @property
    def text(self) -> str:
        guard = f"@{self.guard} " if self.guard else ""
        return f"{guard}{self.opcode} {self.operands}".strip()


@dataclass(frozen=True)
class SassFunction:
    """A kernel's machine code: instructions in address order, and where each label points (an instruction index).

    `helpers` holds the half-open index ranges of out-of-line helper code (a division's slow path) in the kernel.
    """

    name: str
    instructions: tuple[SassInstruction, ...]
    labels: dict[str, int]
    helpers: tuple[tuple[int, int], ...] = ()

    def is_helper(self, index: int) -> bool:
        return any(start <= index < end for start, end in self.helpers)


_INSTRUCTION = re.compile(
    r"^\s*/\*(?P<offset>[0-9a-f]{4,})\*/\s+(?:@(?P<guard>!?U?P\w+)\s+)?(?P<opcode>[A-Z][\w.]*)\s*(?P<operands>.*?)\s*;"
)
_LINE = re.compile(r'//## File "(?:[^"]*/)?(?P<file>[^"/]*)", line (?P<line>\d+)')
_SECTION = re.compile(r"^\s*\.section\s+\.text\.(?P<name>[^,\s]+),")
_LABEL = re.compile(r"^(?P<name>[.$\w]+):\s*$")


def pipe_of(opcode: str) -> str:
    """The pipe an opcode runs on, one of PIPES."""
    root = opcode.partition(".")[0]
    if root in _PIPES:
        return _PIPES[root]
    return "uniform" if root.startswith("U") else "alu"


def parse(text: str, main_file: str | None = None) -> dict[str, SassFunction]:
    """The functions of a listing by name (as the compiler mangled it). Padding after the last exit is left out.

    Where inlined code carries a chain of places, the first one in `main_file` is taken (the outermost without one):
    the line of the user's own source, as the PTX reader does it.
    """
    functions: dict[str, SassFunction] = {}
    name: str | None = None
    instructions: list[SassInstruction] = []
    labels: dict[str, int] = {}
    helper_starts: list[int] = []
    line: int | None = None
    settled = False  # whether this chain of marks (inlined calls from inside out) has named its line
    fresh = True

    def finish() -> None:
        if name is not None:
            end = _end(instructions)
            starts = [*helper_starts, end]
            helpers = tuple((starts[i], starts[i + 1]) for i in range(len(helper_starts)))
            functions[name] = SassFunction(name, tuple(instructions[:end]), dict(labels), helpers)

    for row in text.splitlines():
        if section := _SECTION.match(row):
            finish()
            name, instructions, labels, helper_starts, line = section["name"], [], {}, [], None
        elif row.lstrip().startswith("//---") or re.match(r"\s*\.section\s", row):
            finish()
            name = None
        elif name is None:
            continue
        elif mark := _LINE.search(row):
            if fresh:
                settled, fresh = False, False
            if not settled:
                line = int(mark["line"])
                settled = main_file is not None and mark["file"] == main_file
        elif found := _INSTRUCTION.match(row):
            fresh = True
            instructions.append(
                SassInstruction(
                    int(found["offset"], 16),
                    found["guard"] or "",
                    found["opcode"],
                    found["operands"],
                    line,
                    pipe_of(found["opcode"]),
                )
            )
        elif label := _LABEL.match(row):
            labels[label["name"]] = len(instructions)
            if label["name"].startswith("$__internal"):
                helper_starts.append(len(instructions))
    finish()
    return functions


def _end(instructions: list[SassInstruction]) -> int:
    """Where the padding starts: trailing NOPs and the branch to itself before them."""
    end = len(instructions)
    while end and instructions[end - 1].root == "NOP":
        end -= 1
    if end and instructions[end - 1].root == "BRA" and not instructions[end - 1].guard:
        end -= 1
    return end
