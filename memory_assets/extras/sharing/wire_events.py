"""Checks events of the ledger that arrive from another machine of the same person.

An event that a reader of the ledger cannot read is refused: once taken in, it would stop every
later run.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, create_model

from memory_assets.errors import PushError, TableError
from memory_assets.schema import frames
from memory_assets.schema.records import MEMORY_MD
from memory_assets.stages.embed.notes import note_rows
from memory_assets.stages.reflect.proposals import NUMBERED
from memory_assets.stages.triage import decisions, tasks
from memory_assets.stages.triage.amendments import read_amendments
from memory_assets.stages.triage.projects import is_memory_file
from memory_assets.stages.triage.promote import PROMOTED, RETIRED
from memory_assets.store import ledger
from memory_assets.store.ledger import Event

_YEARS = range(2000, 3000)
"""Years of events; near the first and the last year of a calendar, other zones have no such day."""


def in_utc(at: datetime) -> datetime:
    """Returns the moment in UTC; raises `ValueError` for one that no store writes."""
    if at.year not in _YEARS:
        raise ValueError(f"the year {at.year} is none of an event")
    return at.astimezone(UTC)


class WireEvent(BaseModel):
    """An event of the ledger."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    id: Annotated[str, Field(min_length=1, max_length=1_000)]
    at: Annotated[AwareDatetime, AfterValidator(in_utc)]
    actor: str
    kind: Annotated[str, Field(pattern=r"^[a-z][a-z_.]*$")]
    target: str
    payload: dict[str, Any]


class _Tombstone(BaseModel):
    """A forgotten phrase, without any other field."""

    model_config = ConfigDict(extra="forbid")
    digest: str
    words: Annotated[int, Field(ge=1, le=10_000)]
    anchor: str
    place: Annotated[int, Field(ge=0, le=10_000)]


_MEMORIES = {"memory_ids": list[str]}
_EVIDENCE = {"observation_ids": list[str], "text_hashes": list[str], "message_ids": list[Any]}
_SIGNAL = {**_EVIDENCE, "sources": list[str], "said_at": list[AwareDatetime]}
_LINE = {"line": str, "section": str, "commit": str | None}
_SENT = {"sent_at": str}

FIELDS: dict[str, dict[str, Any]] = {
    NUMBERED: {"key": str, "day": str},
    decisions.EDITED: {"text": str},
    decisions.DECIDED: {"state": str},
    PROMOTED: _LINE,
    RETIRED: _LINE,
    tasks.SENT: dict.fromkeys(("task_id", "project_id", "text", "content"), str),
    ledger.CORRECTED: _EVIDENCE,
    ledger.FORGOTTEN: _EVIDENCE,
    ledger.CONFIRMED: _SIGNAL,
    ledger.CONTRADICTED: _SIGNAL,
    ledger.RECALLED: _MEMORIES,
    ledger.USED: _MEMORIES,
    ledger.IGNORED: _MEMORIES,
    ledger.BOOSTED: _MEMORIES,
    ledger.ARCHIVED: _MEMORIES,
    ledger.COLD: _MEMORIES,
    ledger.RESTORED: _MEMORIES,
    ledger.FEEDBACK: {**_MEMORIES, "used": bool},
    ledger.WORDS_FORGOTTEN: {"tombstones": list[_Tombstone], "with_history": bool},
    "session.ended": _SENT,
    "session.compaction.pending": _SENT,
}
"""Kind → fields of the payload that its readers need."""


def _model_of(kind: str, fields: Mapping[str, Any]) -> type[BaseModel]:
    definitions: dict[str, Any] = {name: (type, ...) for name, type in fields.items()}
    return create_model(kind, **definitions)


_PAYLOADS = {kind: _model_of(kind, fields) for kind, fields in FIELDS.items()}


def parse_events(rows: Iterable[Any]) -> list[Event]:
    """Returns the events; raises `PushError` if one is none, or lacks what its readers need."""
    try:
        events = [Event(**vars(WireEvent.model_validate(row))) for row in rows]
        for event in events:
            _check(event)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, TableError) as error:
        raise PushError(f"That is no event of a ledger: {str(error)[:200]}.") from None
    return events


def _check(event: Event) -> None:
    path = str(event.payload.get("path", MEMORY_MD))
    if event.kind.startswith("entry.") and not is_memory_file(path):
        raise PushError(f"The event {event.id} names no file of entries.")
    if event.kind in _PAYLOADS:
        _PAYLOADS[event.kind].model_validate(event.payload)
    note_rows([event])
    frames.check("amendments", read_amendments([event]))
