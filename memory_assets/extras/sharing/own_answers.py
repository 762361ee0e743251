"""Models' answers about sessions, which two machines of one person exchange: both extract the same
facts, and no answer is paid for twice.

Answers about proposals and pairs of memories stay: they name these by ids of one store. So does
what is of no use: cut, refused and faulty answers.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import suppress
from pathlib import Path

from pydantic import TypeAdapter

from memory_assets.errors import PushError
from memory_assets.extras.sharing.wire_events import in_utc
from memory_assets.stages.capture.session_ids import session_of
from memory_assets.stages.capture.tombstones import masking, tombstones_of
from memory_assets.stages.distill.model.answers import StoredAnswer, parse_answer
from memory_assets.store.store import Store
from memory_assets.text.checksums import is_intact, with_new_checksums
from memory_assets.text.files import make_folder, write_atomically
from memory_assets.text.short_ids import short_id

_ANSWER = TypeAdapter(StoredAnswer)
_NAME = re.compile(r"[0-9a-f]{24}-[0-9a-f]{16}")
"""Name of a complete answer about a session."""


def answer_names(store: Store) -> list[str]:
    """Returns the names of the complete answers about sessions."""
    return sorted(filter(_NAME.fullmatch, (path.stem for path in store.answers.glob("*.json"))))


def public_answers(store: Store, private: Set[str]) -> set[str]:
    """Returns the names of the answers that have to do with none of these sessions and memories."""
    short_ids = {short_id(name) for name in private}
    columns = ["answer", "session_id", "shown_ids"]
    rows = store.tables.read("observer_answers", columns=columns).drop_nulls("answer").rows()
    withheld = {
        answer
        for answer, session, shown in rows
        if session_of(session) in private or not short_ids.isdisjoint(shown)
    }
    return {answer for answer, _, _ in rows} - withheld


def texts_of(store: Store, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yields the name and the text of each of these answers that is of use; `memory doctor` names
    damaged ones.
    """
    for name in names:
        with suppress(FileNotFoundError, ValueError):
            content = _path_of(store, name).read_bytes()
            if parse_answer(content).is_usable:
                yield name, content.decode()


def take_in(store: Store, texts: Mapping[str, str]) -> int:
    """Stores the answers that are not present, with forgotten words masked; returns their number.

    Raises `PushError` for what is no answer.
    """
    contents = {_path_of(store, name): text.encode() for name, text in texts.items()}
    for path, content in contents.items():
        _check(path.stem, content)
    masked_contents = masking(tombstones_of(store))(list(contents.values()))
    new = 0
    with store.lock():
        make_folder(store.answers)
        for (path, content), (masked, _) in zip(contents.items(), masked_contents, strict=True):
            if not path.exists():
                write_atomically(path, with_new_checksums(content, masked))
                new += 1
    return new


def _check(name: str, content: bytes) -> None:
    """Raises `PushError` for bytes that are not the answer of that name."""
    try:
        stored = _ANSWER.validate_json(content, strict=True)
        in_utc(stored.asked_at)
    except ValueError as error:
        raise PushError(f"The answer {name} cannot be read: {str(error)[:200]}.") from error
    if stored.name != name or not is_intact(content):
        raise PushError(f"The answer {name} is another one, or was changed.")


def _path_of(store: Store, name: str) -> Path:
    """Returns the file of the answer; raises `PushError` for what is no name."""
    if not _NAME.fullmatch(name):
        raise PushError(f"{name[:80]!r} is no name of an answer.")
    return store.answers / f"{name}.json"
