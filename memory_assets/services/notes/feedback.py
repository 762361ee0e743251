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
    all_ids = (find_ready(store, name) or _find_id(store, name) for name in request.memory_ids)
    ids = tuple(dict.fromkeys(all_ids))
    session = clean_name(request.session or "", "session")
    payload = {"memory_ids": list(ids), "used": request.used, "session": session}
    event = store.append_event(FEEDBACK, "all", payload)
    return Rating(event.id, event.at, ids, request.used)


def _find_id(store: Store, name: str) -> str:
    """Returns the id of the memory from the tables, which takes longer than `find_ready`."""
    from memory_assets.stages.embed.present import read_present

    return check_not_forgotten(find_memory(read_present(store.tables, store.ledger), name))["id"]
