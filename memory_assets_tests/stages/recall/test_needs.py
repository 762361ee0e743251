"""A long prompt is searched need by need, and each need gets its share of the answer."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.stages.recall.needs import (
    LONG_QUESTION_WORDS,
    MOST_NEEDS,
    merge_answers,
    split_needs,
)
from memory_assets.stages.recall.profiles import choose_profile
from memory_assets.stages.recall.results import Answer, Cost, Recalled
from memory_assets.text.words import count_tokens
from memory_assets_tests.stages.recall import leaving_out, long_prompts
from memory_assets_tests.stages.recall.recalled import result

BALANCED, LEAN = choose_profile("balanced", ""), choose_profile("lean", "")


def answer(*results: Recalled, likelihood: float = 0.9) -> Answer:
    return Answer(
        "q",
        "balanced",
        results,
        9,
        cost=Cost(embeddings=1),
        likelihood=likelihood,
        is_known=bool(results),
    )


def ids(found: Answer) -> Sequence[str]:
    return [one.memory_id for one in found.results]


@pytest.mark.parametrize(
    "question",
    [
        "",
        "Which port does staging listen on? And who set it up?",
        "the deploy of the shop failed " * 8,
        "Thanks. " * LONG_QUESTION_WORDS,
    ],
)
def test_a_short_question_and_one_without_several_parts_are_not_split(question: str):
    assert split_needs(question) == ()


def test_a_prompt_is_split_into_its_sentences_and_one_that_asks_for_nothing_joins_another():
    found = split_needs(
        "The staging database refuses every connection since the upgrade of postgres. Find the retry policy of the uploads as "
        "well. Take your time with it. Which branch holds the migration of the invoices table?"
    )
    assert found == (
        "The staging database refuses every connection since the upgrade of postgres.",
        "Find the retry policy of the uploads as well. Take your time with it.",
        "Which branch holds the migration of the invoices table?",
    )


@given(st.text(max_size=3_000))
def test_any_text_has_a_bounded_number_of_needs_with_words_of_its_own(text: str):
    found = split_needs(text)
    assert len(found) <= MOST_NEEDS
    assert all(part.strip() for part in found)


def test_each_need_gets_its_share_the_surest_first():
    sure, doubtful = (
        answer(*map(result, "abcdefg"), likelihood=0.9),
        answer(*map(result, "xyz"), likelihood=0.4),
    )
    found = merge_answers(answer(result("w"), likelihood=0.1), [doubtful, sure], BALANCED)
    assert ids(found) == ["a", "x", "w", "b", "y"]
    assert (found.likelihood, found.cost.embeddings, found.is_known) == (0.9, 3, True)
    assert {one.memory_id for one in found.left_out} == set("cdefgz")


def test_the_answer_stays_within_the_tokens_of_the_profile_except_in_a_listing():
    long = answer(*(result(id, text=f"{id} {'word ' * 200}") for id in "abcdefg"))
    found = merge_answers(answer(), [long, replace(long, results=())], LEAN)
    assert found.results
    assert count_tokens(found.render()) <= LEAN.most_tokens
    assert (
        len(merge_answers(answer(), [long, long], BALANCED, is_listing=True).results)
        == BALANCED.limit
    )


def test_nine_of_ten_needs_of_real_prompts_get_their_memory(tmp_path: Path):
    """As a whole they got 12 of 30."""
    agent = leaving_out.build(tmp_path)
    faults = {
        one.id: one.faults([r.memory_id for r in leaving_out.ask(agent, one).results])
        for one in long_prompts.prompts()
    }
    missing = [fault for found in faults.values() for fault in found if fault.startswith("-")]
    wanted = sum(len(one.must) for one in long_prompts.prompts())
    assert len(missing) <= wanted / 10, missing
    assert sum(len(found) for found in faults.values()) - len(missing) <= 1, faults
