"""Warp instructions."""
from sparktrace_tui.emulator.ops import Action
from sparktrace_tui.emulator.ptx import Instruction
def build(engine, ins: Instruction) -> Action | None:
    return None
