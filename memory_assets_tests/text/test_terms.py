"""Texts and questions meet in the same terms, whatever people write and however they ask for it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.text.terms import query_terms, text_terms
from memory_assets_tests.labelled import labelled

LABELLED = labelled(__file__)


@pytest.mark.parametrize(("text", "query"), LABELLED["what is written is found by what is asked"])
def test_what_is_written_is_found_by_what_is_asked(text: str, query: str):
    assert set(query_terms(query)) & set(text_terms(text))


def test_a_path_is_a_term_whole_and_in_parts():
    assert (
        text_terms("config/db.staging.yaml")
        == "config/db.staging.yaml db.staging.yaml config db stage yaml".split()
    )


def test_question_words_and_stop_words_are_left_out_of_queries_only():
    assert query_terms("What is the port that we don't use?") == ["port", "use"]
    assert text_terms("What is the port") == ["what", "is", "the", "port"]


@pytest.mark.timeout(20)
def test_runs_of_signs_take_no_longer_than_other_text():
    assert text_terms("-" * 300_000 + "/" * 300_000 + "a-" * 100_000)


@given(st.text(max_size=80))
def test_a_text_is_found_by_itself(text: str):
    assert set(query_terms(text)) <= set(text_terms(text))
