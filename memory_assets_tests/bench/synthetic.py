"""Stores of any size for measuring recall: memories in a developer's words, with the messages and narratives behind them.

Texts are drawn from a seed: patterns of sentences whose gaps are filled from a topic's own words, so that the vocabulary grows
with the store as that of real text does, and common words are in most texts. Each topic's centre is what the model makes of one
of its sentences, and a memory's vector lies near one or two of them. Everything goes through the real tables and indexes.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from random import Random

import numpy as np
import polars as pl

from memory_assets.adapters.local_embedder import LocalEmbedder
from memory_assets.schema import frames as schemas
from memory_assets.services.search.corpus import open_texts, open_vectors, passages_to_index
from memory_assets.services.search.memory_ids import keep_ids_ready
from memory_assets.stages.embed.project import plan_vectors
from memory_assets.store.store import Store
from memory_assets_tests.factories import row
from memory_assets_tests.text_rows import text_rows

TOPICS = 300
WORDS_OF_TOPIC = 60
PER_SESSION = 20
AT_ONCE = 100_000
"""Rows of a partition: a multiple of those of a session."""

SPREAD = 0.6
"""Length of the random part beside a centre's; texts of one topic then have a cosine of about 0.7."""
FIRST = datetime(2026, 1, 1, tzinfo=UTC)
MINUTES = 300_000
"""What the store spans: seven months, so that decay has something to do."""
LAST = FIRST + timedelta(minutes=MINUTES)

_SYLLABLES = "ba co di fer gra hu jo ka lin mo nar pel qua ro sta tri ul ver win xo yam zen".split()
_PATTERNS = (
    "We use {a} for the {b}, never {c}, because the {d} needs it.",
    "The {a} of {b} listens on port {port} and reads {path}.",
    "Run `{flag}` before you change the {a}; otherwise the {b} {c} fails.",
    "Decided to move the {a} from {b} to {c} in version {version}.",
    "{a} broke after the upgrade to {version}: {name} was called with the wrong {b}.",
    "Always check {path} when the {a} is slow, it is usually the {b}.",
    "I prefer {a} over {b} in the {c} and want the tests of {name} to stay small.",
    "The fix for the {a} was to restart {b} with {flag} and clear the {c} cache.",
    "Every night at {hour}:30 the {a} copies the {b} to {path}.",
    "Do not touch {name} in {path}; the {a} team owns it until the {b} is done.",
    "What the {a} returns is cached for {port} seconds in {b}, so the {c} can lag behind.",
    "{name} now validates the {a} and raises an error when the {b} has no {c}.",
)
_QUESTIONS = (
    "Which port does the {a} of {b} listen on?",
    "How do we run the {a} with {b}?",
    "why did {a} break after the upgrade of {b}",
    "What should I check when the {a} is slow and the {b} fails?",
    "do we use {a} or {c} for the {b}",
    "where is {name} called with the {a}",
)


@dataclass(frozen=True)
class Topics:
    """What texts are about: words of each topic, and the vector of its centre."""

    words: list[list[str]]
    centres: np.ndarray


def make_topics(random: Random, embedder: LocalEmbedder, count: int = TOPICS) -> Topics:
    """Returns the topics, with centres made by the model."""
    words = [[made_word(random) for _ in range(WORDS_OF_TOPIC)] for _ in range(count)]
    return Topics(
        words,
        np.stack([embedder.encode_query(fill_pattern(random, _PATTERNS, own)) for own in words]),
    )


def questions(random: Random, topics: Topics, count: int) -> list[str]:
    """Returns questions about the topics."""
    return [fill_pattern(random, _QUESTIONS, random.choice(topics.words)) for _ in range(count)]


def fill(store: Store, count: int, topics: Topics, seed: int) -> None:
    """Writes that many memories, a message behind each, a narrative for each session, and builds both indexes.

    Rows are written `AT_ONCE` at a time, each time as one day.
    """
    random, numbers = Random(seed), np.random.default_rng(seed)
    about = np.array([random.randrange(len(topics.words)) for _ in range(count)])
    texts = [fill_pattern(random, _PATTERNS, topics.words[one]) for one in about]
    minutes = np.sort(numbers.integers(0, MINUTES, size=count))
    said = pl.DataFrame(
        {
            "text": texts,
            "text_hash": [hashlib.sha256(text.encode()).hexdigest() for text in texts],
            "event_at": np.datetime64(FIRST.replace(tzinfo=None), "us")
            + minutes.astype("timedelta64[m]"),
        }
    ).with_columns(pl.col("event_at").dt.replace_time_zone("UTC"), number=pl.int_range(count))
    del texts
    said = said.with_columns(
        session_id=pl.format(
            "ses_{}", (pl.col("number") // PER_SESSION).cast(pl.String).str.zfill(6)
        ),
        line=pl.col("number") % PER_SESSION,
        is_first=pl.col("text_hash").is_first_distinct(),
    )
    _write_memories(store, said, random)
    _write_windows(store, said)
    for place, start in enumerate(range(0, count, AT_ONCE)):
        part, day = said[start : start + AT_ONCE], FIRST.date() + timedelta(days=place)
        near = _near(numbers, topics.centres, about[start : start + AT_ONCE])
        _write_raw(store, part, day)
        _write_vectors(
            store, part.with_columns(pl.Series("vector", near).cast(pl.List(pl.Float32))), day
        )
    del said
    _index(store)


def _write_memories(store: Store, said: pl.DataFrame, random: Random) -> None:
    categories = [
        "rules-conventions",
        "operations",
        "projects",
        "preferences",
        "system-architecture",
    ]
    held = [
        random.choices(("active", "held", "superseded"), (90, 5, 5))[0] for _ in range(said.height)
    ]
    write_part(
        store,
        "memories",
        said,
        id=pl.col("number").cast(pl.String).str.zfill(12),
        state=pl.Series(held),
        wordings=pl.concat_list("text"),
        observation_ids=pl.concat_list(pl.col("number").cast(pl.String).str.zfill(12)),
        session_ids=pl.concat_list("session_id"),
        merged_count=pl.lit(1),
        category=pl.Series([random.choice(categories) for _ in held]),
        priority=pl.Series([random.choice(["high", "medium", "low"]) for _ in held]),
        confidence=pl.lit(0.8),
        project=pl.Series([random.choice(["shop", "blog", "infra"]) for _ in held]),
        person=pl.lit("mira"),
        first_event_at=pl.col("event_at"),
        path=pl.format("/home/mira/{}.jsonl", "session_id"),
        lines=pl.concat_list("line"),
    )


def _write_windows(store: Store, said: pl.DataFrame) -> None:
    sessions = (
        said.group_by("session_id", maintain_order=True)
        .first()
        .with_columns(day=pl.col("event_at").dt.date())
    )
    write_part(
        store,
        "windows",
        sessions,
        window_id=_id("w", PER_SESSION),
        path=pl.format("/home/mira/{}.jsonl", "session_id"),
    )


def _write_raw(store: Store, said: pl.DataFrame, day: date) -> None:
    said = said.with_columns(day=pl.lit(day))
    write_part(
        store,
        "messages",
        said,
        message_id=_id("msg"),
        window_id=_id("w", PER_SESSION),
        author=pl.lit("owner"),
        kind=pl.lit("text"),
    )
    sessions = said.group_by("session_id", maintain_order=True).first()
    spoken = said.with_columns(message_id=_id("msg"), window_id=_id("w", PER_SESSION))
    write_part(
        store,
        "passages",
        spoken,
        id=pl.format("{}#0", "message_id"),
        author=pl.lit("owner"),
        number=pl.lit(0),
        char_to=pl.col("text").str.len_chars(),
    )
    write_part(
        store,
        "segments",
        sessions,
        segment_id=_id("seg"),
        window_id=_id("w", PER_SESSION),
        narrative=pl.col("text"),
        started_at=pl.col("event_at"),
        ended_at=pl.col("event_at"),
    )


def _write_vectors(store: Store, said: pl.DataFrame, day: date) -> None:
    distinct = said.filter("is_first").with_columns(day=pl.lit(day))
    write_part(store, "embeddings", distinct, dimension=pl.col("vector").list.len())
    write_part(store, "passage_vectors", distinct)


def _index(store: Store) -> None:
    memories, vectors = store.tables.read("memories"), open_vectors(store)
    upserts = plan_vectors(
        memories, store.tables.read("embeddings", columns=["text_hash", "dimension", "vector"]), {}
    ).upserts
    vectors.update(upserts, [], rebuild=True)
    del upserts
    keep_ids_ready(store, memories)
    rows = text_rows(memories, passages_to_index(store.tables))
    del memories
    open_texts(store).update(rows, [], rebuild=True)


def write_part(
    store: Store, table: str, said: pl.DataFrame, **columns: pl.Expr | pl.Series
) -> None:
    """Writes one part of the table: the columns given, what `said` has of the others, and plain values for the rest."""
    schema = schemas.schema_of(table)
    plain = {
        name: pl.lit(value, dtype=schema[name])
        for name, value in row(table).items()
        if name not in said.columns
    }
    frame = said.with_columns(**{**plain, **columns})
    part = str(said["day"][0]) if schemas.partitioned_by(table) else "all"
    store.tables.write(
        table,
        part,
        frame.select(pl.col(name).cast(kind) for name, kind in schema.items()),
        inputs="bench",
    )


def _id(kind: str, per: int = 1) -> pl.Expr:
    return pl.format(kind + "_{}", (pl.col("number") // per).cast(pl.String).str.zfill(12))


def _near(numbers: np.random.Generator, centres: np.ndarray, about: np.ndarray) -> np.ndarray:
    other = numbers.integers(len(centres), size=len(about))
    share = numbers.uniform(0.0, 0.5, size=(len(about), 1))
    mixed = (1 - share) * centres[about] + share * centres[other]
    return _unit(mixed + SPREAD * _unit(numbers.standard_normal(mixed.shape))).astype(np.float32)


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def fill_pattern(random: Random, patterns: Sequence[str], own: Sequence[str]) -> str:
    """Returns one of the patterns with its gaps filled from the words of a topic."""
    return random.choice(patterns).format(
        **{gap: _of_topic(random, own) for gap in "abcd"},
        port=random.randrange(1_000, 65_000),
        hour=random.randrange(24),
        version=f"{random.randrange(9)}.{random.randrange(30)}.{random.randrange(30)}",
        path=f"{_of_topic(random, own)}/{_of_topic(random, own)}_{random.randrange(900)}.py",
        flag=f"{_of_topic(random, own)} --{_of_topic(random, own)}",
        name=f"{_of_topic(random, own)}{made_word(random).title()}",
    )


def _of_topic(random: Random, own: Sequence[str]) -> str:
    """Returns a word of the topic, the first ones far more often, as in real text."""
    return own[min(int(random.paretovariate(0.7)) - 1, len(own) - 1)]


def made_word(random: Random) -> str:
    """Returns a word that no language has."""
    return "".join(random.choices(_SYLLABLES, k=random.randrange(2, 5)))
