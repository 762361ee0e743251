"""The tokens of a shared memory: who may ask it over HTTP, in which project, for which purposes.

`tokens.json` of the store has only the SHA-256 of each token, and only the owner can read it. A
running server reads the file again when it changed, and so refuses a revoked token at once.
"""

import hashlib
import hmac
import json
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from memory_assets.errors import QuestionError, StoreError, UnknownIdError
from memory_assets.text.files import Stamp, stamp_of, write_atomically
from memory_assets.text.words import squeezed

if TYPE_CHECKING:
    from memory_assets.store.store import Store

FILE = "tokens.json"
PREFIX = "memtok_"
SECRET_BYTES = 32
ID_BYTES = 4
LONGEST_NAME = 80
"""Characters of the names of a token, a person and a project."""

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
    """The project that its questions are asked in; empty for none."""
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
        self._cached: tuple[Stamp | None, tuple[AccessToken, ...]] | None = None

    def every(self) -> tuple[AccessToken, ...]:
        """Returns all tokens, also revoked ones; raises `StoreError` if the file is damaged."""
        stamp = stamp_of(self.path)
        if self._cached is None or self._cached[0] != stamp:
            self._cached = (stamp, _parse(self.path) if stamp else ())
        return self._cached[1]

    def find(self, secret: str) -> AccessToken | None:
        """Returns the valid token with this secret, or None.

        All tokens are compared in constant time, so that the time tells nothing about them.
        """
        digest = _digest_of(secret)
        matches = [token for token in self.every() if hmac.compare_digest(token.sha256, digest)]
        return next((token for token in matches if token.is_valid), None)


def create(
    store: "Store", name: str, *, person: str, project: str, scopes: Sequence[str], now: datetime
) -> tuple[AccessToken, str]:
    """Adds a new token, and returns it with its secret, which is stored nowhere."""
    secret = f"{PREFIX}{secrets.token_urlsafe(SECRET_BYTES)}"
    token = AccessToken(
        secrets.token_hex(ID_BYTES),
        _checked_name("NAME", name),
        _checked_name("--person", person),
        _checked_name("--project", project, may_be_empty=True),
        _checked_scopes(scopes),
        _digest_of(secret),
        now.isoformat(),
    )
    with store.lock():
        tokens = AccessTokens(store.root).every()
        if any(other.name == token.name and other.is_valid for other in tokens):
            raise QuestionError(
                f"There is a token named {token.name!r} already. Revoke it first, or choose "
                "another name."
            )
        _write(store, (*tokens, token))
    return token, secret


def revoke(store: "Store", id_or_name: str, *, now: datetime) -> AccessToken:
    """Revokes the token with this id, else the valid one with this name, and returns it.

    A token that was revoked before is returned unchanged.
    """
    with store.lock():
        tokens = AccessTokens(store.root).every()
        matches = [token for token in tokens if token.id == id_or_name]
        if not matches:
            matches = [token for token in tokens if token.is_valid and token.name == id_or_name]
        if not matches:
            raise UnknownIdError(
                f"There is no token {id_or_name[:LONGEST_NAME]!r}. "
                "`memory serve tokens list` lists the tokens."
            )
        if not matches[0].is_valid:
            return matches[0]
        revoked = replace(matches[0], revoked_at=now.isoformat())
        _write(store, [revoked if token.id == revoked.id else token for token in tokens])
    return revoked


def _checked_name(option: str, text: str, *, may_be_empty: bool = False) -> str:
    """Returns the name on one line; raises `QuestionError` with the option if it is unusable."""
    name = squeezed(text)
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise QuestionError(f"{option} must have at most {LONGEST_NAME} printable characters.")
    if not name and not may_be_empty:
        raise QuestionError(f"{option} is empty; give a name.")
    return name


def _checked_scopes(scopes: Sequence[str]) -> tuple[AccessScope, ...]:
    """Returns the scopes, each once and in the order of `SCOPES`; raises `QuestionError`."""
    names = ", ".join(SCOPES)
    if not scopes:
        raise QuestionError(
            f"A token without a scope can do nothing. Give --scope, one of {names}."
        )
    unknown = [scope for scope in scopes if scope not in SCOPES]
    if unknown:
        raise QuestionError(f"--scope must be one of {names}, not {unknown[0][:LONGEST_NAME]!r}.")
    return tuple(scope for scope in SCOPES if scope in scopes)


def _digest_of(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _write(store: "Store", tokens: Sequence[AccessToken]) -> None:
    rows = [asdict(token) for token in tokens]
    content = json.dumps({"tokens": rows}, indent=1, ensure_ascii=False)
    write_atomically(store.root / FILE, f"{content}\n".encode())


def _parse(path: Path) -> tuple[AccessToken, ...]:
    try:
        return tuple(_token(row) for row in json.loads(path.read_bytes())["tokens"])
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"{path} is damaged ({type(error).__name__}), so that no token is valid. Delete "
            "it and create new tokens with `memory serve tokens create`."
        ) from None
    except OSError as error:
        raise StoreError(
            f"Cannot read {path}: {error.strerror or error}. Fix its permissions."
        ) from error


def _token(row: dict[str, Any]) -> AccessToken:
    token = AccessToken(**{**row, "scopes": tuple(row["scopes"])})
    texts = (token.id, token.person, token.sha256, token.revoked_at)
    if not all(isinstance(text, str) for text in texts):
        raise TypeError
    return token
