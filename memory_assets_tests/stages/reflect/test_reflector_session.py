"""A long session's own block: short, its own, in order of time, cited, and made from its observations every time."""

from datetime import timedelta
from typing import Any

import polars as pl
import pytest

from memory_assets.schema import frames as tables
from memory_assets.stages.reflect.background import Background
from memory_assets.stages.reflect.reflector import (
    MOST_TOKENS,
    long_sessions,
    reflect_on_sessions,
    session_target,
)
from memory_assets.text.words import CHARS_A_TOKEN
from memory_assets_tests.factories import PLAIN, START, frame, row

LONG, OTHER = "0a000001-1111-4222-8333-444455556666", "0a000002-1111-4222-8333-444455556666"
CONTEXT = 200_000
NOW = START + timedelta(days=2)


def window(
    number: int, session: str = LONG, chars: int = 400_000, **changes: Any
) -> dict[str, Any]:
    """A window that a compaction closed, an hour after the one before it."""
    ended = START + timedelta(hours=number)
    plain = {
        "status": "observed",
        "trigger": "compaction",
        "day": ended.date(),
        "ended_at": ended,
        "chars": chars,
    }
    return row(
        "windows",
        window_id=f"{session}/{number}",
        session_id=session,
        project="harbor",
        **{**plain, **changes},
    )


def fact(number: int, session: str = LONG, text: str = "", **changes: Any) -> dict[str, Any]:
    said = (
        text or f"`make dock{number}` moors the barge {number} at the pier of the northern harbor."
    )
    id = f"{number:08x}-{session[4:8]}-5000-8000-000000000000"
    at = START + timedelta(minutes=number)
    return row(
        "observations", id=id, session_id=session, text=said, event_at=at, **{**PLAIN, **changes}
    )


def memory(*facts: dict[str, Any], **changes: Any) -> dict[str, Any]:
    known = {
        "id": facts[0]["id"],
        "observation_ids": [one["id"] for one in facts],
        "state": "active",
    }
    return row("memories", **{**known, **changes})


def compacted(times: int, session: str = LONG) -> pl.DataFrame:
    return frame("windows", *(window(number, session) for number in range(times)))


def reflected(
    windows: pl.DataFrame, facts: list[dict[str, Any]], memories: list[dict[str, Any]] | None = None
) -> dict[str, dict[str, Any]]:
    sessions = long_sessions(windows, context_tokens=CONTEXT, now=NOW)
    known = [memory(one) for one in facts] if memories is None else memories
    background = Background.of(frame("memories", *known))
    found = reflect_on_sessions(
        sessions, frame("observations", *facts), background, context_tokens=CONTEXT
    )
    tables.check("session_reflections", found)
    return {one["session_id"]: one for one in found.to_dicts()}


def test_the_full_block_has_half_of_what_makes_a_session_long():
    assert (session_target(200_000), session_target(CONTEXT)) == (32_500, CONTEXT * 325 // 2_000)
    told = reflected(
        compacted(10),
        [fact(number, text=f"Quay {number} is closed. " * 12) for number in range(600)],
    )[LONG]
    assert told["tokens"] <= MOST_TOKENS
    assert 0.9 * session_target(CONTEXT) <= told["full_tokens"] <= session_target(CONTEXT)
    few = reflected(compacted(10), [fact(number) for number in range(60)])[LONG]
    assert (few["told_count"], len(few["full_text"].splitlines())) == (
        few["text"].count("\n") + 1,
        60,
    )


def test_a_session_compacted_ten_times_has_one_short_block_with_its_most_important_facts():
    facts = [fact(number) for number in range(100)]
    facts[7] |= {"priority": "high"}
    facts[42] |= {"author": "owner"}
    told = reflected(compacted(10), facts)[LONG]
    assert told["tokens"] <= MOST_TOKENS
    assert (told["window_count"], told["fact_count"]) == (10, 100)
    assert 10 < told["told_count"] == len(told["text"].splitlines()) < 40
    assert {facts[7]["id"], facts[42]["id"]} <= set(told["observation_ids"])


def test_every_line_ends_with_ids_that_are_its_own_and_lines_stand_in_order_of_time():
    facts = [fact(number) for number in range(100)]
    told = reflected(compacted(10), facts)[LONG]
    lines = told["text"].splitlines()
    assert told["observation_ids"] == sorted(told["observation_ids"])
    for id, line in zip(told["observation_ids"], lines, strict=True):
        assert line.endswith(f"[mem_{id.replace('-', '')[:12]}]")


@pytest.mark.parametrize(
    ("chars", "is_told"), [(int(CONTEXT * 0.325 * CHARS_A_TOKEN), True), (259_996, False)]
)
def test_a_session_is_long_past_0_325_of_the_context(chars: int, is_told: bool):
    windows = frame(
        "windows",
        window(0, chars=chars - 4_000),
        window(1, chars=4_000),
        window(2, status="open", day=None),
    )
    assert (LONG in reflected(windows, [fact(0)])) == is_told


@pytest.mark.parametrize(
    ("fact_changes", "memory_changes"),
    [
        ({"gate": "hold"}, {}),
        ({"kind": "narrative"}, {}),
        ({}, {"superseded_by": "newer"}),
        ({}, {"state": "forgotten"}),
    ],
    ids=["held", "narrative", "replaced", "forgotten"],
)
def test_what_nobody_may_be_told_or_no_longer_holds_is_not_in_it(
    fact_changes: dict, memory_changes: dict
):
    gone, stays = fact(1, **fact_changes), fact(2)
    told = reflected(compacted(10), [gone, stays], [memory(gone, **memory_changes), memory(stays)])
    assert told[LONG]["observation_ids"] == [stays["id"]]
    assert reflected(compacted(10), [gone], [memory(gone, **memory_changes)]) == {}


def test_an_eleventh_compaction_condenses_the_observations_again_and_not_the_block():
    facts = [fact(number) for number in range(100)]
    before = reflected(compacted(10), facts)[LONG]
    newest = fact(500, priority="high")
    after = reflected(compacted(11), [*facts, newest])[LONG]
    assert after["text"].endswith(f"[mem_{newest['id'].replace('-', '')[:12]}]")
    assert after["tokens"] <= MOST_TOKENS
    assert reflected(compacted(11), [*facts, newest])[LONG] == after != before
