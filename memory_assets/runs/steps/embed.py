"""Builds vectors, passages, merges, memories, the entity graph and the indexes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from memory_assets.adapters.array_index import ArrayIndex
from memory_assets.adapters.chroma_index import ChromaIndex
from memory_assets.adapters.generations import Generations
from memory_assets.errors import ModelError
from memory_assets.runs.inputs import input_versions, merge_rules, version_until
from memory_assets.runs.results import Builder, Report, Rows, Run, counts_of, per_partition
from memory_assets.runs.steps.condensing import ask_all
from memory_assets.schema.frames import empty
from memory_assets.schema.protocols import Model
from memory_assets.schema.tables import TABLES, WHOLE
from memory_assets.services.models.model_budget import Budget
from memory_assets.services.models.open_models import open_model
from memory_assets.services.search import corpus
from memory_assets.services.search.memory_ids import keep_ids_ready
from memory_assets.stages.distill.model.answers import AnswerStore
from memory_assets.stages.embed import encode, graph, project, session_names, uses
from memory_assets.stages.embed.evidence import EVIDENCE, families_of, plan_evidence
from memory_assets.stages.embed.memories import fold_memories
from memory_assets.stages.embed.mentions import read_mentions
from memory_assets.stages.embed.merge import find_edges
from memory_assets.stages.embed.notes import note_rows, with_notes, without_corrected
from memory_assets.stages.embed.pair_questions import FOLDER, PairQuestion, decide, plan_questions
from memory_assets.stages.embed.present import read_present
from memory_assets.stages.maintain.states import MOVES, fold_states, next_change, with_states
from memory_assets.stages.recall.log import log_recalls
from memory_assets.store.ledger import IGNORED, NOTES, RECALLED, USED, Event
from memory_assets.store.store import Store
from memory_assets.text.files import write_atomically

APPENDED = (*EVIDENCE, USED, IGNORED)
"""Kinds of events that building memories appends to the ledger before it reads it."""

PICTURE_SVG = "graph.svg"


def embeddings(store: Store, run: Run) -> Builder:
    """Encodes the texts of a day that have no vector yet; the first one loads the model.

    If the model fails, the day keeps the vectors that it has, and is tried again after `COOL_DOWN`.
    """
    read = store.tables.read
    notes = notes_of(store)
    now = store.settings.clock()
    versions = input_versions(store, run.table)

    def build(day: str) -> Rows:
        on = date.fromisoformat(day)
        texts = pl.concat([read("observations", [day]), notes.filter(day=on)])
        vectors = read("embeddings", [day])
        failures = read("embedding_failures", [day])
        version = versions.get(day, "-")
        try:
            embedder = corpus.open_embedder(store.settings.embedding_model)
            encoded = encode.encode_day(on, texts, embedder, vectors, failures, now=now)
        except ModelError as error:
            name = Path(store.settings.embedding_model).name
            tables = encode.keep_day(on, texts, vectors, name, now)
            return unencoded(store, tables, version, error)
        until = encode.retry_at(encoded["embedding_failures"])
        return Rows(encoded, version=version_until(version, until))

    return build


def unencoded(
    store: Store, rows: pl.DataFrame | Mapping[str, pl.DataFrame], version: str, error: ModelError
) -> Rows:
    """Returns the rows of a partition for which the embedding model failed: they are built again
    after `COOL_DOWN`.
    """
    until = store.settings.clock() + encode.COOL_DOWN
    return Rows(rows, version=version_until(version, until), warnings=[str(error)])


def notes_of(store: Store) -> pl.DataFrame:
    """Returns facts that come from no session: notes, and the memories that harnesses keep."""
    notes = note_rows(store.ledger.events(NOTES), store.settings.zone)
    return pl.concat([notes, store.tables.read("harness_memories")])


@per_partition
def passages(store: Store, day: str) -> pl.DataFrame:
    """Cuts the messages of a day into passages."""
    messages = store.tables.read("messages", [day])
    return encode.make_passages(date.fromisoformat(day), messages)


def passage_vectors(store: Store, run: Run) -> Builder:
    """Encodes the passages of a day that have no vector yet."""
    read = store.tables.read
    retry = store.settings.clock() + encode.COOL_DOWN
    versions = input_versions(store, run.table)

    def build(day: str) -> Rows:
        messages = read("messages", [day])
        vectors = read("passage_vectors", [day])
        passages = read("passages", [day]).filter(encode.HAS_VECTOR)
        version = versions.get(day, "-")
        try:
            embedder = corpus.open_embedder(store.settings.embedding_model)
            encoded = encode.encode_passages(date.fromisoformat(day), messages, embedder, vectors)
        except ModelError as error:
            earlier = vectors.join(passages, on="text_hash", how="semi")
            return unencoded(store, earlier, version, error)
        missing = passages.join(encoded, on="text_hash", how="anti")
        until = None if missing.is_empty() else retry
        return Rows(encoded, version=version_until(version, until))

    return build


def merges(store: Store, _: Run) -> Builder:
    """Finds pairs of facts that say the same; first asks the configured model about doubtful ones.

    While the vectors of two embedding models are in use, leaves the pairs as they are.
    """
    if corpus.is_switching_models(store):
        edges = store.tables.read("merges")
        until = "once every text has a vector of the new embedding model"
        warnings = [f"Pairs of facts are compared {until}."]
        return lambda _: Rows(edges, version="-", warnings=warnings)
    answers = pair_answers(store)
    model = open_model(store, "reflector")
    waiting = pair_questions_of(store, find_pairs(store), model.name) if model else []
    problem = _ask_about_pairs(store, waiting, model) if model else None
    warnings = [problem] if problem else []

    def build(_: str) -> Rows:
        frame = decide(find_pairs(store), _all_observations(store), answers.every())
        version = merge_rules(store)
        return Rows(frame, {"asked": len(waiting)}, version=version, warnings=warnings)

    return build


def _ask_about_pairs(store: Store, waiting: Sequence[PairQuestion], model: Model) -> str | None:
    """Asks about the pairs, and returns why some have no answer: the rules decide about these."""
    answers = pair_answers(store)
    try:
        ask_all(answers, Budget(store, model.name), model, waiting)
    except ModelError as error:
        return f"Pairs of facts in doubt stay apart: {error}"
    stored = [answers.read_any(question.key) for question in waiting]
    faults = [answer.fault for answer in stored if answer and answer.fault]
    return f"{len(faults)} questions about pairs came to nothing: {faults[0]}" if faults else None


def find_pairs(store: Store) -> pl.DataFrame:
    """Returns the edges by the rules. Compares only new observations, unless the rules changed."""
    written = store.tables.parts("merges").get(WHOLE)
    edges = empty("merges")
    compared: list[str] = []
    if written is not None and written.inputs == merge_rules(store):
        edges = store.tables.read("merges")
        rows = store.tables.read("memories", columns=["observation_ids"])
        compared = rows["observation_ids"].explode().drop_nulls().to_list()
    vectors = corpus.embeddings_in_use(store)
    return find_edges(_all_observations(store), vectors, edges, compared)


def _all_observations(store: Store) -> pl.DataFrame:
    """Returns the observations of sessions, and the notes of the ledger as observations."""
    return with_notes(store.tables.read("observations"), store.ledger.events(NOTES))


def pair_answers(store: Store) -> AnswerStore:
    """Returns the stored answers of models about pairs of facts."""
    return AnswerStore(store.answers / FOLDER)


def pair_questions_of(store: Store, edges: pl.DataFrame, model: str) -> list[PairQuestion]:
    """Returns the open questions to the model about the edges in doubt."""
    observations = _all_observations(store)
    may_send = store.settings.may_send
    return plan_questions(edges, observations, model, pair_answers(store), may_send)


@per_partition
def memories(store: Store, part: str) -> Rows:
    """Folds observations, merges, the ledger and the memories of harnesses into the present
    state.
    """
    # Taken before the tables are read, so that a change meanwhile makes the memories stale.
    version = input_versions(store, TABLES["memories"]).get(part, "-")
    observations = store.tables.read("observations")
    edges = store.tables.read("merges")
    appended = [*append_evidence(store, observations, edges), *append_uses(store)]
    facts = pl.concat([observations, store.tables.read("harness_memories")])
    folded = fold_memories(facts, edges, store.ledger.events())
    frame, changes_at = _with_states(store, folded)
    merged_away = int(frame["merged_count"].sum()) - frame.height
    figures: dict[str, Any] = {"merged_away": merged_away}
    for kind in APPENDED:
        figures[kind.removeprefix("memory.")] = sum(event.kind == kind for event in appended)
    for name in ("confirmed_count", "contradicted_count"):
        figures[name] = counts_of(frame.filter(pl.col(name) > 0), name)
    return Rows(frame, figures, version=version_until(version, changes_at))


def _with_states(store: Store, memories: pl.DataFrame) -> tuple[pl.DataFrame, datetime | None]:
    """Returns the memories with their states, and the moment when the next state may change.

    A state depends on the memory's age, on how often it was recalled, and on events in the ledger.
    """
    recalls = log_recalls(store.ledger.events([RECALLED]), store.settings.zone)
    now = store.settings.clock()
    ttls = store.settings.ttl_days
    zone = store.settings.zone
    states = fold_states(memories, recalls, store.ledger.events(MOVES), now, ttls, zone)
    changes_at = next_change(memories, states, recalls, now, ttls, zone)
    return with_states(memories, states), changes_at


def append_evidence(store: Store, observations: pl.DataFrame, edges: pl.DataFrame) -> list[Event]:
    """Appends confirmations and contradictions of facts to the ledger; returns the new events.

    A session that only repeats what it was shown is no evidence. The messages that could show this
    are read only if such a repeat is possible.
    """
    events = store.ledger.events(EVIDENCE)
    families = families_of(store.tables.read("windows"))
    notes = store.ledger.events(NOTES)
    observations = with_notes(observations, notes)
    edges = without_corrected(edges, notes)
    plan = partial(plan_evidence, observations, edges, events, families)
    planned = plan(())
    possible_echoes = uses.suspects(planned, observations)
    if not possible_echoes.is_empty():
        shown = _messages_by(store, uses.SHOWING, possible_echoes["session_id"])
        echoes = uses.find_echoes(possible_echoes, observations, shown.collect())
        planned = plan(echoes)
    return store.ledger.append_once(planned, actor="rules")


def _messages_by(store: Store, authors: Sequence[str], sessions: Iterable[str]) -> pl.LazyFrame:
    is_theirs = pl.col("author").is_in(authors)
    is_theirs &= pl.col("session_id").is_in({*sessions})
    messages = store.tables.scan("messages").filter(is_theirs)
    return messages.select("session_id", "author", "kind", "event_at", "text")


def append_uses(store: Store) -> list[Event]:
    """Appends to the ledger which of the memories that a session was shown it used.

    Returns the new events.
    """
    recalls = store.ledger.events([RECALLED])
    session_ids = uses.sessions_shown(recalls)
    if not session_ids:
        return []
    spoken = _messages_by(store, encode.SPEAKERS, session_ids)
    texts = spoken.filter(kind="text").collect()
    present = read_present(store.tables, store.ledger)
    wordings = dict(present.select("id", "wordings").iter_rows())
    planned = uses.plan_uses(recalls, wordings, texts)
    return store.ledger.append_once(planned, actor="rules")


@per_partition
def mentions(store: Store, _: str) -> Rows:
    """Finds the names in memories, and in the messages of sessions; only what changed is read
    again.
    """
    written = store.tables.read("mentions")
    is_distilled = pl.col("status") != "older"
    windows = store.tables.read("windows", columns=["session_id", "status"]).filter(is_distilled)
    distilled = store.tables.read("sessions").join(windows, on="session_id", how="semi")
    sessions = session_names.sessions_of(distilled)
    is_read = pl.col("kind").is_in(session_names.READ_KINDS)
    is_read &= pl.col("author").is_in(session_names.READ_AUTHORS)
    messages = store.tables.scan("messages").filter(is_read).sort("event_at", "line")
    beginning = pl.col("text").str.head(2_000)
    texts = messages.select("session_id", "kind", beginning).collect()
    of_sessions = session_names.read_session_mentions(sessions, texts, written)
    frame = read_mentions(store.tables.read("memories"), written, of_sessions, sessions)
    text_key = ["memory_id", "read_from"]
    earlier = written.select(text_key).unique()
    new_mentions = frame.join(earlier, on=text_key, how="anti")
    return Rows(frame, {"memories_read": new_mentions["memory_id"].n_unique()})


@per_partition
def entities(store: Store, _: str) -> pl.DataFrame:
    """Groups mentions into entities."""
    tables = store.tables
    columns = ["id", "project", "first_event_at", "event_at"]
    sessions = session_names.sessions_of(tables.read("sessions")).select(columns)
    sources = pl.concat([tables.read("memories").select(columns), sessions])
    return graph.build_entities(tables.read("mentions"), sources, store.settings.aliases)


@per_partition
def relations(store: Store, _: str) -> Rows:
    """Relates entities, and draws the strongest relations as a picture in the workspace."""
    tables = store.tables
    path = store.workspace / PICTURE_SVG
    entities = tables.read("entities")
    memories = tables.read("memories")
    in_memories = tables.read("mentions").join(
        memories.select(memory_id="id"), on="memory_id", how="semi"
    )
    frame = graph.build_relations(in_memories, entities, memories)
    write_atomically(path, graph.render_picture(entities, frame).encode())
    return Rows(frame, {"picture": path})


@dataclass(frozen=True)
class _Vectors:
    """The memories to index, and the vectors of their texts."""

    memories: pl.DataFrame
    embeddings: pl.DataFrame
    made_by: tuple[str, str] | None
    """Name and version of the embedding model."""


def _read_vectors(store: Store) -> _Vectors:
    embeddings = corpus.embeddings_in_use(store)
    is_retrievable = pl.col("state").is_in(project.RETRIEVABLE)
    retrievable = store.tables.read("memories").filter(is_retrievable)
    indexed = retrievable.join(embeddings, on="text_hash", how="semi")
    return _Vectors(indexed, embeddings, corpus.model_in_use(store))


def vector_index(store: Store, run: Run) -> Report:
    """Publishes a new generation of the vectors of retrievable memories if they changed."""
    with store.lock():
        vectors = _read_vectors(store)
        index = corpus.open_vectors(store)
        model = store.settings.embedding_model
        is_configured = vectors.made_by is None or vectors.made_by[0] == Path(model).name
        update = partial(index.update, model=model if is_configured else "")
        report = _publish_vectors(run, index, vectors, update)
        corpus.open_note_vectors(store).remove(vectors.memories["text_hash"])
        return report


def chroma(store: Store, run: Run) -> Report:
    """Brings Chroma's copy of the vectors up to date; removes it if a Chroma server holds them."""
    with store.lock():
        index = ChromaIndex(store.root / "index")
        if corpus.open_vectors(store).is_remote:
            index.remove()
            return Report()
        return _publish_vectors(run, index, _read_vectors(store), index.update)


def open_chroma(store: Store) -> ChromaIndex:
    """Returns Chroma's copy of the vectors, brought up to date."""
    chroma(store, Run(TABLES["chroma"], [WHOLE], [WHOLE]))
    return ChromaIndex(store.root / "index")


def _publish_vectors(
    run: Run, index: ArrayIndex | ChromaIndex, vectors: _Vectors, update: Callable[..., str]
) -> Report:
    row_hash = project.LABELLED_HASH if index.has_labels else project.TEXT_HASH
    hashes = dict(vectors.memories.select("id", row_hash).iter_rows())
    plan = partial(project.plan_vectors, vectors.memories, vectors.embeddings, row_hash=row_hash)
    return publish_index(index, run, hashes, plan, update, vectors.made_by)


def text_index(store: Store, run: Run) -> Report:
    """Publishes a new generation of the terms of memories and passages if they changed."""
    with store.lock():
        made_by = corpus.model_in_use(store)
        rows = store.tables.read("memories")
        keep_ids_ready(store, rows)
        memories = project.memory_rows(rows)
        heads = corpus.passage_heads(store.tables, made_by)
        hashes = project.hashes_of(memories) | project.hashes_of_heads(heads)

        def plan(published: dict[str, str]) -> project.IndexPlan:
            changed, deletes = project.changes_of(hashes, published)
            changed_heads = project.rows_named(heads, changed)
            passages = corpus.passages_to_index(store.tables, made_by, changed_heads)
            upserts = [project.rows_named(memories, changed), project.passage_rows(passages)]
            return project.IndexPlan(pl.concat(upserts), deletes)

        index = corpus.open_texts(store)
        return publish_index(index, run, hashes, plan, index.update)


def publish_index(
    index: Generations,
    run: Run,
    hashes: dict[str, str],
    plan: Callable[[dict[str, str]], project.IndexPlan],
    update: Callable[..., str],
    made_by: tuple[str, str] | None = None,
) -> Report:
    """Brings the index up to date.

    `hashes` are those of the rows that it should hold. `plan` gets the hashes of the rows that it
    holds and returns the changes, and `update` writes these. If its rows were made by other rules
    or another model (`made_by`), a new index replaces it.
    """
    warnings = _put_damaged_aside(index)
    built_by = [run.table.version, *(made_by or ())]
    indexed = index.noted_rows(built_by)
    changes = plan(indexed)
    if not changes.is_empty or not indexed:
        update(changes.upserts, changes.deletes, rebuild=not indexed)
        index.note_rows(built_by, hashes)
    changed = {"upserted": changes.upserts.height, "deleted": len(changes.deletes)}
    figures = {"rows": len(hashes), **changed, "generation": index.generation() or "-"}
    return Report(figures, warnings)


def _put_damaged_aside(index: Generations) -> list[str]:
    """Moves a damaged generation to quarantine, and returns the warning about it, if any."""
    folder = index.published()
    faults = index.faults(is_deep=index.is_remote)
    if not folder or not faults:
        return []
    index.close()
    index.quarantine(folder)
    return [f"The index in {folder} was damaged ({faults[0]}) and is rebuilt."]


BUILDERS = (
    embeddings, passages, passage_vectors, merges, memories, mentions, entities,
    relations, vector_index, chroma, text_index,
)  # fmt: skip
"""The functions that build the tables of their names (`runs.builders`)."""
