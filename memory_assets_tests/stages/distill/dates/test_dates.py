"""Days ahead: what counts and on which day, what is none; resolved against the moment and zone in which it was said."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.stages.distill.dates.dates import FARTHEST, find_dates
from memory_assets_tests.labelled import labelled

BERLIN, NEW_YORK, UTC_ZONE = (
    ZoneInfo("Europe/Berlin"),
    ZoneInfo("America/New_York"),
    ZoneInfo("UTC"),
)
WEDNESDAY = datetime(2026, 5, 6, 10, 0, tzinfo=BERLIN)

SENTENCES = labelled(__file__)
"""Sentences with the day ahead that they name, and sentences that name none."""


def days(
    text: str, said_at: datetime = WEDNESDAY, zone: ZoneInfo = BERLIN, order=None
) -> list[str]:
    return [dated.on.isoformat() for dated in find_dates(text, said_at, zone, order)]


@pytest.mark.parametrize(("text", "on"), SENTENCES["ahead"])
def test_a_day_ahead_is_resolved_against_the_moment_it_was_said(text: str, on: str):
    assert days(text) == [on]


@pytest.mark.parametrize("text", SENTENCES["none"])
def test_what_is_ambiguous_recurring_past_quoted_or_code_is_no_day_ahead(text: str):
    assert days(text) == []


def test_an_ambiguous_order_follows_the_writer_or_is_refused():
    text = "Ship by 05/06/2026."
    assert days(text, zone=BERLIN) == ["2026-06-05"]
    assert days(text, zone=NEW_YORK) == ["2026-05-06"]
    assert days(text, zone=UTC_ZONE) == []
    assert days(text, zone=UTC_ZONE, order="mdy") == ["2026-05-06"]
    assert days("Ship by 05/20/2026.", zone=UTC_ZONE) == ["2026-05-20"]
    assert days("Ship by 06/06/2026.", zone=UTC_ZONE) == ["2026-06-06"]


def test_the_day_is_the_writers_own_not_utcs():
    late = datetime(2026, 5, 6, 23, 30, tzinfo=UTC)
    assert days("do it tomorrow", late, BERLIN) == ["2026-05-08"]
    assert days("do it tomorrow", late, NEW_YORK) == ["2026-05-07"]


@pytest.mark.parametrize(
    ("text", "on"),
    [
        ("do it tomorrow", "2027-01-01"), ("by Friday please", "2027-01-01"), ("in a month it must run", "2027-01-31"),
        ("next month we start", "2027-01-01"), ("by the end of the month", "2026-12-31"), ("end of next month", "2027-01-31"),
        ("the freeze ends on Jan 5", "2027-01-05"), ("by end of February", "2027-02-28"), ("in two months we ship", "2027-02-28"),
        ("end of next quarter", "2027-03-31"), ("until the end of next year", "2027-12-31"), ("In KW 2 wird umgezogen", "2027-01-11"),
    ],
)  # fmt: skip
def test_years_end_in_the_middle_of_plans(text: str, on: str):
    assert days(text, datetime(2026, 12, 31, 12, 0, tzinfo=BERLIN)) == [on]


def test_a_pasted_document_has_no_days():
    assert days("We ship by Friday. " * 400) == []


WORDS = st.sampled_from(
    "by on next this Friday Montag in two 3 30 weeks days Tagen the 15th 31 end of month June may May 5 2026-05-20 05/06/2026 31.12.2026 due "
    "remind me tomorrow morgen bis zum am KW 53 2027 , . ? at 9am year".split()
)


@given(
    st.lists(WORDS, max_size=14).map(" ".join),
    st.datetimes(datetime(2020, 1, 1), datetime(2030, 12, 31), timezones=st.just(UTC)),
    st.sampled_from(
        ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Kiritimati", "UTC"]
    ),
)
def test_no_day_lies_before_the_message_or_absurdly_far_ahead(text: str, at: datetime, zone: str):
    local = at.astimezone(ZoneInfo(zone)).date()
    for dated in find_dates(text, at, ZoneInfo(zone)):
        assert local <= dated.on <= local + FARTHEST
        assert " ".join(text[dated.start : dated.end].split()) == dated.expression


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str):
    assert isinstance(find_dates(text, WEDNESDAY, BERLIN), tuple)
