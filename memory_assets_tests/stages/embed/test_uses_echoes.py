"""An assistant that repeats what its session was shown of the memory is no second source; the owner always is."""

from datetime import timedelta

import pytest

from memory_assets.stages.embed.evidence import plan_evidence
from memory_assets.stages.embed.uses import find_echoes, suspects
from memory_assets_tests.factories import START, frame, message, row

RULE = "Run make check before every commit."


def said(id: str, **changes: object) -> dict:
    plain = {
        "event_at": START + timedelta(hours=int(id)), "text": RULE, "text_hash": id, "session_id": f"s{id}", "kind": "fact",
        "gate": "allow", "author": "assistant", "message_ids": [f"m{id}"],
    }  # fmt: skip
    return row("observations", id=id, **plain | changes)


def echoes(*shown: dict, **changes: object) -> frozenset[str]:
    observations = frame("observations", said("1"), said("2", **changes))
    merges = frame(
        "merges", row("merges", newer_id="2", older_id="1", relation="same", reason="same words")
    )
    found = suspects(plan_evidence(observations, merges, [], {}, ()), observations)
    messages = frame("messages", *shown).select("session_id", "author", "event_at", "text")
    return find_echoes(found, observations, messages)


def shown(text: str, author: str = "injected", session_id: str = "s2", hours: int = 1) -> dict:
    return message(
        text, author=author, session_id=session_id, event_at=START + timedelta(hours=hours)
    )


@pytest.mark.parametrize(
    ("text", "author"),
    [
        ("# Memory briefing\n- run make check before every commit\n", "injected"),
        ("~ Run make check before every commit. (0.90, 12d, rules-conventions)", "tool"),
        ("## Hard Rules\n- (2026-08-03) Run make check before every commit.", "file"),
        ("Run make check before every commit [mem_0123456789ab]", "web"),
    ],
)
def test_what_was_shown_of_the_memory_and_is_said_again_is_an_echo(text: str, author: str):
    assert echoes(shown(text, author)) == {"2"}


@pytest.mark.parametrize(
    "message_",
    [
        shown("Run make check before every commit.", "file"),
        shown("Run make lint.\nCommit often.\nCheck the mail."),
        shown(RULE, session_id="s3"),
        shown(RULE, hours=9),
    ],
    ids=["a file of the project", "other lines", "another session", "afterwards"],
)
def test_what_the_project_itself_says_and_what_nobody_was_shown_is_a_source(message_: dict):
    assert echoes(message_) == frozenset()
