"""Reads the parts of a launch plan from TOML: sizes, scalars, arrays, fills and launches."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sparktrace_tui.domain.kernel.plan import (
    DTYPE_BYTES,
    Array,
    Fill,
    Launch,
    ResolvedLaunch,
    Scalar,
    Size,
    Tolerance,
    resolve_launches,
)
from sparktrace_tui.store.tables import Table, TomlFile

ROLES = ("in", "out", "inout", "temp")
FILL_KINDS = ("uniform", "normal", "integers", "constant", "special", "skewed", "sequence", "zeros")


def read_size(table: Table) -> Size:
    return {name: table.get(name, (int, float)) for name in table.values}


def read_scalar(table: Table, name: str) -> Scalar:
    table.only("dtype", "value")
    return Scalar(name, table.choice("dtype", tuple(DTYPE_BYTES)), table.get("value", (int, float, str)))


def read_array(table: Table, name: str) -> Array:
    table.only("dtype", "shape", "role", "fill", "tolerance")
    role = table.choice("role", ROLES)
    default = {"kind": "zeros"} if role in ("out", "temp") else ...
    tolerance = table.table("tolerance", {"exact": True})
    tolerance.only("absolute", "relative", "exact")
    return Array(
        name=name,
        dtype=table.choice("dtype", tuple(DTYPE_BYTES)),
        shape=tuple(table.get("shape", list)),
        role=role,
        fill=read_fill(table.table("fill", default)),
        tolerance=Tolerance(
            absolute=tolerance.get("absolute", (int, float, str), 0.0),
            relative=tolerance.get("relative", (int, float, str), 0.0),
            exact=tolerance.get("exact", bool, False),
        ),
    )


def read_fill(table: Table) -> Fill:
    kind = table.choice("kind", FILL_KINDS)
    return Fill(kind, {k: v for k, v in table.values.items() if k != "kind"})


def read_launch(table: Table) -> Launch:
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


@dataclass(frozen=True)
class UserPlan:
    """A plan for a kernel that belongs to no family: arrays, scalars, one size, launches in order."""

    size: Size
    arrays: Mapping[str, Array]
    scalars: Mapping[str, Scalar]
    launches: tuple[Launch, ...]

    def resolve(self) -> tuple[ResolvedLaunch, ...]:
        return resolve_launches(self.launches, self.arrays, self.scalars, self.size)


def read_plan(path: Path) -> UserPlan:
    """The plan in a TOML file: [size], [scalars], [arrays.NAME], [[launch]]; BadInput names key and line."""
    file = TomlFile(path)
    root = file.root.only("size", "scalars", "arrays", "launch")
    plan = UserPlan(
        size=read_size(root.table("size", {})),
        arrays={name: read_array(root.table("arrays").table(name), name) for name in root.get("arrays", dict)},
        scalars={name: read_scalar(root.table("scalars").table(name), name) for name in root.get("scalars", dict, {})},
        launches=tuple(
            read_launch(Table(file, f"launch[{i}]", values)) for i, values in enumerate(root.get("launch", list))
        ),
    )
    try:
        plan.resolve()
        for array in plan.arrays.values():
            array.resolve_shape(plan.size)
    except ValueError as error:
        raise file.error("launch", f"does not resolve: {error}") from error
    return plan
