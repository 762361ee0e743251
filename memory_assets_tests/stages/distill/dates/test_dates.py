"""Days ahead: what counts and on which day, what is none; resolved against the moment and zone in which it was said."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.stages.distill.dates.dates import FARTHEST, find_dates

BERLIN, NEW_YORK, UTC_ZONE = (
    ZoneInfo("Europe/Berlin"),
    ZoneInfo("America/New_York"),
    ZoneInfo("UTC"),
)
WEDNESDAY = datetime(2026, 5, 6, 10, 0, tzinfo=BERLIN)

AHEAD = [
    ("Let's do the cutover next Friday.", "2026-05-15"),
    ("next week we migrate the queue", "2026-05-11"),
    ("Remind me on Monday to rotate the keys.", "2026-05-11"),
    ("remind me Friday to send the report", "2026-05-08"),
    ("We need it by Friday.", "2026-05-08"),
    ("it's due on Wednesday", "2026-05-13"),
    ("The demo is this Thursday at 3pm.", "2026-05-07"),
    ("Freeze starts this coming Monday.", "2026-05-11"),
    ("The trial ends in two weeks.", "2026-05-20"),
    ("I'll check again in 3 days", "2026-05-09"),
    ("in a week we will know", "2026-05-13"),
    ("In a couple of weeks we drop Python 3.10.", "2026-05-20"),
    ("The certificate expires in 30 days.", "2026-06-05"),
    ("in one month the contract ends", "2026-06-06"),
    ("We will retire it in a year.", "2027-05-06"),
    ("two weeks from now it must run", "2026-05-20"),
    ("Ship it by 2026-05-20.", "2026-05-20"),
    ("Deadline: 2026-06-01", "2026-06-01"),
    ("The old API shuts down on 2026-07-01.", "2026-07-01"),
    ("Do it tomorrow 9am", "2026-05-07"),
    ("Tomorrow we deploy.", "2026-05-07"),
    ("Let's look at it the day after tomorrow.", "2026-05-08"),
    ("I want that done by the end of the month.", "2026-05-31"),
    ("end of next month is fine", "2026-06-30"),
    ("finish by end of week please", "2026-05-08"),
    ("The budget holds until the end of the year.", "2026-12-31"),
    ("release by end of June", "2026-06-30"),
    ("We must be done by end of Q3.", "2026-09-30"),
    ("by EOM please", "2026-05-31"),
    ("Launch is on June 1st.", "2026-06-01"),
    ("The review is on 22 May.", "2026-05-22"),
    ("deadline is May 22, 2026", "2026-05-22"),
    ("starting Jan 5 we use the new cluster", "2027-01-05"),
    ("renew it before the 1st of July", "2026-07-01"),
    ("It is due on the 15th.", "2026-05-15"),
    ("by the 3rd, please", "2026-06-03"),
    ("Ship by 13/05/2026.", "2026-05-13"),
    ("Ship by 05/06/2026.", "2026-06-05"),
    ("Das muss bis nächsten Freitag fertig sein.", "2026-05-15"),
    ("Erinnere mich am Montag an die Rechnung.", "2026-05-11"),
    ("Bitte bis Freitag.", "2026-05-08"),
    ("Wir migrieren nächste Woche.", "2026-05-11"),
    ("In zwei Wochen läuft das Zertifikat ab.", "2026-05-20"),
    ("Die Abgabe ist am 3. Juni.", "2026-06-03"),
    ("Bitte bis zum 15.6.2026 erledigen.", "2026-06-15"),
    ("bis zum 13.5. brauchen wir das", "2026-05-13"),
    ("Das mache ich morgen.", "2026-05-07"),
    ("übermorgen wird umgestellt", "2026-05-08"),
    ("Bis Ende Mai muss das laufen.", "2026-05-31"),
    ("Ende des Monats wird abgeschaltet.", "2026-05-31"),
    ("In KW 23 wird umgezogen.", "2026-06-01"),
]

NONE = [
    "may be broken", "You may 3 times retry.", "it may, 5 times out of 10, fail", "The march 5 build is what we need to fix.",
    "Use version 5.10.2 by default.", "Python 3.12 needs it.", "bump to 2026.5.20", "wait 30 days", "Keep backups for 30 days.",
    "tokens expire in 30 days", "The cache is kept for two weeks.", "It was done in two weeks.", "we built it in 3 days",
    "within two weeks", "two weeks ago we decided", "every Friday we deploy", "On Fridays nobody deploys.", "the Friday deploy is risky",
    "Did you see the alert on Monday?", "what happened on Monday?", "On Monday it failed.", "since Monday it is slow", "last Friday was better",
    "On May 2 it broke.", "The incident on 2026-05-01 was bad.", "2026-05-20T10:00:00 ERROR due soon", "report-2026-06-01.csv needs a check",
    "see `by 2026-06-01` in the code", 'the phrase "next Friday" is ambiguous', "> ship it by Friday", "```\nship by Friday\n```",
    "Date:   Fri Jun 5 10:00:00 2026", "it needs 5/6 of the budget by then", "on the 1st attempt it must pass", "step 15 is due",
    "Ship it on 2024-05-20.", "valid until 2099-12-31", "We need it by 31 June.", "Monday's standup should be short.",
    "guten morgen, bitte weiter", "Heute morgen lief es.", "jeden Freitag", "letzte Woche war besser", "Seit Montag ist es kaputt.",
    "not next week", "in 5 minutes", "in 2 hours we deploy", "in a few days", "someday soon", "Q3 looks fine", "next time, please ask",
    "next page", "in 200 lines", "Version vom 3.12 nehmen", "compare it with the june numbers", "", "tomorrow's standup", "by then",
    "https://example.com/?until=2026-06-01", "+ deadline: 2026-06-01", "    remind me on Monday",
]  # fmt: skip


def days(
    text: str, said_at: datetime = WEDNESDAY, zone: ZoneInfo = BERLIN, order=None
) -> list[str]:
    return [dated.on.isoformat() for dated in find_dates(text, said_at, zone, order)]


@pytest.mark.parametrize(("text", "on"), AHEAD)
def test_a_day_ahead_is_resolved_against_the_moment_it_was_said(text: str, on: str):
    assert days(text) == [on]


@pytest.mark.parametrize("text", NONE)
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
    "at", [datetime(2026, 3, 28, 23, 30, tzinfo=UTC), datetime(2026, 3, 29, 0, 30, tzinfo=UTC)]
)
def test_the_day_that_loses_an_hour_is_one_day(at: datetime):
    """29 March 2026: clocks in Berlin jump from 2 to 3."""
    assert days("do it tomorrow", at) == ["2026-03-30"]
    assert days("in two days we switch", at) == ["2026-03-31"]


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
