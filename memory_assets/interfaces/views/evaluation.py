"""Draws evaluations and drawn observations for people, on the console that it is given."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from memory_assets.interfaces.views.terminal import table

if TYPE_CHECKING:
    from memory_assets.services.calibration import Calibration
    from memory_assets.services.table_rows import Rows
    from memory_assets.stages.evaluate.gold import Evaluation, Finding
    from memory_assets.stages.evaluate.score import Score

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


def draw_calibration(found: "Calibration") -> Callable[[Console], None]:
    """Draws what people made of each verdict, and the rows that other limits would flip."""

    def draw(console: Console) -> None:
        _draw_rulings(console, found)
        if found.limits:
            console.print()
            _draw_flips(console, found)

    return draw


def _draw_rulings(console: Console, found: "Calibration") -> None:
    from memory_assets.stages.evaluate.calibration import ENOUGH, NO, OUTCOMES, YES

    by = [found.by] if found.by else []
    made = table("", "verdict", *by, "rows", *OUTCOMES, "precision", "90 % interval", numbers=("rows", *OUTCOMES, "precision"))
    for row in found.rows:
        counts = [str(row[name] or "") for name in OUTCOMES]
        told = [row["judge"], row["verdict"], *(row[name] for name in by), str(row["count"]), *counts]
        is_decided = row["precision"] is not None
        nothing = "nobody was asked" if row["unseen"] == row["count"] else "nobody decided"
        interval = f"{row['low']:.2f} to {row['high']:.2f}" if is_decided else nothing
        made.add_row(*told, f"{row['precision']:.2f}" if is_decided else "", interval)
    console.print(made)
    sure = [(row["brier"], sum(row[name] for name in (*YES, *NO))) for row in found.rows if row["brier"] is not None]
    if (decided := sum(count for _, count in sure)) >= ENOUGH:
        error = sum(brier * count for brier, count in sure) / decided
        console.print(Text(f"Mean squared error of confidence over {decided} decisions: {error:.3f}", style="dim"))


def _draw_flips(console: Console, found: "Calibration") -> None:
    for flip in found.flips:
        ruled = Text(f"{flip.was} → {flip.becomes}", style="bold")
        console.print(Text(f"{flip.id}  ") + ruled + Text(f"  {flip.outcome}, {flip.category}", style="dim"))
        console.print(Text(f"   {flip.text}"))
        console.print(Text(f"   {flip.why_was} → {flip.why_becomes}", style="dim"))
    counts = Counter(f"{flip.judge}: {flip.was} → {flip.becomes}, {flip.outcome}" for flip in found.flips)
    for what, count in sorted(counts.items()):
        console.print(f"{count:,} {what}")
    console.print(Text(f"{len(found.flips):,} rows flip with {', '.join(found.limits)}; nothing was written.", style="dim"))


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
    from memory_assets.stages.evaluate.gold import CEILINGS, FLOORS, MEASURES

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
