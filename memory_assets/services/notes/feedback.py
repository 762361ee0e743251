"""The facade's verb `feedback`: records that recalled memories helped, or that they did not."""

from dataclasses import dataclass
from datetime import datetime

from memory_assets.schema.requests import FeedbackRequest
from memory_assets.services.notes.clean_text import clean_name
from memory_assets.services.search.memory_ids import check_not_forgotten, find_memory, find_ready
from memory_assets.store.ledger import FEEDBACK
from memory_assets.store.store import Store
from memory_assets.text.short_ids import short_id


@dataclass(frozen=True)
class Rating:
    """A rating that was written to the ledger."""

    event_id: str
    at: datetime
    memory_ids: tuple[str, ...]
    is_used: bool

    @property
    def sentence(self) -> str:
        """The rating in words."""
        ids = ", ".join(map(short_id, self.memory_ids))
        return f"Recorded: {ids} {'helped' if self.is_used else 'did not help'}."


def rate(store: Store, request: FeedbackRequest) -> Rating:
    """Records that the memories helped or did not; raises `NoteError` where one of them does not
    exist.
    """
    ids = (find_ready(store, id) or _find(store, id) for id in request.memory_ids)
    rated = tuple(dict.fromkeys(ids))
    session = clean_name(request.session or "", "session")
    payload = {"memory_ids": list(rated), "used": request.used, "session": session}
    event = store.append_event(FEEDBACK, "all", payload)
    return Rating(event.id, event.at, rated, request.used)


def _find(store: Store, id: str) -> str:
    from memory_assets.stages.embed.present import read_present

    return check_not_forgotten(find_memory(read_present(store.tables, store.ledger), id))["id"]
