"""What addresses are known to be multiples of, and which of two runs of loads the assembler merged."""

import pytest

from sparktrace_tui.emulator import toolchain
from sparktrace_tui.emulator.divisors import divisors
from sparktrace_tui.emulator.estimate import prepare
from sparktrace_tui.emulator.ptx import Address, Reg
from sparktrace_tui.store.paths import kernels_dir

pytest.importorskip("cuda.bindings.nvrtc", reason="the extra `compile` is not installed")


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_121"])
def test_of_two_rows_read_together_the_aligned_one_is_merged(arch: str) -> None:
    """`As[ty][kk]` walks rows of 128 bytes, `Bs[tx][kk]` rows of 132: only the first can be read 16 bytes at once."""
    source = (kernels_dir() / "matmul_tiled" / "padded.cu").read_text()
    prepared = prepare(toolchain.compile_cuda(source, "padded.cu", arch), "padded.cu")
    kernel, alignment = prepared.kernels["matmul"], prepared.alignments["matmul"]
    known = divisors(kernel)
    wide = [pc for pc, form in alignment.forms.items() if form.width == 16 and form.leader == pc]
    assert len(wide) == 8
    for pc in wide:
        address = next(o for o in kernel.instructions[pc].operands if isinstance(o, Address))
        assert isinstance(address.base, Reg)
        assert known[address.base.slot] == 16
        assert address.offset % 16 == 0
