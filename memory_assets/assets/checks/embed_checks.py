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
"""Vectors that Chroma is asked for."""
NEAREST = 5
ROUNDING = 1e-4
"""Of two scores of the same pair."""
LEAST_SHARE = 0.9
"""Of the nearest, that Chroma finds: it searches its graph and does not walk all of it."""


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
    held = store.tables.read("memories", columns=["observation_ids"]).explode("observation_ids")
    observations = store.tables.read("observations", columns=["id"])
    sources = pl.concat([observations, notes_of(store).select("id")])
    return sources.join(held, left_on="id", right_on="observation_ids", how="anti")


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
    pairs = memories.rename({"conflicts_with": "against"}).explode("against").drop_nulls("against")
    both = pairs.join(memories.select(against="id", its_confidence="confidence"), on="against")
    is_surer = pl.col("confidence") > pl.col("its_confidence")
    is_equal = pl.col("confidence") == pl.col("its_confidence")
    once = both.filter(is_surer | (is_equal & (pl.col("id") < pl.col("against"))))
    shown = once.select("id", "against", "confidence", "its_confidence", "state", "project")
    return shown.sort("id", "against")


@check("memories", level="error")
def no_question_replaces_a_statement(store: Store, days: Days) -> pl.DataFrame:
    """No memory is superseded by one that rests on questions alone: a question takes nothing
    back.
    """
    memories = store.tables.read("memories", columns=["id", "superseded_by", "observation_ids"])
    replaced = memories.drop_nulls("superseded_by").select("id", "superseded_by")
    by = memories.filter(pl.col("id").is_in(replaced["superseded_by"].implode()))
    sources = by.select("id", observation_id="observation_ids").explode("observation_id")
    allowed = store.tables.read("observations", columns=["id", "quote", "gate"]).filter(
        gate="allow"
    )
    quotes = sources.join(allowed, left_on="observation_id", right_on="id").select("id", "quote")
    asks = pl.col("quote").map_elements(is_question, return_dtype=pl.Boolean)
    asking = quotes.select("id", asks=asks).group_by("id").agg(pl.col("asks").all())
    by_questions = asking.filter("asks")
    return replaced.join(by_questions, left_on="superseded_by", right_on="id", how="semi")


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
    copy, index = open_chroma(store), open_vectors(store)
    rows = None if index.is_remote else index.open()
    if not rows:
        return verdict(True)
    sample = rows.vectors[:: max(1, len(rows) // ASKED)][:ASKED]
    least = np.array([rows.find(vector, NEAREST)[-1].score for vector in sample])
    scores = np.array([[hit.score for hit in hits] for hits in copy.find(sample, NEAREST)])
    share = float(np.mean(scores >= least[:, np.newaxis] - ROUNDING))
    count = len(copy.ids())
    is_as_exact = count == len(rows) and share >= LEAST_SHARE
    return verdict(is_as_exact, rows=len(rows), in_chroma=count, share_of_nearest=share)


@check("text_index", name="equals_parquet", level="error")
def texts_equal_parquet(store: Store, days: Days) -> dg.AssetCheckResult:
    """The text index holds exactly the retrievable memories."""
    return _compare(set(_retrievable(store)["id"]), open_texts(store).ids("memories"))


def _compare(wanted: set[str], indexed: set[str]) -> dg.AssetCheckResult:
    wrong = [(id, "missing") for id in sorted(wanted - indexed)]
    wrong += [(id, "too many") for id in sorted(indexed - wanted)]
    broken = pl.DataFrame(wrong, ["id", "problem"], orient="row")
    return verdict(not wrong, broken, rows=len(indexed))


@check("mentions")
def memories_exist(store: Store, days: Days) -> pl.DataFrame:
    """Every mention belongs to a memory that exists and is not held."""
    memories = store.tables.read("memories", columns=["id", "state"])
    readable = memories.filter(pl.col("state").is_in(READ_STATES))
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
    ends = ("source_id", "target_id")
    return pl.concat(
        [relations.join(entities, left_on=end, right_on="entity_id", how="anti") for end in ends]
    ).unique()


@check("relations")
def memories_say_so(store: Store, days: Days) -> pl.DataFrame:
    """Every relation cites memories that exist and name its ends."""
    columns = ["source_id", "target_id", "kind", "memory_ids"]
    relations = store.tables.read("relations", columns=columns)
    cited = relations.rename({"memory_ids": "memory_id"}).explode("memory_id")
    mentions = store.tables.read("mentions", columns=["memory_id", "entity_id"]).unique()
    broken = []
    for end, kind in (("source_id", "part_of"), ("target_id", "replaced_by")):
        naming = cited.filter(pl.col("kind").is_in(["mentioned_together", "uses", kind]))
        named = mentions.rename({"entity_id": end})
        broken.append(naming.join(named, on=["memory_id", end], how="anti"))
    return pl.concat(broken).unique()
