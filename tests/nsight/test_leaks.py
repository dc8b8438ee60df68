"""Nothing of the conflicts is left in any report or text after an ablation, and nothing else is gone."""

import re
from pathlib import Path

import pytest

from sparktrace_tui.domain.errors import BadInput
from sparktrace_tui.domain.report.ablation import ablate
from sparktrace_tui.domain.report.report import Report
from sparktrace_tui.domain.report.serial import report_to_text
from sparktrace_tui.nsight.ablate_text import ablate_bytes, ablate_text
from sparktrace_tui.nsight.decode import decode
from sparktrace_tui.nsight.read import parse_reports
from sparktrace_tui.nsight.show import show
from sparktrace_tui.nsight.text import render

LEVELS = ("names", "strict")


def unwrapped(text: str) -> str:
    """One blank for every run of white space: a wrapped line must not hide "bank" from "conflict"."""
    return " ".join(text.split())


def everything(report: Report) -> str:
    """All that a report holds, as its store writes it and as every page shows it."""
    return unwrapped(" ".join((report_to_text(report), render(report, raw=True, source=True), render(report, 60))))


def leaks(text: str, patterns: dict[str, list[re.Pattern[str]]], level: str) -> list[str]:
    wanted = patterns["names"] + (patterns["strict"] if level == "strict" else [])
    return [text[max(0, m.start() - 60) : m.end() + 40] for p in wanted if (m := p.search(text))]


def survivors(text: str, patterns: dict[str, list[re.Pattern[str]]]) -> list[int]:
    return [len(p.findall(text)) for p in patterns["survive"]]


@pytest.mark.parametrize("level", LEVELS)
def test_no_report_leaks(level, report_file, read_public, patterns):
    for report in read_public(report_file):
        result = ablate(report, level)
        assert leaks(everything(result.report), patterns, level) == []
        assert all(r.what and r.where and r.why for r in result.removed)
        assert result.identical == (result.report == report)


@pytest.mark.parametrize("level", LEVELS)
def test_no_text_leaks_and_the_rest_is_byte_for_byte(level, text_file, public, patterns):
    data = (public / text_file).read_bytes()
    after, removed = ablate_bytes(data, level)
    before_text, after_text = decode(data).text, decode(after).text
    assert leaks(unwrapped(after_text), patterns, level) == []
    assert survivors(unwrapped(after_text), patterns) == survivors(unwrapped(before_text), patterns)
    assert bool(removed) == (after != data)
    kept = iter(before_text.splitlines(keepends=True))
    if not re.search(r"raw.*csv|source", text_file):  # there columns go: every line is shorter
        assert all(any(line == other for other in kept) for line in after_text.splitlines(keepends=True))


@pytest.mark.parametrize("level", LEVELS)
def test_a_text_ablated_reads_like_its_report_ablated(level, text_file, public):
    text = decode((public / text_file).read_bytes()).text
    try:
        reports = parse_reports(text)
    except BadInput:
        return
    again = parse_reports(ablate_text(text, reports[0].origin.form, level).text)
    assert len(again) == len(reports)
    for left, right in zip((ablate(r, level).report for r in reports), again, strict=True):
        assert [(m.name, m.label, m.unit, m.value) for m in left.metrics] == [
            (m.name, m.label, m.unit, m.value) for m in right.metrics
        ]
        assert [r.text for r in left.rules] == [r.text for r in right.rules]
        assert [(t.title, t.rows) for s in left.sections for t in s.tables if t.rows] == [
            (t.title, t.rows) for s in right.sections for t in s.tables if t.rows
        ]
        assert [i.metrics for i in left.instructions] == [i.metrics for i in right.instructions]


def test_kernel_0_of_the_seven_keeps_the_constant_cache_advice(read_public):
    report = read_public("reports/rtx3060l_cc86_2024.1_smem_7k.ncu-rep")[0]
    (before,) = [r for r in report.rules if "c[bank][offset]" in r.text]
    for level in LEVELS:
        (after,) = [r for r in ablate(report, level).report.rules if "c[bank][offset]" in r.text]
        assert after == before


@pytest.mark.parametrize("level", LEVELS)
def test_what_only_correlates_stays(level, read_public):
    for name in ("2d_conflicts", "smem_arbitration"):
        (report,) = read_public(f"reports/rtx4090_cc89_2024.1_sgemm_{name}.ncu-rep")
        after = ablate(report, level).report
        kept = [m.name for m in report.metrics if re.search(r"stalled_(mio|short)|l1tex__throughput|op_shared", m.name)]
        kept = [n for n in kept if "conflicts" not in n and "wavefronts" not in n and not n.startswith("breakdown:")]
        assert len(kept) > 10
        assert [n for n in kept if after.metric(n) != report.metric(n)] == []


@pytest.mark.parametrize("level", LEVELS)
def test_strict_leaves_no_difference_to_take(level, read_public):
    """Wavefronts less requests would be the conflicts: after `strict` no wavefront of the shared pipe is
    left.
    """
    (report,) = read_public("reports/rtx4090_cc89_2024.1_sgemm_2d_conflicts.ncu-rep")
    after = ablate(report, level).report
    telling = {50_331_648, 33_554_432, 100_663_296, 109_051_904}
    # The sampling buffer happens to have 33,554,432 bytes.
    values = {m.value for m in after.metrics if m.name != "smsp__pcsamp_buffer_size_bytes"}
    values |= {v for i in after.instructions for v in i.metrics.values()}
    assert (telling & values == set()) == (level == "strict")


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("format", ["text", "json", "csv"])
def test_what_the_command_prints_does_not_leak(level, format, ours, patterns):
    for path in sorted(ours.glob("*")):
        try:
            text = show(path, without=level, format=format)
        except BadInput:
            continue
        assert leaks(unwrapped(text), patterns, level) == [], path.name


@pytest.mark.parametrize("level", LEVELS)
def test_our_own_texts_do_not_leak(level, ours: Path, patterns):
    for path in sorted(ours.glob("*")):
        data = path.read_bytes()
        after, removed = ablate_bytes(data, level)
        text = unwrapped(decode(after).text)
        assert leaks(text, patterns, level) == [], path.name
        assert survivors(text, patterns) == survivors(unwrapped(decode(data).text), patterns), path.name
        assert all(r.what and r.where and r.why for r in removed)
