"""`memory data serve-push --stdio`, talked to directly: what is malformed or hostile changes nothing and is said.

Whoever reaches the command may add to the store as its owner, and nothing else: no file is written outside of it.
"""

from io import BytesIO
from pathlib import Path
from typing import Any

import orjson
import pytest

from memory_assets.errors import PushError
from memory_assets.extras.sharing import ssh
from memory_assets.extras.sharing.pieces import MOST_BYTES, pack
from memory_assets.extras.sharing.ssh import MAGIC, Wire, serve_folder
from memory_assets.memory import MemoryAgent
from memory_assets.schema.protocols import ModelAnswer
from memory_assets.stages.capture.index import index_sources
from memory_assets.stages.distill.model.answers import AnswerKey, AnswerStore
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets.text.checksums import with_checksum
from memory_assets_tests.stages.capture.sessions import lines, user

KEY = "ab" * 32
CONTENT = lines(user("one", 1, "Never push on Fridays.", 1))


@pytest.fixture
def store() -> Store:
    return open_store(read_settings(owner="Mira"))


def hello(**changes: Any) -> bytes:
    said = {"protocol": 1, "host": "laptop", "owner": "Mira", "timezone": "UTC", "keys": [KEY]}
    return MAGIC + orjson.dumps({**said, **changes}) + b"\n"


def request(path: str, body: Any) -> bytes:
    return orjson.dumps([path, body]) + b"\n"


def piece(**changes: Any) -> dict[str, Any]:
    content = changes.pop("bytes", CONTENT)
    facts = {
        "is_own": True, "raw_hmac": "0" * 64, "created_at": "2026-08-03T09:00:00Z", "changed_at": None, "content_at": None,
        "content_until": None, "masked_count": 0, "masking_version": "1",
    }  # fmt: skip
    return {
        "source_id": "1" * 20, "harness": "claude_code", "path": "/home/mira/one.jsonl", "session_id": "one", "generation": 0,
        "byte_from": 0, "byte_to": len(content), "line_from": 0, "line_to": content.count(b"\n"),
        "sha256": ssh_sha(content), "content": pack(content), "noted": facts, **changes,
    }  # fmt: skip


def ssh_sha(content: bytes) -> str:
    import hashlib

    return hashlib.sha256(content).hexdigest()


def push(*pieces: dict[str, Any]) -> bytes:
    return request("push", {"client": "0" * 16, "pieces": list(pieces)})


NOTE = {
    "text": "A note.", "category": "operations", "priority": "medium", "sentiment": "neutral", "scope": "everyone",
    "project": "", "person": "Mira", "tags": [], "session": "", "taxonomy": "1",
}  # fmt: skip


def event(kind: str = "memory.noted", **changes: Any) -> dict[str, Any]:
    payload = changes.pop("payload", NOTE)
    at = "2026-08-03T09:00:00+00:00"
    base = {"id": "000000001-aaaaaaaa", "at": at, "actor": "Mira", "kind": kind, "target": "all"}
    return {**base, "payload": payload, **changes}


def events(*rows: Any) -> bytes:
    return request("events", {"events": list(rows)})


def talk(monkeypatch: pytest.MonkeyPatch, *said: bytes) -> tuple[int, list[Any]]:
    """The exit code, and the answers after the greeting."""
    monkeypatch.setenv("MEMORY_OWNER", "Mira")
    answers = BytesIO()
    code = serve_folder(None, BytesIO(b"".join(said)), answers)
    first, *others = answers.getvalue().splitlines()
    assert first + b"\n" == MAGIC + b"\n"
    return code, [orjson.loads(line) for line in others]


def fault(monkeypatch: pytest.MonkeyPatch, *said: bytes) -> str:
    code, answers = talk(monkeypatch, *said)
    assert code == 1 and not answers[-1]["ok"]
    return f"{answers[-1]['error']['type']}: {answers[-1]['error']['message']}"


def everything(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_what_is_well_formed_is_taken_in(store: Store, monkeypatch: pytest.MonkeyPatch):
    code, answers = talk(monkeypatch, hello(), push(piece()), events(event()))
    assert code == 0
    assert answers[1]["data"] == {"stored": 1, "replaced": 0, "known": 0, "apart": []}
    assert answers[2]["data"] == {"new": 1}
    (ranges,) = store.archive.sources().values()
    assert store.archive.read(ranges[0].source_id, 0, 0, len(CONTENT)) == CONTENT
    assert (ranges[0].conversation_id, ranges[0].is_own, ranges[0].pushed) == ("one", True, None)
    assert KEY.encode() in store.keys


ABOUT = AnswerKey("material", "prompt", "scripted-1", "max_tokens=8000", "serialise/2")


def answer_file(text: Any, at: str = "2026-08-03T09:00:00+00:00") -> str:
    """The text of a stored answer's file."""
    answer = vars(ModelAnswer(text, "scripted-1", 1, 1))
    row = {
        "v": 1,
        "key": vars(ABOUT),
        "answer": answer,
        "asked_at": at,
        "shown_ids": [],
        "fault": "",
    }
    return with_checksum(orjson.dumps(row)).decode()


def answers(name: str, text: str) -> bytes:
    return request("answered", {"answers": {name: text}})


def test_answers_of_models_are_stored_once_without_what_was_forgotten(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    talk(monkeypatch, hello(), push(piece()))
    index_sources(store.archive, store.tables)
    MemoryAgent(store.settings).forget("on Fridays", apply=True)
    said = answer_file("<facts>Nobody pushes on Fridays.</facts>")
    again = answer_file("<facts>Another text.</facts>")
    _, replies = talk(
        monkeypatch,
        hello(),
        answers(ABOUT.name, said),
        answers(ABOUT.name, again),
        request("answers", None),
    )
    assert [reply["data"] for reply in replies[1:]] == [
        {"new": 1},
        {"new": 0},
        {"names": [ABOUT.name]},
    ]
    stored = AnswerStore(store.answers).read(ABOUT)
    assert stored and stored.answer.text == "<facts>Nobody pushes **********.</facts>"


def tombstone(**more: Any) -> dict[str, Any]:
    return {"tombstones": [{"digest": "a", "words": 1, "anchor": "b", "place": 0, **more}]}


def refused() -> dict[str, tuple[bytes, str]]:
    """Name → what a client sends after the greeting, and the words of the error."""
    many = [piece(source_id=f"{n:020x}", byte_to=MOST_BYTES // 2) for n in range(3)]
    tombstones = {"tombstones": [{"digest": 1}], "with_history": False}
    outside = "projects/../../../../.bashrc.md"
    return {
        "an unknown request": (request("erase", {}), "does not know the request 'erase'"),
        "no list of events": (events("x"), "no event of a ledger"),
        "no body": (request("events", None), "cannot be understood"),
        "three items": (b'["push",1,2]\n', "cannot be understood"),
        "no JSON": (b"[push\n", "cannot be understood"),
        "nested deeply": (b'["events",{"events":' + b"[" * 5_000 + b"\n", "cannot be understood"),
        "a source that is a path": (push(piece(source_id="../../../../etc/x")), "source_id"),
        "a negative generation": (push(piece(generation=-1)), "generation"),
        "a field of a newer protocol": (push(piece(language="en")), "language"),
        "an unknown harness": (push(piece(harness="vim")), "harness"),
        "facts of no range": (push(piece(noted={"is_own": "perhaps"})), "cannot be understood"),
        "another hash": (push(piece(sha256="0" * 64)), "hash"),
        "another size": (push(piece(byte_to=7)), "the length and the hash"),
        "a bomb": (push(*many), "the limit is"),
        "an event with a path outside": (
            events(event("entry.promoted", payload={"path": outside, "line": "- x"})),
            "names no file of entries",
        ),
        "a forgetting without its words": (events(event("words.forgotten")), "no event"),
        "half a forgetting": (events(event("words.forgotten", payload=tombstones)), "no event"),
        "an event without a time zone": (events(event(at="2026-08-03T09:00:00")), "no event"),
        "a moment outside of the calendar": (
            events(event(at="0001-01-01T00:00:00+14:00")),
            "no event",
        ),
        "a moment of no event": (events(event(at="9999-12-31T23:00:00-14:00")), "no event"),
        "a note without its fields": (events(event(payload={"text": "A note."})), "no event"),
        "a tombstone of a newer protocol": (
            events(event("words.forgotten", payload={**tombstone(more=1), "with_history": False})),
            "no event",
        ),
        "an amendment without its fields": (
            events(
                event("proposal.numbered", payload={"key": "a", "day": "1", "amends": {"a": 1}})
            ),
            "no event",
        ),
        "a recall without memories": (events(event("memory.recalled", payload={})), "no event"),
        "a kind that is none": (events(event("../x")), "no event"),
        "an answer outside of the store": (answers(f"../../{ABOUT.name}", "{}"), "no name of an"),
        "an answer of no question": (
            answers("0" * 24 + "-" + "0" * 16, answer_file("x")),
            "is another one",
        ),
        "an answer that was changed": (
            answers(ABOUT.name, answer_file("x").replace('"x"', '"y"')),
            "was changed",
        ),
        "an answer about a proposal": (
            answers(f"triage/{ABOUT.name}", answer_file("x")),
            "no name of an",
        ),
        "an answer whose text is a number": (answers(ABOUT.name, answer_file(5)), "cannot be read"),
        "an answer before the calendar": (
            answers(ABOUT.name, answer_file("x", at="0001-01-01T00:00:00+14:00")),
            "cannot be read",
        ),
        "an answer without its fields": (answers(ABOUT.name, "{}"), "cannot be read"),
        "answers that are none": (request("answered", {"answers": [1]}), "cannot be understood"),
        "no id": (events(event(id="")), "no event"),
    }


def test_an_event_far_from_utc_is_kept_with_its_moment_in_utc(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    code, _ = talk(monkeypatch, hello(), events(event(at="2026-08-03T09:00:00+14:00")))
    (kept,) = store.ledger.events()
    assert (code, kept.at.isoformat()) == (0, "2026-08-02T19:00:00+00:00")


def test_where_lines_were_published_on_another_machine_is_not_taken_in(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    place = {"root": "/home/mira/elsewhere", "file": "AGENTS.md", "id": "a", "lines": []}
    _, answers = talk(monkeypatch, hello(), events(event("project.published", payload=place)))
    assert answers[-1]["data"] == {"new": 0} and store.ledger.events() == []


@pytest.mark.parametrize("name", refused())
def test_what_is_malformed_or_hostile_is_refused_and_changes_nothing(
    name: str, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    talk(monkeypatch, hello())
    before = everything(tmp_path)
    message, words = refused()[name]
    assert words in fault(monkeypatch, hello(), message)
    assert everything(tmp_path) == before


@pytest.mark.parametrize(
    ("greeting", "words"),
    [
        (b"GET / HTTP/1.1\r\n", "Only `memory data push"),
        (b"\n", "Only `memory data push"),
        (MAGIC + b"{\n", "cannot be understood"),
        (MAGIC + b"[]\n", "cannot be understood"),
        (hello(protocol=2), "The protocol of the stores differs: 1 on"),
        (hello(owner="Bo"), "set MEMORY_OWNER"),
        (hello(timezone="Asia/Tokyo"), "set MEMORY_TIMEZONE"),
        (hello(keys=[f"{n:064x}" for n in range(60)]), "cannot be understood"),
        (hello(keys=["../key"]), "cannot be understood"),
        (hello(keys=None), "cannot be understood"),
    ],
)
def test_another_greeting_ends_it(
    greeting: bytes, words: str, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    before = everything(tmp_path)
    assert words in fault(monkeypatch, greeting, push(piece()))
    assert everything(tmp_path).keys() - before.keys() <= {"store/lock", "store/resources/key"}
    assert store.archive.sources() == {}


@pytest.mark.parametrize("cut", [1, 100, -1])
def test_a_line_that_is_cut_is_not_taken_in(
    cut: int, store: Store, monkeypatch: pytest.MonkeyPatch
):
    code, answers = talk(monkeypatch, hello(), push(piece())[:cut])
    assert (code, len(answers)) == (0, 1)
    assert store.archive.sources() == {}


def test_a_line_that_never_ends_is_not_read_to_its_end(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(ssh, "LONGEST_LINE", 1_000)
    assert "more than 1,000 bytes" in fault(monkeypatch, hello(), b"[" + b" " * 100_000)


def test_a_machine_that_sends_cannot_fetch_from_one_that_pulls(store: Store):
    wire = Wire("ssh://desktop", BytesIO(b'["pull",null]\n'), BytesIO())
    with pytest.raises(PushError, match="does not know the request 'pull'"):
        wire.answer_requests(store, is_pulled=True)


def test_a_nearly_full_disk_is_left_alone(store: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("memory_assets.extras.sharing.own_machines.SPARE_BYTES", 2**60)
    assert fault(monkeypatch, hello(), push(piece())).startswith("QuotaError: Only ")
    assert store.archive.sources() == {}


def test_secrets_of_a_client_that_masks_nothing_are_masked(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    from random import Random

    from memory_assets_tests.stages.capture.vendor_formats import draw_form

    secret = draw_form("github classic", Random(3))[1]
    content = lines(user("one", 1, f"use {secret} here", 1))
    note = event(payload={**NOTE, "text": f"the token is {secret}"})
    talk(monkeypatch, hello(), push(piece(bytes=content)), events(note))
    (ranges,) = store.archive.sources().values()
    archived = store.archive.read(ranges[0].source_id, 0, 0, len(content))
    assert secret.encode() not in archived and b"use ****" in archived
    assert secret not in str(store.ledger.events())


def test_without_a_store_nothing_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    answers = BytesIO()
    assert serve_folder(tmp_path / "nowhere", BytesIO(hello()), answers) == 1
    assert "There is no store in" in answers.getvalue().decode()
    assert not (tmp_path / "nowhere").exists()
