"""Encodes the texts of a day: those of observations, and the passages that its messages are cut
into.

Each distinct text is encoded once; earlier vectors are reused by the hash of their text. Messages
are cut into passages, because one vector for a long message is near to no question. Only what
people and assistants say is cut, not tool calls and outputs. A passage has the role of its message:
a turn of the owner, the answer that ends the assistant's turn, or a step before the answer.

If the model cannot encode a text, the other texts still get their vectors. The failed text is found
by its words alone, until it is tried again after `COOL_DOWN`. Texts of high priority are encoded
first, then the newest. If no text at all can be encoded, an error is raised.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, TypeVar

import numpy as np
import polars as pl

from memory_assets.errors import ModelError
from memory_assets.schema import frames as schemas
from memory_assets.schema.protocols import Embedder, Read
from memory_assets.text.sentences import CALL

Encoded = TypeVar("Encoded")

PASSAGE_CHARS = 500
"""About 125 tokens, half of what MiniLM reads. On questions about labelled sessions single
sentences found less, and whole messages much less."""

MOST_VECTORS = 24
"""Most passages of one message that get a vector; later ones are found by their words."""

HAS_VECTOR = pl.col("number") < MOST_VECTORS

COOL_DOWN = timedelta(minutes=5)
"""Least time until a text that could not be encoded is tried again (DUET)."""

BATCH = 256
"""Texts that are encoded together; a failure does not affect earlier batches."""

SPEAKERS = ("owner", "assistant", "subagent")

_IS_OWNERS = pl.col("author") == "owner"
_ABOVE_CALLS = pl.col("text").str.replace(rf"(?s)(?:^|\n){re.escape(CALL)}.*", "")
SAID = pl.when(_IS_OWNERS).then("text").otherwise(_ABOVE_CALLS)
"""The text of a message, an assistant's without the tool calls below it."""

_BREAK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*•]|\d+[.)])\s)")


def encode_day(
    day: date,
    observations: pl.DataFrame,
    embedder: Embedder,
    earlier: pl.DataFrame | None = None,
    failures: pl.DataFrame | None = None,
    *,
    now: datetime,
) -> dict[str, pl.DataFrame]:
    """Returns the tables `embeddings` and `embedding_failures` of the day's texts.

    `earlier` has rows of `embeddings` to reuse, `failures` the earlier rows of the other table.
    """
    texts = _by_rank(observations)
    is_by_model = is_made_by(embedder.name, embedder.version)
    vectors = _reusable(earlier, embedder, "vector")
    failed = [] if failures is None else failures.filter(is_by_model).to_dicts()
    cooling = {row["text_hash"] for row in failed if now - row["failed_at"] < COOL_DOWN}
    settled = vectors.keys() | cooling
    due = [text_hash for text_hash in texts if text_hash not in settled]
    encoded, problems = _encode_each(embedder.encode, texts, due)
    vectors |= {text_hash: (vector.tolist(),) for text_hash, vector in encoded.items()}
    common = {"day": day, "model": embedder.name, "model_version": embedder.version}
    rows = []
    for text_hash in sorted(texts.keys() & vectors.keys()):
        (vector,) = vectors[text_hash]
        row = {"text_hash": text_hash, "dimension": len(vector), "vector": vector}
        rows.append(row | common)
    still_cooling = cooling & texts.keys() - vectors.keys()
    failing = [row for row in failed if row["text_hash"] in still_cooling]
    attempts = {row["text_hash"]: row["attempts"] for row in failed}
    for text_hash, problem in problems.items():
        outcome = {"attempts": attempts.get(text_hash, 0) + 1, "problem": problem}
        failing.append({"text_hash": text_hash, **common, "failed_at": now, **outcome})
    failing.sort(key=lambda row: (row["text_hash"] not in still_cooling, row["text_hash"]))
    return {
        "embedding_failures": schemas.frame_of("embedding_failures", failing),
        "embeddings": schemas.frame_of("embeddings", rows),
    }


def keep_day(
    day: date, observations: pl.DataFrame, embeddings: pl.DataFrame, model: str, now: datetime
) -> dict[str, pl.DataFrame]:
    """Returns the tables of a day for which the model cannot be used: the vectors that it has, and
    a failure for each text without one.
    """
    texts = observations.select("text_hash").unique().sort("text_hash")
    missing = texts.join(embeddings, on="text_hash", how="anti")["text_hash"]
    common = {"day": day, "model": model, "model_version": "", "failed_at": now}
    outcome = {"attempts": 1, "problem": "ModelError"}
    rows = [{"text_hash": text_hash, **common, **outcome} for text_hash in missing]
    return {
        "embedding_failures": schemas.frame_of("embedding_failures", rows),
        "embeddings": embeddings.join(texts, on="text_hash", how="semi"),
    }


def _by_rank(observations: pl.DataFrame) -> dict[str, str]:
    """Returns the distinct texts by their hash: high priority first, then the newest."""
    is_low = pl.col("priority") != "high"
    ranked = observations.sort(is_low, pl.col("event_at").dt.epoch("us").neg(), "id")
    distinct = ranked.unique("text_hash", keep="first", maintain_order=True)
    return dict(distinct.select("text_hash", "text").iter_rows())


def retry_at(failures: pl.DataFrame) -> datetime | None:
    """Returns when the first failed text may be tried again; None if no text failed."""
    first = failures["failed_at"].min()
    return first + COOL_DOWN if isinstance(first, datetime) else None


def _encode_each(
    encode: Callable[[list[str]], Iterable[Encoded]],
    texts: Mapping[str, str],
    hashes: Sequence[str],
) -> tuple[dict[str, Encoded], dict[str, str]]:
    """Returns the result of each text, and the problem of each text that cannot be encoded.

    Raises `ModelError` if several texts are given and none can be encoded.
    """
    encoded: dict[str, Encoded] = {}
    problems: dict[str, str] = {}
    cause = None
    batches = [list(hashes[start : start + BATCH]) for start in range(0, len(hashes), BATCH)]
    while batches:
        batch = batches.pop(0)
        try:
            results = encode([texts[text_hash] for text_hash in batch])
            encoded |= dict(zip(batch, results, strict=True))
        except ModelError:
            raise
        except Exception as error:
            # A failing batch is halved until the texts at fault are alone.
            cause = error
            half = len(batch) // 2
            if half:
                batches[:0] = [batch[:half], batch[half:]]
            else:
                problems[batch[0]] = type(error).__name__
    for text_hash in [*encoded]:
        if not _is_usable(encoded[text_hash]):
            del encoded[text_hash]
            problems[text_hash] = "no usable vector"
    if len(problems) > 1 and not encoded:
        reason = cause or "no vector is usable"
        raise ModelError(f"Cannot encode any of {len(problems)} texts: {reason}.") from cause
    return encoded, problems


def _is_usable(result: Any) -> bool:
    """Returns whether the vector has finite numbers and a direction."""
    vector = result.vector if isinstance(result, Read) else result
    return bool(np.isfinite(vector).all() and np.any(vector))


def _reusable(
    earlier: pl.DataFrame | None, embedder: Embedder, *columns: str
) -> dict[str, tuple[Any, ...]]:
    """Returns the columns of the rows that the same model made, by the hashes of their texts."""
    if earlier is None:
        return {}
    is_by_model = is_made_by(embedder.name, embedder.version)
    same = earlier.filter(is_by_model).drop_nulls(columns)
    rows = same.select("text_hash", *columns).iter_rows()
    return {text_hash: tuple(values) for text_hash, *values in rows}


def is_made_by(model: str, version: str) -> pl.Expr:
    """Returns whether that model made the vector of a row."""
    return (pl.col("model") == model) & (pl.col("model_version") == version)


def matrix_of(text_hashes: pl.Series, embeddings: pl.DataFrame) -> np.ndarray:
    """Returns the vectors of the texts, float32, shape (texts, dimension).

    The row of a text without a vector is zero.
    """
    distinct = embeddings
    # Without duplicates, nothing is copied.
    if embeddings["text_hash"].is_duplicated().any():
        distinct = embeddings.unique("text_hash", keep="first", maintain_order=True)
    if distinct.is_empty():
        return np.zeros((len(text_hashes), 1), dtype=np.float32)
    dimension = int(distinct["dimension"][0])
    stacked = distinct["vector"].explode().to_numpy().reshape(-1, dimension)
    rows = distinct.select("text_hash").with_row_index("row")
    texts = pl.DataFrame({"text_hash": text_hashes})
    places = texts.join(rows, on="text_hash", how="left", maintain_order="left")["row"]
    vectors = stacked[places.fill_null(0).to_numpy()].astype(np.float32, copy=False)
    vectors[places.is_null().to_numpy()] = 0.0
    return vectors


def spoken(messages: pl.DataFrame) -> pl.DataFrame:
    """Returns the messages of people and assistants, each with its role in the turn, in order."""
    is_speech = pl.col("author").is_in(SPEAKERS) & (pl.col("text").str.len_chars() > 0)
    said = messages.filter(kind="text").with_columns(text=SAID)
    speech = said.filter(is_speech).sort("window_id", "ordinal")
    next_author = pl.col("author").shift(-1).over("window_id")
    ends_turn = next_author.is_null() | (next_author == "owner")
    role = pl.when(_IS_OWNERS).then(pl.lit("turn")).when(ends_turn)
    return speech.with_columns(role=role.then(pl.lit("answer")).otherwise(pl.lit("step")))


def cut_spans(text: str, longest: int = PASSAGE_CHARS) -> list[tuple[int, int]]:
    """Returns the spans of the passages, in order.

    Short paragraphs and list items are joined; long ones are cut at a space.
    """
    spans: list[tuple[int, int]] = []
    for start, end in _pieces(text, longest):
        if spans and end - spans[-1][0] <= longest:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def _pieces(text: str, longest: int) -> Iterator[tuple[int, int]]:
    start = 0
    for end in (*(match.start() for match in _BREAK.finditer(text)), len(text)):
        yield from _cut_long(text, start, end, longest)
        start = end


def _cut_long(text: str, start: int, end: int, longest: int) -> Iterator[tuple[int, int]]:
    while start < end:
        if text[start].isspace():
            start += 1
            continue
        cut = end
        if end - start > longest:
            space = text.rfind(" ", start + longest // 2, start + longest)
            cut = space if space > 0 else start + longest
        yield start, cut
        start = cut


def cut_messages(messages: pl.DataFrame) -> pl.DataFrame:
    """Returns the passages of the messages with their text, without vectors."""
    rows = [
        {
            **{name: row[name] for name in _OF_THE_MESSAGE},
            "id": f"{row['message_id']}#{number}",
            "number": number,
            "char_from": start,
            "char_to": end,
            "text": row["text"][start:end],
        }
        for row in spoken(messages).iter_rows(named=True)
        for number, (start, end) in enumerate(cut_spans(row["text"]))
    ]
    kinds = schemas.schema_of("passages").items()
    schema = {name: kind for name, kind in kinds if name in _CUT}
    return pl.DataFrame(rows, schema={**schema, "text": pl.String}, orient="row")


_OF_THE_MESSAGE = "message_id session_id window_id line author role event_at".split()
_CUT = ("id", *_OF_THE_MESSAGE, "number", "char_from", "char_to")


def make_passages(day: date, messages: pl.DataFrame) -> pl.DataFrame:
    """Returns the table `passages` of a day."""
    passages = hashed(cut_messages(messages)).with_columns(day=pl.lit(day))
    return passages.select(*schemas.schema_of("passages"))


def hashed(passages: pl.DataFrame) -> pl.DataFrame:
    """Returns the passages with `text_hash`, the key of their vectors."""
    hashes = map(_hash_of, passages["text"])
    return passages.with_columns(pl.Series("text_hash", hashes, pl.String))


def encode_passages(
    day: date, messages: pl.DataFrame, embedder: Embedder, earlier: pl.DataFrame | None = None
) -> pl.DataFrame:
    """Returns the table `passage_vectors` of a day's messages; `earlier` has rows to reuse."""
    passages = cut_messages(messages).filter(HAS_VECTOR)
    texts = {_hash_of(text): text for text in passages["text"]}
    read = read_texts(texts, embedder, earlier)
    common = {"day": day, "model": embedder.name, "model_version": embedder.version}
    rows = []
    for text_hash in sorted(texts.keys() & read.keys()):
        vector, words = read[text_hash]
        rows.append({"text_hash": text_hash, **common, "vector": vector, "words": words})
    return schemas.frame_of("passage_vectors", rows)


def read_texts(
    texts: Mapping[str, str], embedder: Embedder, earlier: pl.DataFrame | None
) -> dict[str, tuple[Any, ...]]:
    """Returns the vector and word codes of each text that can be encoded, by its hash.

    `earlier` has rows to reuse.
    """
    reused = _reusable(earlier, embedder, "vector", "words")
    # Sorted by length, so that the texts of a batch have about the same length.
    due = sorted(texts.keys() - reused.keys(), key=lambda hashed: (len(texts[hashed]), hashed))
    encoded, _ = _encode_each(embedder.read, texts, due)
    return reused | {h: (read.vector.tolist(), read.words.tobytes()) for h, read in encoded.items()}


def _hash_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
