"""Forget: a preview that changes nothing, then removal from everything, with a tombstone of hashes and a search as its proof."""

from pathlib import Path

import polars as pl
import pytest

from memory_assets.adapters.chroma_index import ChromaIndex
from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.errors import NoteError
from memory_assets.memory import MemoryAgent
from memory_assets.runs.due import forget_is_unfinished
from memory_assets.services.forget import erase
from memory_assets.services.forget.forget import SHORTEST_QUOTE
from memory_assets.services.forget.rows import without_forgotten
from memory_assets.stages.capture.tombstones import Tombstones, make_tombstone, words_of
from memory_assets.stages.embed.present import overlay
from memory_assets.store.ledger import FORGOTTEN, NOTES, WORDS_ERASED, WORDS_FORGOTTEN
from memory_assets.store.store import Store
from memory_assets_tests.dirty import is_dirty
from memory_assets_tests.factories import row
from memory_assets_tests.small_store import (
    DAY,
    FACT,
    IDS,
    MEMORY,
    NARRATIVE,
    TURNS,
    index,
    small_store,
    write,
)

SHOWN = f"mem_{MEMORY.replace('-', '')[:12]}"
SAID = "No, use uv, never pip."
TOLD = "2f3a5c1e-0000-5000-8000-000000000003"


@pytest.fixture
def store() -> Store:
    made = small_store()
    observed(made)
    GitWorkspace(made.workspace).prepare()
    return made


@pytest.fixture
def agent(store: Store) -> MemoryAgent:
    return MemoryAgent()


def observed(store: Store, quote: str = SAID) -> None:
    """The fact as it is observed, beside its narrative."""
    fact = {"id": MEMORY, "text": FACT, "text_hash": "a", "kind": "fact"}
    told = {"id": TOLD, "text": NARRATIVE, "text_hash": "b", "kind": "narrative"}
    seen = {"segment_id": "seg", "day": DAY, "gate": "allow", "message_ids": [IDS[2]]}
    facts = [
        row("observations", **fact, **seen, quote=quote),
        row("observations", **told, **seen, quote=""),
    ]
    write(store, "observations", DAY.isoformat(), *facts)
    for each in (fact, told):
        each |= {
            "state": "active",
            "superseded_by": None,
            "wordings": [each["text"]],
            "observation_ids": [each["id"]],
        }
    write(store, "memories", "all", row("memories", **fact), row("memories", **told))


def contents(store: Store) -> dict[str, bytes]:
    """Every file of the store, but for the locks and what git and Chroma write when they are only opened."""
    paths = (
        path
        for path in store.root.rglob("*")
        if path.is_file() and path.name != "lock" and not {".git", "locks"} & {*path.parts}
    )
    return {path.relative_to(store.root).as_posix(): path.read_bytes() for path in paths}


def test_the_preview_names_everything_that_carries_it_and_changes_nothing(
    agent: MemoryAgent, store: Store
):
    (store.workspace / "MEMORY.md").write_text(f"# MEMORY.md\n\n- (2026-08-03) {FACT}\n")
    before = contents(store)
    preview = agent.forget(SHOWN)
    assert contents(store) == before
    assert (preview.is_applied, preview.proof, preview.is_gone, preview.warnings) == (
        False,
        None,
        False,
        (),
    )
    assert [one.memory_id for one in preview.memories[:1]] == [MEMORY]
    assert (preview.message_ids, preview.segment_ids, preview.entry_lines) == (
        (IDS[2],),
        ("seg",),
        ("MEMORY.md:3",),
    )
    assert preview.wordings == ("use uv never pip to install packages", "no use uv never pip")
    assert {place.kind for place in preview.found.places} == {
        "MEMORY.md", "REVIEW.md", "table decisions", "table memories", "table messages", "table observations", "table proposals",
    }  # fmt: skip


def test_what_is_forgotten_is_gone_from_everything_and_the_search_says_so(
    agent: MemoryAgent, store: Store
):
    index(store)
    vector = pl.DataFrame({"id": [MEMORY], "vector": [[1.0, 0.0]], "kind": ["fact"]})
    ChromaIndex(store.root / "index").update(vector, [])
    agent.remember("Always use uv, never pip, to install packages, please.")
    for path, content in {
        "workspace/MEMORY.md": f"# MEMORY.md\n\nWe say: {FACT}\n\n- (2026-08-03) {FACT}\n- (2026-08-04) Eat fruit.\n",
        "workspace/MEMORY.md~": f"- {FACT}\n",
        "spool/1.jsonl": f'{{"text": "{FACT}"}}\n',
        "dagster/storage/run/compute_logs/x.err": f"ValueError: {FACT}\n",
        "tables/memories/part-0.parquet": FACT,
        "tables/a_table_of_old/data.parquet": FACT,
        "index/quarantine/texts-000001-0/x.bin": FACT,
        "resources/.catalog.jsonl.x.tmp": FACT,
    }.items():
        (store.root / path).parent.mkdir(parents=True, exist_ok=True)
        (store.root / path).write_text(content)
    forgotten = agent.forget("use UV,  never pip", apply=True)
    assert forgotten.is_gone and forgotten.proof is not None
    assert (
        forgotten.proof.looked_at["table messages"] > 0 and forgotten.proof.looked_at["indexes"] > 0
    )
    assert not [
        name for name, content in contents(store).items() if b"never pip" in content.lower()
    ]
    assert not list((store.root / "index" / "chroma").iterdir()), "the nightly run builds it again"
    memory_md = (store.workspace / "MEMORY.md").read_text()
    assert (
        memory_md
        == "# MEMORY.md\n\nWe say: ******, *********, to install packages.\n\n- (2026-08-04) Eat fruit.\n"
    )
    assert store.tables.read("messages")["text"].to_list() == [
        text for text in TURNS if "never pip" not in text
    ]


def test_the_tombstone_holds_hashes_and_never_the_words(agent: MemoryAgent, store: Store):
    agent.forget(SHOWN, apply=True)
    (told,) = store.ledger.events([WORDS_FORGOTTEN])
    assert [sorted(stone) for stone in told.payload["tombstones"]] == [
        ["anchor", "digest", "place", "words"]
    ] * 2
    assert (
        b"pip"
        not in b"".join(path.read_bytes() for path in (store.root / "ledger").iterdir()).lower()
    )
    ((hidden),) = [
        event.payload for event in store.ledger.events([FORGOTTEN]) if event.target == MEMORY
    ]
    assert hidden["observation_ids"] == [MEMORY] and set(hidden["text_hashes"]) == {""}


def test_words_that_are_part_of_longer_ones_are_forgotten_with_these(
    agent: MemoryAgent, store: Store
):
    (store.workspace / "notes.md").write_text("Package management is hard; install packagewise.\n")
    preview = agent.forget("install package")
    assert preview.wordings == ("install package", "install packages", "install packagewise")
    agent.forget("install package", apply=True)
    assert (
        store.workspace / "notes.md"
    ).read_text() == "Package management is hard; *******************.\n"


def test_a_quote_that_is_said_of_everything_is_not_masked_everywhere(
    agent: MemoryAgent, store: Store
):
    observed(store, quote="Thanks.")
    assert len("thanks".split()) < SHORTEST_QUOTE
    forgotten = agent.forget(SHOWN, apply=True)
    assert forgotten.is_gone and "Thanks." in store.tables.read("messages")["text"].to_list()
    assert IDS[2] in store.ledger.events([FORGOTTEN])[0].payload["messages"]


def test_the_narrative_of_a_fact_is_forgotten_with_it(agent: MemoryAgent, store: Store):
    assert [one.text for one in agent.forget(SHOWN, apply=True).memories] == [FACT, NARRATIVE]
    laid = overlay(store.tables.read("memories"), store.ledger.events(NOTES))
    assert laid.select("text", "state").rows() == [(NARRATIVE, "forgotten")]


def test_what_is_noted_again_afterwards_is_kept(agent: MemoryAgent, store: Store):
    agent.forget(SHOWN, apply=True)
    noted = agent.remember(FACT)
    assert agent.forget("Thanks", apply=True).is_gone
    assert agent.explain(noted.memory_id).root.facts["text"] == FACT


def test_a_killed_forgetting_is_finished_by_the_next_run(
    agent: MemoryAgent, store: Store, monkeypatch: pytest.MonkeyPatch
):
    index(store)
    for step in ("erase_rows", "_erase_indexes", "_erase_workspace", "_erase_other"):
        with monkeypatch.context() as patched:
            patched.setattr(erase, step, killed)
            with pytest.raises(KeyboardInterrupt):
                agent.forget(SHOWN, apply=True) if step == "erase_rows" else erase.finish(store)
        assert forget_is_unfinished(store)
        assert not next(
            check for check in agent.health().checks if check.name == "forgetting"
        ).passed
    erase.finish(store)
    assert not forget_is_unfinished(store) and erase.finish(store) == {}
    assert len(store.ledger.events([WORDS_ERASED])) == 1
    assert not [
        name for name, content in contents(store).items() if b"never pip" in content.lower()
    ]


def killed(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_history_is_rewritten_only_where_it_is_asked_for(
    agent: MemoryAgent, store: Store, tmp_path: Path
):
    workspace = GitWorkspace(store.workspace)
    workspace.commit_content(
        f"p-1: add\n\n- {FACT}\n", {"MEMORY.md": f"# Mine\n\n- (2026-08-03) {FACT}\n".encode()}
    )
    workspace.restore(["MEMORY.md"])
    workspace._git("remote", "add", "origin", str(tmp_path / "elsewhere"))
    forgotten = agent.forget(SHOWN, apply=True)
    assert forgotten.is_gone and forgotten.proof and forgotten.proof.commit_count == 2
    assert forgotten.warnings == (
        "2 commits of the workspace still contain it; forget it with --history to rewrite them.",
    )
    again = agent.forget("use uv, never pip, to install packages", apply=True, history=True)
    assert again.proof and not again.proof.places
    assert "origin still has the old one" in again.warnings[0]
    assert (store.workspace / "MEMORY.md").read_text() == "# Mine\n\n"
    assert not is_dirty(workspace, "MEMORY.md")


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("", "Name what to forget"),
        ("uv", "matches too much"),
        ("-- !?", "matches too much"),
        ("a pelican on the roof", "Nothing in this store"),
        ("mem_ffffffffffff", "There is no memory"),
    ],
)
def test_what_is_nowhere_or_everywhere_cannot_be_forgotten(
    target: str, why: str, agent: MemoryAgent, store: Store
):
    with pytest.raises(NoteError, match=why):
        agent.forget(target, apply=True)
    assert store.ledger.events() == []


def test_what_is_worded_anew_by_us_is_refused_where_it_says_what_is_forgotten(store: Store):
    tombstones = Tombstones([make_tombstone(words_of(FACT), b"key")], b"key")
    made = {table: store.tables.read(table) for table in ("segments", "observations", "verdicts")}
    left = without_forgotten(made, tombstones)
    assert left["observations"]["text"].to_list() == [NARRATIVE]
    assert dict(left["verdicts"].select("candidate_id", "verdict").iter_rows())[MEMORY] == "discard"
    assert left["segments"].equals(made["segments"])
    assert without_forgotten(made, Tombstones([], b"key")) == made
