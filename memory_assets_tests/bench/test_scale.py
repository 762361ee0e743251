"""Sizes that were measured are kept, and what is promised is judged by the largest and a tenth of it."""

from dataclasses import asdict, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from memory_assets_tests.bench import scale, scale_docs
from memory_assets_tests.bench.scale import Measured
from memory_assets_tests.bench.scale_docs import company, rendered

SESSIONS = Measured(
    "sessions", 10, {"capture": 10.0}, 30.0, 40.0, 0.5, 0.1, 5, 90, 1.0, {"passage_vectors": 4.0}
)
MEMORIES = Measured("memories", 1_000, {"fill and index": 3.0}, 20.0, 30.0, 0.6, 0.1, 1_000, 1_000)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[str, str]]:
    """What was measured, in sizes whose times grow with the square."""
    found = list[tuple[str, str]]()

    def answer_of(module: str, kind: str, size: str) -> dict[str, Any]:
        found.append((kind, size))
        one, times = (
            (SESSIONS, int(size) / 10) if kind == "sessions" else (MEMORIES, int(size) / 1_000)
        )
        seconds = {name: took * times**2 for name, took in one.seconds.items()}
        return asdict(
            replace(one, size=int(size), seconds=seconds, p50_ms=one.p50_ms * (1 + times / 20))
        )

    monkeypatch.setattr(scale, "answer_of", answer_of)
    for name, value in (
        ("SESSIONS", "10,100"),
        ("MEMORIES", "1000,10_000"),
        ("KEPT", str(tmp_path)),
    ):
        monkeypatch.setenv(f"SCALE_{name}", value)
    return found


def test_a_size_that_was_kept_is_not_measured_again(asked: list[tuple[str, str]]):
    first = scale.scale()
    assert asked == [
        ("sessions", "10"),
        ("sessions", "100"),
        ("memories", "1000"),
        ("memories", "10000"),
    ]
    assert scale.scale() == first and len(asked) == 4


def test_more_time_a_session_than_among_a_tenth_is_missed(asked: list[tuple[str, str]]):
    missed = {row.name: row.is_missed for row in scale.scale() if row.limit or row.floor}
    assert missed == {
        "scale: seconds a session, largest / a tenth": True,
        "scale: recall p50, largest / a tenth": False,
        "scale: top five as an exact search": False,
    }


def test_none_of_a_kind_and_sizes_that_would_take_too_long_are_left_out(
    asked: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SCALE_MEMORIES", "0")
    monkeypatch.setenv("SCALE_SESSIONS", "10,10000")
    assert [row.name for row in scale.scale()][1:] == [
        "scale: left out: 10,000 sessions: about 167 minutes"
    ]
    assert asked == [("sessions", "10")]


def test_a_question_is_twelve_neighbouring_words_or_all_of_a_short_text():
    words = [str(number) for number in range(40)]
    for seed in range(30):
        asked = scale.asked_of([" ".join(words)], Random(seed)).split()
        assert asked == words[int(asked[0]) :][: scale.QUESTION_WORDS] and len(asked) == 12
    assert scale.asked_of(["three words only"], Random(1)) == "three words only"


def test_the_table_has_the_seconds_that_a_step_takes_a_session():
    lines = rendered([asdict(SESSIONS), asdict(MEMORIES)], [])
    assert lines[-3:] == [
        "| seconds a session | of 10 |",
        "|---|---|",
        "| `passage_vectors` | 0.400 |",
    ]
    assert [line.split(" | ")[0] for line in lines[2:4]] == [
        "| 10 sessions (5 memories, 90 passages)",
        "| 1,000 memories",
    ]


def test_the_page_keeps_what_is_not_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    page, chart = tmp_path / "scaling.md", tmp_path / "scaling.svg"
    page.write_text(
        "a\n<!-- scale: begin -->\nold\n<!-- scale: end -->\nb\n<!-- company: begin -->\n<!-- company: end -->\nc\n"
    )
    monkeypatch.setattr(scale_docs, "PAGE", page)
    monkeypatch.setattr(scale_docs, "CHART", chart)
    measured = [
        asdict(one)
        for one in (
            SESSIONS,
            MEMORIES,
            replace(MEMORIES, size=10_000, passages=10_000, peak_gb=0.69),
        )
    ]
    for _ in range(2):
        scale_docs.write_docs(measured, [])
    text = page.read_text()
    assert "old" not in text and [
        line for line in text.splitlines() if line in ("a", "b", "c")
    ] == ["a", "b", "c"]
    assert (
        text.count(
            "| processing | 1.0 s of one core a session: 11 core hours a day, so 2 cores for 8 hours"
        )
        == 1
    )
    assert (
        "| memory to build the index | 10 kB a memory with its passage: 4 GB for the passages of one day |"
        in text
    )
    assert chart.read_text().startswith("<svg") and company([]) == ["Not measured."]
