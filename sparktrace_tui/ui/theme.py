"""Three themes (dark, light, and one without any colour) and the roles that text can play in them.

Prior work is grey, the right answer green, the Nsight report blue; each role has a cue that is not colour as well. Code
and diffs use neither green nor that blue, so that nothing before a reveal looks like an answer.
"""

from collections.abc import Callable, Mapping

from pygments.token import Token  # type: ignore[import-untyped]
from textual.highlight import HighlightTheme
from textual.style import Style
from textual.theme import Theme

DARK, LIGHT, COLOURLESS = "sparktrace-dark", "sparktrace-light", "sparktrace-colourless"

Roles = Mapping[str, Style]

_DARK = {
    "background": "#0f1318", "foreground": "#d3dae3", "surface": "#151a21", "panel": "#1b222b",
    "dim": "#838e9b", "line": "#333d49", "focus": "#aab6c4", "prior": "#8a8a8a", "right": "#3fb950",
    "ncu": "#4c9aff", "wrong": "#f0716b", "warn": "#e3a63a", "warn-tint": "#2c2413", "add": "#b79cf2",
    "add-tint": "#221d36", "remove": "#d98895", "remove-tint": "#2c1c21", "cursor": "#232d39", "select": "#2f4a6d",
    "match": "#5c4a12", "keyword": "#b79cf2", "type": "#7fb5b5", "number": "#d9a66c", "string": "#c9b27c",
    "function": "#e0cf9f", "preproc": "#c78fa3", "comment": "#77818d",
}  # fmt: skip
_LIGHT = {
    "background": "#fbfbf9", "foreground": "#20262d", "surface": "#f3f3f0", "panel": "#e9e9e4",
    "dim": "#5f6872", "line": "#c5c8c8", "focus": "#4c5661", "prior": "#595959", "right": "#0b6b2e",
    "ncu": "#0b4fae", "wrong": "#b3261e", "warn": "#8a5a00", "warn-tint": "#faefd2", "add": "#5a3ea8",
    "add-tint": "#ece6fa", "remove": "#a03648", "remove-tint": "#fae6e8", "cursor": "#e3e8ee", "select": "#bcd3f2",
    "match": "#ffe28a", "keyword": "#5a3ea8", "type": "#1c6a6a", "number": "#8a4b08", "string": "#6d5600",
    "function": "#5d4a00", "preproc": "#92375a", "comment": "#6b747e",
}  # fmt: skip


def _theme(name: str, colours: Mapping[str, str], dark: bool) -> Theme:
    return Theme(
        name=name,
        primary=colours["focus"],
        secondary=colours["dim"],
        warning=colours["warn"],
        error=colours["wrong"],
        success=colours["right"],
        accent=colours["ncu"],
        foreground=colours["foreground"],
        background=colours["background"],
        surface=colours["surface"],
        panel=colours["panel"],
        dark=dark,
        variables={
            "line": colours["line"],
            "focus": colours["focus"],
            "dim": colours["dim"],
            "prior": colours["prior"],
            "right": colours["right"],
            "ncu": colours["ncu"],
            "warn": colours["warn"],
            "scrollbar": colours["line"],
            "scrollbar-hover": colours["dim"],
            "scrollbar-active": colours["focus"],
            "scrollbar-background": colours["background"],
            "scrollbar-background-hover": colours["background"],
            "scrollbar-background-active": colours["background"],
            "scrollbar-corner-color": colours["background"],
            "screen-selection-background": colours["select"],
            "screen-selection-foreground": colours["foreground"],
            "block-cursor-background": colours["cursor"],
            "block-cursor-foreground": colours["foreground"],
        },
    )


_PLAIN_VARIABLES = {
    name: "ansi_default"
    for name in (
        "line", "focus", "dim", "prior", "right", "ncu", "warn", "scrollbar", "scrollbar-hover", "scrollbar-active",
        "scrollbar-background", "scrollbar-background-hover", "scrollbar-background-active",
        "scrollbar-corner-color", "screen-selection-background", "screen-selection-foreground",
        "block-cursor-background", "block-cursor-foreground", "border", "border-blurred", "ansi-background",
        "ansi-foreground", "input-cursor-background", "input-cursor-foreground", "input-selection-background",
        "input-selection-foreground", "block-hover-background", "link-background-hover", "link-color",
        "link-color-hover",
    )
}  # fmt: skip

THEMES = (
    _theme(DARK, _DARK, dark=True),
    _theme(LIGHT, _LIGHT, dark=False),
    Theme(
        name=COLOURLESS,
        ansi=True,
        primary="ansi_default",
        secondary="ansi_default",
        warning="ansi_default",
        error="ansi_default",
        success="ansi_default",
        accent="ansi_default",
        foreground="ansi_default",
        background="ansi_default",
        surface="ansi_default",
        panel="ansi_default",
        boost="ansi_default",
        variables=_PLAIN_VARIABLES,
    ),
)


def _roles(c: Mapping[str, str]) -> dict[str, Style]:
    spelt = {
        "text": c["foreground"],
        "dim": c["dim"],
        "title": f"bold {c['foreground']}",
        "key": f"bold {c['foreground']} on {c['panel']}",
        "tab": c["dim"],
        "tab-on": f"bold {c['background']} on {c['focus']}",
        "prior": c["prior"],
        "right": f"bold {c['right']}",
        "right-bar": c["right"],
        "bar": c["dim"],
        "ncu": c["ncu"],
        "ncu-title": f"bold {c['ncu']}",
        "wrong": f"bold {c['wrong']}",
        "conflict": f"bold {c['warn']}",
        "conflict-line": f"on {c['warn-tint']}",
        "add": f"bold {c['add']}",
        "add-line": f"on {c['add-tint']}",
        "remove": f"bold {c['remove']}",
        "remove-line": f"on {c['remove-tint']}",
        "gutter": c["dim"],
        "cursor-line": f"on {c['cursor']}",
        "select": f"on {c['select']}",
        "match": f"bold on {c['match']}",
        "code-keyword": c["keyword"],
        "code-type": c["type"],
        "code-number": c["number"],
        "code-string": c["string"],
        "code-function": c["function"],
        "code-preproc": c["preproc"],
        "code-comment": f"italic {c['comment']}",
    }
    return {name: Style.parse(text) for name, text in spelt.items()}


_PLAIN = {
    "text": "", "dim": "dim", "title": "bold", "key": "bold", "tab": "", "tab-on": "bold reverse",
    "prior": "dim", "right": "bold underline", "right-bar": "bold", "bar": "", "ncu": "", "ncu-title": "bold",
    "wrong": "bold", "conflict": "bold", "conflict-line": "underline", "add": "bold", "add-line": "bold",
    "remove": "", "remove-line": "dim", "gutter": "dim", "cursor-line": "reverse", "select": "reverse",
    "match": "bold reverse", "code-keyword": "bold", "code-type": "bold", "code-number": "",
    "code-string": "", "code-function": "", "code-preproc": "", "code-comment": "dim italic",
}  # fmt: skip

ROLES: Mapping[str, Roles] = {
    DARK: _roles(_DARK),
    LIGHT: _roles(_LIGHT),
    COLOURLESS: {name: Style.parse(text) if text else Style.null() for name, text in _PLAIN.items()},
}


class CodeRoles(HighlightTheme):
    """Pygments tokens to roles: spans hold the role's name, so a change of theme needs no new highlighting."""

    STYLES = {  # noqa: RUF012 (the base class declares it so)
        Token.Comment: "code-comment",
        Token.Comment.Preproc: "code-preproc",
        Token.Comment.PreprocFile: "code-string",
        Token.Keyword: "code-keyword",
        Token.Keyword.Type: "code-type",
        Token.Literal.Number: "code-number",
        Token.Literal.String: "code-string",
        Token.Name.Function: "code-function",
        Token.Name.Builtin: "code-type",
        Token.Name.Constant: "code-number",
    }


def ink(theme_name: str) -> Callable[[str | Style], Style]:
    """How `Content.render` turns a span's role into a style under the theme of that name."""
    roles = ROLES.get(theme_name, ROLES[DARK])

    def style(role: str | Style) -> Style:
        return role if isinstance(role, Style) else roles.get(role, Style.null())

    return style
