"""Records in `pushed/<server>.json` which pieces a server confirmed.

The record can be lost: where it differs from the server's own list, that replaces it.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memory_assets.extras.sharing.pieces import Held, digest_of
from memory_assets.store.store import Store
from memory_assets.text.files import make_folder, write_atomically

FOLDER = "pushed"
DAMAGE = (OSError, ValueError, KeyError, TypeError, AttributeError)
"""Errors while a damaged record is read."""


@dataclass
class PushRecord:
    """The pieces that one server has of this store."""

    path: Path
    url: str
    is_known: bool = False
    """Whether the owner agreed once to send sessions to this server."""
    held: dict[str, list[Held]] = field(default_factory=dict)
    """Source → its pieces on the server, in order."""
    fingerprints: dict[str, str] = field(default_factory=dict)
    """Source → its `PushSource.fingerprint` when all of it had been sent."""

    @property
    def digest(self) -> str:
        """Digest of the recorded pieces, to compare with that of the server."""
        return digest_of(self.held)

    def replace_held(self, rows_by_source: Mapping[str, Any]) -> None:
        """Replaces the pieces with those of the server's list.

        A source whose pieces changed by that loses its fingerprint, so that it is compared again.
        """
        held = _held_of(rows_by_source)
        self.fingerprints = {
            source: fingerprint
            for source, fingerprint in self.fingerprints.items()
            if source in held and self.held.get(source) == held[source]
        }
        self.held = held

    def confirm(self, source: str, piece: Held) -> None:
        """Notes that the server has the piece, instead of an earlier one with the same start."""
        pieces = [held for held in self.held.get(source, []) if held[:2] != piece[:2]]
        self.held[source] = sorted([*pieces, piece])

    def save(self) -> None:
        """Writes the record."""
        content = {"url": self.url, "held": self.held, "fingerprints": self.fingerprints}
        make_folder(self.path.parent)
        write_atomically(self.path, json.dumps(content, sort_keys=True).encode())


def open_record(store: Store, url: str) -> PushRecord:
    """Returns the record of the server; an empty one if there is none or it is damaged."""
    path = store.root / FOLDER / f"{hashlib.sha256(url.encode()).hexdigest()[:16]}.json"
    try:
        row = json.loads(path.read_bytes())
        return PushRecord(path, url, True, _held_of(row["held"]), dict(row["fingerprints"]))
    except FileNotFoundError:
        return PushRecord(path, url)
    except DAMAGE:
        return PushRecord(path, url, is_known=True)


def servers_pushed_to(store: Store) -> list[str]:
    """Returns the addresses of the servers that have sessions of this store."""
    urls: list[str] = []
    for path in sorted((store.root / FOLDER).glob("*.json")):
        try:
            row = json.loads(path.read_bytes())
            if row["held"]:
                urls.append(str(row["url"]))
        except DAMAGE:
            continue
    return urls


def _held_of(rows_by_source: Mapping[str, Sequence[Sequence[Any]]]) -> dict[str, list[Held]]:
    return {source: list(map(_held, rows)) for source, rows in rows_by_source.items()}


def _held(row: Sequence[Any]) -> Held:
    generation, byte_from, byte_to, sha256 = row
    return int(generation), int(byte_from), int(byte_to), str(sha256)
