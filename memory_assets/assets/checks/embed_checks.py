"""Checks of vectors, memories, the entity graph and the indexes."""

from datetime import date

import dagster as dg
import numpy as np
import polars as pl

from memory_assets.assets.checks.common import Days, check, verdict
from memory_assets.runs.steps.embed import notes_of, open_chroma
from memory_assets.services.search.corpus import embeddings_in_use, open_texts, open_vectors
from memory_assets.stages.embed.encode import HAS_VECTOR
from memory_assets.stages.embed.evidence import EVIDENCE, allowed_facts
from memory_assets.stages.embed.locator import find_orphans
from memory_assets.stages.embed.mentions import READ_STATES
from memory_assets.stages.embed.project import RETRIEVABLE
from memory_assets.stages.embed.repeats import MOST_SHARE, find_repeats
from memory_assets.stages.maintain.faults import is_question
from memory_assets.store.ledger import FORGOTTEN
from memory_assets.store.store import Store

ASKED = 50
"""Number of vectors for which Chroma is asked for the nearest ones."""

NEAREST = 5
"""Number of nearest vectors that are compared for each of these."""

ROUNDING = 1e-4
"""Largest difference between the scores that the arrays and Chroma compute for the same pair."""

LEAST_SHARE = 0.9
"""Chroma searches a graph without visiting all of it, so that it may miss a few of the nearest."""


@check("embeddings")
def every_text_has_a_vector(store: Store, days: Days) -> pl.DataFrame:
    """The text of every observation and note has a vector, or a row that says why not."""
    columns = ["id", "text_hash"]
    read = store.tables.read
    embedded = [date.fromisoformat(day) for day in store.tables.parts("embeddings", days)]
    noted = notes_of(store).filter(pl.col("day").is_in(embedded)).select(columns)
    texts = pl.concat([read("observations", days, columns=columns), noted])
    vectors = read("embeddings", days, columns=["text_hash"])
    failures = read("embedding_failures", days, columns=["text_hash"])
    return texts.join(pl.concat([vectors, failures]).unique(), on="text_hash", how="anti")


@check("embedding_failures", level="warn")
def every_text_can_be_encoded(store: Store, days: Days) -> pl.DataFrame:
    """No text waits for another attempt of the embedding model; until then it is found by its words
    alone.
    """
    return store.tables.read("embedding_failures", days).select(
        "text_hash", "day", "attempts", "problem", "failed_at"
    )


@check("passage_vectors", level="warn")
def every_passage_can_be_encoded(store: Store, days: Days) -> pl.DataFrame:
    """No passage waits for another attempt of the embedding model; until then it is found by its
    words alone.
    """
    columns = ["id", "day", "number", "text_hash"]
    encoded = [date.fromisoformat(day) for day in store.tables.parts("passage_vectors", days)]
    passages = store.tables.read("passages", days, columns=columns)
    vectors = store.tables.read("passage_vectors", days, columns=["text_hash"])
    wanted = passages.filter(HAS_VECTOR, pl.col("day").is_in(encoded))
    return wanted.join(vectors, on="text_hash", how="anti").select("id", "day", "text_hash")


@check("memories")
def nothing_lost(store: Store, days: Days) -> pl.DataFrame:
    """Every observation and every note is part of exactly one memory."""
    memories = store.tables.read("memories", columns=["observation_ids"])
    contained = memories.explode("observation_ids")
    observations = store.tables.read("observations", columns=["id"])
    sources = pl.concat([observations, notes_of(store).select("id")])
    return sources.join(contained, left_on="id", right_on="observation_ids", how="anti")


@check("memories")
def supersession_resolves(store: Store, days: Days) -> pl.DataFrame:
    """The memory that superseded another exists."""
    memories = store.tables.read("memories", columns=["id", "superseded_by"])
    return memories.drop_nulls("superseded_by").join(
        memories.select("id"), left_on="superseded_by", right_on="id", how="anti"
    )


@check("memories", level="warn")
def conflicts_are_settled(store: Store, days: Days) -> pl.DataFrame:
    """No two current memories contradict each other; say which one is true, and it replaces the
    other.

    Returns each pair once, the one with more confidence first.
    """
    columns = ["id", "conflicts_with", "confidence", "state", "project"]
    memories = store.tables.read("memories", columns=columns)
    renamed = memories.rename({"conflicts_with": "against"})
    conflicts = renamed.explode("against").drop_nulls("against")
    others = memories.select(against="id", its_confidence="confidence")
    pairs = conflicts.join(others, on="against")
    is_surer = pl.col("confidence") > pl.col("its_confidence")
    is_equal = pl.col("confidence") == pl.col("its_confidence")
    once = pairs.filter(is_surer | (is_equal & (pl.col("id") < pl.col("against"))))
    columns = ["id", "against", "confidence", "its_confidence", "state", "project"]
    return once.select(columns).sort("id", "against")


@check("memories", level="error")
def no_question_replaces_a_statement(store: Store, days: Days) -> pl.DataFrame:
    """No memory is superseded by one that rests on questions alone: a question takes nothing
    back.
    """
    memories = store.tables.read("memories", columns=["id", "superseded_by", "observation_ids"])
    replaced = memories.drop_nulls("superseded_by").select("id", "superseded_by")
    replacing = memories.filter(pl.col("id").is_in(replaced["superseded_by"].implode()))
    sources = replacing.select("id", observation_id="observation_ids").explode("observation_id")
    observations = store.tables.read("observations", columns=["id", "quote", "gate"])
    allowed = observations.filter(gate="allow")
    quotes = sources.join(allowed, left_on="observation_id", right_on="id")
    asks = pl.col("quote").map_elements(is_question, return_dtype=pl.Boolean)
    asks_only = quotes.select("id", asks=asks).group_by("id").agg(pl.col("asks").all())
    questions = asks_only.filter("asks")
    return replaced.join(questions, left_on="superseded_by", right_on="id", how="semi")


@check("memories", level="warn")
def events_have_a_home(store: Store, days: Days) -> pl.DataFrame:
    """Every confirmation and contradiction in the ledger is about an observation that exists."""
    columns = ["id", "kind", "gate", "event_at", "text_hash", "message_ids"]
    observations = store.tables.read("observations", columns=columns)
    facts = allowed_facts(pl.concat([observations, notes_of(store).select(columns)]))
    forgotten = set[str]()
    for event in store.ledger.events([FORGOTTEN]):
        forgotten.update(event.payload["observation_ids"])
    events = [
        event
        for event in store.ledger.events(EVIDENCE)
        if forgotten.isdisjoint(event.payload["observation_ids"])
    ]
    return find_orphans(facts, events)


@check("memories", level="warn")
def few_repeats(store: Store, days: Days) -> dg.AssetCheckResult:
    """Fewer than {MOST_SHARE:.0%} of the allowed memories repeat the words of another of their
    scope.

    Counts repeats by a measure that shares nothing with merging.
    """
    columns = ["id", "kind", "state", "text", "scope", "project", "person"]
    repeats = find_repeats(store.tables.read("memories", columns=columns))
    pairs = repeats.pairs
    counts = {"share": repeats.share, "pairs": pairs.height, "allowed": repeats.allowed}
    is_few = repeats.share < MOST_SHARE or pairs.is_empty()
    return verdict(is_few, pairs, most=MOST_SHARE, **counts)


def _retrievable(store: Store) -> pl.DataFrame:
    """Returns the memories that an index should hold."""
    return store.tables.read("memories").filter(pl.col("state").is_in(RETRIEVABLE))


@check("vector_index", level="error")
def equals_parquet(store: Store, days: Days) -> dg.AssetCheckResult:
    """The arrays hold exactly the retrievable memories that have a vector of the model in use."""
    hashes = embeddings_in_use(store).select("text_hash").unique()
    memories = _retrievable(store).join(hashes, on="text_hash")
    return _compare(set(memories["id"]), open_vectors(store).ids())


@check("chroma", level="error")
def answers_as_the_arrays(store: Store, days: Days) -> dg.AssetCheckResult:
    """Chroma has as many vectors as the arrays, and finds {LEAST_SHARE:.0%} of the nearest to some.

    Its copy is brought up to date first.
    """
    chroma = open_chroma(store)
    index = open_vectors(store)
    rows = None if index.is_remote else index.open()
    if not rows:
        return verdict(True)
    step = max(1, len(rows) // ASKED)
    sample = rows.vectors[::step][:ASKED]
    # What Chroma finds counts as nearest if it is as near as the last of the true nearest.
    least = np.array([rows.find(vector, NEAREST)[-1].score for vector in sample])
    nearest = chroma.find(sample, NEAREST)
    scores = np.array([[hit.score for hit in hits] for hits in nearest])
    share = float(np.mean(scores >= least[:, np.newaxis] - ROUNDING))
    count = len(chroma.ids())
    is_as_exact = count == len(rows) and share >= LEAST_SHARE
    return verdict(is_as_exact, rows=len(rows), in_chroma=count, share_of_nearest=share)


@check("text_index", name="equals_parquet", level="error")
def texts_equal_parquet(store: Store, days: Days) -> dg.AssetCheckResult:
    """The text index holds exactly the retrievable memories."""
    return _compare(set(_retrievable(store)["id"]), open_texts(store).ids("memories"))


def _compare(memory_ids: set[str], indexed_ids: set[str]) -> dg.AssetCheckResult:
    """Returns the ids that an index lacks, and those that it has too many."""
    wrong = [(id, "missing") for id in sorted(memory_ids - indexed_ids)]
    wrong += [(id, "too many") for id in sorted(indexed_ids - memory_ids)]
    broken = pl.DataFrame(wrong, ["id", "problem"], orient="row")
    return verdict(not wrong, broken, rows=len(indexed_ids))


@check("mentions")
def memories_exist(store: Store, days: Days) -> pl.DataFrame:
    """Every mention belongs to a session, or to a memory that exists and is not held."""
    memories = store.tables.read("memories", columns=["id", "state"])
    readable = memories.filter(pl.col("state").is_in(READ_STATES)).select("id")
    sessions = store.tables.read("sessions", columns=["session_id"]).select(id="session_id")
    readable = pl.concat([readable, sessions])
    mentions = store.tables.read("mentions", columns=["memory_id", "kind", "entity_id"])
    return mentions.join(readable, left_on="memory_id", right_on="id", how="anti")


@check("entities")
def named_by_mentions(store: Store, days: Days) -> pl.DataFrame:
    """Every mention has its entity, and every entity a mention."""
    mentioned = store.tables.read("mentions", columns=["entity_id"])
    entities = store.tables.read("entities", columns=["entity_id"])
    without_entity = mentioned.join(entities, on="entity_id", how="anti")
    without_mention = entities.join(mentioned, on="entity_id", how="anti")
    return pl.concat([without_entity, without_mention])


@check("relations")
def ends_exist(store: Store, days: Days) -> pl.DataFrame:
    """Both ends of every relation exist."""
    relations = store.tables.read("relations", columns=["source_id", "target_id", "kind"])
    entities = store.tables.read("entities", columns=["entity_id"])
    broken = [
        relations.join(entities, left_on=end, right_on="entity_id", how="anti")
        for end in ("source_id", "target_id")
    ]
    return pl.concat(broken).unique()


@check("relations")
def memories_say_so(store: Store, days: Days) -> pl.DataFrame:
    """Every relation cites memories that exist and name its ends."""
    columns = ["source_id", "target_id", "kind", "memory_ids"]
    relations = store.tables.read("relations", columns=columns)
    cited = relations.rename({"memory_ids": "memory_id"}).explode("memory_id")
    mentions = store.tables.read("mentions", columns=["memory_id", "entity_id"]).unique()
    broken = []
    # The memories of a relation `part_of` need not name its target, nor those of `replaced_by` its
    # source.
    for end, kind in (("source_id", "part_of"), ("target_id", "replaced_by")):
        must_name = pl.col("kind").is_in(["mentioned_together", "uses", kind])
        named = mentions.rename({"entity_id": end})
        broken.append(cited.filter(must_name).join(named, on=["memory_id", end], how="anti"))
    return pl.concat(broken).unique()
