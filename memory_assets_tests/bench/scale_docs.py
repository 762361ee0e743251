"""Writes what the row `scale` measured into docs/scaling.md: a table between two marks, and a chart beside it."""

from collections.abc import Mapping, Sequence
from typing import Any

from memory_assets.stages.maintain.charts import Series, line_chart
from memory_assets.text.files import write_atomically
from memory_assets_tests.bench.transcripts import REPOSITORY

BEGIN, END = "<!-- scale: begin -->", "<!-- scale: end -->"
PAGE, CHART = REPOSITORY / "docs" / "scaling.md", REPOSITORY / "docs" / "scaling.svg"
READABLE = 0o644


def write_docs(measured: Sequence[Mapping[str, Any]], left_out: Sequence[str]) -> None:
    """Replaces the table and the chart."""
    page = PAGE.read_text("utf-8")
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    table = "\n".join(rendered(measured, left_out))
    write_atomically(PAGE, f"{before}{BEGIN}\n{table}\n{END}{after}".encode(), READABLE)
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
        what += f" ({one['memories']:,} memories, {one['passages']:,} passages)" if one["kind"] == "sessions" else ""
        figures = (f"{one['p50_ms']:.0f}, {one['p95_ms']:.0f}", times, f"{one['peak_gb']:.1f} GB", f"{one['stored_gb']:.2f} GB")
        lines.append(f"| {what} | {' | '.join(figures)} | {one['same']:.3f} |")
    lines += [f"\nNot reached: {one}." for one in left_out]
    return lines + _steps([one for one in measured if one["steps"]])


def _steps(measured: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns the table of the seconds that each step takes a session."""
    if not measured:
        return []
    names = list(dict.fromkeys(name for one in measured for name in one["steps"]))
    lines = ["", "| seconds a session | " + " | ".join(f"of {one['size']:,}" for one in measured) + " |"]
    lines.append("|---|" + "---|" * len(measured))
    for name in names:
        own = (f"{one['steps'][name] / one['size']:.3f}" if name in one["steps"] else "" for one in measured)
        lines.append(f"| {name if ' ' in name else f'`{name}`'} | {' | '.join(own)} |")
    return lines


def chart(measured: Sequence[Mapping[str, Any]]) -> str:
    """Returns the curves of recall over the sizes of both kinds of stores."""
    sizes = sorted({one["passages"] for one in measured})
    of = {one["passages"]: one for one in measured}
    series = [Series(name, [of[size][key] for size in sizes]) for name, key in (("p50", "p50_ms"), ("p95", "p95_ms"))]
    return line_chart("Milliseconds of a recall by passages in the store", [f"{size:,}" for size in sizes], series)
