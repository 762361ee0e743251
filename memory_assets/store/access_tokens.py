"""The tokens of a shared memory: who may ask it over HTTP, in which project, and what for.

Only the SHA-256 of a token is kept, in `tokens.json` of the store, which its owner alone can read.
The file is read again when it changed, so that a running server refuses a revoked token with the
next request.
"""

import hashlib
import hmac
import json
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from memory_assets.errors import QuestionError, StoreError, UnknownIdError
from memory_assets.text.files import Stamp, stamp_of, write_atomically

if TYPE_CHECKING:
    from memory_assets.store.store import Store

FILE = "tokens.json"
PREFIX = "memtok_"
SECRET_BYTES = 32
ID_BYTES = 4
LONGEST_NAME = 80
AccessScope = Literal["read", "write", "review", "push"]
SCOPES: tuple[AccessScope, ...] = get_args(AccessScope)


@dataclass(frozen=True)
class AccessToken:
    """A token without its secret."""

    id: str
    name: str
    """What it is for, such as the laptop of a colleague."""
    person: str
    project: str
    """The project it asks in; empty for none."""
    scopes: tuple[AccessScope, ...]
    sha256: str
    created_at: str
    revoked_at: str = ""

    @property
    def is_valid(self) -> bool:
        """Whether it was not revoked."""
        return not self.revoked_at


class AccessTokens:
    """The tokens of one store."""

    def __init__(self, root: Path) -> None:
        self.path = root / FILE
        self._read: tuple[Stamp | None, tuple[AccessToken, ...]] | None = None

    def every(self) -> tuple[AccessToken, ...]:
        """Returns all tokens, revoked ones included; raises `StoreError` where the file is
        damaged.
        """
        stamp = stamp_of(self.path)
        if self._read is None or self._read[0] != stamp:
            self._read = stamp, _parse(self.path) if stamp else ()
        return self._read[1]

    def find(self, secret: str) -> AccessToken | None:
        """Returns the valid token with this secret; compares with every one in constant time."""
        digest = _digest_of(secret)
        same = [one for one in self.every() if hmac.compare_digest(one.sha256, digest)]
        return next((one for one in same if one.is_valid), None)


def create(
    store: "Store", name: str, *, person: str, project: str, scopes: Sequence[str], now: datetime
) -> tuple[AccessToken, str]:
    """Writes a new token and returns it with its secret, which is kept nowhere."""
    label, who, where = (
        _word(kind, given)
        for kind, given in (("NAME", name), ("--person", person), ("--project", project))
    )
    if not label or not who:
        raise QuestionError(f"{'NAME' if not label else '--person'} is empty; give a name.")
    if not scopes:
        raise QuestionError(
            f"A token without a scope can do nothing. Give --scope, one of {', '.join(SCOPES)}."
        )
    if unknown := [one for one in scopes if one not in SCOPES]:
        raise QuestionError(
            f"--scope must be one of {', '.join(SCOPES)}, not {unknown[0][:LONGEST_NAME]!r}."
        )
    secret = f"{PREFIX}{secrets.token_urlsafe(SECRET_BYTES)}"
    kept: tuple[AccessScope, ...] = tuple(one for one in SCOPES if one in scopes)
    made = AccessToken(
        secrets.token_hex(ID_BYTES), label, who, where, kept, _digest_of(secret), now.isoformat()
    )
    with store.lock():
        known = AccessTokens(store.root).every()
        if any(one.name == label and one.is_valid for one in known):
            raise QuestionError(
                f"There is a token named {label!r} already. Revoke it first, or choose "
                "another name."
            )
        _write(store, (*known, made))
    return made, secret


def revoke(store: "Store", id: str, *, now: datetime) -> AccessToken:
    """Revokes the token of this id or name; one that was revoked before stays as it is."""
    with store.lock():
        known = AccessTokens(store.root).every()
        found = [one for one in known if one.id == id] or [
            one for one in known if one.name == id and one.is_valid
        ]
        if not found:
            raise UnknownIdError(
                f"There is no token {id[:LONGEST_NAME]!r}. `memory serve tokens list` lists "
                "the tokens."
            )
        if not found[0].is_valid:
            return found[0]
        revoked = AccessToken(
            **{**asdict(found[0]), "scopes": found[0].scopes, "revoked_at": now.isoformat()}
        )
        _write(store, tuple(revoked if one.id == revoked.id else one for one in known))
    return revoked


def _word(name: str, given: str) -> str:
    word = " ".join(given.split())
    if len(word) > LONGEST_NAME or not word.isprintable():
        raise QuestionError(f"{name} must have at most {LONGEST_NAME} printable characters.")
    return word


def _digest_of(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _write(store: "Store", tokens: Sequence[AccessToken]) -> None:
    content = json.dumps({"tokens": [asdict(one) for one in tokens]}, indent=1, ensure_ascii=False)
    write_atomically(store.root / FILE, f"{content}\n".encode())


def _parse(path: Path) -> tuple[AccessToken, ...]:
    try:
        return tuple(_token(row) for row in json.loads(path.read_bytes())["tokens"])
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"{path} is damaged ({type(error).__name__}), so that no token is valid. Delete "
            "it and create new tokens with "
            "`memory serve tokens create`."
        ) from None
    except OSError as error:
        raise StoreError(
            f"Cannot read {path}: {error.strerror or error}. Fix its permissions."
        ) from error


def _token(row: dict[str, Any]) -> AccessToken:
    token = AccessToken(**{**row, "scopes": tuple(row["scopes"])})
    if not all(
        isinstance(value, str) for value in (token.id, token.person, token.sha256, token.revoked_at)
    ):
        raise TypeError
    return token
