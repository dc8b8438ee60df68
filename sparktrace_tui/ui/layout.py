"""Where every pane of a screen stands: a pure function of the terminal's size and of what is looked at."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

MIN_WIDTH, MIN_HEIGHT = 40, 12

Kind = Literal["browse", "quiz", "report", "listed"]
Shape = Literal["small", "narrow", "medium", "wide"]


@dataclass(frozen=True)
class Rect:
    """A rectangle of cells; x and y are 0-based."""

    x: int
    y: int
    width: int
    height: int

    @property
    def right(self) -> int:
        return self.x + self.width

    @property
    def bottom(self) -> int:
        return self.y + self.height


@dataclass(frozen=True)
class View:
    """What is looked at: the pane with the attention, whether it is maximised, and what there is to show.

    body: the pane that fills a narrow screen above the candidates; attending to these does not change it.
    report: a report pane exists (a quiz without evidence has none). result: the quiz shows its final reveal.
    kernels: an opened report file holds more than one. listed: the panes of a `listed` screen (one to three), the
    first of which is `lead` cells wide beside the second; a third goes below the first, or beside the second.
    """

    kind: Kind = "browse"
    pane: str = "original"
    body: str = "original"
    zoomed: bool = False
    report: bool = True
    result: bool = False
    kernels: bool = False
    listed: tuple[str, ...] = ()
    lead: int = 40


@dataclass(frozen=True)
class Plan:
    """The panes on the screen by name; a pane that is not in it is not shown. `tabs` are those the tab bar offers."""

    shape: Shape
    panes: Mapping[str, Rect]
    tabs: tuple[str, ...] = ()


OPTION_ROWS = 5  # the original and four rewrites
STRIP = OPTION_ROWS + 2  # with its border


def shape_of(width: int, height: int) -> Shape:
    """Which of the layouts a terminal of this size gets."""
    if width < MIN_WIDTH or height < MIN_HEIGHT:
        return "small"
    if width >= 170 and height >= 36:
        return "wide"
    if width >= 100 and height >= 28:
        return "medium"
    return "narrow"


def plan(width: int, height: int, view: View) -> Plan:
    """The panes for a terminal of `width` x `height` cells. They never overlap and never leave the screen."""
    shape = shape_of(width, height)
    if shape == "small":
        return Plan(shape, {"small": Rect(0, 0, width, height)})
    if view.kind == "report":
        return _file(width, height, view, shape)
    if view.kind == "listed":
        return _listed(width, height, view, shape)
    bars = {"header": Rect(0, 0, width, 1), "footer": Rect(0, height - 1, width, 1)}
    if shape == "narrow":
        return _narrow(width, height, view, bars)
    body = Rect(0, 1, width, height - 2)
    if view.zoomed:
        return Plan(shape, {**bars, view.pane: body})
    return Plan(shape, bars | (_wide(body, view) if shape == "wide" else _medium(body, view)))


def _file(width: int, height: int, view: View, shape: Shape) -> Plan:
    """A report file: its kernels where there are several, the source, and the report."""
    panes = {"header": Rect(0, 0, width, 1), "footer": Rect(0, height - 1, width, 1)}
    tabs = (*(("kernels",) if view.kernels else ()), "original", "report")
    pane = view.pane if view.pane in tabs else "report"
    if shape == "narrow":
        panes["tabs"] = Rect(0, 1, width, 1)
        return Plan(shape, {**panes, pane: Rect(0, 2, width, height - 3)}, tabs)
    body = Rect(0, 1, width, height - 2)
    if view.zoomed:
        return Plan(shape, {**panes, pane: body})
    if view.kernels:
        panes["kernels"], panes["original"], panes["report"] = _columns(body, (28,), 3)
    else:
        panes["original"], panes["report"] = _columns(body, (), 2)
    return Plan(shape, panes)


def _listed(width: int, height: int, view: View, shape: Shape) -> Plan:
    """One to three panes: one at a time with tabs, or the first and the third at the left of the second."""
    panes = {"header": Rect(0, 0, width, 1), "footer": Rect(0, height - 1, width, 1)}
    pane = view.pane if view.pane in view.listed else view.listed[0]
    body = Rect(0, 1, width, height - 2)
    if len(view.listed) == 1:
        return Plan(shape, {**panes, pane: body})
    if shape == "narrow":
        panes["tabs"] = Rect(0, 1, width, 1)
        return Plan(shape, {**panes, pane: Rect(0, 2, width, height - 3)}, view.listed)
    if view.zoomed:
        return Plan(shape, {**panes, pane: body})
    first, second, *third = view.listed
    if third and shape == "wide":
        panes[first], panes[second], panes[third[0]] = _columns(body, (view.lead,), 3)
        return Plan(shape, panes)
    left, panes[second] = _columns(body, (view.lead,), 2)
    if third:
        panes[first], panes[third[0]] = _rows(left, left.height * 45 // 100)
    else:
        panes[first] = left
    return Plan(shape, panes)


def _narrow(width: int, height: int, view: View, bars: dict[str, Rect]) -> Plan:
    strip = height >= 20
    tabs: tuple[str, ...] = ("families",) if view.kind == "browse" else ()
    tabs += ("original", "candidate")
    tabs += ("report",) if view.report else ()
    tabs += () if strip and not view.result else ("options",)
    body = Rect(0, 2, width, height - 3)
    bars["tabs"] = Rect(0, 1, width, 1)
    if view.zoomed:
        return Plan("narrow", {**bars, view.pane: body}, tabs)
    if "options" in tabs and view.pane == "options":
        return Plan("narrow", {**bars, "options": body}, tabs)
    pane = view.body if view.body in tabs else tabs[0]
    if pane == "families" and height >= 20 and width >= 70:
        left, right = _columns(body, (26,), 2)
        return Plan("narrow", {**bars, "families": left, "about": right}, tabs)
    if "options" in tabs or pane == "families":
        return Plan("narrow", {**bars, pane: body}, tabs)
    top, bottom = _rows(body, body.height - STRIP)
    return Plan("narrow", {**bars, pane: top, "options": bottom}, tabs)


def _medium(body: Rect, view: View) -> dict[str, Rect]:
    if view.kind == "quiz":
        bottom_height = max(STRIP + 2, body.height * (60 if view.result else 40) // 100)
    else:
        bottom_height = max(STRIP + 2, body.height * 45 // 100)
    top, bottom = _rows(body, body.height - bottom_height)
    original, candidate = _columns(top, (), 2)
    panes = {"original": original, "candidate": candidate}
    if view.kind == "browse" and view.body == "families":
        families, about, options = _columns(bottom, (26,), 3)
        return panes | {"families": families, "about": about, "options": options}
    if not view.report:
        return panes | {"options": bottom}
    left, right = _report_and_options(bottom)
    return panes | {"report": left, "options": right}


def _report_and_options(area: Rect) -> tuple[Rect, Rect]:
    left_width = area.width * 55 // 100
    return (
        Rect(area.x, area.y, left_width, area.height),
        Rect(area.x + left_width, area.y, area.width - left_width, area.height),
    )


def _wide(body: Rect, view: View) -> dict[str, Rect]:
    panes: dict[str, Rect] = {}
    if view.kind == "browse":
        side, body = Rect(body.x, body.y, 28, body.height), Rect(28, body.y, body.width - 28, body.height)
        panes["families"], panes["about"] = _rows(side, 17)
        strip = STRIP
    else:
        strip = body.height * (45 if view.result else 28) // 100
    top, panes["options"] = _rows(body, body.height - strip)
    if view.report:
        panes["original"], panes["candidate"], panes["report"] = _columns(top, (), 3)
    else:
        panes["original"], panes["candidate"] = _columns(top, (), 2)
    return panes


def _rows(area: Rect, first: int) -> tuple[Rect, Rect]:
    return (
        Rect(area.x, area.y, area.width, first),
        Rect(area.x, area.y + first, area.width, area.height - first),
    )


def _columns(area: Rect, fixed: tuple[int, ...], count: int) -> tuple[Rect, ...]:
    """`count` columns: the fixed widths first, the rest shared out evenly, the odd cells to the left ones."""
    share, odd = divmod(area.width - sum(fixed), count - len(fixed))
    widths = fixed + tuple(share + (place < odd) for place in range(count - len(fixed)))
    x, found = area.x, []
    for width in widths:
        found.append(Rect(x, area.y, width, area.height))
        x += width
    return tuple(found)
