"""Reading moments: a day begins and ends in the zone, days back count from now, anything else is refused."""

from datetime import UTC, datetime, timedelta

import pytest

from memory_assets.text.moments import event_time, parse_moment
from memory_assets_tests.conftest import NOW


def test_days_back_and_moments_are_understood():
    assert parse_moment("30d", NOW, UTC) == NOW - timedelta(days=30)
    assert parse_moment("2026-05-01T09:30", NOW, UTC, is_end=True) == datetime(
        2026, 5, 1, 9, 30, tzinfo=UTC
    )
    assert parse_moment("2026-05-01T09:30+02:00", NOW, UTC) == datetime(
        2026, 5, 1, 7, 30, tzinfo=UTC
    )


@pytest.mark.parametrize(
    "words", ["", "soon", "2026-13-01", "9999999999999999d", "²d", "2026-05-01\x00"]
)
def test_a_time_that_cannot_be_read_is_refused(words: str):
    with pytest.raises(ValueError, match="a day"):
        parse_moment(words, NOW, UTC)


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("2026-03-02T09:00:00.250Z", datetime(2026, 3, 2, 9, 0, 0, 250_000, UTC)),
        ("2026-03-02T10:00:00+01:00", datetime(2026, 3, 2, 9, 0, tzinfo=UTC)),
        ("2026-03-02T09:00:00", datetime(2026, 3, 2, 9, 0, tzinfo=UTC)),
        (1772442000250, datetime(2026, 3, 2, 9, 0, 0, 250_000, UTC)),
        (1772442000, datetime(2026, 3, 2, 9, 0, tzinfo=UTC)),
        ("yesterday", None),
        (None, None),
        (True, None),
        (1e300, None),
    ],
)
def test_a_time_is_utc_or_nothing(value, moment):
    assert event_time(value) == moment
