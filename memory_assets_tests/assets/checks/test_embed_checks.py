"""Merging and folding as assets: the ledger is written once, a rebuild gives the same memories, and checks name pairs by id."""

import hashlib
import json
import subprocess
import sys
from datetime import timedelta
from typing import Any

import dagster as dg
import numpy as np
import polars as pl
import pytest

from memory_assets.adapters.chroma_index import ChromaIndex
from memory_assets.adapters.local_embedder import LocalEmbedder
from memory_assets.assets.checks.common import REGISTERED
from memory_assets.runs.steps import embed as steps
from memory_assets.runs.steps.embed import open_chroma
from memory_assets.services.search.corpus import open_embedder, open_vectors
from memory_assets.stages.embed.evidence import EVIDENCE
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.assets.checks.outcomes import passes
from memory_assets_tests.dagster_runs import metadata_of, run_assets
from memory_assets_tests.factories import START, message, row
from memory_assets_tests.small_store import write

DAY = START.date().isoformat()
PORT, OTHER_PORT = (
    "The staging database listens on port 5432.",
    "The staging database listens on port 5433.",
)
CHECK = "Run make check before every commit to the shop."


@pytest.fixture
def store() -> Store:
    return open_store(read_settings())


def said(id: str, text: str, **changes: Any) -> dict:
    plain = {
        "session_id": f"s{id}", "event_at": START + timedelta(hours=int(id)), "text_hash": hashlib.sha256(text.encode()).hexdigest(),
        "kind": "fact", "gate": "allow", "author": "assistant", "category": "operations", "scope": "project", "project": "shop",
        "confidence": 0.7, "message_ids": [f"m{id}"], "day": START.date(),
    }  # fmt: skip
    return row("observations", id=id, text=text, **plain | changes)


def learn(store: Store, *rows: dict) -> None:
    """Writes a day's observations, their vectors, and the windows of their sessions."""
    embedder = LocalEmbedder()
    texts = {each["text_hash"]: each["text"] for each in rows}
    vectors = (
        row(
            "embeddings",
            text_hash=h,
            day=START.date(),
            dimension=384,
            vector=embedder.encode_query(text).tolist(),
        )
        for h, text in sorted(texts.items())
    )
    write(store, "observations", DAY, *rows)
    write(store, "embeddings", DAY, *vectors)
    write(
        store,
        "windows",
        "all",
        *(row("windows", window_id=each["id"], session_id=each["session_id"]) for each in rows),
    )


def fold(store: Store) -> dict[str, Any]:
    """Builds merges and memories, with their checks; returns the metadata of the memories, and the outcome of each check."""
    result = run_assets(store, "merges", "memories", raise_on_error=False)
    return metadata_of(result, "memories") | {
        check.check_name: check for check in result.get_asset_check_evaluations()
    }


def state(store: Store) -> dict[str, tuple]:
    columns = (
        "id",
        "state",
        "confidence",
        "confirmed_count",
        "contradicted_count",
        "conflicts_with",
    )
    return {
        one: tuple(rest) for one, *rest in store.tables.read("memories").select(columns).iter_rows()
    }


def test_what_sources_say_is_written_once_and_a_rebuild_gives_the_same_memories(store: Store):
    learn(store, said("1", PORT), said("2", PORT), said("3", OTHER_PORT))
    told = fold(store)
    assert (told["confirmed"], told["contradicted"]) == (1, 1)
    first, events = store.tables.read("memories"), store.ledger.events(EVIDENCE)
    assert state(store) == {"1": ("active", 0.6, 1, 1, ["3"]), "3": ("held", 0.7, 0, 0, ["1"])}
    assert {(event.target, event.actor) for event in events} == {("1", "rules")}
    assert [event.kind for event in events] == ["memory.confirmed", "memory.contradicted"]
    store.tables.drop("merges", "all")
    store.tables.drop("memories", "all")
    told = fold(store)
    assert (told["confirmed"], told["contradicted"]) == (0, 0)
    assert store.tables.read("memories").equals(first)
    assert store.ledger.events(EVIDENCE) == events


def test_a_question_that_replaces_a_statement_is_named(store: Store):
    learn(store, said("1", PORT, quote=PORT), said("2", OTHER_PORT, quote="Isn't it 5433?"))
    name = "no_question_replaces_a_statement"
    memories = fold(store)[name] and store.tables.read("memories")
    write(store, "memories", "all", *memories.with_columns(superseded_by=pl.lit("2")).filter(id="1").to_dicts(),
          *memories.filter(id="2").to_dicts())  # fmt: skip
    judged = next(check for check in REGISTERED if check.name == name)
    found = judged.run(store, None)
    assert not found.passed
    assert "| 1 | 2 |" in str(found.metadata["examples"].value)
    learn(store, said("1", PORT, quote=PORT), said("2", OTHER_PORT, quote="No, the port is 5433."))
    assert judged.run(store, None).passed


def test_a_conflict_warns_with_both_ids_until_the_owner_settles_it(store: Store):
    doubtful = [said("1", PORT), said("2", OTHER_PORT)]
    learn(store, *doubtful)
    found = fold(store)["conflicts_are_settled"]
    assert (found.passed, found.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert "| 2 | 1 |" in found.metadata["examples"].value
    assert "5432" not in str(found.metadata)
    learn(store, *doubtful, said("3", OTHER_PORT, author="owner"))
    assert fold(store)["conflicts_are_settled"].passed
    assert [(id, how[0]) for id, how in state(store).items()] == [
        ("1", "superseded"),
        ("2", "active"),
    ]


def test_repeats_that_merging_left_are_named_without_their_words(store: Store):
    again = "Run make check before every single commit to the shop `always`."
    learn(store, said("1", again), said("2", CHECK))
    found = fold(store)["few_repeats"]
    assert (found.passed, found.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert found.metadata["share"].value == 0.5
    assert "| 1 | 2 | 0.8" in found.metadata["examples"].value
    assert "make" not in str(found.metadata)


def test_what_a_session_was_shown_and_took_up_is_noted_once(store: Store):
    learn(store, said("1", CHECK), said("2", PORT))
    fold(store)
    store.ledger.append(
        "memory.recalled", "q", {"memory_ids": ["1", "2"], "session": "s9"}, actor="mira"
    )
    at = store.settings.clock()
    write(
        store,
        "messages",
        DAY,
        message("Please commit it.", 0, session_id="s9", event_at=at - timedelta(minutes=1)),
        message(
            f"As agreed: {CHECK}",
            1,
            session_id="s9",
            author="assistant",
            event_at=at + timedelta(minutes=1),
        ),
    )
    told = fold(store)
    assert (told["used"], told["ignored"]) == (1, 1)
    columns = ("id", "boost", "used_count", "event_at")
    boosted = store.tables.read("memories", columns=columns).rows()
    assert boosted == [
        ("1", 0.1, 1, START + timedelta(hours=1)),
        ("2", -0.05, 0, START + timedelta(hours=2)),
    ]
    told = fold(store)
    assert (told["used"], told["ignored"]) == (0, 0)
    assert store.tables.read("memories", columns=columns).rows() == boosted


def test_a_text_that_cannot_be_encoded_is_named_and_encoded_once_the_model_can(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    learn(store, said("1", PORT), said("2", OTHER_PORT))
    bad = LocalEmbedder()
    encode = bad.encode
    monkeypatch.setattr(bad, "encode", lambda texts: 1 / 0 if PORT in texts else encode(texts))
    write(store, "embeddings", DAY)
    now = START + timedelta(days=30)

    def built(embedder: LocalEmbedder, later: timedelta) -> dict[str, dg.AssetCheckEvaluation]:
        monkeypatch.setattr(steps.corpus, "open_embedder", lambda _: embedder)
        at = Store(store.settings.model_copy(update={"now": now + later}), store.root)
        result = run_assets(
            at, "embedding_failures", "embeddings", days=(START.date(), START.date())
        )
        return {check.check_name: check for check in result.get_asset_check_evaluations()}

    found = built(bad, timedelta())
    assert (found["every_text_has_a_vector"].passed, found["every_text_can_be_encoded"].passed) == (
        True,
        False,
    )
    assert "ZeroDivisionError" in str(found["every_text_can_be_encoded"].metadata["examples"].value)
    assert store.tables.read("embeddings")["text_hash"].to_list() == [
        said("2", OTHER_PORT)["text_hash"]
    ]

    good = LocalEmbedder()
    assert not built(good, timedelta(minutes=4))["every_text_can_be_encoded"].passed
    assert built(good, timedelta(minutes=5))["every_text_can_be_encoded"].passed
    assert store.tables.read("embeddings").height == 2


def test_chroma_answers_as_the_arrays_once_up_to_date_and_not_with_other_vectors(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    learn(store, said("1", PORT), said("2", CHECK))
    assert run_assets(store, "merges", "memories", "vector_index").success
    assert not (store.root / "index" / "chroma").exists()
    assert passes(store, "chroma", "answers_as_the_arrays")
    copy = ChromaIndex(store.root / "index")
    assert copy.ids() == open_vectors(store).ids()
    (first, second) = sorted(copy.ids())
    turned = np.roll(open_embedder(store.settings.embedding_model).encode([PORT]), 7, axis=1)
    changed = pl.DataFrame({"id": [first], "vector": turned.tolist(), "kind": ["fact"]})
    noted = copy.noted_rows(built_by := _built_by(copy))
    for upserts, deletes in ((changed, []), (changed.clear(), [second])):
        copy.update(upserts, deletes)
        copy.note_rows(built_by, noted)
        assert not passes(store, "chroma", "answers_as_the_arrays")


def _built_by(index: ChromaIndex) -> list[str]:
    return json.loads((index.folder.parent / "chroma.json").read_bytes())["built_by"]


def test_what_is_forgotten_leaves_chroma_and_a_new_label_reaches_it(store: Store):
    learn(store, said("1", PORT), said("2", CHECK))
    run_assets(store, "merges", "memories", "vector_index")
    labels = open_chroma(store).generation()
    assert open_chroma(store).generation() == labels, "nothing changed"
    memories = store.tables.read("memories")
    store.tables.write("memories", "all", memories.with_columns(state=pl.lit("stale")))
    assert open_chroma(store).generation() != labels
    store.tables.write("memories", "all", memories.with_columns(state=pl.lit("forgotten")))
    assert open_chroma(store).ids() == set()


def test_an_update_neither_imports_chroma_nor_writes_its_folder(store: Store):
    learn(store, said("1", PORT), said("2", CHECK))
    code = """if True:
        import sys
        from memory_assets.runs.launch import Runner
        from memory_assets.store.settings import read_settings
        from memory_assets.store.store import open_store
        with Runner(open_store(read_settings())) as runner:
            runner.run("rebuild_memories", only=["merges", "memories", "vector_index", "text_index"])
        print(sorted(name for name in sys.modules if name.startswith("chromadb")))
    """
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, "[]\n"), ran.stderr
    assert sorted(open_vectors(store).ids()) == ["1", "2"]
    assert not (store.root / "index" / "chroma").exists()
