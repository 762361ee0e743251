"""Triggers: from the owner's own messages and from days that facts name outright, against the message's own moment and zone."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import polars as pl

from memory_assets.schema import frames as tables
from memory_assets.stages.distill.dates.triggers import find_triggers
from memory_assets_tests.factories import frame, message, row

BERLIN = ZoneInfo("Europe/Berlin")
SAID = datetime(2026, 5, 6, 8, 0, tzinfo=UTC)
WINDOW = "w" * 64


def said(text: str, ordinal: int = 0, **changes) -> dict:
    return message(text, ordinal, **{"event_at": SAID, "day": SAID.date()} | changes)


def fact(text: str, line: int = 0, **changes) -> dict:
    plain = {
        "id": f"fact-{line}",
        "gate": "allow",
        "kind": "fact",
        "window_id": WINDOW,
        "event_at": SAID,
        "lines": [line],
    }
    return row("observations", text=text, **plain | {"message_ids": [f"msg_{line:020x}"]} | changes)


def found(
    *messages: dict,
    facts: tuple[dict, ...] = (),
    captured: datetime = SAID,
    zone: ZoneInfo = BERLIN,
) -> pl.DataFrame:
    windows = frame(
        "windows", row("windows", window_id=WINDOW, project="shop", person="mira", path="a.jsonl")
    )
    ranges = {"resource-1": captured}
    made = find_triggers(
        frame("messages", *messages), frame("observations", *facts), windows, ranges, zone
    )
    return tables.check("triggers", made)


def test_the_owners_words_make_a_trigger_that_says_where_it_is_from():
    (one,) = found(said("Fine. Remind me on Monday to rotate the keys! Then go on.", 3)).to_dicts()
    assert (one["trigger_on"], one["expression"]) == (date(2026, 5, 11), "Remind me on Monday")
    assert one["quote"] == "Remind me on Monday to rotate the keys!"
    assert (one["message_id"], one["line"], one["session_id"], one["path"]) == (
        f"msg_{3:020x}",
        3,
        "session-1",
        "a.jsonl",
    )
    assert (one["project"], one["person"], one["zone"], one["state"]) == (
        "shop",
        "mira",
        "Europe/Berlin",
        "due",
    )


def test_what_tools_and_assistants_say_makes_none():
    others = (
        said("We ship by Friday.", n, author=author)
        for n, author in enumerate(("assistant", "tool", "injected", "subagent"))
    )
    assert found(*others).is_empty()


def test_a_day_that_was_over_when_the_message_was_captured_is_past():
    backfilled = SAID + timedelta(days=40)
    assert found(said("Remind me on Monday to rotate the keys."), captured=backfilled)[
        "state"
    ].to_list() == ["past"]
    on_the_day = datetime(2026, 5, 11, 21, 0, tzinfo=UTC)
    assert found(said("Remind me on Monday to rotate the keys."), captured=on_the_day)[
        "state"
    ].to_list() == ["due"]


def test_a_fact_counts_where_it_names_the_day_itself():
    facts = (
        fact("The staging certificate expires on 2026-06-01.", 1),
        fact("The trial ends in two weeks.", 2),
    )
    rows = found(said("ok", 1), said("ok", 2), facts=facts).to_dicts()
    assert [(one["trigger_on"], one["quote"]) for one in rows] == [
        (date(2026, 6, 1), "The staging certificate expires on 2026-06-01.")
    ]


def test_a_message_and_its_fact_are_one_trigger():
    text = "The certificate expires on 2026-06-01."
    assert found(said(text, 1), facts=(fact(text, 1),)).height == 1


def test_only_facts_about_the_subject_of_the_sentence_are_recalled_with_it():
    facts = (
        fact("Tea is at four on every day.", 3),
        fact("Rotating secrets takes an hour.", 4),
        fact("Vault holds each key.", 5),
        fact("Remind Ana of the tea.", 6),
    )
    (one,) = found(
        said("Tea first. Remind me on Monday to rotate the keys.", 3), facts=facts
    ).to_dicts()
    assert one["memory_ids"] == ["fact-4", "fact-5"]
    (one,) = found(said("The tea is late. Remind me on Monday.", 3), facts=facts).to_dicts()
    assert one["memory_ids"] == ["fact-3", "fact-6"]


def test_a_word_that_most_facts_have_is_no_subject():
    texts = (
        "The build is slow.",
        "The build needs Go.",
        "The build runs at night.",
        "Keys rotate.",
    )
    facts = tuple(fact(text, line) for line, text in enumerate(texts, 3))
    (one,) = found(said("Remind me on Monday to rotate the build keys.", 3), facts=facts).to_dicts()
    assert one["memory_ids"] == ["fact-6"]


def test_a_sentence_without_a_subject_takes_the_one_beside_it_and_no_further_one():
    facts = (fact("Tea is at four.", 3), fact("Vault holds each key.", 5))
    text = "Vault is down. Now the tea is late. Remind me on Monday."
    (one,) = found(said(text, 3), facts=facts).to_dicts()
    assert one["memory_ids"] == ["fact-3"]
    (one,) = found(
        said("Remind me on Monday! The tea is late. Vault too.", 3), facts=facts
    ).to_dicts()
    assert one["memory_ids"] == ["fact-3"]


def test_a_guessed_time_resolves_nothing():
    assert found(said("Remind me on Monday to rotate the keys.", is_time_guessed=True)).is_empty()
