"""Texts and questions meet in the same terms, whatever people write and however they ask for it."""

from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.text.terms import count_terms, key_of, query_terms, text_terms


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("src/fooBar.py", "src/fooBar.py"),
        ("src/fooBar.py", "fooBar.py"),
        ("src/fooBar.py", "foobar"),
        ("src/fooBar.py", "bar"),
        ("parse_window_key", "parse_window_key"),
        ("parse_window_key", "parseWindowKey"),
        ("git log --all-refs", "--all-refs"),
        ("git log --all-refs", "all-refs"),
        ("docker run -d", "-d"),
        ("Python 3.11.2", "3.11.2"),
        ("Python 3.11.2", "3.11"),
        ("tag v1.2.3", "1.2.3"),
        ("mem_01hxyz", "mem_01HXYZ"),
        ("550e8400-e29b-41d4-a716-446655440000", "550e8400"),
        ("loads .env first", ".env"),
        ("written in C++", "c++"),
        ("HTTPServer", "http server"),
        ("we are deploying", "deployment deploys"),
        ("Café in München", "cafe munchen"),
        ("我们使用uv安装依赖", "安装"),
        ("我们使用uv安装依赖", "uv"),
        ("日本語のテスト", "日本"),
        ("ภาษาไทย", "ไทย"),
        ("हिन्दी में लिखो", "हिन्दी"),
        ("see https://github.com/acme/widget?x=1", "github.com"),
    ],
)
def test_what_is_written_is_found_by_what_is_asked(text: str, query: str):
    assert set(query_terms(query)) & set(text_terms(text))


def test_a_path_is_a_term_whole_and_in_parts():
    assert text_terms("config/db.staging.yaml") == [
        "config/db.staging.yaml",
        "db.staging.yaml",
        "config",
        "db",
        "stage",
        "yaml",
    ]


def test_question_words_and_stop_words_are_left_out_of_queries_only():
    assert query_terms("What is the port that we don't use?") == ["port", "use"]
    assert text_terms("What is the port") == ["what", "is", "the", "port"]


def test_never_stays_in_the_query():
    assert query_terms("never with pip") == ["never", "pip"]


def test_a_question_of_stop_words_alone_keeps_them():
    assert query_terms("who are you") == ["who", "are", "you"]


def test_a_plural_of_capitals_is_one_word():
    assert text_terms("URLs") == ["url"]


def test_a_terms_key_is_the_same_in_every_process():
    assert key_of("port") == 8268348573333033759


def test_counting_many_texts_equals_counting_each():
    texts = ["the port of the port", "", "fooBar fooBar foo"]
    counted = count_terms(texts)
    for number, text in enumerate(texts):
        terms = text_terms(text)
        found = counted.filter(pl.col("text") == number).select("key", "count")
        assert dict(found.iter_rows()) == {key_of(term): terms.count(term) for term in terms}
        assert found["key"].is_sorted()


def test_threads_stem_alike():
    words = [
        f"{word}{number}ing" for word in ("deploy", "test", "build") for number in range(2_000)
    ] * 2
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(text_terms, words)) == [text_terms(word) for word in words]


@pytest.mark.timeout(20)
def test_runs_of_signs_take_no_longer_than_other_text():
    assert text_terms("-" * 300_000 + "/" * 300_000 + "a-" * 100_000)


@given(st.text(max_size=80))
def test_a_text_is_found_by_itself(text: str):
    assert set(query_terms(text)) <= set(text_terms(text))
