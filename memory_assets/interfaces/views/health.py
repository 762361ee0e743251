"""Renders what the doctor found: the counts of every harness and the outcome of each check."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from memory_assets.interfaces.views.lines import Parts, line, table, warning

if TYPE_CHECKING:
    from memory_assets.services.health.doctor import Health
    from memory_assets.services.health.sums import Counts

NUMBERS = ("claude_code", "codex", "pi", "all")
GROUPED = {"windows": "windows", "messages in windows": "window_messages"}
GROUPED_AFTER = {"candidates": "candidates", "observations": "observations"}


def render_health(health: "Health") -> Parts:
    """Renders the counts and each check."""
    if health.harnesses:
        yield from render_counts(health.harnesses)
    for check in health.checks:
        mark = ("✓", "green") if check.passed else ("✗", "bold red")
        yield line(mark, f" {check.promise}", (f": {check.found}" if check.found else "", "dim"))
        if check.remedy and not check.passed:
            yield warning(f"    {check.remedy}")
    if health.is_well:
        yield Text("All checks passed.", style="green")
    else:
        yield Text(f"{len(health.broken)} of {len(health.checks)} checks failed.", style="bold red")


def render_counts(harnesses: "Sequence[Counts]") -> Parts:
    """Renders what became of every line, one column for each harness."""
    made = table("", *(one.harness for one in harnesses), "all", numbers=NUMBERS)
    for name, values in _count_rows(harnesses):
        made.add_row(name, *(f"{value:,}" for value in values), f"{sum(values):,}")
    yield made
    if unknown := {name: count for one in harnesses for name, count in one.unknown_types.items()}:
        yield "unknown types: " + ", ".join(f"{name} {count:,}" for name, count in unknown.items())


def _count_rows(harnesses: "Sequence[Counts]") -> Iterable[tuple[str, list[int]]]:
    for name in ("files", "bytes", "records", "messages", "known", "unknown", "broken", "shared", "lost"):
        yield name, [getattr(one, name) for one in harnesses]
    yield from _grouped_rows(harnesses, GROUPED)
    yield "segments", [one.segments for one in harnesses]
    yield "messages in segments", [one.segment_messages for one in harnesses]
    yield from _grouped_rows(harnesses, GROUPED_AFTER)


def _grouped_rows(harnesses: "Sequence[Counts]", columns: dict[str, str]) -> Iterable[tuple[str, list[int]]]:
    for label, column in columns.items():
        for key in sorted({key for one in harnesses for key in getattr(one, column)}):
            yield f"{label}: {key}", [getattr(one, column).get(key, 0) for one in harnesses]
