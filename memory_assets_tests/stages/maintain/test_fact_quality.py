"""The quality of a day: shares add up, faults are counted apart for what is allowed and held, and offenders are named."""

from datetime import timedelta
from typing import Any

import polars as pl
import pytest

from memory_assets.schema.frames import check
from memory_assets.stages.maintain.fact_quality import (
    count_of,
    find_faulty,
    find_repeated,
    loosely_read,
    measure_day,
    share_of,
)
from memory_assets_tests.factories import START, frame, message, row

DAY = START.date()
SAID = "Use uv, never pip, to install packages. The database listens on port 5433."


def fact(id: str, text: str = "Use uv, never pip.", **changes: Any) -> dict[str, Any]:
    plain = {
        "kind": "fact",
        "gate": "allow",
        "scope": "project",
        "author": "owner",
        "day": DAY,
        "message_ids": ["m1"],
        "priority": "medium",
    }
    return row("observations", **{"id": id, "text": text, **plain, **changes})


def verdict(
    id: str, verdict: str = "allow", reason: str = "durable, with evidence", **changes: Any
) -> dict[str, Any]:
    plain = {"parse_path": "rules", "day": DAY}
    return row(
        "verdicts", **{"candidate_id": id, "verdict": verdict, "reason": reason, **plain, **changes}
    )


def measured(
    facts: list[dict[str, Any]], verdicts: list[dict[str, Any]], said: str = SAID
) -> pl.DataFrame:
    messages = frame("messages", message(said, message_id="m1"))
    return measure_day(DAY, frame("verdicts", *verdicts), frame("observations", *facts), messages)


def counts(quality: pl.DataFrame, measure: str) -> dict[str, tuple[int, int]]:
    own = quality.filter(pl.col("measure") == measure)
    return {
        value: (count, total)
        for value, count, total in own.select("value", "count", "total").iter_rows()
    }


def test_the_rows_fit_their_table_and_shares_add_up():
    found = measured(
        [fact("a"), fact("b", gate="hold")],
        [verdict("a"), verdict("b", "hold", "an opinion"), verdict("c", "discard", "an opinion")],
    )
    check("quality", found)
    for measure in ("verdict", "reason", "parse_path", "priority"):
        assert found.filter(pl.col("measure") == measure)["share"].sum() == pytest.approx(1.0)
    assert counts(found, "verdict") == {"allow": (1, 3), "discard": (1, 3), "hold": (1, 3)}
    assert counts(found, "reason") == {"an opinion": (2, 3), "durable, with evidence": (1, 3)}


def test_junk_is_what_was_stopped_for_what_it_is_among_candidates_that_are_no_narratives():
    narrative = fact("n", kind="narrative", gate="hold")
    verdicts = [
        verdict("a"),
        verdict("b", "hold", "a passing state"),
        verdict("c", "hold", "more useful facts fill the session's share"),
        verdict("n", "hold", "a narrative, for looking up"),
    ]
    found = measured(
        [fact("a"), fact("b", gate="hold"), fact("c", gate="hold"), narrative], verdicts
    )
    assert counts(found, "junk") == {"candidates": (1, 3)}
    assert share_of(found, "junk", "candidates") == pytest.approx(1 / 3)


def test_faults_are_counted_apart_for_what_is_allowed_and_held():
    facts = [
        fact("a", "Use uv, never pip."),
        fact("b", "The database listens on port 5433 since 14:05.", gate="hold"),
        fact("c", "The moon is made of green cheese."),
    ]
    found = measured(facts, [])
    assert counts(found, "ungrounded") == {"allow": (1, 2), "hold": (0, 1)}
    assert counts(found, "invented_time") == {"allow": (0, 2), "hold": (1, 1)}


def test_pasted_text_in_a_turn_of_the_owners_is_told_by_the_message_alone():
    tool = message(SAID, message_id="m1", author="tool", is_user_turn=False)
    found = find_faulty(frame("observations", fact("a")), frame("messages", tool))
    assert found["fault"].to_list() == ["owner_unheard"]


def test_an_allowed_fact_repeats_allowed_ones_alone_within_day_and_scope():
    later = {"event_at": START + timedelta(minutes=1)}
    facts = frame(
        "observations",
        fact("a", event_at=START),
        fact("b", **later),
        fact("c", gate="hold", **later),
        fact("d", project="other", **later),
        fact("e", "Rest.", gate="hold", event_at=START),
        fact("f", "Rest!", **later),
    )
    assert find_repeated(facts).select("id", "gate", "same_as").rows() == [
        ("b", "allow", "a"),
        ("c", "hold", "a"),
    ]


def test_shares_of_several_days_weigh_each_day_by_its_rows():
    one = measured([fact("a")], [verdict("a")])
    other = measured(
        [], [verdict("b", "discard", "an opinion"), verdict("c", "hold", "an opinion")]
    )
    both = pl.concat([one, other])
    assert share_of(both, "verdict", "allow") == pytest.approx(1 / 3)
    assert share_of(both, "junk", "candidates") == pytest.approx(2 / 3)
    assert share_of(both, "ungrounded", "allow") == 0.0
    assert count_of(both, "verdict") == 3


def test_a_day_without_candidates_has_no_rows_and_shares_of_nothing():
    """Which idle days lie within a run depends on where runs begin and end, and that on kills."""
    found = measured([], [])
    assert found.is_empty()
    assert share_of(found, "junk", "candidates") is None
    assert share_of(found, "verdict", "allow") is None
    assert loosely_read(found) is None
    check("quality", found)
