"""Names that Nsight's forms disagree on: sections by identifier and display name, metrics by name and label."""

import math
import re

from sparktrace_tui.domain.report.report import KernelLaunch

SECTION_NAMES = {
    "SpeedOfLight": "GPU Speed Of Light Throughput",
    "SpeedOfLight_RooflineChart": "GPU Speed Of Light Roofline Chart",
    "PmSampling": "PM Sampling",
    "ComputeWorkloadAnalysis": "Compute Workload Analysis",
    "MemoryWorkloadAnalysis": "Memory Workload Analysis",
    "MemoryWorkloadAnalysis_Chart": "Memory Workload Analysis Chart",
    "MemoryWorkloadAnalysis_Tables": "Memory Workload Analysis Tables",
    "SchedulerStats": "Scheduler Statistics",
    "WarpStateStats": "Warp State Statistics",
    "InstructionStats": "Instruction Statistics",
    "Nvlink": "NVLink",
    "Nvlink_Topology": "NVLink Topology",
    "Nvlink_Tables": "NVLink Tables",
    "NumaAffinity": "NUMA Affinity",
    "LaunchStats": "Launch Statistics",
    "Occupancy": "Occupancy",
    "WorkloadDistribution": "GPU and Memory Workload Distribution",
    "SourceCounters": "Source Counters",
}
SECTION_IDS = {name: identifier for identifier, name in SECTION_NAMES.items()} | {
    "GPU Speed Of Light Roofline Chart (Overview)": "SpeedOfLight_RooflineChart",
    "GPU Speed Of Light": "SpeedOfLight",
}
RAW_SECTION = "Raw metrics"

_METRIC_NAME = re.compile(r"(?:[\w.]+:)?[\w.:]*[A-Za-z0-9]_+[\w.]+$")
_SHAPE = re.compile(r"\s*\((\d{1,12}), (\d{1,12}), (\d{1,12})\)x\((\d{1,12}), (\d{1,12}), (\d{1,12})\)")
_FACTS = re.compile(r", (?:\d{4}-\w{3}-\d\d [\d:]+|Context \d+|Stream \d+|Device \d+|CC [\d.]+|Invocations \d+)")
_FACT = re.compile(r", (Context|Stream|Device|CC) ([\d.]+)")


def is_metric_name(text: str) -> bool:
    """Whether a row's label is a metric's identifier (`sm__cycles_active.avg`) and not words."""
    return " " not in text and "_" in text and _METRIC_NAME.match(text) is not None


def triple(text: str) -> tuple[int, int, int] | None:
    """`(32, 8, 1)` as three numbers; None where it is not that."""
    numbers = re.findall(r"\d+", text)
    if len(numbers) != 3 or len(text) > 60:
        return None
    x, y, z = (int(n) for n in numbers)
    return (x, y, z)


def whole(text: str) -> int | None:
    """Digits as a number, None otherwise."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def parse_header(text: str) -> KernelLaunch:
    """The launch that a text page's kernel line states: name, grid x block, context, stream, device,
    capability.
    """
    shape = _SHAPE.search(text)
    facts_at = _FACTS.search(text, shape.end() if shape else 0)
    end = shape.start() if shape else facts_at.start() if facts_at else len(text)
    stated = {m[1]: m[2] for m in _FACT.finditer(text, shape.end() if shape else end)}
    numbers = [int(n) for n in shape.groups()] if shape else []
    return KernelLaunch(
        kernel=text[:end].strip(),
        grid=(numbers[0], numbers[1], numbers[2]) if numbers else None,
        block=(numbers[3], numbers[4], numbers[5]) if numbers else None,
        context=whole(stated.get("Context", "")),
        stream=whole(stated.get("Stream", "")),
        device=whole(stated.get("Device", "")),
        compute_capability=stated.get("CC"),
    )


def finite(text: str) -> float | None:
    """A decimal number; None where it is none, or not finite."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


_SPEEDUP = re.compile(r"Est\. (Local )?Speedup: ([\d.]+)%\s*")


def split_speedup(text: str) -> tuple[float | None, str, str]:
    """A rule's text without its estimate line: (percent or None, `local` or `global` or "", the rest)."""
    match = _SPEEDUP.match(text)
    if match is None:
        return None, "", text
    percent = finite(match[2])
    if percent is None:
        return None, "", text
    return percent, "local" if match[1] else "global", text[match.end() :]


_RULE_SIGNS = (
    ("SharedMemoryConflicts", re.compile(r"memory access pattern for shared \w+ might not be optimal")),
    ("UncoalescedSharedAccess", re.compile(r"uncoalesced shared accesses")),
)


def guess_rule(text: str) -> str:
    """The identifier of the two rules that an ablation must know, from words that only they use; else ""."""
    return next((name for name, sign in _RULE_SIGNS if sign.search(text)), "")
