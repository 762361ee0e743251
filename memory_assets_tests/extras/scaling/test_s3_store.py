"""The sample in a bucket of moto's server: tables and recalls as in a folder, lost folders, two machines, a server that stops."""

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from memory_assets.extras.scaling.s3_objects import S3Objects
from memory_assets.memory import MemoryAgent
from memory_assets.store.store import Store
from memory_assets.text.files import write_atomically
from memory_assets_tests import story
from memory_assets_tests.extras.scaling.s3_api import BUCKET, variables
from memory_assets_tests.extras.scaling.servers import Gate, moto_server
from memory_assets_tests.journeys.test_forgotten_for_good import found_in, normal
from memory_assets_tests.once import only_whole

pytest.importorskip("obstore")
pytestmark = [
    pytest.mark.slow,
    only_whole("what is exchanged is tested in seconds by test_mirror.py and test_shared_store.py"),
]

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
    return [
        [(hit["memory_id"] or hit["message_id"], round(hit["score"], 4)) for hit in one["results"]]
        for one in found
    ]


def test_the_sample_has_the_tables_and_recalls_of_a_store_in_a_folder(
    tmp_path: Path, bucket: dict[str, str]
):
    sources = story.lay_out_sample(tmp_path / "sources", "/pi/")
    here, there = tmp_path / "here", tmp_path / "there"
    story.run("ingest", here, sources)
    story.run("ingest", there, sources, **bucket)
    expected, recalled = story.all_tables(story.open_at(here, sources)), answers(here, sources, {})
    story.assert_same_tables(story.all_tables(opened(there, sources, bucket)), expected)
    assert all(recalled) and answers(there, sources, bucket) == recalled


def test_two_processes_of_a_machine_make_the_tables_of_one_and_another_machine_has_them(
    tmp_path: Path, bucket: dict[str, str]
):
    sources, here, there = (
        story.lay_out_sample(tmp_path / "sources", "/pi/"),
        tmp_path / "here",
        tmp_path / "there",
    )
    jobs = story.run("ingest", here, sources)["jobs"]
    assert story.run_apart("ingest", there, sources, **bucket, MEMORY_WORKERS="2")["jobs"] == jobs
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
    assert (stores[0].workspace / "MEMORY.md").read_bytes() == (
        stores[1].workspace / "MEMORY.md"
    ).read_bytes()
    assert first["proposals"]["proposal_id"].n_unique() == first["proposals"].height


def test_a_deleted_folder_comes_back_with_one_command_without_its_transcripts(
    tmp_path: Path, bucket: dict[str, str]
):
    sources, data = story.lay_out_sample(tmp_path / "sources", "/pi/"), tmp_path / "store"
    story.run("ingest", data, sources, **bucket)
    expected, recalled = (
        story.all_tables(opened(data, sources, bucket)),
        probed(data, sources, bucket),
    )
    written = files_of(data / "workspace")
    shutil.rmtree(data)
    shutil.rmtree(sources)
    sources.mkdir()
    story.run("ingest", data, sources, **bucket)
    story.assert_same_tables(story.all_tables(opened(data, sources, bucket)), expected)
    assert all(recalled) and probed(data, sources, bucket) == recalled
    assert files_of(data / "workspace") == written


def test_what_one_machine_forgets_is_in_no_object_and_not_on_the_other_machine(
    tmp_path: Path, bucket: dict[str, str]
):
    words = "not even on your own branches"
    sources, nothing = story.lay_out_sample(tmp_path / "sources", "/pi/"), tmp_path / "nothing"
    one, two = tmp_path / "one", tmp_path / "two"
    nothing.mkdir()
    story.run("ingest", one, sources, **bucket)
    story.run("ingest", two, nothing, **bucket)
    before = story.run("recall push", two, nothing, **bucket)
    assert words in json.dumps(before)
    assert found_in(two, [normal(words)]) and found_in(copied(bucket, tmp_path), [normal(words)])
    assert story.run_apart(f"forget {words.replace(' ', '.')} --apply", one, sources, **bucket)[
        "is_gone"
    ]
    assert found_in(copied(bucket, tmp_path), [normal(words)]) == []
    story.run("ingest", two, nothing, **bucket)
    assert found_in(two, [normal(words)]) == []
    after = story.run("recall push", two, nothing, **bucket)
    assert after["results"] and words not in json.dumps(after)
    assert found_in(copied(bucket, tmp_path), [normal(words)]) == []


def test_a_server_that_stops_in_the_middle_is_named_and_the_next_ingest_completes(
    tmp_path: Path, bucket: dict[str, str]
):
    sources, here, there = (
        story.lay_out_sample(tmp_path / "sources", "/pi/"),
        tmp_path / "here",
        tmp_path / "there",
    )
    story.run("ingest", here, sources)
    gate = Gate(bucket["MEMORY_STORE_ENDPOINT"])
    behind = {**bucket, "MEMORY_STORE_ENDPOINT": gate.address}
    process = story.start("ingest", there, sources, **behind)
    until = time.monotonic() + 120
    while not (there / "tables" / "observations").is_dir():
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.05)
    gate.shut()
    out, errors = process.communicate(timeout=500)
    told = json.loads(out)["error"]["message"]
    assert (process.returncode, "Traceback" in out + errors) == (1, False), (
        errors[-3000:] + out[-2000:]
    )
    assert "does not answer" in told and gate.address in told and "\n" not in told
    gate.open()
    story.run("ingest", there, sources, **behind)
    gate.shut()
    expected = story.all_tables(story.open_at(here, sources))
    story.assert_same_tables(story.all_tables(opened(there, sources, bucket)), expected)


def probed(data: Path, sources: Path, bucket: dict[str, str]) -> list[list[tuple[str, float]]]:
    """What is recalled, without counting it."""
    with patch.dict("os.environ", story.environment(data, sources, **bucket)):
        agent = MemoryAgent()
        return [
            [(hit.text, round(hit.score, 4)) for hit in agent.recall(one, probe=True).results]
            for one in QUESTIONS
        ]


def copied(bucket: dict[str, str], tmp_path: Path) -> Path:
    """A folder with every object of the bucket, the manifest included."""
    folder, objects = (
        tmp_path / "copied",
        S3Objects(f"s3://{BUCKET}", bucket["MEMORY_STORE_ENDPOINT"]),
    )
    shutil.rmtree(folder, ignore_errors=True)
    with patch.dict("os.environ", bucket):
        for key, _ in objects.list():
            content = objects.get(key)
            assert content is not None
            write_atomically(folder / key, content)
    assert [*folder.rglob("*.parquet")] and [*folder.rglob("manifest*")]
    return folder


def files_of(folder: Path) -> dict[str, bytes]:
    """The files below the folder, without git's own."""
    paths = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}
