"""Computes the weights of `answerability` and how many questions it refuses: `python -m memory_assets_tests.bench.fit_answerability`.

Questions with an answer count where it is among the five results that are returned when nothing is refused; those of
`unknown.toml` have none. Fitted is on `dev`; `--held` prints the figures of the third that was put away, too.
"""

import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from memory_assets.memory import MemoryAgent
from memory_assets.stages.recall import answerability as judged
from memory_assets.stages.recall import search
from memory_assets_tests.bench.questions import load_scorer, read_gold, shown_of
from memory_assets_tests.bench.whole_store import whole_store
from memory_assets_tests.stages.recall.leaving_out import build, cases, half_of
from memory_assets_tests.stages.recall.unknown import unknown_questions

LIMIT = 5
RIDGE = 0.003
STEPS = 60
NAMES = ("RELEVANCE", "SIZE × UNCOVERED", "SIZE × MISSED_NAME", "UNKNOWN_NAME", "NAME_ALONE")


@dataclass(frozen=True)
class Asked:
    """A question, whether its answer is returned, and what its candidates say."""

    half: str
    is_answerable: bool
    likelihood: float
    signals: Sequence[float]


def main(arguments: Sequence[str]) -> None:
    """Prints the weights, and the figures of each memory."""
    memories = {"transcripts": list(ask_transcripts()), "fifty facts": list(ask_facts())}
    fitted = weights_of({name: _half(asked, "dev") for name, asked in memories.items()})
    print(
        ", ".join(
            f"{name} {weight:.2f}"
            for name, weight in zip((*NAMES, "CONSTANT"), fitted, strict=True)
        )
    )
    for half in ("dev", "held") if "--held" in arguments else ("dev",):
        for name, asked in memories.items():
            print(f"{name}, {half}: {figures(_half(asked, half))}")


def ask_transcripts() -> Iterator[Asked]:
    """Yields the questions about the transcripts whose answer is returned, and those without one."""
    agent, scorer = whole_store(), load_scorer()
    for _, question, session in scorer.questions(read_gold(False)):
        answer, asked = ask(agent, question["question"], is_answerable=True)
        if any(scorer.answers_it(shown, question, session) for shown in shown_of(answer)):
            yield asked
    yield from _ask_unknown(agent)


def ask_facts() -> Iterator[Asked]:
    """Yields the same of the fifty facts."""
    with tempfile.TemporaryDirectory() as folder:
        agent = build(Path(folder))
        plain = [case for case in cases() if not case.is_filtered and case.kind != "drift"]
        for case in plain:
            yield ask(
                agent,
                case.question,
                is_answerable=bool(case.must),
                half=case.half,
                options=case.asked,
            )[1]
        yield from _ask_unknown(agent)


def _ask_unknown(agent: MemoryAgent) -> Iterator[Asked]:
    for questions in unknown_questions().values():
        for question in questions:
            yield ask(agent, question, is_answerable=False)[1]


def ask(
    agent: MemoryAgent,
    question: str,
    *,
    is_answerable: bool,
    half: str = "",
    options: Mapping[str, Any] | None = None,
) -> tuple[Any, Asked]:
    """Returns the answer when nothing is refused, and the question with its signals."""
    with refusing_nothing() as seen:
        answer = agent.recall(question, limit=LIMIT, probe=True, **(options or {}))
    signals, texts, likelihood = seen[-1]
    return answer, Asked(
        half or half_of(question), is_answerable, likelihood, signals_of(signals, texts)
    )


@contextmanager
def refusing_nothing() -> Iterator[list[tuple[judged.AnswerSignals, int, float]]]:
    """Gives what is judged meanwhile."""
    seen: list[tuple[judged.AnswerSignals, int, float]] = []

    def judge(signals: judged.AnswerSignals, texts: int) -> float:
        seen.append((signals, texts, judged.answerability(signals, texts)))
        return 1.0

    original: Callable[..., float] = search.answerability
    search.answerability = judge
    try:
        yield seen
    finally:
        search.answerability = original


def signals_of(signals: judged.AnswerSignals, texts: int) -> list[float]:
    """Returns what the weights of NAMES belong to."""
    size = judged.size_of(texts)
    best = size * judged.NEARNESS * signals.nearness + (1 - size) * signals.best
    doubts = (
        size * signals.uncovered,
        size * signals.is_name_missed,
        (1 - size) * signals.is_name_unknown,
    )
    return [max(signals.memory, best), *doubts, float(signals.is_name_alone)]


def weights_of(memories: Mapping[str, Sequence[Asked]]) -> np.ndarray:
    """Returns the weights and the constant; each memory and each kind of answer weighs the same."""
    asked = [each for questions in memories.values() for each in questions]
    answers = np.array([each.is_answerable for each in asked], dtype=float)
    shares = [_shares(questions) for questions in memories.values()]
    weights = np.concatenate(shares)
    columns = np.column_stack([[each.signals for each in asked], np.ones(len(asked))])
    ridge = RIDGE * np.diag([*np.ones(len(NAMES)), 0.0]) * columns.var(axis=0)
    fitted = np.zeros(len(NAMES) + 1)
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-columns @ fitted))
        slope = columns.T @ (weights * (likely - answers)) + ridge @ fitted
        curve = (columns * (weights * likely * (1 - likely))[:, None]).T @ columns + ridge
        fitted -= np.linalg.solve(curve + 1e-9 * np.eye(len(fitted)), slope)
    return fitted


def _shares(questions: Sequence[Asked]) -> np.ndarray:
    answers = np.array([each.is_answerable for each in questions])
    return np.where(answers, 0.25 / max(answers.sum(), 1), 0.25 / max((~answers).sum(), 1))


def figures(asked: Sequence[Asked]) -> str:
    """Returns how many questions without an answer are answered, and how many with one are lost, at the threshold."""
    known = np.array([each.likelihood for each in asked if each.is_answerable])
    unknown = np.array([each.likelihood for each in asked if not each.is_answerable])
    area = float((known[:, None] > unknown).mean() + 0.5 * (known[:, None] == unknown).mean())
    answered = int((unknown >= judged.KNOWN).sum())
    lost = int((known < judged.KNOWN).sum())
    return f"{answered} of {len(unknown)} without an answer answered, {lost} of {len(known)} lost, AUC {area:.3f}"


def _half(asked: Sequence[Asked], half: str) -> list[Asked]:
    return [each for each in asked if each.half == half]


if __name__ == "__main__":
    main(sys.argv[1:])
