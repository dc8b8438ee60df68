"""A report rendered to text and read again is the same report, in all that a text page carries."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sparktrace_tui.domain.report.report import KernelLaunch, Metric, Origin, Report, Rule, Section, Table
from sparktrace_tui.domain.report.serial import report_from_json, report_to_json
from sparktrace_tui.nsight.names import SECTION_IDS, SECTION_NAMES
from sparktrace_tui.nsight.read import parse_reports, read_reports
from sparktrace_tui.nsight.text import METRIC_COLUMNS, render

URL = "(https://example.org/a-very-long-address/index.html#part)"
WORD = st.one_of(
    st.sampled_from(["a", "cycles", "(SM)", "L1/TEX", "1,024", "32.0", "-", "way", "x", "#", "%", "'c[bank][offset]'"]),
    st.sampled_from(
        ["Throughput,", "OPTimal", "Info", ":", ">", "(512,", "7)x", "stall.", "uncoalesced", "----", "é", URL]
    ),
)
WORDS = st.lists(WORD, min_size=1, max_size=5).map(lambda words: "M " + " ".join(words))
NAME = st.builds(
    "{}__{}.{}".format,
    st.sampled_from(["sm", "l1tex", "lts"]),
    st.sampled_from(["inst_executed", "t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit", "cycles", "d_sectors"]),
    st.sampled_from(["sum", "avg.pct_of_peak_sustained_elapsed", "max"]),
)
UNIT = st.sampled_from(["", "%", "cycle", "inst", "warp", "sector", "register/thread", "Kbyte/block"])
VALUE = st.one_of(
    st.none(),
    st.integers(0, 10**12),
    st.floats(0.01, 10**6).map(lambda v: round(v, 2)),
    st.sampled_from(["CachePreferNone", "yes"]),
)
SENTENCE = st.lists(WORD, min_size=1, max_size=40).map(lambda words: "The " + " ".join(words))
PERCENT = st.one_of(st.none(), st.floats(0.01, 100).map(lambda v: float(f"{v:.4g}")))


KERNELS = (
    "scale(float *, int)",
    "void k<(int)32, (bool)1>(const float *, " + "long long, " * 30 + "int)",
    "void at::native::<unnamed>::f(at::TensorIteratorBase &)::[lambda(float) (instance 1)]",
)


@st.composite
def metrics(draw: st.DrawFn) -> Metric:
    name = draw(st.one_of(st.just(""), NAME))
    return Metric(name, name or draw(WORDS), draw(UNIT), draw(VALUE))


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    speedup = draw(PERCENT)
    kind = None if speedup is None else draw(st.sampled_from(["global", "local"]))
    return Rule("", draw(st.sampled_from(["OPT", "INF", "WRN", "ERR"])), "", draw(SENTENCE), speedup, kind)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    rows = draw(st.lists(st.tuples(WORDS, UNIT, st.integers(0, 999).map(str)), min_size=1, max_size=4))
    return Table(draw(WORDS), METRIC_COLUMNS, tuple(rows))


@st.composite
def sections(draw: st.DrawFn, name: str) -> Section:
    return Section(
        SECTION_IDS.get(name, ""),
        name,
        tuple(draw(st.lists(metrics(), max_size=5))),
        tuple(draw(st.lists(rules(), max_size=3))),
        tuple(draw(st.lists(tables(), max_size=2, unique_by=lambda t: t.title))),
    )


@st.composite
def reports(draw: st.DrawFn) -> Report:
    names = draw(st.lists(st.sampled_from(sorted(SECTION_NAMES.values())), min_size=1, max_size=4, unique=True))
    whole = st.integers(0, 2**31)
    return Report(
        KernelLaunch(
            kernel=draw(st.sampled_from(KERNELS)),
            grid=draw(st.tuples(whole, whole, whole)),
            block=draw(st.tuples(whole, whole, whole)),
            context=draw(st.one_of(st.none(), st.integers(0, 9))),
            stream=draw(st.one_of(st.none(), st.integers(0, 9))),
            compute_capability=draw(st.sampled_from([None, "8.9", "12.1"])),
        ),
        Origin("text-details"),
        tuple(draw(sections(name)) for name in names),
        tuple(Metric(n, n, "", draw(VALUE)) for n in draw(st.lists(NAME, max_size=3, unique=True))),
    )


def carried(report: Report) -> object:
    """What a text page carries of a report: not the printed spelling of a number, nor a rule's identifier."""

    def metric(m: Metric) -> Metric:
        return replace(m, raw=None)

    return (
        report.launch,
        [
            (s.id, s.name, [metric(m) for m in s.metrics], [replace(r, id="") for r in s.rules], s.tables)
            for s in report.sections
        ],
        [metric(m) for m in report.raw],
    )


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(reports(), st.sampled_from([60, 80, 120, 200]))
def test_rendered_and_read_again_is_the_same_report(report, width):
    (again,) = parse_reports(render(report, width, raw=True))
    assert carried(again) == carried(report)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(reports())
def test_stored_and_loaded_is_the_same_report(report):
    assert report_from_json(report_to_json(report)) == report


@settings(max_examples=40, deadline=None)
@given(SENTENCE, st.sampled_from(KERNELS), WORDS, st.integers(40, 160))
def test_rules_rows_and_kernels_keep_to_the_width(text, kernel, label, width):
    rows = (Metric("", label, "Kbyte/block", 12345), Metric("", "Short", "", 1))
    section = Section("Occupancy", "Occupancy", rows, (Rule("", "OPT", "", text, 12.5, "local"),))
    report = Report(KernelLaunch(kernel, (1, 2, 3), (4, 5, 6), 1, 7, 0, "8.9"), Origin("text-details"), (section,))
    for line in render(report, width).splitlines():
        # What has no blank to break at is left whole: a long word, or a label that stands alone on its line.
        alone = len(line.removeprefix("    OPT").split()) == 1 or line.strip() == label
        assert len(line) <= width or alone


@pytest.mark.parametrize("width", [60, 120, 200])
def test_every_public_page_is_the_same_when_rendered_and_read_again(width, text_file, read_public):
    if "err_" in text_file or "source" in text_file:
        pytest.skip("no details or raw page")
    for report in read_public(text_file):
        (again,) = parse_reports(render(report, width, raw=True))
        assert carried(again)[0] == carried(report)[0]
        if "summary" not in text_file and width >= 120:
            assert carried(again) == carried(report)


def test_several_kernels_in_one_text_read_again(ours):
    first = read_reports(ours / "details.txt")
    again = parse_reports("\n".join(render(report) for report in first))
    assert [carried(report) for report in again] == [carried(report) for report in first]
