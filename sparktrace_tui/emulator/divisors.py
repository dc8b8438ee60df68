"""What an address is known to be a multiple of, as the assembler must know before it merges accesses."""

from math import gcd

from sparktrace_tui.emulator.ptx import Imm, Instruction, Kernel, Operand, Reg, Symbol

MOST = 16  # bytes of the widest access


def divisors(kernel: Kernel) -> dict[int, int]:
    """For each register slot the largest power of two, up to 16, that divides every value written to it.

    One pass in order of the code: a slot that a loop writes again from itself keeps what both writes share.
    """
    known: dict[int, int] = {}
    for instruction in kernel.instructions:
        first = instruction.operands[0] if instruction.operands else None
        if not isinstance(first, Reg) or instruction.name in ("st", "red", "bra", "bar"):
            continue
        made = _divisor(instruction, known)
        known[first.slot] = gcd(known.get(first.slot, made), made)
    return known


def _divisor(instruction: Instruction, known: dict[int, int]) -> int:
    values = [_of(operand, known) for operand in instruction.operands[1:]]
    match instruction.name:
        case "mov" | "cvt" | "cvta":
            return values[0]
        case "add" | "sub" | "and":
            return max(values[0], values[1]) if instruction.name == "and" else gcd(*values[:2])
        case "mul":
            return _cap(values[0] * values[1])
        case "mad":
            return gcd(_cap(values[0] * values[1]), values[2])
        case "shl":
            amount = instruction.operands[2]
            return _cap(values[0] << min(amount.value, 8)) if isinstance(amount, Imm) else values[0]
        case "selp":
            return gcd(*values[:2])
        case _:
            return 1


def _of(operand: Operand, known: dict[int, int]) -> int:
    match operand:
        case Reg(slot=slot):
            return known.get(slot, 1)
        case Imm(value=value, float_bits=0):
            return gcd(value, MOST) or MOST
        case Symbol(offset=offset):
            return gcd(offset, MOST) or MOST
        case _:
            return 1


def _cap(value: int) -> int:
    return gcd(value, MOST)
