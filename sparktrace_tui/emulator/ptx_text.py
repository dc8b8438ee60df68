"""Pieces of PTX text: literals, operand lists, parameter lists, initialised variables, alignment."""

import re

from sparktrace_tui.domain.errors import BadInput
from sparktrace_tui.emulator.ptx_types import TYPE_BYTES, Imm

_PARAM = re.compile(
    r"\.param\s+(?:\.align\s+(?P<align>\d+)\s+)?\.(?P<type>\w+)(?:\s+\.ptr(?:\s+\.(?:global|shared|const|local))?(?:\s+\.align\s+\d+)?)?\s+"
    r"(?P<name>[\w$%]+)(?:\[(?P<count>\d+)\])?"
)


def read_literal(text: str) -> Imm | None:
    """A number as PTX writes it; None where the text is not one."""
    if match := re.fullmatch(r"0[fF]([0-9A-Fa-f]{8})", text):
        return Imm(int(match[1], 16), 32)
    if match := re.fullmatch(r"0[dD]([0-9A-Fa-f]{16})", text):
        return Imm(int(match[1], 16), 64)
    if re.fullmatch(r"-?(0[xX][0-9A-Fa-f]+|\d+)U?", text):
        digits = text.rstrip("U")
        body = digits.lstrip("-")
        octal = len(body) > 1 and body[0] == "0" and body[1] not in "xX"
        return Imm(int(digits, 8) if octal else int(digits, 0))
    return None


def split(text: str) -> list[str]:
    """The operands of an instruction: commas count at the outermost level only."""
    pieces, depth, last = [], 0, 0
    for at, letter in enumerate(text):
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == "," and depth == 0:
            pieces.append(text[last:at].strip())
            last = at + 1
    pieces.append(text[last:].strip())
    return [piece for piece in pieces if piece]


def read_params(text: str) -> list[tuple[str, str, int, int]]:
    """Name, type, bytes and alignment of each parameter of a list."""
    found = []
    for match in _PARAM.finditer(text):
        unit = TYPE_BYTES[match["type"]]
        size = unit * int(match["count"]) if match["count"] else unit
        found.append((match["name"], match["type"], size, int(match["align"] or unit)))
    return found


def extent(match: re.Match[str]) -> tuple[int, int, bytes]:
    """Bytes, alignment and initial data of a variable."""
    if match["type"] not in TYPE_BYTES:
        raise BadInput(f"PTX variable type not covered: .{match['type']} {match['name']}")
    unit = TYPE_BYTES[match["type"]]
    count = 1
    for extent in re.findall(r"\[(\d*)\]", match["dims"]):
        count *= int(extent or 0)
    data = b""
    if match["data"]:
        for item in re.findall(r"[^\s,{}]+", match["data"]):
            literal = read_literal(item)
            if literal is None:
                raise BadInput(f"PTX initialiser not covered: {match['name']} = {item}")
            data += (literal.value & ((1 << 8 * unit) - 1)).to_bytes(unit, "little")
    return count * unit, int(match["align"] or unit), data


def aligned(offset: int, align: int) -> int:
    """The next multiple of `align`."""
    return -(-offset // align) * align


def at_line(line: int | None) -> str:
    """The end of a message that names a line."""
    return f" at line {line}" if line else ""
