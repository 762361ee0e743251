"""Memories on a terminal."""

from dataclasses import replace
from datetime import UTC, datetime

from rich.text import Text

from memory_assets.interfaces.views.memories import WORDS_BESIDE, render_recalled
from memory_assets.stages.recall.results import Answer, LeftOut, OtherHalf, Recalled

SAID = Recalled(
    memory_id="msg_1", kind="message", text="which port\nis free?", score=0.5, confidence=0.5, category="raw",
    priority="low", age_days=1, event_at=datetime(2026, 8, 3, tzinfo=UTC), session="s1", path="/s1.jsonl", lines=(7, 9),
    project="tidewatch", harness="pi", said_by="mira", other_half=OtherHalf("msg_2", "answered by", "assistant", "5433 is.\nDone. …", 9),
)  # fmt: skip
LONG = " ".join(f"Sentence {number} has some words." for number in range(90))
"""450 words."""


def lines(*results: Recalled, **answer) -> list[Text | str]:
    return list(render_recalled(Answer("which port", "balanced", results, 1, **answer)))


def test_a_message_is_shown_after_its_speaker_and_the_other_half_of_the_exchange_after_its_own():
    assert [str(part) for part in lines(SAID)] == [
        "1. mira: which port is free?",
        "   answered by assistant: 5433 is. Done. …",
        "   2026-08-03, tidewatch, pi, msg_1",
    ]


def test_the_reply_to_a_short_question_has_the_words_that_the_question_leaves():
    half = replace(SAID.other_half, text=LONG)
    _, reply, _ = lines(replace(SAID, other_half=half), replace(SAID, memory_id="msg_3"))[:3]
    assert str(reply).startswith("   answered by assistant: Sentence 0 has some words. Sentence 1")
    assert 2 * WORDS_BESIDE > len(str(reply).split()) > WORDS_BESIDE


def test_results_of_one_day_have_the_time_so_that_their_order_shows():
    later = replace(SAID, event_at=datetime(2026, 8, 3, 9, 30, tzinfo=UTC))
    next_day = replace(SAID, event_at=datetime(2026, 8, 4, tzinfo=UTC))
    shown = [str(part).strip().split(",")[0] for part in lines(SAID, later, next_day)][2::3]
    assert shown == ["2026-08-03 00:00Z", "2026-08-03 09:30Z", "2026-08-04"]


def test_five_long_results_are_two_hundred_and_fifty_words_with_each_match_inside_and_in_bold():
    half = replace(SAID.other_half, text=LONG)
    text = f"{LONG} The port is 5433. {LONG}"
    long = replace(SAID, text=text, other_half=half, tags=("replaced on 2026-08-04 by msg_3",))
    fact = replace(
        long, kind="fact", memory_id="0f3a5c1e-1", text=f"{'word ' * 90}port{' word' * 90}"
    )
    shown = lines(long, long, fact, fact, long, left_out=(LeftOut("msg_9", "over the cap", 0.1),))
    assert sum(len(str(part).split()) for part in shown) <= 250
    assert str(shown[-1]) == "`--more` shows the next ones."
    for number in range(5):
        words = shown[3 * number]
        assert isinstance(words, Text)
        marked = [
            words.plain[span.start : span.end] for span in words.spans if span.style == "bold"
        ]
        assert "port" in marked
        assert words.plain.split(": ")[-1].startswith(("… ", f"{number + 1}. … "))
        assert words.plain.endswith(" …")


def test_the_last_page_says_that_there_are_no_more():
    assert [str(part) for part in lines(page=3)] == ["No more results."]


def test_what_is_nearest_to_a_question_that_nothing_answers_is_one_line():
    nearest = replace(SAID, text=LONG, other_half=None)
    shown = [str(part) for part in lines(nearest=nearest, is_known=False)]
    noted = lines(notes=("The memory is being built.",), is_known=False)
    assert [str(part) for part in noted] == ["Nothing is found so far about this."]
    assert shown[0] == "Nothing is known about this."
    assert shown[1].startswith("Nearest, but no answer: mira: Sentence 0 has")
    assert shown[1].endswith("(2026-08-03, tidewatch, pi, msg_1)")
    assert len(shown) == 2
