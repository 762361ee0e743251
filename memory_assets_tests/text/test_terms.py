"""Texts and questions meet in the same terms, whatever people write and however they ask for it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.text.terms import query_terms, text_terms


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


@given(st.text(max_size=80))
def test_a_text_is_found_by_itself(text: str):
    assert set(query_terms(text)) <= set(text_terms(text))
