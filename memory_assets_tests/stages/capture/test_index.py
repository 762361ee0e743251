"""Records: one row for each line, whatever the pieces in which the transcript arrived."""

from pathlib import Path

import orjson
import polars as pl

from memory_assets.stages.capture.index import index_sources
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.stages.capture.pipeline import intake
from memory_assets_tests.stages.capture.sessions import (
    at,
    dialogue,
    lines,
    transcript,
)

PI = "2026-08-03T09-00-00-000Z_0198e000-0000-7000-8000-000000000001.jsonl"


CODEX = "rollout-2026-08-03T09-00-00-0198e000-0000-7000-8000-0000000000f0.jsonl"


def index_again(store: Store, sources: Path) -> pl.DataFrame:
    intake(store, sources)
    index_sources(store.archive, store.tables)
    return store.tables.read("records").sort("source_id", "generation", "line")


def pi_file(sources: Path) -> Path:
    path = sources / "pi" / "sessions" / "--x--" / PI
    path.parent.mkdir(parents=True)
    return path


def pi_entries() -> list[dict]:
    entries: list[dict] = [
        {
            "type": "session",
            "version": 3,
            "id": PI[25:61],
            "timestamp": at(0),
            "cwd": "/home/mira/x",
        }
    ]
    for n in range(6):
        message = {"role": "user", "content": f"point {n}", "timestamp": 0}
        entries.append(
            {
                "type": "message",
                "id": f"e{n}",
                "parentId": None,
                "timestamp": at(n),
                "message": message,
            }
        )
    kept = {"summary": "so far", "firstKeptEntryId": "e4", "tokensBefore": 9}
    return [
        *entries,
        {"type": "compaction", "id": "c", "parentId": "e5", "timestamp": at(7), **kept},
    ]


def test_only_sources_with_new_bytes_are_read(store: Store, sources: Path):
    transcript(sources, "a").write_bytes(lines(*dialogue("a", 2)))
    path = transcript(sources, "b")
    path.write_bytes(lines(*dialogue("b", 2)))
    intake(store, sources)
    assert len(index_sources(store.archive, store.tables)) == 2
    assert index_sources(store.archive, store.tables) == []
    path.write_bytes(lines(*dialogue("b", 3)))
    intake(store, sources)
    (changed,) = index_sources(store.archive, store.tables)
    assert store.tables.read("records", [changed])["session_id"].unique().to_list() == ["b"]


def test_the_entry_that_a_compaction_kept_is_found_though_it_came_in_an_earlier_piece(
    store: Store, sources: Path
):
    path, entries = pi_file(sources), pi_entries()
    path.write_bytes(lines(*entries[:6]))
    index_again(store, sources)
    path.write_bytes(lines(*entries))
    assert index_again(store, sources)["kept_from_line"].to_list()[-1] == 5


def codex_fork() -> list[bytes]:
    def meta(session: str) -> bytes:
        payload = {"id": session, "cwd": "/home/mira/x", "timestamp": at(0)}
        return (
            orjson.dumps({"timestamp": at(0), "type": "session_meta", "payload": payload}) + b"\n"
        )

    content = [{"type": "input_text", "text": "use uv"}]
    said = {
        "timestamp": at(0),
        "type": "response_item",
        "payload": {"type": "message", "role": "user", "content": content},
    }
    return [
        meta(CODEX[28:64]),
        meta("0198e000-0000-7000-8000-000000000001"),
        orjson.dumps(said) + b"\n",
    ]


def test_a_fork_whose_header_arrived_in_pieces_has_the_ids_of_one_that_arrived_whole(
    sources: Path, tmp_path: Path
):
    path = sources / "sessions" / "2026" / "08" / "03" / CODEX
    path.parent.mkdir(parents=True)
    found = []
    for name, pieces in (("whole", [3]), ("bits", [1, 2, 3])):
        store = open_store(read_settings(data=tmp_path / name))
        for count in pieces:
            path.write_bytes(b"".join(codex_fork()[:count]))
            records = index_again(store, sources)
        found.append(records.drop("resource_id"))
    assert found[0].equals(found[1])
    assert found[0]["status"].to_list() == ["known", "known", "message"]
