"""Explains why a fact is not recalled: finds the stage at which it stopped between the transcript and an answer.

Takes words (or a memory's id) and searches the stages backwards: a memory that says it, a candidate that the gate discarded, a
message, an archived record, a transcript that was not read yet. The first match is where it stopped.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from memory_assets.adapters.text_index import find_in
from memory_assets.errors import MemoryAssetsError, QuestionError
from memory_assets.services.corpus import Present
from memory_assets.services.sources import find_sources
from memory_assets.stages.capture.formats.readers import open_reader
from memory_assets.stages.capture.intake import changed_files
from memory_assets.stages.capture.tombstones import tombstones_of
from memory_assets.stages.distill.rows import short_id
from memory_assets.stages.recall.results import Answer
from memory_assets.stages.recall.wording import one_line
from memory_assets.store.store import Store
from memory_assets.text.terms import query_terms, text_terms
from memory_assets.text.words import shortened, squeezed, text_hash

ENOUGH = 0.75
"""Share of the words that a text must contain to match."""

NEAREST = 30
LONGEST = 2_000
LARGEST_FILE = 64 * 1024 * 1024
"""Bytes of an unread transcript that is searched."""

Recall = Callable[..., Answer]
"""`MemoryAgent.recall` as a probe."""


@dataclass(frozen=True)
class WhyNot:
    """The stage at which a fact stopped."""

    text: str
    stage: str
    """not captured, not taken in, not windowed, still open, short session, not observed, discarded, held, superseded, stale,
    forgotten, out-ranked, over the cap, or recalled where it did not stop."""
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


def why_not(text: str, store: Store, present: Present, recall: Recall, *, question: str | None = None) -> WhyNot:
    """Returns the stage at which the words stopped; `question` did not return them, by default the words themselves."""
    wanted = one_line(text)
    if not wanted or len(wanted) > LONGEST:
        raise QuestionError(f"Give 1 to {LONGEST:,} characters: words of what you missed, or the id of a memory (mem_…).")
    return (
        _in_memories(wanted, store, present, recall, question or wanted)
        or _erased(wanted, store)
        or _discarded(wanted, store)
        or _in_messages(wanted, store, present)
        or _in_records(wanted, store)
        or _in_files(wanted, store)
        or WhyNot(wanted, "not captured", "no transcript that was taken in says it, and none that waits does")
    )


def _erased(wanted: str, store: Store) -> WhyNot | None:
    if not tombstones_of(store).holds(wanted.encode("utf-8", "replace")):
        return None
    return WhyNot(wanted, "forgotten", "somebody asked to forget these words; they are masked wherever they are captured again")


def _in_memories(wanted: str, store: Store, present: Present, recall: Recall, question: str) -> WhyNot | None:
    memory = _matching_memory(wanted, present)
    if memory is None:
        return None
    stopped = _by_state(memory, store, present)
    stage, because, ranks = (*stopped, {}) if stopped else _by_rank(memory["id"], recall, question)
    said = next((one for one in memory["wordings"] if _coverage(wanted, one) >= ENOUGH), memory["text"])
    found = WhyNot(wanted, stage, because, memory["id"], said, memory["session_id"], memory["path"], tuple(memory["lines"]))
    return replace(found, merged_into=memory["text"] if said != memory["text"] else None, **ranks)


def _matching_memory(wanted: str, present: Present) -> dict[str, Any] | None:
    rows = present.memories
    prefix = wanted.removeprefix("mem_").replace("-", "").lower()
    named = rows.filter(pl.col("id").str.replace_all("-", "").str.starts_with(prefix)) if len(prefix) >= 6 else rows.clear()
    if named.height:
        return named.row(0, named=True)
    texts = pl.concat_str("text", pl.col("wordings").list.join("\n"), separator="\n").str.to_lowercase()
    is_near = pl.col("id").is_in(_nearest(wanted, present, "memories"))
    close = rows.filter(texts.str.contains(wanted.lower(), literal=True) | is_near | (pl.col("state") == "forgotten"))
    scored = [
        (max(_coverage(wanted, one) for one in [row["text"], *row["wordings"]]), row["state"] == "active", row["id"], row)
        for row in close.iter_rows(named=True)
    ]
    best = max(scored, key=lambda one: one[:3], default=None)
    return best[3] if best and best[0] >= ENOUGH else None


def _coverage(wanted: str, text: str) -> float:
    """Returns the share of the wanted words that the text contains."""
    terms, present = query_terms(wanted), set(text_terms(text))
    return sum(term in present for term in terms) / len(terms) if terms else float(wanted.lower() in text.lower())


def _nearest(wanted: str, present: Present, corpus: str) -> list[str]:
    try:
        return [hit.id for hit in find_in(present.texts.open(corpus), wanted, NEAREST)]
    except MemoryAssetsError:
        return []  # without an index, verbatim matches are still found


def _by_state(memory: dict[str, Any], store: Store, present: Present) -> tuple[str, str] | None:
    state = memory["state"]
    if state == "forgotten":
        return "forgotten", "somebody asked to forget it; it stays hidden however often it is observed"
    if state == "superseded":
        newer = present.memories.filter(pl.col("id") == memory["superseded_by"])
        said = f": {newer['text'][0]}" if newer.height else ""
        return "superseded", f"{short_id(memory['superseded_by'])} replaced it{said}"
    if state == "held":
        return "held", _why_held(memory, store)
    if state in ("stale", "archived", "cold"):
        return "stale", f"it is {state}: old, and not recalled for long; ask with include={state}"
    return None


def _why_held(memory: dict[str, Any], store: Store) -> str:
    if against := memory["conflicts_with"]:
        return f"it contradicts {', '.join(map(short_id, against))}, and it is not decided which one is right"
    rows = store.tables.scan("observations").filter(pl.col("id").is_in(memory["observation_ids"]))
    reasons = rows.filter(pl.col("gate") == "hold").select("gate_reason").collect()["gate_reason"].unique().sort()
    return f"the write gate holds it: {'; '.join(reasons) or 'no reason is kept'}"


def _by_rank(memory_id: str, recall: Recall, question: str) -> tuple[str, str, dict[str, float | None]]:
    answer = recall(question)
    last = answer.results[-1].score if answer.results else None
    for place, result in enumerate(answer.results, 1):
        if result.memory_id == memory_id:
            return "recalled", f"it is result {place} of {len(answer.results)}", {"score": result.score, "last_in": last}
    for result in recall(question, limit=10).results:
        if result.memory_id == memory_id:
            because = f"the profile {answer.profile} returns {len(answer.results)}, and it comes after them"
            return "over the cap", because, {"score": result.score, "last_in": last}
    left_out = next((one for one in answer.left_out if one.memory_id == memory_id), None)
    reason = left_out.reason if left_out else "it is not among what fits the question best"
    return "out-ranked", reason, {"score": left_out.score if left_out else None, "last_in": last}


def _discarded(wanted: str, store: Store) -> WhyNot | None:
    """Returns the candidate with exactly these words that the gate discarded; it keeps only the hash and the reason."""
    hashes = [text_hash(one) for one in {wanted, wanted.rstrip("."), f"{wanted.rstrip('.')}."}]
    rows = store.tables.scan("verdicts").filter(pl.col("text_hash").is_in(hashes) & (pl.col("verdict") == "discard")).collect()
    if rows.is_empty():
        return None
    row = rows.row(0, named=True)
    return WhyNot(wanted, "discarded", f"the write gate refused it: {row['reason']}", session=row["session_id"])


def _in_messages(wanted: str, store: Store, present: Present) -> WhyNot | None:
    tables = store.tables
    messages = pl.concat([tables.scan("messages"), tables.scan("messages_open")])
    is_verbatim = pl.col("text").str.to_lowercase().str.replace_all(r"\s+", " ").str.contains(wanted.lower(), literal=True)
    close = messages.filter(is_verbatim | pl.col("message_id").is_in(_nearest(wanted, present, "messages"))).collect()
    scored = [(_coverage(wanted, row["text"]), row) for row in close.sort("event_at").iter_rows(named=True)]
    coverage, message = max(scored, key=lambda one: one[0], default=(0.0, {}))
    if coverage < ENOUGH:
        return None
    windows = tables.scan("windows").filter(pl.col("window_id") == message["window_id"]).collect()
    window = windows.row(0, named=True) if windows.height else {"status": "observed", "path": ""}
    stage, because = _by_window(message, window, store, present)
    where = {"session": message["session_id"], "path": window["path"], "lines": (message["line"],)}
    return WhyNot(wanted, stage, because, says=shortened(squeezed(message["text"]), 200), **where)


def _by_window(message: dict[str, Any], window: dict[str, Any], store: Store, present: Present) -> tuple[str, str]:
    if message["message_id"] in present.hidden:
        return "forgotten", "its message contains forgotten words"
    if window["status"] == "open":
        return "still open", "its session goes on; it is distilled when that ends (`memory data flush` ends it now)"
    tables = store.tables
    if window["status"] == "short":
        turns = f"its session ended after {window['user_turn_count']} turns"
        return "short session", f"{turns}: of so few, only the owner's corrections and rules become memories"
    segments = tables.scan("segments").filter(pl.col("window_id") == message["window_id"]).select("segment_id", "message_ids")
    own = segments.filter(pl.col("message_ids").list.contains(message["message_id"])).collect()["segment_id"].to_list()
    if not own:
        return "not observed", "its window was not distilled yet; `memory ingest` does it"
    discarded = tables.scan("verdicts").filter(pl.col("segment_id").is_in(own) & (pl.col("verdict") == "discard"))
    counts = discarded.group_by("reason").len().sort("reason").collect()
    reasons = ", ".join(f"{count} × {reason}" for reason, count in counts.iter_rows())
    others = f"; of its segment the gate discarded {reasons}" if reasons else ""
    return "not observed", f"{message['author']} said it, and the observer made no fact of it{others}"


def _in_records(wanted: str, store: Store) -> WhyNot | None:
    """Returns the archived record that says it and is in no window: a new message, or a record of an unknown type."""
    windowed = store.tables.scan("windows").select(pl.col("message_ids").alias("message_id")).explode("message_id")
    lost = store.tables.scan("records").filter(pl.col("status").is_in(["message", "unknown", "broken"]))
    for row in lost.join(windowed, on="message_id", how="anti").collect().iter_rows(named=True):
        entry = store.archive.find(row["resource_id"])
        if entry is None:
            continue
        content = store.archive.read(row["source_id"], row["generation"], row["byte_from"], row["byte_to"])
        if row["status"] == "message":
            text = open_reader(entry.harness, entry.path, session_id=entry.conversation_id).read(content).text
            because = "its record is archived and not cut into a window yet; `memory ingest` does it"
        else:
            text = content.decode("utf-8", "replace")
            because = f"its record is archived, but is {row['status']} ({row['record_type']}): no message that is read"
        if _coverage(wanted, text) >= ENOUGH:
            where = {"session": row["session_id"], "path": entry.path, "lines": (row["line"],)}
            return WhyNot(wanted, "not windowed", because, says=shortened(squeezed(text), 200), **where)
    return None


def _in_files(wanted: str, store: Store) -> WhyNot | None:
    needle = json.dumps(wanted, ensure_ascii=False)[1:-1].encode().lower()
    because = "its transcript waits to be taken in; `memory ingest` does it"
    try:
        waiting = changed_files(find_sources(store.settings), store.archive, store.settings.clock())
    except MemoryAssetsError:
        return None  # a folder of the settings cannot be read
    for path in (file.path for file in waiting):
        if path.is_file() and path.stat().st_size <= LARGEST_FILE and needle in path.read_bytes().lower():
            return WhyNot(wanted, "not taken in", because, path=str(path))
    return None
