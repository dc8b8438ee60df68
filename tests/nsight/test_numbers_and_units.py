"""Printed numbers in their locales, units in their spellings, values on a page."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparktrace_tui.domain.report.report import Metric
from sparktrace_tui.nsight.numbers import Doubtful, Locale, parse, prove
from sparktrace_tui.nsight.units import base_unit, format_value, normalise, scaled, shown

C, DE, UNKNOWN = Locale("."), Locale(","), Locale(None)


@pytest.mark.parametrize(
    ("texts", "decimal"),
    [
        (["10,24"], ","),
        (["7.013.964"], ","),
        (["7 013 964,06"], ","),
        (["7\u202f013\u202f964,06"], ","),
        (["0.81"], "."),
        (["1,518,357"], "."),
        (["82445221903.38"], "."),
        (["0,125"], ","),
        (["0.125"], "."),
        (["1.234", "12", "text"], None),
        (["10,24", "10.24"], "both"),
        (["82.341494", "7.013.964"], ","),  # six decimals are C's, whatever the locale
    ],
)
def test_a_locale_is_proved_by_digits_that_can_be_read_one_way(texts, decimal):
    assert prove(texts) == Locale(decimal)


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("7.013.964", DE, 7013964),
        ("7 013 964", DE, 7013964),
        ("7.001.338,06", DE, 7001338.06),
        ("1.024", DE, 1024),
        ("1.024", C, 1.024),
        ("48,821", C, 48821),
        ("1.024000", DE, 1.024),
        ("1,518,357", UNKNOWN, 1518357),
        ("3.14", DE, 3.14),
        ("1e+06", C, 1e6),
        ("-12", UNKNOWN, -12),
        ("2024.1.0.0", C, "2024.1.0.0"),
        ("1,2,3", C, "1,2,3"),
        ("0-19", C, "0-19"),
        ("9" * 400, C, "9" * 400),
        ("9" * 400 + ".5", C, "9" * 400 + ".5"),
        ("1e999", C, "1e999"),
        ("CachePreferNone", C, "CachePreferNone"),
    ],
)
def test_numbers_are_read_in_their_locale(text, locale, value):
    read = parse(text, locale)
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize("text", ["", "n/a", "(!) n/a", "nan", "(!) nan", "-", "inf", " "])
def test_missing_is_never_zero(text):
    assert parse(text, C) is None


@pytest.mark.parametrize("locale", [UNKNOWN, Locale("both")])
def test_one_sign_before_three_digits_is_refused_where_nothing_tells(locale):
    with pytest.raises(Doubtful):
        parse("1,234", locale)


@given(st.integers(0, 10**12), st.sampled_from([("", "."), (",", "."), (".", ","), (" ", ","), ("\u00a0", ",")]))
def test_any_printed_count_reads_back(number, signs):
    group, decimal = signs
    assert parse(f"{number:,}".replace(",", group), Locale(decimal)) == number  # type: ignore[arg-type]


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=30), st.sampled_from([C, DE, UNKNOWN]))
def test_no_text_makes_the_number_reader_fail(text, locale):
    with contextlib.suppress(Doubtful):
        parse(text, locale)


@pytest.mark.parametrize(
    ("unit", "base"),
    [
        ("nsecond", ("ns", 1)),
        ("us", ("ns", 1e3)),
        ("msecond", ("ns", 1e6)),
        ("second", ("ns", 1e9)),
        ("cycle/nsecond", ("hz", 1e9)),
        ("Ghz", ("hz", 1e9)),
        ("cycle/second", ("hz", 1)),
        ("Gbyte/second", ("byte/s", 1e9)),
        ("byte/s", ("byte/s", 1)),
        ("Kbyte/block", ("byte/block", 1e3)),
        ("Mbyte", ("byte", 1e6)),
        ("sector/usecond", ("sector/s", 1e6)),
        ("sectors", ("sector", 1)),
        ("inst/cycle", ("inst/cycle", 1)),
        ("register/thread", ("register/thread", 1)),
        ("%", ("%", 1)),
        ("", ("", 1)),
    ],
)
def test_old_and_new_spellings_meet_in_one_base_unit(unit, base):
    name, factor = base_unit(unit)
    assert (name, factor) == (base[0], pytest.approx(base[1]))


def test_the_same_duration_in_three_versions_is_one_value():
    assert normalise(54.87, "usecond") == normalise(54.87, "us") == (pytest.approx(54870), "ns")
    assert normalise(54870.0, "ns") == (54870.0, "ns")
    assert normalise(None, "us") == (None, "ns")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (54870.0, "ns", ("54.87", "us")),
        (3_143_000.0, "ns", ("3.14", "ms")),
        (8192, "byte/block", ("8.19", "Kbyte/block")),
        (1122302158.27, "byte/s", ("1.12", "Gbyte/s")),
        (1130000000.0, "hz", ("1.13", "Ghz")),
        (992.0, "", ("992", "")),
        (0.5, "%", ("0.50", "%")),
        (None, "%", ("n/a", "%")),
        (float("nan"), "", ("n/a", "")),
    ],
)
def test_a_page_shows_values_in_readable_units(value, unit, text):
    assert shown(Metric("", "m", unit, value)) == text


def test_a_printed_value_is_shown_as_it_was():
    assert shown(Metric("", "m", "cycle/nsecond", 10.24, "10,24")) == ("10,24", "cycle/nsecond")
    assert scaled("text", "byte") == ("text", "byte")
    assert format_value("text") == "text"
