"""Renders the answers of `memory lab`: evaluations, calibration, what-if branches."""

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
    from memory_assets.extras.lab.compare import Comparison, Kind, RowChange
    from memory_assets.extras.lab.gold import Evaluation, Finding
    from memory_assets.extras.lab.score import Score
    from memory_assets.extras.lab.what_if import Adopted, BranchCost, Estimate, Side, WhatIf
    from memory_assets.schema.protocols import Row

NAMES = {
    "recall": "recall, by priority",
    "recall_high": "recall, high priority",
    "recall_owner_rules": "recall, owner's rules",
    "precision": "precision",
    "noise": "noise",
    "f1": "F1",
}
"""Name of a measure → its label in the table."""

PER_SESSION = (
    "recall", "owner's rules", "precision", "noise", "right", "wrong", "noisy", "allowed",
)  # fmt: skip
CHANGE_MARKS: "dict[Kind, tuple[str, str]]" = {
    "added": ("+", "green"),
    "lost": ("-", "red"),
    "changed": ("~", "yellow"),
}
"""Kind of change → its sign and colour, in the order of the view."""

AROUND = 1
"""Unchanged lines that are shown before and after a difference."""


def render_evaluation(evaluation: "Evaluation") -> Parts:
    """Renders the figures of each session, then those of all sessions with intervals and limits,
    then the findings that `--show` lists.
    """
    yield _sessions(evaluation.score)
    yield ""
    yield _measures(evaluation)
    yield from _totals(evaluation)
    yield from _shown_findings(evaluation.shown)


def render_calibration(calibration: "Calibration") -> Parts:
    """Renders people's decisions on each verdict, then the rows that other limits would flip."""
    yield from _rulings(calibration)
    if calibration.limits:
        yield ""
        yield from _flips(calibration)


def render_what_if(branch: "WhatIf", most: int) -> Parts:
    """Renders a branch compared with the tables it started from; lists `most` changed memories."""
    yield from _head(branch)
    numbers = ("before", "after", *CHANGE_MARKS)
    observations = _counts("observations of these days", branch.observations)
    rows = [observations, _counts("memories of these days", branch.memories)]
    yield table("", *numbers, rows=rows, numbers=numbers)
    yield from _changes(branch.memories.changes, most)
    for side in branch.files:
        yield from _side(side)
    yield dim(f"Built in {branch.seconds:.0f} s; {_price(branch.cost)}.")
    if branch.other_days:
        days = f"{branch.other_days} other day(s)"
        yield warning(f"Adopting also rebuilds {days}: these settings hold for all.")
    command = "memory lab what-if"
    yield f"Next: `{command} adopt {branch.name}`, or `{command} drop {branch.name}`."


def _counts(name: str, comparison: "Comparison") -> list[str]:
    counts = (comparison.before, comparison.after, *map(comparison.count, CHANGE_MARKS))
    return [name, *(f"{count:,}" for count in counts)]


def render_estimate(estimate: "Estimate") -> Parts:
    """Renders what building a branch would cost."""
    yield from _head(estimate)
    if not estimate.cost.calls and not estimate.answered:
        yield "No model is used: it costs nothing."
        return
    usd = estimate.usd_in_batches
    batches = "" if usd is None else f" (${usd:.2f} in batches)"
    answered = f"{estimate.answered:,} calls have stored answers"
    yield f"Windows: {answered}; {_price(estimate.cost)}{batches}."
    yield dim("Reflection adds one call for each project of a day.")


def render_branches(branches: "Sequence[Branch]") -> Parts:
    """Renders the branches of the store."""
    if not branches:
        yield "There is no branch. `memory lab what-if --set NAME=VALUE` makes one."
        return
    rows = []
    for branch in branches:
        settings = ", ".join(f"{name}={value}" for name, value in branch.changes.items())
        rows.append((branch.name, str(branch.first), str(branch.last), settings, branch.state))
    yield table("name", "from", "to", "settings", "state", rows=rows)


def render_adopted(adopted: "Adopted") -> Parts:
    """Renders the settings that were written into `memory.toml`."""
    for setting in adopted.settings:
        yield Text(f"{setting.name} = {setting.after}, in {adopted.path}", style="green")
    yield f"Adopted in {adopted.seconds:.0f} s; {_price(adopted.cost)}. The branch was deleted."


def _rulings(calibration: "Calibration") -> Parts:
    from memory_assets.extras.lab.calibration import ENOUGH, NO, OUTCOMES, YES

    by = [calibration.by] if calibration.by else []
    names = ("judge", "verdict", *by)
    rows = []
    decision_count = 0
    error = 0.0
    for row in calibration.rows:
        counts = [str(row["count"]), *(str(row[name] or "") for name in OUTCOMES)]
        rows.append([*(row[name] for name in names), *counts, *_precision(row)])
        if row["brier"] is not None:
            count = sum(row[name] for name in (*YES, *NO))
            decision_count += count
            error += row["brier"] * count
    numbers = ("rows", *OUTCOMES, "precision")
    yield table("", "verdict", *by, *numbers, "90 % interval", rows=rows, numbers=numbers)
    if decision_count >= ENOUGH:
        mean = error / decision_count
        yield dim(f"Mean squared error of confidence over {decision_count} decisions: {mean:.3f}")


def _precision(row: "Row") -> tuple[str, str]:
    """Returns the precision and its interval; without a decision, nothing and the reason."""
    if row["precision"] is not None:
        return f"{row['precision']:.2f}", f"{row['low']:.2f} to {row['high']:.2f}"
    is_unseen = row["unseen"] == row["count"]
    return "", "not shown to anybody" if is_unseen else "not decided"


def _flips(calibration: "Calibration") -> Parts:
    counts = Counter[str]()
    for flip in calibration.flips:
        change = f"{flip.was} → {flip.becomes}"
        counts[f"{flip.judge}: {change}, {flip.outcome}"] += 1
        about = f"  {flip.outcome}, {flip.category}"
        yield line(f"{flip.id}  ", (change, "bold"), (about, "dim"))
        yield f"   {flip.text}"
        yield dim(f"   {flip.why_was} → {flip.why_becomes}")
    for kind, count in sorted(counts.items()):
        yield f"{count:,} {kind}"
    rows = f"{len(calibration.flips):,} rows flip"
    yield dim(f"{rows} with {', '.join(calibration.limits)}; nothing was written.")


def _sessions(scored: "Score") -> Table:
    rows = []
    for paired in scored.sessions:
        counts = paired.counts
        rules = f"{counts.rules_got} of {counts.rules_want}"
        shares = [f"{counts.precision:.2f}", f"{counts.noise:.2f}"]
        wrong = counts.judged - counts.right - counts.noisy
        numbers = map(str, (counts.right, wrong, counts.noisy, counts.allowed))
        rows.append([paired.session, f"{counts.recall:.2f}", rules, *shares, *numbers])
    return table("session", *PER_SESSION, rows=rows, numbers=PER_SESSION)


def _measures(evaluation: "Evaluation") -> Table:
    from memory_assets.extras.lab.gold import CEILINGS, FLOORS, MEASURES

    limits = {name: f"at most {most:.2f}" for name, most in CEILINGS.items()}
    limits |= {name: f"at least {least:.2f}" for name, least in FLOORS.items()}
    rows = []
    for name in MEASURES:
        low, high = evaluation.score.intervals.get(name, (None, None))
        interval = "" if low is None else f"{low:.2f} to {high:.2f}"
        style = "bold red" if name in evaluation.failed else ""
        value = Text(f"{getattr(evaluation.score.counts, name):.3f}", style=style)
        rows.append([NAMES[name], value, interval, limits.get(name, "")])
        if evaluation.against:
            rows[-1].append(f"{getattr(evaluation.against.counts, name):.3f}")
    columns = ["", "value", "90 % interval", "wanted"]
    if evaluation.against:
        columns.append("against")
    return table(*columns, rows=rows, numbers=("value", "against"))


def _totals(evaluation: "Evaluation") -> Parts:
    scored = evaluation.score
    observers = ", ".join(evaluation.observers) or "no observer"
    facts = f"{scored.counts.allowed:,} allowed facts, {scored.allowed_per_session:.1f} a session"
    sessions = f"{len(scored.sessions)} sessions, by {observers}"
    yield dim(f"{sessions}: {facts}, {scored.most_in_a_session} at most.")
    if scored.at_zero:
        yield warning(f"No label was found in {', '.join(scored.at_zero)}.")


def _shown_findings(findings: Sequence["Finding"]) -> Parts:
    for session, group in groupby(findings, key=lambda finding: finding.session):
        yield ""
        yield bold(session)
        for finding in group:
            yield bold(f"{finding.what}  ", finding.text)
            yield dim(f"   records {', '.join(map(str, finding.lines))}; {finding.why}")


def _head(branch: "Estimate | WhatIf") -> Parts:
    changes = (f"{change.name} {change.before} → {change.after}" for change in branch.settings)
    yield bold(f"{branch.name}: {', '.join(changes)}")
    days = branch.days
    yield dim(f"{len(days)} days with transcripts, {days[0]} to {days[-1]}")


def _changes(changes: "Sequence[RowChange]", most: int) -> Parts:
    """Yields a heading and a table for each kind of change, with `most` changes in all."""
    remaining = most
    for kind, (mark, style) in CHANGE_MARKS.items():
        matches = [change for change in changes if change.kind == kind]
        if matches:
            yield ""
            yield bold(f"Memories {kind}: {len(matches):,}")
            yield _marked(matches[:remaining], mark, style)
            remaining = max(remaining - len(matches), 0)
    if len(changes) > most:
        yield dim(f"… and {len(changes) - most:,} more; --limit shows them, --json all.")
    if changes:
        yield ""


def _marked(changes: "Sequence[RowChange]", mark: str, style: str) -> Table:
    """Returns a table of the changes, each with its mark, its text, its reason and its old text."""
    rows = []
    for change in changes:
        rows.append((Text(mark, style=style), Text(change.text, style=style)))
        rows.append(("", dim(f"{change.day}, {change.category}; {change.why}")))
        if change.was_text and change.was_text != change.text:
            rows.append(("", dim(f"was: {change.was_text}")))
    marked = table("", "", rows=rows)
    marked.show_header = False
    return marked


def _side(side: "Side") -> Parts:
    if side.before == side.after:
        yield f"{side.path} does not change."
        return
    rows = []
    for old, new in _side_by_side(side.before.splitlines(), side.after.splitlines()):
        old_style = "red" if old != new else ""
        new_style = "green" if old != new else ""
        rows.append((Text(old, style=old_style), Text(new, style=new_style)))
    yield table(f"{side.path} before", "after", rows=rows)


def _side_by_side(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yields the pairs of lines that differ, with the lines around them and "…" between groups."""
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for number, group in enumerate(matcher.get_grouped_opcodes(AROUND)):
        if number:
            yield "…", "…"
        for _, old_from, old_to, new_from, new_to in group:
            yield from zip_longest(old[old_from:old_to], new[new_from:new_to], fillvalue="")


def _price(cost: "BranchCost") -> str:
    if not cost.calls:
        return "no model was used, it cost nothing"
    usd = "of unknown price" if cost.usd is None else f"${cost.usd:.2f}"
    tokens = f"{cost.input_tokens:,} tokens in, {cost.output_tokens:,} out"
    return f"{cost.calls:,} calls, {tokens}, {usd}"


def after_evaluation(evaluation: "Evaluation") -> str:
    """Returns the command that lists missed labels; empty where findings are listed already."""
    if evaluation.shown:
        return ""
    return "`memory lab eval --show misses` lists the labels that no fact covers."


def after_branches(branches: "Sequence[Branch]") -> str:
    """Returns the command that shows what the last branch changes."""
    if not branches:
        return ""
    command = f"memory lab what-if show {branches[-1].name}"
    return f"`{command}` compares it with the tables it started from."
