"""What could stand in MEMORY.md for months, and what rules refuse without a person."""

import pytest

from memory_assets.stages.triage.refusal import why_refused
from memory_assets.stages.triage.wording import line_of

SHORTEST = 12

ERRAND, OPTION, STATE, PLACE, CHAT, FRAGMENT, REPORT = (
    "passes: a task of that session",
    "too vague: an option that was picked; what it answers is not said",
    "passes: a state of the moment",
    "passes: points at a line or commit that moves on",
    "too vague: an open question",
    "too vague: a fragment that says nothing alone",
    "passes: reports what was done",
)


def why(said: str, *, is_repeated: bool = False, author: str = "assistant") -> str | None:
    one = {"text": line_of(said), "said": said, "author": author, "category": "operations"}
    return why_refused(one, is_repeated=is_repeated, shortest=SHORTEST)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("The owner decided: “let's add a fix to prevent this earlier”", ERRAND),
        ("The owner decided: “ok, put the video assets in docs/images”", ERRAND),
        ("Add a test for `--prune`. (the owner: “yes, do this”)", ERRAND),
        ("The gauges are green with the new tests.", STATE),
        ("The branch is 5 ahead and 5 behind `origin/main`.", STATE),
        ("General tide collaboration — any tide table (approved by the owner: “b”).", OPTION),
        ("The dredger was removed; the old quay was rebuilt and moved.", REPORT),
        ("Root cause: `receive_pack.go:53` caps a request.", PLACE),
        ("`origin/main` is at `92066eeb` and deploys.", PLACE),
        ("Which of the two do we keep?", CHAT),
        ("Next thing: port the loader.", "too vague: a note of what comes next"),
        ("The supported formats are:", FRAGMENT),
    ],
)
def test_what_is_refused_is_named(said: str, reason: str):
    assert why(said) == reason


@pytest.mark.parametrize(
    "said",
    [
        "Always use `uv`, never `pip`.",
        "The owner decided: “let's always deploy from leith-1, never by hand”",
        "In `auto` mode drop the string match and fall back to v1 on any error. (the owner: “yeah, let's do the fallback”)",
        "OpenCode finds a plugin by the `main` field of `package.json`.",
        "Rely on the local `ssh` binary for agent keys. (the owner decided: “let's give it a try”)",
        "Staging's Postgres listens on 5433.",
        "Redis was replaced by Postgres because its licence changed.",
        "The ledger was moved from SQLite to Postgres.",
        "The owner decided that releases are cut from `main` on Fridays.",
        "This is how the loader works.",
        "Updated charts need a new checksum.",
        "Timestamps are 2026-08-03T10:00:00Z, and ids are UUIDs such as 0f3a5c1e-0000-5000-8000-000000000001.",
    ],
)
def test_what_may_last_is_left_to_a_person(said: str):
    assert why(said) is None
