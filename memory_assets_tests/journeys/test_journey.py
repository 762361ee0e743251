"""The story, end to end: three weeks of a developer's sessions become files of entries whose every line explains itself."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.memory import MemoryAgent
from memory_assets.runs import launch
from memory_assets.schema.tables import table_names
from memory_assets.services.search.corpus import open_vectors
from memory_assets.stages.capture.sample import PLANTED_SECRETS, sample_root
from memory_assets.stages.triage.explain import explain
from memory_assets.stages.triage.memory_md import read_entries
from memory_assets.stages.triage.projects import memory_files
from memory_assets.store.store import Store
from memory_assets_tests.once import only_whole
from memory_assets_tests.readers import READERS
from memory_assets_tests.story import (
    all_tables,
    assert_same_tables,
    delete_derived,
    emitted,
    lay_out_sample,
    open_at,
    run,
    session_ids,
)

TIDEWATCH = "projects/tidewatch.md"
EXPECTED = json.loads((sample_root() / "expected.json").read_text())


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The data folder and the transcripts of the story, built once."""
    root = tmp_path_factory.mktemp("story")
    sources = lay_out_sample(root / "transcripts")
    run("ingest", root / "store", sources)
    return root / "store", sources


@pytest.fixture
def store(places: tuple[Path, Path]) -> Store:
    return open_at(*places)


def allowed(store: Store) -> pl.DataFrame:
    facts = store.tables.read("observations").filter(
        (pl.col("gate") == "allow") & (pl.col("kind") == "fact")
    )
    return facts.with_columns(pl.col("text").str.to_lowercase())


def holds(text: str, words: list[str]) -> bool:
    return all(word.lower() in text for word in words)


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_every_table_is_read_by_other_programs_as_scan_reads_it(
    store: Store, reader: Callable[[Path, str], pl.DataFrame]
):
    built = [table for table in table_names() if store.tables.parts(table)]
    assert {
        "messages",
        "records",
        "observations",
        "memories",
        "dropped_facts",
        "category_summaries",
    } <= {*built}
    for table in built:
        expected = store.tables.scan(table).collect()
        assert_frame_equal(
            reader(store.tables.root, table),
            expected,
            check_column_order=False,
            check_row_order=False,
        )


def test_what_a_good_memory_learns_is_learnt(store: Store):
    facts, ids = allowed(store), session_ids()
    missed = [
        expected["question"]
        for expected in EXPECTED
        if expected["must"]
        and not expected.get("needs_model")
        and not any(
            holds(text, expected["all_of"])
            for text in facts.filter(
                pl.col("session_id").is_in(
                    [ids[name] for name in (expected["session"], *expected.get("also_in", ()))]
                )
            )["text"]
        )
    ]
    assert missed == []


def test_what_it_must_not_learn_is_not_learnt(store: Store):
    texts = allowed(store)["text"].to_list()
    learnt = [
        expected["why"]
        for expected in EXPECTED
        if not expected["must"] and any(holds(t, expected["all_of"]) for t in texts)
    ]
    assert learnt == []


def test_no_planted_secret_is_anywhere_in_the_store(store: Store):
    on_disk = b"".join(
        p.read_bytes() for p in store.root.rglob("*") if p.is_file() and "resources" not in p.parts
    )
    archived = b"".join(line.content for ranges in store.archive.sources().values() for line in
                        store.archive.lines(ranges[0].source_id, ranges[0].generation))  # fmt: skip
    for secret in PLANTED_SECRETS.values():
        assert secret.encode() not in on_disk
        assert secret.encode() not in archived


def test_rules_said_in_two_sessions_are_in_the_projects_file_with_their_sessions_in_the_log(
    store: Store,
):
    entries = read_entries((store.workspace / TIDEWATCH).read_text())
    (check,) = [entry for entry in entries if "`make check`" in entry.text]
    assert check.section == "Hard Rules"
    commit = GitWorkspace(store.workspace).commit_of_line(TIDEWATCH, check.number)
    assert commit is not None
    assert commit.message.count("Session: ") >= 2


def test_a_rule_for_all_projects_is_for_the_project_that_it_was_said_in(store: Store):
    decided = store.tables.read("decisions").filter(pl.col("text").str.contains("`pnpm`"))
    assert "promoted" in decided["state"].to_list()
    assert read_entries((store.workspace / "MEMORY.md").read_text()) == []


def test_every_line_that_was_promoted_ends_at_archived_records_that_hold_its_words(store: Store):
    files = [(store.workspace / path).read_text() for path in memory_files(store.workspace)]
    lines = [line for text in files for line in text.splitlines() if line.startswith("- ")]
    promoted = 0
    for line in lines:
        found = explain(
            line,
            tables=store.tables,
            ledger=store.ledger,
            archive=store.archive,
            workspace=GitWorkspace(store.workspace),
        )
        assert found.is_verified, line
        promoted += bool(found.records)
    assert promoted == len(read_entries("\n".join(lines))) > 0


def test_recall_answers_with_the_session_that_said_it(store: Store):
    answer = MemoryAgent(store.settings).recall("how do we install packages here", probe=True)
    assert any(
        {"uv", "pip"} <= set(re.findall(r"\w+", result.text)) for result in answer.results[:3]
    )
    assert {result.session for result in answer.results} <= set(session_ids().values())
    assert len(answer.results) <= 10


def test_what_a_later_session_changed_is_nowhere_told_as_the_present(store: Store):
    agent, question = MemoryAgent(store.settings), "where do we deploy tidewatch"
    found = agent.recall(question, probe=True).results
    assert "Hetzner" in found[0].text
    assert not any("to Fly" in result.text for result in found)
    said = agent.answer(question, probe=True).text
    assert (
        "leith-1" in said.splitlines()[0] and "Fly to Hetzner" in said and "to Fly.io" not in said
    )
    assert "shared IPs" in agent.answer("why did we leave fly.io", probe=True).text.splitlines()[0]
    current = [
        store.workspace / "lessons.md",
        store.workspace / "MEMORY.md",
        store.workspace / TIDEWATCH,
    ]
    current += [
        *(store.workspace / "summaries").glob("*.md"),
        *(store.workspace / "briefings").rglob("*.md"),
    ]
    assert not any("to Fly.io" in path.read_text("utf-8") for path in current)


def test_the_doctor_finds_that_everything_adds_up(places: tuple[Path, Path]):
    assert all(check["passed"] for check in run("doctor", *places)["checks"])


def test_a_tick_in_review_md_is_carried_out_beside_a_line_written_by_hand(
    places: tuple[Path, Path], store: Store
):
    review, memory = store.workspace / "REVIEW.md", store.workspace / TIDEWATCH
    own = review.read_text().partition("## Proposed for: tidewatch")[2].splitlines()
    first = next(line for line in own if line.startswith("- [ ] "))
    review.write_text(review.read_text().replace(first, first.replace("[ ]", "[x]", 1)))
    memory.write_text(
        memory.read_text().replace(
            "## Hard Rules\n", "## Hard Rules\n\n- Ask Priya first (by hand).\n", 1
        )
    )
    before = memory.read_text()
    launch.triage(store)
    after = memory.read_text()
    rest = iter(after.splitlines())
    assert all(any(line == other for other in rest) for line in before.splitlines()), (
        "a line was lost or moved"
    )
    assert len(read_entries(after)) == len(read_entries(before)) + 1
    proposal = first.split("`")[1]
    state = (
        store.tables.read("decisions")
        .filter(pl.col("proposal_id") == proposal)
        .select("state", "actor")
        .row(0)
    )
    assert state == ("promoted", "mira")
    by_hand = explain("Ask Priya first", tables=store.tables, ledger=store.ledger, archive=store.archive,
                      workspace=GitWorkspace(store.workspace))  # fmt: skip
    assert [step.facts["author"] for step in by_hand.root.behind] == ["mira"]


def test_all_but_archive_ledger_answers_and_git_can_be_deleted_and_comes_back(
    places: tuple[Path, Path],
):
    store = open_at(*places)
    tables, vectors, events = all_tables(store), open_vectors(store).ids(), emitted(store)
    files = {
        name: (store.workspace / name).read_bytes()
        for name in ("MEMORY.md", "REVIEW.md", "briefing.md")
    }
    delete_derived(store.root)
    run("ingest", *places)
    again = open_at(*places)
    assert_same_tables(all_tables(again), tables)
    assert emitted(again) == events != []
    assert open_vectors(again).ids() == vectors
    assert {name: (again.workspace / name).read_bytes() for name in files} == files


@pytest.mark.slow
@only_whole("test_export.py and test_backup.py hold the same of a small store")
def test_an_export_of_everything_becomes_the_same_store_again(
    places: tuple[Path, Path], tmp_path: Path
):
    store = open_at(*places)
    run(f"data export --all {tmp_path / 'export'}", *places)
    built = run(f"data import {tmp_path / 'export'}", tmp_path / "again", places[1])
    assert built["reason"].endswith("all tables are as exported")
    again = open_at(tmp_path / "again", places[1])
    assert_same_tables(all_tables(again), all_tables(store))
    assert emitted(again) == emitted(store)
    assert again.memory_md() == store.memory_md()
    histories = [GitWorkspace(one.workspace).history("MEMORY.md") for one in (store, again)]
    assert histories[0] == histories[1] != []


def test_what_the_owner_corrects_is_corrected_in_memory_md(store: Store):
    line = next(line for line in _lines(store) if "`make check`" in line)
    promoted = next(
        event for event in store.ledger.events(["entry.promoted"]) if event.payload["line"] == line
    )
    wanted = "Always run `make check` before you commit, except in the old tide widget."
    MemoryAgent(store.settings).remember(wanted, instead_of=promoted.payload["memory_id"])
    launch.ingest(store)
    assert wanted in "\n".join(_lines(store))
    assert line not in _lines(store)
    found = explain(
        wanted,
        tables=store.tables,
        ledger=store.ledger,
        archive=store.archive,
        workspace=GitWorkspace(store.workspace),
    )
    assert found.is_verified
    assert launch.ingest(store).jobs == []


def _lines(store: Store) -> list[str]:
    return (store.workspace / TIDEWATCH).read_text().splitlines()
