"""A developer's machine sends its masked sessions to a shared memory: nothing else leaves, nothing is sent twice.

A recorder between the two sees every byte that goes out.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import orjson
import pytest
from pytest import MonkeyPatch
from starlette.responses import Response

from memory_assets.errors import (
    PushError,
    QuestionError,
    QuotaError,
    ScopeError,
    TokenError,
    UnreachableError,
)
from memory_assets.extras.sharing import pieces
from memory_assets.extras.sharing import tokens as access_tokens
from memory_assets.extras.sharing.passed_on import read_passed_on
from memory_assets.extras.sharing.push import Pusher
from memory_assets.extras.sharing.push_choice import OF_OTHERS
from memory_assets.extras.sharing.remote_memory import Connection
from memory_assets.interfaces.guard import read_all
from memory_assets.interfaces.http import application
from memory_assets.memory import MemoryAgent
from memory_assets.stages.capture.index import index_sources
from memory_assets.stages.capture.intake import Machine
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.extras.sharing.recorder import Recorder, recording
from memory_assets_tests.extras.sharing.team_store import BO, MIRA, shared_access, token_of
from memory_assets_tests.harnesses.gemini import test_reader as gemini
from memory_assets_tests.http_server import served
from memory_assets_tests.stages.capture.pipeline import capture, derive, intake
from memory_assets_tests.stages.capture.sessions import assistant, dialogue, lines, transcript, user
from memory_assets_tests.stages.capture.vendor_formats import draw_form

SECRET = draw_form("github classic", Random(3))[1]
SHOP, CLIENTS = "/home/mira/shop", "/home/mira/clients/acme"


@pytest.fixture
def server(monkeypatch: MonkeyPatch) -> Iterator[Recorder]:
    """A shared memory of Mira's, behind a recorder."""
    monkeypatch.setenv("MEMORY_OWNER", MIRA)
    open_store(read_settings())
    token_of(MIRA)
    with (
        served(application("127.0.0.1", access=shared_access(writes=1_000))) as url,
        recording(url) as recorder,
    ):
        yield recorder


class Laptop:
    """A machine with sessions in `transcripts`."""

    def __init__(self, folder: Path, person: str = BO, **settings: Any) -> None:
        self.folder = folder
        given = {"data": folder / "store", "owner": person, "people": {"mira": person}, **settings}
        self.store: Store = open_store(read_settings(**given))

    def write(
        self,
        session: str,
        turns: int = 3,
        *,
        folder: str = SHOP,
        more: tuple[dict[str, Any], ...] = (),
    ) -> Path:
        path = transcript(self.folder / "transcripts", session)
        records = [{**record, "cwd": folder} for record in (*dialogue(session, turns), *more)]
        path.write_bytes(lines(*records))
        return path

    def take_in(self) -> None:
        capture(self.store, self.folder / "transcripts", machine=Machine(Path("/home/mira")))

    def pusher(self, recorder: Recorder | str, token: str) -> Pusher:
        url = recorder if isinstance(recorder, str) else recorder.url
        return Pusher(self.store, url, token, sleep=lambda _: None)


@pytest.fixture
def laptop(tmp_path: Path) -> Laptop:
    return Laptop(tmp_path / "laptop")


def pushed_bytes(store: Store, person: str = BO) -> dict[str, bytes]:
    """What the server has of each session of the person, by the id that it has on their machine."""
    sources = [ranges for ranges in store.archive.sources().values() if ranges[0].pushed]
    return {
        ranges[0].pushed.session_id: content_of(store, ranges)
        for ranges in sources
        if ranges[0].pushed.person == person
    }


def own_bytes(store: Store) -> dict[str, bytes]:
    return {
        ranges[0].conversation_id: content_of(store, ranges)
        for ranges in store.archive.sources().values()
    }


def content_of(store: Store, ranges: list[Any]) -> bytes:
    return store.archive.read(
        ranges[0].source_id, ranges[0].generation, ranges[0].byte_from, ranges[-1].byte_to
    )


def token(person: str = BO, name: str = "push") -> str:
    return token_of(person, scopes=["push"], name=f"{name} of {person}")


def test_sessions_arrive_as_they_are_archived_and_a_second_push_sends_only_what_is_new(
    server: Recorder, laptop: Laptop
):
    laptop.write("one", 40)
    laptop.write("two", 40)
    laptop.take_in()
    secret = token()
    done = laptop.pusher(server, secret).push()
    assert (done.person, done.pieces, done.replaced, len(done.sessions)) == (BO, 2, 0, 2)
    assert pushed_bytes(MemoryAgent().store) == own_bytes(laptop.store)
    assert server.everything().count(b'"parentUuid"') == 0

    server.sent.clear()
    again = laptop.pusher(server, secret).push()
    assert (again.pieces, again.sent_bytes, again.sessions) == (0, 0, ())
    assert len(b"".join(server.sent)) < 400 and not server.bodies()

    with transcript(laptop.folder / "transcripts", "one").open("ab") as file:
        file.write(lines(user("one", 90, "One more thing.", 95)))
    laptop.take_in()
    server.sent.clear()
    more = laptop.pusher(server, secret).push()
    assert (more.pieces, len(more.sessions)) == (1, 1)
    assert [content.count(b"\n") for content in server.contents()] == [1]
    assert pushed_bytes(MemoryAgent().store) == own_bytes(laptop.store)


def test_the_folder_of_a_session_whose_records_name_none_arrives_with_it(
    server: Recorder, laptop: Laptop
):
    gemini.write(laptop.folder / "transcripts", gemini.HEADER, *gemini.TURN)
    laptop.take_in()
    laptop.pusher(server, token()).push()
    store = MemoryAgent().store
    index_sources(store.archive, store.tables)
    assert store.tables.read("records")["cwd"].unique().to_list() == ["/home/mira/tides"]


def test_no_secret_and_no_forgotten_word_leaves_the_machine(server: Recorder, laptop: Laptop):
    said = (user("one", 50, f"my token is {SECRET} and the zebra crossing is closed", 60),)
    laptop.write("one", more=said)
    laptop.take_in()
    assert SECRET.encode() in transcript(laptop.folder / "transcripts", "one").read_bytes()
    owner = MemoryAgent(laptop.store.settings)
    owner.forget("zebra crossing", apply=True)
    laptop.pusher(server, token()).push()
    sent = server.everything()
    assert b"and the ***** ******** is closed" in sent.replace(b"**************", b"***** ********")
    assert not [word for word in (SECRET.encode(), SECRET[6:30].encode(), b"zebra") if word in sent]


def test_what_an_older_release_did_not_mask_is_masked_before_it_is_sent(
    server: Recorder, laptop: Laptop
):
    laptop.write("one", more=(user("one", 50, f"export GITHUB_TOKEN={SECRET}", 60),))

    def unmasked(chunks: Any) -> Any:
        return [(chunk, 0) for chunk in chunks]

    intake(
        laptop.store,
        laptop.folder / "transcripts",
        mask=unmasked,
        machine=Machine(Path("/home/mira")),
    )
    index_sources(laptop.store.archive, laptop.store.tables)
    derive(laptop.store)
    assert SECRET.encode() in own_bytes(laptop.store)["one"]
    laptop.pusher(server, token()).push()
    assert SECRET.encode() not in server.everything()


def test_excluded_projects_ignored_folders_and_others_stay_here(
    server: Recorder, tmp_path: Path, monkeypatch: MonkeyPatch
):
    machine = Laptop(tmp_path / "laptop", push_projects=["*", "!diary"])
    machine.write("one"), machine.write("two", folder=CLIENTS)
    machine.write("three", folder="/home/mira/diary")
    machine.write("four", folder="/home/zoe/shop")
    machine.take_in()
    (Path.home() / ".memoryignore").write_text("**/clients/\n")
    pusher = machine.pusher(server, token())
    found = pusher.preview()
    assert server.sent == []
    assert [one.session_id for one in found.sessions] == ["one"]
    reasons = {one.reason: one.sessions for one in found.left_out}
    ignored = f"by `**/clients/` in {Path.home() / '.memoryignore'}"
    assert reasons == {ignored: 1, "of diary: `push_projects` leaves it out": 1, OF_OTHERS: 1}
    pusher.push()
    sent = server.everything()
    assert b"one: please look" in sent
    assert not [
        word
        for word in (b"two: please", b"three: please", b"four: please", b"acme", b"diary")
        if word in sent
    ]


def test_a_push_that_is_cut_goes_on_where_it_stopped(
    server: Recorder, laptop: Laptop, monkeypatch: MonkeyPatch
):
    monkeypatch.setattr(pieces, "PIECE_BYTES", 2_000)
    monkeypatch.setattr("memory_assets.extras.sharing.push.REQUEST_CHARS", 1_500)
    laptop.write("one", 60)
    laptop.take_in()
    secret = token()
    server.most_connections = 4
    with pytest.raises(UnreachableError):
        laptop.pusher(server, secret).push()
    before = pushed_bytes(MemoryAgent().store)["one"]
    assert 0 < len(before) < len(own_bytes(laptop.store)["one"])
    (
        next((laptop.store.root / "pushed").glob("*.json"))
    ).unlink()  # as after a kill before it was written
    server.most_connections = 10**9
    first = len(server.sent)
    done = laptop.pusher(server, secret).push()
    assert pushed_bytes(MemoryAgent().store) == own_bytes(laptop.store)
    again = [piece for body in server.bodies()[first - 1 :] for piece in body["pieces"]]
    assert min(piece["byte_from"] for piece in again if piece) >= len(before) and done.replaced == 0


def test_a_token_that_is_revoked_in_between_is_one_clear_line(server: Recorder, laptop: Laptop):
    laptop.write("one")
    laptop.take_in()
    secret = token()
    laptop.pusher(server, secret).push()
    access_tokens.revoke(MemoryAgent().store, f"push of {BO}", now=laptop.store.settings.clock())
    laptop.write("two")
    laptop.take_in()
    with pytest.raises(TokenError) as raised:
        laptop.pusher(server, secret).push()
    assert "was revoked" in str(raised.value) and "\n" not in str(raised.value)
    assert laptop.pusher(server, secret).preview().sessions[0].session_id == "two"


def test_without_the_scope_a_token_or_an_address_nothing_is_sent(server: Recorder, laptop: Laptop):
    laptop.write("one")
    laptop.take_in()
    with pytest.raises(ScopeError, match="push"):
        laptop.pusher(server, token_of(BO, scopes=["read", "write", "review"])).push()
    for url, secret in (("", "memtok_x"), (server.url, "")):
        with pytest.raises(QuestionError):
            laptop.pusher(url, secret).push()
    assert server.bodies() == []


def test_equal_sessions_of_two_developers_do_not_mix(server: Recorder, tmp_path: Path):
    for person in (BO, "Zoe"):
        machine = Laptop(tmp_path / person, person)
        machine.write("one", more=(assistant("one", 50, f"Answered for {person}.", 60),))
        machine.take_in()
        machine.pusher(server, token(person)).push()
    store = MemoryAgent().store
    index_sources(store.archive, store.tables)
    derive(store)
    windows = store.tables.read("windows")
    assert sorted(windows["person"].unique()) == [BO, "Zoe"]
    assert windows["session_id"].n_unique() == windows["source_id"].n_unique() == 2
    assert windows["project"].unique().to_list() == ["shop"]
    ids = windows["message_ids"].explode()
    assert ids.n_unique() == len(ids) and windows["shared_with"].list.len().sum() == 0
    assert all(one.startswith("one@") for one in windows["session_id"])
    texts = store.tables.read("messages")["text"].to_list()
    assert {"Answered for Bo.", "Answered for Zoe."} <= set(texts)


def test_words_that_are_forgotten_here_are_masked_there_with_the_next_push(
    server: Recorder, laptop: Laptop
):
    laptop.write(
        "one",
        more=(user("one", 50, "The zebra crossing, near the harbour, is closed on Mondays.", 60),),
    )
    laptop.take_in()
    secret = token()
    laptop.pusher(server, secret).push()
    assert b"zebra" in pushed_bytes(MemoryAgent().store)["one"]
    MemoryAgent(laptop.store.settings).forget("zebra crossing, near the harbour", apply=True)
    server.sent.clear()
    done = laptop.pusher(server, secret).push()
    assert (done.pieces, done.replaced) == (0, 1)
    found = pushed_bytes(MemoryAgent().store)["one"]
    assert b"zebra" not in found and b"harbour" not in found and b"is closed on Mondays" in found
    assert b"zebra" not in server.everything()
    (waiting,) = read_passed_on(MemoryAgent().store)
    assert (waiting.person, [one.words for one in waiting.tombstones]) == (BO, [5])
    assert laptop.pusher(server, secret).push().replaced == 0


def test_a_client_is_not_trusted(server: Recorder, laptop: Laptop):
    laptop.write("one", 20)
    laptop.take_in()
    secret = token()
    laptop.pusher(server, secret).push()
    (body,) = server.bodies()
    agent = MemoryAgent().store
    archived = own_bytes(agent)
    piece = body["pieces"][0]
    connection = Connection(server.url, secret)

    def refused(**changes: Any) -> str:
        answer = connection.send("push", orjson.dumps({**body, "pieces": [{**piece, **changes}]}))
        with pytest.raises(PushError) as raised:
            connection.envelope_of(answer)
        assert answer.status == 409
        return str(raised.value)

    end, lines_ = piece["byte_to"], piece["line_to"]
    assert "length and the hash" in refused(sha256="0" * 64)
    assert "length and the hash" in refused(byte_to=end + 1)
    assert "number of lines" in refused(line_to=lines_ + 1)
    assert "does not follow" in refused(source_id="0" * 20, byte_from=10, byte_to=end + 10)
    assert "is no push" in refused(harness="emacs")
    assert "is no push" in refused(session_id="one@0011223344556677")
    assert "cannot be taken in" in refused(content="aGVsbG8=")
    other = (
        archived[next(iter(archived))]
        .replace(b"please look", b"kindly look")
        .ljust(end, b" ")[:end]
    )
    changed = {"content": pieces.pack(other), "sha256": hashlib.sha256(other).hexdigest()}
    assert "more than masked words" in refused(
        **changed, line_to=other.count(b"\n") + (not other.endswith(b"\n"))
    )
    assert own_bytes(MemoryAgent().store) == archived

    bare = lines(user("bare", 1, f"use {SECRET} here", 3))
    sent = {
        **piece, "source_id": "1" * 20, "session_id": "bare", "byte_from": 0, "byte_to": len(bare), "line_from": 0, "line_to": 1,
        "sha256": hashlib.sha256(bare).hexdigest(), "content": pieces.pack(bare),
    }  # fmt: skip
    answer = connection.send("push", orjson.dumps({**body, "pieces": [sent]}))
    assert connection.envelope_of(answer)["data"] == {
        "stored": 1,
        "replaced": 0,
        "known": 0,
        "apart": [],
    }
    assert SECRET.encode() not in pushed_bytes(MemoryAgent().store)["bare"]


def test_a_person_has_a_limit_on_the_server(
    server: Recorder, laptop: Laptop, monkeypatch: MonkeyPatch
):
    monkeypatch.setenv("MEMORY_PUSHED_GB", "0.000001")
    laptop.write("one", 20)
    laptop.take_in()
    with pytest.raises(QuotaError, match="pushed_gb"):
        laptop.pusher(server, token("Zoe")).push()


def test_requests_are_halved_for_a_proxy_and_wait_for_a_server_that_counts_them(laptop: Laptop):
    busy, limit, taken, waits = [429], [4_000], list[int](), list[float]()

    async def strict(scope: Any, receive: Any, send: Any) -> None:
        """A server that counts the requests of a minute, behind a proxy that takes short ones only."""
        size = sum(len(message.get("body", b"")) for message in await read_all(receive))
        status = 413 if size > limit[0] else 200
        status = busy.pop() if size and busy else status
        taken.extend([size] if size and status == 200 else [])
        data = {"stored": 1, "replaced": 0, "known": 0, "person": BO, "digest": "x", "held": {}}
        content = (
            orjson.dumps({"ok": status == 200, "data": data})
            if status != 413
            else b"<html>Too Large</html>"
        )
        await Response(content, status, {"Retry-After": "7"})(scope, receive, send)

    for number in range(8):
        laptop.write(f"s{number}", 20)
    laptop.take_in()
    with served(strict) as url:
        Pusher(laptop.store, url, "memtok_x", sleep=waits.append).push()
        assert waits == [7.0] and len(taken) >= 4 and max(taken) <= limit[0]
        limit[0] = 10
        laptop.write("last", 20)
        laptop.take_in()
        with pytest.raises(PushError, match="client_max_body_size"):
            Pusher(laptop.store, url, "memtok_x", sleep=waits.append).push()
