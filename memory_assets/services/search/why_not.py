"""Explains why a fact is not recalled: finds the stage at which it stopped between the transcript
and an answer.

Takes words (or a memory's id) and searches the stages backwards: a memory that says it, a candidate
that the gate discarded, a message, an archived record, a transcript that was not read yet. The
first match is where it stopped. Texts match by words and by meaning; case, back-ticks and quotation
marks do not count. If no text says it, the nearest text is named, marked as perhaps not what was
meant.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice, pairwise
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import polars as pl

from memory_assets.adapters.text_index import find_in
from memory_assets.errors import MemoryAssetsError, QuestionError
from memory_assets.harnesses.readers import open_reader
from memory_assets.schema.frames import frame_of
from memory_assets.schema.protocols import Texts
from memory_assets.services.notes.restore import present_states
from memory_assets.services.search.corpus import Present
from memory_assets.services.search.memory_ids import SHORTEST_ID
from memory_assets.services.sources.transcripts import find_sources
from memory_assets.stages.capture.intake import changed_files
from memory_assets.stages.capture.pushed_ids import original_session
from memory_assets.stages.capture.tombstones import tombstones_of
from memory_assets.stages.recall.results import Answer
from memory_assets.stages.recall.wording import one_line
from memory_assets.store.archive import Range
from memory_assets.store.store import Store
from memory_assets.text.sentences import plain, split_sentences
from memory_assets.text.short_ids import short_id
from memory_assets.text.terms import query_terms, text_terms
from memory_assets.text.vectors import products
from memory_assets.text.words import shortened, squeezed, text_hash

ENOUGH = 0.75
"""Share of the words that two sentences in a row must contain to say it."""

SAME_MEANING, RELATED = 0.7, 0.5
"""Cosine from which a sentence says it in other words; and from which it says it if it also has
enough of the words.
"""

NEAR = 0.4
"""Share of the words, or cosine, from which a text is named as the nearest."""

NEAREST = 12
"""Rows of an index that are compared."""

MOST_SENTENCES = 200
"""Sentences of one text that are compared; outputs of tools may have thousands of lines."""

LONGEST = 2_000
"""Characters of the words, and of a text whose meaning is compared."""

LONGEST_QUOTE = 200
LARGEST_FILE = 64 * 1024 * 1024
"""Bytes of an unread transcript that is searched."""

_MARKS = re.compile(r"[`*\"'“”‘’]")

Recall = Callable[..., Answer]
"""`MemoryAgent.recall` as a probe."""


@dataclass(frozen=True)
class WhyNot:
    """The stage at which a fact stopped."""

    has_origin: ClassVar[Literal[False]] = False
    """Tells it from an explanation."""

    text: str
    stage: str
    """not captured, not taken in, not windowed, still open, short session, not observed, discarded,
    held, superseded, stale, forgotten, out-ranked, over the cap, or recalled where it did not stop.
    """
    because: str
    memory_id: str | None = None
    says: str = ""
    """The matching text."""
    session: str = ""
    path: str = ""
    lines: tuple[int, ...] = ()
    merged_into: str | None = None
    """The memory's present text, where it differs."""
    score: float | None = None
    last_in: float | None = None
    """Score of the last result that was returned."""
    is_meant: bool = True
    """False: nothing says it, and this is the nearest thing said."""


@dataclass(frozen=True)
class Match:
    """The place of a text that comes nearest to the phrase, and how near by words and meaning."""

    text: str
    words: float
    meaning: float

    @property
    def is_meant(self) -> bool:
        """Whether it says the same."""
        is_related = self.words >= ENOUGH and self.meaning >= RELATED
        return is_related or self.meaning >= SAME_MEANING

    @property
    def is_near(self) -> bool:
        """Whether it is about the same."""
        return max(self.words, self.meaning) >= NEAR

    @property
    def rank(self) -> tuple[bool, float]:
        """Orders matches, the best last."""
        return self.is_meant, self.words + self.meaning


Near = tuple[dict[str, Any], Match]
"""A memory or message, and the place of its text that comes nearest."""


class Phrase:
    """The words that are searched for; compares texts with them."""

    def __init__(self, text: str, present: Present) -> None:
        self.text = text
        self.bare = bare(text)
        self._present = present
        self._terms = frozenset(query_terms(self.bare))

    @cached_property
    def vector(self) -> np.ndarray | None:
        """The meaning of the words; None without an embedder."""
        embedder = self._present.embedder
        return embedder.encode_query(self.text) if embedder else None

    def match(self, text: str) -> Match:
        """Returns the sentence, or two in a row, that comes nearest."""
        sentences = _sentences(text)
        if self.bare in bare(text):
            matching = (part for part in sentences if self.bare in bare(part))
            return Match(next(matching, text), 1.0, 1.0)
        if not self._terms or not sentences:
            return Match("", 0.0, 0.0)
        terms = [self._terms & set(text_terms(bare(part))) for part in sentences]
        singles = [*zip(terms, sentences, strict=True)]
        pairs = [
            (first_terms | second_terms, f"{first} {second}")
            for (first_terms, first), (second_terms, second) in pairwise(singles)
        ]
        # Of equal ones the first: two sentences only where they have more of the words than each.
        best_terms, place = max(singles + pairs, key=lambda item: len(item[0]))
        share = len(best_terms) / len(self._terms)
        return Match(place, share, self._meaning(place, share))

    def nearest(self, corpus: str) -> list[str]:
        """Returns the ids of the rows of the corpus that are nearest by their words, and by their
        meaning.
        """
        try:
            texts = self._present.texts.open(corpus)
            ids = [hit.id for hit in find_in(texts, self.bare, NEAREST)]
            ids += self._nearest_in_meaning(corpus, texts)
        except MemoryAssetsError:
            return []  # without an index, verbatim matches are still found
        return list(dict.fromkeys(ids))

    def _nearest_in_meaning(self, corpus: str, texts: Texts | None) -> list[str]:
        if self.vector is None:
            return []
        if texts is not None and texts.vectors.shape[1] == len(self.vector):
            scores = products(texts.vectors, None, self.vector)
            rows = (int(row) for row in np.argsort(-scores)[:NEAREST])
            return [texts.ids[row] for row in rows if scores[row] >= NEAR]
        if corpus == "memories":
            return [hit.id for hit in self._present.vectors.find(self.vector, NEAREST)]
        return []

    def _meaning(self, text: str, words: float) -> float:
        """Returns how near the meaning comes; without an embedder it is as near as the words."""
        if self.vector is None or self._present.embedder is None:
            return min(words, RELATED)
        vector = self._present.embedder.encode_query(plain(text)[:LONGEST])
        return float(vector @ self.vector)


def bare(text: str) -> str:
    """Returns the words in small letters, without back-ticks, quotation marks and emphasis."""
    return squeezed(_MARKS.sub("", text)).lower()


def _sentences(text: str) -> list[str]:
    lines = (squeezed(line) for line in text.splitlines() if line.strip())
    return list(islice(chain.from_iterable(map(split_sentences, lines)), MOST_SENTENCES))


def why_not(
    text: str, store: Store, present: Present, recall: Recall, *, question: str | None = None
) -> WhyNot:
    """Returns the stage at which the words stopped; `question` is the one that did not return them,
    by default the words themselves.
    """
    phrase = Phrase(_checked(text), present)
    memory = _nearest_memory(phrase, present)
    if memory and memory[1].is_meant:
        return _in_memories(phrase, *memory, store, present, recall, question)
    message = _nearest_message(phrase, store)
    is_said = message is not None and message[1].is_meant
    elsewhere = _elsewhere(phrase, store, is_said=is_said)
    if elsewhere:
        return elsewhere
    if message and (is_said or memory is None or message[1].rank > memory[1].rank):
        return _in_messages(phrase, *message, store, present)
    if memory:
        return _in_memories(phrase, *memory, store, present, recall, question)
    because = "nothing near it was said in a transcript that was taken in or waits"
    return WhyNot(phrase.text, "not captured", because)


def _elsewhere(phrase: Phrase, store: Store, *, is_said: bool) -> WhyNot | None:
    """Returns that the words are forgotten or were discarded; else, if no message says them, the
    record or the file that does.
    """
    stop = _erased(phrase.text, store) or _discarded(phrase.text, store)
    if stop or is_said:
        return stop
    return _in_records(phrase, store) or _in_files(phrase, store)


def _checked(text: str) -> str:
    """Returns the words as one line; raises `QuestionError` where there are none or too many."""
    words = one_line(text)
    if not words or len(words) > LONGEST:
        raise QuestionError(
            f"Give 1 to {LONGEST:,} characters: words of what you missed, or the id of a "
            "memory (mem_…)."
        )
    return words


def _erased(words: str, store: Store) -> WhyNot | None:
    if not tombstones_of(store).holds(words.encode("utf-8", "replace")):
        return None
    because = (
        "somebody asked to forget these words; they are masked wherever they are captured again"
    )
    return WhyNot(words, "forgotten", because)


class _Reason(NamedTuple):
    """Where a memory stopped, and why; with its score and that of the last result."""

    stage: str
    because: str
    score: float | None = None
    last_in: float | None = None


def _in_memories(
    phrase: Phrase,
    memory: dict[str, Any],
    match: Match,
    store: Store,
    present: Present,
    recall: Recall,
    question: str | None,
) -> WhyNot:
    query = question or (phrase.text if match.is_meant else match.text)
    reason = _by_state(memory, store, present) or _by_rank(memory["id"], recall, query)
    stage = reason.stage
    because = reason.because
    if memory["state"] == "stale":
        stage = stage if stage == "recalled" else "stale"
        because = f"it is stale{_since(memory, store)}, which halves its score; {because}"
    return WhyNot(
        phrase.text,
        stage,
        because,
        memory["id"],
        match.text,
        memory["session_id"],
        memory["path"],
        tuple(memory["lines"]),
        merged_into=memory["text"] if match.text != memory["text"] else None,
        score=reason.score,
        last_in=reason.last_in,
        is_meant=match.is_meant,
    )


def _nearest_memory(phrase: Phrase, present: Present) -> Near | None:
    """Returns the memory with this id, else the memory that comes nearest."""
    rows = present.memories
    prefix = phrase.text.removeprefix("mem_").replace("-", "").lower()
    if len(prefix) >= SHORTEST_ID:
        plain_id = pl.col("id").str.replace_all("-", "")
        by_id = rows.filter(plain_id.str.starts_with(prefix))
        if by_id.height:
            row = by_id.row(0, named=True)
            return row, Match(row["text"], 1.0, 1.0)
    wordings = pl.col("wordings").list.join("\n")
    texts = _bare_column(pl.concat_str("text", wordings, separator="\n"))
    is_verbatim = texts.str.contains(phrase.bare, literal=True)
    is_near = pl.col("id").is_in(phrase.nearest("memories"))
    # Forgotten memories are in no index.
    close = rows.filter(is_verbatim | is_near | (pl.col("state") == "forgotten"))
    matches = [(row, _match_of_memory(phrase, row)) for row in close.to_dicts()]
    near = [(row, match) for row, match in matches if match.is_near]
    return max(
        near,
        key=lambda pair: (*pair[1].rank, pair[0]["state"] == "active", pair[0]["id"]),
        default=None,
    )


def _match_of_memory(phrase: Phrase, row: dict[str, Any]) -> Match:
    """Returns the wording of the memory that comes nearest."""
    texts = dict.fromkeys([row["text"], *row["wordings"]])
    matches = (replace(phrase.match(text), text=text) for text in texts)
    return max(matches, key=lambda match: match.rank)


def _bare_column(column: pl.Expr) -> pl.Expr:
    """Returns the texts of the column as `bare` returns them."""
    words = column.str.replace_all(_MARKS.pattern, "")
    return words.str.replace_all(r"\s+", " ").str.to_lowercase()


def _by_state(memory: dict[str, Any], store: Store, present: Present) -> _Reason | None:
    """Returns the reason if the memory has a state that no recall returns."""
    state = memory["state"]
    if state == "forgotten":
        because = "somebody asked to forget it; it stays hidden however often it is observed"
        return _Reason("forgotten", because)
    if state == "superseded":
        newer = present.memories.filter(pl.col("id") == memory["superseded_by"])
        new_text = f": {newer['text'][0]}" if newer.height else ""
        because = f"{short_id(memory['superseded_by'])} replaced it{new_text}"
        return _Reason("superseded", because)
    if state == "held":
        return _Reason("held", _why_held(memory, store))
    if state in ("archived", "cold"):
        command = f"`memory restore {short_id(memory['id'])}`"
        since = f"it is {state}{_since(memory, store)}"
        because = f"{since}; ask with include={state}, or restore it with {command}"
        return _Reason("stale", because)
    return None


def _since(memory: dict[str, Any], store: Store) -> str:
    """Returns in words since when an old memory has its state, and why."""
    row = present_states(store, frame_of("memories", [memory])).row(0, named=True)
    if row["state"] != memory["state"]:
        return ""  # it was recalled, or restored, since the memories were built
    return f" since {row['since'].astimezone(store.settings.zone):%Y-%m-%d} ({row['reason']})"


def _why_held(memory: dict[str, Any], store: Store) -> str:
    conflicts = ", ".join(map(short_id, memory["conflicts_with"] or ()))
    if conflicts:
        return f"it contradicts {conflicts}, and it is not decided which one is right"
    is_evidence = pl.col("id").is_in(memory["observation_ids"])
    held = store.tables.scan("observations").filter(is_evidence, gate="hold")
    reasons = held.select("gate_reason").collect()["gate_reason"].unique().sort()
    return f"the write gate holds it: {'; '.join(reasons) or 'no reason is kept'}"


def _by_rank(memory_id: str, recall: Recall, question: str) -> _Reason:
    """Returns the place of the memory among the results of a recall, or why it is not there."""
    answer = recall(question)
    count = len(answer.results)
    last_score = answer.results[-1].score if answer.results else None
    for place, result in enumerate(answer.results, 1):
        if result.memory_id == memory_id:
            because = f"it is result {place} of {count}"
            return _Reason("recalled", because, result.score, last_score)
    for result in recall(question, limit=10).results:
        if result.memory_id == memory_id:
            because = f"the profile {answer.profile} returns {count}, and it comes after them"
            return _Reason("over the cap", because, result.score, last_score)
    for item in answer.left_out:
        if item.memory_id == memory_id:
            return _Reason("out-ranked", item.reason, item.score, last_score)
    because = "it is not among what fits the question best"
    return _Reason("out-ranked", because, last_in=last_score)


def _discarded(words: str, store: Store) -> WhyNot | None:
    """Returns the candidate with exactly these words that the gate discarded. The gate keeps only
    the hash of its text and the reason.
    """
    sentence = words.rstrip(".")
    hashes = list(map(text_hash, (words, sentence, f"{sentence}.")))
    is_same = pl.col("text_hash").is_in(hashes)
    rows = store.tables.scan("verdicts").filter(is_same, verdict="discard").collect()
    if rows.is_empty():
        return None
    row = rows.row(0, named=True)
    because = f"the write gate refused it: {row['reason']}"
    return WhyNot(words, "discarded", because, session=row["session_id"])


def _nearest_message(phrase: Phrase, store: Store) -> Near | None:
    """Returns the message that comes nearest: of equally near ones the first that a person or the
    assistant wrote, rather than a tool.
    """
    messages = pl.concat(map(store.tables.scan, ("messages", "messages_open")))
    # The id of a passage is that of its message, `#`, and a number.
    near_ids = {id.partition("#")[0] for id in phrase.nearest("messages")}
    is_verbatim = _bare_column(pl.col("text")).str.contains(phrase.bare, literal=True)
    close = messages.filter(is_verbatim | pl.col("message_id").is_in(list(near_ids)))
    rows = close.sort("event_at").collect().iter_rows(named=True)
    matches = [(row, phrase.match(row["text"])) for row in rows]
    near = [(row, match) for row, match in matches if match.is_near]
    return max(near, key=lambda pair: (*pair[1].rank, pair[0]["kind"] == "text"), default=None)


def _in_messages(
    phrase: Phrase, message: dict[str, Any], match: Match, store: Store, present: Present
) -> WhyNot:
    windows = store.tables.scan("windows").filter(window_id=message["window_id"])
    rows = windows.collect().to_dicts()
    window = rows[0] if rows else {"status": "observed", "path": ""}
    reason = _by_window(message, window, store, present)
    return _in_transcript(phrase, reason, match, message, window["path"])


def _in_transcript(
    phrase: Phrase, reason: tuple[str, str], match: Match, row: dict[str, Any], path: str
) -> WhyNot:
    """Returns that the words stopped behind this message or record; `reason` is the stage, and
    why.
    """
    return WhyNot(
        phrase.text,
        *reason,
        says=shortened(squeezed(match.text), LONGEST_QUOTE),
        session=row["session_id"],
        path=path,
        lines=(row["line"],),
        is_meant=match.is_meant,
    )


def _by_window(
    message: dict[str, Any], window: dict[str, Any], store: Store, present: Present
) -> tuple[str, str]:
    """Returns the stage at which the message stopped, and why."""
    if message["message_id"] in present.hidden:
        return "forgotten", "its message contains forgotten words"
    if window["status"] == "open":
        because = "it is distilled when that ends (`memory data flush` ends it now)"
        return "still open", f"its session goes on; {because}"
    if window["status"] == "short":
        turns = f"its session ended after {window['user_turn_count']} turns"
        because = "of so few, only the owner's corrections and rules become memories"
        return "short session", f"{turns}: {because}"
    if window["status"] == "older":
        because = "its session is older than what is distilled; `memory up --since all` distils it"
        return "not distilled", because
    has_message = pl.col("message_ids").list.contains(message["message_id"])
    segments = store.tables.scan("segments").filter(has_message)
    segments = segments.filter(window_id=message["window_id"])
    segment_ids = segments.select("segment_id").collect()["segment_id"]
    if segment_ids.is_empty():
        because = "its window was not distilled yet; `memory ingest` does it"
        return "not observed", because
    in_segment = pl.col("segment_id").is_in(segment_ids.implode())
    discarded = store.tables.scan("verdicts").filter(in_segment, verdict="discard")
    counts = discarded.group_by("reason").len().sort("reason").collect()
    reasons = ", ".join(f"{count} × {reason}" for reason, count in counts.iter_rows())
    others = f"; of its segment the gate discarded {reasons}" if reasons else ""
    because = f"{message['author']} said it, and the observer made no fact of it{others}"
    return "not observed", because


def _in_records(phrase: Phrase, store: Store) -> WhyNot | None:
    """Returns the archived record that says it and is in no window: a new message, or a record of
    an unknown type.
    """
    message_ids = pl.col("message_ids").alias("message_id")
    windowed = store.tables.scan("windows").select(message_ids).explode("message_id")
    may_say = pl.col("status").is_in(["message", "unknown", "broken", "rewound"])
    records = store.tables.scan("records").filter(may_say)
    records = records.join(windowed, on="message_id", how="anti").collect()
    for row in records.iter_rows(named=True):
        entry = store.archive.find(row["resource_id"])
        if entry is None:
            continue
        match = phrase.match(_text_of_record(row, entry, store))
        if match.is_meant:
            reason = ("not windowed", _why_not_windowed(row))
            return _in_transcript(phrase, reason, match, row, entry.path)
    return None


def _why_not_windowed(record: dict[str, Any]) -> str:
    if record["status"] == "message":
        return "its record is archived and not cut into a window yet; `memory ingest` does it"
    if record["status"] == "rewound":
        return "its turn was taken back (rewind or rollback); MEMORY_REWOUND_TURNS=true keeps such"
    kind = f"{record['status']} ({record['record_type']})"
    return f"its record is archived, but is {kind}: no message that is read"


def _text_of_record(row: dict[str, Any], entry: Range, store: Store) -> str:
    place = (row["source_id"], row["generation"], row["byte_from"], row["byte_to"])
    content = store.archive.read(*place)
    if row["status"] not in ("message", "rewound"):
        return content.decode("utf-8", "replace")
    session = original_session(entry.conversation_id)
    return open_reader(entry.harness, entry.path, session_id=session).read(content).text


def _in_files(phrase: Phrase, store: Store) -> WhyNot | None:
    """Returns the transcript that says it and was not read yet, or has lines that were not."""
    because = "its transcript waits to be taken in; `memory ingest` does it"
    escaped = json.dumps(phrase.bare)[1:-1]  # without its quotation marks
    try:
        sources = find_sources(store.settings)
        waiting = changed_files(sources, store.archive, store.settings.clock())
    except MemoryAssetsError:
        return None  # a folder of the settings cannot be read
    for file in waiting:
        path = file.path
        if path.is_file() and path.stat().st_size <= LARGEST_FILE:
            raw = path.read_bytes().decode("utf-8", "replace")
            text = bare(raw.replace('\\"', '"').replace("\\n", " "))
            if phrase.bare in text or escaped in text:
                return WhyNot(phrase.text, "not taken in", because, path=str(path))
    return None
