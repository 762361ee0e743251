"""What an agent may open is listed by short ids, a line each, within a budget of tokens."""

from types import SimpleNamespace
from typing import Any

from memory_assets.interfaces.views.registry import render_text
from memory_assets.schema.requests import MOST_CANDIDATES
from memory_assets.services.search.candidate_list import further_candidates
from memory_assets.stages.recall.results import Answer, ListedCandidate
from memory_assets.text.words import count_tokens
from memory_assets_tests.factories import START, frame, row
from memory_assets_tests.stages.recall.test_folding import said

MESSAGES = [f"msg_{number:06x}{'0' * 14}" for number in range(0x100000, 0x100000 + 60)]
TWIN = f"{MESSAGES[1][:-1]}1"


def candidate(id: str, text: str = "x" * 60) -> ListedCandidate:
    return ListedCandidate(id, "assistant", START, "s1", text, 0.5)


def corpus(*ids: str) -> Any:
    texts = SimpleNamespace(ids=[f"{id}#{part}" for id in ids for part in (0, 1)])
    memories = [row("memories", id="0f3a5c1e-0000-5000-8000-000000000001")]
    return SimpleNamespace(
        texts=SimpleNamespace(open=lambda _: texts), memories=frame("memories", *memories)
    )


def test_an_id_is_as_short_as_it_is_unambiguous_and_what_is_shown_is_not_listed_again():
    shown = said("x", "1")
    listed = [
        candidate(id)
        for id in (MESSAGES[0], MESSAGES[1], TWIN, "0f3a5c1e-0000-5000-8000-000000000001")
    ]
    answer = Answer("q", "lean", (shown,), 1, candidates=(candidate(shown.memory_id), *listed))
    found = further_candidates(answer, corpus(*MESSAGES, TWIN))
    assert [item.id for item in found] == ["msg_100000", MESSAGES[1], TWIN, "mem_0f3a5c"]


def test_candidates_are_a_line_of_22_tokens_each_and_no_answer_has_more_than_900_tokens():
    answer = Answer(
        "q",
        "lean",
        (said(f"{'word ' * 99}end."),) * 3,
        1,
        candidates=tuple(map(candidate, MESSAGES)),
    )
    listed = further_candidates(answer, corpus(*MESSAGES))
    assert len(listed) == MOST_CANDIDATES
    shown = render_text("recall", Answer("q", "lean", answer.results, 1, candidates=listed))
    lines = [line for line in shown.splitlines() if line.startswith("msg_")]
    assert len(lines) == MOST_CANDIDATES
    assert max(map(count_tokens, lines)) <= 22
    long = tuple(candidate(id, "x" * 300) for id in MESSAGES[:25])
    cut = render_text(
        "recall", Answer("q", "lean", answer.results, 1, candidates=long, is_known=False)
    )
    assert 700 < count_tokens(cut) <= 900
    assert "Unlikely candidates, to open by id:" in cut
