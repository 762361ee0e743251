"""Words find texts in their own corpus, whatever people type; changes build on the generation before."""

from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_assets.adapters.keyword_index import FILE, KeywordIndex, query_words
from memory_assets.errors import IndexFailedError


def rows(corpus: str = "memories", **texts: str) -> pl.DataFrame:
    return pl.DataFrame([(id, corpus, text) for id, text in texts.items()], schema=["id", "corpus", "text"], orient="row")


def found(index: KeywordIndex, query: str, corpus: str = "memories") -> list[str]:
    return [hit.id for hit in index.find(query, 10, corpus)]


@pytest.fixture
def index(tmp_path: Path) -> KeywordIndex:
    made = KeywordIndex(tmp_path)
    made.update(
        rows(
            uv="Dependencies are installed with uv, never with pip.",
            port="Staging's Postgres listens on 5433, see config/db.staging.yaml.",
            camel="Call parseWindowKey before openArchive.",
            flag="Run pytest with --no-header -q on Python 3.12.",
        ),
        [],
    )
    return made


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("What do we use to install a dependency?", "uv"),
        ("which port does postgres listen on", "port"),
        ("config/db.staging.yaml", "port"),
        ("5433", "port"),
        ("window key", "camel"),
        ("parseWindowKey", "camel"),
        ("--no-header", "flag"),
        ("python 3.12", "flag"),
    ],
)
def test_stems_paths_numbers_flags_and_parts_of_identifiers_are_found(index: KeywordIndex, query: str, first: str):
    assert found(index, query)[0] == first


def test_question_words_find_nothing_by_themselves_when_others_are_there(index: KeywordIndex):
    assert query_words("What is the port that we use?") == ["port", "use"]
    assert found(index, "what is the zeppelin") == []


def test_never_stays_in_the_query():
    assert query_words("never with pip") == ["never", "pip"]


def test_a_corpus_answers_for_itself(index: KeywordIndex):
    index.update(rows("messages", m1="uv is fast"), [])
    assert found(index, "uv", "messages") == ["m1"]
    assert found(index, "uv", "memories") == ["uv"]
    assert found(index, "uv", "segments") == []


def test_a_changed_text_is_found_by_its_new_words_alone(index: KeywordIndex):
    index.update(rows(port="Staging's Postgres listens on 6000."), [])
    assert found(index, "6000") == ["port"]
    assert found(index, "5433") == []


def test_a_deleted_text_is_found_no_more(index: KeywordIndex):
    index.update(rows(), ["uv"])
    assert found(index, "pip") == []
    assert index.ids("memories") == {"port", "camel", "flag"}


def test_a_rebuild_forgets_what_was_there(index: KeywordIndex):
    index.update(rows(new="tailscale"), [], rebuild=True)
    assert index.ids("memories") == {"new"}


def test_an_index_never_built_answers_nothing(tmp_path: Path):
    index = KeywordIndex(tmp_path / "none")
    assert (index.generation(), index.find("uv", 5, "memories"), index.ids("memories")) == (None, [], set())


@given(
    st.text(max_size=60)
    | st.sampled_from(['"', "NEAR(a b)", "a AND", "text:uv*", "(", "^uv", "-uv", "OR", "{a b}: c", "\0", "²"])
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_query_is_an_error(index: KeywordIndex, query: str):
    assert set(found(index, query)) <= {"uv", "port", "camel", "flag"}


def test_a_broken_file_is_moved_aside_and_the_next_build_starts_anew(tmp_path: Path, index: KeywordIndex):
    generation = index.generation()
    (tmp_path / "keywords" / str(generation) / FILE).write_bytes(b"not a database" * 100)
    with pytest.raises(IndexFailedError, match="memory rebuild --indexes"):
        index.find("uv", 5, "memories")
    assert [path.name for path in (tmp_path / "quarantine").iterdir()] == [f"keywords-{generation}-0"]
    assert found(index, "uv") == []
    index.update(rows(uv="uv"), [])
    assert found(index, "uv") == ["uv"]


def test_the_file_is_its_owners_alone(tmp_path: Path, index: KeywordIndex):
    assert (tmp_path / "keywords" / str(index.generation()) / FILE).stat().st_mode & 0o777 == 0o600
