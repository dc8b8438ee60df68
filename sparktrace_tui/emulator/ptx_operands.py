"""Operands of PTX instructions: names to registers, variables, labels and literals; a kernel in the making."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sparktrace_tui.domain.errors import BadInput
from sparktrace_tui.emulator.ptx_text import aligned, at_line, read_literal, split
from sparktrace_tui.emulator.ptx_types import (
    TYPE_BYTES,
    Address,
    Instruction,
    Label,
    Operand,
    Pair,
    Reg,
    Special,
    Symbol,
    Variable,
    Vector,
)


@dataclass
class RawInstruction:
    """An instruction before its operands are resolved; scope maps register names to slots."""

    guard: tuple[str, bool] | None
    opcode: str
    operands: list[str]
    line: int | None
    text: str
    registers: Mapping[str, Reg]
    names: Mapping[str, str]
    label_suffix: str


@dataclass
class Build:
    """A kernel in the making: instructions so far, the register file, variables and where each space ends."""

    registers: list[Reg] = field(default_factory=list)
    raw: list[RawInstruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    tables: dict[str, list[str]] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    ends: dict[str, int] = field(default_factory=lambda: {"shared": 0, "local": 0})
    params: dict[tuple[str, int], Reg] = field(default_factory=dict)
    calls: int = 0
    dynamic: list[tuple[str, int]] = field(default_factory=list)

    def register(self, type_name: str, name: str) -> Reg:
        width = 0 if type_name == "pred" else TYPE_BYTES[type_name]
        reg = Reg(len(self.registers), width, name)
        self.registers.append(reg)
        return reg


def resolve(build: Build, pc: int, raw: RawInstruction) -> Instruction:
    parts = tuple(raw.opcode.split("."))
    guard = None
    if raw.guard:
        guard = raw.registers.get(raw.guard[0])
        if guard is None:
            raise BadInput(f"PTX uses an unknown register in {raw.text!r}{at_line(raw.line)}")
    table: tuple[int, ...] = ()
    texts = raw.operands
    if parts[:2] == ("brx", "idx"):
        table = tuple(build.labels[name] for name in build.tables[texts[1] + raw.label_suffix])
        texts = texts[:1]
    operands = tuple(_operand(build, raw, text) for text in texts)
    if any(item is None for item in operands):
        operands = tuple(Vector(()) if item is None else item for item in operands)
    made = Instruction(
        pc, parts, operands, guard, bool(raw.guard and raw.guard[1]), raw.line, raw.text, table  # type: ignore[arg-type]
    )  # fmt: skip
    if parts[0] in ("ld", "st") and "param" in parts:
        return _parameter(build, made, raw)
    return made


def _parameter(build: Build, made: Instruction, raw: RawInstruction) -> Instruction:
    """A call's parameters live in registers of their own, one for each offset: ld and st become moves."""
    place = 1 if made.name == "ld" else 0
    match = re.fullmatch(r"\[\s*([\w$%@#]+)\s*(?:\+\s*(-?\d+))?\s*\]", raw.operands[place])
    name = raw.names.get(match[1], "") if match else ""
    if "@" not in name:
        return made
    start = int(match[2] or 0) if match else 0
    type_name = made.parts[-1]
    step = TYPE_BYTES[type_name]
    other = made.operands[1 - place]
    items = other.items if isinstance(other, Vector) else (other,)
    regs = []
    for index in range(len(items)):
        key = (name, start + index * step)
        if key not in build.params:
            build.params[key] = Reg(len(build.registers), step, f"{name}+{key[1]}")
            build.registers.append(build.params[key])
        if build.params[key].width != step:
            raise BadInput(f"PTX not covered: {raw.text!r} (a parameter read in another width){at_line(raw.line)}")
        regs.append(build.params[key])
    target: Operand = Vector(tuple(regs)) if isinstance(other, Vector) else regs[0]
    operands = (other, target) if made.name == "ld" else (target, other)
    return replace(made, parts=("parammove", type_name), operands=operands)


def _operand(build: Build, raw: RawInstruction, text: str) -> Operand | None:
    text = text.strip()
    if text == "_":
        return None
    if text.startswith("{"):
        return Vector(tuple(_operand(build, raw, item) for item in split(text[1:-1])))
    if text.startswith("["):
        return _address(build, raw, text[1:-1].strip())
    if "|" in text:
        first, second = text.split("|")
        return Pair(_operand(build, raw, first), _operand(build, raw, second))
    if text in raw.registers:
        return raw.registers[text]
    if (literal := read_literal(text)) is not None:
        return literal
    if text.startswith("%"):
        return Special(text)
    name = raw.names.get(text, text)
    if text + raw.label_suffix in build.labels:
        return Label(text, build.labels[text + raw.label_suffix])
    if variable := build.variables.get(name):
        return Symbol(variable.space, variable.offset, name)
    match = re.fullmatch(r"([\w$]+)\s*\+\s*(-?\d+)", text)
    if match and (variable := build.variables.get(raw.names.get(match[1], match[1]))):
        return Symbol(variable.space, variable.offset + int(match[2]), match[1])
    if text.startswith("!") and text[1:] in raw.registers:
        raise BadInput(f"PTX not covered: {raw.text!r}{at_line(raw.line)}")
    raise BadInput(f"PTX not covered: {raw.text!r} (operand {text!r}){at_line(raw.line)}")


def _address(build: Build, raw: RawInstruction, text: str) -> Address:
    base, _, offset = text.partition("+")
    base, number = base.strip(), int(offset.strip(), 0) if offset.strip() else 0
    if base in raw.registers:
        return Address(raw.registers[base], number)
    if (literal := read_literal(base)) is not None:
        return Address(None, literal.value + number)
    name = raw.names.get(base, base)
    if variable := build.variables.get(name):
        return Address(None, variable.offset + number, variable.space)
    if "@" in name:
        return Address(None, number, "param")
    raise BadInput(f"PTX not covered: {raw.text!r} (address {text!r}){at_line(raw.line)}")


def place_variable(build: Build, name: str, space: str, size: int, align: int) -> None:
    offset = aligned(build.ends[space], align)
    build.ends[space] = offset + size
    build.variables[name] = Variable(name, space, offset, size, align)
