"""A capture of a report that a user brings: the report and its counters, and no times of rewrites."""

from pathlib import Path

from sparktrace_tui.domain.errors import BadInput
from sparktrace_tui.domain.kernel.capture import Capture, CaptureSet, Device, Resources, VariantRecord
from sparktrace_tui.domain.kernel.family import ORIGINAL, Family
from sparktrace_tui.domain.report.report import Report
from sparktrace_tui.store.captures import SET_FILE, read_set, write_capture, write_set_file


def capture_of_report(family_id: str, family: Family, report: Report) -> Capture:
    """The original's record from its report; the rewrites are there, unchecked and without a time."""
    registers = report.metric("launch__registers_per_thread")
    counters = {m.name: m.value for m in report.metrics if m.name and isinstance(m.value, int | float)}
    value = registers.value if registers is not None else None
    resources = Resources(registers=int(value) if isinstance(value, int | float) else None)
    original = VariantRecord("not checked", resources=resources, counters=counters)
    rewrites = {rewrite.id: VariantRecord("not checked") for rewrite in family.rewrites}
    return Capture(
        family=family_id,
        provenance="measured",
        variants={ORIGINAL: original, **rewrites},
        report=report,
        made={"report": report.origin.path, "tool": report.origin.tool},
    )


def add_to_report_set(folder: Path, capture: Capture, report: Report) -> None:
    """Write the capture into a set of reports, made where there is none. BadInput where the set is another device's."""
    launch = report.launch
    name = launch.device_name or "unnamed GPU"
    device = Device(id=name, name=name, compute_capability=launch.compute_capability or "n/a")
    if (folder / SET_FILE).is_file():
        found = read_set(folder).device
        if found != device:
            raise BadInput(
                f"{folder} holds reports of {found.name}, this one is of {name}", hint="Choose another --set."
            )
    else:
        write_set_file(folder, CaptureSet(folder.name, "measured", device, {}, facts={"ncu": report.origin.tool}))
    write_capture(folder, capture)
