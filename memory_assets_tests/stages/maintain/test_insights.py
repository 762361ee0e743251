"""One cited sentence for each group of archived facts; groups keep their id when they grow, and projects are never mixed."""

import hashlib
from datetime import timedelta

import polars as pl

from memory_assets.adapters.local_embedder import LocalEmbedder
from memory_assets.stages.maintain.insights import find_insights, render_page
from memory_assets_tests.factories import START, frame, row

PORT, VERSION, BACKUP = (
    "The staging database listens on port 5433.",
    "The staging database runs Postgres 16 on db-staging.",
    "Backups of the staging database run at 03:30.",
)
VITE, PNPM = "The frontend is built with Vite.", "The frontend uses pnpm."


def archived(*texts: str, **changes) -> pl.DataFrame:
    """Archived facts of the shop, said a day apart; the id is the text's place."""
    plain = {
        "state": "archived",
        "kind": "fact",
        "scope": "project",
        "project": "shop",
        "category": "operations",
    }
    return frame("memories", *(
        row("memories", id=f"{n:08d}-0000-5000-8000-000000000000", text=text, text_hash=hashed(text),
            first_event_at=START + timedelta(days=n), event_at=START + timedelta(days=n), **plain | changes)
        for n, text in enumerate(texts)
    ))  # fmt: skip


def hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def vectors(memories: pl.DataFrame) -> pl.DataFrame:
    embedder = LocalEmbedder()
    texts = dict(
        memories.unique("text_hash", maintain_order=True).select("text_hash", "text").iter_rows()
    )
    return frame("embeddings", *(
        row("embeddings", text_hash=hash, dimension=384, vector=embedder.encode_query(text).tolist()) for hash, text in texts.items()
    ))  # fmt: skip


def insights_of(memories: pl.DataFrame, **archived_at) -> pl.DataFrame:
    return find_insights(memories, vectors(memories), archived_at)


def test_facts_about_one_thing_are_one_sentence_with_all_their_ids():
    found = insights_of(archived(PORT, VITE, VERSION, PNPM, BACKUP)).sort("first_event_at")
    assert found["memory_count"].to_list() == [3, 2]
    database, frontend = found["text"]
    assert database in {
        f"{text} (one of 3 related facts, 2026-08) [mem_000000000000, mem_000000020000, mem_000000040000]"
        for text in (PORT, VERSION, BACKUP)
    }
    assert frontend.endswith(
        "(one of 2 related facts, 2026-08) [mem_000000010000, mem_000000030000]"
    )


def test_cold_facts_count_and_what_is_recalled_does_not():
    both = pl.concat([archived(PORT, state="cold"), archived(VITE, PNPM, state="stale")[1:]])
    assert insights_of(both)["memory_count"].to_list() == [1]
    assert insights_of(archived(PORT, state="active")).is_empty()
    assert insights_of(archived(PORT, kind="narrative")).is_empty()


def test_projects_and_persons_are_never_mixed():
    both = archived(PORT, VERSION).with_columns(project=pl.Series(["shop", "tally"]))
    assert insights_of(both).sort("project").select("project", "memory_count").rows() == [
        ("shop", 1),
        ("tally", 1),
    ]


def test_a_group_that_grows_keeps_its_id_whenever_the_new_fact_was_said():
    facts = archived(PORT, VERSION, BACKUP)
    late, middle, early = reversed(facts["id"].to_list())
    weeks = {
        early: START + timedelta(weeks=20),
        middle: START + timedelta(weeks=10),
        late: START + timedelta(weeks=10),
    }
    known = vectors(facts)
    before = find_insights(facts.filter(pl.col("id") != early), known, weeks)
    after = find_insights(facts, known, weeks)
    assert before["insight_id"].to_list() == after["insight_id"].to_list()
    assert after["memory_ids"].to_list() == [[middle, late, early]]
    assert find_insights(facts.reverse(), known, weeks).equals(after), (
        "the order of the table does not matter"
    )


def test_the_page_lists_the_insights_by_project():
    both = pl.concat([archived(PORT), archived(VITE, VERSION, project="tally")[1:]])
    assert render_page(insights_of(both)) == (
        "# Archived memories\n\n_2 facts, out of recall unless asked for._\n\n"
        f"## shop\n\n- {PORT} (2026-08) [mem_000000000000]\n\n## tally\n\n- {VERSION} (2026-08) [mem_000000010000]\n"
    )
    assert render_page(insights_of(archived())) == ""
