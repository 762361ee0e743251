"""A store with one session of six lines that went all the way to one memory and one waiting proposal."""

import hashlib
from datetime import timedelta

import polars as pl

from memory_assets.adapters.local_embedder import LocalEmbedder
from memory_assets.runs.due import triage_state
from memory_assets.runs.inputs import input_versions, summaries_version
from memory_assets.runs.record import note_builds
from memory_assets.runs.staleness import note_name
from memory_assets.schema.tables import TABLES, WHOLE
from memory_assets.services.search.corpus import open_texts, open_vectors, passages_to_index
from memory_assets.services.search.memory_ids import keep_ids_ready
from memory_assets.stages.embed.encode import encode_passages, make_passages
from memory_assets.store.archive import Range, range_id
from memory_assets.store.places import SAMPLE, present_root
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.factories import START, frame_of_part, message, row
from memory_assets_tests.text_rows import text_rows

DAY = START.date()
WINDOW = "w" * 64
FACT = "Use uv, never pip, to install packages."
HASH = hashlib.sha256(FACT.encode()).hexdigest()
TURNS = [
    "How do we install packages?",
    "With pip.",
    "No, use uv, never pip.",
    "Understood, uv it is.",
    "Thanks.",
]
IDS = [f"msg_{number:020x}" for number in range(len(TURNS))]
LINES = [line for line in range(6) if line != 1]
"""Line 1 is a file snapshot, no message."""

NARRATIVE = "Settled on uv for packages."
MEMORY = "0f3a5c1e-0000-5000-8000-000000000001"
PROPOSAL = "p-20260803-001"


def small_store() -> Store:
    """The store, in the data folder of the test."""
    store = open_store(read_settings())
    _capture(store)
    _distil(store)
    _fold(store)
    _propose(store)
    (store.workspace / "MEMORY.md").write_text("# MEMORY.md\n")
    (store.workspace / "briefing.md").write_text("# Briefing\n\n- Use uv.\n")
    (store.workspace / "REVIEW.md").write_text(
        f"## Proposed for: Hard Rules\n\n- [ ] `{PROPOSAL}` **{FACT}**\n"
    )
    for path in store.workspace.iterdir():
        path.chmod(0o600)
    return store


def index(store: Store) -> None:
    """Cuts passages and builds the vector and the text index of the store, with the real embedder."""
    embedder = LocalEmbedder()
    messages = store.tables.read("messages")
    store.tables.write("passages", DAY.isoformat(), make_passages(DAY, messages))
    store.tables.write("passage_vectors", DAY.isoformat(), encode_passages(DAY, messages, embedder))
    vector = embedder.encode_query(FACT)
    memory = {
        "id": [MEMORY],
        "category": ["rules-conventions"],
        "kind": ["fact"],
        "state": ["active"],
        "text_hash": [HASH],
    }
    open_vectors(store).update(pl.DataFrame({**memory, "vector": [vector.tolist()]}), [])
    known = store.tables.read("memories").filter(pl.col("id") == MEMORY)
    open_texts(store).update(text_rows(known, passages_to_index(store.tables)), [])
    keep_ids_ready(store, store.tables.read("memories"))


def write(store: Store, table: str, part: str, *rows: dict) -> None:
    """Replaces a part of a table with the rows, which get the day or source that the part is named by."""
    store.tables.write(table, part, frame_of_part(table, part, *rows))


def made_the_sample(store: Store) -> None:
    """Moves the store to where that of the bundled sample is."""
    beside = store.root.with_name("moved")
    store.root.rename(beside)
    store.root.mkdir()
    beside.rename(store.root / SAMPLE)
    assert present_root(str(store.root)) == str(store.root / SAMPLE)


def bring_up_to_date(store: Store) -> None:
    """Notes of every table and file that it was built from what the store holds now; empty where it was never written."""
    for name, table in TABLES.items():
        versions = {} if table.every_run else input_versions(store, table)
        if (
            table.record
            and table.grain == "whole"
            and table.every_run
            and WHOLE not in store.tables.parts(name)
        ):
            versions = {WHOLE: ""}
        for part, version in versions.items():
            if table.record:
                store.tables.write(name, part, store.tables.read(name, [part]), inputs=version)
            else:
                store.note(note_name(table, part), version)
    store.note("category_summaries", summaries_version(store))
    store.note("review_md", triage_state(store))
    note_builds(store, list(TABLES.values()))


def _capture(store: Store) -> None:
    content = b"".join(b'{"line":%d}\n' % number for number in range(6))
    archived = Range(
        id=range_id("s1", 0, 0), source_id="s1", harness="claude_code", path="/home/mira/s1.jsonl", generation=0, byte_from=0,
        byte_to=len(content), line_from=0, line_to=6, sha256=hashlib.sha256(content).hexdigest(), raw_hmac="", content_at=None,
        content_until=None, conversation_id="session-1", created_at=START, masked_count=0, masking_version="1",
    )  # fmt: skip
    store.archive.append(archived, content)
    store.tables.write("resources", "all", store.archive.resources())
    authors = ["assistant" if n % 2 else "owner" for n in range(len(TURNS))]
    messages = [
        message(text, n, author=authors[n], line=LINES[n], window_id=WINDOW)
        for n, text in enumerate(TURNS)
    ]
    ids = dict(zip(LINES, IDS, strict=True))
    status = {line: "message" if line in ids else "known" for line in range(6)}
    records = [
        row("records", source_id="s1", line=n, message_id=ids.get(n), status=status[n])
        for n in status
    ]
    window = row(
        "windows", window_id=WINDOW, source_id="s1", harness="claude_code", session_id="session-1", status="observed",
        trigger="ended", message_count=5, message_ids=IDS, lines=LINES, day=DAY,
    )  # fmt: skip
    write(store, "records", "s1", *records)
    write(store, "windows", "all", window)
    write(store, "messages", DAY.isoformat(), *messages)
    write(store, "sessions", DAY.isoformat(), row("sessions", session_id="session-1", day=DAY))


def _distil(store: Store) -> None:
    day = DAY.isoformat()
    told = {"narrative": NARRATIVE, "message_ids": IDS}
    write(
        store,
        "segments",
        day,
        row("segments", segment_id="seg", window_id=WINDOW, session_id="session-1", **told),
    )
    kept = row("verdicts", candidate_id=MEMORY, window_id=WINDOW, verdict="allow")
    write(
        store,
        "verdicts",
        day,
        kept,
        row("verdicts", candidate_id="gone", window_id=WINDOW, verdict="discard"),
    )
    fact = row(
        "observations", id=MEMORY, session_id="session-1", window_id=WINDOW, path="/home/mira/s1.jsonl", text=FACT,
        text_hash=HASH, kind="fact", gate="allow", priority="high", category="rules-conventions", lines=[3],
        entities=["uv", "pip"], event_at=START + timedelta(minutes=2),
    )  # fmt: skip
    write(store, "observations", day, fact)
    write(
        store,
        "embeddings",
        day,
        row("embeddings", text_hash=HASH, day=DAY, model="m", dimension=2, vector=[1.0, 0.0]),
    )


def _fold(store: Store) -> None:
    memory = row(
        "memories", id=MEMORY, state="active", text=FACT, text_hash=HASH, observation_ids=[MEMORY], session_ids=["session-1"],
        session_id="session-1", lines=[3], category="rules-conventions", confidence=0.9, wordings=[FACT],
    )  # fmt: skip
    write(store, "merges", "all")
    write(store, "memories", "all", memory)


def _propose(store: Store) -> None:
    proposal = row(
        "proposals", proposal_id=PROPOSAL, day=DAY, section="Hard Rules", text=FACT, event_on=DAY, confidence=0.9,
        category="rules-conventions", priority="high", project="shop", memory_id=MEMORY, session_ids=["session-1"],
    )  # fmt: skip
    write(store, "proposals", DAY.isoformat(), proposal)
    decision = row(
        "decisions", proposal_id=PROPOSAL, state="pending", tier=3, reason="a rule needs a person", section="Hard Rules",
        text=FACT, expires_at=START + timedelta(days=7),
    )  # fmt: skip
    write(store, "decisions", "all", decision)
