"""What holds now of a memory: reports of what was done are cut, and what the owner wants reads as a rule."""

import pytest

from memory_assets.stages.reflect.durable import is_durable
from memory_assets.stages.reflect.present import what_holds


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("Charts live in `charts/`; maps/ was removed.", "Charts live in `charts/`."),
        ("Releases use `make ship`, introduced in this session.", "Releases use `make ship`."),
        (
            "Tags are kebab-case across all charts (was snake_case, untagged).",
            "Tags are kebab-case across all charts.",
        ),
        (
            "Every gauge needs a `kind`; without it nothing is read. Added to north.json.",
            "Every gauge needs a `kind`; without it nothing is read.",
        ),
        (
            "Layout replaced: `old.json` deleted; `new.json` now lists the quays.",
            "`new.json` now lists the quays.",
        ),
        (
            "The page shows the hosted film, not files: the local film was reverted.",
            "The page shows the hosted film, not files.",
        ),
        (
            "Pages do not play films from the repo; that is why none was seen.",
            "Pages do not play films from the repo.",
        ),
        ("Tests hung on a prompt; set `NO_PROMPT=1` in the test task.",) * 2,
        ("Any blocked ferry stops the crossing before anything is moved.",) * 2,
        ("The old flag was removed, so you must use `--quay`.",) * 2,
    ],
)
def test_reports_of_what_was_done_are_cut(text: str, holds: str):
    assert what_holds(text) == holds


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("The owner chose squash merges for all harbours.", "Use squash merges for all harbours."),
        ("The owner wants the relay to stream.", "The relay should stream."),
        (
            "User does not want any tide charts removed, only moved.",
            "Tide charts must not be removed, only moved.",
        ),
        ("The owner decided that gauges are polled each minute.", "Gauges are polled each minute."),
        ("User prefers short commits.", "Prefer short commits."),
        ("The owner has a diagnosis confirmed by a run.", "Have a diagnosis confirmed by a run."),
        ("The owner wants to keep the old API.", "Keep the old API."),
    ],
)
def test_what_the_owner_wants_is_said_as_a_rule(text: str, holds: str):
    assert what_holds(text) == holds


@pytest.mark.parametrize(
    "text",
    [
        "The owner approved five gauges for the harbor.",
        "User removed the question about tides from the page.",
        "The harbor went from no gauges (only a buoy) to five.",
        "Verified against the live gauges.",
        "The relay failed because the queue was full.",
        "The former check matched one server's wording.",
    ],
)
def test_of_a_mere_report_nothing_holds(text: str):
    assert what_holds(text) == ""
    assert not is_durable({"author": "owner", "category": "rules-conventions", "text": text})
