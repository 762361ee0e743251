"""Keeps the raw answers of models, so that no question is paid twice and a better parser can read them again.

An answer is written before anyone parses it. Its name begins with a hash of what was shown, so that what a model said of
the same material under another prompt is found too; the rest is the prompt, the model, its parameters and the way the
material was written out. The rest of the store never edits these files.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_assets.errors import StoreError
from memory_assets.schema.protocols import ModelAnswer
from memory_assets.text.files import make_folder, write_atomically

VERSION = 1
"""Version of the files, so that later releases can upcast them."""

CUT = frozenset({"max_tokens", "model_context_window_exceeded"})
"""Reasons to stop that leave the answer without its end."""

REFUSED = frozenset({"refusal"})

CONTENT_CHARS, REST_CHARS = 24, 16


@dataclass(frozen=True)
class AnswerKey:
    """What an answer was made from."""

    content: str
    """Hash of the material and the zone its stamps are in; earlier memories that were shown are no part of it."""
    prompt_hash: str
    model: str
    parameters: str
    serialiser: str

    @property
    def name(self) -> str:
        """The name of the answer's file, without its ending."""
        rest = "\x1f".join((self.prompt_hash, self.model, self.parameters, self.serialiser))
        return f"{_hash(self.content)[:CONTENT_CHARS]}-{_hash(rest)[:REST_CHARS]}"


@dataclass(frozen=True)
class KeptAnswer:
    """An answer as it is kept: what it was made from, when it came, and which earlier memories were shown with it."""

    key: AnswerKey
    answer: ModelAnswer
    asked_at: datetime
    shown_ids: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether the model said all it wanted to."""
        return self.answer.stop_reason not in CUT | REFUSED


class AnswerStore:
    """Raw answers as JSON files in one folder, by key; cut answers and refusals have their reason in the name."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def read(self, key: AnswerKey) -> KeptAnswer | None:
        """Returns the whole answer, or nothing where there is none."""
        path = self.root / f"{key.name}.json"
        return _read(path) if path.is_file() else None

    def read_named(self, name: str) -> KeptAnswer:
        """Returns the answer of that file name; raises `StoreError` where it is missing or broken."""
        return _read(self.root / f"{name}.json")

    def read_unfinished(self, key: AnswerKey) -> KeptAnswer | None:
        """Returns the answer that was cut or refused, or nothing where there is none."""
        paths = (self.root / f"{key.name}.{reason}.json" for reason in sorted(CUT | REFUSED))
        return next((_read(path) for path in paths if path.is_file()), None)

    def about(self, content: str) -> list[KeptAnswer]:
        """Returns the whole answers about the material, under any prompt and of any model, the latest first."""
        names = (path for path in self.root.glob(f"{_hash(content)[:CONTENT_CHARS]}-*.json") if path.name.count(".") == 1)
        found = [_read(path) for path in sorted(names)]
        return sorted((kept for kept in found if kept.key.content == content), key=lambda k: k.asked_at, reverse=True)

    def every(self) -> Iterator[KeptAnswer]:
        """Yields all answers that were ever paid for."""
        for path in sorted(self.root.glob("*.json")):
            yield _read(path)

    def rekey(self, before: str, after: str) -> dict[str, str]:
        """Has the answers about the material found under what it has become, and returns their names, old → new."""
        names = {}
        for path in sorted(self.root.glob(f"{_hash(before)[:CONTENT_CHARS]}-*.json")):
            kept = _read(path)
            if kept.key.content == before:
                moved = replace(kept, key=replace(kept.key, content=after))
                self.write(moved)
                path.unlink()
                names[path.stem] = name_of(moved)
        return names

    def write(self, kept: KeptAnswer) -> None:
        """Stores the answer as it came."""
        make_folder(self.root)
        row = {"v": VERSION, **asdict(kept), "asked_at": kept.asked_at.isoformat()}
        path = self.root / f"{name_of(kept)}.json"
        write_atomically(path, json.dumps(row, ensure_ascii=False, sort_keys=True, indent=1).encode())


def name_of(kept: KeptAnswer) -> str:
    """Returns the name of the answer's file, without its ending."""
    return kept.key.name if kept.is_whole else f"{kept.key.name}.{kept.answer.stop_reason}"


def _read(path: Path) -> KeptAnswer:
    try:
        row: dict[str, Any] = json.loads(path.read_bytes())
        at = datetime.fromisoformat(row["asked_at"]).astimezone(UTC)
        return KeptAnswer(AnswerKey(**row["key"]), ModelAnswer(**row["answer"]), at, tuple(row["shown_ids"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(f"Cannot read the stored answer {path}: {error}. Delete the file to ask the model again.") from error


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
