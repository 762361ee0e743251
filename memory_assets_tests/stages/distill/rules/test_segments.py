"""A topic begins where the owner turns to something else; every message is in exactly one segment."""

from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from memory_assets.stages.distill.rules.segments import find_segments
from memory_assets_tests.factories import START
from memory_assets_tests.stages.distill.sessions import LATER, said

WORK = [
    ("assistant", "Looking at the cache layer and its stale entries."),
    ("tool", "cache.py: 40 lines of cache layer"),
]


def starts(rows) -> list[int]:
    return [segment[0] for segment in find_segments(rows)]


def test_a_long_silence_begins_a_topic():
    rows = said(("owner", "fix the cache layer"), *WORK * 5, ("owner", "the cache layer again"))
    rows[-1]["event_at"] += LATER
    assert starts(rows) == [0, 11]


def test_an_announced_topic_after_handed_in_work_begins_one():
    done = ("assistant", "Committed as 1a2b3c4. All tests pass.")
    assert starts(
        said(
            ("owner", "fix the cache layer"),
            *WORK * 5,
            done,
            ("owner", "now let's write the release notes"),
        )
    ) == [
        0,
        12,
    ]


authors = st.sampled_from(["owner", "assistant", "tool", "file"])
turns = st.lists(
    st.tuples(
        authors,
        st.sampled_from(["now the docs", "fix the cache", "done, pushed", "x"]),
        st.integers(0, 90),
    ),
    max_size=160,
)


@settings(max_examples=40)
@given(turns)
def test_every_message_is_in_exactly_one_segment(turns):
    rows, at = said(*[(author, text) for author, text, _ in turns]), START
    for row, (_, _, minutes) in zip(rows, turns, strict=True):
        at += timedelta(minutes=minutes)
        row["event_at"] = at
    assert [row for segment in find_segments(rows) for row in segment] == list(range(len(rows)))
