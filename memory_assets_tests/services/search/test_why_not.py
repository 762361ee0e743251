"""Why not: a planted fact that is stopped at each stage is told where, and why."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from memory_assets.errors import QuestionError
from memory_assets.interfaces.views.origin import render_explained
from memory_assets.memory import MemoryAgent
from memory_assets.services.search.corpus import (
    open_present,
    open_present_with_embedder,
    open_texts,
)
from memory_assets.services.search.why_not import WhyNot, why_not
from memory_assets.stages.maintain.states import STATE_OF
from memory_assets.stages.recall.results import Answer, LeftOut, Recalled
from memory_assets.store.archive import Range, range_id
from memory_assets.store.ledger import ARCHIVED, COLD, RECALLED
from memory_assets.store.store import Store
from memory_assets.text.words import text_hash
from memory_assets_tests.factories import START, index_rows, message, row
from memory_assets_tests.small_store import DAY, MEMORY, index, small_store, write

PLANTED = "Herons nest beside the reactor."
OTHER = "1f3a5c1e-0000-5000-8000-000000000002"


@pytest.fixture
def store() -> Store:
    store = small_store()
    index(store)
    return store


def asked(text: str = PLANTED, question: str | None = None) -> WhyNot:
    agent = MemoryAgent()

    def ask(asked: str, limit: int | None = None) -> Answer:
        return agent.recall(asked, limit=limit, probe=True)

    return why_not(
        text, agent.store, open_present_with_embedder(agent.store), ask, question=question
    )


def remember(store: Store, *memories: dict) -> None:
    """Writes memories and their words; each has the planted text, unless it says otherwise."""
    plain = {
        "text": PLANTED,
        "state": "active",
        "kind": "fact",
        "conflicts_with": [],
        "superseded_by": None,
    }
    rows = [
        row("memories", **{"id": MEMORY, "observation_ids": [MEMORY]} | plain | each)
        for each in memories
    ]
    rows = [each | {"wordings": each["wordings"] or [each["text"]]} for each in rows]
    write(store, "memories", "all", *rows)
    words = {
        "id": [each["id"] for each in rows],
        "corpus": "memories",
        "text": [" ".join(each["wordings"]) for each in rows],
    }
    open_texts(store).update(index_rows(pl.DataFrame(words)), [])


def say(store: Store, status: str, **changes: Any) -> None:
    """Writes one message with the planted text into a window of that status."""
    said = message(changes.pop("text", PLANTED), 9, window_id="v" * 64, session_id="s9", **changes)
    table, part = ("messages_open", "all") if status == "open" else ("messages", "2026-08-04")
    write(store, table, part, said)
    passage = {"id": [f"{said['message_id']}#0"], "corpus": ["messages"], "text": [said["text"]]}
    open_texts(store).update(index_rows(pl.DataFrame(passage)), [])
    windows = store.tables.read("windows").to_dicts()
    ids = {"window_id": "v" * 64, "session_id": "s9", "message_ids": [said["message_id"]]}
    write(
        store, "windows", "all", *windows, row("windows", status=status, user_turn_count=2, **ids)
    )


def test_not_captured(store: Store):
    assert asked().stage == "not captured"


def test_not_taken_in(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "t" / ".claude" / "projects" / "-home-mira-shop"
    folder.mkdir(parents=True)
    file = folder / "0a000001-1111-4222-8333-444455556666.jsonl"
    file.write_text(f'{{"type":"user","message":{{"content":"{PLANTED}"}}}}\n')
    monkeypatch.setenv("MEMORY_SOURCES", str(tmp_path / "t"))
    found = asked()
    assert (found.stage, Path(found.path).name) == (
        "not taken in",
        "0a000001-1111-4222-8333-444455556666.jsonl",
    )


def test_not_windowed(store: Store):
    content = f'{{"type":"user","uuid":"u1","message":{{"role":"user","content":"{PLANTED}"}}}}\n'.encode()
    archived = Range(
        id=range_id("s9", 0, 0), source_id="s9", harness="claude_code", path="/home/mira/s9.jsonl", generation=0, byte_from=0,
        byte_to=len(content), line_from=0, line_to=1, sha256="x", raw_hmac="", content_at=None, content_until=None,
        conversation_id="s9", created_at=START, masked_count=0, masking_version="1",
    )  # fmt: skip
    store.archive.append(archived, content)
    record = row(
        "records", source_id="s9", generation=0, line=0, byte_from=0, byte_to=len(content), resource_id=archived.id,
        session_id="s9", status="message", message_id="lost", record_type="user",
    )  # fmt: skip
    write(store, "records", "s9", record)
    found = asked()
    assert (found.stage, found.session, found.lines) == ("not windowed", "s9", (0,))


@pytest.mark.parametrize(
    ("status", "stage", "because"),
    [("open", "still open", "memory data flush"), ("short", "short session", "after 2 turns")],
)
def test_in_a_window_that_is_not_distilled(status: str, stage: str, because: str, store: Store):
    say(store, status)
    found = asked()
    assert (found.stage, found.session, found.says, found.lines) == (stage, "s9", PLANTED, (9,))
    assert because in found.because


def test_not_observed(store: Store):
    say(store, "observed")
    assert "was not distilled yet" in asked().because
    ids = [message(PLANTED, 9)["message_id"]]
    segment = row("segments", segment_id="seg9", window_id="v" * 64, message_ids=ids, narrative="n")
    refused = [
        row("verdicts", candidate_id=n, segment_id="seg9", verdict="discard", reason="too vague")
        for n in ("a", "b")
    ]
    write(store, "segments", "2026-08-04", segment)
    write(store, "verdicts", "2026-08-04", *refused)
    found = asked()
    assert (found.stage, found.because) == (
        "not observed",
        "owner said it, and the observer made no fact of it; of its segment the gate discarded 2 × too vague",
    )


def test_discarded(store: Store):
    say(store, "observed")
    refused = row(
        "verdicts",
        candidate_id="c",
        verdict="discard",
        reason="a passing state",
        text_hash=text_hash(PLANTED),
    )
    write(store, "verdicts", "2026-08-04", refused)
    found = asked(PLANTED.rstrip("."))
    assert (found.stage, found.because) == (
        "discarded",
        "the write gate refused it: a passing state",
    )


def test_held_by_the_gate(store: Store):
    remember(store, {"state": "held"})
    day = DAY.isoformat()
    write(
        store,
        "observations",
        day,
        row("observations", id=MEMORY, text=PLANTED, gate="hold", gate_reason="only an echo"),
    )
    found = asked()
    assert (found.stage, found.because) == ("held", "the write gate holds it: only an echo")


def test_held_by_a_contradiction(store: Store):
    remember(store, {"state": "held", "conflicts_with": [OTHER]})
    assert (
        asked().because
        == "it contradicts mem_1f3a5c1e0000, and it is not decided which one is right"
    )


def test_superseded(store: Store):
    remember(
        store,
        {"state": "superseded", "superseded_by": OTHER},
        {"id": OTHER, "text": "Storks nest there now."},
    )
    found = asked()
    assert (found.stage, found.because) == (
        "superseded",
        "mem_1f3a5c1e0000 replaced it: Storks nest there now.",
    )


def grown_old(store: Store, monkeypatch: pytest.MonkeyPatch, *moves: str) -> None:
    """Plants a fact of a project, has the store queried for 91 days, and moves the fact a day later."""
    remember(
        store,
        {"state": STATE_OF.get(moves[-1], "stale") if moves else "stale", "category": "projects"},
    )
    for day in range(0, 92, 6):
        monkeypatch.setenv("MEMORY_NOW", str(START + timedelta(days=day)))
        MemoryAgent().store.ledger.append(
            RECALLED, "another question", {"memory_ids": []}, actor="mira"
        )
    monkeypatch.setenv("MEMORY_NOW", str(START + timedelta(days=92)))
    for kind in moves:
        MemoryAgent().store.ledger.append(kind, "weekly", {"memory_ids": [MEMORY]}, actor="weekly")


def test_a_stale_memory_is_recalled_at_half_its_score_and_told_so(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    grown_old(store, monkeypatch)
    stale = "it is stale since 2026-11-02 (not recalled on 92 days with queries; projects has 90), which halves its score"
    assert (asked().stage, asked().because) == ("recalled", f"{stale}; it is result 1 of 1")


@pytest.mark.parametrize("kind", [ARCHIVED, COLD])
def test_an_archived_memory_is_found_only_on_request(
    kind: str, store: Store, monkeypatch: pytest.MonkeyPatch
):
    grown_old(store, monkeypatch, kind)
    state = STATE_OF[kind]
    assert (asked().stage, asked().because) == (
        "stale",
        f"it is {state} since 2026-11-03 ({state} on 2026-11-03); ask with include={state}, or restore it with "
        f"`memory restore mem_{MEMORY.replace('-', '')[:12]}`",
    )
    assert not MemoryAgent().recall(PLANTED, probe=True).results
    assert [
        one.memory_id for one in MemoryAgent().recall(PLANTED, include=(state,), probe=True).results
    ] == [MEMORY]


def test_forgotten(store: Store):
    remember(store, {})
    agent = MemoryAgent()
    assert asked().stage == "recalled"
    agent.forget("herons nest", apply=True)
    assert asked().stage == "forgotten"


def test_merged_into_another_wording(store: Store):
    text = "By the reactor, herons build their nests."
    remember(store, {"text": text, "wordings": [PLANTED, text]})
    found = asked()
    assert (found.stage, found.says, found.merged_into) == ("recalled", PLANTED, text)


def ranked(store: Store, ids: list[str], **more: Any) -> WhyNot:
    """Asks why not, of an answer with those memories in that order, seven of them where no limit is named."""
    one = {
        "kind": "fact",
        "text": "t",
        "confidence": 1.0,
        "category": "operations",
        "priority": "high",
        "age_days": 0,
    }
    where = {"event_at": START, "session": "s", "path": "p", "lines": (), "project": "shop"}
    results = [
        Recalled(memory_id=id, score=1 - place / 20, **one, **where) for place, id in enumerate(ids)
    ]

    def ask(question: str, limit: int | None = None) -> Answer:
        return Answer(question, "balanced", tuple(results[: limit or 7]), len(ids), **more)

    return why_not(PLANTED, store, open_present(store, None), ask)


def test_out_ranked(store: Store):
    remember(store, {})
    found = ranked(store, [OTHER])
    assert (found.stage, found.memory_id, found.score, found.last_in) == (
        "out-ranked",
        MEMORY,
        None,
        1.0,
    )
    found = ranked(store, [OTHER], left_out=(LeftOut(MEMORY, "another project's", 0.3),))
    assert (found.stage, found.because, found.score, found.last_in) == (
        "out-ranked",
        "another project's",
        0.3,
        1.0,
    )


def test_over_the_cap(store: Store):
    remember(store, {})
    found = ranked(store, [*(f"rival {n}" for n in range(8)), MEMORY])
    assert (found.stage, found.score, found.last_in) == ("over the cap", 0.6, 0.7)
    assert found.because == "the profile balanced returns 7, and it comes after them"


@pytest.mark.parametrize("text", ["", " \n", "x" * 2_001])
def test_what_is_no_question_is_refused(text: str, store: Store):
    with pytest.raises(QuestionError, match="Give 1 to 2,000 characters"):
        asked(text)


WORDINGS = "`herons` nest beside the 'reactor'|beside the reactor, HERONS NEST|herons build their nests next to the reactor".split(
    "|"
)


@pytest.mark.parametrize("wording", WORDINGS)
def test_a_memory_is_found_in_any_wording(wording: str, store: Store):
    remember(store, {"state": "held"})
    found = asked(wording)
    assert (found.stage, found.says, found.is_meant) == ("held", PLANTED, True)


@pytest.mark.parametrize("wording", WORDINGS)
def test_what_somebody_said_is_found_in_any_wording(wording: str, store: Store):
    around = "The tests pass now, all nineteen of them. {} I will look at the gauges of the river tomorrow morning."
    said = around.format("**Herons** nest beside the `reactor`.")
    say(store, "observed", text=said)
    found = asked(wording)
    assert (found.stage, found.is_meant) == ("not observed", True)
    assert found.says == "**Herons** nest beside the `reactor`."


def test_the_nearest_thing_said_is_named_and_marked_where_nothing_says_it(store: Store):
    say(store, "observed")
    found = asked("The reactor needs a new pump.")
    assert (found.stage, found.says, found.is_meant) == ("not observed", PLANTED, False)
    assert "perhaps not what you mean" in "\n".join(map(str, render_explained(found)))
    assert asked("The invoice has a due date.").stage == "not captured"


def test_a_memory_is_named_by_its_id(store: Store):
    assert asked(MEMORY[:13]).memory_id == asked(f"mem_{MEMORY[:8]}").memory_id == MEMORY
