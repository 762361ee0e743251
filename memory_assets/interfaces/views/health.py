"""Renders what a build did, the state of the store, and the report of `memory doctor`."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from memory_assets.interfaces.views import lines
from memory_assets.interfaces.views.terminal import Raw
from memory_assets.schema.vocabulary import HARNESS_TITLES

if TYPE_CHECKING:
    from memory_assets.memory.running import Built
    from memory_assets.memory.verb_answers import Check, HarnessCounts, Health, Status

COUNTS = (
    "files", "bytes", "records", "messages", "known", "unknown", "broken", "rewound", "shared",
    "lost", "windows", "window_messages", "segments", "segment_messages", "candidates", "facts",
)  # fmt: skip
MODEL_HINT = (
    "Without a model, rules keep only what was plainly stated. A model finds most of what is "
    "worth keeping.",
    "`memory model` shows what this machine offers, its price and what would be sent; nothing "
    "is sent before you choose.",
)
LABELS = {"window_messages": "messages in windows", "segment_messages": "messages in segments"}


def render_built(built: "Built") -> lines.Parts:
    """Renders what is new and where it is."""
    if built.is_unchanged:
        is_all_read = not (built.status.unread or built.status.left_out)
        read = ": every transcript was read already" if is_all_read else ""
        yield f"Nothing new{read} ({built.seconds:.1f} s)."
    else:
        yield f"{built.reason}."
        rows = ", ".join(f"{count:+,} {name}" for name, count in built.learnt.items())
        yield Text(f"Done in {built.seconds:.1f} s: {rows or 'no new rows'}.", style="green")
    yield from render_state(built.status)


def render_model_hint() -> lines.Parts:
    """Renders what a model adds, and how to choose one."""
    yield from map(lines.dim, MODEL_HINT)


def render_state(status: "Status") -> lines.Parts:
    """Renders the state of the store and where its files are.

    The status of a shared server has no text, and is rendered as its fields.
    """
    if not hasattr(status, "text"):
        yield from lines.render_fields(status)
        return
    yield Raw(status.text + (f"\n⚠ {status.alarm}" if status.alarm else ""))


def render_health(health: "Health") -> lines.Parts:
    """Renders the counts of each harness, and each check."""
    if health.harnesses:
        yield from _render_counts(health.harnesses)
    for check in health.checks:
        finding = f": {check.found}" if check.found else ""
        yield lines.line(_mark_of(check), f" {check.promise}", (finding, "dim"))
        if check.remedy and not check.passed:
            yield lines.warning(f"    {check.remedy}")
    if health.is_well:
        yield Text("All checks passed.", style="green")
    else:
        yield Text(f"{len(health.broken)} of {len(health.checks)} checks failed.", style="bold red")


def _mark_of(check: "Check") -> tuple[str, str]:
    if check.passed:
        return "✓", "green"
    return ("!", "yellow") if check.is_advice else ("✗", "bold red")


def _render_counts(harnesses: "Sequence[HarnessCounts]") -> lines.Parts:
    names = [*(HARNESS_TITLES[counts.harness] for counts in harnesses), "all"]
    rows = [_cells(name, values) for name, values in _count_rows(harnesses)]
    yield lines.table("", *names, numbers=names, rows=rows)
    unknown: dict[str, int] = {}
    for counts in harnesses:
        unknown |= counts.unknown_types
    if unknown:
        counts_by_name = ", ".join(f"{name} {count:,}" for name, count in unknown.items())
        yield f"unknown types: {counts_by_name}"


def _cells(name: str, values: "Sequence[int]") -> list[str]:
    return [name, *(f"{value:,}" for value in (*values, sum(values)))]


def _count_rows(harnesses: "Sequence[HarnessCounts]") -> Iterator[tuple[str, list[int]]]:
    """Yields the label of each count with its value for each harness; a dict gives a row a key."""
    for name in COUNTS:
        label = LABELS.get(name, name)
        values = [getattr(counts, name) for counts in harnesses]
        if isinstance(values[0], int):
            yield label, values
        else:
            for kind in sorted({kind for counts in values for kind in counts}):
                yield f"{label}: {kind}", [counts.get(kind, 0) for counts in values]
