"""What this store sent to a server, in `pushed/<server>.json`: pieces as the server confirmed them.

It can be lost: the server's own list replaces it where the two differ.
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


@dataclass
class PushRecord:
    """The pieces that one server has of this store."""

    path: Path
    url: str
    is_known: bool = False
    """The owner agreed once to send sessions to this server."""
    held: dict[str, list[Held]] = field(default_factory=dict)
    """By source, in order."""
    fingerprints: dict[str, str] = field(default_factory=dict)
    """By source, what its ranges and the rules of masking were when everything of it had been sent.
    """

    @property
    def digest(self) -> str:
        """The digest that the server has if nothing was lost on either side."""
        return digest_of(self.held)

    def replace_held(self, rows_by_source: Mapping[str, Any]) -> None:
        """Takes over the server's list; compares a source again if the server has other pieces of
        it than this record says.
        """
        held = _held_of(rows_by_source)
        self.fingerprints = {
            source: fingerprint
            for source, fingerprint in self.fingerprints.items()
            if source in held and self.held.get(source) == held[source]
        }
        self.held = held

    def confirm(self, source: str, piece: Held) -> None:
        """Notes that the server has the piece, in the place of an earlier one of the same bytes."""
        others = [other for other in self.held.get(source, []) if other[:2] != piece[:2]]
        self.held[source] = sorted([*others, piece])

    def save(self) -> None:
        """Writes the record."""
        content = {"url": self.url, "held": self.held, "fingerprints": self.fingerprints}
        make_folder(self.path.parent)
        write_atomically(self.path, json.dumps(content, sort_keys=True).encode())


def open_record(store: Store, url: str) -> PushRecord:
    """Returns the record of the server; an empty one where there is none, or it is damaged."""
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
            urls += [str(row["url"])] if row["held"] else []
        except DAMAGE:
            continue
    return urls


def _held_of(rows_by_source: Mapping[str, Sequence[Sequence[Any]]]) -> dict[str, list[Held]]:
    return {source: list(map(_held, rows)) for source, rows in rows_by_source.items()}


def _held(row: Sequence[Any]) -> Held:
    generation, byte_from, byte_to, sha256 = row
    return int(generation), int(byte_from), int(byte_to), str(sha256)
