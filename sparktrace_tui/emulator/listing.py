"""PTX and machine code of a source as lines to look at, each with the source line that it comes from."""

import re

from sparktrace_tui.domain.kernel.machine_code import ListedLine, Listing
from sparktrace_tui.emulator import sass, toolchain

_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"(?:[^"]*[/\\])?([^"/\\]+)"')
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:.*inlined_at\s+(\d+)\s+(\d+)\s+(\d+))?")
_Place = tuple[str, str, str]


def listings(source: str, name: str, arch: str) -> tuple[Listing, Listing]:
    """The PTX and the machine code of `source` for `arch`, such as `sm_121`.

    Raises MissingTool where NVRTC or nvdisasm is not installed, BadInput where the source does not compile.
    """
    compiled = toolchain.compile_cuda(source, name, arch)
    made_by = f"{compiled.compiler}, {compiled.arch}"
    machine = sass.parse(toolchain.disassemble(compiled.cubin), name)
    return (
        Listing("ptx", ptx_lines(compiled.ptx, name), made_by),
        Listing("sass", tuple(line for function in machine.values() for line in sass_lines(function)), made_by),
    )


def ptx_lines(text: str, main_file: str) -> tuple[ListedLine, ...]:
    """The lines of a PTX text without comments and debug sections; inlined code has the line that calls it."""
    files = {found[1]: found[2] for row in text.splitlines() if (found := _FILE.match(row))}
    called: dict[_Place, _Place] = {}
    lines: list[ListedLine] = []
    line: int | None = None
    depth, debug = 0, False
    for row in text.splitlines():
        if found := _LOC.match(row):
            place: _Place = (found[1], found[2], found[3])
            if found[4] is not None:
                called[place] = (found[4], found[5], found[6])
            line = _own_line(place, called, files, main_file)
            continue
        stripped = row.strip()
        debug = debug or stripped.startswith(".section")
        if debug or not stripped or stripped.startswith("//") or _FILE.match(row):
            continue
        is_code = depth > 0 and not stripped.startswith((".", "$", "{", "}", "//"))
        lines.append(ListedLine(row.rstrip().expandtabs(4), line if is_code else None))
        depth += row.count("{") - row.count("}")
        if depth == 0:
            line = None
    return tuple(lines)


def _own_line(place: _Place, called: dict[_Place, _Place], files: dict[str, str], main_file: str) -> int | None:
    """The line of the main file that a place was inlined into, or None."""
    for _ in range(len(called) + 1):
        if files.get(place[0]) == main_file:
            return int(place[1]) or None
        if place not in called:
            return None
        place = called[place]
    return None


def sass_lines(function: sass.SassFunction) -> tuple[ListedLine, ...]:
    """A kernel's machine code with its name and labels."""
    labels: dict[int, list[str]] = {}
    for name, index in function.labels.items():
        if not name.startswith(".text."):
            labels.setdefault(index, []).append(name)
    lines = [ListedLine(f"{function.name}:")]
    for index, item in enumerate(function.instructions):
        lines += [ListedLine(f"{name}:") for name in labels.get(index, ())]
        lines.append(ListedLine(item.text, item.line, item.offset))
    return tuple(lines)
