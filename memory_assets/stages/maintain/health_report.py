"""Builds the health report: growth, quality, recall, latency, cost and freshness of the memory.

`build_report` takes tables and returns a report, and `render_markdown` and `render_html` turn it
into text. A report has counts, shares, dates and names of tables and categories, but no words of
messages or memories, so that nothing in it ever has to be forgotten. Charts cover the last half
year, by week; weeks begin on Monday.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import polars as pl

from memory_assets.schema import frames
from memory_assets.schema.tables import TABLES, deadline_of
from memory_assets.stages.maintain import name_ages
from memory_assets.stages.maintain.charts import (
    Format,
    Series,
    dollars,
    horizontal_bars,
    line_chart,
    percent,
    plain,
    seconds,
    stacked_columns,
)
from memory_assets.stages.maintain.fact_quality import count_of, share_of
from memory_assets.stages.maintain.faults import FAULTS
from memory_assets.stages.maintain.helping import (
    NOTHING_JUDGED,
    HelpInputs,
    help_sentences,
    rule_rows,
)
from memory_assets.stages.recall.log import OUTCOMES, UNKNOWN
from memory_assets.stages.recall.memory_search import DECAY_PER_DAY
from memory_assets.text.html_page import render

FOLDER = "health"
"""Folder of the reports in the workspace."""

WEEKS = 26
AGED = ("stale", "archived", "cold")
STATES = ("active", "held", "superseded", *AGED)
_IS_AGED = pl.col("state").is_in(AGED)
WEEK = timedelta(days=7)


@dataclass(frozen=True)
class HealthInputs:
    """The tables that the report is made from, and the time of the report."""

    memories: pl.DataFrame
    """The memories of facts, not of narratives."""
    observations: pl.DataFrame
    """Columns day, kind, gate."""
    sessions: pl.DataFrame
    """Columns session_id, day."""
    quality: pl.DataFrame
    recalls: pl.DataFrame
    nights: pl.DataFrame
    """The table `nightly_stats`."""
    costs: pl.DataFrame
    """Columns day, step, usd: the cost of models; usd is null if the price is not known."""
    written: Mapping[str, datetime]
    """Table → when it was last written."""
    waiting: Mapping[str, datetime]
    """Table → since when changed input waits to be built into it."""
    now: datetime
    zone: ZoneInfo
    names: pl.DataFrame = field(default_factory=lambda: frames.empty("verifications"))
    """What memories name, with a column `category`."""
    help: HelpInputs = NOTHING_JUDGED
    """What shows whether memory helps."""

    @property
    def today(self) -> date:
        """The local day of the report."""
        return self.now.astimezone(self.zone).date()


@dataclass(frozen=True)
class Chart:
    """A chart as SVG, and the name of its file without suffix."""

    name: str
    title: str
    svg: str


@dataclass(frozen=True)
class ReportSection:
    """A section of sentences, charts and a table, whose first row is its head."""

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
    """Returns the report of the month of yesterday, which may have just ended."""
    month = f"{inputs.today - timedelta(days=1):%Y-%m}"
    weeks = _weeks(inputs)
    by_week = (_help, _growth, _states, _quality, _recall, _latency, _cost)
    sections = [build_section(inputs, weeks) for build_section in by_week]
    figures = _figures(inputs, month)
    return HealthReport(
        month, inputs.today, figures, [*sections, _names(inputs), _freshness(inputs)]
    )


def _figures(inputs: HealthInputs, month: str) -> dict[str, str]:
    in_month = pl.col("day").dt.to_string("%Y-%m") == month
    questions = inputs.recalls.filter(in_month)
    unknown = questions.filter(outcome=UNKNOWN).height
    active = _by_day(inputs.memories.filter(state="active"), "first_event_at", inputs.zone)
    paid = inputs.costs.filter(in_month)["usd"].sum()
    overdue = sum(is_overdue(inputs, name) for name in inputs.waiting)
    return {
        "active facts": f"{active.height:,}",
        f"new in {month}": f"{active.filter(in_month).height:,}",
        "stale or older": f"{inputs.memories.filter(_IS_AGED).height:,}",
        f"sessions in {month}": f"{inputs.sessions.filter(in_month)['session_id'].n_unique():,}",
        f"questions in {month}": f"{questions.height:,}",
        "answered": percent(1 - unknown / questions.height) if questions.height else "–",
        f"paid in {month}": dollars(float(paid or 0)),
        "overdue tables": f"{overdue:,}",
    }


def _help(inputs: HealthInputs, weeks: Sequence[date]) -> ReportSection:
    rows = inputs.help.obedience
    sessions = rows.group_by("session_id", "state").agg(pl.col("day").max())
    states = {state: sessions.filter(state=state) for state in ("kept", "broken")}
    returned = {"corrections": inputs.help.returned, "questions": inputs.help.asked_again}
    charts = [
        _columns(
            "rules", "Sessions a week that kept or broke a rule", weeks, _row_counts(states, weeks)
        ),
        _columns(
            "returned",
            "Corrections and questions that returned, by week",
            weeks,
            _row_counts(returned, weeks),
        ),
    ]
    text = help_sentences(inputs.help, inputs.today)
    table = rule_rows(rows) if rows.height else ()
    return ReportSection("Does it help?", text, charts if rows.height else (), table)


def _growth(inputs: HealthInputs, weeks: Sequence[date]) -> ReportSection:
    remembered = inputs.memories.filter(pl.col("state") != "forgotten")
    memories = _by_day(remembered, "first_event_at", inputs.zone)
    totals = {
        name: [float(rows.filter(pl.col("day") < week + WEEK).height) for week in weeks]
        for name, rows in (("all", memories), ("active now", memories.filter(state="active")))
    }
    added = memories.filter(pl.col("day") >= inputs.today - timedelta(days=28)).height
    earlier = memories.height - added
    growth = f", {added / earlier:+.0%}" if earlier else ""
    sessions = inputs.sessions.unique("session_id", keep="first", maintain_order=True)
    session_counts = _row_counts({"sessions": sessions}, weeks)
    facts = inputs.observations.filter(kind="fact")
    gates = {"allowed": facts.filter(gate="allow"), "held": facts.filter(gate="hold")}
    facts_title = "Remembered facts by the week in which they were first said"
    return ReportSection(
        "Growth",
        [f"{memories.height:,} remembered facts, {added:,} of the last four weeks{growth}."],
        [
            _lines("growth", facts_title, weeks, totals),
            _columns("facts", "Facts a week", weeks, _row_counts(gates, weeks)),
            _columns("sessions", "Sessions a week", weeks, session_counts),
        ],
    )


def _states(inputs: HealthInputs, weeks: Sequence[date]) -> ReportSection:
    counts = dict(inputs.memories.group_by("state").len().iter_rows())
    active = inputs.memories.filter(state="active").group_by("category").len()
    mix = dict(active.sort(["len", "category"], descending=[True, False]).iter_rows())
    aged = inputs.memories.filter(_IS_AGED).group_by("category").len().sort("category")
    nights = inputs.nights.sort("day")
    states = {state: counts.get(state, 0) for state in STATES}
    charts = [
        _bars("states", "Remembered facts by state", states),
        _bars("categories", "Active facts by category", mix),
    ]
    if nights.height > 1:
        title = "Stale, archived and cold memories at the end of each week"
        by_state = {
            state: _by_week(nights, weeks, lambda rows, state=state: float(rows[state][-1]))
            for state in AGED
        }
        charts.append(_lines("aging", title, weeks, by_state))
    categories = ", ".join(f"{category} {count:,}" for category, count in aged.iter_rows())
    unread = int((nights["missed"] - nights["extracted"]).sum())
    text = [
        f"Stale, archived or cold: {categories or 'none'}.",
        f"Nights counted: {nights.height:,}; sessions, messages and notes that they "
        f"left unread: {unread:,}.",
    ]
    return ReportSection("States and categories", text, charts)


def _quality(inputs: HealthInputs, weeks: Sequence[date]) -> ReportSection:
    shares = {"allowed": ("verdict", "allow"), "junk": ("junk", "candidates")}
    shares["repeated"] = ("repeated", "allow")
    series = {
        name: _by_week(inputs.quality, weeks, lambda rows, share=share: share_of(rows, *share))
        for name, share in shares.items()
    }
    counts = {fault: count_of(inputs.quality, fault, "allow") for fault in FAULTS}
    faults = {fault.replace("_", " "): count for fault, count in counts.items() if count}
    faults = dict(sorted(faults.items(), key=lambda item: (-item[1], item[0])))
    title = "Candidates allowed, junk among candidates, repeats among allowed facts"
    charts = [_lines("quality", title, weeks, series, percent)]
    if faults:
        charts.append(_bars("faults", "Faults of allowed facts", faults))
    text = (
        f"Allowed facts: {count_of(inputs.quality, 'priority'):,}; faults found in them: "
        f"{plain(sum(faults.values()))} (defined in `memory docs operating`)."
    )
    return ReportSection("Quality", [text], charts)


def _recall(inputs: HealthInputs, weeks: Sequence[date]) -> ReportSection:
    by_outcome = {name: inputs.recalls.filter(outcome=name) for name in OUTCOMES}
    series = {
        name: values for name, values in _row_counts(by_outcome, weeks).items() if any(values)
    }
    if not series:
        return ReportSection("Recall", ["No question was asked in the last half year."])
    degraded = inputs.recalls.filter(pl.col("degraded").is_not_null()).height
    text = (
        f"Questions: {inputs.recalls.height:,}; without an answer in memory: "
        f"{by_outcome[UNKNOWN].height:,}; answered by one retriever alone: {degraded:,}."
    )
    chart = _columns("recall", "Questions a week, by the tier that answered", weeks, series)
    return ReportSection("Recall", [text], [chart])


def _latency(inputs: HealthInputs, weeks: Sequence[date]) -> ReportSection:
    timed = inputs.recalls.filter(pl.col("seconds") > 0)
    if timed.is_empty():
        return ReportSection("Latency", ["No answer was timed yet."])
    series = {
        name: _by_week(timed, weeks, lambda rows, share=share: _quantile(rows["seconds"], share))
        for name, share in (("median", 0.5), ("95 of 100 answers within", 0.95))
    }
    half = seconds(_quantile(timed["seconds"], 0.5))
    most = seconds(_quantile(timed["seconds"], 0.95))
    text = f"Half of all answers took at most {half}, 95 of 100 at most {most}."
    chart = _lines("latency", "Seconds to an answer", weeks, series, seconds)
    return ReportSection("Latency", [text], [chart])


def _cost(inputs: HealthInputs, weeks: Sequence[date]) -> ReportSection:
    paid = inputs.costs.filter(pl.col("usd") > 0)
    unpriced = inputs.costs.filter(pl.col("usd").is_null()).height
    notes = [f"Answers without a known price: {unpriced:,}."] if unpriced else []
    if paid.is_empty():
        return ReportSection("Cost", ["No model was paid.", *notes])
    series = {
        step: _by_week(paid.filter(step=step), weeks, lambda rows: float(rows["usd"].sum()))
        for step in paid["step"].unique().sort()
    }
    text = f"{dollars(float(paid['usd'].sum()))} in all."
    chart = _columns("cost", "US dollars a week, by step", weeks, series, dollars)
    return ReportSection("Cost", [text, *notes], [chart])


def _names(inputs: HealthInputs) -> ReportSection:
    ages = name_ages.ages_of(inputs.names, inputs.today)
    title = "What memories name"
    if ages.height < name_ages.LEAST:
        return ReportSection(title, [f"Names looked up: {ages.height:,}; too few to say."])
    days = name_ages.half_life(ages)
    half_life = f"{days:,.0f} days" if days else "unknown, as none has ended"
    text = (
        f"{ages.filter(state='holds').height:,} of {ages.height:,} names still hold. Half-life: "
        f"{half_life}; recall assumes {math.log(2) / DECAY_PER_DAY:,.0f} days for a memory."
    )
    charts = []
    for column in ("age", "category"):
        title_of_chart = f"Share of names that hold, by {column}"
        svg = horizontal_bars(title_of_chart, name_ages.shares_of(ages, column), percent)
        charts.append(Chart(f"names_{column}", title_of_chart, svg))
    return ReportSection(title, [text], charts)


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
    overdue = ", ".join(row[0] for row in rows if row[-1])
    text = f"Overdue: {overdue}." if overdue else "No table is overdue."
    head = ("table", "last written", "age", "input waits", "at most", "")
    return ReportSection("Freshness", [text], table=[head, *rows])


def render_markdown(report: HealthReport, pictures: str | None = None) -> str:
    """Returns the report as Markdown.

    Charts are links to SVG files in the folder `pictures`; without it, they are left out.
    """
    head_row = f"| {' | '.join(report.figures)} |"
    figure_row = f"| {' | '.join(report.figures.values())} |"
    figures = f"{head_row}\n|{'---|' * len(report.figures)}\n{figure_row}"
    lines = [f"# Health of memory, {report.month}", f"_As of {report.on}._", figures]
    for section in report.sections:
        lines += [f"## {section.title}", " ".join(section.text)]
        charts = section.charts if pictures else ()
        lines += [f"![{chart.title}]({pictures}/{chart.name}.svg)" for chart in charts]
        if section.table:
            head, *rows = section.table
            cells = [head, ["---"] * len(head), *rows]
            lines.append("\n".join(f"| {' | '.join(row)} |" for row in cells))
    return "\n\n".join(lines) + "\n"


def render_html(report: HealthReport) -> str:
    """Returns the report as one page that needs no other file."""
    return render("health_report.html", report=report)


def _weeks(inputs: HealthInputs) -> list[date]:
    """Returns the Mondays of the weeks in charts: at most half a year, within the store's days."""
    last = inputs.today - timedelta(days=inputs.today.weekday())
    tables = (inputs.sessions, inputs.observations, inputs.recalls)
    days = (table["day"].min() for table in tables)
    first = min((day for day in days if isinstance(day, date)), default=last)
    count = min(WEEKS, (last - first).days // 7 + 2)
    return [last - WEEK * back for back in reversed(range(max(count, 1)))]


def _by_week(
    rows: pl.DataFrame, weeks: Sequence[date], take: Callable[[pl.DataFrame], float | None]
) -> list[float | None]:
    """Returns the value that `take` computes of each week's rows; None for a week without rows."""
    groups = rows.group_by(pl.col("day").dt.truncate("1w").alias("week"), maintain_order=True)
    rows_by_week = {week: week_rows for (week,), week_rows in groups}
    return [take(rows_by_week[week]) if week in rows_by_week else None for week in weeks]


def _row_counts(tables: Mapping[str, pl.DataFrame], weeks: Sequence[date]) -> Series:
    """Returns the number of rows of each table, by week."""
    return {
        name: _by_week(rows, weeks, lambda rows: float(rows.height))
        for name, rows in tables.items()
    }


def _by_day(rows: pl.DataFrame, column: str, zone: ZoneInfo) -> pl.DataFrame:
    return rows.with_columns(day=pl.col(column).dt.convert_time_zone(zone.key).dt.date())


def _lines(
    name: str, title: str, weeks: Sequence[date], series: Series, show: Format = plain
) -> Chart:
    return Chart(name, title, line_chart(title, _labels(weeks), series, show))


def _columns(
    name: str, title: str, weeks: Sequence[date], series: Series, show: Format = plain
) -> Chart:
    return Chart(name, title, stacked_columns(title, _labels(weeks), series, show))


def _labels(weeks: Sequence[date]) -> list[str]:
    return [f"{week:%d %b}".lstrip("0") for week in weeks]


def _bars(name: str, title: str, counts: Mapping[str, float]) -> Chart:
    return Chart(name, title, horizontal_bars(title, counts))


def _quantile(values: pl.Series, share: float) -> float:
    return float(values.quantile(share, "nearest") or 0.0)


def _age(age: timedelta) -> str:
    hours = max(age.total_seconds(), 0.0) / 3600
    return f"{hours:.0f} h" if hours < 48 else f"{hours / 24:.0f} d"
