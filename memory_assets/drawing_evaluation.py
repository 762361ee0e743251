"""Draws evaluations and drawn observations for people, on the console that it is given."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from memory_assets.terminal import table

if TYPE_CHECKING:
    from memory_assets.evaluate.gold import Evaluation, Finding
    from memory_assets.evaluate.score import Score
    from memory_assets.rows import Rows

NAMES = {
    "recall": "recall, by priority",
    "recall_high": "recall, high priority",
    "recall_owner_rules": "recall, owner's rules",
    "precision": "precision",
    "noise": "noise",
    "f1": "F1",
}
"""How measures are called for people."""

MARKS = {"high": "🔴", "medium": "🟡", "low": "🟢"}
PER_SESSION = ("recall", "owner's rules", "precision", "noise", "right", "wrong", "noisy", "allowed")


def draw_evaluation(found: "Evaluation") -> Callable[[Console], None]:
    """Draws the figures of each session, those of all with their intervals, and what fell short."""

    def draw(console: Console) -> None:
        _draw_sessions(console, found.score)
        console.print()
        _draw_measures(console, found)
        _draw_totals(console, found)
        _draw_findings(console, found.shown)

    return draw


def draw_facts(drawn: "Rows") -> Callable[[Console], None]:
    """Draws facts one below the other, each with what is known of it."""

    def draw(console: Console) -> None:
        for number, row in enumerate(drawn.rows, start=1):
            console.print(Text(f"{number}. ", style="bold") + Text(row["text"]))
            console.print(Text(f"   {row['id']}  {MARKS[row['priority']]} {row['priority']}, {row['category']}", style="dim"))
            console.print(Text(f"   said by the {row['author']} on {row['day']}, in {row['project']}", style="dim"))
        console.print(Text(f"{len(drawn.rows):,} of {drawn.total:,} allowed facts", style="dim"))

    return draw


def _draw_sessions(console: Console, scored: "Score") -> None:
    made = table("session", *PER_SESSION, numbers=PER_SESSION)
    for one in scored.sessions:
        counts = one.counts
        made.add_row(
            one.session,
            f"{counts.recall:.2f}",
            f"{counts.rules_got} of {counts.rules_want}",
            f"{counts.precision:.2f}",
            f"{counts.noise:.2f}",
            *(
                str(count)
                for count in (counts.right, counts.judged - counts.right - counts.noisy, counts.noisy, counts.allowed)
            ),
        )
    console.print(made)


def _draw_measures(console: Console, found: "Evaluation") -> None:
    from memory_assets.evaluate.gold import CEILINGS, FLOORS, MEASURES

    columns = ("", "value", "90 % interval", "wanted", *(("against",) if found.against else ()))
    made = table(*columns, numbers=("value", "against"))
    for name in MEASURES:
        wanted = (
            f"at least {FLOORS[name]:.2f}" if name in FLOORS else f"at most {CEILINGS[name]:.2f}" if name in CEILINGS else ""
        )
        low, high = found.score.intervals.get(name, (None, None))
        interval = "" if low is None else f"{low:.2f} to {high:.2f}"
        value = Text(f"{getattr(found.score.counts, name):.3f}", style="bold red" if name in found.failed else "")
        other = [f"{getattr(found.against.counts, name):.3f}"] if found.against else []
        made.add_row(NAMES[name], value, interval, wanted, *other)
    console.print(made)


def _draw_totals(console: Console, found: "Evaluation") -> None:
    scored = found.score
    observers = ", ".join(found.observers) or "nobody"
    a_session = f"{scored.allowed_per_session:.1f} a session, {scored.most_in_a_session} at most"
    told = f"{len(scored.sessions)} sessions, by {observers}: {scored.counts.allowed:,} allowed facts, {a_session}."
    console.print(Text(told, style="dim"))
    if scored.at_zero:
        console.print(Text(f"Nothing wanted was found in {', '.join(scored.at_zero)}.", style="yellow"))


def _draw_findings(console: Console, findings: Sequence["Finding"]) -> None:
    session = None
    for finding in findings:
        if finding.session != session:
            session = finding.session
            console.print()
            console.print(Text(session, style="bold"))
        console.print(Text(f"{finding.what}  ", style="bold") + Text(finding.text))
        console.print(Text(f"   records {', '.join(map(str, finding.lines))}; {finding.why}", style="dim"))
