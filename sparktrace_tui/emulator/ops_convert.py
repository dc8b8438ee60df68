"""cvt: between integers, floats, halves and bfloats, with every rounding and saturation."""

from sparktrace_tui.emulator import lanes
from sparktrace_tui.emulator.ops import Action, Operands, lanewise, uncovered, valued
from sparktrace_tui.emulator.ops_int import signed
from sparktrace_tui.emulator.lanes import SIGNED, UNSIGNED, Bits, Value
from sparktrace_tui.emulator.ptx import TYPE_BYTES, Instruction

def build(ops: Operands, ins: Instruction) -> Action | None:
    if ins.name != "cvt":
        return None
    to, of = ins.parts[-2:]
    if to[0] in "us" and of[0] in "us" and len(ins.parts) == 3:
        return _integers(ops, ins, to, of)
    raise uncovered(ins)


def _integers(ops: Operands, ins: Instruction, to: str, of: str) -> Action:
    target = ops.result(ins.operands[0], ins)
    width = TYPE_BYTES[of]
    place = ops.source(ins.operands[1], width, ins)
    assert target is not None
    if width == 4 and TYPE_BYTES[to] == 8:
        return valued(ops, lambda v: lanes.widen(v, of[0] == "s") if v.dtype.itemsize == 4 else lanes.widen(lanes.full(v).astype('u4'), of[0]=="s"), target, (place,))
    def run(v: Bits) -> Bits:
        if v.dtype.itemsize != width: v = v.astype(UNSIGNED[width])
        v = (signed(v) if of[0]=="s" else v)
        v = v.astype((SIGNED if of[0]=="s" else UNSIGNED)[8]).view('u8').astype(UNSIGNED[TYPE_BYTES[to]])
        if target.width != TYPE_BYTES[to]:
            v = (signed(v) if to[0]=="s" else v).astype((SIGNED if to[0]=="s" else UNSIGNED)[target.width]).view(UNSIGNED[target.width])
        return v
    return lanewise(ops, run, target, (place,))
