"""A small capture set over real families with times of our own, and a player that says what it is told."""

from collections.abc import Sequence
from pathlib import Path

from sparktrace_tui.domain.kernel.capture import Capture, CaptureSet, Device, ModelStability, Time, VariantRecord
from sparktrace_tui.domain.kernel.family import CAUSAL_FAMILIES, Family
from sparktrace_tui.domain.report.report import KernelLaunch, Metric, Origin, Report, Rule, Section
from sparktrace_tui.players.protocol import Context, Message, Reply
from sparktrace_tui.store.captures import write_capture, write_set_file
from sparktrace_tui.store.families import read_family
from sparktrace_tui.store.paths import kernels_dir

CONFLICTS = "SharedMemoryConflicts"
NAMES = (*CAUSAL_FAMILIES, "softmax")
FAMILIES: dict[str, Family] = {name: read_family(kernels_dir() / name) for name in NAMES}


def fixes(name: str) -> list[str]:
    return [rewrite.id for rewrite in FAMILIES[name].rewrites if CONFLICTS in rewrite.addresses]


def winner(name: str) -> str:
    """The rewrite that wins in the small set: the first that does not address the conflicts."""
    return next(rewrite.id for rewrite in FAMILIES[name].rewrites if rewrite.id not in fixes(name))


def report(conflicts: bool) -> Report:
    """One section; with the bank-conflict rule and metric, or with neither."""
    metric = Metric("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "Shared Load Bank Conflicts", "", 992)
    rule = Rule(CONFLICTS, "OPT", "Shared Load Bank Conflicts", "This results in 992 bank conflicts.", 90.0, "global")
    return Report(
        launch=KernelLaunch("k", (1, 1, 1), (32, 32, 1), compute_capability="12.1", device_name="NVIDIA GB10"),
        origin=Origin("emulated", "", "sparktrace emulator 1", "emulated", ()),
        sections=(
            Section("SpeedOfLight", "Speed Of Light", (Metric("gpu__time_duration.sum", "Duration", "ms", 10.0),), ()),
            *((Section("Tables", "Tables", (metric,), (rule,)),) if conflicts else ()),
        ),
    )


def small_set(set_id: str = "small") -> CaptureSet:
    """Three causal families and softmax, all kept: the winner takes 1 ms, what fixes the conflicts 2, the rest 4."""
    captures = {}
    for name, family in FAMILIES.items():
        times = {"original": 10.0}
        for rewrite in family.rewrites:
            times[rewrite.id] = 1.0 if rewrite.id == winner(name) else 2.0 if rewrite.id in fixes(name) else 4.0
        records = {variant: VariantRecord("correct", Time(ms)) for variant, ms in times.items()}
        captures[name] = Capture(
            name, "emulated", records, report(name in CAUSAL_FAMILIES), ModelStability(200, 200), {"model": "1"}
        )
    order = {name: tuple(r.id for r in family.rewrites) for name, family in FAMILIES.items()}
    device = Device("gb10", "NVIDIA GB10 (DGX Spark)", "12.1", 48, 273.0, 24.0)
    return CaptureSet(set_id, "emulated", device, captures, 0, order, {"model": "1"})


def write_small_set(data_dir: Path, set_id: str = "small") -> CaptureSet:
    """The small set among the user's captures."""
    made = small_set(set_id)
    folder = data_dir / "captures" / set_id
    for capture in made.captures.values():
        write_capture(folder, capture)
    write_set_file(folder, made)
    return made


class Says:
    """Picks the variants it was given, one a turn, in text; a Reply among them is said as it is."""

    paid = False

    def __init__(self, *said: str | Reply, name: str = "test:says") -> None:
        self.name = name
        self.said = list(said)
        self.chats: list[tuple[Message, ...]] = []

    async def reply(self, chat: Sequence[Message], context: Context) -> Reply:
        self.chats.append(tuple(chat))
        now = self.said.pop(0)
        if isinstance(now, Reply):
            return now
        letter = next(letter for letter, option in context.options.items() if option.variant == now)
        return Reply(f"I see.\n\nAnswer: {letter}", model="says")

    async def close(self) -> None:
        return None
