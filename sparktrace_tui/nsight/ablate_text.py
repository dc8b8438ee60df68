"""The ablation on a report's own text or CSV: only the lines, fields and words that must go, the rest byte
for byte.
"""

from dataclasses import dataclass

from sparktrace_tui.domain.report.ablation import Removed
from sparktrace_tui.domain.report.conflicts import Level
from sparktrace_tui.nsight.ablate_csv import ablate_csv_text
from sparktrace_tui.nsight.ablate_page import ablate_page_text
from sparktrace_tui.nsight.csv_lines import form_of
from sparktrace_tui.nsight.decode import decode


@dataclass(frozen=True)
class AblatedText:
    """A text after an ablation, and what went. `identical`: nothing did."""

    text: str
    removed: tuple[Removed, ...]

    @property
    def identical(self) -> bool:
        return not self.removed


def ablate_text(text: str, form: str, level: Level) -> AblatedText:
    """The text without its bank-conflict lines. `form` is an Origin's (`text-details`, `csv-raw`, ...)."""
    if form.startswith("csv"):
        return AblatedText(*ablate_csv_text(text, level))
    return AblatedText(*ablate_page_text(text, level))


def ablate_bytes(data: bytes, level: Level) -> tuple[bytes, tuple[Removed, ...]]:
    """The same on a file's bytes, in its own encoding; the form is told from the text."""
    decoded = decode(data)
    form = form_of(decoded.text) or "text-details"
    ablated = ablate_text(decoded.text, form, level)
    return (data if ablated.identical else decoded.encode(ablated.text)), ablated.removed
