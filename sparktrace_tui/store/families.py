"""Reads `kernels/<id>/family.toml` and its sources; an error names the file, the key and the line."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sparktrace_tui.domain.errors import BadInput, CannotReadOrWrite
from sparktrace_tui.domain.kernel.family import ORIGINAL, Check, Contract, Family, Variant
from sparktrace_tui.domain.kernel.plan import (
    DTYPE_BYTES,
    Array,
    Fill,
    Launch,
    Scalar,
    Size,
    Tolerance,
    resolve_launches,
)

ROLES = ("in", "out", "inout", "temp")
FILL_KINDS = ("uniform", "normal", "integers", "constant", "special", "skewed", "sequence", "zeros")


class _Table:
    """A TOML table that knows its dotted key, so that every complaint can name it."""

    def __init__(self, file: "_File", key: str, values: Any) -> None:
        self.file, self.key = file, key
        if not isinstance(values, dict):
            raise file.error(key, "must be a table")
        self.values: dict[str, Any] = values

    def path(self, name: str) -> str:
        return f"{self.key}.{name}" if self.key else name

    def get(self, name: str, kinds: type | tuple[type, ...], default: Any = ...) -> Any:
        if name not in self.values:
            if default is ...:
                raise self.file.error(self.path(name), "is missing", at=self.key)
            return default
        value = self.values[name]
        if not isinstance(value, kinds) or isinstance(value, bool) != (kinds is bool):
            raise self.file.error(self.path(name), f"has the wrong type ({type(value).__name__})")
        return value

    def choice(self, name: str, choices: tuple[str, ...], default: Any = ...) -> Any:
        value = self.get(name, str, default)
        if value not in choices:
            raise self.file.error(self.path(name), f"is {value!r}; it can be {', '.join(choices)}")
        return value

    def table(self, name: str, default: Any = ...) -> "_Table":
        return _Table(self.file, self.path(name), self.get(name, dict, default))

    def only(self, *names: str) -> "_Table":
        for name in self.values:
            if name not in names:
                raise self.file.error(self.path(name), f"is not a key here; known: {', '.join(names)}")
        return self


class _File:
    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.text = path.read_text(encoding="utf-8")
        except FileNotFoundError as error:
            raise BadInput(f"no family.toml in {path.parent}") from error
        except (OSError, UnicodeDecodeError) as error:
            raise CannotReadOrWrite(f"cannot read {path}: {error}") from error
        try:
            self.root = _Table(self, "", tomllib.loads(self.text))
        except tomllib.TOMLDecodeError as error:
            raise BadInput(f"{path}: {error}") from error

    def error(self, key: str, complaint: str, at: str | None = None) -> BadInput:
        return BadInput(f"{self.path}:{self._line(key if at is None else at)}: {key} {complaint}")

    def _line(self, key: str) -> int:
        """The line on which the dotted key (with [n] for table arrays) is written, or of its nearest parent."""
        places = _line_numbers(self.text)
        while key:
            if key in places:
                return places[key]
            key = key[: max(key.rfind("."), key.rfind("["), 0)]
        return 1


_HEADER = re.compile(r"^\s*(\[\[?)\s*([\w.]+)\s*\]")
_KEY = re.compile(r"^\s*([\w.]+)\s*=")


def _line_numbers(text: str) -> dict[str, int]:
    """Dotted key -> the 1-based line of its table header or assignment."""
    places: dict[str, int] = {}
    counts: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = ""
            parts = header[2].split(".")
            for depth, part in enumerate(parts, 1):
                table = f"{table}.{part}" if table else part
                if depth == len(parts) and header[1] == "[[":
                    counts[table] = counts.get(table, -1) + 1
                if table in counts:
                    table = f"{table}[{counts[table]}]"
            places.setdefault(table, number)
        elif key := _KEY.match(line):
            places.setdefault(f"{table}.{key[1]}" if table else key[1], number)
    return places


def read_family(folder: Path) -> Family:
    """The family in `folder`. Raises BadInput naming key and line, CannotReadOrWrite for the file system."""
    file = _File(folder / "family.toml")
    root = file.root.only(
        "id", "title", "summary", "timed", "inputs", "size", "scalars", "arrays", "contract", "check",
        "original", "rewrite",
    )  # fmt: skip
    if root.get("id", str) != folder.name:
        raise file.error("id", f"is {root.values['id']!r} but the folder is called {folder.name!r}")
    problem = _size(root.table("size").only("problem").table("problem"))
    scalars = {name: _scalar(root.table("scalars").table(name), name) for name in root.get("scalars", dict, {})}
    arrays = {name: _array(root.table("arrays").table(name), name) for name in root.get("arrays", dict)}
    contract = root.table("contract", {}).only("nan", "signed_zero", "denormal", "text")
    checks = tuple(
        _check(_Table(file, f"check[{i}]", values), arrays) for i, values in enumerate(root.get("check", list))
    )
    original = _variant(root.table("original"), folder, ORIGINAL)
    rewrites = tuple(
        _variant(table := _Table(file, f"rewrite[{i}]", values), folder, table.get("id", str))
        for i, values in enumerate(root.get("rewrite", list))
    )
    names = [ORIGINAL, *(r.id for r in rewrites)]
    if len(set(names)) != len(names):
        raise file.error("rewrite", "holds one id twice (or `original`)")
    family = Family(
        id=folder.name,
        title=root.get("title", str),
        summary=root.get("summary", str),
        timed=root.get("timed", str),
        inputs=root.get("inputs", str),
        problem=problem,
        arrays=arrays,
        scalars=scalars,
        checks=checks,
        contract=Contract(
            nan=contract.choice("nan", ("match", "absent"), "match"),
            signed_zero=contract.choice("signed_zero", ("exact", "any"), "any"),
            denormal=contract.choice("denormal", ("kept", "may_flush"), "kept"),
            text=contract.get("text", str, ""),
        ),
        original=original,
        rewrites=rewrites,
    )
    _try_plans(family, file)
    return family


def _try_plans(family: Family, file: _File) -> None:
    """Every launch must resolve at every size, so that a bad plan is found on reading and not in mid-capture."""
    for place, variant in enumerate(family.variants):
        key = "original" if place == 0 else f"rewrite[{place - 1}]"
        for number in range(len(variant.launches)):
            for size in (family.problem, *(check.size for check in family.checks)):
                try:
                    resolve_launches(variant.launches[: number + 1], family.arrays, family.scalars, size)
                except ValueError as error:
                    raise file.error(f"{key}.launch[{number}]", f"does not resolve: {error}") from error


def _size(table: _Table) -> Size:
    return {name: table.get(name, (int, float)) for name in table.values}


def _scalar(table: _Table, name: str) -> Scalar:
    table.only("dtype", "value")
    return Scalar(name, table.choice("dtype", tuple(DTYPE_BYTES)), table.get("value", (int, float, str)))


def _array(table: _Table, name: str) -> Array:
    table.only("dtype", "shape", "role", "fill", "tolerance")
    role = table.choice("role", ROLES)
    default = {"kind": "zeros"} if role in ("out", "temp") else ...
    tolerance = table.table("tolerance", {"exact": True} if role in ("in", "temp") else ...)
    tolerance.only("absolute", "relative", "exact")
    return Array(
        name=name,
        dtype=table.choice("dtype", tuple(DTYPE_BYTES)),
        shape=tuple(table.get("shape", list)),
        role=role,
        fill=_fill(table.table("fill", default)),
        tolerance=Tolerance(
            absolute=tolerance.get("absolute", (int, float, str), 0.0),
            relative=tolerance.get("relative", (int, float, str), 0.0),
            exact=tolerance.get("exact", bool, False),
        ),
    )


def _fill(table: _Table) -> Fill:
    kind = table.choice("kind", FILL_KINDS)
    return Fill(kind, {k: v for k, v in table.values.items() if k != "kind"})


def _check(table: _Table, arrays: Mapping[str, Array]) -> Check:
    table.only("size", "fill")
    fills = table.table("fill", {})
    for name in fills.values:
        if name not in arrays:
            raise table.file.error(fills.path(name), "names no array")
    return Check(_size(table.table("size")), {name: _fill(fills.table(name)) for name in fills.values})


def _variant(table: _Table, folder: Path, variant_id: str) -> Variant:
    table.only("id", "source", "description", "addresses", "launch")
    name = table.get("source", str)
    if Path(name).name != name:
        raise table.file.error(table.path("source"), "must be a file name in the family's folder")
    try:
        source = (folder / name).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise table.file.error(table.path("source"), f"names {name}, which is not in the folder") from error
    except (OSError, UnicodeDecodeError) as error:
        raise CannotReadOrWrite(f"cannot read {folder / name}: {error}") from error
    launches = tuple(
        _launch(_Table(table.file, f"{table.key}.launch[{i}]", values))
        for i, values in enumerate(table.get("launch", list))
    )
    return Variant(
        id=variant_id,
        source_name=name,
        source=source,
        launches=launches,
        description=table.get("description", str, "" if variant_id == ORIGINAL else ...),
        addresses=tuple(table.get("addresses", list, [])),
    )


def _launch(table: _Table) -> Launch:
    table.only("kernel", "grid", "block", "args", "shared_bytes", "repeat", "in_step")
    grid, block = table.get("grid", list), table.get("block", list)
    for name, triple in (("grid", grid), ("block", block)):
        if len(triple) != 3:
            raise table.file.error(table.path(name), f"needs three extents, not {len(triple)}")
    return Launch(
        kernel=table.get("kernel", str),
        grid=(grid[0], grid[1], grid[2]),
        block=(block[0], block[1], block[2]),
        args=tuple(table.get("args", list)),
        shared_bytes=table.get("shared_bytes", (int, str), 0),
        repeat=table.get("repeat", (int, str), 1),
        in_step=table.get("in_step", bool, False),
    )
