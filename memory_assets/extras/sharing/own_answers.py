"""Models' answers that two machines of one person exchange, so that both build the same tables and
no question is paid for twice.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from memory_assets.errors import PushError
from memory_assets.stages.capture.tombstones import masking, tombstones_of
from memory_assets.stages.distill.model.answers import parse_answer
from memory_assets.store.store import Store
from memory_assets.text.checksums import with_new_checksums
from memory_assets.text.files import make_folder, write_atomically

_NAME = re.compile(r"(?:[a-z]+/)?([0-9a-f]{24}-[0-9a-f]{16}(?:\.[a-z_]+)?)")
"""Path of an answer below `answers/` without its suffix; not that of one that was put aside."""


def answer_names(store: Store) -> list[str]:
    """Returns the names of the stored answers."""
    paths = (path.relative_to(store.answers) for path in store.answers.rglob("*.json"))
    names = (path.with_suffix("").as_posix() for path in paths)
    return sorted(name for name in names if _NAME.fullmatch(name))


def texts_of(store: Store, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yields each name with the text of its file."""
    for name in names:
        yield name, _path_of(store, name).read_text("utf-8")


def take_in_answers(store: Store, texts: Mapping[str, str]) -> int:
    """Stores the answers that are not present, with forgotten words masked; returns their number.

    Raises `PushError` for what is no answer.
    """
    with store.lock():
        mask = masking(tombstones_of(store))
        new_texts = {
            name: text for name, text in texts.items() if not _path_of(store, name).exists()
        }
        for name, text in new_texts.items():
            path = _path_of(store, name)
            content = text.encode()
            _check(content, name, path.stem)
            ((masked, _),) = mask([content])
            make_folder(path.parent)
            write_atomically(path, with_new_checksums(content, masked))
    return len(new_texts)


def _check(content: bytes, name: str, stem: str) -> None:
    """Raises `PushError` for bytes that are not the answer of that name."""
    try:
        stored = parse_answer(content)
    except ValueError as error:
        raise PushError(f"The answer {name} cannot be read: {error}.") from error
    if stored.name != stem:
        raise PushError(f"The answer {name} has the inputs of another one.")


def _path_of(store: Store, name: str) -> Path:
    """Returns the file of the answer; raises `PushError` for what is no name."""
    if not _NAME.fullmatch(name):
        raise PushError(f"{name[:80]!r} is no name of an answer.")
    return store.answers / f"{name}.json"
