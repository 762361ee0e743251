"""A week is told day by day, every sentence with the observations or the commits it rests on."""

from datetime import date, timedelta
from zoneinfo import ZoneInfo

import polars as pl

from memory_assets.schema.frames import check
from memory_assets.stages.distill.quotes import QUOTE_COLUMNS
from memory_assets.stages.reflect.timeline import (
    build_timeline,
    name_of_chapter,
    render_chapter,
)
from memory_assets_tests.factories import START, frame, message, row

MONDAY = date(2026, 8, 3)
UTC = ZoneInfo("UTC")
PRINTED = "[main 1a2b3c4] Use uv everywhere\n 3 files changed\n"


def observed(number: int, text: str, *, days: int = 0, **changes) -> dict:
    plain = {
        "kind": "narrative",
        "gate": "hold",
        "project": "shop",
        "person": "mira",
        "segment_id": f"s{number}",
    }
    at = START + timedelta(days=days, minutes=number)
    return row(
        "observations",
        id=f"{number:08x}-0000-5000-8000-000000000000",
        text=text,
        event_at=at,
        **plain | changes,
    )


def segment(one: dict, length: int, **quotes) -> dict:
    about = {
        **{key: [] for key in QUOTE_COLUMNS},
        **{name: one[name] for name in ("segment_id", "project", "person")},
    }
    return row("segments", ended_at=one["event_at"], message_ids=["m"] * length, **about | quotes)


def condense_subjects(
    *observations: dict,
    printed: str = PRINTED,
    lengths: dict[str, int] | None = None,
    quoted: tuple[dict, ...] = (),
) -> pl.DataFrame:
    told = [one for one in observations if one["kind"] == "narrative"]
    segments = [*(segment(one, (lengths or {}).get(one["segment_id"], 1)) for one in told), *quoted]
    windows = frame("windows", row("windows", window_id="w1", project="shop", person="mira"))
    said = frame("messages", message(printed, 7, kind="tool_result", author="tool", window_id="w1"))
    found = build_timeline(
        MONDAY,
        frame("observations", *observations),
        frame("segments", *segments),
        said,
        windows,
        UTC,
    )
    return check("timeline", found)


def test_a_day_tells_what_was_worked_on_laid_down_and_committed():
    fact = observed(
        2,
        "The owner: “use uv, never pip”",
        kind="fact",
        gate="allow",
        priority="high",
        author="owner",
    )
    found = condense_subjects(observed(1, "Packages were moved to uv."), fact)
    assert render_chapter(MONDAY, found) == (
        "# Week 32 of 2026: 2026-08-03 to 2026-08-09\n\n"
        "**Monday, 2026-08-03, shop.** Packages were moved to uv. [mem_000000010000] "
        "The owner: “use uv, never pip”. [mem_000000020000] Committed: “Use uv everywhere”. [1a2b3c4]\n"
    )


def test_without_a_narrative_what_was_asked_and_written_is_quoted_with_its_messages():
    asked = {
        "quotes": ["use uv. never pip!", "Use uv everywhere", "Switched to uv."],
        "quote_sources": ["request", "commit", "state"],
        "quote_ids": ["msg_0123456789abcdef0123", "5f1c-21", "5f1c-22"],
    }
    found = condense_subjects(printed="", quoted=(segment(observed(1, ""), 3, **asked),))
    assert found.select("text", "message_ids", "observation_ids").rows() == [
        ("Owner: “use uv. never pip!”", ["msg_0123456789abcdef0123"], []),
        ("Assistant: “Switched to uv.”", ["5f1c-22"], []),
    ]
    assert render_chapter(MONDAY, found).endswith(
        "Owner: “use uv. never pip!” [msg_0123456789ab] Assistant: “Switched to uv.” [msg_5f1c22]\n"
    )
    assert condense_subjects(printed="", quoted=(segment(observed(1, ""), 3),)).is_empty()


def test_a_citation_is_never_inside_a_quotation():
    said = observed(
        1,
        'The owner: “Use uv. Never pip! Is that clear?” Switched to uv. It said "no lock. Run uv lock." and stopped.',
    )
    chapter = render_chapter(MONDAY, condense_subjects(said, printed=""))
    cite = "[mem_000000010000]"
    assert chapter.partition("shop.** ")[2] == (
        f"The owner: “Use uv. Never pip! Is that clear?” {cite} Switched to uv. {cite} "
        f'It said "no lock. Run uv lock." and stopped. {cite}\n'
    )


def test_a_quiet_week_has_no_chapter_and_weeks_are_named_as_calendars_do():
    assert condense_subjects(printed="").is_empty()
    assert name_of_chapter(date(2026, 12, 28)) == "timeline/2026-W53.md"
