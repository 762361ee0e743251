"""Asks a model about pairs of facts that the rules leave in doubt, and reads its stored answers.

Takes the edges of `merge` and the observations. `plan_questions` returns the questions about pairs
without an answer, many pairs in each; `decide` returns the edges, with the doubtful ones decided by
the answers. A verdict is found by the two texts, whichever model gave it, so that a pair is paid
for once. A pair without a usable verdict stays in doubt: it neither merges nor conflicts.

A pair is asked about only if its verdict can change the memories: of each fact the nearest older
one, and the next one after "different".
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from memory_assets.schema.protocols import ModelAnswer, ModelRequest
from memory_assets.schema.vocabulary import CONFLICT, DOUBTFUL, SAME
from memory_assets.stages.distill.model.answers import AnswerKey, AnswerStore, StoredAnswer
from memory_assets.stages.distill.model.material import fenced, read_prompt
from memory_assets.stages.embed.conflicts import OPPOSITE, OTHER_VALUE
from memory_assets.text.words import text_hash

SERIALISER_VERSION = "pairs/2"
FOLDER = "pairs"
"""Folder of the answers, below `answers/`."""

MOST_PAIRS = 20
"""Pairs in one question."""

TOKENS_A_PAIR = 40
"""Room in the answer for each pair."""

PAIRS_A_WINDOW = 3
"""Pairs that the facts of a window leave in doubt, for estimates before there are facts."""

_VERDICT = re.compile(
    r'(?i)<verdict(?:\s+pair="(\d+)")?>\s*(same|different|opposite|changed)\s*</verdict>'
)
_EDGE_OF = {
    "same": (SAME, "same claim by a model"),
    "opposite": (CONFLICT, OPPOSITE),
    "changed": (CONFLICT, OTHER_VALUE),
    "different": (DOUBTFUL, "different by a model"),
}
"""Verdict → relation and reason."""


@dataclass(frozen=True)
class PairQuestion:
    """One question about pairs of facts."""

    pairs: tuple[tuple[str, str], ...]
    """The older and the newer text of each."""
    model: str

    @property
    def key(self) -> AnswerKey:
        """The key of the answer: the texts, the prompt and the model."""
        content = " ".join(_content(*pair) for pair in self.pairs)
        options = f"max_tokens={self._max_tokens}"
        return AnswerKey(content, prompt_hash(), self.model, options, SERIALISER_VERSION)

    @property
    def _max_tokens(self) -> int:
        return TOKENS_A_PAIR * (len(self.pairs) + 1)

    def fault_of(self, answer: ModelAnswer) -> str:
        """Returns why the answer decides nothing; empty if it has a verdict."""
        return "" if _verdicts_in(answer.text) else "The answer has no verdict."

    def request(self) -> ModelRequest:
        """Returns the request to the model."""
        parts = [
            f"Pair {number}\n\n{fenced('older fact', older)}\n\n{fenced('newer fact', newer)}"
            for number, (older, newer) in enumerate(self.pairs, 1)
        ]
        prompt = read_prompt("embed", "pair_questions")
        return ModelRequest(prompt, "\n\n".join(parts), self._max_tokens)


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
    pairs = list(dict.fromkeys(_open_pairs(edges, texts, list(answers.every()))))
    starts = range(0, len(pairs), MOST_PAIRS)
    return [PairQuestion(tuple(pairs[start : start + MOST_PAIRS]), model) for start in starts]


def _open_pairs(
    edges: pl.DataFrame, texts: Mapping[str, str], answers: Sequence[StoredAnswer]
) -> Iterator[tuple[str, str]]:
    """Yields the pairs of texts whose verdict can change the memories.

    A fact that repeats another one, or is no longer in force, is not asked about.
    """
    asked = {content for stored in answers for content in stored.key.content.split()}
    verdicts = dict(_verdicts(answers))
    settled = set(edges.filter(relation=SAME)["newer_id"])
    replaced = set(edges.filter(relation=CONFLICT)["older_id"])
    doubtful = edges.filter(relation=DOUBTFUL)
    doubtful = doubtful.sort("similarity", "older_id", descending=True)
    for newer, older in doubtful.select("newer_id", "older_id").iter_rows():
        is_sent = newer in texts and older in texts
        if not is_sent or newer in settled or newer in replaced or older in replaced:
            continue
        pair = (texts[older], texts[newer])
        if verdicts.get(_content(*pair)) == "different":
            continue
        settled.add(newer)
        if _content(*pair) not in asked:
            yield pair


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
    """Yields the content hash of each pair with its verdict, the latest answer last."""
    whole = [stored for stored in answers if stored.is_whole]
    for stored in sorted(whole, key=lambda stored: stored.asked_at):
        verdicts = _verdicts_in(stored.answer.text)
        for number, content in enumerate(stored.key.content.split(), 1):
            if number in verdicts:
                yield content, verdicts[number]


def _verdicts_in(text: str) -> dict[int, str]:
    """Returns the verdict of each pair, by its number; a pair with several verdicts has none."""
    verdicts: dict[int, set[str]] = defaultdict(set)
    for number, verdict in _VERDICT.findall(text):
        verdicts[int(number or 1)].add(verdict.lower())
    return {number: choices.pop() for number, choices in verdicts.items() if len(choices) == 1}


def _content(older: str, newer: str) -> str:
    return text_hash(f"{text_hash(older)} {text_hash(newer)}")


def prompt_hash() -> str:
    """Returns the hash of the prompt, which is part of the key of its answers."""
    return text_hash(read_prompt("embed", "pair_questions"))[:12]
