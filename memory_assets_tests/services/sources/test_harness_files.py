"""Living beside the harnesses' own memories: read as sources, recalled with their source, never written."""

import hashlib
import os
from pathlib import Path

import pytest

from memory_assets.memory import MemoryAgent
from memory_assets.runs.due import memories_are_stale
from memory_assets.runs.staleness import is_stale, stale_days
from memory_assets.services.sources.harness_files import find_memory_files, projects_of
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.dagster_runs import run_assets
from memory_assets_tests.factories import row
from memory_assets_tests.small_store import write

PORT = "The staging database listens on port 5433, behind the tunnel of leith-1."
TRAIN = "The release train of the harbour team leaves on Thursday afternoon."


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home in which Claude Code remembers something of a project, and Codex something of everything."""
    home = tmp_path / "home"
    claude, codex = home / ".claude/projects/-home-mira-shop", home / ".codex/memories"
    (claude / "memory" / "deep").mkdir(parents=True)
    codex.mkdir(parents=True)
    text = f"# Shop\n\n- {PORT}\n- [Tests](deep/tests.md): how they are run in this shop\n"
    (claude / "memory" / "MEMORY.md").write_text(text)
    (claude / "memory" / "deep" / "tests.md").write_text(
        "Tests need the container of postgres to be up before they run.\n"
    )
    (codex / "MEMORY.md").write_text(f"# Codex\n\n{TRAIN}\n")
    (codex / "memories_1.sqlite").write_bytes(b"SQLite format 3\x00")
    return home


@pytest.fixture
def store(home: Path) -> Store:
    store = open_store(read_settings())
    path = str(home / ".claude/projects/-home-mira-shop/0a000001.jsonl")
    write(store, "windows", "all", row("windows", path=path, project="shop", harness="claude_code"))
    return store


def checksums(folder: Path) -> dict[str, tuple[str, int]]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {
        str(path): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in files
    }


def learn(store: Store) -> None:
    """Runs what a change of the files asks for."""
    assert run_assets(store, "harness_memories").success
    for day in stale_days(store, "process_days"):
        assert run_assets(store, "embedding_failures", "embeddings", days=(day, day)).success
    assert memories_are_stale(store)
    assert run_assets(store, "merges", "memories", "vector_index", "text_index").success


def test_what_harnesses_remember_is_recalled_with_its_source_and_their_files_stay_as_they_are(
    store: Store, home: Path
):
    before = checksums(home)
    assert is_stale(store, ["harness_memories"])
    learn(store)
    assert not is_stale(store, ["harness_memories"])

    agent = MemoryAgent(store.settings)
    (first, *_) = agent.recall(
        "on which port does the staging database listen", project="shop"
    ).results
    assert (first.text, first.project) == (PORT, "shop")
    assert (first.path, list(first.lines)) == (
        str(home / ".claude/projects/-home-mira-shop/memory/MEMORY.md"),
        [2],
    )
    (first, *_) = agent.recall("when does the release train leave").results
    assert (first.text, first.session) == (TRAIN, "memory of codex")

    told = agent.explain(first.memory_id)
    assert (told.root.kind, told.root.id, told.is_verified) == (
        "file",
        str(home / ".codex/memories/MEMORY.md"),
        True,
    )
    assert told.root.facts["lines"] == "3"
    sums = {check.name: check for check in agent.health().checks}
    assert sums["memories"].passed
    assert sums["memories once"].passed
    assert sums["vector index"].passed
    assert checksums(home) == before


def test_what_a_harness_forgets_is_gone_and_what_it_learns_is_there(store: Store, home: Path):
    learn(store)
    path = home / ".codex/memories/MEMORY.md"
    path.write_text("The release train of the harbour team leaves on Wednesday morning.\n")
    os.utime(path, (path.stat().st_atime, path.stat().st_mtime + 1))
    assert is_stale(store, ["harness_memories"])
    learn(store)
    texts = [
        one.text
        for one in MemoryAgent(store.settings).recall("when does the release train leave").results
    ]
    assert TRAIN not in texts
    assert "The release train of the harbour team leaves on Wednesday morning." in texts


def test_a_memory_of_a_harness_can_be_corrected_and_forgotten_here_without_touching_its_file(
    store: Store, home: Path
):
    learn(store)
    before, agent = checksums(home), MemoryAgent(store.settings)
    (first, *_) = agent.recall("when does the release train leave").results
    agent.remember(
        "The release train of the harbour team leaves on Friday.", instead_of=first.memory_id
    )
    assert TRAIN not in [
        one.text for one in agent.recall("when does the release train leave").results
    ]
    (port, *_) = agent.recall(
        "on which port does the staging database listen", project="shop"
    ).results
    agent.forget(port.memory_id, apply=True)
    assert PORT not in [
        one.text for one in agent.recall("on which port does the staging database listen").results
    ]
    learn(store)
    states = dict(store.tables.read("memories", columns=["text", "state"]).iter_rows())
    assert states[TRAIN] == "superseded" and PORT not in states
    assert checksums(home) == before


@pytest.mark.parametrize(
    ("folder", "project"),
    [("-home-mira-shop--claude-worktrees-vat", "shop"), ("-srv-src-shop--worktrees-1", "shop"), ("-srv-src-shop", "shop"),
     ("-home-mira-till", "-home-mira-till")],
)  # fmt: skip
def test_a_folder_without_sessions_belongs_to_the_project_that_its_name_ends_with(
    store: Store, home: Path, folder, project
):
    memory = home / ".claude/projects" / folder / "memory"
    memory.mkdir(parents=True)
    (memory / "MEMORY.md").write_text(f"- {TRAIN}\n")
    assert projects_of(store, find_memory_files(store.settings))[str(memory.parent)] == project


def test_nothing_is_read_where_the_setting_says_so(store: Store, monkeypatch: pytest.MonkeyPatch):
    assert len(find_memory_files(store.settings)) == 3
    monkeypatch.setenv("MEMORY_HARNESS_MEMORIES", "false")
    assert find_memory_files(read_settings()) == []


def test_folders_that_are_named_are_looked_through_and_the_usual_places_are_not(
    home: Path, tmp_path: Path
):
    (tmp_path / "other" / ".codex" / "memories").mkdir(parents=True)
    (tmp_path / "other" / ".codex" / "memories" / "MEMORY.md").write_text(TRAIN)
    (file,) = find_memory_files(read_settings(sources=str(tmp_path / "other")))
    assert file.path == tmp_path / "other/.codex/memories/MEMORY.md"


def test_links_to_folders_huge_files_and_names_that_are_no_text_are_passed_by(
    home: Path, tmp_path: Path
):
    codex = home / ".codex/memories"
    (codex / "huge.md").write_bytes(b"x" * 1_000_001)
    (codex / os.fsdecode(b"caf\xe9.md")).write_text(TRAIN)
    (codex / "gone.md").symlink_to(tmp_path / "nowhere.md")
    shop = home / ".claude/projects/-home-mira-shop/memory"
    (shop / "loop").symlink_to(shop)
    assert len(find_memory_files(read_settings())) == 3
