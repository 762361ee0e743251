"""The facade's verb `remember`: checks the request, then appends one event to the ledger.

It returns when the event is on disk. From then on every recall returns the note, because recalls
read the ledger as well as the tables. The first note creates the store. An invalid request writes
nothing, and secrets are masked before the event is written.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import polars as pl

from memory_assets.errors import MemoryGoneError, NoteError
from memory_assets.schema.requests import RememberRequest
from memory_assets.schema.vocabulary import Category
from memory_assets.services.notes import clean_text
from memory_assets.services.search.memory_ids import check_not_forgotten, find_memory
from memory_assets.stages.distill.items import sentiment_of
from memory_assets.stages.distill.rows import scope_of
from memory_assets.stages.distill.standards import standards_of
from memory_assets.stages.distill.taxonomy import categorise
from memory_assets.stages.embed.notes import note_id, note_rows
from memory_assets.stages.embed.present import read_present
from memory_assets.store.ledger import CORRECTED, NOTED
from memory_assets.store.store import Store, open_store
from memory_assets.text.published_block import strip_published
from memory_assets.text.short_ids import short_id

LONGEST = 2_000
"""Characters of a note; longer texts are documents, not facts."""


@dataclass(frozen=True)
class Noted:
    """What was written to the ledger."""

    event_id: str
    kind: str
    """noted or corrected."""
    at: datetime
    memory_ids: tuple[str, ...]
    text: str = ""
    """As it is stored: one line, secrets masked."""
    category: str = ""
    priority: str = ""
    project: str = ""
    replaces: str | None = None
    """The memory that was corrected."""
    masked_count: int = 0

    @property
    def memory_id(self) -> str:
        """The short id of the memory."""
        return short_id(self.memory_ids[0])

    @property
    def warnings(self) -> tuple[str, ...]:
        """A warning where secrets were masked."""
        return clean_text.masked_warnings(self.masked_count, "text")


def remember(store: Store, request: RememberRequest) -> Noted:
    """Saves a fact, or replaces a memory's text; raises `NoteError` for a text that cannot be
    saved.
    """
    text, secret_count = _clean(request.text)
    if request.instead_of is not None:
        return _correct(store, request.instead_of, text, request.session, secret_count)
    taxonomy = standards_of(store.settings).taxonomy
    category: Category = request.category or categorise(text, "fact", "owner", taxonomy=taxonomy)[0]
    project = clean_text.clean_name(request.project, "project")
    scope = scope_of(category)
    if not project and scope != "person":
        scope = "everyone"
    is_neutral = request.sentiment == "neutral"
    payload = {
        "text": text,
        "category": category,
        "priority": request.priority,
        "sentiment": sentiment_of(text) if is_neutral else request.sentiment,
        "scope": scope,
        "project": project,
        "person": store.settings.owner,
        "tags": list(dict.fromkeys(request.tag)),
    }
    return _write(store, NOTED, "all", payload, request.session, secret_count)


def _correct(
    store: Store, memory_id: str, text: str, session: str | None, secret_count: int
) -> Noted:
    """Replaces the text of the memory; the note keeps its category, project and evidence."""
    memory = find_memory(read_present(store.tables, store.ledger), memory_id)
    if memory["state"] == "superseded":
        newer_id = short_id(memory["superseded_by"])
        raise MemoryGoneError(
            f"{short_id(memory['id'])} was already replaced by {newer_id}; correct that one."
        )
    check_not_forgotten(memory)
    if " ".join(memory["text"].split()) == text:
        raise NoteError(f"{short_id(memory['id'])} already has this text.")
    payload = {
        "text": text,
        **{name: memory[name] for name in ("category", "priority", "scope", "project", "person")},
        "sentiment": sentiment_of(text),
        "tags": list(dict.fromkeys([*(memory["tags"] or ()), "correction"])),
        **_evidence(store, memory["observation_ids"]),
    }
    return _write(store, CORRECTED, memory["id"], payload, session, secret_count)


def _evidence(store: Store, observation_ids: Sequence[str]) -> dict[str, list]:
    """Returns what an event keeps of the observations, as columns: their ids, the hashes of their
    texts, and the messages of each.
    """
    notes = note_rows(store.ledger.events([NOTED, CORRECTED])).lazy()
    tables = (store.tables.scan("observations"), notes, store.tables.scan("harness_memories"))
    has_id = pl.col("id").is_in(list(observation_ids))
    new_names = {"id": "observation_ids", "text_hash": "text_hashes"}
    rows = [table.filter(has_id).select(*new_names, "message_ids") for table in tables]
    return pl.concat(rows).rename(new_names).collect().to_dict(as_series=False)


def _clean(text: str) -> tuple[str, int]:
    """Returns the text as one line with its secrets masked, and the number of secrets."""
    if len(text) > LONGEST:
        raise NoteError(
            f"The text has {len(text):,} characters, the limit is {LONGEST:,}. Shorten it "
            "or save several facts."
        )
    line, secret_count = clean_text.masked_line(strip_published(text), "the text")
    if not line:
        content = "contains only published lines, which are saved" if text.strip() else "is empty"
        raise NoteError(f"The text {content}.")
    if not any(character.isalnum() for character in line):
        content = "nothing but the secret" if secret_count else "no word"
        raise NoteError(f"The text contains {content}.")
    return line, secret_count


def _write(
    store: Store,
    kind: str,
    target: str,
    payload: dict[str, Any],
    session: str | None,
    secret_count: int,
) -> Noted:
    payload["session"] = clean_text.clean_name(session or "", "session")
    payload["taxonomy"] = standards_of(store.settings).taxonomy.version
    open_store(store.settings)  # creates it, if this is its first note
    event = store.append_event(kind, target, payload)
    return Noted(
        event_id=event.id,
        kind=kind.removeprefix("memory."),
        at=event.at,
        memory_ids=(note_id(event),),
        **{name: event.payload[name] for name in ("text", "category", "priority", "project")},
        replaces=target if kind == CORRECTED else None,
        masked_count=secret_count,
    )
