"""Where a second view of a kernel stands: beside the source it belongs to, or below it. A pure function of a plan."""

from collections.abc import Mapping

from sparktrace_tui.ui.layout import Plan, Rect

CODE = ("original", "candidate")
LEAST = 5  # rows of a pane with something to read in it


def with_beside(found: Plan, pane: str, of: str, *, attended: bool, zoomed: bool, alone: bool = False) -> Plan:
    """The plan with `pane` for what comes of the source in pane `of`; unchanged where that source is not shown.

    Where both sources stand side by side it takes the other one's place. Else the two share the room of the source,
    and of the candidates below it, one above the other; too little for both, or maximised: the attended one alone.
    `alone`: there is no source to show, so the pane has all of its room.
    """
    panes: Mapping[str, Rect] = found.panes
    if of not in panes or found.shape == "small":
        return found
    other = next(name for name in CODE if name != of)
    if other in panes and not alone:
        return Plan(found.shape, {pane if name == other else name: rect for name, rect in panes.items()}, found.tabs)
    room = panes[of]
    kept = dict(panes)
    if not zoomed and "options" in kept and "options" not in found.tabs and kept["options"].x == room.x:
        options = kept.pop("options")
        room = Rect(room.x, room.y, room.width, room.height + options.height)
    top = room.height * 45 // 100
    if alone or zoomed or top < LEAST:
        kept.pop(of)
        return Plan(found.shape, {**kept, (pane if attended or alone else of): room}, found.tabs)
    kept[of] = Rect(room.x, room.y, room.width, top)
    kept[pane] = Rect(room.x, room.y + top, room.width, room.height - top)
    return Plan(found.shape, kept, found.tabs)
