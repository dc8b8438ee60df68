"""A question: one family on one set, under one kind of evidence and one option order; and its key, kept apart."""

from collections.abc import Mapping
from dataclasses import dataclass
from string import Template
from typing import Literal

from sparktrace_tui.domain.kernel.capture import CaptureSet, Provenance
from sparktrace_tui.domain.kernel.family import Family, Variant
from sparktrace_tui.domain.kernel.key import decide
from sparktrace_tui.domain.quiz.order import LETTERS, draw_orders

Evidence = Literal["source", "full", "ablated"]
Order = Literal["forward", "mirror"]
EVIDENCE: tuple[Evidence, ...] = ("source", "full", "ablated")
ORDERS: tuple[Order, ...] = ("forward", "mirror")


# What the key rests on, said in every arm alike.
DECIDES: Mapping[Provenance, str] = {
    "measured": "the median over five randomised blocks of measurements on this GPU.",
    "published": "the published time on this GPU.",
    "emulated": "a modelled time. An emulator counts what the compiled kernels do, and a model of this GPU turns the "
    "counts into time; nothing was measured.",
}


@dataclass(frozen=True)
class Question:
    """What a reader is asked. `options` maps a letter to a variant id; `prompt` is the whole text.

    The key is not here: `answer_key` derives it from the set.
    """

    set_id: str
    provenance: Provenance
    family: str
    evidence: Evidence
    order: Order
    options: Mapping[str, str]
    prompt: str

    @property
    def task(self) -> str:
        return task_name(self.evidence, self.order)

    def letter_of(self, variant: str) -> str:
        """The letter under which a variant stands here; KeyError where it is no option."""
        for letter, candidate in self.options.items():
            if candidate == variant:
                return letter
        raise KeyError(variant)


def task_name(evidence: Evidence, order: Order) -> str:
    """`kernel-compass-full-forward`."""
    return f"kernel-compass-{evidence}-{order}"


def options_for(capture_set: CaptureSet, family: Family, order: Order) -> dict[str, str]:
    """Letter -> variant id, in the set's forward order, or that reversed."""
    rewrites = tuple(rewrite.id for rewrite in family.rewrites)
    forward = capture_set.order.get(family.id)
    if forward is None or set(forward) != set(rewrites):
        forward = draw_orders({family.id: rewrites}, {}, capture_set.seed)[family.id]
    if order == "mirror":
        forward = forward[::-1]
    return dict(zip(LETTERS, forward, strict=True))


def answer_key(capture_set: CaptureSet, family: str) -> str | None:
    """The winning variant of a kept family on this set, else None: then there is no question."""
    capture = capture_set.captures.get(family)
    if capture is None:
        return None
    decision = decide(capture)
    return decision.winner if decision.kept else None


def launch_shape(family: Family, variant: Variant) -> str:
    """One line: each different launch of a variant at the problem size, with its grid, block and count."""
    counted: dict[str, int] = {}
    for launch in family.launches(variant.id, family.problem):
        grid = " x ".join(str(extent) for extent in launch.grid)
        block = " x ".join(str(extent) for extent in launch.block)
        dynamic = f", {launch.shared_bytes} bytes of dynamic shared memory" if launch.shared_bytes else ""
        text = f"{launch.kernel}: grid {grid}, block {block}{dynamic}"
        counted[text] = counted.get(text, 0) + 1
    return "; ".join(text if n == 1 else f"{text}, launched {n} times" for text, n in counted.items())


def compose_prompt(
    template: str,
    capture_set: CaptureSet,
    family: Family,
    options: Mapping[str, str],
    evidence_text: str,
) -> str:
    """The prompt: `template` with its $fields filled in.

    evidence_text is "" for `source`. Raises ValueError for a template with a field that does not exist.
    """
    device = capture_set.device
    facts = [f"compute capability {device.compute_capability}"]
    if device.sms is not None:
        facts.append(f"{device.sms} SMs")
    if device.bandwidth_gb_s is not None:
        facts.append(f"{device.bandwidth_gb_s:g} GB/s of memory bandwidth")
    if device.l2_mb is not None:
        facts.append(f"{device.l2_mb:g} MB of L2")
    rewrites = "\n\n".join(
        f"### {letter}\n\n{family.variant(name).description}\nLaunch: {launch_shape(family, family.variant(name))}\n\n"
        f"```cuda\n{family.variant(name).source.rstrip()}\n```"
        for letter, name in options.items()
    )
    fields = {
        "device": f"{device.name} ({', '.join(facts)})",
        "title": family.title,
        "summary": family.summary,
        "size": ", ".join(f"{name} = {value}" for name, value in family.problem.items()),
        "inputs": family.inputs,
        "timed": family.timed,
        "decides": DECIDES[capture_set.provenance],
        "original": family.original.source.rstrip(),
        "original_launch": launch_shape(family, family.original),
        "rewrites": rewrites,
        "evidence": evidence_text,
    }
    try:
        return Template(template).substitute(fields)
    except KeyError as error:
        raise ValueError(f"the template names a field that does not exist: {error}") from error
