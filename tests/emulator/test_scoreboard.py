"""The latency of one warp alone, against chains worked out by hand."""

import numpy as np

from sparktrace_tui.emulator import ptx, ptx_view, scoreboard
from sparktrace_tui.emulator.scoreboard import LatencyClass, PhaseLatency

NOMINAL: dict[LatencyClass, float] = {
    "alu": 4, "fma": 4, "imad": 5, "shared": 30, "barrier": 24, "uniform": 11, "xu": 18, "issue": 1,
}  # fmt: skip


def walk(body: str, leaders: dict[int, int] | None = None, repeat: int = 1) -> list[PhaseLatency]:
    text = (
        ".version 9.0\n.target sm_121\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<9>;\n.reg .b32 %f<9>;\n"
        f".reg .b64 %rd<9>;\n.shared .align 4 .b8 tile[64];\n{body}\nret;\n}}\n"
    )
    kernel = ptx.parse(text).kernels["k"]
    ops = ptx_view.view(kernel)
    nominal = {**NOMINAL, **{("global", pc): 600.0 for pc in range(len(ops))}}
    trace = np.tile(np.arange(len(ops) - 1), repeat).astype(np.int32)
    return scoreboard.phases(ops, leaders or {0: 1}, {}, trace, nominal)


def test_a_chain_adds_up_its_latencies() -> None:
    (found,) = walk(
        "ld.shared.f32 %f1, [tile];\nfma.rn.f32 %f2, %f1, %f1, %f1;\nmul.f32 %f3, %f2, %f2;\nst.shared.f32 [tile], %f3;"
    )
    assert found.counts == {"shared": 1, "fma": 2}


def test_independent_loads_overlap_and_the_sum_of_them_is_a_chain_of_additions() -> None:
    (found,) = walk(
        "ld.global.f32 %f1, [%rd1];\nld.global.f32 %f2, [%rd1+4];\nadd.f32 %f3, %f1, %f2;\nst.global.f32 [%rd2], %f3;"
    )
    assert sum(count for kind, count in found.counts.items() if isinstance(kind, tuple)) == 1
    assert found.counts["fma"] == 1


def test_a_barrier_ends_a_phase_and_is_paid_in_it() -> None:
    first, second = walk(
        "ld.shared.f32 %f1, [tile];\nst.shared.f32 [tile+4], %f1;\nbar.sync 0;\nst.shared.f32 [tile], 0f00000000;"
    )
    assert first.counts == {"shared": 1, "barrier": 1}
    assert second.counts.get("barrier", 0) == 0


def test_units_keep_their_order_but_loads_of_one_unit_do_not_wait_for_each_other() -> None:
    body = "ld.global.f32 %f1, [%rd1];\nadd.f32 %f2, %f2, %f1;\nst.global.f32 [%rd2], %f2;"
    (apart,) = walk(body, {0: 1}, repeat=4)
    (together,) = walk(body, {0: 4}, repeat=4)
    loads = [sum(n for kind, n in f.counts.items() if isinstance(kind, tuple)) for f in (apart, together)]
    assert loads == [4, 1]  # the assembler's unrolling by four puts four loads in flight


def test_many_independent_instructions_cost_their_issue_slots() -> None:
    body = "\n".join(f"add.s32 %r{i % 8}, %r8, {i};" for i in range(64))
    (found,) = walk(body)
    assert found.counts == {"issue": 64}
