"""Finds the memory that an id names, in any of the forms in which people and agents give ids.

The file `built/memory_ids.txt` has the ids of all memories. A verb that needs only the id reads it
instead of a table. Its first line says from which table and notes it was made: if they changed, the
file is not used.
"""

import re
from typing import TYPE_CHECKING, Any

from memory_assets.errors import MemoryGoneError, NoteError, UnknownMemoryError
from memory_assets.store.ledger import NOTES
from memory_assets.store.ready import changed_at
from memory_assets.store.store import Store
from memory_assets.text.files import bytes_of, make_folder, write_atomically
from memory_assets.text.short_ids import short_id
from memory_assets.text.visible import printable

if TYPE_CHECKING:
    import polars as pl

SHORTEST_ID = 6
"""Characters of an id that are enough where they identify one memory."""

COLUMNS = ["id", "state", "text", "wordings", "observation_ids", "category", "priority", "scope",
           "project", "person", "tags", "superseded_by"]  # fmt: skip

READY = "memory_ids.txt"
SURE_ID = 12
"""Characters of the ids that recall shows: enough to identify a memory. Shorter ones are looked up
in the table.
"""

_ID = re.compile(r"(?:mem_)?[0-9a-fA-F][0-9a-fA-F-]*")


def keep_ids_ready(store: Store, memories: "pl.DataFrame") -> None:
    """Writes the file of ids; each line is an id in plain form, the id, and its state."""
    rows = memories.select("id", "state").sort("id").iter_rows()
    ids = (f"{_plain(id)} {id} {state}" for id, state in rows)
    path = make_folder(store.root / "built") / READY
    write_atomically(path, "\n".join([_input_stamp(store), *ids, ""]).encode())


def remove_ready_ids(store: Store) -> None:
    """Deletes the file of ids, because an id is a hash of words that may be forgotten now; the next
    build of the index writes it again.
    """
    (store.root / "built" / READY).unlink(missing_ok=True)


def find_ready(store: Store, name: str) -> str | None:
    """Returns the id that the name stands for by the file of ids; None where the tables must be
    read to know it.
    """
    prefix = _plain(name.strip().removeprefix("mem_"))
    content = bytes_of(store.root / "built" / READY) or b""
    is_sure = len(prefix) >= SURE_ID and prefix.isalnum()
    if not is_sure or not content.startswith(f"{_input_stamp(store)}\n".encode()):
        return None
    start = f"\n{prefix}".encode()
    at = content.find(start)
    if at < 0 or content.find(start, at + 1) > 0:
        return None
    _, id, state = content[at + 1 : content.index(b"\n", at + 1)].decode().split(" ")
    return id if state != "forgotten" else None


def _input_stamp(store: Store) -> str:
    """Returns when the table of memories was last written, and which notes there are."""
    note_ids = [event.id for event in store.ledger.events(NOTES)]
    written_at = changed_at(str(store.root / "tables" / "memories"))
    return " ".join(map(str, (written_at, len(note_ids), *note_ids[-1:])))


def _plain(id: str) -> str:
    return id.replace("-", "").lower()


def find_memory(memories: "pl.DataFrame", name: str) -> dict[str, Any]:
    """Returns the memory whose id, or an observation's id, has this beginning.

    Raises `NoteError` for what is no id or matches several memories, `UnknownMemoryError` where
    none matches.
    """
    import polars as pl

    id_or_part = name.strip()
    prefix = _plain(id_or_part.removeprefix("mem_"))
    if not _ID.fullmatch(id_or_part) or len(prefix) < SHORTEST_ID:
        raise NoteError(
            f"'{_visible(id_or_part)}' is not a memory id. Give `mem_` and at least {SHORTEST_ID} "
            "more characters, as recall shows it."
        )
    rows = memories.select(COLUMNS)
    matches = rows.filter(pl.col("id").str.replace_all("-", "").str.starts_with(prefix))
    if matches.is_empty():
        has_prefix = pl.element().str.replace_all("-", "").str.starts_with(prefix)
        matches = rows.filter(pl.col("observation_ids").list.eval(has_prefix).list.any())
    if matches.is_empty():
        raise UnknownMemoryError(
            f"There is no memory {_visible(id_or_part)}. `memory recall` shows the ids of what it "
            "finds."
        )
    if matches.height > 1:
        ids = ", ".join(map(short_id, matches["id"].sort().head(5)))
        raise NoteError(
            f"{_visible(id_or_part)} matches {matches.height} memories: {ids}. Give more "
            "characters of the id."
        )
    return matches.row(0, named=True)


def check_not_forgotten(memory: dict[str, Any]) -> dict[str, Any]:
    """Returns the memory; raises `MemoryGoneError` where it is forgotten."""
    if memory["state"] == "forgotten":
        raise MemoryGoneError(
            f"{short_id(memory['id'])} is already forgotten; `memory remember` saves it again."
        )
    return memory


def _visible(word: str) -> str:
    """Returns the beginning of a word that a person or agent wrote, safe to print."""
    from memory_assets.text.masking.redact import mask_text

    return mask_text(printable(word[:60], "?"))[0]
