"""Tokens of a shared memory: shown once, kept as hashes in a file of the owner, revoked at once, and read again when changed."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from memory_assets.errors import QuestionError, StoreError, UnknownIdError
from memory_assets.extras.sharing.tokens import AccessTokens, create, revoke
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.factories import START


@pytest.fixture
def store() -> Store:
    return open_store(read_settings())


def made(store: Store, name: str = "laptop", **changes: Any) -> str:
    given: dict[str, Any] = {
        "person": "Ada",
        "project": "shop",
        "scopes": ["read"],
        "now": START,
        **changes,
    }
    return create(store, name, **given)[1]


def test_only_the_hash_of_a_token_is_kept_in_a_file_of_the_owner(store: Store):
    secret = made(store, scopes=["write", "read"])
    content = (store.root / "tokens.json").read_text()
    assert secret not in content and secret.removeprefix("memtok_") not in content
    assert stat.S_IMODE((store.root / "tokens.json").stat().st_mode) == 0o600
    found = AccessTokens(store.root).find(secret)
    assert found and (found.person, found.project, found.scopes) == (
        "Ada",
        "shop",
        ("read", "write"),
    )


def test_a_revoked_token_is_not_found_by_a_reader_that_was_open_before(store: Store):
    secret = made(store)
    tokens = AccessTokens(store.root)
    token = tokens.find(secret)
    assert token
    assert (
        revoke(store, token.id, now=START).revoked_at
        == revoke(store, token.id, now=START).revoked_at
    )
    assert tokens.find(secret) is None
    assert [one.is_valid for one in tokens.every()] == [False]
    again = made(store)  # the name is free again
    assert tokens.find(again)


def test_a_token_is_revoked_by_its_name_and_an_unknown_one_is_an_error(store: Store):
    secret = made(store)
    revoke(store, "laptop", now=START)
    assert AccessTokens(store.root).find(secret) is None
    with pytest.raises(UnknownIdError, match="memory serve tokens list"):
        revoke(store, "nobody", now=START)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"name": " "}, "NAME is empty"),
        ({"person": ""}, "--person is empty"),
        ({"scopes": []}, "without a scope"),
        ({"scopes": ["read", "all"]}, "one of read, write, review, push, not 'all'"),
        ({"name": "x" * 81}, "at most 80"),
        ({"person": "Ada\x1b[2J"}, "printable"),
    ],
)
def test_what_cannot_be_a_token_is_refused_and_nothing_is_written(
    store: Store, changes: dict[str, Any], told: str
):
    with pytest.raises(QuestionError, match=told):
        made(store, **changes)
    assert not (store.root / "tokens.json").exists()


def test_a_name_is_given_once(store: Store):
    made(store)
    with pytest.raises(QuestionError, match="already"):
        made(store)


NO_HASH = dict.fromkeys(("id", "name", "person", "project", "created_at"), "") | {
    "scopes": [],
    "sha256": None,
}
DAMAGE = [
    "",
    "{",
    "[]",
    '{"tokens": [{"id": 1}]}',
    '{"tokens": 3}',
    json.dumps({"tokens": [NO_HASH]}),
]


@pytest.mark.parametrize("content", DAMAGE)
def test_a_damaged_file_makes_no_token_valid(store: Store, content: str):
    secret = made(store)
    Path(store.root, "tokens.json").write_text(content)
    with pytest.raises(StoreError, match="is damaged"):
        AccessTokens(store.root).find(secret)
