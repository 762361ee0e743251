"""The health report: figures of the right month, charts of what happened in each week, and text that opens anywhere."""

import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from xml.etree import ElementTree
from zoneinfo import ZoneInfo

import polars as pl
import pytest

from memory_assets.schema.frames import empty
from memory_assets.stages.maintain import name_ages
from memory_assets.stages.maintain.health_report import (
    HealthInputs,
    HealthReport,
    ReportSection,
    build_report,
    render_html,
    render_markdown,
)
from memory_assets_tests.factories import frame, row

NOW = datetime(2026, 9, 1, 3, 0, tzinfo=UTC)
DAY = timedelta(days=1)
COSTS = {"day": pl.Date, "step": pl.String, "usd": pl.Float64}


def paid(*rows: tuple[date, str, float | None]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=COSTS, orient="row")


def quality(day: date, measure: str, value: str, count: int, total: int) -> dict:
    return row(
        "quality",
        day=day,
        measure=measure,
        value=value,
        count=count,
        total=total,
        share=count / total,
    )


NOTHING = HealthInputs(
    memories=empty("memories"),
    observations=empty("observations"),
    sessions=empty("sessions"),
    quality=empty("quality"),
    recalls=empty("recalls"),
    nights=empty("nightly_stats"),
    costs=paid(),
    written={},
    waiting={},
    now=NOW,
    zone=ZoneInfo("UTC"),
)


def inputs() -> HealthInputs:
    """A store of three weeks: the last days of July and of August."""
    said = {
        "a": date(2026, 7, 30),
        "b": date(2026, 8, 3),
        "c": date(2026, 8, 28),
        "d": date(2026, 8, 29),
    }
    states = {"a": "stale", "b": "active", "c": "active", "d": "held"}
    return replace(
        NOTHING,
        memories=frame(
            "memories",
            *(
                row("memories", id=id, state=states[id], category="operations", first_event_at=datetime(*day.timetuple()[:3], 12, tzinfo=UTC))
                for id, day in said.items()
            ),
        ),
        observations=frame(
            "observations",
            *(row("observations", id=id, day=day, kind="fact", gate="hold" if id == "d" else "allow") for id, day in said.items()),
        ),
        sessions=frame("sessions", *(row("sessions", session_id=id, day=day) for id, day in said.items())),
        quality=frame(
            "quality",
            quality(said["b"], "junk", "candidates", 1, 4),
            quality(said["b"], "verdict", "allow", 3, 4),
            quality(said["b"], "verdict", "discard", 1, 4),
            quality(said["b"], "priority", "high", 3, 3),
            quality(said["b"], "dangling", "allow", 2, 3),
        ),
        recalls=frame(
            "recalls",
            *(
                row("recalls", recall_id=str(n), day=day, outcome=outcome, degraded=degraded, seconds=took)
                for n, (day, outcome, degraded, took) in enumerate(
                    [
                        (said["a"], "memories", None, 9.0),
                        (said["b"], "memories", None, 0.1),
                        (said["c"], "summaries", None, 0.2),
                        (said["c"], "memories", "vector", 0.3),
                        (said["d"], "not in memory", None, 0.4),
                    ]
                )
            ),
        ),
        nights=frame(
            "nightly_stats",
            row("nightly_stats", day=said["c"], stale=1, missed=3, extracted=1),
            row("nightly_stats", day=said["d"], stale=2),
        ),
        costs=paid((said["a"], "extraction", 9.0), (said["b"], "extraction", 0.5), (said["d"], "recall", 0.25), (said["d"], "recall", None)),
        written={"sessions": NOW - 3 * DAY, "memories": NOW - DAY / 24},
        waiting={"sessions": NOW - 2 * DAY, "memories": NOW - DAY / 24},
    )  # fmt: skip


def section(report: HealthReport, title: str) -> ReportSection:
    return next(one for one in report.sections if one.title == title)


def points(svg: str) -> list[str]:
    """What a chart says of each of its values."""
    root = ElementTree.fromstring(svg)
    return [title.text or "" for title in root.iter("{http://www.w3.org/2000/svg}title")]


def test_on_the_first_of_a_month_the_report_is_about_the_past_one():
    report = build_report(inputs())
    assert (report.month, report.on) == ("2026-08", date(2026, 9, 1))
    assert report.figures == {
        "active facts": "2",
        "new in 2026-08": "2",
        "stale or older": "1",
        "sessions in 2026-08": "3",
        "questions in 2026-08": "4",
        "answered": "75%",
        "paid in 2026-08": "$0.75",
        "overdue tables": "1",
    }
    assert build_report(replace(inputs(), now=NOW + 14 * DAY)).month == "2026-09"


def test_quality_recall_latency_and_cost_are_those_of_their_weeks():
    report = build_report(inputs())
    assert "Allowed facts: 3; faults found in them: 2" in section(report, "Quality").text[0]
    assert points(section(report, "Quality").charts[0].svg) == [
        "allowed, 3 Aug: 75%",
        "junk, 3 Aug: 25%",
    ]
    recall = section(report, "Recall")
    assert recall.text == [
        "Questions: 5; without an answer in memory: 1; answered by one retriever alone: 1."
    ]
    assert points(recall.charts[0].svg) == [
        "summaries, 24 Aug: 1", "memories, 27 Jul: 1", "memories, 3 Aug: 1", "memories, 24 Aug: 1", "not in memory, 24 Aug: 1",
    ]  # fmt: skip
    assert section(report, "Latency").text == [
        "Half of all answers took at most 0.3 s, 95 of 100 at most 9 s."
    ]
    assert section(report, "Cost").text == ["$9.75 in all.", "Answers without a known price: 1."]
    assert "recall, 24 Aug: $0.25" in points(section(report, "Cost").charts[0].svg)


def test_what_is_overdue_and_what_stayed_unread_is_named():
    report = build_report(inputs())
    assert section(report, "Freshness").text == ["Overdue: sessions."]
    assert ("sessions", "2026-08-29 03:00", "3 d", "2 d", "24 h", "overdue") in section(
        report, "Freshness"
    ).table
    assert section(report, "States and categories").text[1].endswith("left unread: 2.")


@pytest.mark.parametrize("given", [NOTHING, inputs()])
def test_the_page_needs_no_other_file_and_the_markdown_names_its_pictures(given: HealthInputs):
    report = build_report(given)
    page, charts = render_html(report), [chart for one in report.sections for chart in one.charts]
    assert not re.search(r"(src|href)=|url\(|@import|<script", page)
    assert page.count("<svg") == len(charts)
    text = render_markdown(report, "2026-08")
    assert re.findall(r"\]\((.*?)\)", text) == [f"2026-08/{chart.name}.svg" for chart in charts]
    assert "](" not in render_markdown(report)
    assert render_html(build_report(given)) == page, "equal tables give equal pages"


def names(*rows: tuple[int, str, int | None]) -> pl.DataFrame:
    """Names said so many days ago, with their states, and the days after which they ended."""
    said = [NOW.date() - age * DAY for age, _, _ in rows]
    return frame(
        "verifications",
        *(
            row("verifications", subject_id=str(number), written_on=said[number], state=state,
                since_on=said[number] + held * DAY if held is not None else None)
            for number, (_, state, held) in enumerate(rows)
        ),
    ).with_columns(category=pl.lit("tools"))  # fmt: skip


def section_of_names(*rows: tuple[int, str, int | None]) -> ReportSection:
    report = build_report(replace(NOTHING, names=names(*rows)))
    return next(each for each in report.sections if each.title == "What memories name")


def test_the_half_life_of_names_is_that_of_their_days():
    """19 names held for 10 days each and one ended after 10: 200 days for one end."""
    (text,) = section_of_names(*[(10, "holds", None)] * 19, (100, "gone", 10)).text
    assert text == (
        "19 of 20 names still hold. Half-life: 139 days; recall assumes 69 days for a memory."
    )


def test_the_share_of_names_that_hold_is_shown_by_age_and_category():
    rows = [(10, "holds", None)] * 15 + [(60, "holds", None), (60, "gone", 5)] * 3
    ages = name_ages.ages_of(names(*rows, (9, "unknown", None)), NOW.date())
    assert name_ages.shares_of(ages, "age") == {"up to 30 days": 1.0, "up to 90 days": 0.5}
    assert name_ages.shares_of(ages, "category") == {"tools": 18 / 21}
    charts = [chart.name for chart in section_of_names(*rows).charts]
    assert charts == ["names_age", "names_category"]


def test_fewer_than_twenty_names_are_too_few_to_say():
    (text,) = section_of_names(*[(10, "holds", None)] * 19).text
    assert text == "Names looked up: 19; too few to say."
