"""From an instruction to a function over the register file: finding operands, reusing equal work, and the table."""

from collections.abc import Callable
from typing import Any

import numpy as np

from sparktrace_tui.domain.errors import BadInput
from sparktrace_tui.emulator.lanes import SIGNED, UNSIGNED, Bits, Sum, Value, full
from sparktrace_tui.emulator.ptx import TYPE_BYTES, Imm, Instruction, Kernel, Operand, Reg, Special, Symbol

Action = Callable[[], None]
Lanewise = Callable[..., Bits]
Valued = Callable[..., Value]


def uncovered(ins: Instruction, why: str = "") -> BadInput:
    """The refusal: the instruction, the reason and the source line."""
    where = f" at line {ins.line}" if ins.line else ""
    return BadInput(f"PTX instruction not covered{where}: {ins.text}{f' ({why})' if why else ''}")


class Operands:
    """The register file `slots`, and where each operand of an instruction lies in it.

    Immediates, special registers and addresses of variables get slots of their own after the registers, so that
    every operand is read alike.
    """

    def __init__(self, kernel: Kernel, global_base: int) -> None:
        self.kernel = kernel
        self.global_base = global_base
        self.slots: list[Value] = []
        self.clear = [np.zeros((1, 1), bool if reg.width == 0 else UNSIGNED[reg.width]) for reg in kernel.registers]
        self.slots.extend(self.clear)
        self.slots.append(np.zeros((1, 1), bool))
        self.carry = len(self.clear)
        self._fixed: dict[tuple[int, int], int] = {}
        self.specials: dict[str, int] = {}

    def reset(self) -> None:
        """All registers undefined (zero) again."""
        self.slots[: len(self.clear)] = self.clear
        self.slots[self.carry] = np.zeros((1, 1), bool)

    def constant(self, value: int, width: int) -> int:
        key = (value & ((1 << 8 * width) - 1) if width else value & 1, width)
        if key not in self._fixed:
            self._fixed[key] = len(self.slots)
            self.slots.append(np.full((1, 1), key[0], UNSIGNED[width] if width else bool))
        return self._fixed[key]

    def special(self, name: str) -> int:
        if name not in self.specials:
            self.specials[name] = len(self.slots)
            self.slots.append(np.zeros((1, 1), np.uint32))
        return self.specials[name]

    def source(self, operand: Operand, width: int, ins: Instruction) -> int:
        """The slot that holds an operand; an immediate is made `width` bytes wide."""
        match operand:
            case Reg(slot=slot):
                return slot
            case Imm(value=value, float_bits=bits):
                if bits == 64 and width == 4:
                    value = int(np.float32(np.uint64(value).view(np.float64)).view(np.uint32))
                return self.constant(value, width)
            case Special(name=name):
                return self.special(name)
            case Symbol(space=space, offset=offset):
                return self.constant(offset + (self.global_base if space == "global" else 0), width)
        raise uncovered(ins)

    def result(self, operand: Operand, ins: Instruction) -> Reg | None:
        """The register an instruction writes; None for `_`."""
        if isinstance(operand, Reg):
            return operand
        if getattr(operand, "items", None) == ():
            return None
        raise uncovered(ins)


def lanewise(ops: Operands, function: Lanewise, target: Reg | None, places: tuple[int, ...]) -> Action:
    """An action that applies `function` to whole arrays; equal operands on threads alone are not worked out twice."""
    slots = ops.slots
    slot = target.slot if target is not None else -1
    last: list[Any] = [None] * len(places)
    kept: Any = None
    if len(places) == 1:
        (only,) = places

        def act_one() -> None:
            nonlocal kept
            value = slots[only]
            if value is last[0]:
                slots[slot] = kept
                return
            result = function(full(value))
            slots[slot] = result
            if result.shape[0] == 1:
                last[0], kept = value, result
            else:
                last[0] = None

        return act_one
    if len(places) == 2:
        first, second = places

        def act_two() -> None:
            nonlocal kept
            a, b = slots[first], slots[second]
            if a is last[0] and b is last[1]:
                slots[slot] = kept
                return
            result = function(full(a), full(b))
            slots[slot] = result
            if result.shape[0] == 1:
                last[0], last[1], kept = a, b, result
            else:
                last[0] = None

        return act_two

    def act() -> None:
        slots[slot] = function(*[full(slots[place]) for place in places])

    return act


def valued(ops: Operands, function: Valued, target: Reg, places: tuple[int, ...]) -> Action:
    """An action over values as they are (a Sum stays one), with the same reuse."""
    slots = ops.slots
    slot = target.slot
    last: list[Any] = [None] * len(places)
    kept: Value | None = None

    def act() -> None:
        nonlocal kept
        values = [slots[place] for place in places]
        if kept is not None and all(a is b for a, b in zip(values, last, strict=True)):
            slots[slot] = kept
            return
        result = function(*values)
        slots[slot] = result
        part = result.block if isinstance(result, Sum) else result
        if part.shape[0] == 1:
            last[:], kept = values, result
        else:
            kept = None

    return act


def type_of(ins: Instruction) -> str:
    return ins.parts[-1]


def cut(values: Bits, width: int) -> Bits:
    """The low `width` bytes of each value."""
    if values.dtype.itemsize == width:
        return values
    return values.astype(UNSIGNED[width])


def signed(a: Bits) -> Bits:
    """Unsigned bits seen as signed integers."""
    return a.view(SIGNED[a.dtype.itemsize])


def typed_view(type_name: str) -> Callable[[Bits], Bits]:
    """How bits are seen as a type: signed or as they are."""
    return signed if type_name[0] == "s" else (lambda a: a)


def type_and_width(ins: Instruction) -> tuple[str, int]:
    """The type an instruction works on, and its bytes."""
    name = type_of(ins)
    return name, TYPE_BYTES[name]


def sources(ops: Operands, ins: Instruction, width: int) -> tuple[int, ...]:
    """The slots of all operands after the first."""
    return tuple(ops.source(o, width, ins) for o in ins.operands[1:])


def target_of(ops: Operands, ins: Instruction) -> Reg | None:
    return ops.result(ins.operands[0], ins)
