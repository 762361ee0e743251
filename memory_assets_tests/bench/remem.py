"""What a public set of written memories and questions finds: `../shared/data/remem`, data of another memory (MIT).

Its active memories are saved with `remember`, one project each, and every question is asked from its project, with at most five
results. A question is found when a piece of its evidence comes back; some name two, and how many have all is printed beside it.
Of a question that nothing answers, nothing may come back.
"""

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_assets.memory import MemoryAgent
from memory_assets.stages.recall.results import Answer
from memory_assets.store.settings import read_settings
from memory_assets_tests.bench.row import Row
from memory_assets_tests.bench.transcripts import SHARED

GOLDEN = SHARED / "remem" / "golden.json"
LIMIT = 5
SMALL_STEP = 10
"""The small row asks every tenth question."""

NOW = datetime(2026, 11, 28, tzinfo=UTC)
ABSTENTION = "abstention"


@dataclass(frozen=True)
class Asked:
    """A question with its answer, and the places of its pieces of evidence among the results."""

    slice: str
    question: str
    answer: Answer
    places: Sequence[int]
    """From 1; 0 of a piece that did not come back."""

    @property
    def is_right(self) -> bool:
        """Whether evidence came back; of a question that nothing answers, whether nothing did."""
        return any(self.places) if self.places else not self.answer.results

    @property
    def reciprocal_rank(self) -> float:
        """One over the place of the first piece of evidence."""
        return max((1 / place for place in self.places if place), default=0.0)


def remem(small: bool = False) -> list[Row]:
    """Returns the share of right answers of each slice, and of all questions that have an answer."""
    if not GOLDEN.is_file():
        print(f"remem: no questions; {GOLDEN} does not exist on this machine")
        return []
    with tempfile.TemporaryDirectory(prefix="bench-remem-") as folder:
        asked = list(ask_all(Path(folder), SMALL_STEP if small else 1))
    slices = {question.slice: 0 for question in asked}
    rows = [_row(name, [each for each in asked if each.slice == name]) for name in slices]
    return [_row("answerable", [each for each in asked if each.slice != ABSTENTION]), *rows]


def ask_all(folder: Path, step: int = 1) -> Iterator[Asked]:
    """Yields the questions with their answers, of a store in the folder."""
    golden = json.loads(GOLDEN.read_text("utf-8"))
    agent = MemoryAgent(read_settings(data=folder / "store", timezone="UTC"))
    for memory in golden["corpus"]:
        if memory.get("status", "active") == "active":
            agent.remember(memory["content"], project=memory["project"])
    for query in golden["queries"][::step]:
        yield _ask(agent, query)


def _ask(agent: MemoryAgent, query: Mapping[str, Any]) -> Asked:
    asked = {"project": query["project"], "limit": LIMIT, "probe": True, "now": NOW}
    answer = agent.recall(query["query"], **asked)
    texts = [result.text for result in answer.results]
    pieces = [piece["text_contains"] for piece in query["evidence_refs"]]
    places = [_place(piece, texts) for piece in pieces]
    return Asked(query["slice"], query["query"], answer, places)


def _place(piece: str, texts: Sequence[str]) -> int:
    places = (place for place, text in enumerate(texts, start=1) if piece in text)
    return next(places, 0)


def _row(name: str, asked: Sequence[Asked]) -> Row:
    right = sum(each.is_right for each in asked)
    mean = sum(each.reciprocal_rank for each in asked) / max(len(asked), 1)
    measure = "nothing returned" if name == ABSTENTION else f"hit@{LIMIT}"
    whole = sum(all(each.places) for each in asked)
    rank = "" if name == ABSTENTION else f", {whole} with all evidence, MRR {mean:.3f}"
    figures = f"{right} of {len(asked)}{rank}"
    return Row(f"remem: {name}, {measure}", right / max(len(asked), 1), figures)
