"""Renders evaluations, sampled facts and calibration."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from memory_assets.interfaces.views.lines import Parts, bold, dim, line, table, warning

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
"""Measures as people read them."""

MARKS = {"high": "🔴", "medium": "🟡", "low": "🟢"}
PER_SESSION = ("recall", "owner's rules", "precision", "noise", "right", "wrong", "noisy", "allowed")


def render_evaluation(found: "Evaluation") -> Parts:
    """Renders the measures of each session, those of all sessions with intervals and limits, and the listed findings."""
    yield _sessions(found.score)
    yield ""
    yield _measures(found)
    yield from _totals(found)
    yield from _findings(found.shown)


def render_facts(drawn: "Rows") -> Parts:
    """Renders facts, each with its id, category and source."""
    for number, row in enumerate(drawn.rows, start=1):
        yield bold(f"{number}. ", row["text"])
        yield dim(f"   {row['id']}  {MARKS[row['priority']]} {row['priority']}, {row['category']}")
        yield dim(f"   said by the {row['author']} on {row['day']}, in {row['project']}")
    yield dim(f"{len(drawn.rows):,} of {drawn.total:,} allowed facts")


def render_calibration(found: "Calibration") -> Parts:
    """Renders people's decisions on each verdict, and the rows that other thresholds would flip."""
    yield from _rulings(found)
    if found.limits:
        yield ""
        yield from _flips(found)


def _rulings(found: "Calibration") -> Parts:
    from memory_assets.stages.evaluate.calibration import ENOUGH, NO, OUTCOMES, YES

    by, rows = [found.by] if found.by else [], []
    for row in found.rows:
        counts = [str(row["count"]), *(str(row[name] or "") for name in OUTCOMES)]
        result = ["", "not shown to anybody" if row["unseen"] == row["count"] else "not decided"]
        if row["precision"] is not None:
            result = [f"{row['precision']:.2f}", f"{row['low']:.2f} to {row['high']:.2f}"]
        rows.append([row["judge"], row["verdict"], *(row[name] for name in by), *counts, *result])
    numbers = ("rows", *OUTCOMES, "precision")
    yield table("", "verdict", *by, *numbers, "90 % interval", rows=rows, numbers=numbers)
    sure = [(row["brier"], sum(row[name] for name in (*YES, *NO))) for row in found.rows if row["brier"] is not None]
    if (decided := sum(count for _, count in sure)) >= ENOUGH:
        error = sum(brier * count for brier, count in sure) / decided
        yield dim(f"Mean squared error of confidence over {decided} decisions: {error:.3f}")


def _flips(found: "Calibration") -> Parts:
    for flip in found.flips:
        yield line(f"{flip.id}  ", (f"{flip.was} → {flip.becomes}", "bold"), (f"  {flip.outcome}, {flip.category}", "dim"))
        yield f"   {flip.text}"
        yield dim(f"   {flip.why_was} → {flip.why_becomes}")
    counts = Counter(f"{flip.judge}: {flip.was} → {flip.becomes}, {flip.outcome}" for flip in found.flips)
    for what, count in sorted(counts.items()):
        yield f"{count:,} {what}"
    yield dim(f"{len(found.flips):,} rows flip with {', '.join(found.limits)}; nothing was written.")


def _sessions(scored: "Score") -> Table:
    rows = []
    for one in scored.sessions:
        counts = one.counts
        shares = [f"{counts.precision:.2f}", f"{counts.noise:.2f}"]
        numbers = (counts.right, counts.judged - counts.right - counts.noisy, counts.noisy, counts.allowed)
        rules = f"{counts.rules_got} of {counts.rules_want}"
        rows.append([one.session, f"{counts.recall:.2f}", rules, *shares, *map(str, numbers)])
    return table("session", *PER_SESSION, rows=rows, numbers=PER_SESSION)


def _measures(found: "Evaluation") -> Table:
    from memory_assets.stages.evaluate.gold import CEILINGS, FLOORS, MEASURES

    limits = {name: f"at most {most:.2f}" for name, most in CEILINGS.items()}
    limits |= {name: f"at least {least:.2f}" for name, least in FLOORS.items()}
    rows = []
    for name in MEASURES:
        low, high = found.score.intervals.get(name, (None, None))
        interval = "" if low is None else f"{low:.2f} to {high:.2f}"
        value = Text(f"{getattr(found.score.counts, name):.3f}", style="bold red" if name in found.failed else "")
        other = [f"{getattr(found.against.counts, name):.3f}"] if found.against else []
        rows.append([NAMES[name], value, interval, limits.get(name, ""), *other])
    columns = ("", "value", "90 % interval", "wanted", *(("against",) if found.against else ()))
    return table(*columns, rows=rows, numbers=("value", "against"))


def _totals(found: "Evaluation") -> Parts:
    scored = found.score
    observers = ", ".join(found.observers) or "no observer"
    per_session = f"{scored.allowed_per_session:.1f} a session, {scored.most_in_a_session} at most"
    yield dim(f"{len(scored.sessions)} sessions, by {observers}: {scored.counts.allowed:,} allowed facts, {per_session}.")
    if scored.at_zero:
        yield warning(f"No label was found in {', '.join(scored.at_zero)}.")


def _findings(findings: Sequence["Finding"]) -> Parts:
    for session, group in groupby(findings, key=lambda finding: finding.session):
        yield ""
        yield bold(session)
        for finding in group:
            yield bold(f"{finding.what}  ", finding.text)
            yield dim(f"   records {', '.join(map(str, finding.lines))}; {finding.why}")
