"""What can be seen and found on a screen, for the tests."""

from contextlib import suppress

from textual.pilot import Pilot
from textual.worker import WorkerCancelled

from sparktrace_tui.ui.app import SparkTraceApp
from sparktrace_tui.ui.widgets.lines import Bar, LineView

SIZES = ((80, 24), (120, 40), (200, 60))


async def settle(pilot: Pilot[None]) -> None:
    """Wait until the workers are done and what they posted is drawn. A worker that a newer one replaced is done too."""
    for _ in range(2):
        with suppress(WorkerCancelled):
            await pilot.app.workers.wait_for_complete()
        await pilot.pause()


def picture(app: SparkTraceApp) -> str:
    """The screen as text, row by row."""
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


def styled_picture(app: SparkTraceApp) -> list[list[tuple[str, str]]]:
    """The screen with the style of each run of characters (without the metadata of links and offsets)."""
    return [
        [(segment.text, str(segment.style.without_color) + str(segment.style.color) + str(segment.style.bgcolor))
         for segment in strip if segment.style is not None]
        for strip in app.screen._compositor.render_strips()
    ]  # fmt: skip


def every_text(app: SparkTraceApp) -> str:
    """Everything that any widget of any screen holds: shown, scrolled away, or on a pane that is not placed."""
    found = []
    for screen in app.screen_stack:
        for view in screen.query(LineView):
            view.rebuild()
            found += [*view.lines, *(row.gutter.plain + row.text.plain for row in view.rows)]
            found += [str(view.border_title), str(view.border_subtitle)]
        for bar in screen.query(Bar):
            found.append(bar.make(300).plain)
    return "\n".join([*found, picture(app)])
