"""Stores the raw answers of models, so that no question is paid for twice and a better parser can
parse them again.

An answer is stored before it is parsed. Its file name begins with a hash of the material, so that
answers about the same material under another prompt are found too; the rest is a hash of the
prompt, the model, its parameters and the serialiser. The rest of the store never edits these files.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from memory_assets.errors import StoreError
from memory_assets.schema.protocols import ModelAnswer
from memory_assets.text.checksums import is_intact, with_checksum
from memory_assets.text.files import make_folder, write_atomically
from memory_assets.text.words import text_hash

VERSION = 1
"""Version of the file format."""

AGENT_QUESTIONS = "agents"
"""Folder below `answers/` with a folder for each day, where an empty file names each question that
an agent was given.
"""

CUT = frozenset({"max_tokens", "model_context_window_exceeded"})
"""Stop reasons of an incomplete answer."""

REFUSED = frozenset({"refusal"})

SHORT_PREFIX = "short "
"""Begins the content of a question about a short session: no answer to it is one about the whole
transcript.
"""

CONTENT_CHARS, REST_CHARS = 24, 16


@dataclass(frozen=True)
class AnswerKey:
    """The inputs of an answer."""

    content: str
    """Hash of the material and the time zone of its stamps; earlier memories that were shown are
    not included.
    """
    prompt_hash: str
    model: str
    parameters: str
    serialiser: str

    @property
    def is_short(self) -> bool:
        """Whether the question is about a short session."""
        return self.content.startswith(SHORT_PREFIX)

    @property
    def zone(self) -> tzinfo:
        """The time zone of the stamps that the model saw; the content of an observer's question
        ends with it.
        """
        try:
            return ZoneInfo(self.content.rpartition(" ")[2])
        except (ZoneInfoNotFoundError, ValueError):
            return UTC

    @property
    def name(self) -> str:
        """The name of the file of a complete answer, without its suffix."""
        rest = "\x1f".join((self.prompt_hash, self.model, self.parameters, self.serialiser))
        return f"{text_hash(self.content)[:CONTENT_CHARS]}-{text_hash(rest)[:REST_CHARS]}"


@dataclass(frozen=True)
class StoredAnswer:
    """An answer with its inputs, its time, and the ids of the earlier memories that were shown with
    it.
    """

    key: AnswerKey
    answer: ModelAnswer
    asked_at: datetime
    shown_ids: tuple[str, ...] = ()
    fault: str = ""
    """Why the answer, although complete, cannot be used."""

    @property
    def is_whole(self) -> bool:
        """Whether the answer is complete."""
        return self.answer.stop_reason not in CUT | REFUSED

    @property
    def is_usable(self) -> bool:
        """Whether the answer is complete, and was not found faulty."""
        return self.is_whole and not self.fault

    @property
    def name(self) -> str:
        """The name of the answer's file, without its suffix."""
        return self.key.name if self.is_whole else f"{self.key.name}.{self.answer.stop_reason}"


def no_answer(model: str) -> ModelAnswer:
    """Returns what is stored of a call that failed."""
    return ModelAnswer("", model, 0, 0)


class AnswerStore:
    """Raw answers as JSON files in one folder, by key; the names of incomplete answers and refusals
    end with the reason.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def read(self, key: AnswerKey) -> StoredAnswer | None:
        """Returns the complete answer, or None if there is none."""
        return self._read_first(key.name)

    def read_any(self, key: AnswerKey) -> StoredAnswer | None:
        """Returns the complete answer, else the incomplete or refused one, or None if there is
        none.
        """
        return self._read_first(
            key.name, *(f"{key.name}.{reason}" for reason in sorted(CUT | REFUSED))
        )

    def read_named(self, name: str) -> StoredAnswer:
        """Returns the answer of that file name; raises `StoreError` if it is missing or
        malformed.
        """
        return read_answer(self.root / f"{name}.json")

    def about(self, content: str) -> list[StoredAnswer]:
        """Returns the complete answers about the material, under any prompt and of any model, the
        latest first.
        """
        whole = [stored for _, stored in self._about(content) if stored.is_whole]
        return sorted(whole, key=lambda stored: stored.asked_at, reverse=True)

    def every(self) -> Iterator[StoredAnswer]:
        """Yields all answers."""
        return map(read_answer, sorted(self.root.glob("*.json")))

    def rekey(self, old_content: str, new_content: str) -> dict[str, str]:
        """Moves the answers about the material to its new hash; returns their names, old → new."""
        names = {}
        for path, stored in self._about(old_content):
            moved = replace(stored, key=replace(stored.key, content=new_content))
            self.write(moved, path.stem.removeprefix(stored.name))
            path.unlink()
            names[stored.name] = moved.name
        return names

    def put_aside(self, stored: StoredAnswer) -> None:
        """Renames an answer that came to nothing, so that its question is open again; its cost
        still counts.
        """
        path = self.root / f"{stored.name}.json"
        path.rename(path.with_name(f"{stored.name}.{stored.asked_at:%Y%m%d%H%M%S%f}.json"))

    def write(self, stored: StoredAnswer, suffix: str = "") -> None:
        """Stores the answer."""
        make_folder(self.root)
        row = {"v": VERSION, **asdict(stored), "asked_at": stored.asked_at.isoformat()}
        text = json.dumps(row, ensure_ascii=False, sort_keys=True, indent=1)
        path = self.root / f"{stored.name}{suffix}.json"
        write_atomically(path, with_checksum(text.encode()))

    def _read_first(self, *names: str) -> StoredAnswer | None:
        paths = (self.root / f"{name}.json" for name in names)
        return next((read_answer(path) for path in paths if path.is_file()), None)

    def _about(self, content: str) -> list[tuple[Path, StoredAnswer]]:
        paths = sorted(self.root.glob(f"{text_hash(content)[:CONTENT_CHARS]}-*.json"))
        answers = [(path, read_answer(path)) for path in paths]
        return [(path, stored) for path, stored in answers if stored.key.content == content]


def read_answer(path: Path) -> StoredAnswer:
    """Returns the answer in the file; raises `StoreError` if it is missing, malformed or not as it
    was written.
    """
    try:
        return parse_answer(path.read_bytes())
    except (OSError, ValueError) as error:
        raise StoreError(
            f"Cannot read the stored answer {path}: {error}. Delete the file to ask the "
            "model again."
        ) from error


def parse_answer(content: bytes) -> StoredAnswer:
    """Returns the answer in the bytes of a file; raises `ValueError` for malformed or changed
    ones.
    """
    row: dict[str, Any] = json.loads(content)
    if not is_intact(content):
        raise ValueError("its bytes do not fit its checksum")
    try:
        at = datetime.fromisoformat(row["asked_at"]).astimezone(UTC)
        key, answer = AnswerKey(**row["key"]), ModelAnswer(**row["answer"])
        return StoredAnswer(key, answer, at, tuple(row["shown_ids"]), row.get("fault", ""))
    except (KeyError, TypeError) as error:
        raise ValueError(f"a field is missing or unknown ({error})") from error
