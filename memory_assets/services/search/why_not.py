"""Explains why a fact is not recalled: finds the stage at which it stopped between the transcript
and an answer.

Takes words (or a memory's id) and searches the stages backwards: a memory that says it, a candidate
that the gate discarded, a message, an archived record, a transcript that was not read yet. The
first match is where it stopped. Texts match by words and by meaning, whatever their wording, case,
back-ticks or quotation marks. Where none says it, the nearest one is named, marked as perhaps not
what was meant.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from operator import itemgetter
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from memory_assets.adapters.text_index import find_in
from memory_assets.errors import MemoryAssetsError, QuestionError
from memory_assets.harnesses.readers import open_reader
from memory_assets.schema.frames import frame_of
from memory_assets.services.notes.restore import present_states
from memory_assets.services.search.corpus import Present
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
"""Cosine from which a sentence says it in other words, and from which one with most of the words
says it.
"""

NEAR = 0.4
"""Share of the words, or cosine, from which a text is named as the nearest."""

NEAREST = 12
MOST_SENTENCES = 200
"""Of one text; outputs of tools may have thousands of lines."""

LONGEST = 2_000
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
    """The place of a text that comes nearest to the wanted words, and how near it comes by words
    and by meaning.
    """

    text: str
    words: float
    meaning: float

    @property
    def is_meant(self) -> bool:
        """Whether it says what is wanted."""
        return self.meaning >= SAME_MEANING or (self.words >= ENOUGH and self.meaning >= RELATED)

    @property
    def is_near(self) -> bool:
        """Whether it is about what is wanted."""
        return max(self.words, self.meaning) >= NEAR

    @property
    def rank(self) -> tuple[bool, float]:
        """Orders matches, the best last."""
        return self.is_meant, self.words + self.meaning


class Wanted:
    """The words that are looked for, and how near a text comes to them."""

    def __init__(self, text: str, present: Present) -> None:
        self.text = text
        self.bare = bare(text)
        self._present = present
        self._terms = frozenset(query_terms(self.bare))

    @cached_property
    def vector(self) -> np.ndarray | None:
        """The meaning of the words; None without an embedder."""
        return self._present.embedder.encode_query(self.text) if self._present.embedder else None

    def match(self, text: str) -> Match:
        """Returns the place of the text, of at most two sentences, that comes nearest."""
        sentences = _sentences(text)
        if self.bare in bare(text):
            matching = (sentence for sentence in sentences if self.bare in bare(sentence))
            return Match(next(matching, text), 1.0, 1.0)
        if not self._terms or not sentences:
            return Match("", 0.0, 0.0)
        shared = [self._terms & set(text_terms(bare(sentence))) for sentence in sentences]
        places = [*zip(shared, sentences, strict=True)]
        places += [
            (a | b, f"{first} {second}")
            for (a, first), (b, second) in pairwise(places)
            if len(a | b) > max(len(a), len(b))
        ]
        words, place = max(
            ((len(terms) / len(self._terms), sentence) for terms, sentence in places),
            key=itemgetter(0),
        )
        return Match(place, words, self._meaning(place, words))

    def nearest(self, corpus: str) -> list[str]:
        """Returns the ids of the rows of the corpus that are nearest by their words, and by their
        meaning.
        """
        try:
            texts = self._present.texts.open(corpus)
            ids = [hit.id for hit in find_in(texts, self.bare, NEAREST)]
            if self.vector is None:
                pass
            elif texts is not None and texts.vectors.shape[1] == len(self.vector):
                scores = products(texts.vectors, None, self.vector)
                nearest = (int(row) for row in np.argsort(-scores)[:NEAREST])
                ids += [texts.ids[row] for row in nearest if scores[row] >= NEAR]
            elif corpus == "memories":
                ids += [hit.id for hit in self._present.vectors.find(self.vector, NEAREST)]
        except MemoryAssetsError:
            return []  # without an index, verbatim matches are still found
        return list(dict.fromkeys(ids))

    def _meaning(self, text: str, words: float) -> float:
        """Returns how near the meaning comes; without an embedder it is as near as the words."""
        if self.vector is None or self._present.embedder is None:
            return min(words, RELATED)
        return float(self._present.embedder.encode_query(plain(text)[:LONGEST]) @ self.vector)


def bare(text: str) -> str:
    """Returns the words in small letters, without back-ticks, quotation marks and emphasis."""
    return squeezed(_MARKS.sub("", text)).lower()


def _sentences(text: str) -> list[str]:
    lines = (squeezed(line) for line in text.splitlines() if line.strip())
    return [sentence for line in lines for sentence in split_sentences(line)][:MOST_SENTENCES]


def why_not(
    text: str, store: Store, present: Present, recall: Recall, *, question: str | None = None
) -> WhyNot:
    """Returns the stage at which the words stopped; `question` did not return them, by default the
    words themselves.
    """
    wanted = Wanted(_checked(text), present)
    memory = _nearest_memory(wanted, present)
    if memory and memory[1].is_meant:
        return _in_memories(wanted, *memory, store, present, recall, question)
    message = _nearest_message(wanted, store)
    is_said = message is not None and message[1].is_meant
    elsewhere = _elsewhere(wanted, store, is_said=is_said)
    if elsewhere:
        return elsewhere
    if message and (is_said or memory is None or message[1].rank > memory[1].rank):
        return _in_messages(wanted, *message, store, present)
    if memory:
        return _in_memories(wanted, *memory, store, present, recall, question)
    because = "nothing near it was said in a transcript that was taken in or waits"
    return WhyNot(wanted.text, "not captured", because)


def _elsewhere(wanted: Wanted, store: Store, *, is_said: bool) -> WhyNot | None:
    """Returns where it stopped without a memory: before a message that says it, or at a record or
    file where none does.
    """
    stopped = _erased(wanted.text, store) or _discarded(wanted.text, store)
    if stopped or is_said:
        return stopped
    return _in_records(wanted, store) or _in_files(wanted, store)


def _checked(text: str) -> str:
    """Returns the words as one line; raises `QuestionError` for none or too many."""
    words = one_line(text)
    if not words or len(words) > LONGEST:
        raise QuestionError(
            f"Give 1 to {LONGEST:,} characters: words of what you missed, or the id of a "
            "memory (mem_…)."
        )
    return words


def _erased(wanted: str, store: Store) -> WhyNot | None:
    if not tombstones_of(store).holds(wanted.encode("utf-8", "replace")):
        return None
    because = (
        "somebody asked to forget these words; they are masked wherever they are captured again"
    )
    return WhyNot(wanted, "forgotten", because)


def _in_memories(
    wanted: Wanted,
    memory: dict[str, Any],
    match: Match,
    store: Store,
    present: Present,
    recall: Recall,
    question: str | None,
) -> WhyNot:
    stopped = _by_state(memory, store, present)
    query = question or (wanted.text if match.is_meant else match.text)
    stage, because, ranks = (*stopped, {}) if stopped else _by_rank(memory["id"], recall, query)
    if memory["state"] == "stale":
        stage = stage if stage == "recalled" else "stale"
        because = f"it is stale{_since(memory, store)}, which halves its score; {because}"
    words = match.text
    place = (memory["session_id"], memory["path"], tuple(memory["lines"]))
    result = WhyNot(
        wanted.text, stage, because, memory["id"], words, *place, is_meant=match.is_meant
    )
    return replace(result, merged_into=memory["text"] if words != memory["text"] else None, **ranks)


def _nearest_memory(wanted: Wanted, present: Present) -> tuple[dict[str, Any], Match] | None:
    """Returns the memory of that id, else the one that comes nearest."""
    rows = present.memories
    prefix = wanted.text.removeprefix("mem_").replace("-", "").lower()
    named = (
        rows.filter(pl.col("id").str.replace_all("-", "").str.starts_with(prefix))
        if len(prefix) >= 6
        else rows.clear()
    )
    if named.height:
        row = named.row(0, named=True)
        return row, Match(row["text"], 1.0, 1.0)
    texts = _bare_column(pl.concat_str("text", pl.col("wordings").list.join("\n"), separator="\n"))
    is_near = pl.col("id").is_in(wanted.nearest("memories"))
    close = rows.filter(
        texts.str.contains(wanted.bare, literal=True) | is_near | (pl.col("state") == "forgotten")
    )
    matches = [(row, _match_of_memory(wanted, row)) for row in close.iter_rows(named=True)]
    near = [(row, match) for row, match in matches if match.is_near]
    return max(
        near,
        key=lambda pair: (*pair[1].rank, pair[0]["state"] == "active", pair[0]["id"]),
        default=None,
    )


def _match_of_memory(wanted: Wanted, row: dict[str, Any]) -> Match:
    """Returns the wording of the memory that comes nearest."""
    texts = dict.fromkeys([row["text"], *row["wordings"]])
    matches = (replace(wanted.match(text), text=text) for text in texts)
    return max(matches, key=lambda match: match.rank)


def _bare_column(column: pl.Expr) -> pl.Expr:
    """Returns `bare` of a column."""
    words = column.str.replace_all(_MARKS.pattern, "")
    return words.str.replace_all(r"\s+", " ").str.to_lowercase()


def _by_state(memory: dict[str, Any], store: Store, present: Present) -> tuple[str, str] | None:
    state = memory["state"]
    if state == "forgotten":
        because = "somebody asked to forget it; it stays hidden however often it is observed"
        return "forgotten", because
    if state == "superseded":
        newer = present.memories.filter(pl.col("id") == memory["superseded_by"])
        new_text = f": {newer['text'][0]}" if newer.height else ""
        return "superseded", f"{short_id(memory['superseded_by'])} replaced it{new_text}"
    if state == "held":
        return "held", _why_held(memory, store)
    if state in ("archived", "cold"):
        restoring = f"`memory restore {short_id(memory['id'])}`"
        since = f"it is {state}{_since(memory, store)}"
        return "stale", f"{since}; ask with include={state}, or restore it with {restoring}"
    return None


def _since(memory: dict[str, Any], store: Store) -> str:
    """Returns since when an old memory has its state, and why, in words."""
    row = present_states(store, frame_of("memories", [memory])).row(0, named=True)
    if row["state"] != memory["state"]:
        return ""  # it was recalled, or restored, since the memories were built
    return f" since {row['since'].astimezone(store.settings.zone):%Y-%m-%d} ({row['reason']})"


def _why_held(memory: dict[str, Any], store: Store) -> str:
    against = ", ".join(map(short_id, memory["conflicts_with"] or ()))
    if against:
        return f"it contradicts {against}, and it is not decided which one is right"
    is_its_own = pl.col("id").is_in(memory["observation_ids"])
    rows = store.tables.scan("observations").filter(is_its_own, gate="hold").select("gate_reason")
    reasons = rows.collect()["gate_reason"].unique().sort()
    return f"the write gate holds it: {'; '.join(reasons) or 'no reason is kept'}"


def _by_rank(
    memory_id: str, recall: Recall, question: str
) -> tuple[str, str, dict[str, float | None]]:
    answer = recall(question)
    count = len(answer.results)
    last = answer.results[-1].score if answer.results else None
    for place, result in enumerate(answer.results, 1):
        if result.memory_id == memory_id:
            ranks = {"score": result.score, "last_in": last}
            return "recalled", f"it is result {place} of {count}", ranks
    for result in recall(question, limit=10).results:
        if result.memory_id == memory_id:
            because = f"the profile {answer.profile} returns {count}, and it comes after them"
            return "over the cap", because, {"score": result.score, "last_in": last}
    left_out = next((item for item in answer.left_out if item.memory_id == memory_id), None)
    reason = left_out.reason if left_out else "it is not among what fits the question best"
    return "out-ranked", reason, {"score": left_out.score if left_out else None, "last_in": last}


def _discarded(wanted: str, store: Store) -> WhyNot | None:
    """Returns the candidate with exactly these words that the gate discarded; it keeps only the
    hash and the reason.
    """
    hashes = [text_hash(form) for form in {wanted, wanted.rstrip("."), f"{wanted.rstrip('.')}."}]
    is_same = pl.col("text_hash").is_in(hashes)
    rows = store.tables.scan("verdicts").filter(is_same, verdict="discard").collect()
    if rows.is_empty():
        return None
    row = rows.row(0, named=True)
    because = f"the write gate refused it: {row['reason']}"
    return WhyNot(wanted, "discarded", because, session=row["session_id"])


def _nearest_message(wanted: Wanted, store: Store) -> tuple[dict[str, Any], Match] | None:
    """Returns the message that comes nearest: of equal ones the first in which a person or
    assistant says it.
    """
    messages = pl.concat([store.tables.scan("messages"), store.tables.scan("messages_open")])
    passages = {id.partition("#")[0] for id in wanted.nearest("messages")}
    is_verbatim = _bare_column(pl.col("text")).str.contains(wanted.bare, literal=True)
    close = messages.filter(is_verbatim | pl.col("message_id").is_in(list(passages)))
    rows = close.sort("event_at").collect().iter_rows(named=True)
    matches = [(row, wanted.match(row["text"])) for row in rows]
    near = [(row, match) for row, match in matches if match.is_near]
    return max(near, key=lambda pair: (*pair[1].rank, pair[0]["kind"] == "text"), default=None)


def _in_messages(
    wanted: Wanted, message: dict[str, Any], match: Match, store: Store, present: Present
) -> WhyNot:
    windows = store.tables.scan("windows").filter(window_id=message["window_id"]).collect()
    window = windows.row(0, named=True) if windows.height else {"status": "observed", "path": ""}
    stage, because = _by_window(message, window, store, present)
    where = {"session": message["session_id"], "path": window["path"], "lines": (message["line"],)}
    says = shortened(squeezed(match.text), 200)
    return WhyNot(wanted.text, stage, because, says=says, is_meant=match.is_meant, **where)


def _by_window(
    message: dict[str, Any], window: dict[str, Any], store: Store, present: Present
) -> tuple[str, str]:
    if message["message_id"] in present.hidden:
        return "forgotten", "its message contains forgotten words"
    if window["status"] == "open":
        because = "it is distilled when that ends (`memory data flush` ends it now)"
        return "still open", f"its session goes on; {because}"
    if window["status"] == "short":
        turns = f"its session ended after {window['user_turn_count']} turns"
        because = "of so few, only the owner's corrections and rules become memories"
        return "short session", f"{turns}: {because}"
    has_message = pl.col("message_ids").list.contains(message["message_id"])
    segments = store.tables.scan("segments").filter(has_message, window_id=message["window_id"])
    segment_ids = segments.select("segment_id").collect()["segment_id"]
    if segment_ids.is_empty():
        return "not observed", "its window was not distilled yet; `memory ingest` does it"
    is_beside = pl.col("segment_id").is_in(segment_ids.implode())
    discarded = store.tables.scan("verdicts").filter(is_beside, verdict="discard")
    counts = discarded.group_by("reason").len().sort("reason").collect()
    reasons = ", ".join(f"{count} × {reason}" for reason, count in counts.iter_rows())
    others = f"; of its segment the gate discarded {reasons}" if reasons else ""
    because = f"{message['author']} said it, and the observer made no fact of it{others}"
    return "not observed", because


def _in_records(wanted: Wanted, store: Store) -> WhyNot | None:
    """Returns the archived record that says it and is in no window: a new message, or a record of
    an unknown type.
    """
    message_ids = pl.col("message_ids").alias("message_id")
    windowed = store.tables.scan("windows").select(message_ids).explode("message_id")
    is_lost = pl.col("status").is_in(["message", "unknown", "broken"])
    records = store.tables.scan("records").filter(is_lost)
    for row in records.join(windowed, on="message_id", how="anti").collect().iter_rows(named=True):
        entry = store.archive.find(row["resource_id"])
        if entry is None:
            continue
        match = wanted.match(_text_of_record(row, entry, store))
        if match.is_meant:
            because = (
                "its record is archived and not cut into a window yet; `memory ingest` does it"
                if row["status"] == "message"
                else f"its record is archived, but is {row['status']} ({row['record_type']}): no "
                "message that is read"
            )
            where = {"session": row["session_id"], "path": entry.path, "lines": (row["line"],)}
            says = shortened(squeezed(match.text), 200)
            return WhyNot(wanted.text, "not windowed", because, says=says, **where)
    return None


def _text_of_record(row: dict[str, Any], entry: Range, store: Store) -> str:
    place = (row["source_id"], row["generation"], row["byte_from"], row["byte_to"])
    content = store.archive.read(*place)
    if row["status"] != "message":
        return content.decode("utf-8", "replace")
    session = original_session(entry.conversation_id)
    return open_reader(entry.harness, entry.path, session_id=session).read(content).text


def _in_files(wanted: Wanted, store: Store) -> WhyNot | None:
    because = "its transcript waits to be taken in; `memory ingest` does it"
    try:
        waiting = changed_files(find_sources(store.settings), store.archive, store.settings.clock())
    except MemoryAssetsError:
        return None  # a folder of the settings cannot be read
    for path in (file.path for file in waiting):
        if path.is_file() and path.stat().st_size <= LARGEST_FILE:
            raw = path.read_bytes().decode("utf-8", "replace")
            text = bare(raw.replace('\\"', '"').replace("\\n", " "))
            if wanted.bare in text or json.dumps(wanted.bare)[1:-1] in text:
                return WhyNot(wanted.text, "not taken in", because, path=str(path))
    return None
