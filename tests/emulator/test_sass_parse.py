"""Reading a disassembly: instructions, guards, lines, labels, helpers, widths and pipes."""

from sparktrace_tui.emulator import sass

LISTING = """
	.section	.nv.info,"",@"SHT_CUDA_INFO"
//--------------------- .text.scale        --------------------------
	.section	.text.scale,"ax",@progbits
	.sectioninfo	@"SHI_REGISTERS=10"
	.align	128
        .global         scale
scale:
.text.scale:
	//## File "lib.h", line 70 inlined at "scale.cu", line 5
	//## File "scale.cu", line 5
        /*0000*/                   LDC R1, c[0x0][0x37c] ;
	//## File "scale.cu", line 6
        /*0010*/              @!P0 EXIT ;
.L_x_0:
	//## File "scale.cu", line 7
        /*0020*/                   LDG.E.128.CONSTANT R4, desc[UR4][R2.64+0x10] ;
        /*0030*/                   FFMA R4, R4.reuse, R5, R6 ;
        /*0040*/                   STS.64 [R9+0x8], R4 ;
        /*0050*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0060*/               @P1 BRA `(.L_x_0) ;
        /*0070*/                   BRA.U UP0, `(.L_x_0) ;
	//## File "scale.cu", line 9
        /*0080*/                   EXIT ;
        .weak           $__internal_0_$__slow
$__internal_0_$__slow:
        /*0090*/                   MUFU.RCP R0, R1 ;
        /*00a0*/                   RET.REL.NODEC R2 `(scale) ;
.L_x_1:
        /*00b0*/                   BRA `(.L_x_1);
        /*00c0*/                   NOP;
"""


def test_instructions_come_with_guard_line_and_pipe_and_padding_is_left_out() -> None:
    function = sass.parse(LISTING, "scale.cu")["scale"]
    assert [item.root for item in function.instructions] == [
        "LDC", "EXIT", "LDG", "FFMA", "STS", "BAR", "BRA", "BRA", "EXIT", "MUFU", "RET",
    ]  # fmt: skip
    assert [item.line for item in function.instructions[:5]] == [5, 6, 7, 7, 7]
    assert [item.pipe for item in function.instructions[:7]] == [
        "uniform", "branch", "lsu", "fma", "lsu", "barrier", "branch",
    ]  # fmt: skip
    assert function.instructions[1].guard == "!P0"
    assert function.labels[".L_x_0"] == 2
    assert function.instructions[6].target == ".L_x_0"


def test_an_inlined_call_is_given_the_line_of_the_users_own_file() -> None:
    first = sass.parse(LISTING, "lib.h")["scale"].instructions[0]
    assert first.line == 70
    assert sass.parse(LISTING)["scale"].instructions[0].line == 5


def test_widths_and_spaces_of_accesses() -> None:
    function = sass.parse(LISTING, "scale.cu")["scale"]
    load, store = function.instructions[2], function.instructions[4]
    assert (load.memory, load.width) == (("global", "load"), 16)
    assert (store.memory, store.width) == (("shared", "store"), 8)


def test_out_of_line_helper_code_is_marked() -> None:
    function = sass.parse(LISTING, "scale.cu")["scale"]
    assert function.helpers == ((9, 11),)
    assert not function.is_helper(8)


def test_opcodes_not_listed_fall_to_the_uniform_or_the_alu_pipe() -> None:
    assert sass.pipe_of("UIADD3") == "uniform"
    assert sass.pipe_of("LOP3.LUT") == "alu"
    assert sass.pipe_of("IMAD.WIDE") == "imad"
    assert sass.pipe_of("HFMA2.BF16") == "half"
