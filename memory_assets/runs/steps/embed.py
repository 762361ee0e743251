"""Builds vectors, passages, merges, memories, the entity graph and the two indexes."""

import json
from datetime import date
from pathlib import Path

import polars as pl

from memory_assets.runs.inputs import merge_rules
from memory_assets.runs.materialise import Builder, Report, Rows, Run
from memory_assets.schema.frames import empty
from memory_assets.schema.tables import WHOLE
from memory_assets.services.corpus import open_embedder, open_texts, open_vectors, passages_to_index
from memory_assets.stages.embed.echoes import SHOWING, find_echoes, suspects
from memory_assets.stages.embed.encode import encode_day
from memory_assets.stages.embed.evidence import EVIDENCE, families_of, plan_evidence
from memory_assets.stages.embed.graph import build_entities, build_relations
from memory_assets.stages.embed.harness_memories import with_harness_memories
from memory_assets.stages.embed.memories import fold_memories
from memory_assets.stages.embed.mentions import read_mentions
from memory_assets.stages.embed.merge import find_edges
from memory_assets.stages.embed.notes import note_rows, with_notes, without_corrected
from memory_assets.stages.embed.overlay import read_present
from memory_assets.stages.embed.passages import make_passages
from memory_assets.stages.embed.picture import render_picture
from memory_assets.stages.embed.project import RETRIEVABLE, IndexPlan, hashes_of, plan_texts, plan_vectors, text_rows
from memory_assets.stages.embed.uses import OWN_WORDS, plan_uses, sessions_shown
from memory_assets.store.ledger import IGNORED, NOTES, RECALLED, USED, Event
from memory_assets.store.store import Store
from memory_assets.text.files import write_atomically, write_json

HEARD = (*EVIDENCE, USED, IGNORED)
"""Kinds of events that building memories appends to the ledger before it reads it."""

PICTURE_SVG = "graph.svg"


def embeddings(run: Run) -> Builder:
    """Encodes the texts of a day that have no vector yet; the model is loaded when the first is encoded."""
    store = run.store
    embedder, notes = open_embedder(store.settings.embedding_model), notes_of(store)

    def build(day: str) -> pl.DataFrame:
        on = date.fromisoformat(day)
        texts = pl.concat([store.tables.read("observations", [day]), notes.filter(pl.col("day") == on)])
        return encode_day(on, texts, embedder, store.tables.read("embeddings", [day]))

    return build


def notes_of(store: Store) -> pl.DataFrame:
    """Returns what no session said: notes, and what harnesses remember."""
    noted = note_rows(store.ledger.events(NOTES), store.settings.zone)
    return with_harness_memories(noted, store.tables.read("harness_memories"))


def passages(run: Run) -> Builder:
    """Cuts the messages of a day into passages and encodes them."""
    tables, embedder = run.store.tables, open_embedder(run.store.settings.embedding_model)
    return lambda day: make_passages(
        date.fromisoformat(day), tables.read("messages", [day]), embedder, tables.read("passages", [day])
    )


def merges(run: Run) -> Builder:
    """Finds pairs that say the same; only new observations are compared, unless the rules changed."""
    store = run.store

    def build(_: str) -> Rows:
        present, rules = store.tables.parts("merges").get(WHOLE), merge_rules(store)
        is_current = present is not None and present.inputs == rules
        compared = store.tables.read("memories", columns=["observation_ids"])["observation_ids"].explode().drop_nulls()
        frame = find_edges(
            with_notes(store.tables.read("observations"), store.ledger.events(NOTES)),
            store.tables.read("embeddings"),
            store.tables.read("merges") if is_current else empty("merges"),
            compared.to_list() if is_current else (),
        )
        return Rows(frame, version=rules)

    return build


def memories(run: Run) -> Builder:
    """Folds observations, merges, the ledger and what harnesses remember into the present state."""
    store = run.store

    def build(_: str) -> Rows:
        observations, edges = store.tables.read("observations"), store.tables.read("merges")
        heard = [*note_evidence(store, observations, edges), *note_uses(store)]
        remembered = store.tables.read("harness_memories")
        frame = fold_memories(with_harness_memories(observations, remembered), edges, store.ledger.events())
        counts = {kind.removeprefix("memory."): sum(event.kind == kind for event in heard) for kind in HEARD}
        spread = {column: _spread(frame, column) for column in ("confirmed_count", "contradicted_count")}
        return Rows(frame, {"merged_away": int(frame["merged_count"].sum()) - frame.height, **counts, **spread})

    return build


def note_evidence(store: Store, observations: pl.DataFrame, edges: pl.DataFrame) -> list[Event]:
    """Appends to the ledger what sources confirm and contradict, each once, and returns the new events."""
    events, families = store.ledger.events(EVIDENCE), families_of(store.tables.read("windows"))
    told = store.ledger.events(NOTES)
    observations, edges = with_notes(observations, told), without_corrected(edges, told)
    planned = plan_evidence(observations, edges, events, families)
    doubted = suspects(planned, observations)
    if not doubted.is_empty():
        sessions = doubted["session_id"].unique().sort().to_list()
        shown = store.tables.scan("messages").select("session_id", "author", "event_at", "text")
        shown = shown.filter(pl.col("session_id").is_in(sessions) & pl.col("author").is_in(SHOWING)).collect()
        planned = plan_evidence(observations, edges, events, families, find_echoes(doubted, observations, shown))
    return store.ledger.append_once(planned, actor="rules")


def note_uses(store: Store) -> list[Event]:
    """Appends to the ledger which memories sessions used after they had been shown them, and returns the new events."""
    recalls = store.ledger.events([RECALLED])
    shown = sessions_shown(recalls)
    if not shown:
        return []
    said = store.tables.scan("messages").filter(pl.col("session_id").is_in(sorted(shown)) & (pl.col("kind") == "text"))
    own = said.filter(pl.col("author").is_in(OWN_WORDS)).select("session_id", "author", "event_at", "text").collect()
    known = read_present(store.tables, store.ledger)
    wordings = dict(known.select("id", "wordings").iter_rows())
    return store.ledger.append_once(plan_uses(recalls, wordings, own), actor="rules")


def _spread(frame: pl.DataFrame, column: str) -> dict[str, int]:
    """Returns how many memories have each count above zero."""
    counted = frame.filter(pl.col(column) > 0).with_columns(pl.col(column).cast(pl.String))
    return dict(counted.group_by(column).len().sort(column).iter_rows())


def mentions(run: Run) -> Builder:
    """Finds the names in memories; only memories whose words changed are read again."""
    tables = run.store.tables

    def build(_: str) -> Rows:
        known = tables.read("mentions")
        frame = read_mentions(tables.read("memories"), known)
        read = frame.join(known.select("memory_id", "read_from").unique(), on=["memory_id", "read_from"], how="anti")
        return Rows(frame, {"memories_read": read["memory_id"].n_unique()})

    return build


def entities(run: Run) -> Builder:
    """Groups mentions into entities."""
    tables, aliases = run.store.tables, run.store.settings.aliases
    return lambda _: build_entities(tables.read("mentions"), tables.read("memories"), aliases)


def relations(run: Run) -> Builder:
    """Relates entities, and draws the strongest relations as a picture in the workspace."""
    store = run.store

    def build(_: str) -> Rows:
        named = store.tables.read("entities")
        found = build_relations(store.tables.read("mentions"), named, store.tables.read("memories"))
        path = store.workspace / PICTURE_SVG
        write_atomically(path, render_picture(named, found).encode())
        return Rows(found, {"picture": path})

    return build


def vector_index(run: Run) -> Report:
    """Publishes a new generation of the vectors of retrievable memories, where they changed."""
    store = run.store
    with store.lock():
        index, kept = open_vectors(store), _Kept(store.root / "index" / "vectors.json", run.table.version)
        found = store.tables.read("memories")
        published = kept.read(index.generation())
        plan = plan_vectors(found, store.tables.read("embeddings"), published)
        wanted = found.filter(pl.col("state").is_in(RETRIEVABLE)).select("id", "text_hash")
        return _publish(index, kept, plan, dict(wanted.iter_rows()), rebuild=not published)


def text_index(run: Run) -> Report:
    """Publishes a new generation of the terms of memories and passages, where they changed."""
    store = run.store
    with store.lock():
        index, kept = open_texts(store), _Kept(store.root / "index" / "texts.json", run.table.version)
        rows = text_rows(store.tables.read("memories"), passages_to_index(store.tables))
        published = kept.read(index.generation())
        return _publish(index, kept, plan_texts(rows, published), hashes_of(rows), rebuild=not published)


class _Kept:
    """Beside a published generation: the hashes of its rows; empty for another generation or version."""

    def __init__(self, path: Path, version: str) -> None:
        self._path, self._version = path, version

    def read(self, generation: str | None) -> dict[str, str]:
        if generation is None or not self._path.is_file():
            return {}
        known = json.loads(self._path.read_text())
        return known["rows"] if (known["generation"], known.get("version")) == (generation, self._version) else {}

    def write(self, generation: str, rows: dict[str, str]) -> None:
        write_json(self._path, {"generation": generation, "version": self._version, "rows": rows})


def _publish(index, kept: _Kept, plan: IndexPlan, rows: dict[str, str], *, rebuild: bool) -> Report:
    if not plan.is_empty or rebuild:
        kept.write(index.update(plan.upserts, plan.deletes, rebuild=rebuild), rows)
    changed = {"upserted": plan.upserts.height, "deleted": len(plan.deletes)}
    return Report({"rows": len(rows), **changed, "generation": index.generation() or "-"})
