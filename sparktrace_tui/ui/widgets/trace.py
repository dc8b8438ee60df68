"""A trace: what a player answered, how it was graded and by which rule, with the graded letter marked in its text."""

from textual.content import Content

from sparktrace_tui.runs.grades import Graded
from sparktrace_tui.ui.text import one_line, reflow
from sparktrace_tui.ui.widgets.lines import LineView, Row, styled
from sparktrace_tui.ui.widgets.marked import MARK, Marked, cut, marked_rows

LIMIT = 20_000  # characters of a text that are laid out; more would keep a person waiting


class TraceView(LineView):
    """One graded reply."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.trace: Graded | None = None

    def show(self, trace: Graded | None) -> None:
        """Show a trace, or that none is chosen."""
        if trace is not self.trace:
            self.trace = trace
            self.scroll_to(0, 0, animate=False)
            self.rebuild()

    def build(self, width: int) -> tuple[list[str], list[Row]]:
        trace = self.trace
        if trace is None:
            rows = [styled((line, "dim")) for line in reflow("Choose a trace with j and k.", width - 2)]
        else:
            rows = [styled((line, role)) for text, role in _head(trace) for line in reflow(text, width - 2) or [""]]
            reply, reading = trace.record.reply, trace.grades["readable"].reading
            for title, text, span in (("reasoning", reply.reasoning, None), ("answer", reply.text, reading.span)):
                if text:
                    kept, mark, left_out = cut(text, LIMIT, span)
                    rows += [Content(""), styled((title, "title")), *marked_rows(Marked(kept, mark), width - 2)]
                    if left_out:
                        rows.append(styled((f"… {left_out:,} more characters are in the log", "dim")))
        return [row.plain for row in rows], [Row(row, i, styled(" ")) for i, row in enumerate(rows)]

    def marked_rows(self) -> list[int]:
        return [place for place, row in enumerate(self.rows) if any(span.style == MARK for span in row.text.spans)]


def _head(trace: Graded) -> list[tuple[str, str]]:
    """What is known of the reply, and how it was graded."""
    record, grade, strict = trace.record, trace.grades["readable"], trace.grades["strict"]
    reply, reading = record.reply, grade.reading
    cause = f" ({grade.cause.replace('_', ' ')})" if grade.cause else ""
    variant = f" = {trace.variant}" if trace.variant else ""
    said = f"{grade.outcome.replace('_', ' ')}{cause}"
    if grade.letter:
        said = f"{grade.letter}{variant}: {said}"
    used = ", ".join(f"{name} {'n/a' if value is None else f'{value:,}'}" for name, value in vars(reply.usage).items())
    rows = [
        (one_line(f"{record.task} · {record.family} · sample {record.sample}"), "title"),
        (said, "right" if grade.outcome == "correct" else "wrong" if grade.outcome == "wrong" else "conflict"),
        (f"read by the rule '{reading.rule}'" if reading.rule else "no rule read a letter", "dim"),
        (f"strict: {strict.letter or strict.outcome.replace('_', ' ')}", "dim"),
        (one_line(f"stop {reply.stop}, model {reply.model or 'n/a'}, tokens: {used}"), "dim"),
    ]
    rows += [(one_line(f"try failed: {error}"), "conflict") for error in reply.errors]
    return rows
