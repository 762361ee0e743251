"""Memories on a terminal."""

from datetime import UTC, datetime

from memory_assets.interfaces.views.memories import render_recalled
from memory_assets.stages.recall.results import Answer, Recalled


def test_each_message_of_a_result_is_a_line_of_its_own():
    said = Recalled(
        memory_id="msg_1", kind="message", text="which port? ⏎ it is 5433 ⏎ thanks", score=0.5, confidence=0.5, category="raw",
        priority="low", age_days=1, event_at=datetime(2026, 8, 3, tzinfo=UTC), session="s1", path="/s1.jsonl", lines=(7, 6, 8),
        project="tidewatch", said_by="mira",
    )  # fmt: skip
    assert [str(part) for part in render_recalled(Answer("port", "balanced", (said,), 1))] == [
        "1. which port?",
        "   it is 5433",
        "   thanks",
        "   said by mira in tidewatch on 2026-08-03; msg_1; session s1, records 6-8",
    ]
