"""Floating-point instructions."""
from sparktrace_tui.emulator.ops import Action, Operands
from sparktrace_tui.emulator.ptx import Instruction
def build(ops: Operands, ins: Instruction) -> Action | None:
    return None
