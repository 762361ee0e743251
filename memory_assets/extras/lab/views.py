"""Renders measurements and trials: evaluations, sampled facts, calibration, what-if branches and
what they change.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from memory_assets.interfaces.views.lines import Parts, bold, dim, line, table, warning

if TYPE_CHECKING:
    from memory_assets.extras.lab.branches import Branch
    from memory_assets.extras.lab.calibrate import Calibration
    from memory_assets.extras.lab.compare import Kind, RowChange
    from memory_assets.extras.lab.gold import Evaluation, Finding
    from memory_assets.extras.lab.score import Score
    from memory_assets.extras.lab.what_if import (
        Adopted,
        BranchCost,
        Estimate,
        SettingChange,
        Side,
        WhatIf,
    )

NAMES = {
    "recall": "recall, by priority",
    "recall_high": "recall, high priority",
    "recall_owner_rules": "recall, owner's rules",
    "precision": "precision",
    "noise": "noise",
    "f1": "F1",
}
"""Measures as people read them."""

PER_SESSION = (
    "recall",
    "owner's rules",
    "precision",
    "noise",
    "right",
    "wrong",
    "noisy",
    "allowed",
)
CHANGE_MARKS: "dict[Kind, tuple[str, str]]" = {
    "added": ("+", "green"),
    "lost": ("-", "red"),
    "changed": ("~", "yellow"),
}
"""Kind of change → its sign and colour, in the order of the view."""

AROUND = 1
"""Lines of context around a difference."""


def render_evaluation(found: "Evaluation") -> Parts:
    """Renders the measures of each session, those of all sessions with intervals and limits, and
    the listed findings.
    """
    yield _sessions(found.score)
    yield ""
    yield _measures(found)
    yield from _totals(found)
    yield from _shown_findings(found.shown)


def render_calibration(found: "Calibration") -> Parts:
    """Renders people's decisions on each verdict, and the rows that other thresholds would flip."""
    yield from _rulings(found)
    if found.limits:
        yield ""
        yield from _flips(found)


def render_what_if(found: "WhatIf", most: int) -> Parts:
    """Renders a branch compared with the tables it started from, with at most so many changed
    memories.
    """
    yield from _head(found.name, found.days, found.settings)
    numbers = ("before", "after", *CHANGE_MARKS)
    compared = {"observations of these days": found.observations, "memories": found.memories}
    counts = {
        name: (one.before, one.after, *(one.count(kind) for kind in CHANGE_MARKS))
        for name, one in compared.items()
    }
    yield table(
        "",
        *numbers,
        rows=([name, *(f"{n:,}" for n in row)] for name, row in counts.items()),
        numbers=numbers,
    )
    yield from _changes(found.memories.changes, most)
    for side in found.files:
        yield from _side(side)
    yield dim(f"Built in {found.seconds:.0f} s; {_price(found.cost)}.")
    if found.other_days:
        yield warning(
            f"Adopting also rebuilds {found.other_days} other day(s): these settings hold for all."
        )
    yield (
        f"Next: `memory lab what-if adopt {found.name}`, or `memory lab what-if drop {found.name}`."
    )


def render_estimate(found: "Estimate") -> Parts:
    """Renders what a what-if would cost."""
    yield from _head(found.name, found.days, found.settings)
    if not found.cost.calls and not found.answered:
        yield "No model is used: it costs nothing."
        return
    batches = "" if found.usd_in_batches is None else f" (${found.usd_in_batches:.2f} in batches)"
    yield f"Windows: {found.answered:,} calls have stored answers; {_price(found.cost)}{batches}."
    yield dim("Reflection adds one call for each project of a day.")


def render_branches(listed: "Sequence[Branch]") -> Parts:
    """Renders the branches of the store."""
    if not listed:
        yield "There is no branch. `memory lab what-if --set NAME=VALUE` makes one."
        return
    rows = []
    for one in listed:
        settings = ", ".join(f"{name}={value}" for name, value in one.changes.items())
        rows.append((one.name, str(one.first), str(one.last), settings, one.state))
    yield table("name", "from", "to", "settings", "state", rows=rows)


def render_adopted(adopted: "Adopted") -> Parts:
    """Renders the settings that were written."""
    for one in adopted.settings:
        yield Text(f"{one.name} = {one.after}, in {adopted.path}", style="green")
    yield f"Adopted in {adopted.seconds:.0f} s; {_price(adopted.cost)}. The branch was deleted."


def _rulings(found: "Calibration") -> Parts:
    from memory_assets.extras.lab.calibration import ENOUGH, NO, OUTCOMES, YES

    by, rows = [found.by] if found.by else [], []
    for row in found.rows:
        counts = [str(row["count"]), *(str(row[name] or "") for name in OUTCOMES)]
        result = ["", "not shown to anybody" if row["unseen"] == row["count"] else "not decided"]
        if row["precision"] is not None:
            result = [f"{row['precision']:.2f}", f"{row['low']:.2f} to {row['high']:.2f}"]
        rows.append([row["judge"], row["verdict"], *(row[name] for name in by), *counts, *result])
    numbers = ("rows", *OUTCOMES, "precision")
    yield table("", "verdict", *by, *numbers, "90 % interval", rows=rows, numbers=numbers)
    sure = [
        (row["brier"], sum(row[name] for name in (*YES, *NO)))
        for row in found.rows
        if row["brier"] is not None
    ]
    if (decided := sum(count for _, count in sure)) >= ENOUGH:
        error = sum(brier * count for brier, count in sure) / decided
        yield dim(f"Mean squared error of confidence over {decided} decisions: {error:.3f}")


def _flips(found: "Calibration") -> Parts:
    for flip in found.flips:
        yield line(
            f"{flip.id}  ",
            (f"{flip.was} → {flip.becomes}", "bold"),
            (f"  {flip.outcome}, {flip.category}", "dim"),
        )
        yield f"   {flip.text}"
        yield dim(f"   {flip.why_was} → {flip.why_becomes}")
    counts = Counter(
        f"{flip.judge}: {flip.was} → {flip.becomes}, {flip.outcome}" for flip in found.flips
    )
    for what, count in sorted(counts.items()):
        yield f"{count:,} {what}"
    yield dim(
        f"{len(found.flips):,} rows flip with {', '.join(found.limits)}; nothing was written."
    )


def _sessions(scored: "Score") -> Table:
    rows = []
    for one in scored.sessions:
        counts = one.counts
        shares = [f"{counts.precision:.2f}", f"{counts.noise:.2f}"]
        numbers = (
            counts.right,
            counts.judged - counts.right - counts.noisy,
            counts.noisy,
            counts.allowed,
        )
        rules = f"{counts.rules_got} of {counts.rules_want}"
        rows.append([one.session, f"{counts.recall:.2f}", rules, *shares, *map(str, numbers)])
    return table("session", *PER_SESSION, rows=rows, numbers=PER_SESSION)


def _measures(found: "Evaluation") -> Table:
    from memory_assets.extras.lab.gold import CEILINGS, FLOORS, MEASURES

    limits = {name: f"at most {most:.2f}" for name, most in CEILINGS.items()}
    limits |= {name: f"at least {least:.2f}" for name, least in FLOORS.items()}
    rows = []
    for name in MEASURES:
        low, high = found.score.intervals.get(name, (None, None))
        interval = "" if low is None else f"{low:.2f} to {high:.2f}"
        value = Text(
            f"{getattr(found.score.counts, name):.3f}",
            style="bold red" if name in found.failed else "",
        )
        other = [f"{getattr(found.against.counts, name):.3f}"] if found.against else []
        rows.append([NAMES[name], value, interval, limits.get(name, ""), *other])
    columns = ("", "value", "90 % interval", "wanted", *(("against",) if found.against else ()))
    return table(*columns, rows=rows, numbers=("value", "against"))


def _totals(found: "Evaluation") -> Parts:
    scored = found.score
    observers = ", ".join(found.observers) or "no observer"
    per_session = f"{scored.allowed_per_session:.1f} a session, {scored.most_in_a_session} at most"
    yield dim(
        f"{len(scored.sessions)} sessions, by {observers}: {scored.counts.allowed:,} "
        f"allowed facts, {per_session}."
    )
    if scored.at_zero:
        yield warning(f"No label was found in {', '.join(scored.at_zero)}.")


def _shown_findings(findings: Sequence["Finding"]) -> Parts:
    for session, group in groupby(findings, key=lambda finding: finding.session):
        yield ""
        yield bold(session)
        for finding in group:
            yield bold(f"{finding.what}  ", finding.text)
            yield dim(f"   records {', '.join(map(str, finding.lines))}; {finding.why}")


def _head(name: str, days: Sequence[object], settings: "Sequence[SettingChange]") -> Parts:
    yield bold(f"{name}: {', '.join(f'{one.name} {one.before} → {one.after}' for one in settings)}")
    yield dim(f"{len(days)} days with transcripts, {days[0]} to {days[-1]}")


def _changes(changes: "Sequence[RowChange]", most: int) -> Parts:
    """Yields at most so many changes, by kind: the sign and the text, and below it since when, what
    and why.
    """
    left = most
    for kind, (mark, style) in CHANGE_MARKS.items():
        if found := [change for change in changes if change.kind == kind]:
            yield ""
            yield bold(f"Memories {kind}: {len(found):,}")
            yield _marked(found[:left], mark, style)
            left = max(left - len(found), 0)
    if len(changes) > most:
        yield dim(f"… and {len(changes) - most:,} more; --limit shows them, --json all.")
    if changes:
        yield ""


def _marked(changes: "Sequence[RowChange]", mark: str, style: str) -> Table:
    made = table("", "", rows=())
    made.show_header = False
    for change in changes:
        made.add_row(Text(mark, style=style), Text(change.text, style=style))
        made.add_row("", dim(f"{change.day}, {change.category}; {change.why}"))
        if change.was_text and change.was_text != change.text:
            made.add_row("", dim(f"was: {change.was_text}"))
    return made


def _side(side: "Side") -> Parts:
    if side.before == side.after:
        yield f"{side.path} does not change."
        return
    styles = ("red", "green")
    rows = (
        [
            Text(one, style=style if before != after else "")
            for one, style in zip((before, after), styles, strict=True)
        ]
        for before, after in _side_by_side(side.before.splitlines(), side.after.splitlines())
    )
    yield table(f"{side.path} before", "after", rows=rows)


def _side_by_side(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yields pairs of lines that differ, with the lines around them."""
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for number, group in enumerate(matcher.get_grouped_opcodes(AROUND)):
        if number:
            yield "…", "…"
        for _, a, b, c, d in group:
            yield from zip_longest(before[a:b], after[c:d], fillvalue="")


def _price(cost: "BranchCost") -> str:
    if not cost.calls:
        return "no model was used, it cost nothing"
    usd = "of unknown price" if cost.usd is None else f"${cost.usd:.2f}"
    return (
        f"{cost.calls:,} calls, {cost.input_tokens:,} tokens in, {cost.output_tokens:,} out, {usd}"
    )


def after_evaluation(found: "Evaluation") -> str:
    """Returns how to see what was missed, or nothing where findings are listed already."""
    return (
        ""
        if found.shown
        else "`memory lab eval --show misses` lists the labels that no fact covers."
    )


def after_branches(listed: "Sequence[Branch]") -> str:
    """Returns how to see what the last branch changes."""
    return (
        f"`memory lab what-if show {listed[-1].name}` compares it with the tables it started from."
        if listed
        else ""
    )
