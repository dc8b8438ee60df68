"""Breaks each kernel in ten ways and runs `verify` on it: a mutant that survives is listed, with why or as unexplained.

    python scripts/mutate.py [FAMILY...] [--each 10] [--seed 0] [--device gb10]

Mutants are made by editing source text inside kernel bodies, one edit each, chosen by seed so that as many operators
as possible take part. Exit status 1 where a survivor is not explained in `scripts/survivors.toml`.
"""

import argparse
import random
import re
import shutil
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from sparktrace_tui.backends.client import Client, WorkerDied, WorkerHung  # noqa: E402
from sparktrace_tui.backends.protocol import Options  # noqa: E402
from sparktrace_tui.domain.errors import BadInput, SparkTraceError  # noqa: E402
from sparktrace_tui.domain.kernel.family import FAMILY_IDS, Family, Variant  # noqa: E402
from sparktrace_tui.emulator.toolchain import compile_cuda  # noqa: E402
from sparktrace_tui.store.families import read_family  # noqa: E402

KERNELS = ROOT / "kernels"
SURVIVORS = Path(__file__).with_name("survivors.toml")
LIMIT_S = 120.0
SURVIVED = ("correct", "mismatch")  # a mismatch between PTX and machine code says nothing of the results


@dataclass(frozen=True)
class Mutant:
    """One edit of one source: the operator's name, the 1-based line, the line before and after, the whole text."""

    family: str
    variant: str
    operator: str
    line: int
    before: str
    after: str
    source: str

    def __str__(self) -> str:
        return f"{self.family}/{self.variant} {self.operator} line {self.line}: `{self.before}` -> `{self.after}`"


@dataclass(frozen=True)
class Outcome:
    """What `verify` made of a mutant: a verdict (caught, unless one of SURVIVED), a message, why it may survive."""

    mutant: Mutant
    verdict: str
    message: str
    reason: str | None = None

    @property
    def survived(self) -> bool:
        return self.verdict in SURVIVED


# An operator is a pattern over a kernel's body and what replaces a match.
Replacement = Callable[[re.Match[str]], str]
_SUBSCRIPT = r"(?<=\w)\[([^\[\]]*[a-z][^\[\]]*)\](?!\s*;?\s*$)|(?<=\w)\[([^\[\]]*[a-z][^\[\]]*)\]"
OPERATORS: dict[str, tuple[str, Replacement]] = {
    "index_plus_one": (_SUBSCRIPT, lambda m: f"[{m[1] or m[2]} + 1]"),
    "index_minus_one": (_SUBSCRIPT, lambda m: f"[{m[1] or m[2]} - 1]"),
    "drop_barrier": (r"__sync(threads|warp)\(\);", lambda m: ";"),
    "drop_guard": (
        r"if \((?:[\w.]+ (?:>=|<) \w+(?: (?:\|\||&&) [\w.]+ (?:>=|<) \w+)*|inside|valid)\)",
        lambda m: "if (false)" if ">=" in m[0] else "if (true)",
    ),
    "loose_bound": (r"(?<= )(<|>=)(?= [A-Za-z])", lambda m: {"<": "<=", ">=": ">"}[m[1]]),
    "tight_bound": (r"(\b[a-z]\w*) < (?=[A-Za-z])", lambda m: f"{m[1]} + 1 < "),
    "swap_axes": (
        r"(threadIdx|blockIdx)\.([xy])",
        lambda m: f"{m[1]}.{'y' if m[2] == 'x' else 'x'}",
    ),
    "wrong_mask": (
        r"0xffffffffu|\bFULL\b|% 32\b|mask = 16|offset = 16|half = 16",
        lambda m: {
            "0xffffffffu": "0x0000ffffu", "FULL": "0x0000ffffu", "% 32": "% 16",
        }.get(m[0], m[0].replace("16", "8")),
    ),
    "not_reset": (r"= (0\.0f|0u|LOWEST)(?=[;,])", lambda m: {"0.0f": "= 1.0f", "0u": "= 1u"}.get(m[1], "= 0.0f")),
    "lost_sum": (r" \+= (?!BLOCK|step|2\b|gridDim)", lambda m: " = "),
    "wrong_sign": (r"(?<=[\w\]\)]) ([+-]) (?=[\w(])", lambda m: " - " if m[1] == "+" else " + "),
    "wrong_product": (r"(?<=[\w\]\)]) \* (?=[\w(])", lambda m: " + "),
    "flipped_test": (r" (<|>) (?=0\.0f|lo\b|hi\b|half\b)", lambda m: " > " if m[1] == "<" else " < "),
    "late_start": (r"(\w+) = 0; \1 <", lambda m: f"{m[1]} = 1; {m[1]} <"),
    "wrong_step": (r"(/= 2|\*= 2|\+= BLOCK|\+= TILE|\+= DEPTH|\+= step)", lambda m: _other_step(m[0])),
    "wrong_literal": (r"(?<![\w.])(\d+)(?![\w.])", lambda m: str(int(m[1]) + 1)),
    "plain_addition": (r"atomicAdd\((&?)([^;]+?), ([^,;]+)\);", lambda m: _plain(m[1], m[2], m[3])),
    "dropped_store": (r"^( +)(\w+(?:\[[^\n=]*\])+) = [^;=]+;$", lambda m: f"{m[1]};"),
}  # fmt: skip


def _other_step(step: str) -> str:
    return {"/= 2": "/= 4", "*= 2": "*= 4"}.get(step, f"{step} * 2")


def _plain(reference: str, target: str, value: str) -> str:
    return f"{target} += {value};" if reference else f"*{target} += {value};"


def kernel_bodies(source: str) -> list[tuple[int, int]]:
    """Spans of the text between the braces of each function."""
    spans = []
    for head in re.finditer(r"^(?:extern|__device__)[^{;]*\)\s*\{", source, re.MULTILINE):
        depth, at = 1, head.end()
        while depth and at < len(source):
            depth += {"{": 1, "}": -1}.get(source[at], 0)
            at += 1
        spans.append((head.end(), at - 1))
    return spans


def candidates(family: Family, variant: Variant) -> dict[str, list[Mutant]]:
    """Every mutant of a source by operator. Comments and lines that start with # are left alone."""
    source = variant.source
    found: dict[str, list[Mutant]] = {}
    for name, (pattern, replacement) in OPERATORS.items():
        for start, end in kernel_bodies(source):
            for match in re.finditer(pattern, source[start:end], re.MULTILINE):
                at, stop = start + match.start(), start + match.end()
                line_start = source.rfind("\n", 0, at) + 1
                line_end = source.find("\n", at)
                before = source[line_start:line_end]
                if before.lstrip().startswith(("//", "#")) or "__shared__" in before:
                    continue
                text = source[:at] + replacement(match) + source[stop:]
                after = text[line_start : text.find("\n", line_start)]
                number = source.count("\n", 0, at) + 1
                mutant = Mutant(family.id, variant.id, name, number, before.strip(), after.strip(), text)
                found.setdefault(name, []).append(mutant)
    return found


def choose(family: Family, variant: Variant, seed: int) -> Iterator[Mutant]:
    """All mutants of a source in seeded order, one of each operator before a second of any."""
    rng = random.Random(f"{seed}/{family.id}/{variant.id}")
    by_operator = [rng.sample(group, len(group)) for group in candidates(family, variant).values()]
    rng.shuffle(by_operator)
    for row in zip_longest(*by_operator):
        yield from (mutant for mutant in row if mutant is not None)


def mutants(family: Family, variant: Variant, each: int, seed: int) -> list[Mutant]:
    """The first `each` of them that compile."""
    chosen: list[Mutant] = []
    for mutant in choose(family, variant, seed):
        if len(chosen) == each:
            break
        try:
            compile_cuda(mutant.source, variant.source_name)
        except BadInput:
            continue
        chosen.append(mutant)
    return chosen


def judge(mutant: Mutant, client: Client, options: Options) -> Outcome:
    """Verify one mutant in a copy of its family's folder."""
    with tempfile.TemporaryDirectory(prefix="sparktrace-mutant-") as scratch:
        folder = Path(scratch) / mutant.family
        shutil.copytree(KERNELS / mutant.family, folder, ignore=shutil.ignore_patterns("__pycache__"))
        variant = read_family(folder).variant(mutant.variant)
        (folder / variant.source_name).write_text(mutant.source, encoding="utf-8")
        try:
            result = client.verify(folder, mutant.variant, options)
            verdict, message = result.verdict, result.message
        except (WorkerHung, WorkerDied) as error:
            verdict, message = "hang", error.message
        except SparkTraceError as error:
            verdict, message = "error", error.message
    return Outcome(mutant, verdict, message, explain(mutant) if verdict in SURVIVED else None)


def explain(mutant: Mutant) -> str | None:
    """Why this mutant changes no result, from survivors.toml; None where nobody has said."""
    for entry in tomllib.loads(SURVIVORS.read_text(encoding="utf-8")).get("survivor", []):
        if (
            fnmatch(f"{mutant.family}/{mutant.variant}", entry["kernel"])
            and fnmatch(mutant.operator, entry["operator"])
            and entry.get("line", "") in mutant.before
            and entry.get("becomes", "") in mutant.after
        ):
            return str(entry["why"])
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description="Break kernels and see that verify notices.")
    parser.add_argument("family", nargs="*", metavar="FAMILY")
    parser.add_argument("--each", type=int, default=10, help="mutants a kernel (10)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="gb10", help="device profile of the emulator (gb10)")
    words = parser.parse_args()
    if unknown := set(words.family) - set(FAMILY_IDS):
        parser.error(f"unknown family: {', '.join(sorted(unknown))}")
    outcomes: list[Outcome] = []
    with Client("emulated", words.device, limit_s=LIMIT_S) as client:
        for name in words.family or FAMILY_IDS:
            family = read_family(KERNELS / name)
            for variant in family.variants:
                made = [
                    judge(mutant, client, Options(seed=words.seed))
                    for mutant in mutants(family, variant, words.each, words.seed)
                ]
                outcomes += made
                for outcome in made:
                    if outcome.survived:
                        print(f"{outcome.mutant}\n    {outcome.reason or 'NOT EXPLAINED'}", flush=True)
                caught = sum(not outcome.survived for outcome in made)
                print(f"{name}/{variant.id}: {caught} of {len(made)} caught", file=sys.stderr, flush=True)
    survivors = [outcome for outcome in outcomes if outcome.survived]
    unexplained = [outcome for outcome in survivors if outcome.reason is None]
    verdicts = Counter(outcome.verdict for outcome in outcomes)
    print("verdicts: " + ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common()))
    print(
        f"{len(outcomes)} mutants (seed {words.seed}): {len(outcomes) - len(survivors)} caught, "
        f"{len(survivors)} survived, {len(unexplained)} of them unexplained"
    )
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
