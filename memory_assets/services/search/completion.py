"""Completes words in a shell from the present store: ids, projects, days, branches, each with a
text that the shell prints beside it.

Takes the kind of word, its beginning and the table that the command line names. Returns the words
with this beginning, the newest first. Reads prepared files and single columns of tables. A missing
or damaged store completes nothing.
"""

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice
from typing import Any

from memory_assets.store.places import find_data, present_root
from memory_assets.text.short_ids import short_id
from memory_assets.text.visible import visible

Completion = tuple[str, str]
"""A word and the text beside it."""

MOST = 200
"""Words that are returned; a shell asks before it prints more than a hundred."""

MOST_CHARS = 60
"""Characters of the text beside a word."""

RECENT_DAYS = 14
"""Days of observations whose ids are completed."""

NO_DAY = "1970-01-01"
"""The partition that only names the columns."""

UNUSED = ("stale", "archived", "cold")
"""States of the memories that `restore` takes."""

USABLE = ("active", *UNUSED, "held")
"""States of the memories that other commands take."""

_SAFE = re.compile(r"[\w.@%+=,/-]+")
"""Words without characters that a shell interprets; a stranger may have named a project."""

_PROPOSAL = re.compile(r"- \[.\] `(p-[\d-]+)` \*{0,2}(.*?)(?:\*\*|$)")


def find_words(kind: str, beginning: str, table: str | None = None) -> list[Completion]:
    """Returns the words of this kind with this beginning; none where the store is missing or cannot
    be read. `table` is the table whose days are completed.
    """
    try:
        words = KINDS[kind](present_root(find_data()), beginning, table)
        return list(islice(_safe_words(words, beginning), MOST))
    except Exception:
        return []  # a shell that waits for words has no place for an error


def _safe_words(words: Iterable[Completion], beginning: str) -> Iterator[Completion]:
    """Yields the safe words with this beginning, with texts of one line."""
    for word, text in words:
        if word.startswith(beginning) and _SAFE.fullmatch(word):
            yield word, visible(" ".join(text.split())[:MOST_CHARS])


def _proposals(root: str) -> Iterator[Completion]:
    path = os.path.join(root, "workspace", "REVIEW.md")
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            proposal = _PROPOSAL.match(line)
            if proposal:
                yield proposal[1], proposal[2]


def _memories(root: str, beginning: str, states: Collection[str] = USABLE) -> Iterator[Completion]:
    """Yields short ids, or whole ones if the beginning is not that of a short one."""
    is_short = beginning.startswith("mem_") or "mem_".startswith(beginning)
    rows = _rows(root, "memories", "id", "state", "text", "event_at")
    for row in sorted(rows, key=lambda row: row["event_at"], reverse=True):
        if row["state"] in states:
            id = short_id(row["id"]) if is_short else row["id"]
            yield id, row["text"]


def _observations(root: str) -> Iterator[Completion]:
    for day in islice(_days(root, "observations"), RECENT_DAYS):
        for row in _rows(root, f"observations/day={day}", "id", "text"):
            yield row["id"], row["text"]


def _targets(root: str, beginning: str) -> Iterator[Completion]:
    """Yields what `explain` takes: proposals, memories, observations."""
    if beginning.startswith("p-"):
        yield from _proposals(root)
        return
    memories = dict(_memories(root, beginning))
    yield from memories.items()
    if not beginning.startswith("mem_"):
        for observation_id, text in _observations(root):
            if observation_id not in memories:
                yield observation_id, text


def _days(root: str, table: str) -> Iterator[str]:
    folder = os.path.join(root, "tables", table)
    for name in sorted(os.listdir(folder), reverse=True):
        day = name.removeprefix("day=")
        path = os.path.join(folder, name, "data.parquet")
        if day not in (name, NO_DAY) and os.path.isfile(path):
            yield day


def _branches(root: str) -> Iterator[str]:
    folders = os.scandir(os.path.join(root, "branches"))
    return (folder.name for folder in folders if folder.is_dir())


def _windows(root: str, column: str, text_column: str = "") -> Iterable[Completion]:
    """Returns the distinct values of a column of the windows, the latest first, each with the text
    in another column.
    """
    text_columns = [text_column] if text_column else []
    rows = _rows(root, "windows", column, "ended_at", *text_columns)
    values: dict[str, str] = {}
    for row in sorted(rows, key=lambda row: row["ended_at"], reverse=True):
        if row[column]:
            values.setdefault(row[column], row.get(text_column) or "")
    return values.items()


def _table_names() -> Iterable[str]:
    from memory_assets.schema.tables import table_names

    return table_names()


def _setting_names() -> Iterable[str]:
    from memory_assets.store.settings import Settings

    return Settings.model_fields


def _plain_words(words: Iterable[str]) -> Iterator[Completion]:
    return ((word, "") for word in words)


def _rows(root: str, folder: str, *columns: str) -> list[dict[str, Any]]:
    """Returns the rows of a partition; moments are numbers, because pyarrow needs pandas to convert
    them.
    """
    # `read_table` would also import datasets and file systems.
    from pyarrow.parquet import ParquetFile

    path = os.path.join(root, "tables", folder, "data.parquet")
    names = list(columns)
    table = ParquetFile(path).read(names, use_threads=False).select(names)
    values = [_without_moments(column).to_pylist() for column in table.columns]
    return [dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True)]


def _without_moments(column: Any) -> Any:
    from pyarrow import int64, types

    return column.cast(int64()) if types.is_timestamp(column.type) else column


KINDS: dict[str, Callable[[str, str, str | None], Iterable[Completion]]] = {
    "proposal": lambda root, *_: _proposals(root),
    "memory": lambda root, beginning, _: _memories(root, beginning),
    "unused_memory": lambda root, beginning, _: _memories(root, beginning, UNUSED),
    "target": lambda root, beginning, _: _targets(root, beginning),
    "part": lambda root, _, table: _plain_words(_days(root, table or "observations")),
    "day": lambda root, *_: _plain_words(_days(root, "messages")),
    "branch": lambda root, *_: _plain_words(_branches(root)),
    "table": lambda *_: _plain_words(_table_names()),
    "setting": lambda *_: _plain_words(_setting_names()),
    "project": lambda root, *_: _windows(root, "project"),
    "person": lambda root, *_: _windows(root, "person"),
    "session": lambda root, *_: _windows(root, "session_id", "title"),
}
"""Kind of word → what yields the words from the store's folder, the beginning and the table."""
