"""One table of commands: key bindings, footer, palette and help are all made from it, and from nothing else."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from textual.binding import Binding, BindingType

Where = Literal["browse", "quiz", "report", "edit", "start", "page", "profile", "run", "compare", "help"]
BROWSE: frozenset[Where] = frozenset({"browse"})
QUIZ: frozenset[Where] = frozenset({"quiz"})
REPORT: frozenset[Where] = frozenset({"report"})
EDIT: frozenset[Where] = frozenset({"edit"})
START: frozenset[Where] = frozenset({"start"})
PAGE: frozenset[Where] = frozenset({"page"})
PROFILE: frozenset[Where] = frozenset({"profile"})
RUN: frozenset[Where] = frozenset({"run"})
COMPARE: frozenset[Where] = frozenset({"compare"})
KERNEL: frozenset[Where] = BROWSE | QUIZ | REPORT
PANES: frozenset[Where] = KERNEL | EDIT | PAGE | PROFILE | RUN | COMPARE
ALL: frozenset[Where] = PANES | START | {"help"}


@dataclass(frozen=True)
class Command:
    """A thing that a screen can do. Its screen answers with a method `action_<id>` (dots and dashes as underscores).

    keys: Textual's key names, comma separated. shown: how the key is written for people. label: one or two words for
    the footer. help: a sentence for the palette and the help screen. where: the screens that have it. footer: its rank
    there, the lowest first; 0 is not in the footer. footer_key and footer_label: what stands there instead of `shown`
    and `label`, for a command that speaks for its neighbours too.
    """

    id: str
    keys: str
    shown: str
    label: str
    help: str
    where: frozenset[Where]
    group: str
    footer: int = 0
    argument: str | None = None
    footer_key: str = ""
    footer_label: str = ""

    @property
    def action(self) -> str:
        return f"{self.id}({self.argument!r})" if self.argument is not None else self.id


def _letters(where: frozenset[Where], id: str, verb: str, noun: str, group: str) -> tuple[Command, ...]:
    """One command a candidate; the first speaks for all four in the footer."""
    return tuple(
        Command(
            id, letter, letter, f"{verb} {letter.upper()}", f"{verb} {noun}{letter.upper()}.", where, group,
            1 if letter == "a" else 0, letter, "a-d", verb.lower(),
        )
        for letter in "abcd"
    )  # fmt: skip


COMMANDS: tuple[Command, ...] = (
    *_letters(BROWSE, "show", "Show", "rewrite ", "Kernel"),
    *_letters(QUIZ, "pick", "Pick", "", "Quiz"),
    Command("confirm", "enter,space", "enter", "confirm", "Confirm the pick, or go on.", QUIZ, "Quiz", 2),
    Command("undo", "u,backspace", "u", "undo", "Take the pick back, before it is confirmed.", QUIZ, "Quiz", 3),
    Command("keep", "K", "K", "keep", "Keep the first pick.", QUIZ, "Quiz"),
    Command("rival", "i", "i", "rival", "Unfold what the rival wrote, after the reveal.", QUIZ, "Quiz"),
    Command("original", "o", "o", "original", "Show the original.", KERNEL, "Kernel"),
    Command("edit", "E", "E", "edit", "Edit a copy of the shown kernel, emulate it again, and see what changed.",
            BROWSE, "Kernel", 7),
    Command("edit", "E", "E", "edit again", "Edit the same copy again, and emulate it.", EDIT, "Kernel", 2),
    Command("diff", "v", "v", "diff", "Show a rewrite as its source, or as what differs from the original.",
            BROWSE | QUIZ | EDIT, "Kernel", 5),
    Command("machine", "m", "m", "machine code", "The source alone, or its PTX or SASS beside it.",
            BROWSE | REPORT, "Kernel"),
    Command("banks", "M", "M", "bank map", "Which bank and word each lane of the chosen line's shared access touches.",
            BROWSE, "Kernel"),
    Command("ablate", "x", "x", "conflicts", "Bank-conflict lines of the report: shown, names hidden, strict.",
            PANES - RUN - COMPARE, "Report", 4),
    Command("fold", "enter,space", "enter", "fold", "Fold a section, explain a metric, jump to a rule's line.",
            BROWSE | REPORT | EDIT | PAGE, "Report"),
    Command("reveal", "r", "r", "reveal", "Reveal the times. The family then counts as seen.", BROWSE, "Kernel", 3),
    Command("families", "f", "f", "families", "Choose a family.", BROWSE, "Families", 2),
    Command("family", "right_square_bracket", "]", "next family", "The next family.", BROWSE, "Families", 0, "1"),
    Command("family", "left_square_bracket", "[", "previous family", "The family before.", BROWSE, "Families", 0, "-1"),
    Command("step", "right_square_bracket", "]", "next kernel", "The next kernel of the file.", REPORT, "Report", 2,
            "1", "[ ]", "kernel"),
    Command("step", "left_square_bracket", "[", "previous kernel", "The kernel before.", REPORT, "Report", 0, "-1"),
    Command("open_report", "O", "O", "open report", "Open an Nsight Compute report from a file.", BROWSE | REPORT,
            "Report"),
    Command("raw", "R", "R", "raw text", "The report as raw text.", BROWSE | REPORT, "Report"),
    Command("command", "Y", "Y", "ncu command", "Show and copy the ncu command that would make this report.",
            BROWSE | REPORT, "Report"),
    Command("against", "V", "V", "compare", "Another report beside this one: of a file, or of another capture set.",
            BROWSE | REPORT, "Report"),
    Command("switch_set", "s", "s", "set", "Switch to the next capture set.", BROWSE, "Families"),
    Command("profile", "p", "p", "profile", "Profile the shown kernel on this machine's GPU, or emulate it.", BROWSE,
            "Kernel"),
    Command("profile_family", "P", "P", "profile family", "Verify, time and profile the family here.", BROWSE,
            "Kernel"),
    Command("go", "enter", "enter", "go on", "Emulate instead; or open the set when it is done.", PROFILE, "Kernel", 1),
    Command("compare", "C", "C", "compare sets", "Compare the open capture set with another.", BROWSE, "Screens"),
    Command("reveal", "r", "r", "reveal", "Reveal the family's times. It then counts as seen.", COMPARE, "Sets", 1),
    Command("switch_set", "s", "s", "set", "Compare with the next set.", COMPARE, "Sets", 2),
    Command("fold", "enter,space", "enter", "open", "Go to the figures of the family.", COMPARE, "Sets", 3),
    Command("run", "T", "T", "run", "Run tasks with a player, or read the traces of a run.", BROWSE, "Screens"),
    Command("go", "enter", "enter", "go", "Begin, agree to what is asked, or open the row.", RUN, "Run", 1),
    Command("player", "i", "i", "player", "The next player: a baseline or a game on record.", RUN, "Run", 2),
    Command("name_player", "I", "I", "name a player", "Name another player, such as a model.", RUN, "Run", 3),
    Command("filter", "f", "f", "filter", "Traces of one outcome: all, correct, wrong, no letter, no turn.", RUN, "Run",
            2),
    Command("retry", "F", "F", "retry failed", "Ask again what ended without a turn.", RUN, "Run", 3),
    Command("change", "space", "space", "change", "Change what the cursor is on.", RUN, "Run"),
    *(Command("task", str(n), str(n), f"task {n}", f"Take task {n} in or out.", RUN, "Run", 4 if n == 1 else 0, str(n),
              "1-6", "tasks") for n in range(1, 7)),
    Command("quiz", "Q", "Q", "quiz", "Choose and start a quiz.", BROWSE, "Screens"),
    Command("begin", "enter", "enter", "begin", "Start the quiz.", START, "Quiz", 1),
    Command("length", "l", "l", "length", "How many questions: 1, 5, 15 or endless.", START, "Quiz", 2),
    Command("evidence", "e", "e", "evidence", "What stands beside the source: drawn, or always the same.", START,
            "Quiz", 3),
    Command("order", "o", "o", "order", "The order of the candidates: drawn, forward or mirrored.", START, "Quiz", 5),
    Command("rival", "i", "i", "rival", "Who plays against you: nobody, a baseline, or a game on record.", START,
            "Quiz", 4),
    Command("name_rival", "I", "I", "name a rival", "Name another rival, such as a model.", START, "Quiz"),
    Command("go_on", "g", "g", "go on", "Begin with the question you left, or not.", START, "Quiz", 6),
    Command("change", "space,right", "space", "change", "Change what the cursor is on.", START, "Quiz"),
    Command("scroll", "j,down", "j", "down", "Down a line.", START, "Move", 0, "down"),
    Command("scroll", "k,up", "k", "up", "Up a line.", START, "Move", 0, "up"),
    Command("next_pane", "tab", "tab", "panes", "Go to the next pane.", PANES, "Move", 6),
    Command("previous_pane", "shift+tab", "shift+tab", "previous pane", "Go to the pane before.", PANES, "Move"),
    Command("scroll", "j,down", "j", "down", "Down a line.", PANES, "Move", 0, "down"),
    Command("scroll", "k,up", "k", "up", "Up a line.", PANES, "Move", 0, "up"),
    Command("scroll", "pagedown,ctrl+f", "pgdn", "page down", "Down a page.", PANES, "Move", 0, "pagedown"),
    Command("scroll", "pageup,ctrl+b", "pgup", "page up", "Up a page.", PANES, "Move", 0, "pageup"),
    Command("scroll", "g,home", "g", "top", "To the top.", PANES, "Move", 0, "top"),
    Command("scroll", "G,end", "G", "bottom", "To the bottom.", PANES, "Move", 0, "bottom"),
    Command("scroll", "h,left", "h", "left", "To the left.", PANES, "Move", 0, "left"),
    Command("scroll", "l,right", "l", "right", "To the right.", PANES, "Move", 0, "right"),
    Command("next_mark", "n", "n", "next", "The next match, conflict or hunk.", PANES, "Move", 0, "1"),
    Command("next_mark", "N", "N", "previous", "The match, conflict or hunk before.", PANES, "Move", 0, "-1"),
    Command("search", "slash", "/", "search", "Search in the pane.", PANES, "Move"),
    Command("maximise", "z", "z", "maximise", "Give the pane the whole screen, or back.", PANES, "View"),
    Command("wrap", "w", "w", "wrap", "Wrap long lines, or scroll them.", PANES, "View"),
    Command("copy", "y", "y", "copy", "Copy the selection, or the whole pane.", PANES, "View"),
    Command("theme", "t", "t", "theme", "Dark or light.", ALL, "View"),
    Command("palette", "colon,ctrl+p", ":", "palette", "Every command by name.", PANES | START, "Screens"),
    Command("help", "question_mark", "?", "help", "This help.", PANES | START, "Screens", 8),
    Command("back", "escape", "esc", "back", "Back: out of a search, a maximised pane, a screen.", ALL, "Screens"),
    Command("quit", "q", "q", "quit", "Quit, with a summary on the ordinary screen.", ALL, "Screens", 9),
)  # fmt: skip


def commands_for(where: Where) -> tuple[Command, ...]:
    """The commands of a screen, in the table's order."""
    return tuple(command for command in COMMANDS if where in command.where)


def bindings_for(where: Where) -> list[BindingType]:
    """The key bindings of a screen. Those of tab and the arrows win over the focused widget's own."""
    return [
        Binding(command.keys, command.action, command.help, show=False, priority="tab" in command.keys)
        for command in commands_for(where)
    ]


def footer_for(where: Where, hidden: Iterable[str] = ()) -> tuple[Command, ...]:
    """The commands of a screen's footer, the most wanted first, without the hidden ids."""
    left_out = set(hidden)
    found = [c for c in commands_for(where) if c.footer and c.id not in left_out]
    return tuple(sorted(found, key=lambda command: command.footer))


def help_for(where: Where) -> dict[str, tuple[Command, ...]]:
    """The commands of a screen by group, groups in the order of their first command."""
    groups: dict[str, list[Command]] = {}
    for command in commands_for(where):
        groups.setdefault(command.group, []).append(command)
    return {group: tuple(commands) for group, commands in groups.items()}
