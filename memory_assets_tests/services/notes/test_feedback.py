"""Feedback: one event for all memories that it names, nothing where one of them does not exist."""

import pytest

from memory_assets.errors import NoteError, QuestionError
from memory_assets.memory import MemoryAgent
from memory_assets.text.short_ids import short_id
from memory_assets_tests.small_store import MEMORY, small_store


def test_feedback_is_about_memories_that_exist():
    store, agent = small_store(), MemoryAgent()
    rating = agent.feedback([short_id(MEMORY), MEMORY], used=True, session="session-9")
    assert (rating.memory_ids, rating.is_used) == ((MEMORY,), True)
    for wrong in ([], ["mem_ffffff"], [short_id(MEMORY), "nonsense"]):
        with pytest.raises((NoteError, QuestionError)):
            agent.feedback(wrong, used=False)
    (event,) = store.ledger.events()
    assert (event.kind, event.id) == ("memory.feedback", rating.event_id)
    assert event.payload == {"memory_ids": [MEMORY], "used": True, "session": "session-9"}
