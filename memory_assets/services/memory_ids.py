"""Finds the memory that an id names, in any of the forms in which people and agents give ids."""

import re
from typing import Any

import polars as pl

from memory_assets.errors import MemoryGoneError, NoteError, UnknownMemoryError
from memory_assets.text.short_ids import short_id

SHORTEST_ID = 6
"""Characters of an id that are enough where they identify one memory."""

COLUMNS = ["id", "state", "text", "wordings", "observation_ids", "category", "priority", "scope", "project", "person",
            "tags", "superseded_by"]  # fmt: skip

_ID = re.compile(r"(?:mem_)?[0-9a-fA-F][0-9a-fA-F-]*")


def find_memory(memories: pl.DataFrame, name: str) -> dict[str, Any]:
    """Returns the memory of that id or beginning of an id; ids of its observations work, too."""
    given = name.strip()
    prefix = given.removeprefix("mem_").replace("-", "").lower()
    if not _ID.fullmatch(given) or len(prefix) < SHORTEST_ID:
        raise NoteError(
            f"'{_shown(given)}' is not a memory id. Give `mem_` and at least {SHORTEST_ID} more characters, as recall shows it."
        )
    rows = memories.select(COLUMNS)
    found = rows.filter(pl.col("id").str.replace_all("-", "").str.starts_with(prefix))
    if found.is_empty():
        is_part = pl.col("observation_ids").list.eval(pl.element().str.replace_all("-", "").str.starts_with(prefix)).list.any()
        found = rows.filter(is_part)
    if found.is_empty():
        raise UnknownMemoryError(f"There is no memory {_shown(given)}. `memory recall` shows the ids of what it finds.")
    if found.height > 1:
        some = ", ".join(short_id(id) for id in found["id"].sort().head(5))
        raise NoteError(f"{_shown(given)} matches {found.height} memories: {some}. Give more characters of the id.")
    return found.row(0, named=True)


def check_not_forgotten(memory: dict[str, Any]) -> dict[str, Any]:
    """Returns the memory; raises `MemoryGoneError` where it is forgotten."""
    if memory["state"] == "forgotten":
        raise MemoryGoneError(f"{short_id(memory['id'])} is already forgotten; `memory remember` saves it again.")
    return memory


def _shown(word: str) -> str:
    from memory_assets.stages.capture.masking.redact import mask_text

    return mask_text("".join(ch if ch.isprintable() else "?" for ch in word[:60]))[0]
