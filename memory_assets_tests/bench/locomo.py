"""Finding the turns of long conversations that answer a question: LoCoMo (Maharana et al. 2024), measured, never fitted to.

Each conversation is a memory of its own: its turns are messages, its sessions sessions. Ours is asked through `MemoryAgent`
with `corpus="messages"` and the moment of the last turn, nothing else; the recipes beside it are given the same texts and the
same vectors. Questions of categories 1 to 4 that name their evidence count (multi-hop, temporal, open, single-hop). Intervals
are of the difference to the strongest recipe, by bootstrap over questions. No weight was chosen on these questions.
"""

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from memory_assets.memory import MemoryAgent
from memory_assets.schema.frames import empty
from memory_assets.services.search.corpus import open_embedder, open_texts, passages_to_index
from memory_assets.stages.embed.encode import encode_passages, make_passages
from memory_assets.store.settings import Settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.bench.recipes import Recipes
from memory_assets_tests.bench.row import Row
from memory_assets_tests.bench.transcripts import SHARED
from memory_assets_tests.factories import frame, row
from memory_assets_tests.text_rows import text_rows

FOLDER = SHARED / "locomo"
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
STRONGEST = "strongest known"
OURS = "ours"
AHEAD = 0.02
"""How far ours must be ahead of the strongest recipe in recall@10."""

SAMPLES = 2_000


@dataclass(frozen=True)
class Question:
    """A question with the ids of the turns that answer it."""

    text: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True)
class Turn:
    """One turn of a conversation."""

    id: str
    session: str
    said_at: datetime
    text: str


def locomo(small: bool = False) -> list[Row]:
    """Returns the recall@10 of each recipe and of ours, and by how much ours is ahead."""
    files = sorted(FOLDER.glob("*.json")) if FOLDER.is_dir() else []
    if not files:
        print(f"locomo: no conversations; {FOLDER} does not exist on this machine")
        return []
    found: dict[str, list[list[float]]] = {}
    categories: list[int] = []
    conversations = [one for file in files for one in json.loads(file.read_text("utf-8"))]
    for conversation in conversations[: 1 if small else None]:
        turns, asked = (
            list(read_turns(conversation["conversation"])),
            list(read_questions(conversation)),
        )
        categories += [question.category for question in asked]
        for name, rankings in rank_all(turns, asked).items():
            found.setdefault(name, []).extend(
                score(ids, one.evidence) for ids, one in zip(rankings, asked, strict=True)
            )
    return list(
        rows({name: np.array(scores) for name, scores in found.items()}, np.array(categories))
    )


def rows(found: Mapping[str, np.ndarray], categories: np.ndarray) -> Iterator[Row]:
    """Yields the rows; `found` has recall@5, recall@10, hit@10 and the reciprocal rank of each question."""
    for name, scores in found.items():
        at5, at10, hit, mrr = scores.mean(axis=0)
        each = ", ".join(
            f"{label} {scores[categories == n, 1].mean():.3f}" for n, label in CATEGORIES.items()
        )
        told = f"recall@10; recall@5 {at5:.3f}, hit@10 {hit:.3f}, MRR {mrr:.3f}; {each}; {len(scores)} questions"
        yield Row(f"locomo: {name}", float(at10), told)
    ahead = found[OURS] - found[STRONGEST]
    yield Row(
        "locomo: ours ahead, recall@10",
        float(ahead[:, 1].mean()),
        _interval(ahead[:, 1]),
        floor=AHEAD,
    )
    yield Row(
        "locomo: ours ahead, MRR", float(ahead[:, 3].mean()), _interval(ahead[:, 3]), floor=0.0
    )
    for number, label in CATEGORIES.items():
        of = ahead[categories == number, 1]
        high = float(np.percentile(_means(of), 97.5))
        yield Row(
            f"locomo: ours in {label}, upper bound",
            high,
            f"mean {of.mean():+.3f}, {_interval(of)}",
            floor=0.0,
        )


def read_turns(conversation: Mapping[str, Any]) -> Iterator[Turn]:
    """Yields the turns in order, one second apart within a session."""
    number = 1
    while (
        turns := conversation.get(f"session_{number}")
    ) is not None or f"session_{number}_date_time" in conversation:
        began = datetime.strptime(
            conversation[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y"
        ).replace(tzinfo=UTC)
        for place, turn in enumerate(turns or []):
            shown = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
            said = f"{turn['speaker']}: {turn['text']}{shown}"
            yield Turn(
                turn["dia_id"], f"session-{number:03d}", began + timedelta(seconds=place), said
            )
        number += 1


def read_questions(conversation: Mapping[str, Any]) -> Iterator[Question]:
    """Yields the questions of categories 1 to 4 that name turns as their evidence."""
    known = {turn.id for turn in read_turns(conversation["conversation"])}
    for one in conversation["qa"]:
        evidence = frozenset(one.get("evidence", ())) & known
        if one["category"] in CATEGORIES and evidence:
            yield Question(one["question"], one["category"], evidence)


def rank_all(turns: Sequence[Turn], asked: Sequence[Question]) -> dict[str, list[list[str]]]:
    """Returns, by recipe, the ids of the turns for each question, best first."""
    with tempfile.TemporaryDirectory(prefix="bench-locomo-") as folder:
        store = open_store(
            Settings(data=Path(folder), timezone="UTC", owner="reader", now=turns[-1].said_at)
        )
        fill(store, turns)
        agent, embedder = MemoryAgent(store.settings), open_embedder(store.settings.embedding_model)
        texts = open_texts(store).open("messages")
        assert texts is not None
        written = {turn.id: turn.text for turn in turns}
        ids = [texts.parent_ids[int(parent)] for parent in texts.parents]
        recipes = Recipes([written[id] for id in ids], texts, texts.vectors.astype(np.float32))
        found: dict[str, list[list[str]]] = {}
        for question in asked:
            for name, scores in recipes.scores(
                question.text, embedder.encode_query(question.text)
            ).items():
                best = [ids[place] for place in np.argsort(-scores, kind="stable")]
                found.setdefault(name, []).append(list(dict.fromkeys(best)))
            answer = agent.recall(
                question.text, corpus="messages", now=turns[-1].said_at, probe=True
            )
            found.setdefault(OURS, []).append([one.memory_id for one in answer.results])
        return found


def fill(store: Store, turns: Sequence[Turn]) -> None:
    """Writes the conversation into the store as messages, and builds its text index."""
    day = turns[0].said_at.date()
    sessions = dict.fromkeys(turn.session for turn in turns)
    windows = [
        row(
            "windows",
            window_id=s,
            session_id=s,
            status="observed",
            person="",
            project="chat",
            day=day,
        )
        for s in sessions
    ]
    messages = [
        row(
            "messages", message_id=turn.id, session_id=turn.session, window_id=turn.session, day=day, ordinal=place, line=place,
            author="owner", kind="text", event_at=turn.said_at, text=turn.text,
        )
        for place, turn in enumerate(turns)
    ]  # fmt: skip
    said, part = frame("messages", *messages), day.isoformat()
    store.tables.write("windows", "all", frame("windows", *windows))
    store.tables.write("messages", part, said)
    store.tables.write("memories", "all", empty("memories"))
    store.tables.write("passages", part, make_passages(day, said))
    store.tables.write(
        "passage_vectors",
        part,
        encode_passages(day, said, open_embedder(store.settings.embedding_model)),
    )
    open_texts(store).update(text_rows(empty("memories"), passages_to_index(store.tables)), [])


def score(ids: Sequence[str], evidence: frozenset[str]) -> list[float]:
    """Returns recall@5, recall@10, hit@10 and the reciprocal rank of the first turn of the evidence."""
    at5, at10 = (len(evidence & set(ids[:k])) / len(evidence) for k in (5, 10))
    rank = next((1 / place for place, id in enumerate(ids, 1) if id in evidence), 0.0)
    return [at5, at10, float(at10 > 0), rank]


def _means(differences: np.ndarray) -> np.ndarray:
    rng = np.random.default_rng(0)
    return differences[rng.integers(0, len(differences), (SAMPLES, len(differences)))].mean(axis=1)


def _interval(differences: np.ndarray) -> str:
    low, high = np.percentile(_means(differences), [2.5, 97.5])
    return f"95 % [{low:+.3f}, {high:+.3f}]"
