"""The sessions in which an answer may be are listed, the most likely first."""

from types import SimpleNamespace
from typing import Any

import pytest

from memory_assets.interfaces.views.registry import render_text
from memory_assets.memory import MemoryAgent
from memory_assets.services.search import session_list
from memory_assets.services.search.session_list import list_sessions
from memory_assets.stages.recall.results import ListedCandidate
from memory_assets_tests.factories import START, frame, row
from memory_assets_tests.small_store import FACT, index, small_store

SESSIONS = [
    row("sessions", session_id="s1", name="Move the port", person="Mira", project="shop"),
    row("sessions", session_id="s2", name="Draw the\nchart", person="Bo", project="shop"),
    row("sessions", session_id="s3", name="Write docs", person="Mira", project="shop"),
]


def candidate(session: str, score: float) -> ListedCandidate:
    return ListedCandidate(
        f"msg_{session}{score}", "Mira", START, session, "The port is 5433.", score
    )


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> Any:
    rows = frame("sessions", *SESSIONS).rename({"session_id": "id"})
    monkeypatch.setattr(session_list, "read_sessions", lambda _: rows)
    return SimpleNamespace()


def test_two_good_matches_outweigh_a_slightly_better_one_and_unlikely_sessions_are_left_out(
    tables: Any,
):
    candidates = [
        candidate("s2", 0.6),
        candidate("s1", 0.5),
        candidate("s1", 0.4),
        candidate("s3", 0.1),
    ]
    listed = list_sessions(candidates, tables, 10)
    assert [(match.session, match.title) for match in listed] == [
        ("s1", "Move the port"),
        ("s2", "Draw the chart"),
    ]
    assert [match.score for match in listed[0].matches] == [0.5, 0.4]
    assert [match.session for match in list_sessions(candidates, tables, 1)] == ["s1"]


def test_a_person_sees_the_titles_of_own_sessions_alone(tables: Any):
    candidates = [candidate("s2", 0.6), candidate("s1", 0.5)]
    assert [match.session for match in list_sessions(candidates, tables, 10, "Mira")] == ["s1"]


def test_sessions_are_listed_in_place_of_results_and_one_is_searched_inside():
    store = small_store()
    index(store)
    agent = MemoryAgent()
    answer = agent.recall("how do we install packages", by="session")
    (match,) = answer.sessions
    assert (match.session, answer.results, answer.candidates) == ("session-1", (), ())
    assert match.title
    shown = render_text("recall", answer).splitlines()
    assert shown[0] == f"1. {match.title}"
    assert shown[-1].endswith("session session-1")
    (event,) = store.ledger.events(["memory.recalled"])
    assert event.payload["memory_ids"] == []
    inside = agent.recall("how do we install packages", session=match.session, probe=True)
    assert FACT in [result.text for result in inside.results]
    assert not agent.recall("how do we install packages", session="s9", probe=True).results
