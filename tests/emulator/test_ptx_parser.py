"""The parser: what of the text becomes instructions, registers, variables, parameters and lines."""

import pytest

from sparktrace_tui.domain.errors import BadInput
from sparktrace_tui.emulator import ptx
from tests.emulator.engine_support import compiled

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"


def kernel(body: str, params: str = ".param .u64 k_param_0", before: str = "", after: str = "") -> ptx.Kernel:
    return ptx.parse(f"{HEAD}{before}\n.visible .entry k({params})\n{{\n{body}\n}}\n{after}").kernels["k"]


def test_operands_of_every_form() -> None:
    made = kernel(
        ".reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<3>; .shared .align 16 .b8 tile[64];\n"
        "ld.param.u64 %rd1, [k_param_0];\n"
        "mov.u64 %rd2, tile;\n"
        "mov.u32 %r1, %tid.x;\n"
        "@!%p1 ld.global.v4.f32 {%r2, %r3, _, %r4}, [%rd1+-16];\n"
        "setp.lt.f32 %p1|%p2, %r2, 0f3F800000;\n"
        "st.shared.u32 [tile+8], -5;\n"
        "ret;"
    )
    load, move, special, vector, compare, store, _ = made.instructions
    assert load.operands[1] == ptx.Address(None, 0, "param")
    assert move.operands[1] == ptx.Symbol("shared", 0, "tile")
    assert special.operands[1] == ptx.Special("%tid.x")
    assert vector.guard is not None
    assert vector.guard_negated
    assert vector.parts == ("ld", "global", "v4", "f32")
    items = vector.operands[0].items  # type: ignore[union-attr]
    assert [getattr(item, "name", None) for item in items] == ["%r2", "%r3", None, "%r4"]
    assert vector.operands[1].offset == -16  # type: ignore[union-attr]
    assert isinstance(compare.operands[0], ptx.Pair)
    assert compare.operands[2] == ptx.Imm(0x3F800000, 32)
    assert store.operands == (ptx.Address(None, 8, "shared"), ptx.Imm(-5))
    assert made.static_shared_bytes == 64


def test_labels_become_pcs_and_lines_follow_loc() -> None:
    made = kernel(
        ".reg .pred %p<2>;\n.loc 1 7 3\n$L_1:\n@%p1 bra $L_2;\n.loc 1 9 1\nbra.uni $L_1;\n$L_2: ret;",
        after='.file 1 "a.cu"',
    )
    assert [i.line for i in made.instructions] == [7, 9, 9]
    assert made.instructions[0].operands[0] == ptx.Label("$L_2", 2)
    assert made.instructions[1].operands[0] == ptx.Label("$L_1", 0)


def test_a_line_of_a_header_is_given_where_it_was_inlined() -> None:
    made = kernel(
        ".loc 1 5 1\nmembar.gl;\n"
        ".loc 2 90 3, function_name $L__info_string0, inlined_at 1 12 7\nmembar.cta;\n.loc 1 5 1\nmembar.gl;\n"
        ".loc 2 91 3, function_name $L__info_string1, inlined_at 2 90 3\nmembar.sys;\nret;",
        after='.file 1 "a.cu"\n.file 2 "b.h"\n.section .debug_str { $x: .b8 0 }',
    )
    assert [i.line for i in made.instructions] == [5, 12, 5, 12, 12]


def test_parameters_are_laid_out_with_their_alignment() -> None:
    made = kernel(
        "ret;",
        ".param .u8 a, .param .align 8 .b8 b[24], .param .u16 c, .param .u64 .ptr .global .align 4 d, .param .f32 e",
    )
    assert [(p.name, p.offset, p.size) for p in made.params] == [
        ("a", 0, 1), ("b", 8, 24), ("c", 32, 2), ("d", 40, 8), ("e", 48, 4),
    ]  # fmt: skip
    assert made.param_bytes == 52


def test_module_variables_keep_their_data() -> None:
    made = kernel(
        "ret;",
        before=".const .align 4 .b8 t[8] = {1, 0, 0, 128};\n.global .align 4 .u32 c = 5;\n"
        ".extern .shared .align 16 .b8 dyn[];",
    )
    assert made.constants == bytes([1, 0, 0, 128, 0, 0, 0, 0])
    assert made.globals == (5).to_bytes(4, "little")
    assert made.variables["dyn"].space == "shared"


def test_dynamic_shared_memory_follows_the_static_part_aligned() -> None:
    source = """
    extern __shared__ float4 dyn[];
    __global__ void k(float* out) { __shared__ float s[3]; s[threadIdx.x % 3] = 1; dyn[threadIdx.x].x = 2;
        __syncthreads(); out[threadIdx.x] = s[0] + dyn[threadIdx.x ^ 1].x; }"""
    (made,) = compiled(source).kernels.values()
    assert (made.static_shared_bytes, made.dynamic_shared_offset) == (12, 16)


def test_a_called_function_is_read_in_place_with_registers_of_its_own() -> None:
    source = """
    __device__ __noinline__ int twice(int x) { return x * 2 + 1; }
    __global__ void k(int* out) { out[0] = twice(out[1]) + twice(out[2]); }"""
    (made,) = compiled(source).kernels.values()
    assert not any(i.name == "call" for i in made.instructions)
    assert sum(i.name == "mad" or i.parts[:2] == ("shl", "b32") for i in made.instructions) >= 2
    assert {i.line for i in made.instructions if i.line} >= {2, 3}


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (".reg .b32 %r<2>; mov.u32 %r1, nothing; ret;", "nothing"),
        (".reg .b256 %r<2>; ret;", "b256"),
        ("call.uni (x), elsewhere, (y); ret;", "not in the PTX"),
        (".tex .u64 t; ret;", ".tex"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(body: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        kernel(body)


def test_truncated_text_is_refused_and_does_not_crash() -> None:
    with pytest.raises(BadInput):
        ptx.parse(HEAD + ".visible .entry k(.param .u64 a)\n{ .reg .b32 %r<2>; mov.u32 %r1")
    with pytest.raises(BadInput):
        ptx.parse(HEAD + "nonsense here")
