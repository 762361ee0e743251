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

from memory_assets.adapters.text_index import TextIndex, find_in
from memory_assets.errors import IndexFailedError
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


def test_equals_are_in_the_order_of_their_ids_wherever_the_limit_cuts(index: TextIndex):
    index.update(rows(**{f"same{number}": "a caddy in front" for number in range(9)}), [])
    assert [hit.id for hit in find_in(index.open("memories"), "caddy", 3)] == [
        "same0",
        "same1",
        "same2",
    ]


def test_codes_of_words_stay_with_their_rows_over_changes(tmp_path: Path):
    codes = {
        id: np.full((count, 48), n, dtype=np.int8)
        for n, (id, count) in enumerate({"a": 2, "b": 1, "d": 3}.items())
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
