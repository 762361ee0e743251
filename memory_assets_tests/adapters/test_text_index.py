"""Words find texts in their own corpus, whatever people type; changes build on the generation before and cost little."""

import multiprocessing
import threading
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_assets.adapters import text_arrays
from memory_assets.adapters.text_arrays import empty_arrays
from memory_assets.adapters.text_index import TextIndex, find_in
from memory_assets.errors import IndexFailedError
from memory_assets.text.terms import query_terms
from memory_assets_tests.factories import index_rows


def rows(corpus: str = "memories", **texts: str) -> pl.DataFrame:
    said = [(id, corpus, text) for id, text in texts.items()]
    return index_rows(
        pl.DataFrame(
            said, schema={"id": pl.String, "corpus": pl.String, "text": pl.String}, orient="row"
        )
    )


def found(index: TextIndex, query: str, corpus: str = "memories") -> list[str]:
    return [hit.id for hit in find_in(index.open(corpus), query, 10)]


@pytest.fixture
def index(tmp_path: Path) -> TextIndex:
    made = TextIndex(tmp_path)
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


@pytest.fixture
def sessions(tmp_path: Path) -> TextIndex:
    made = TextIndex(tmp_path)
    spoken = [
        ("m3", "the port is 5433", "m3", "ses_b", 2, [0.0, 1.0]),
        ("m1#1", "we moved the port", "m1", "ses_a", 1, None),
        ("m2", "which port", "m2", "ses_b", 1, [1.0, 0.0]),
        ("m1#0", "yes", "m1", "ses_a", 0, None),
    ]
    columns = ["id", "text", "parent", "group", "order", "vector"]
    made.update(
        index_rows(
            pl.DataFrame(spoken, schema=columns, orient="row").with_columns(
                corpus=pl.lit("messages")
            )
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
        ("db.staging.yaml", "port"),
        ("5433", "port"),
        ("window key", "camel"),
        ("parseWindowKey", "camel"),
        ("--no-header", "flag"),
        ("python 3.12", "flag"),
    ],
)
def test_stems_paths_numbers_flags_and_parts_of_identifiers_are_found(
    index: TextIndex, query: str, first: str
):
    assert found(index, query)[0] == first


def test_question_words_find_nothing_by_themselves_when_others_are_there(index: TextIndex):
    assert found(index, "what is the zeppelin") == []


def test_the_shorter_of_two_texts_that_say_it_as_often_is_better(index: TextIndex):
    index.update(rows(short="uv", long="uv " + "and many other words " * 20), [])
    assert found(index, "uv") == ["short", "uv", "long"]


def test_equals_are_in_the_order_of_their_ids_wherever_the_limit_cuts(index: TextIndex):
    index.update(rows(**{f"same{number}": "a caddy in front" for number in range(9)}), [])
    assert [hit.id for hit in find_in(index.open("memories"), "caddy", 3)] == [
        "same0",
        "same1",
        "same2",
    ]


def test_a_corpus_answers_for_itself(index: TextIndex):
    index.update(rows("messages", m1="uv is fast"), [])
    assert found(index, "uv", "messages") == ["m1"]
    assert found(index, "uv", "memories") == ["uv"]
    assert found(index, "uv", "segments") == []


def test_a_changed_text_is_found_by_its_new_words_alone(index: TextIndex):
    index.update(rows(port="Staging's Postgres listens on 6000."), [])
    assert found(index, "6000") == ["port"]
    assert found(index, "5433") == []


def test_a_deleted_text_is_found_no_more_and_its_words_are_forgotten(
    index: TextIndex, tmp_path: Path
):
    before = index.open("memories")
    index.update(rows(), ["uv"])
    assert found(index, "pip") == []
    assert index.ids("memories") == {"port", "camel", "flag"}
    after = index.open("memories")
    assert before is not None and after is not None
    assert (
        len(before.keys) - len(after.keys)
        == len(query_terms("Dependencies are installed uv never pip")) + 1
    )  # and with


def test_a_rebuild_forgets_what_was_there(index: TextIndex):
    index.update(rows(new="tailscale"), [], rebuild=True)
    assert index.ids("memories") == {"new"}


def test_an_index_never_built_answers_nothing(tmp_path: Path):
    index = TextIndex(tmp_path / "none")
    assert (
        index.generation(),
        find_in(index.open("memories"), "uv", 5),
        index.ids("memories"),
    ) == (None, [], set())
    assert index.open("memories") is None


def test_rows_lie_in_the_order_of_their_session_whatever_the_order_of_their_coming(
    sessions: TextIndex,
):
    texts = sessions.open("messages")
    assert texts is not None
    assert list(texts.ids) == ["m1#0", "m1#1", "m2", "m3"]
    assert [texts.parent_ids[parent] for parent in texts.parents] == ["m1", "m1", "m2", "m3"]
    assert [texts.group_ids[group] for group in texts.groups] == [
        "ses_a",
        "ses_a",
        "ses_b",
        "ses_b",
    ]
    assert texts.lengths.tolist() == [1, 4, 2, 4]
    assert texts.rows_of(["m3", "gone", "m1#1"]).tolist() == [3, 1]


def test_postings_tell_rows_and_counts_of_a_term(sessions: TextIndex):
    sessions.update(rows("messages", zz="port port port"), [])
    texts = sessions.open("messages")
    assert texts is not None
    where, counts = texts.postings("port")
    assert {texts.ids[row]: count for row, count in zip(where, counts, strict=True)} == {
        "m1#1": 1,
        "m2": 1,
        "m3": 1,
        "zz": 3,
    }
    assert [len(part) for part in texts.postings("zeppelin")] == [0, 0]


@pytest.mark.parametrize("at_once", [1, 2, 50_000])
def test_vectors_stay_with_their_rows_over_changes(
    sessions: TextIndex, at_once: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(text_arrays, "ROWS_AT_ONCE", at_once)
    sessions.update(rows("messages", a0="first of all"), ["m2"])
    texts = sessions.open("messages")
    assert texts is not None
    assert dict(zip(texts.ids, texts.vectors.tolist(), strict=True))["m3"] == [0.0, 1.0]
    assert [id for id, vector in zip(texts.ids, texts.vectors, strict=True) if vector.any()] == [
        "m3"
    ]
    given = pl.Series("vector", [[2.0, 3.0], None, [4.0, 5.0]], dtype=pl.List(pl.Float32))
    sessions.update(
        rows("messages", z="last", a0="first", y="before it").with_columns(given), ["m3"]
    )
    texts = sessions.open("messages")
    assert texts is not None
    found = {
        id: vector
        for id, vector in zip(texts.ids, texts.vectors.tolist(), strict=True)
        if any(vector)
    }
    assert found == {"z": [2.0, 3.0], "y": [4.0, 5.0]}


def test_codes_of_words_stay_with_their_rows_over_changes(tmp_path: Path):
    codes = {
        id: np.full((count, 48), number, dtype=np.int8)
        for number, (id, count) in enumerate({"a": 2, "b": 1, "d": 3}.items())
    }
    index = TextIndex(tmp_path)

    def put(*ids: str) -> None:
        packed = [codes[id].tobytes() if id in codes else None for id in ids]
        index.update(
            rows("messages", **dict.fromkeys(ids, "said")).with_columns(
                words=pl.Series(packed, dtype=pl.Binary)
            ),
            [],
        )

    put("d", "b")
    put("a", "c")
    codes["b"] = codes["b"] + 7
    put("b")
    index.update(rows("messages"), ["d"])
    texts = index.open("messages")
    assert {id: texts.words_of(row).tolist() for row, id in enumerate(texts.ids)} == {
        "a": codes["a"].tolist(), "b": codes["b"].tolist(), "c": [],
    }  # fmt: skip


def test_changing_again_and_again_equals_building_at_once(tmp_path: Path):
    texts = {
        f"id{number}": f"the {number % 7} of {number % 3} fooBar{number}" for number in range(60)
    }
    step, whole = TextIndex(tmp_path / "step"), TextIndex(tmp_path / "whole")
    names = list(texts)
    for start in range(0, 60, 10):
        some = names[max(0, start - 5) : start + 10]
        step.update(
            rows(**{name: texts[name] for name in some}, gone=f"leaves {start}"),
            ["gone"] if start else [],
        )
    step.update(rows(), ["gone"])
    whole.update(rows(**texts), [])
    one, other = step.open("memories"), whole.open("memories")
    assert one is not None and other is not None
    for name in ("keys", "starts", "rows", "counts", "lengths", "groups", "parents"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert list(one.ids) == list(other.ids)


@given(
    st.text(max_size=60)
    | st.sampled_from(
        [
            '"',
            "NEAR(a b)",
            "a AND",
            "text:uv*",
            "(",
            "^uv",
            "-uv",
            "OR",
            "{a b}: c",
            "\0",
            "²",
            "\ud800",
        ]
    )
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_query_is_an_error(index: TextIndex, query: str):
    assert set(found(index, query)) <= {"uv", "port", "camel", "flag"}


@pytest.mark.parametrize("damage", ["cut", "other", "gone"])
def test_a_broken_file_is_moved_aside_and_the_next_build_starts_anew(
    tmp_path: Path, index: TextIndex, damage: str
):
    generation = index.generation()
    file = tmp_path / "texts" / str(generation) / "memories" / "rows.npy"
    if damage == "cut":
        file.write_bytes(file.read_bytes()[:-9])
    elif damage == "other":
        file.write_bytes(b"not an array" * 1_000)
    else:
        file.unlink()
    with pytest.raises(IndexFailedError, match="memory data rebuild --indexes"):
        find_in(index.open("memories"), "uv", 5)
    assert [path.name for path in (tmp_path / "quarantine").iterdir()] == [f"texts-{generation}-0"]
    assert found(index, "uv") == []
    index.update(rows(uv="uv"), [])
    assert found(index, "uv") == ["uv"]


def test_the_files_are_their_owners_alone_and_hold_no_text(tmp_path: Path, index: TextIndex):
    files = [
        path for path in (tmp_path / "texts" / str(index.generation())).rglob("*") if path.is_file()
    ]
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    assert not any(b"ostgres" in path.read_bytes() for path in files)


def test_what_was_opened_stays_readable_after_its_generation_is_gone(index: TextIndex):
    texts = index.open("memories")
    for number in range(3):
        index.update(rows(**{f"new{number}": "caddy"}), [])
    assert texts is not None
    assert [texts.ids[row] for row in texts.postings("pip")[0]] == ["uv"]


def _ask(root: Path, all_there: Any, is_over: Any, errors: "multiprocessing.Queue[str]") -> None:
    index = TextIndex(root)
    all_there.wait()
    while not is_over.is_set():
        published = index.generation() or ""
        try:
            newest = max(int(hit.id) for hit in find_in(index.open("memories"), "caddy", 1_000))
        except Exception as error:
            errors.put(repr(error))
            return
        if newest + 1 < int(published):
            errors.put(f"{newest} when {published} was published")


def test_readers_in_threads_and_processes_see_every_published_generation_while_one_writes(
    tmp_path: Path,
):
    index = TextIndex(tmp_path)
    index.update(rows(**{"0": "caddy"}), [])
    context = multiprocessing.get_context("spawn")
    errors, is_over, all_there = context.Queue(), context.Event(), context.Barrier(7)
    asking = [
        context.Process(target=_ask, args=(tmp_path, all_there, is_over, errors)) for _ in range(2)
    ]
    asking += [
        threading.Thread(target=_ask, args=(tmp_path, all_there, is_over, errors)) for _ in range(4)
    ]
    for one in asking:
        one.start()
    all_there.wait()
    for number in range(1, 20):
        index.update(rows(**{str(number): "caddy"}), [])
    is_over.set()
    for one in asking:
        one.join()
    assert errors.empty(), errors.get()


def test_publishing_removes_the_index_of_words_of_earlier_stores(tmp_path: Path, index: TextIndex):
    (tmp_path / "keywords" / "000001").mkdir(parents=True)
    (tmp_path / "keywords" / "000001" / "texts.db").write_text("Use uv.")
    index.update(rows(z="uv"), [])
    assert not (tmp_path / "keywords").exists()


def test_only_the_published_generation_is_kept_where_that_is_asked_for(
    tmp_path: Path, index: TextIndex
):
    index.update(rows(z="herons"), [])
    (tmp_path / "quarantine" / "texts-000000-0").mkdir(parents=True)
    index.keep_published_only()
    assert [path.name for path in (tmp_path / "texts").iterdir() if path.is_dir()] == [
        index.generation()
    ]
    assert list((tmp_path / "quarantine").iterdir()) == []
    assert found(index, "herons") == ["z"]


def test_of_many_terms_those_that_some_text_has_are_known(index: TextIndex):
    asked = ["uv", "pip", "conda", "5433", "", "parsewindowkey"]
    texts = index.open("memories")
    assert texts.known(asked) == [term for term in asked if len(texts.postings(term)[0])] != []
    assert texts.known([]) == []
    assert empty_arrays().known(asked) == []
