"""Asks a model about pairs of facts that the rules leave in doubt, and reads its stored answers.

Takes the edges of `merge` and the observations. `plan_questions` returns one question for each
doubtful pair without an answer; `decide` returns the edges, with the doubtful ones decided by the
answers. An answer is found by the two texts, whichever model gave it, so that a pair is paid for
once. A pair without a usable answer stays in doubt: it neither merges nor conflicts.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from memory_assets.schema.protocols import ModelAnswer, ModelRequest
from memory_assets.schema.vocabulary import CONFLICT, DOUBTFUL, SAME
from memory_assets.stages.distill.model.answers import AnswerKey, AnswerStore, StoredAnswer
from memory_assets.stages.distill.model.material import fenced, read_prompt
from memory_assets.stages.embed.conflicts import OPPOSITE, OTHER_VALUE
from memory_assets.text.words import text_hash

SERIALISER_VERSION = "pairs/1"
MAX_TOKENS = 200
FOLDER = "pairs"
"""Folder of the answers, below `answers/`."""

_VERDICT = re.compile(r"(?i)<verdict>\s*(same|different|opposite|changed)\s*</verdict>")
_EDGE_OF = {
    "same": (SAME, "same claim by a model"),
    "opposite": (CONFLICT, OPPOSITE),
    "changed": (CONFLICT, OTHER_VALUE),
    "different": (DOUBTFUL, "different by a model"),
}
"""Verdict → relation and reason."""


@dataclass(frozen=True)
class PairQuestion:
    """One question about two facts."""

    older: str
    newer: str
    model: str

    @property
    def key(self) -> AnswerKey:
        """The key of the answer: the two texts, the prompt and the model."""
        content = _content(self.older, self.newer)
        options = f"max_tokens={MAX_TOKENS}"
        return AnswerKey(content, prompt_hash(), self.model, options, SERIALISER_VERSION)

    def fault_of(self, answer: ModelAnswer) -> str:
        """Returns why the answer decides nothing; empty if it has one verdict."""
        return "" if _verdict_in(answer.text) else "The answer has not exactly one verdict."

    def request(self) -> ModelRequest:
        """Returns the request to the model."""
        material = f"{fenced('older fact', self.older)}\n\n{fenced('newer fact', self.newer)}"
        return ModelRequest(read_prompt("embed", "pair_questions"), material, MAX_TOKENS)


def plan_questions(
    edges: pl.DataFrame,
    observations: pl.DataFrame,
    model: str,
    answers: AnswerStore,
    may_send: Callable[[str], bool],
) -> list[PairQuestion]:
    """Returns the questions about doubtful pairs of allowed facts that have no answer yet.

    `may_send` says whether facts of a project may be sent to the model.
    """
    facts = observations.filter(gate="allow").select("id", "text", "project")
    texts = {id: text for id, text, project in facts.iter_rows() if may_send(project)}
    answered = {stored.key.content for stored in answers.every()}
    questions: dict[PairQuestion, None] = {}
    for newer, older in edges.filter(relation=DOUBTFUL).select("newer_id", "older_id").iter_rows():
        if newer in texts and older in texts:
            question = PairQuestion(texts[older], texts[newer], model)
            if _content(question.older, question.newer) not in answered:
                questions[question] = None
    return list(questions)


def decide(
    edges: pl.DataFrame, observations: pl.DataFrame, answers: Iterable[StoredAnswer]
) -> pl.DataFrame:
    """Returns the edges, those in doubt decided by the stored answers."""
    verdicts = dict(_verdicts(answers))
    if not verdicts:
        return edges
    texts = dict(observations.select("id", "text").iter_rows())
    rows = [_decided(row, texts, verdicts) for row in edges.iter_rows(named=True)]
    return pl.DataFrame(rows, schema=edges.schema)


def _decided(row: dict, texts: Mapping[str, str], verdicts: Mapping[str, str]) -> dict:
    content = _content(texts.get(row["older_id"], ""), texts.get(row["newer_id"], ""))
    if row["relation"] != DOUBTFUL or content not in verdicts:
        return row
    relation, reason = _EDGE_OF[verdicts[content]]
    return row | {"relation": relation, "reason": reason}


def _verdicts(answers: Iterable[StoredAnswer]) -> Iterator[tuple[str, str]]:
    """Yields the content hash of each question with its verdict, the latest answer last.

    Answers without exactly one verdict are left out.
    """
    for stored in sorted(answers, key=lambda stored: stored.asked_at):
        verdict = _verdict_in(stored.answer.text)
        if stored.is_whole and verdict:
            yield stored.key.content, verdict


def _verdict_in(text: str) -> str:
    """Returns the verdict, if the text has exactly one."""
    verdicts = {verdict.lower() for verdict in _VERDICT.findall(text)}
    return verdicts.pop() if len(verdicts) == 1 else ""


def _content(older: str, newer: str) -> str:
    return text_hash(f"{text_hash(older)} {text_hash(newer)}")


def prompt_hash() -> str:
    """Returns the hash of the prompt, which is part of the key of its answers."""
    return text_hash(read_prompt("embed", "pair_questions"))[:12]
