"""Draws the facade's results for people, on the console that it is given."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from memory_assets.interfaces.views.terminal import pairs, table
from memory_assets.services.health.sums import Counts

if TYPE_CHECKING:
    from memory_assets.memory import Pending, Reviewed
    from memory_assets.runs.build import Built
    from memory_assets.services.health.doctor import Health
    from memory_assets.services.health.status import Status
    from memory_assets.services.model_questions import Cost, Costs
    from memory_assets.services.table_rows import Rows
    from memory_assets.stages.triage.explain import Explanation, Step

Draw = Callable[[Console], None]

NUMBERS = ("claude_code", "codex", "pi", "all")


def draw_text(text: str) -> Draw:
    """Draws plain text as it is."""
    return lambda console: console.print(Text(text))


def draw_built(built: "Built") -> Draw:
    """Draws what was learnt and where it lies."""

    def draw(console: Console) -> None:
        if built.is_unchanged:
            console.print(Text(f"Nothing new: everything was taken in already ({built.seconds:.1f} s)."))
        else:
            console.print(Text(f"{built.reason}."))
            new = ", ".join(f"{count:+,} {name}" for name, count in built.learnt.items()) or "no new rows"
            console.print(Text(f"Done in {built.seconds:.1f} s: {new}.", style="green"))
        draw_status(built.status)(console)

    return draw


def draw_status(status: "Status") -> Draw:
    """Draws how the store stands and where its files lie."""
    from memory_assets.services.health.status import render_status

    text = f"{render_status(status)}\n⚠ {status.alarm}" if status.alarm else render_status(status)
    return lambda console: console.print(Text(text, no_wrap=True, overflow="ignore"), crop=False)


def draw_status_line(status: "Status") -> Draw:
    """Draws one line for a status bar."""
    waiting = f" · {status.pending} to review" if status.pending else ""
    return draw_text("memory: empty" if status.is_empty else f"memory: {status.rows['memories']} memories{waiting}")


def draw_pending(pending: Sequence["Pending"]) -> Draw:
    """Draws the proposals that wait, and how to decide them."""

    def draw(console: Console) -> None:
        if not pending:
            console.print(Text("Nothing waits for a decision."))
            return
        for one in pending:
            console.print(Text(one.proposal_id, style="bold") + Text(f" → {one.section}"))
            console.print(Text(f"   {one.text or 'Let it go:'}"))
            if one.entry:
                console.print(Text(f"   {'instead of ' if one.text else ''}{one.entry}"))
            until = f", until {one.expires_at:%Y-%m-%d}" if one.expires_at else ""
            facts = f"   {one.confidence:.2f} sure, {one.priority}, {one.project}, said {one.event_on}{until}: {one.reason}"
            console.print(Text(facts, style="dim"))
        first = pending[0].proposal_id
        how = f'Decide: `memory review approve {first}`, `reject {first}`, `edit {first} "new wording"`; or in REVIEW.md.'
        console.print(Text(how, style="dim"))

    return draw


def draw_reviewed(reviewed: Sequence["Reviewed"]) -> Draw:
    """Draws what became of proposals after a decision."""

    def draw(console: Console) -> None:
        for one in reviewed:
            console.print(Text(f"{one.proposal_id} {one.state}", style="bold") + Text(f" → {one.section}: {one.text}"))
            console.print(Text(f"   {one.reason}", style="dim"))

    return draw


def draw_explanation(explanation: "Explanation") -> Draw:
    """Draws the chain from what was asked about down to the archived records, and whether each still holds."""

    def draw(console: Console) -> None:
        tree = Tree(_step_text(explanation.root))
        _grow(tree, explanation.root.behind)
        console.print(tree)
        console.print(_end_of_chain(explanation))

    return draw


def _end_of_chain(explanation: "Explanation") -> Text:
    records = len(explanation.records)
    if not explanation.is_verified:
        return Text("Not every record still holds what was quoted from it; see the lines in red.", style="bold red")
    if records:
        return Text(f"{records} archived records verified again: bytes unchanged, quotes found.", style="green")
    if explanation.root.facts.get("is_hand_written"):
        return Text("Written by hand: the chain ends at its commit.", style="green")
    if explanation.root.kind == "note":
        return Text("Told outright: the chain ends at its line in the ledger.", style="green")
    if explanation.root.kind == "file":
        return Text(
            "Remembered by the harness itself: the chain ends at its file, which is read and never written.", style="green"
        )
    return Text("No archived record lies behind it.", style="yellow")


def _grow(tree: Tree, steps: Iterable["Step"]) -> None:
    for step in steps:
        _grow(tree.add(_step_text(step)), step.behind)


def _step_text(step: "Step") -> Text:
    if step.kind == "record":
        return _record_text(step)
    words = Text(step.kind, style="bold") + Text(f" {step.id}")
    for name, value in step.facts.items():
        if value not in (None, ""):
            words.append(f"\n{name.removeprefix('is_').replace('_', ' ')}: {_fact(value)}", style="dim")
    return words


def _record_text(step: "Step") -> Text:
    """Returns where the record lies, and whether its bytes are still those that were promoted from."""
    facts = step.facts
    words = Text("record", style="bold") + Text(f" {facts['line']} of {facts['path']}")
    words.append(
        f"\nbytes {facts['byte_from']:,} to {facts['byte_to']:,} of the transcript, sha256 {facts['sha256'][:16]}…", style="dim"
    )
    words.append(
        "\n✓ bytes unchanged" if facts["is_unchanged"] else "\n✗ bytes changed",
        style="green" if facts["is_unchanged"] else "bold red",
    )
    if facts["quote"] and facts["holds_quote"]:
        words.append(", ✓ holds the quote", style="green")
    return words


def _fact(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def draw_health(health: "Health") -> Draw:
    """Draws the counts of every harness and each promise with its outcome."""

    def draw(console: Console) -> None:
        if health.harnesses:
            draw_counts(console, health.harnesses)
        for check in health.checks:
            mark = Text("✓", style="green") if check.passed else Text("✗", style="bold red")
            console.print(mark + Text(f" {check.promise}") + Text(f": {check.found}" if check.found else "", style="dim"))
            if check.remedy and not check.passed:
                console.print(Text(f"    {check.remedy}", style="yellow"))
        if health.is_well:
            console.print(Text("Everything adds up.", style="green"))
        else:
            console.print(Text(f"{len(health.broken)} of {len(health.checks)} promises are broken.", style="bold red"))

    return draw


def draw_counts(console: Console, harnesses: Sequence[Counts]) -> None:
    """Draws what became of every line, one column for each harness."""
    made = table("", *(one.harness for one in harnesses), "all", numbers=NUMBERS)
    for name, values in _count_rows(harnesses):
        made.add_row(name, *(f"{value:,}" for value in values), f"{sum(values):,}")
    console.print(made)
    unknown = {name: count for one in harnesses for name, count in one.unknown_types.items()}
    if unknown:
        console.print(Text("unknown types: " + ", ".join(f"{name} {count:,}" for name, count in unknown.items())))


def _count_rows(harnesses: Sequence[Counts]) -> Iterable[tuple[str, list[int]]]:
    for name in ("files", "bytes", "records", "messages", "known", "unknown", "broken", "shared", "lost"):
        yield name, [getattr(one, name) for one in harnesses]
    for label, column in (("windows", "windows"), ("messages in windows", "window_messages")):
        for key in sorted({key for one in harnesses for key in getattr(one, column)}):
            yield f"{label}: {key}", [getattr(one, column).get(key, 0) for one in harnesses]
    yield "segments", [one.segments for one in harnesses]
    yield "messages in segments", [one.segment_messages for one in harnesses]
    for label, column in (("candidates", "candidates"), ("observations", "observations")):
        for key in sorted({key for one in harnesses for key in getattr(one, column)}):
            yield f"{label}: {key}", [getattr(one, column).get(key, 0) for one in harnesses]


def draw_rows(rows: "Rows") -> Draw:
    """Draws rows as records: one line for each column, so that long texts stay readable."""

    def draw(console: Console) -> None:
        for row in rows.rows:
            console.print(pairs({name: _cell(row[name]) for name in rows.columns}))
            console.print()
        console.print(Text(f"{len(rows.rows):,} of {rows.total:,} rows of {rows.table}", style="dim"))

    return draw


def draw_costs(costs: "Costs") -> Draw:
    """Draws what a backfill would take: a line for each day that has something to ask, and the sum."""

    def draw(console: Console) -> None:
        numbers = ("windows", "calls", "stored", "tokens in", "out", "now", "in batches")
        made = table("day", *numbers, numbers=numbers)
        for day in costs.days:
            if day.calls > day.answered:
                made.add_row(str(day.day), *_cost_cells([day]))
        made.add_section()
        made.add_row("all", *_cost_cells(costs.days), style="bold")
        console.print(made)
        console.print(Text(f"Estimated for {costs.model}; ${costs.spent_usd:.2f} spent so far on all answers.", style="dim"))
        if not costs.has_price:
            console.print(Text(f"The price of {costs.model} is unknown; MEMORY_MODEL_PRICES can tell it.", style="yellow"))

    return draw


def _cost_cells(days: Sequence["Cost"]) -> list[str]:
    sums = [
        sum(getattr(day, name) for day in days) for name in ("windows", "calls", "answered", "input_tokens", "output_tokens")
    ]
    prices = [[day.usd for day in days], [day.usd_in_batches for day in days]]
    return [*(f"{n:,}" for n in sums), *("?" if None in p else f"${sum(filter(None, p)):.2f}" for p in prices)]


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value[:8])) + (f" … {len(value):,} in all" if len(value) > 8 else "")
    return "" if value is None else str(value)


def ranges(lines: Sequence[int]) -> str:
    """Returns record numbers with neighbours joined: 3-5, 9."""
    found: list[list[int]] = []
    for line in sorted(set(lines)):
        if found and line == found[-1][1] + 1:
            found[-1][1] = line
        else:
            found.append([line, line])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in found)
