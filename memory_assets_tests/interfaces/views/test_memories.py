"""Memories on a terminal."""

from datetime import UTC, datetime

from memory_assets.interfaces.views.memories import render_recalled
from memory_assets.stages.recall.results import Answer, OtherHalf, Recalled


def test_a_message_is_shown_after_its_speaker_and_the_other_half_of_the_exchange_after_its_own():
    said = Recalled(
        memory_id="msg_1", kind="message", text="which port\nis free?", score=0.5, confidence=0.5, category="raw",
        priority="low", age_days=1, event_at=datetime(2026, 8, 3, tzinfo=UTC), session="s1", path="/s1.jsonl", lines=(7, 9),
        project="tidewatch", said_by="mira", other_half=OtherHalf("msg_2", "answered by", "assistant", "5433 is.\nDone. …", 9),
    )  # fmt: skip
    assert [str(part) for part in render_recalled(Answer("port", "balanced", (said,), 1))] == [
        "1. mira: which port is free?",
        "   answered by assistant: 5433 is. Done. …",
        "   said in tidewatch on 2026-08-03; msg_1; session s1, records 7, 9",
    ]
