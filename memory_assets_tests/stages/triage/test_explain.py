"""Explaining: a promoted line ends at archived records that hold its words, a hand-written one at its commit."""

import json
import shutil
from pathlib import Path

import pytest
import zstandard

from memory_assets.errors import ReviewError
from memory_assets.stages.triage.explain import Explanation, ProvenanceStep, explain
from memory_assets_tests.stages.triage.world import World

UV, DATES = "Always use `uv`, never `pip`.", "Write dates the British way."


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.propose(UV, sessions=2)
    made.propose(DATES)
    made.triage()
    return made


def explained(world: World, target: str) -> Explanation:
    return explain(
        target,
        tables=world.tables,
        ledger=world.ledger,
        archive=world.archive,
        workspace=world.workspace,
    )


def kinds(step: ProvenanceStep) -> list[str]:
    """The kinds of steps along the first branch that leads to a record, or to the end."""
    behind = sorted(step.behind, key=lambda inner: inner.kind == "commit")
    return [step.kind, *(kinds(behind[0]) if behind else [])]


def test_a_promoted_line_leads_to_the_records_that_hold_its_words(world: World):
    found = explained(world, f"- (2026-08-03) {UV}")
    assert kinds(found.root) == [
        "entry",
        "proposal",
        "reflection",
        "observation",
        "segment",
        "record",
    ]
    assert (found.is_verified, found.root.facts["is_hand_written"]) == (True, False)
    assert [
        (record.facts["line"], record.facts["holds_quote"], record.facts["is_unchanged"])
        for record in found.records
    ] == [
        (0, True, True),
        (1, True, True),
    ]
    assert found.records[0].facts["path"] == "/home/mira/.claude/projects/tidewatch/s1.jsonl"
    proposal = found.root.behind[1]
    assert (proposal.id, proposal.facts["reason"]) == (
        "p-20260803-001",
        "you said it in 2 sessions, last on 2026-08-03",
    )


def test_the_chain_of_a_promoted_line_outlives_its_tables(world: World):
    before = [record.facts for record in explained(world, UV).records]
    for table in ("observations", "messages", "reflections", "proposals", "memories", "decisions"):
        shutil.rmtree(world.root / "tables" / table)
    found = explained(world, UV)
    assert ([record.facts for record in found.records], found.is_verified) == (before, True)


@pytest.mark.parametrize("is_readable", [True, False])
def test_a_change_in_the_archive_is_told(world: World, is_readable: bool):
    for path in (world.root / "resources" / "ranges").rglob("*.zst"):
        content = zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes())
        path.chmod(0o600)
        path.write_bytes(
            zstandard.ZstdCompressor().compress(content.replace(b"never `pip`", b"maybe `pip`"))
            if is_readable
            else b"rotten"
        )
    world.archive = type(world.archive)(world.root / "resources")
    found = explained(world, UV)
    assert not found.is_verified
    assert [(one.facts["is_unchanged"], one.facts["holds_quote"]) for one in found.records] == [
        (False, False)
    ] * 2


def test_a_line_written_by_hand_ends_at_its_commit(world: World):
    world.memory_md.write_text(world.memory_md.read_text() + "\n- Ole knows the gauges.\n")
    world.propose("Another proposal of the day.")
    world.triage()
    found = explained(world, "- Ole knows the gauges.")
    assert kinds(found.root) == ["entry", "commit"]
    assert found.root.facts["is_hand_written"]
    assert found.root.behind[0].facts["author"] == "mira"
    assert found.is_verified


def test_a_line_that_was_just_typed_is_by_hand_and_not_committed_yet(world: World):
    world.memory_md.write_text("- Ole knows the gauges.\n" + world.memory_md.read_text())
    found = explained(world, "Ole knows the gauges.")
    assert (
        found.root.facts["is_hand_written"],
        found.root.facts["is_committed"],
        found.root.behind,
    ) == (True, False, ())
    assert explained(world, UV).root.behind[0].facts["message"].startswith("p-20260803-001: add")


def test_what_was_taken_back_is_no_origin_until_it_is_approved_again(world: World):
    world.steps.take_back("p-20260803-001")
    world.memory_md.write_text(world.memory_md.read_text() + f"\n- {UV}\n")
    waiting, line = explained(world, "p-20260803-001").root, explained(world, UV).root
    assert "promoted_at" not in waiting.facts and waiting.facts["text"] == UV
    assert line.facts["is_hand_written"] and line.behind == ()
    world.memory_md.write_text(world.memory_md.read_text().replace(f"\n- {UV}\n", ""))
    approval = {"text": UV, "section": "Hard Rules", "reason": "it holds"}
    world.ledger.append("proposal.approved", "p-20260803-001", approval, actor="mira")
    world.decide()
    world.write()
    facts = explained(world, "p-20260803-001").root.facts
    assert (facts["decided_by"], facts["reason"]) == ("mira", "it holds")


def test_every_line_of_memory_md_can_be_explained(world: World):
    for number, line in enumerate(world.memory_md.read_text().splitlines(), 1):
        if line.strip():
            assert explained(world, str(number)).is_verified


def test_a_waiting_proposal_tells_why_it_waits_and_what_it_rests_on(world: World):
    found = explained(world, "p-20260803-002")
    assert kinds(found.root) == ["proposal", "reflection", "observation", "segment", "record"]
    assert found.root.facts["state"] == "pending"
    assert found.root.facts["reason"] == "you said it in one session, on 2026-08-03"
    assert found.is_verified


def test_what_is_known_by_no_name_is_said_with_the_names_there_are(world: World):
    for target in ("p-20990101-001", "mem_ffffffffffff", "nothing like it"):
        with pytest.raises(ReviewError, match="Give a line of MEMORY"):
            explained(world, target)


def test_an_explanation_is_json(world: World):
    reply = json.loads(json.dumps(explained(world, UV).to_dict()))
    assert (reply["target"], reply["is_verified"], reply["kind"]) == (UV, True, "entry")
    assert [step["kind"] for step in reply["behind"]] == ["commit", "proposal"]


def test_a_corrected_line_leads_to_the_correction_and_to_what_stood_there_before(world: World):
    world.replace(
        "p-20260803-001", "Use `uv` for everything but the `legacy/` folder.", is_correction=True
    )
    world.triage()
    found = explained(world, "everything but the `legacy/` folder")
    (proposal,) = [step for step in found.root.behind if step.kind == "proposal"]
    assert [step.kind for step in proposal.behind] == ["note", "entry"]
    assert proposal.facts["replaces"] == f"- (2026-08-03) {UV}"
    assert ({record.facts["line"] for record in found.records}, found.is_verified) == ({0, 1}, True)


def test_a_change_that_waits_names_the_line_it_would_change(world: World):
    world.contradict("p-20260803-001")
    world.triage()
    (number,) = world.tables.read("amendments")["proposal_id"]
    found = explained(world, number)
    assert found.root.facts["entry"] == f"- (2026-08-03) {UV}"
    assert [record.facts["holds_quote"] for record in found.records] == [True, True]
