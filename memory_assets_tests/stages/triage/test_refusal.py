"""What could stand in MEMORY.md for months, and what rules refuse without a person."""

import pytest

from memory_assets.stages.triage.refusal import why_refused
from memory_assets.stages.triage.wording import line_of

SHORTEST = 12

ERRAND, OPTION, STATE, PLACE, CHAT, LEANS, FRAGMENT, DEFECT = (
    "passes: a task of that session",
    "too vague: an option that was picked; what it answers is not said",
    "passes: a state of the moment",
    "passes: points at a line or commit that moves on",
    "too vague: an open question",
    "too vague: leans on what was said before it",
    "too vague: a fragment that says nothing alone",
    "passes: what was wrong, not what holds",
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
        ("Single file — easy to diff. Not: a directory; a database. (the owner: “a”)", OPTION),
        ("The gauges are green with the new tests.", STATE),
        ("The branch is 5 ahead and 5 behind `origin/main`.", STATE),
        ("PR opened: https://example.org/pull/96", STATE),
        ("Root cause: `receive_pack.go:53` caps a request.", PLACE),
        ("`origin/main` is at `92066eeb` and deploys.", PLACE),
        ("Which of the two do we keep?", CHAT),
        ("Next thing: port the loader.", "too vague: a note of what comes next"),
        ("The supported formats are:", FRAGMENT),
        ("The memo recommended owning the protocol layer.", LEANS),
        ("This is how the old code worked.", LEANS),
        ("`Storer` satisfies both, so the issue is the signature.", LEANS),
        ("An MVP with these limits (the owner: “ok, let's build the MVP in this repo”)", FRAGMENT),
        ("The hash has 42 characters instead of the required 40.", DEFECT),
        (
            "The owner wants: “This is a regression from the old code, which always asked twice”",
            DEFECT,
        ),
        ("The 401 surfaces in `smarthttp.go`. Cleanest plumbing.", DEFECT),
        ("`refs/remotes/*` — which is why mirroring surprises people", FRAGMENT),
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
        "Timestamps are 2026-08-03T10:00:00Z, and ids are UUIDs such as 0f3a5c1e-0000-5000-8000-000000000001.",
    ],
)
def test_what_may_last_is_left_to_a_person(said: str):
    assert why(said) is None
