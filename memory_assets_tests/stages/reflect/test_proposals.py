"""Proposals: what is worth a line of MEMORY.md is proposed once, under a number that is given once."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.stages.reflect.proposals import (
    NUMBERED,
    Claims,
    Numbers,
    propose,
)
from memory_assets.store.ledger import Event
from memory_assets.store.settings import SECTIONS
from memory_assets_tests.factories import START, frame, row

DAY = date(2026, 8, 3)
ZONE = ZoneInfo("Europe/London")


def memory(name: str = "uv", text: str = "Use uv, never pip.", **changes) -> dict:
    fitting = {
        "state": "active",
        "kind": "fact",
        "priority": "high",
        "category": "rules-conventions",
        "person": "mira",
        "author": "owner",
    }
    fitting |= {
        "observation_ids": [name],
        "session_ids": ["s1"],
        "event_at": START,
        "confidence": 0.9,
        "project": "tidewatch",
    }
    return row("memories", id=name, text=text, **{**fitting, **changes})


def reflection(*cited: str) -> dict:
    return row("reflections", reflection_id="r", day=DAY, observation_ids=list(cited))


def proposals_of(
    *memories: dict,
    day: date = DAY,
    events: list[Event] = [],  # noqa: B006
    cited: list[str] | None = None,
    claims: Claims | None = None,
):
    cites = [id for one in memories for id in one["observation_ids"]] if cited is None else cited
    return propose(
        day,
        frame("reflections", reflection(*cites)),
        frame("memories", *memories),
        events,
        owner="mira",
        sections=SECTIONS,
        zone=ZONE,
        claims=claims,
    )


def numbered(numbers: Numbers) -> list[Event]:
    """The events that the caller writes for new numbers."""
    at = datetime(2026, 8, 4, 6, tzinfo=UTC)
    return [
        Event(f"{n}", at, "reflector", NUMBERED, id, payload)
        for n, (id, payload) in enumerate(numbers)
    ]


def texts(frame: pl.DataFrame) -> list[str]:
    return frame["text"].to_list()


def test_a_proposal_says_where_it_belongs_and_what_it_rests_on():
    frame, numbers = proposals_of(memory(observation_ids=["uv", "uv2"], session_ids=["s1", "s2"]))
    assert frame.to_dicts() == [
        {
            "proposal_id": "p-20260803-001",
            "day": DAY,
            "section": "Hard Rules",
            "text": "Use uv, never pip.",
            "event_on": DAY,
            "category": "rules-conventions",
            "priority": "high",
            "confidence": 0.9,
            "project": "tidewatch",
            "person": "mira",
            "author": "owner",
            "memory_id": "uv",
            "observation_ids": ["uv", "uv2"],
            "session_ids": ["s1", "s2"],
            "reflection_id": "r",
        }
    ]
    claim = Claims().of("use uv,  never pip", "tidewatch")
    assert numbers == [("p-20260803-001", {"key": "uv", "claim": claim, "day": "2026-08-03"})]


def test_what_is_worth_a_line_is_laid_down_or_general_or_said_twice():
    medium = {"priority": "medium", "category": "operations"}
    frame, _ = proposals_of(
        memory("a", "high"),
        memory("b", "The feed listens on port 8040, every 15 minutes.", **medium),
        memory("c", "medium twice", session_ids=["s1", "s2"], **medium),
        memory("i", "Kim reviews every migration.", **medium),
        memory("k", "Kim owns the release.", priority="medium", category="people-relationships"),
        memory("l", "The tz field is lost.", category="operations", tags=["root_cause"]),
        memory("d", "low twice", priority="low", session_ids=["s1", "s2"]),
        memory("e", "held", state="held"),
        memory("f", "replaced", state="superseded"),
        memory("g", "a story", kind="narrative"),
        memory("h", "x" * 301),
    )
    assert [row["memory_id"] for row in frame.to_dicts()] == ["a", "c", "i", "k"]


def test_of_what_one_session_says_only_the_surest_of_a_project_and_no_report_become_lines():
    once = {"category": "operations", "author": "assistant"}
    facts = [
        memory(f"m{n}", f"Quay {n} has {n} berths.", confidence=n / 10, **once) for n in range(1, 9)
    ]
    others = [
        memory("rule", "Always moor at the bow.", confidence=0.1),
        memory("twice", "Cranes are blue.", confidence=0.1, session_ids=["s1", "s2"], **once),
        memory("river", "Locks are green.", confidence=0.1, project="rivers", **once),
        memory("report", "The old quay was removed.", session_ids=["s1", "s2"], **once),
    ]
    frame, numbers = proposals_of(*facts, *others)
    expected = [facts[n]["text"] for n in (5, 6, 7)] + [row["text"] for row in others[:3]]
    assert set(texts(frame)) == set(expected)
    surer = [memory(f"n{n}", f"Pier {n} is long.", confidence=1.0, **once) for n in range(3)]
    grown, _ = proposals_of(*facts, *others, *surer, events=numbered(numbers))
    assert set(texts(grown)) >= set(expected)


def test_another_persons_preferences_are_theirs_but_rules_and_facts_of_a_project_are_everybodys():
    frame, _ = proposals_of(
        memory("a", "priya's wish", person="priya", category="preferences"),
        memory("b", "priya's rule", person="priya"),
        memory("c", "a fact", person="priya", category="operations"),
    )
    assert texts(frame) == ["priya's rule", "a fact"]


def test_a_day_made_again_proposes_under_the_same_numbers():
    first, numbers = proposals_of(memory("a", "one"), memory("b", "two"))
    again, more = proposals_of(memory("b", "two"), memory("a", "one"), events=numbered(numbers))
    assert again.equals(first)
    assert more == []


def test_a_backfilled_older_day_takes_no_proposal_away():
    """The memory began with `uv`; an older day now gives it the root `old`, which was numbered there."""
    events = numbered(
        [
            ("p-20260803-001", {"key": "uv", "day": "2026-08-03"}),
            ("p-20260801-001", {"key": "old", "day": "2026-08-01"}),
        ]
    )
    older = memory("old", observation_ids=["old", "uv"])
    frame, more = proposals_of(older, events=events)
    assert (frame["proposal_id"].to_list(), more) == (["p-20260803-001"], [])
    assert proposals_of(older, day=DAY + timedelta(1), events=events)[0].is_empty()


def test_a_memory_whose_id_changed_keeps_its_number_also_on_another_day():
    _, numbers = proposals_of(memory("a", "two"), memory("old"))
    moved, later = memory("new", "use uv, never pip"), DAY + timedelta(1)
    frame, more = proposals_of(
        moved, day=later, events=numbered(numbers), claims=Claims(present={"new", "a"})
    )
    assert frame.select("proposal_id", "day", "memory_id").rows() == [
        ("p-20260803-002", later, "new")
    ]
    again, none = proposals_of(
        moved,
        day=later,
        events=[*numbered(numbers), *numbered(more)],
        claims=Claims(present={"new"}),
    )
    assert (again.equals(frame), none) == (True, [])


@given(batches=st.lists(st.sets(st.sampled_from("abcdefgh"), min_size=1), min_size=1, max_size=5))
def test_numbers_are_unique_and_permanent_however_a_day_grows(batches):
    events: list[Event] = []
    known: dict[str, str] = {}
    for batch in batches:
        frame, numbers = proposals_of(
            *(memory(name, name) for name in sorted(batch)), events=events
        )
        events += numbered(numbers)
        found = dict(frame.select("memory_id", "proposal_id").iter_rows())
        assert all(found[name] == known[name] for name in found if name in known)
        known |= found
    assert len(set(known.values())) == len(known)
