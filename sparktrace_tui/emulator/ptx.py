"""PTX text to kernels as data: instructions by pc, registers by slot, device functions inlined, variables placed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sparktrace_tui.domain.errors import BadInput
from sparktrace_tui.emulator.ptx_operands import Build, RawInstruction, place_variable, resolve
from sparktrace_tui.emulator.ptx_text import aligned, at_line, extent, read_params, split
from sparktrace_tui.emulator.ptx_types import (
    TYPE_BYTES,
    Address,
    Imm,
    Instruction,
    Kernel,
    Label,
    Module,
    Operand,
    Pair,
    Param,
    Reg,
    Special,
    Symbol,
    Variable,
    Vector,
)

__all__ = [
    "TYPE_BYTES", "Address", "Imm", "Instruction", "Kernel", "Label", "Module", "Operand", "Pair", "Param", "Reg",
    "Special", "Symbol", "Variable", "Vector", "parse",
]  # fmt: skip


@dataclass
class _Function:
    name: str
    entry: bool
    params: list[tuple[str, str, int, int]]
    returns: list[tuple[str, str, int, int]]
    body: str
    start: int


def parse(text: str) -> Module:
    """The kernels of a PTX text; BadInput names what cannot be read."""
    return _Parser(text).module()


_VARIABLE = re.compile(
    r"^(?:\.(?:visible|extern|weak|common)\s+)*\.(?P<space>shared|global|const|local)\s+"
    r"(?:\.align\s+(?P<align>\d+)\s+)?\.(?P<type>\w+)\s+(?P<name>[\w$%]+)(?P<dims>(?:\[\d*\])*)\s*"
    r"(?:=\s*(?P<data>.+))?$",
    re.DOTALL,
)
_FUNCTION = re.compile(r"(?:\.(?:visible|weak|extern)\s+)*\.(entry|func)\b")
_LOC = re.compile(
    r"^\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:[^\n]*inlined_at\s+(\d+)\s+(\d+)\s+(\d+))?[^\n]*$", re.MULTILINE
)


class _Parser:
    def __init__(self, text: str) -> None:
        text = text.split("\0")[0]
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
        text = re.sub(r"//[^\n]*", "", text)
        section = re.search(r"^\s*\.section\b", text, re.MULTILINE)
        files = dict(re.findall(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', text, re.MULTILINE))
        self.main_file = min(files, key=int, default="1")
        if section:
            text = text[: section.start()]
        text = re.sub(r"^\s*\.(file|version|address_size)\b[^\n]*$", "", text, flags=re.MULTILINE)
        target = re.search(r"^\s*\.target\s+(\w+)[^\n]*$", text, re.MULTILINE)
        self.target = target[1] if target else ""
        text = re.sub(r"^\s*\.target\b[^\n]*$", "", text, flags=re.MULTILINE)
        self.text = _LOC.sub(lambda m: f" .loc {' '.join(g or '-' for g in m.groups())};", text)
        self.functions: dict[str, _Function] = {}
        self.variables: dict[str, Variable] = {}
        self.ends = {"global": 0, "const": 0}
        self.dynamic: list[tuple[str, int]] = []
        self.shared: list[tuple[str, int, int]] = []
        self.places: dict[tuple[str, str, str], tuple[str, str]] = {}

    def module(self) -> Module:
        at = 0
        while at < len(self.text):
            rest = re.compile(r"\s*").match(self.text, at)
            at = rest.end() if rest else at
            if at >= len(self.text):
                break
            if _FUNCTION.match(self.text, at):
                at = self._function(at)
                continue
            end = self.text.find(";", at)
            if end < 0:
                raise BadInput(f"the PTX ends within {self.text[at : at + 60].strip()!r}")
            self._module_statement(self.text[at:end].strip())
            at = end + 1
        images = {space: self._image(space) for space in ("const", "global")}
        kernels = {f.name: self._kernel(f, images) for f in self.functions.values() if f.entry}
        return Module(kernels, self.target)

    def _function(self, at: int) -> int:
        brace, semicolon = self.text.find("{", at), self.text.find(";", at)
        if 0 <= semicolon < brace or brace < 0:
            return semicolon + 1
        head = self.text[at:brace]
        depth, end = 0, brace
        for match in re.compile(r"[{}]").finditer(self.text, brace):
            depth += 1 if match[0] == "{" else -1
            if depth == 0:
                end = match.start()
                break
        entry = ".entry" in head
        named = re.search(r"\.(?:entry|func)\s*(?:\((?P<ret>[^)]*)\))?\s*(?P<name>[\w$]+)\s*(?:\((?P<args>.*)\))?",
                          head, re.DOTALL)  # fmt: skip
        if named is None:
            raise BadInput(f"cannot read the PTX function head {head.strip()[:80]!r}")
        self.functions[named["name"]] = _Function(
            named["name"], entry, read_params(named["args"] or ""), read_params(named["ret"] or ""),
            self.text[brace + 1 : end], brace,
        )  # fmt: skip
        return end + 1

    def _module_statement(self, text: str) -> None:
        if text.startswith((".loc ", ".pragma", ".alias")) or not text:
            return
        match = _VARIABLE.match(text)
        if match is None:
            raise BadInput(f"PTX not covered at module level: {text[:80]!r}")
        name, space = match["name"], match["space"]
        size, align, data = extent(match)
        if space == "shared":
            if ".extern" in text or size == 0:
                self.dynamic.append((name, align))
            else:
                self.shared.append((name, size, align))
            return
        offset = aligned(self.ends[space], align)
        self.ends[space] = offset + size
        self.variables[name] = Variable(name, space, offset, size, align, data)

    def _image(self, space: str) -> bytes:
        image = bytearray(self.ends[space])
        for variable in self.variables.values():
            if variable.space == space:
                image[variable.offset : variable.offset + len(variable.data)] = variable.data
        return bytes(image)

    def _kernel(self, function: _Function, images: Mapping[str, bytes]) -> Kernel:
        build = Build()
        build.variables.update(self.variables)
        for name, size, align in self.shared:
            if re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", self.text[function.start :]):
                place_variable(build, name, "shared", size, align)
        offset = 0
        params = []
        for name, type_name, size, align in function.params:
            offset = aligned(offset, align)
            params.append(Param(name, type_name, offset, size))
            build.variables[name] = Variable(name, "param", offset, size, align)
            offset += size
        _Body(self, build, function, {}, "", ()).read()
        start = aligned(build.ends["shared"], 16)
        for _, align in self.dynamic:
            start = aligned(start, align)
        for name, align in self.dynamic:
            build.variables[name] = Variable(name, "shared", start, 0, align)
        instructions = tuple(resolve(build, pc, raw) for pc, raw in enumerate(build.raw))
        return Kernel(
            name=function.name,
            params=tuple(params),
            instructions=instructions,
            registers=tuple(build.registers),
            variables=build.variables,
            static_shared_bytes=build.ends["shared"],
            dynamic_shared_offset=start,
            local_bytes=build.ends["local"],
            constants=images["const"],
            globals=images["global"],
        )


class _Body:
    """Reads one function body into the build; a call reads the callee in place, with registers of its own."""

    def __init__(
        self,
        parser: "_Parser",
        build: Build,
        function: _Function,
        names: dict[str, str],
        suffix: str,
        stack: tuple[str, ...],
    ) -> None:
        self.parser, self.build, self.function, self.suffix, self.stack = parser, build, function, suffix, stack
        if function.name in stack:
            raise BadInput(f"the device function {function.name} calls itself: recursion is not covered")
        self.names = names
        self.scopes: list[dict[str, Reg]] = [{}]
        self.ranges: list[list[tuple[str, int, str]]] = [[]]
        self.line: int | None = None
        self.params: set[str] = set()

    def read(self) -> None:
        body, at = self.function.body, 0
        skip = re.compile(r"\s*")
        label = re.compile(r"([\w$.%]+):(?!:)")
        while True:
            blank = skip.match(body, at)
            at = blank.end() if blank else at
            if at >= len(body):
                break
            if body[at] == "{":
                self.scopes.append({})
                at += 1
            elif body[at] == "}":
                self.scopes.pop()
                at += 1
            elif match := label.match(body, at):
                at = match.end()
                table = re.compile(r"\s*\.branchtargets\s+([^;]*);").match(body, at)
                if table:
                    self.build.tables[match[1] + self.suffix] = [
                        name.strip() + self.suffix for name in table[1].split(",")
                    ]
                    at = table.end()
                else:
                    self.build.labels[match[1] + self.suffix] = len(self.build.raw)
            else:
                end = body.find(";", at)
                if end < 0:
                    raise BadInput(f"PTX not understood: {body[at : at + 60].strip()!r}")
                self._statement(" ".join(body[at:end].split()))
                at = end + 1

    def _statement(self, text: str) -> None:
        if text.startswith(".loc "):
            self._loc(text.split()[1:])
        elif text.startswith(".reg"):
            self._registers(text)
        elif text.startswith(".param"):
            for name, _, _, _ in read_params(text):
                self.names[name] = f"{name}@{self.build.calls}{self.suffix}"
        elif text.startswith((".pragma", ".callprototype")):
            return
        elif text.startswith("."):
            match = _VARIABLE.match(text)
            if match is None:
                raise BadInput(f"PTX not covered: {text[:80]!r}{at_line(self.line)}")
            size, align, _ = extent(match)
            if match["space"] not in ("shared", "local"):
                raise BadInput(f"PTX not covered: {text[:80]!r}{at_line(self.line)}")
            space = match["space"]
            unique = match["name"] if space == "shared" else match["name"] + self.suffix
            if unique not in self.build.variables:
                place_variable(self.build, unique, space, size, align)
            self.names[match["name"]] = unique
        elif text:
            self._instruction(text)

    def _loc(self, words: list[str]) -> None:
        places = self.parser.places
        file, line, column, *inlined = words
        if file == self.parser.main_file:
            self.line = int(line) or None
        elif inlined[0] != "-":
            places[(file, line, column)] = (inlined[0], inlined[1])
            key = (inlined[0], inlined[1], inlined[2])
            while key[0] != self.parser.main_file and key in places:
                key = (*places[key], "")
            if key[0] == self.parser.main_file:
                self.line = int(key[1])

    def _registers(self, text: str) -> None:
        _, type_name, names = text.split(None, 2)
        for item in names.split(","):
            match = re.fullmatch(r"([%\w$]+)(?:<(\d+)>)?", item.strip())
            if match is None:
                raise BadInput(f"PTX not understood: {text!r}")
            if match[2]:
                for number in range(int(match[2])):
                    self._declare(type_name[1:], f"{match[1]}{number}")
            else:
                self._declare(type_name[1:], match[1])

    def _declare(self, type_name: str, name: str) -> None:
        if type_name not in TYPE_BYTES:
            raise BadInput(f"PTX register type not covered: .{type_name}{at_line(self.line)}")
        self.scopes[-1][name] = self.build.register(type_name, name)

    def _flat(self) -> dict[str, Reg]:
        if len(self.scopes) == 1:
            return self.scopes[0]
        flat: dict[str, Reg] = {}
        for scope in self.scopes:
            flat.update(scope)
        return flat

    def _instruction(self, text: str) -> None:
        guard = None
        rest = text
        if match := re.match(r"@(!?)([%\w$]+)\s+", text):
            guard = (match[2], match[1] == "!")
            rest = text[match.end() :]
        opcode, _, tail = rest.partition(" ")
        if "|" not in opcode and "%" in opcode:
            cut = opcode.index("%")
            opcode, tail = opcode[:cut], opcode[cut:] + " " + tail
        operands = split(tail)
        if opcode.startswith("call"):
            self._call(text, operands, guard)
            return
        if self.suffix and opcode in ("ret", "ret.uni"):
            opcode, operands = "bra", [f"$return{self.suffix}"]
            self._append(guard, opcode, operands, text, "")
            return
        self._append(guard, opcode, operands, text, self.suffix)

    def _append(
        self, guard: tuple[str, bool] | None, opcode: str, operands: list[str], text: str, label_suffix: str
    ) -> None:
        self.build.raw.append(
            RawInstruction(guard, opcode, operands, self.line, text, self._flat(), dict(self.names), label_suffix)
        )

    def _call(self, text: str, operands: list[str], guard: tuple[str, bool] | None) -> None:
        if guard is not None:
            raise BadInput(f"PTX not covered: {text[:80]!r} (a call under a predicate){at_line(self.line)}")
        returns = split(operands.pop(0)[1:-1]) if operands and operands[0].startswith("(") else []
        target = operands.pop(0) if operands else ""
        args = split(operands.pop(0)[1:-1]) if operands and operands[0].startswith("(") else []
        callee = self.parser.functions.get(target)
        if callee is None:
            raise BadInput(
                f"PTX not covered: {text[:100]!r} (the called function is not in the PTX){at_line(self.line)}"
            )
        names = {}
        for formal, actual in zip([p[0] for p in callee.returns], returns, strict=True):
            names[formal] = self.names.get(actual, actual)
        for formal, actual in zip([p[0] for p in callee.params], args, strict=True):
            names[formal] = self.names.get(actual, actual)
        self.build.calls += 1
        suffix = f"#{self.build.calls}"
        inner = _Body(self.parser, self.build, callee, names, suffix, (*self.stack, self.function.name))
        inner.line = self.line
        inner.read()
        self.build.labels[f"$return{suffix}"] = len(self.build.raw)
