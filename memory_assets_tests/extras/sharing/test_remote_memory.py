"""A shared memory on another machine answers with the objects and errors of the facade beside it."""

import pytest
from pytest import MonkeyPatch

from memory_assets import errors
from memory_assets.extras.sharing.remote_memory import Connection, RemoteMemory, Response
from memory_assets.extras.sharing.tokens import SCOPES
from memory_assets.interfaces.http import application
from memory_assets.memory import MemoryAgent
from memory_assets_tests.extras.sharing.team_store import (
    BO,
    MIRA,
    PREFERENCE,
    SHOP,
    as_reader,
    shared_access,
    team_store,
    token_of,
)
from memory_assets_tests.http_server import served
from memory_assets_tests.small_store import FACT, PROPOSAL


def test_every_verb_answers_as_the_facade_on_the_machine_of_the_store(monkeypatch: MonkeyPatch):
    team_store(monkeypatch)
    token, near = token_of(MIRA, "shop", SCOPES), as_reader(MIRA, "shop", *SCOPES)
    with served(application("127.0.0.1", access=shared_access(writes=4))) as url:
        far = MemoryAgent(url=url, token=token)
        found, here = (
            one.recall("how do we install packages", probe=True, limit=1) for one in (far, near)
        )
        assert (found.results, found.left_out) == (here.results, here.left_out)
        assert (
            far.answer("what is archived", probe=True).citations
            == near.answer("what is archived", probe=True).citations
        )
        assert (far.explain(SHOP), far.explain("nobody said this")) == (
            near.explain(SHOP),
            near.explain("nobody said this"),
        )
        assert (far.triggers(), far.status(), far.review()) == (
            near.triggers(),
            near.status(),
            near.review(),
        )
        assert (far.brief(), far.review().pending[0].proposal_id) == (near.brief(), PROPOSAL)
        noted = far.remember("The cellar is cold.", category="operations")
        assert (noted.project, noted.kind) == ("shop", "noted")
        assert far.feedback([noted.memory_ids[0]], used=True).is_used
        assert far.forget(noted.memory_ids[0]).memories[0].text == "The cellar is cold."
        for call, error in (
            (lambda: far.recall("q", limit=99), errors.QuestionError),
            (lambda: far.explain("mem_ffffffff"), errors.UnknownIdError),
            (
                lambda: far.remember("The cellar is cold.", instead_of=noted.memory_ids[0]),
                errors.NoteError,
            ),
            (lambda: far.remember("One write too many."), errors.TooManyWritesError),
            (lambda: MemoryAgent(url=url, token="memtok_wrong").status(), errors.TokenError),
            (lambda: MemoryAgent(url=url, token=token_of(BO)).remember(FACT), errors.ScopeError),
            (lambda: MemoryAgent(url=f"{url}/nowhere", token=token).status(), errors.QuestionError),
        ):
            with pytest.raises(error):
                call()
        assert PREFERENCE[MIRA] not in str(
            MemoryAgent(url=url, token=token_of(BO, name="b")).recall("our preferences").results
        )


@pytest.mark.parametrize("url", ["", "memory.example", "file:///etc/passwd", "https://"])
def test_what_is_no_address_is_refused(url: str):
    with pytest.raises(errors.QuestionError, match="is no address"):
        RemoteMemory(url, "memtok_x")


def test_a_server_that_does_not_answer_is_named():
    with pytest.raises(errors.UnreachableError, match="127.0.0.1:9 does not answer"):
        MemoryAgent(url="http://127.0.0.1:9", token="memtok_x").status()


def busy_for(times: int, monkeypatch: MonkeyPatch) -> tuple[RemoteMemory, list[float]]:
    waited = list[float]()
    memory = RemoteMemory("http://127.0.0.1:9", "memtok_x", sleep=waited.append)
    refused = Response(
        503, 2.0, b'{"ok": false, "error": {"type": "QuestionError", "message": "wait"}}'
    )
    state = '{"person": "Bo", "project": "", "scopes": [], "memories": {}, "sessions": 0, "pending": 0, "updated_at": null}'
    answers = [refused] * times + [
        Response(200, None, f'{{"ok": true, "data": {state}, "warnings": []}}'.encode())
    ]
    monkeypatch.setattr(Connection, "send", lambda *_: answers.pop(0))
    return memory, waited


def test_a_busy_server_is_asked_again_as_it_wishes(monkeypatch: MonkeyPatch):
    memory, waited = busy_for(3, monkeypatch)
    assert (memory.status().person, waited) == (BO, [2.0, 2.0, 2.0])
    memory, waited = busy_for(9, monkeypatch)
    with pytest.raises(errors.QuestionError, match="wait"):
        memory.status()
    assert waited == [2.0, 2.0, 2.0]
