"""Writes what the row `scale` measured into docs/scaling.md: a table between two marks, and a chart beside it."""

from collections.abc import Mapping, Sequence
from typing import Any

from memory_assets.stages.maintain.charts import line_chart
from memory_assets.text.files import write_atomically
from memory_assets_tests.bench.transcripts import REPOSITORY

PAGE, CHART = REPOSITORY / "docs" / "scaling.md", REPOSITORY / "docs" / "scaling.svg"
READABLE = 0o644


def write_docs(measured: Sequence[Mapping[str, Any]], left_out: Sequence[str]) -> None:
    """Replaces the tables and the chart."""
    before, begin, rest = PAGE.read_text("utf-8").partition("<!-- scale: begin -->")
    after = rest.partition("<!-- scale: end -->")
    page = "\n".join([before + begin, *rendered(measured, left_out), after[1] + after[2]])
    write_atomically(PAGE, page.encode(), READABLE)
    write_atomically(CHART, chart(measured).encode(), READABLE)


def rendered(measured: Sequence[Mapping[str, Any]], left_out: Sequence[str]) -> list[str]:
    """Returns the lines of the table."""
    lines = [
        "| store | recall p50, p95 (ms) | time | peak memory | on disk | top five as exact |",
        "|---|---|---|---|---|---|",
    ]
    for one in measured:
        times = ", ".join(f"{name} {took:,.0f} s" for name, took in one["seconds"].items())
        what = f"{one['size']:,} {one['kind']}"
        what += (
            f" ({one['memories']:,} memories, {one['passages']:,} passages)"
            if one["kind"] == "sessions"
            else ""
        )
        figures = (
            f"{one['p50_ms']:.0f}, {one['p95_ms']:.0f}",
            times,
            f"{one['peak_gb']:.1f} GB",
            f"{one['stored_gb']:.2f} GB",
        )
        lines.append(f"| {what} | {' | '.join(figures)} | {one['same']:.3f} |")
    lines += [f"\nNot reached: {one}." for one in left_out]
    return lines


def chart(measured: Sequence[Mapping[str, Any]]) -> str:
    """Returns the curves of recall over the sizes of both kinds of stores."""
    sizes = sorted({one["passages"] for one in measured})
    of = {one["passages"]: one for one in measured}
    series = {name: [of[size][f"{name}_ms"] for size in sizes] for name in ("p50", "p95")}
    return line_chart(
        "Milliseconds of a recall by passages in the store", [f"{size:,}" for size in sizes], series
    )
