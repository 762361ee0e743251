"""What could stand in MEMORY.md for months, and how it reads there."""

import pytest

from memory_assets.stages.triage.lasting import line_of, why_short_lived

ERRAND, OPTION, STATE, PLACE, CHAT, LEANS, FRAGMENT, DEFECT = (
    "asks for something to be done in that session",
    "an option that was picked; what it answers is not said",
    "tells a state that passes",
    "points at a line or commit that moves on",
    "is what somebody said in a conversation, not a statement",
    "leans on what was said before it",
    "is a fragment that says nothing alone",
    "tells what was wrong, not what holds",
)


@pytest.mark.parametrize(
    ("said", "why"),
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
        ("The owner corrected: “it's also dropped, that's all”", CHAT),
        ("The owner corrected: “Just noticed, the README uses go run, instead of git-sync”", CHAT),
        ("The memo recommended owning the protocol layer.", LEANS),
        ("This is how the old code worked.", LEANS),
        ("`Storer` satisfies both, so the issue is the signature.", LEANS),
        ("An MVP with these limits (the owner: “ok, let's build the MVP in this repo”)", FRAGMENT),
        ("The hash has 42 characters instead of the required 40.", DEFECT),
        ("The owner wants: “This is a regression from the old code, which always asked twice”", DEFECT),
        ("The 401 surfaces in `smarthttp.go`. Cleanest plumbing.", DEFECT),
        ("`refs/remotes/*` — which is why mirroring surprises people", FRAGMENT),
    ],
)
def test_what_passes_is_named(said: str, why: str):
    assert why_short_lived(said) == why


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
    assert why_short_lived(said) is None


def test_what_a_second_session_says_is_no_errand_but_may_be_a_state():
    assert why_short_lived("The owner decided: “put the assets in docs/images”", is_repeated=True) is None
    assert why_short_lived("The gauges are green with the new tests.", is_repeated=True) == STATE


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("The owner decided: “let's migrate to cobra”", "Let's migrate to cobra"),
        ("Rely on the `ssh` binary for keys. (the owner decided: “go”)", "Rely on the `ssh` binary for keys."),
        ("Run with `-race` in CI: the owner decided “yes add -race”.", "Run with `-race` in CI"),
        ("The issue was that the plugin is found by `main`.", "The plugin is found by `main`."),
        ("Do it. (the owner: “yes, and in the same way for all of the other harbours, too”)",) * 2,
        ("Always use `uv`, never `pip`.",) * 2,
    ],
)
def test_a_line_says_what_holds_and_not_who_agreed(said: str, line: str):
    assert line_of(said) == line
