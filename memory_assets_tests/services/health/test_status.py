"""The status: counts of the tables, the days they span, what waits, and whether there is anything at all."""

from pathlib import Path

import pytest

from memory_assets.errors import StoreError
from memory_assets.memory import MemoryAgent
from memory_assets.memory.prepared import read_status, render_status_line
from memory_assets.schema.tables import WHOLE
from memory_assets.services.health import status as status_module
from memory_assets.services.health.doctor import Projections, examine
from memory_assets.services.health.status import (
    keep_status,
    recount_proposals,
    render_status,
    status_of,
)
from memory_assets.services.sources import transcripts
from memory_assets.store.ready import STATUS
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.factories import row
from memory_assets_tests.small_store import DAY, PROPOSAL, small_store, write


def test_facts_are_counted_and_narratives_are_not():
    store = small_store()
    write(
        store,
        "observations",
        "2026-07-30",
        *(row("observations", id=kind, kind=kind) for kind in ("fact", "narrative")),
    )
    states = (("fact", "active"), ("narrative", "held"))
    memories = [row("memories", id=state, kind=kind, state=state) for kind, state in states]
    write(store, "memories", WHOLE, *memories)
    status = status_of(store)
    assert (status.rows["facts"], status.rows["memories"], status.memories) == (2, 1, {"active": 1})
    assert "\nfacts         2 in 1 sessions\n" in render_status(status)
    (claude,) = examine(store, Projections(str, set, lambda _: set())).harnesses
    assert claude.facts == {"allow": 1}


def test_sessions_in_other_languages_are_counted_while_no_model_reads_them():
    store = small_store()
    turns = {"de": "Benutze immer pnpm, niemals npm.", "en": "Always use pnpm, never npm."}
    by = {"author": "owner", "is_user_turn": True}
    rows = [
        row("messages", message_id=id, session_id=id, text=text, **by) for id, text in turns.items()
    ]
    write(store, "messages", "2026-07-30", *rows)
    status = status_of(store)
    assert status.not_english == 1
    assert "1 session not only in English" in render_status(status)


def test_files_that_are_not_taken_in_are_listed_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    names = [f"0a00000{number}-1111-4222-8333-444455556666.jsonl" for number in range(7)]
    for name in names:
        (tmp_path / name).touch()
    monkeypatch.setenv("MEMORY_SOURCES", str(tmp_path))
    text = render_status(status_of(small_store()))
    assert (
        f"\nnot read      {tmp_path / names[0]}: it is empty\n              {tmp_path / names[1]}: it is empty\n"
        in text
    )
    assert "\n              and 2 more; `memory doctor` lists them\n" in text
    empty = render_status(status_of(open_store(read_settings(data=tmp_path / "empty"))))
    assert "not read" in empty and "memory up" not in empty


def test_while_nothing_is_remembered_yet_no_question_is_proposed():
    store = open_store(read_settings())
    write(store, "windows", "all", row("windows", window_id="w-1", status="open", day=None))
    text = render_status(status_of(store))
    assert "\nopen          1 sessions still going on\n" in text
    assert text.endswith("facts are taken from a session once it has ended.")
    remembering = small_store()
    write(remembering, "decisions", "all", row("decisions", state="promoted"))
    assert "`memory recall " in render_status(status_of(remembering))


def test_what_is_to_review_is_never_more_than_all_proposals():
    """Fixes of recurring problems and changes of lines are proposals, too."""
    store = small_store()
    (decision,) = store.tables.read("decisions").to_dicts()
    fix = {"proposal_id": "f-20260803-001", "state": "pending"}
    problem = {"proposal_id": fix["proposal_id"], "project": "tidewatch", "target": "MEMORY.md"}
    write(store, "friction", DAY.isoformat(), row("friction", **problem))
    write(store, "decisions", "all", decision, {**decision, **fix})
    assert "\nto review     2 of 2 proposals\n" in render_status(status_of(store))
    store.append_event("proposal.rejected", fix["proposal_id"], {"reason": ""})
    assert "\nto review     1 of 2 proposals\n" in render_status(status_of(store))


def test_a_decision_corrects_the_counts_and_reads_no_transcript(monkeypatch: pytest.MonkeyPatch):
    store, agent = small_store(), MemoryAgent()
    root = str(store.root)
    keep_status(store)
    for name in ("find_left_out", "find_unread", "find_ignored"):
        monkeypatch.setattr(transcripts, name, pytest.fail)
    agent.reject(PROPOSAL, triage=False)
    agent.write_decided()
    assert " to review" not in render_status_line(root)
    assert read_status(root) == ""
    agent.take_back(PROPOSAL)
    assert render_status_line(root).startswith("memory: 1 active · 1 to review · ")


def test_a_status_that_cannot_be_counted_fails_no_decision(monkeypatch: pytest.MonkeyPatch):
    store = small_store()
    keep_status(store)

    def fail(_: Store) -> None:
        raise StoreError("A table is damaged.")

    monkeypatch.setattr(status_module, "count_proposals", fail)
    recount_proposals(store)
    (store.root / STATUS).unlink()
    recount_proposals(store)
    assert not (store.root / STATUS).exists()


@pytest.mark.parametrize("count", [200, 201])
def test_entry_201_of_a_file_of_entries_is_named_by_status_and_doctor(count: int):
    store = small_store()
    path = store.workspace / "projects" / "quay.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("# MEMORY of quay\n\n" + "- (2026-08-03) Quay.\n" * count)
    named = "projects/quay.md holds 201 entries"
    assert (f"\ntoo long      {named}" in render_status(status_of(store))) == (count > 200)
    checks = examine(store, Projections(str, set, lambda _: set())).checks
    (check,) = [check for check in checks if check.name == "size of MEMORY.md"]
    is_long = count > 200
    assert (check.passed, check.is_advice, named in check.found) == (not is_long, is_long, is_long)
