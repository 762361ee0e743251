"""Writes what the row `scale` measured into docs/scaling.md: a table between two marks, and a chart beside it."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

from memory_assets.interfaces.views.lines import counted
from memory_assets.stages.maintain.charts import Series, line_chart
from memory_assets.text.files import write_atomically
from memory_assets_tests.bench.transcripts import REPOSITORY

PARTS = ("scale", "company")
"""Names of the parts of the page that are written, each between two marks."""

DEVELOPERS, TEAM = 5_000, 10
SESSIONS_A_DAY, DAYS_A_YEAR, SESSION_MB = 8, 220, 0.956
"""Assumed of a developer; the last is the mean of 149 real sessions with all that their harness writes."""

HOURS = 8
"""A day's sessions are to be processed within so many hours."""

PAGE, CHART = REPOSITORY / "docs" / "scaling.md", REPOSITORY / "docs" / "scaling.svg"
READABLE = 0o644


def write_docs(measured: Sequence[Mapping[str, Any]], left_out: Sequence[str]) -> None:
    """Replaces the tables and the chart."""
    page = PAGE.read_text("utf-8")
    for name, lines in zip(PARTS, (rendered(measured, left_out), company(measured)), strict=True):
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        before, _, rest = page.partition(begin)
        page = "\n".join([before + begin, *lines, end + rest.partition(end)[2]])
    write_atomically(PAGE, page.encode(), READABLE)
    write_atomically(CHART, chart(measured).encode(), READABLE)


def company(measured: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns the table of what a company needs, by the largest sizes that were measured."""
    sessions, memories = (
        [one for one in measured if one["kind"] == kind] for kind in ("sessions", "memories")
    )
    if not sessions or len(memories) < 2:
        return ["Not measured."]
    largest, (less, most) = sessions[-1], memories[-2:]
    seconds = sum(largest["seconds"].values()) / largest["size"]
    passages, stored = (largest[name] / largest["size"] for name in ("passages", "stored_gb"))
    bytes_each = 1e9 * (most["peak_gb"] - less["peak_gb"]) / (most["size"] - less["size"])
    a_day = DEVELOPERS * SESSIONS_A_DAY
    of_team = TEAM * SESSIONS_A_DAY * passages
    years = most["passages"] / of_team / DAYS_A_YEAR
    rows = {
        "assumed": f"{DEVELOPERS:,} developers, {SESSIONS_A_DAY} sessions each a working day, {DAYS_A_YEAR} days a year; sessions as "
        f"long as the real ones, {SESSION_MB} MB each",
        "sessions": f"{a_day:,} a day, {a_day * DAYS_A_YEAR / 1e6:.1f} million a year",
        "transcripts": f"{a_day * SESSION_MB / 1e3:.0f} GB a day, {a_day * DAYS_A_YEAR * SESSION_MB / 1e6:.1f} TB a year",
        "processing": f"{seconds:.1f} s of one core a session: {a_day * seconds / 3_600:,.0f} core hours a day, so "
        f"{counted(ceil(a_day * seconds / 3_600 / HOURS), 'core')} for {HOURS} hours; one store has one writer",
        "passages": f"{passages:.0f} a session: {a_day * passages / 1e6:.1f} million a day, "
        f"{a_day * passages * DAYS_A_YEAR / 1e6:,.0f} million a year",
        "disk": f"{1e3 * stored:.1f} MB a session in store: {a_day * stored * DAYS_A_YEAR / 1e3:,.1f} TB a year",
        "memory to build the index": f"{bytes_each / 1e3:.0f} kB a memory with its passage: "
        f"{a_day * passages * bytes_each / 1e9:,.0f} GB for the passages of one day",
        f"a store for a team of {TEAM}": f"{TEAM * SESSIONS_A_DAY} sessions, {of_team:,.0f} passages a day: "
        f"{counted(ceil(TEAM * SESSIONS_A_DAY * seconds / 60), 'minute')} of one core; {most['passages']:,} passages, the largest size measured, "
        f"after {years:.1f} years",
    }
    return ["| | |", "|---|---|", *(f"| {name} | {text} |" for name, text in rows.items())]


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
    return lines + _steps([one for one in measured if one["steps"]])


def _steps(measured: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns the table of the seconds that each step takes a session."""
    if not measured:
        return []
    names = list(dict.fromkeys(name for one in measured for name in one["steps"]))
    lines = [
        "",
        "| seconds a session | " + " | ".join(f"of {one['size']:,}" for one in measured) + " |",
    ]
    lines.append("|---|" + "---|" * len(measured))
    for name in names:
        own = (
            f"{one['steps'][name] / one['size']:.3f}" if name in one["steps"] else ""
            for one in measured
        )
        lines.append(f"| {name if ' ' in name else f'`{name}`'} | {' | '.join(own)} |")
    return lines


def chart(measured: Sequence[Mapping[str, Any]]) -> str:
    """Returns the curves of recall over the sizes of both kinds of stores."""
    sizes = sorted({one["passages"] for one in measured})
    of = {one["passages"]: one for one in measured}
    series = [
        Series(name, [of[size][key] for size in sizes])
        for name, key in (("p50", "p50_ms"), ("p95", "p95_ms"))
    ]
    return line_chart(
        "Milliseconds of a recall by passages in the store", [f"{size:,}" for size in sizes], series
    )
