"""The easy extractors, on a session short enough to read."""

from pathlib import Path

from memory_assets_tests.bench import gold_baselines
from memory_assets_tests.stages.distill.sessions import messages, said

ROWS = messages(
    said(
        ("owner", "no, always use uv here, never pip\nyes"),
        ("tool", "README.md: run `make ship` on Fridays"),
        (
            "assistant",
            "Switched to uv, because the lock file is `uv.lock`. The build reads it from the root of the repository.",
        ),
    )
)
ANSWER = (
    "* 🔴 [gate=allow confidence=0.9] The owner wants uv here, never pip\n* 🟢 It rains in Oslo"
)


def test_every_sentence_of_a_voice_is_a_fact():
    assert [(fact["text"], fact["lines"]) for fact in gold_baselines.user_sentences(ROWS)] == [
        ("no, always use uv here, never pip", [0])
    ]
    assert [fact["text"] for fact in gold_baselines.assistant_sentences(ROWS)] == [
        "Switched to uv, because the lock file is `uv.lock`.",
        "The build reads it from the root of the repository.",
    ]


def test_cue_words_come_before_place_and_place_before_nothing():
    assert [fact["lines"] for fact in gold_baselines.cue_words(ROWS)] == [[0], [4], [4]]


def test_naive_grounding_gives_the_records_that_share_most_words(tmp_path: Path):
    (tmp_path / "session-1.answer.xml").write_text(ANSWER, encoding="utf-8")
    facts = gold_baselines.recorded_naive(ROWS, tmp_path)
    assert [(fact["gate"], fact["lines"]) for fact in facts] == [("allow", [0, 4]), ("hold", [])]
