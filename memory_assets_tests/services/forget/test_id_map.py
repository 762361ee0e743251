"""Masking changes ids and hashes that are made from content; the ledger follows, and nothing else a person decided is lost."""

import hashlib
from pathlib import Path

import pytest

from memory_assets.schema.protocols import ModelAnswer
from memory_assets.services.forget.erase import changed_pairs, finish
from memory_assets.services.forget.id_map import changed_hashes, replace_ids
from memory_assets.stages.capture.index import index_sources
from memory_assets.stages.capture.tombstones import Tombstones, make_tombstone, masking, words_of
from memory_assets.stages.distill.model.answers import AnswerStore, StoredAnswer
from memory_assets.stages.distill.model.questions import ObserverQuestion, plan_questions
from memory_assets.stages.distill.model.short_sessions import questions_about
from memory_assets.store.ledger import WORDS_FORGOTTEN
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.stages.capture.pipeline import capture, intake
from memory_assets_tests.stages.capture.sessions import assistant, dialogue, lines, transcript, user
from memory_assets_tests.stages.distill.sessions import messages, said, window

PHRASE = "herons nest beside the reactor"
ABOUT = "Please note: herons nest beside the reactor; use uv for packages."


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = open_store(read_settings())
    turns = [
        user("s1", 0, ABOUT, 0),
        *(assistant("s1", n, f"Point {n} is done.", n) for n in range(1, 4)),
    ]
    transcript(tmp_path, "s1").write_bytes(lines(*turns, user("s1", 9, "Thanks.", 9)))
    capture(made, tmp_path)
    return made


def forget(store: Store) -> Tombstones:
    stone = make_tombstone(words_of(PHRASE), store.key)
    store.ledger.append(
        WORDS_FORGOTTEN, "all", {"tombstones": [vars(stone)], "with_history": False}, actor="mira"
    )
    finish(store)
    return Tombstones([stone], store.key)


def test_hashes_of_masked_records_are_told_with_and_without_their_newline():
    moved = dict(changed_hashes(b"same\nold\nlast", b"same\nnew\nlost"))
    pairs = [(b"old\n", b"new\n"), (b"old", b"new"), (b"last\n", b"lost\n"), (b"last", b"lost")]
    assert moved == {
        hashlib.sha256(old).hexdigest(): hashlib.sha256(new).hexdigest() for old, new in pairs
    }


def test_only_whole_ids_are_replaced():
    id, other = "0f3a5c1e-0000-5000-8000-000000000001", "ffffffff-0000-5000-8000-000000000001"
    assert (
        replace_ids({id: other}, f'"{id}" msg_{"a" * 20} x{id}'.encode())
        == f'"{other}" msg_{"a" * 20} x{other}'.encode()
    )
    assert replace_ids({"a" * 40: "b" * 40}, b"a" * 64) == b"a" * 64


def test_the_archive_keeps_its_length_and_says_why_its_hash_is_another(store: Store):
    before = store.archive.resources()
    records = store.tables.read("records").select("line", "byte_from", "byte_to")
    tombstones = forget(store)
    (entry,) = store.archive.ranges(before["source_id"][0])
    content = store.archive.read(entry.source_id, 0, 0, entry.byte_to)
    assert not tombstones.holds(content) and b"use uv for packages" in content
    assert store.archive.verify(entry.id) and entry.sha256 != before["sha256"][0]
    assert (entry.restated_because, entry.restated_at) == (
        "words in it are forgotten",
        store.settings.clock(),
    )
    index_sources(store.archive, store.tables)
    assert store.tables.read("records").select("line", "byte_from", "byte_to").equals(records)


def test_events_about_the_session_name_its_messages_and_window_as_they_are_named_afterwards(
    store: Store, tmp_path: Path
):
    window = store.tables.read("windows").row(0, named=True)
    ids, key = window["message_ids"], window["window_id"]
    line = hashlib.sha256(
        transcript(tmp_path, "s1").read_bytes().split(b"\n")[0] + b"\n"
    ).hexdigest()
    evidence = [{"message_id": ids[0], "window_id": key, "sha256": line}]
    store.ledger.append("entry.promoted", "p-1", {"evidence": evidence}, actor="x")
    store.ledger.append("memory.confirmed", "m", {"message_ids": [ids]}, actor="x")
    forget(store)
    capture(store, tmp_path)
    now = store.tables.read("windows").row(0, named=True)
    assert now["message_ids"][0] != ids[0] and now["message_ids"][1:] == ids[1:]
    (promoted,), (confirmed,) = (
        store.ledger.events(["entry.promoted"]),
        store.ledger.events(["memory.confirmed"]),
    )
    masked = store.archive.read(
        now["source_id"], 0, 0, store.archive.ranges(now["source_id"])[0].byte_to
    ).split(b"\n")[0]
    evidence = {"message_id": now["message_ids"][0], "window_id": now["window_id"]}
    assert promoted.payload["evidence"] == [
        {**evidence, "sha256": hashlib.sha256(masked + b"\n").hexdigest()}
    ]
    assert confirmed.payload["message_ids"] == [now["message_ids"]]


def test_what_is_captured_anew_is_masked_before_it_is_written(store: Store, tmp_path: Path):
    tombstones = forget(store)
    path = transcript(tmp_path, "s1")
    assert intake(store, tmp_path, mask=masking(tombstones)).new_ranges == 0
    path.write_bytes(path.read_bytes() + lines(user("s1", 10, f"Again: {PHRASE}!", 10)))
    transcript(tmp_path, "fork").write_bytes(
        path.read_bytes().replace(b'"sessionId":"s1"', b'"sessionId":"fork"')
    )
    report = intake(store, tmp_path, mask=masking(tombstones))
    assert (report.new_ranges, report.rewritten) == (2, 0)
    for ranges in store.archive.sources().values():
        for entry in ranges:
            content = store.archive.read(
                entry.source_id, entry.generation, entry.byte_from, entry.byte_to
            )
            assert not tombstones.holds(content) and store.archive.verify(entry.id)


@pytest.mark.parametrize(("length", "status"), [(6, "observed"), (1, "short")])
def test_an_answer_on_masked_messages_is_masked_and_found_again_so_nobody_pays_twice(
    length: int, status: str, tmp_path: Path
):
    store = open_store(read_settings())
    turns = [
        *dialogue("s2", length),
        user("s2", 90, ABOUT, 30),
        *dialogue("s2", length // 3, first=91, minutes=31),
    ]
    transcript(tmp_path, "s2").write_bytes(lines(*turns))
    capture(store, tmp_path)
    assert store.tables.read("windows")["status"].to_list() == [status]
    answers = AnswerStore(store.root / "answers")
    asked = questions(store)
    for question in asked:
        said = ModelAnswer(
            f"<observations>- {PHRASE}\n- use uv</observations>", "scripted-1", 10, 20
        )
        answers.write(StoredAnswer(question.key, said, store.settings.clock()))
    used = store.ledger.append(
        "memory.used", asked[0].key.name, {"memory_ids": ["m"]}, actor="scripted-1"
    )
    tombstones = forget(store)
    capture(store, tmp_path)
    again = questions(store)
    assert [q.key for q in again] != [q.key for q in asked] and len(again) == len(asked)
    kept = [answers.read(question.key) for question in again]
    assert all(
        one and "use uv" in one.answer.text and not tombstones.holds(one.answer.text.encode())
        for one in kept
    )
    (event,) = store.ledger.events(["memory.used"])
    assert (event.id, event.target) == (used.id, again[0].key.name)


def test_no_answer_moves_to_a_question_about_other_messages():
    """Each byte becomes an asterisk: a masked umlaut is longer, and the first call ends earlier."""
    first, last = ("owner", "a" * 100_000), ("owner", "c" * 4_000)
    dialogues = [
        said(first, ("owner", text + "b" * 34_000), last) for text in ("ü" * 2_000, "*" * 4_000)
    ]
    plans = [
        plan_questions(window(rows), messages(rows), "m", read_settings().zone)
        for rows in dialogues
    ]
    assert not list(changed_pairs(*plans))


def questions(store: Store) -> list[ObserverQuestion]:
    window = store.tables.read("windows").row(0, named=True)
    return questions_about(
        window, store.tables.read("messages").sort("ordinal"), "scripted-1", store.settings.zone
    )
