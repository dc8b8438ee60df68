"""The words of a finished question: how it ended, what the report pulled towards, the rival, and the lesson."""

from collections.abc import Sequence

from sparktrace_tui.domain.quiz.game import Game, Outcome, Stage
from sparktrace_tui.domain.quiz.grading import read
from sparktrace_tui.domain.report.report import Rule
from sparktrace_tui.runs.match import Match, Seat, rules_shown
from sparktrace_tui.ui.sitting import RIGHT, letters
from sparktrace_tui.ui.text import harmless
from sparktrace_tui.ui.widgets.marked import Marked, cut

Words = tuple[tuple[str, str], ...]
Below = tuple[tuple[str, str] | Marked, ...]
READING_LIMIT = 4_000

_SAID = {
    Outcome.HELD_RIGHT: "Held right",
    Outcome.SWITCHED_TO_RIGHT: "Switched to right",
    Outcome.HELD_WRONG: "Held wrong",
    Outcome.SWITCHED_FROM_RIGHT: "Switched from right",
    Outcome.SWITCHED_WRONG: "Switched wrong to wrong",
    Outcome.NO_LETTER: "No letter",
}


def final_words(match: Match, readme: str, rival_problem: str, unfolded: bool) -> tuple[Words, Below]:
    """The (text, role) lines above and below the candidates once the person's game is over."""
    mine = match.seats[0].game
    if mine.stage is Stage.ABANDONED:
        return (("Left: nothing is scored.", "dim"),), ()
    winner = match.question.letter_of(match.deal.winner)
    outcome = mine.outcome
    sign, role = ("✓", "right") if outcome in RIGHT else ("✗", "wrong")
    above = ((f"{sign} {_SAID[outcome] if outcome else ''}: {winner} is the fastest. {regret(mine)}".strip(), role),)
    below: list[tuple[str, str] | Marked] = [("", "")]
    below += [(line, "ncu") for line in pull(match)]
    if len(match.seats) > 1:
        below += rival_words(match, match.seats[1], rival_problem, unfolded)
    below += lesson(readme)
    return above, tuple(below)


def regret(game: Game) -> str:
    """How much slower the picks were than the best: `Your picks took 1.58x and 1.00x the best time.`"""
    known = [f"{r:.2f}x" for step in range(len(game.picks)) if (r := game.regret(step)) is not None]
    return f"Your picks took {' and '.join(known)} the best time." if known else "Not every time is known."


def leading(rules: Sequence[Rule], match: Match) -> tuple[Rule, list[str]] | None:
    """The rule with the largest estimated speedup that some rewrite answers, and the letters of those that do."""
    estimated = [rule for rule in rules if rule.speedup is not None]
    for rule in sorted(estimated, key=lambda r: (-(r.speedup or 0.0), r.id)):
        found = [
            letter for letter, name in match.question.options.items() if rule.id in match.family.variant(name).addresses
        ]
        if found:
            return rule, found
    return None


def pull(match: Match) -> list[str]:
    """Where the report's leading rule points: the report that this question showed, then the whole one."""
    report = match.capture_set.captures[match.question.family].report
    if report is None:
        return ["This set has no report of the original, so nothing pulled."]
    whole = _towards(leading(report.rules, match))
    match match.question.evidence:
        case "full":
            return [f"The report pulled {whole}."]
        case "ablated":
            shown = _towards(leading(rules_shown(match.question, match.capture_set), match))
            return [f"Without its conflict lines the report pulled {shown}.", f"With them it pulls {whole}."]
        case _:
            return [f"The report, which you did not see, pulls {whole}."]


def _towards(found: tuple[Rule, list[str]] | None) -> str:
    if found is None:
        return "nowhere: no rule with an estimated speedup is answered by a rewrite"
    rule, letters_ = found
    kind = f"{rule.speedup_kind} " if rule.speedup_kind else ""
    said = f"{harmless(rule.title or rule.id)}, estimated {kind}speedup {rule.speedup:.3g}%"
    return f"towards {' and '.join(letters_)} ({said})"


def rival_words(match: Match, seat: Seat, problem: str, unfolded: bool) -> list[tuple[str, str] | Marked]:
    """How the rival did, once it is known; with its text where it is unfolded."""
    name = harmless(seat.name)
    if problem:
        return [(f"{name} could not answer: {harmless(problem)}", "wrong")]
    if not match.rival_visible:
        return [(f"{name} has not answered yet; enter goes on without it.", "dim")]
    game = seat.game
    if game.failure is not None:
        how = {
            "truncated": "was cut off before a letter",
            "refused": "refused",
            "no_turn": "sent nothing back",
            "cut_prompt": "was shown only a part of the question by its server",
        }
        said: list[tuple[str, str] | Marked] = [
            (f"{name} {how.get(game.failure, 'gave no readable letter')}.", "wrong")
        ]
    else:
        outcome = _SAID[game.outcome].lower() if game.outcome else game.stage.value
        role = "right" if game.outcome in RIGHT else "text"
        said = [(f"{name} picked {letters(game)}: {outcome}.", role)]
    texts = [reply for reply in seat.replies if reply.text or reply.reasoning]
    if texts and not unfolded:
        said.append(("i unfolds what it wrote.", "dim"))
    elif unfolded:
        for step, reply in enumerate(texts, 1):
            found = read(reply.text)
            verdict = f"read as {found.letter} by the rule '{found.rule}'" if found.letter else "no letter read"
            said.append((f"Its reply {step}, {verdict}:", "title"))
            for text, span in ((reply.reasoning, None), (reply.text, found.span)):
                if text:
                    kept, mark, left_out = cut(text, READING_LIMIT, span)
                    said.append(Marked(kept, mark))
                    if left_out:
                        said.append((f"… {left_out:,} more characters", "dim"))
    return said


def lesson(readme: str) -> list[tuple[str, str]]:
    """The family's README as paragraphs: headings stand out, a table becomes a sentence a row."""
    if not readme.strip():
        return []
    found: list[tuple[str, str]] = [("", "")]
    paragraph: list[str] = []
    header: list[str] = []
    for line in [*readme.replace("`", "").splitlines(), ""]:
        text = line.strip()
        whole = text.startswith(("#", "-", "|")) or not text
        if whole and paragraph:
            found.append((" ".join(paragraph), "text"))
            paragraph = []
        if not text.startswith("|"):
            header = []
        if text.startswith("#"):
            found.append((text.lstrip("# "), "title"))
        elif text.startswith("|"):
            cells = [cell.strip() for cell in text.strip("|").split("|")]
            if not header:
                header = cells
            elif not set(text) <= set("|-: "):
                pairs = [f"{name} {cell}" for name, cell in zip(header[1:], cells[1:], strict=False) if cell]
                found.append((f"{cells[0]}: {'; '.join(pairs)}.", "text"))
        elif whole and text:
            found.append((text, "text"))
        elif text:
            paragraph.append(text)
    return found
