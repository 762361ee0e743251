"""Writes the health report: how memory grows, how good it is, how recall answers, how fast, at what
price, and how fresh it is.

Tables in, a report out, which `render_markdown` and `render_html` turn into text. It holds counts,
shares, dates and names of tables and categories, and no words of messages or memories, so that
nothing in it has to be forgotten. Charts cover the last half year, by week; weeks begin on Monday.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from html import escape
from pathlib import Path
from zoneinfo import ZoneInfo

import polars as pl

from memory_assets.schema.tables import TABLES, deadline_of
from memory_assets.stages.maintain.charts import (
    Series,
    dollars,
    horizontal_bars,
    line_chart,
    percent,
    plain,
    seconds,
    stacked_columns,
)
from memory_assets.stages.maintain.faults import FAULTS
from memory_assets.stages.maintain.quality import count_of, share_of
from memory_assets.stages.recall.log import OUTCOMES, UNKNOWN
from memory_assets.text.html_page import render_page

FOLDER = "health"
"""Where the reports are in the workspace."""

WEEKS = 26
STATES = ("active", "held", "superseded", "stale", "archived", "cold")
WEEK = timedelta(days=7)


@dataclass(frozen=True)
class HealthInputs:
    """The tables that the report is made from, and its moment."""

    memories: pl.DataFrame
    """Those of facts, not of narratives."""
    observations: pl.DataFrame
    """day, kind, gate."""
    sessions: pl.DataFrame
    """session_id, day."""
    quality: pl.DataFrame
    recalls: pl.DataFrame
    nights: pl.DataFrame
    """The table `nightly_stats`."""
    costs: pl.DataFrame
    """day, step, usd: what models were paid, by step; usd is null where the price is not known."""
    written: Mapping[str, datetime]
    """Table → when it was last written."""
    waiting: Mapping[str, datetime]
    """Table → since when changed input waits for it."""
    now: datetime
    zone: ZoneInfo

    @property
    def today(self) -> date:
        """The local day of the report."""
        return self.now.astimezone(self.zone).date()


@dataclass(frozen=True)
class Chart:
    """A picture, and the name of its file without suffix."""

    name: str
    title: str
    svg: str


@dataclass(frozen=True)
class ReportSection:
    """One subject: sentences, pictures and a table (its first row is the head)."""

    title: str
    text: Sequence[str]
    charts: Sequence[Chart] = ()
    table: Sequence[Sequence[str]] = ()


@dataclass(frozen=True)
class HealthReport:
    """The report of one month."""

    month: str
    """YYYY-MM: the month of the day before the report."""
    on: date
    figures: Mapping[str, str]
    """The headline numbers, by name."""
    sections: Sequence[ReportSection]


def build_report(inputs: HealthInputs) -> HealthReport:
    """Returns the report of the month that the day before belongs to, which on the first of a month
    has just ended.
    """
    month = f"{inputs.today - timedelta(days=1):%Y-%m}"
    weeks = _weeks(inputs)
    sections_by_week = (_growth, _states, _quality, _recall, _latency, _cost)
    sections = [
        *(build_section(inputs, weeks) for build_section in sections_by_week),
        _freshness(inputs),
    ]
    return HealthReport(month, inputs.today, _figures(inputs, month), sections)


def _figures(inputs: HealthInputs, month: str) -> dict[str, str]:
    in_month = pl.col("day").dt.to_string("%Y-%m") == month
    questions = inputs.recalls.filter(in_month)
    active = inputs.memories.filter(state="active")
    new = active.filter(
        pl.col("first_event_at").dt.convert_time_zone(inputs.zone.key).dt.to_string("%Y-%m")
        == month
    )
    paid = inputs.costs.filter(in_month)["usd"].sum()
    overdue = sum(is_overdue(inputs, name) for name in inputs.waiting)
    old = inputs.memories.filter(pl.col("state").is_in(["stale", "archived", "cold"]))
    return {
        "active facts": f"{active.height:,}",
        f"new in {month}": f"{new.height:,}",
        "stale or older": f"{old.height:,}",
        f"sessions in {month}": f"{inputs.sessions.filter(in_month)['session_id'].n_unique():,}",
        f"questions in {month}": f"{questions.height:,}",
        "answered": percent(1 - questions.filter(outcome=UNKNOWN).height / questions.height)
        if questions.height
        else "–",
        f"paid in {month}": dollars(float(paid or 0)),
        "overdue tables": f"{overdue:,}",
    }


def _growth(inputs: HealthInputs, weeks: Sequence[date]) -> ReportSection:
    memories = _day_of(
        inputs.memories.filter(pl.col("state") != "forgotten"), "first_event_at", inputs.zone
    )
    total_counts = [float(memories.filter(pl.col("day") < week + WEEK).height) for week in weeks]
    active = memories.filter(state="active")
    active_counts = [float(active.filter(pl.col("day") < week + WEEK).height) for week in weeks]
    added = memories.filter(pl.col("day") >= inputs.today - timedelta(days=28)).height
    earlier = memories.height - added
    growth = f", {added / earlier:+.0%}" if earlier else ""
    sessions = inputs.sessions.unique("session_id", keep="first", maintain_order=True)
    facts = inputs.observations.filter(kind="fact")
    of_gate = [
        Series(name, _by_week(facts.filter(gate=gate), weeks, lambda rows: float(rows.height)))
        for name, gate in (("allowed", "allow"), ("held", "hold"))
    ]
    return ReportSection(
        "Growth",
        [f"{memories.height:,} remembered facts, {added:,} of the last four weeks{growth}."],
        [
            _lines("growth", "Remembered facts by the week in which they were first said", weeks,
                   [Series("all", total_counts), Series("active now", active_counts)]),
            _columns("facts", "Facts a week", weeks, of_gate),
            _columns("sessions", "Sessions a week", weeks,
                     [Series("sessions", _by_week(sessions, weeks,
                     lambda rows: float(rows.height)))]),
        ],
    )  # fmt: skip


def _states(inputs: HealthInputs, weeks: Sequence[date]) -> ReportSection:
    counts = dict(inputs.memories.group_by("state").len().iter_rows())
    states = {state: float(counts.get(state, 0)) for state in STATES}
    mix = (
        inputs.memories.filter(state="active")
        .group_by("category")
        .len()
        .sort(["len", "category"], descending=[True, False])
    )
    aging = (
        inputs.memories.filter(pl.col("state").is_in(["stale", "archived", "cold"]))
        .group_by("category")
        .len()
    )
    stale = dict(aging.sort("category").iter_rows())
    nights = inputs.nights.sort("day")
    charts = [
        Chart("states", "Remembered facts by state", horizontal_bars("Remembered facts by state",
        states)),
        Chart("categories", "Active facts by category",
              horizontal_bars("Active facts by category", {name: float(count) for name,
              count in mix.iter_rows()})),
    ]  # fmt: skip
    if nights.height > 1:
        series = [
            Series(state, _by_week(nights, weeks, lambda rows, state=state: float(rows[state][-1])))
            for state in ("stale", "archived", "cold")
        ]
        charts.append(
            _lines(
                "aging", "Stale, archived and cold memories at the end of each week", weeks, series
            )
        )
    aging_categories = ", ".join(f"{category} {count:,}" for category, count in stale.items())
    unread = int((nights["missed"] - nights["extracted"]).sum())
    return ReportSection(
        "States and categories",
        [
            f"Stale, archived or cold: {aging_categories or 'none'}.",
            f"Nights counted: {nights.height:,}; sessions, messages and notes that they "
            f"left unread: {unread:,}.",
        ],
        charts,
    )


def _quality(inputs: HealthInputs, weeks: Sequence[date]) -> ReportSection:
    shares = {
        "allowed": lambda rows: share_of(rows, "verdict", "allow"),
        "junk": lambda rows: share_of(rows, "junk", "candidates"),
        "repeated": lambda rows: share_of(rows, "repeated", "allow"),
    }
    series = [Series(name, _by_week(inputs.quality, weeks, take)) for name, take in shares.items()]
    faults = {
        fault.replace("_", " "): float(count_of(inputs.quality, fault, "allow")) for fault in FAULTS
    }
    faults = {
        fault: count
        for fault, count in sorted(faults.items(), key=lambda item: (-item[1], item[0]))
        if count
    }
    charts = [
        _lines(
            "quality",
            "Candidates allowed, junk among candidates, repeats among allowed facts",
            weeks,
            series,
            percent,
        )
    ]
    if faults:
        charts.append(
            Chart(
                "faults",
                "Faults of allowed facts",
                horizontal_bars("Faults of allowed facts", faults),
            )
        )
    facts = count_of(inputs.quality, "priority")
    text = (
        f"Allowed facts: {facts:,}; faults found in them: {plain(sum(faults.values()))} (defined "
        "in docs/operating.md)."
    )
    return ReportSection("Quality", [text], charts)


def _recall(inputs: HealthInputs, weeks: Sequence[date]) -> ReportSection:
    series = [
        Series(
            name,
            _by_week(inputs.recalls.filter(outcome=name), weeks, lambda rows: float(rows.height)),
        )
        for name in OUTCOMES
    ]
    series = [outcome_series for outcome_series in series if any(outcome_series.values)]
    if not series:
        return ReportSection("Recall", ["No question was asked in the last half year."])
    question_count = inputs.recalls.height
    degraded = inputs.recalls.filter(pl.col("degraded").is_not_null()).height
    unknown = inputs.recalls.filter(outcome=UNKNOWN).height
    text = (
        f"Questions: {question_count:,}; without an answer in memory: {unknown:,}; answered by one "
        f"retriever alone: {degraded:,}."
    )
    return ReportSection(
        "Recall",
        [text],
        [_columns("recall", "Questions a week, by the tier that answered", weeks, series)],
    )


def _latency(inputs: HealthInputs, weeks: Sequence[date]) -> ReportSection:
    timed = inputs.recalls.filter(pl.col("seconds") > 0)
    if timed.is_empty():
        return ReportSection("Latency", ["No answer was timed yet."])
    series = [
        Series(
            name,
            _by_week(timed, weeks, lambda rows, share=share: _quantile(rows["seconds"], share)),
        )
        for name, share in (("median", 0.5), ("95 of 100 answers within", 0.95))
    ]
    half, most = (seconds(_quantile(timed["seconds"], share)) for share in (0.5, 0.95))
    text = f"Half of all answers took at most {half}, 95 of 100 at most {most}."
    return ReportSection(
        "Latency", [text], [_lines("latency", "Seconds to an answer", weeks, series, seconds)]
    )


def _cost(inputs: HealthInputs, weeks: Sequence[date]) -> ReportSection:
    paid = inputs.costs.filter(pl.col("usd") > 0)
    unpriced = inputs.costs.filter(pl.col("usd").is_null()).height
    notes = [f"Answers without a known price: {unpriced:,}."] if unpriced else []
    if paid.is_empty():
        return ReportSection("Cost", ["No model was paid.", *notes])
    steps = paid["step"].unique().sort().to_list()
    series = [
        Series(step, _by_week(paid.filter(step=step), weeks, lambda rows: float(rows["usd"].sum())))
        for step in steps
    ]
    text = f"{dollars(float(paid['usd'].sum()))} in all."
    return ReportSection(
        "Cost",
        [text, *notes],
        [_columns("cost", "US dollars a week, by step", weeks, series, dollars)],
    )


def is_overdue(inputs: HealthInputs, name: str) -> bool:
    """Returns whether input has waited for the table for longer than its deadline."""
    return name in inputs.waiting and inputs.now - inputs.waiting[name] > deadline_of(TABLES[name])


def _freshness(inputs: HealthInputs) -> ReportSection:
    rows = [
        (
            name,
            f"{inputs.written[name].astimezone(inputs.zone):%Y-%m-%d %H:%M}",
            _age(inputs.now - inputs.written[name]),
            _age(inputs.now - inputs.waiting[name]) if name in inputs.waiting else "",
            _age(deadline_of(TABLES[name])),
            "overdue" if is_overdue(inputs, name) else "",
        )
        for name in TABLES
        if name in inputs.written
    ]
    overdue = [row[0] for row in rows if row[-1]]
    text = f"Overdue: {', '.join(overdue)}." if overdue else "No table is overdue."
    return ReportSection(
        "Freshness",
        [text],
        (),
        [("table", "last written", "age", "input waits", "at most", ""), *rows],
    )


def render_markdown(report: HealthReport, pictures: str | None = None) -> str:
    """Returns the report as Markdown; the charts are links to SVG files in the folder `pictures`,
    or left out.
    """
    lines = [f"# Health of memory, {report.month}", f"_As of {report.on}._"]
    lines.append("| " + " | ".join(report.figures) + " |\n|" + "---|" * len(report.figures))
    lines[-1] += "\n| " + " | ".join(report.figures.values()) + " |"
    for section in report.sections:
        lines += [f"## {section.title}", " ".join(section.text)]
        lines += (
            [f"![{chart.title}]({pictures}/{chart.name}.svg)" for chart in section.charts]
            if pictures
            else []
        )
        if section.table:
            head, *rows = section.table
            cells = [head, ["---"] * len(head), *rows]
            lines.append("\n".join(f"| {' | '.join(row)} |" for row in cells))
    return "\n\n".join(lines) + "\n"


def render_html(report: HealthReport) -> str:
    """Returns the report as one page that needs no other file."""
    figures = "".join(
        f"<div><b>{escape(value)}</b><span>{escape(name)}</span></div>"
        for name, value in report.figures.items()
    )
    parts = [
        f"<h1>Health of memory, {report.month}</h1>",
        f"<p>As of {report.on}.</p>",
        f'<div class="figures">{figures}</div>',
    ]
    for section in report.sections:
        parts += [f"<h2>{escape(section.title)}</h2>", f"<p>{escape(' '.join(section.text))}</p>"]
        parts += [f"<figure>{chart.svg}</figure>" for chart in section.charts]
        if section.table:
            parts.append(_html_table(section.table))
    style = Path(__file__).with_suffix(".css").read_text("utf-8")
    return render_page(f"Health of memory, {report.month}", parts, style)


def _html_table(rows: Sequence[Sequence[str]]) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        kind = ' class="overdue"' if cells[-1] == "overdue" else ""
        return f"<tr{kind}>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"

    head, *body = rows
    lines = [row(head, "th"), *(row(cells, "td") for cells in body)]
    return "\n".join(["<table>", *lines, "</table>"])


def _weeks(inputs: HealthInputs) -> list[date]:
    """Returns the Mondays of the weeks shown: at most half a year, not before the first day of the
    store.
    """
    last = inputs.today - timedelta(days=inputs.today.weekday())
    days = [
        inputs.sessions["day"].min(),
        inputs.observations["day"].min(),
        inputs.recalls["day"].min(),
    ]
    first = min((day for day in days if isinstance(day, date)), default=last)
    count = min(WEEKS, (last - first).days // 7 + 2)
    return [last - WEEK * back for back in reversed(range(max(count, 1)))]


def _by_week(
    rows: pl.DataFrame, weeks: Sequence[date], take: Callable[[pl.DataFrame], float | None]
) -> list[float | None]:
    """Returns what is taken from the rows of each week; None for a week without rows."""
    monday = pl.col("day").dt.truncate("1w")
    rows_by_week = {
        key: week_rows
        for (key,), week_rows in rows.group_by(monday.alias("week"), maintain_order=True)
    }
    return [take(rows_by_week[week]) if week in rows_by_week else None for week in weeks]


def _day_of(rows: pl.DataFrame, column: str, zone: ZoneInfo) -> pl.DataFrame:
    return rows.with_columns(day=pl.col(column).dt.convert_time_zone(zone.key).dt.date())


def _labels(weeks: Sequence[date]) -> list[str]:
    return [f"{week:%d %b}".lstrip("0") for week in weeks]


def _lines(
    name: str,
    title: str,
    weeks: Sequence[date],
    series: Sequence[Series],
    show: Callable[[float], str] = plain,
) -> Chart:
    return Chart(name, title, line_chart(title, _labels(weeks), series, show))


def _columns(
    name: str,
    title: str,
    weeks: Sequence[date],
    series: Sequence[Series],
    show: Callable[[float], str] = plain,
) -> Chart:
    return Chart(name, title, stacked_columns(title, _labels(weeks), series, show))


def _quantile(values: pl.Series, share: float) -> float:
    return float(values.quantile(share, "nearest") or 0.0)


def _age(age: timedelta) -> str:
    hours = max(age.total_seconds(), 0.0) / 3600
    return f"{hours:.0f} h" if hours < 48 else f"{hours / 24:.0f} d"
