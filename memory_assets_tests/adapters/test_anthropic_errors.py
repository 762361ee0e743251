"""How long a server asks to be left alone: no header breaks the reading, and no wait is negative or endless."""

import math

from hypothesis import given
from hypothesis import strategies as st

from memory_assets.adapters.anthropic_errors import retry_after

NAMES = (
    "date",
    "retry-after",
    "retry-after-ms",
    "anthropic-ratelimit-tokens-reset",
    "anthropic-ratelimit-tokens-remaining",
)
NUMBERS = st.one_of(st.integers(), st.floats()).map(str)
MOMENTS = st.one_of(
    st.datetimes(timezones=st.timezones()).map(lambda moment: moment.isoformat()),
    st.from_regex(
        r"\A[MTW][a-z]{2}, \d{1,2} [JFMAS][a-z]{2} \d{1,5} \d\d:\d\d:\d\d ([+-]\d{4}|GMT|)\Z"
    ),
)
HEADERS = st.dictionaries(st.sampled_from(NAMES), st.one_of(NUMBERS, MOMENTS, st.text(max_size=40)))


@given(HEADERS, st.booleans())
def test_whatever_the_headers_say_a_wait_is_a_number_of_seconds_or_none(
    headers: dict[str, str], is_rate_limit: bool
):
    wait = retry_after(headers, is_rate_limit=is_rate_limit)
    assert wait is None or (math.isfinite(wait) and wait >= 0)
