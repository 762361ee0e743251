"""The facade: answers say where they come from, decisions are ledger lines, and only what people asked for counts as used."""

from pathlib import Path

import pytest

import memory_assets
from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.errors import ReviewError, UnknownIdError
from memory_assets.memory import MemoryAgent
from memory_assets.runs import launch
from memory_assets.schema.announcements import announce
from memory_assets.services.search.why_not import WhyNot
from memory_assets.store.store import Store
from memory_assets_tests.small_store import (
    DAY,
    FACT,
    LINES,
    MEMORY,
    PROPOSAL,
    TURNS,
    index,
    small_store,
)


def said(store: Store) -> list[tuple[str, str, str, dict]]:
    """What the ledger holds: kind, target, actor, payload."""
    return [
        (event.kind, event.target, event.actor, event.payload) for event in store.ledger.events()
    ]


@pytest.fixture
def triaged(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The stores whose decisions were carried out, instead of carrying them out."""
    calls: list[Path] = []
    monkeypatch.setattr(launch, "triage", lambda store: calls.append(store.root))
    return calls


def test_scanning_before_there_is_a_store_gives_no_rows_and_makes_none(tmp_path: Path):
    assert memory_assets.scan("memories").collect().height == 0
    assert not (tmp_path / "store").exists()


def test_recall_answers_with_text_confidence_age_category_and_session():
    index(small_store())
    (found, *_) = MemoryAgent().recall("how do we install packages here").results
    assert (found.memory_id, found.text, found.session, found.lines) == (
        MEMORY,
        FACT,
        "session-1",
        (3,),
    )
    assert (found.confidence, found.age_days, found.category) == (0.9, 29, "rules-conventions")
    assert found.score > 0


def test_damage_is_told_by_the_answer_during_which_it_was_found_and_by_no_other():
    store = small_store()
    index(store)
    announce("Another store was damaged.")
    agent = MemoryAgent()
    assert agent.recall("packages", probe=True).notes == ()
    with (store.root / "ledger" / "broken.notes.jsonl").open("w") as file:
        file.write("no JSON\n")
    (told,) = agent.recall("packages", probe=True).notes
    assert told.startswith("Lines of the ledger that cannot be read: 1.")
    (store.root / "ledger" / "broken.notes.jsonl").unlink()
    assert agent.recall("packages", probe=True).notes == ()


def test_what_was_recalled_is_one_line_in_the_ledger_without_the_question():
    store = small_store()
    index(store)
    MemoryAgent().recall("how do we install packages here")
    ((kind, target, actor, payload),) = said(store)
    assert (kind, actor, payload["memory_ids"]) == (
        "memory.recalled",
        store.settings.owner,
        [MEMORY],
    )
    assert (payload["tier"], payload["is_known"], payload["cost"]["embeddings"]) == (2, True, 1)
    assert "packages" not in target + str(payload)


def test_a_probe_is_never_counted_as_use():
    store = small_store()
    index(store)
    assert MemoryAgent().recall("how do we install packages here", probe=True).results
    assert said(store) == []


def test_without_the_embedding_model_keywords_answer_and_say_so(monkeypatch: pytest.MonkeyPatch):
    index(small_store())
    monkeypatch.setenv("MEMORY_EMBEDDING_MODEL", "/nowhere")
    answer = MemoryAgent().recall("how do we install packages here")
    assert answer.results[0].memory_id == MEMORY
    assert answer.degraded == "keyword"
    assert "There is no embedding model in '/nowhere'" in answer.notes[0]


def test_raw_messages_are_found_when_asked_for_and_lead_back_to_their_line():
    index(small_store())
    results = MemoryAgent().recall("use uv, never pip", corpus=["messages"]).results
    (said,) = [result for result in results if result.lines[0] == 3 and result.kind == "message"]
    assert (said.session, said.path) == ("session-1", "x")
    assert said.text == TURNS[LINES.index(3)]
    assert len(said.lines) <= 2


def test_what_waits_is_told_with_what_it_rests_on():
    small_store()
    (one,) = MemoryAgent().pending()
    assert (one.proposal_id, one.section, one.text, one.reason) == (
        PROPOSAL,
        "Hard Rules",
        FACT,
        "a rule needs a person",
    )
    assert (one.event_on, one.session_ids) == (DAY, ("session-1",))


def test_a_correction_takes_the_pending_proposal_along_at_once():
    small_store()
    agent = MemoryAgent()
    agent.remember("Use uv or pixi, never pip.", instead_of=MEMORY)
    (one,) = agent.pending()
    assert (one.proposal_id, one.text) == (PROPOSAL, "Use uv or pixi, never pip.")


def test_a_forgotten_memory_takes_its_pending_proposal_along_at_once():
    small_store()
    agent = MemoryAgent()
    agent.forget(MEMORY, apply=True)
    assert agent.pending() == ()


def test_an_approval_is_a_line_of_the_owner_and_is_carried_out(triaged: list[Path]):
    store = small_store()
    MemoryAgent().approve(PROPOSAL)
    assert said(store) == [
        (
            "proposal.approved",
            PROPOSAL,
            store.settings.owner,
            {"text": FACT, "section": "Hard Rules"},
        )
    ]
    assert triaged == [store.root]


@pytest.mark.parametrize("wrong", ["p-20260803-999", "", "all"])
def test_of_several_decisions_with_one_unknown_none_is_made(wrong: str, triaged: list[Path]):
    store = small_store()
    with pytest.raises(ReviewError, match="`memory review` lists the pending ones"):
        MemoryAgent().approve(PROPOSAL, wrong)
    assert said(store) == []
    assert triaged == []


def test_an_empty_wording_is_refused(triaged: list[Path]):
    small_store()
    with pytest.raises(ReviewError, match="review reject"):
        MemoryAgent().edit(PROPOSAL, " \n ")


def test_a_hand_written_line_is_explained_by_its_commit():
    store = small_store()
    workspace = GitWorkspace(store.workspace)
    workspace.prepare()
    (store.workspace / "MEMORY.md").write_text("# MEMORY.md\n\nPriya reviews every migration.\n")
    workspace.commit("by hand", ["MEMORY.md"], author="mira")
    explanation = MemoryAgent().explain("Priya reviews every migration.")
    assert [(step.kind, step.facts["author"]) for step in explanation.root.behind] == [
        ("commit", "mira")
    ]
    assert explanation.is_verified


def test_what_nobody_knows_cannot_be_explained():
    small_store()
    with pytest.raises(UnknownIdError, match="Nothing is known as 'mem_ffffffff'"):
        MemoryAgent().explain("mem_ffffffff")
    found = MemoryAgent().explain("the moon landing")
    assert isinstance(found, WhyNot)
    assert found.stage == "not captured"
