"""Changes of lines that MEMORY.md holds: asked about once, for a reason, and only where the line is ours and untouched."""

from collections.abc import Collection
from datetime import UTC, date
from pathlib import Path

import polars as pl
import pytest

from memory_assets.stages.reflect.proposals import NUMBERED
from memory_assets.stages.triage import file_sizes
from memory_assets.stages.triage.amendments import (
    PlannedAmendment,
    number_amendments,
    plan_amendments,
    read_amendments,
)
from memory_assets.stages.triage.entries import statuses_of
from memory_assets.stages.triage.file_sizes import FileSize
from memory_assets.stages.triage.promote import PROMOTED
from memory_assets.store.ledger import Event
from memory_assets_tests.factories import START, frame, frame_of_part, row
from memory_assets_tests.stages.triage.world import PROJECT_MD, World

PORT, NEW_PORT = (
    "The staging database listens on port 5432.",
    "The staging database listens on port 5433.",
)
UV = "Always use `uv`, never `pip`."
LONG = "Write dates the British way in reports letters logs tables and the tide calendar"
NONE_MERGED = pl.DataFrame(
    schema={"proposal_id": pl.String, "text": pl.String, "entry": pl.String, "event_on": pl.Date},
)


def promoted(number: int, text: str, on: str = "2026-08-03") -> Event:
    payload = {"line": f"- ({on}) {text}", "observation_ids": [f"o{number}"]}
    return Event(f"{number:09d}-a", START, "rules", PROMOTED, f"p-20260803-{number:03d}", payload)


def memory(number: int, text: str, **known) -> dict:
    return row(
        "memories",
        id=f"o{number}",
        observation_ids=[f"o{number}"],
        text=text,
        **{"state": "active", **known},
    )


def plan(
    content: str,
    events: list[Event],
    *memories: dict,
    merged: pl.DataFrame = NONE_MERGED,
    rewound: Collection[str] = (),
) -> list[PlannedAmendment]:
    known = frame("memories", *memories)
    standings = statuses_of(content, events, known)
    return plan_amendments(
        standings,
        FileSize("MEMORY.md", len(standings), len(content.encode())),
        known,
        events,
        merged,
        UTC,
        rewound=rewound,
    )


def test_a_replaced_memory_asks_to_replace_its_line():
    content, events = f"## Patterns\n- (2026-08-03) {PORT}\n", [promoted(1, PORT)]
    old, new = memory(1, PORT, state="superseded", superseded_by="o2"), memory(2, NEW_PORT)
    (found,) = plan(content, events, old, new)
    assert (found.key, found.text, found.event_on) == (
        "replace:p-20260803-001:o2",
        NEW_PORT,
        START.date(),
    )
    assert (found.status.line, found.reason) == (
        f"- (2026-08-03) {PORT}",
        "a newer memory replaced it",
    )


@pytest.mark.parametrize(
    "gone", [{"state": "forgotten"}, {"state": "superseded", "superseded_by": "o1"}]
)
def test_a_replacement_that_does_not_stand_itself_is_not_proposed(gone: dict):
    old = memory(1, PORT, state="superseded", superseded_by="o2")
    assert (
        plan(f"- (2026-08-03) {PORT}\n", [promoted(1, PORT)], old, memory(2, NEW_PORT, **gone))
        == []
    )


def test_what_more_speaks_against_than_for_asks_to_go():
    (found,) = plan(
        f"- (2026-08-03) {PORT}\n", [promoted(1, PORT)], memory(1, PORT, contradicted_count=1)
    )
    assert (found.key, found.text) == ("retire:p-20260803-001:contradicted", "")


def test_a_line_whose_turns_were_all_taken_back_asks_to_go():
    """Not while one of its messages, or a memory of another session, still says it."""
    evidence = [{"message_id": "m1"}, {"message_id": "m2"}]
    promotion = promoted(1, PORT)
    promotion.payload["evidence"] = evidence
    content = f"- (2026-08-03) {PORT}\n"
    (found,) = plan(content, [promotion], rewound={"m1", "m2"})
    assert (found.key, found.text) == ("retire:p-20260803-001:rewound", "")
    assert plan(content, [promotion], rewound={"m1"}) == []
    assert plan(content, [promotion], memory(1, PORT), rewound={"m1", "m2"}) == []


def test_turns_taken_back_after_the_promotion_put_the_line_up_for_review(world: World):
    """Another line, whose memory is gone for other reasons, is left alone."""
    promotion, other = world.ledger.events([PROMOTED])
    rows = [
        row("records", line=part["line"], message_id=part["message_id"], status="rewound")
        for part in promotion.payload["evidence"]
    ]
    write_part(world, "records", "s1", rows)
    write_part(world, "memories", "all", [])
    states = world.triage()
    (asked,) = [id for id, (state, _) in states.items() if state == "pending"]
    assert "the turns in which it was said were taken back" in world.review_md.read_text()
    world.tick(asked)
    world.triage()
    assert world.entries() == [other.payload["line"]]


def write_part(world: World, table: str, part: str, rows: list[dict]) -> None:
    world.tables.write(table, part, frame_of_part(table, part, *rows))


@pytest.mark.parametrize(
    ("said", "keys"),
    [
        (f"{LONG} by the harbour masters", ["merge:p-20260803-001:p-20260804-001"]),
        (f"Please {LONG}", []),
        (LONG.removesuffix(" calendar"), []),
        (
            f"{LONG} by everyone and also never mind the spreadsheet exports or the printed timetables",
            [],
        ),
    ],
)
def test_a_fuller_wording_of_the_same_is_proposed_and_a_poorer_or_another_one_is_not(
    said: str, keys: list[str]
):
    line = f"- (2026-08-03) {LONG}"
    merged = pl.DataFrame(
        [("p-20260804-001", said, line, date(2026, 8, 4))], schema=NONE_MERGED.schema, orient="row"
    )
    assert [
        one.key for one in plan(f"{line}\n", [promoted(1, LONG)], memory(1, LONG), merged=merged)
    ] == keys


def test_a_file_that_is_too_large_asks_what_is_least_missed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(file_sizes, "MOST_ENTRIES", 2)
    texts = {1: "one used", 2: "two contradicted", 3: "three old", 4: "four young"}
    days = {1: "2026-08-01", 2: "2026-08-04", 3: "2026-08-02", 4: "2026-08-03"}
    events = [promoted(n, text, days[n]) for n, text in texts.items()]
    known = {1: {"used_count": 3}, 2: {"used_count": 1, "contradicted_count": 1}}
    content = "".join(f"- ({days[n]}) {text}\n" for n, text in texts.items())
    found = plan(
        content, events, *(memory(n, text, **known.get(n, {})) for n, text in texts.items())
    )
    assert [one.key for one in found] == [
        "retire:p-20260803-003:many",
        "retire:p-20260803-004:many",
    ]
    assert "MEMORY.md holds 4 entries" in found[0].reason


def test_an_amendment_is_numbered_once_behind_the_proposals_of_its_day():
    old, new = memory(1, PORT, state="superseded", superseded_by="o2"), memory(2, NEW_PORT)
    found = plan(f"- (2026-08-03) {PORT}\n", [promoted(1, PORT)], old, new)
    given = [
        Event(
            "1", START, "reflector", NUMBERED, "p-20260805-002", {"key": "o9", "day": "2026-08-05"}
        )
    ]
    ((number, payload),) = number_amendments(found, given, date(2026, 8, 5))
    assert number == "p-20260805-003"
    numbered = [*given, Event("2", START, "rules", NUMBERED, number, payload)]
    assert number_amendments(found, numbered, date(2026, 8, 6)) == []
    (read,) = read_amendments(numbered).to_dicts()
    assert (read["proposal_id"], read["text"], read["entry"]) == (
        number,
        NEW_PORT,
        f"- (2026-08-03) {PORT}",
    )


@pytest.fixture
def world(tmp_path: Path) -> World:
    """MEMORY.md holds one line, and the memory behind it was replaced since."""
    world = World(tmp_path)
    world.propose(PORT, sessions=2, section="Patterns")
    world.propose(UV, sessions=2)
    world.ledger.append("proposal.approved", "p-20260803-001", {}, actor="mira")
    world.triage()
    assert [entry.split(") ")[1] for entry in world.entries()] == [UV, PORT]
    return world


def amendment(world: World) -> str:
    (found,) = world.tables.read("amendments").to_dicts()
    return found["proposal_id"]


def test_the_owners_own_correction_needs_no_tick(world: World):
    world.replace("p-20260803-001", NEW_PORT, is_correction=True)
    assert world.triage()[amendment(world)] == ("promoted", "corrected by the owner")
    assert [entry.split(") ")[1] for entry in world.entries()] == [UV, NEW_PORT]


@pytest.mark.parametrize(
    "text", ["Always run `./vendor/setup` first.", "Always commit with `--no-verify`."]
)
def test_a_correction_into_a_sensitive_line_waits(world: World, text: str):
    world.replace("p-20260803-001", text, is_correction=True)
    state, reason = world.triage()[amendment(world)]
    assert (state, reason.endswith("only a person can approve this")) == ("pending", True)
    assert [entry.split(") ")[1] for entry in world.entries()] == [UV, PORT]


def test_a_rejected_amendment_is_not_asked_about_again(world: World):
    world.replace("p-20260803-001", NEW_PORT)
    world.triage()
    world.tick(amendment(world), "-")
    world.triage()
    world.later(days=1)
    world.triage()
    assert world.triage()[amendment(world)] == ("rejected", "struck from REVIEW.md")
    assert [entry.split(") ")[1] for entry in world.entries()] == [UV, PORT]


def test_a_line_that_somebody_rewords_meanwhile_is_theirs(world: World):
    world.replace("p-20260803-001", NEW_PORT)
    world.triage()
    world.memory_md.write_text(
        world.memory_md.read_text().replace("port 5432.", "port 5432, in March.")
    )
    assert world.triage()[amendment(world)] == ("rejected", "the line was changed or removed since")


def test_a_line_that_may_go_goes_when_it_is_ticked_and_not_when_it_is_reworded(world: World):
    world.contradict("p-20260803-001")
    world.triage()
    number = amendment(world)
    assert (
        f"## Proposed to retire\n- [ ] `{number}` **{PORT}** — _Patterns; more speaks against it"
        in world.review_md.read_text()
    )
    world.review_md.write_text(world.review_md.read_text().replace("port 5432.", "port 5433."))
    assert "asks whether its line may go" in world.hear().warnings[0]
    assert world.triage()[number][0] == "pending"
    world.tick(number)
    world.triage()
    assert [entry.split(") ")[1] for entry in world.entries()] == [UV]
    assert world.workspace.history(PROJECT_MD)[0].message.startswith(
        f"{number}: retire from Patterns\n\nBefore: "
    )
    assert [event.payload["replaces"] for event in world.ledger.events(["entry.retired"])] == [
        f"- (2026-08-03) {PORT}"
    ]


def test_a_proposal_that_contradicts_a_line_is_shown_as_its_replacement(world: World):
    """Whoever wrote the line; a person decides."""
    by_hand = "- (2026-08-01) Never squash commits before merging."
    world.memory_md.write_text(
        world.memory_md.read_text().replace("## Hard Rules\n", f"## Hard Rules\n\n{by_hand}\n", 1)
    )
    (squash,) = world.propose("Always squash commits before merging.", sessions=2)
    states = world.triage()
    (asked,) = [id for id, (state, _) in states.items() if state == "pending"]
    assert states[squash] == ("merged", f"{asked} asks to replace the line that it contradicts")
    review = world.review_md.read_text()
    assert (
        "instead of “Never squash commits before merging.”; you said it in 2 sessions, last on 2026-08-03_"
        in review
    )
    world.tick(asked)
    world.triage()
    texts = [entry.split(") ")[1] for entry in world.entries()]
    assert "Always squash commits before merging." in texts
    assert "Never squash commits before merging." not in texts
