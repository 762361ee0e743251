"""The sample in a bucket of moto's server: tables and recalls as in a folder, and two machines at once."""

from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from memory_assets.runs.days import BY_DAY
from memory_assets.store.store import Store
from memory_assets_tests import story
from memory_assets_tests.once import only_whole
from memory_assets_tests.s3_api import variables
from memory_assets_tests.servers import moto_server

pytest.importorskip("obstore")
pytestmark = [pytest.mark.slow, only_whole("what is exchanged is tested in seconds by test_mirror.py and test_shared_store.py")]

QUESTIONS = ("commit", "push")


@pytest.fixture
def bucket(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The settings of a store in an empty bucket of moto's server."""
    with moto_server(tmp_path / "server") as address:
        yield variables(address, tmp_path / "workspace.git")


def opened(data: Path, sources: Path, bucket: dict[str, str]) -> Store:
    with patch.dict("os.environ", bucket):
        return story.open_at(data, sources)


def answers(data: Path, sources: Path, bucket: dict[str, str]) -> list[list[tuple[str, float]]]:
    found = [story.run(f"recall {question}", data, sources, **bucket) for question in QUESTIONS]
    return [[(hit["memory_id"] or hit["message_id"], round(hit["score"], 4)) for hit in one["results"]] for one in found]


def test_the_sample_has_the_tables_and_recalls_of_a_store_in_a_folder(tmp_path: Path, bucket: dict[str, str]):
    sources = story.lay_out_sample(tmp_path / "sources", "/pi/")
    here, there = tmp_path / "here", tmp_path / "there"
    story.run("ingest", here, sources)
    story.run("ingest", there, sources, **bucket)
    expected, recalled = story.all_tables(story.open_at(here, sources)), answers(here, sources, {})
    story.assert_same_tables(story.all_tables(opened(there, sources, bucket)), expected)
    assert all(recalled) and answers(there, sources, bucket) == recalled


def test_two_processes_of_a_machine_make_the_tables_of_one_and_another_machine_has_them(tmp_path: Path, bucket: dict[str, str]):
    sources, here, there = story.lay_out_sample(tmp_path / "sources", "/pi/"), tmp_path / "here", tmp_path / "there"
    story.run("ingest", here, sources)
    jobs = story.run_apart("ingest", there, sources, **bucket, MEMORY_WORKERS="2")["jobs"]
    assert all(jobs.count(job) >= 2 for job in BY_DAY)
    expected = story.all_tables(story.open_at(here, sources))
    for folder in (there, tmp_path / "another"):
        story.assert_same_tables(story.all_tables(opened(folder, sources, bucket)), expected)


def test_two_machines_at_once_lose_nothing(tmp_path: Path, bucket: dict[str, str]):
    names, folders = ("pi", "codex"), (tmp_path / "first", tmp_path / "second")
    sources = [story.lay_out_sample(tmp_path / f"of-{name}", f"/{name}/") for name in names]
    pairs = list(zip(folders, sources, strict=True))
    running = [story.start("ingest", *pair, **bucket) for pair in pairs]
    for process in running:
        out, errors = process.communicate(timeout=500)
        assert process.returncode == 0, errors[-3000:] + out[-1000:]
    for pair in (*pairs, pairs[0]):
        story.run("ingest", *pair, **bucket)
    stores = [opened(folder, sources[0], bucket) for folder in folders]
    first, second = (story.all_tables(store) for store in stores)
    story.assert_same_tables(second, first)
    assert {*first["sessions"]["harness"]} == {*names}
    both = tmp_path / "both"
    story.run("ingest", both, story.lay_out_sample(tmp_path / "all", "/pi/", "/codex/"))
    alone = story.all_tables(story.open_at(both, tmp_path / "all"))
    for table in ("messages", "observations"):
        assert sorted(first[table]["text"]) == sorted(alone[table]["text"])
    assert {*first["memories"]["text"]} == {*alone["memories"]["text"]}
    assert (stores[0].workspace / "MEMORY.md").read_bytes() == (stores[1].workspace / "MEMORY.md").read_bytes()
    assert first["proposals"]["proposal_id"].n_unique() == first["proposals"].height
