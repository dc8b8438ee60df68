"""Reads `kernels/<id>/family.toml` and its sources; an error names the file, the key and the line."""

from collections.abc import Mapping
from pathlib import Path

from sparktrace_tui.domain.errors import CannotReadOrWrite
from sparktrace_tui.domain.kernel.family import ORIGINAL, Check, Contract, Family, Variant
from sparktrace_tui.domain.kernel.plan import Array, resolve_launches
from sparktrace_tui.store.plans import read_array, read_fill, read_launch, read_scalar, read_size
from sparktrace_tui.store.tables import Table, TomlFile


def read_family(folder: Path) -> Family:
    """The family in `folder`. Raises BadInput naming key and line, CannotReadOrWrite for the file system."""
    file = TomlFile(folder / "family.toml")
    root = file.root.only(
        "id", "title", "summary", "timed", "inputs", "size", "scalars", "arrays", "contract", "check",
        "original", "rewrite",
    )  # fmt: skip
    if root.get("id", str) != folder.name:
        raise file.error("id", f"is {root.values['id']!r} but the folder is called {folder.name!r}")
    problem = read_size(root.table("size").only("problem").table("problem"))
    scalars = {name: read_scalar(root.table("scalars").table(name), name) for name in root.get("scalars", dict, {})}
    arrays = {name: read_array(root.table("arrays").table(name), name) for name in root.get("arrays", dict)}
    contract = root.table("contract", {}).only("nan", "signed_zero", "denormal", "text")
    checks = tuple(
        _check(Table(file, f"check[{i}]", values), arrays) for i, values in enumerate(root.get("check", list))
    )
    original = _variant(root.table("original"), folder, ORIGINAL)
    rewrites = tuple(
        _variant(table := Table(file, f"rewrite[{i}]", values), folder, table.get("id", str))
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


def _try_plans(family: Family, file: TomlFile) -> None:
    """Every launch must resolve at every size, so that a bad plan is found on reading and not in mid-capture."""
    for place, variant in enumerate(family.variants):
        key = "original" if place == 0 else f"rewrite[{place - 1}]"
        for number in range(len(variant.launches)):
            for size in (family.problem, *(check.size for check in family.checks)):
                try:
                    resolve_launches(variant.launches[: number + 1], family.arrays, family.scalars, size)
                except ValueError as error:
                    raise file.error(f"{key}.launch[{number}]", f"does not resolve: {error}") from error


def _check(table: Table, arrays: Mapping[str, Array]) -> Check:
    table.only("size", "fill")
    fills = table.table("fill", {})
    for name in fills.values:
        if name not in arrays:
            raise table.file.error(fills.path(name), "names no array")
    return Check(read_size(table.table("size")), {name: read_fill(fills.table(name)) for name in fills.values})


def _variant(table: Table, folder: Path, variant_id: str) -> Variant:
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
        read_launch(Table(table.file, f"{table.key}.launch[{i}]", values))
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
