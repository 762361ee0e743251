"""Whether recall says "not in memory" when it is not: questions without an answer beside questions with one.

Asked are the store of all transcripts, of which the labelled questions are answered and those of `unknown.toml` are not, and
the fifty facts of the leaving-out suite. An answerable question is lost when it is declared unknown, whatever was found. The
share told is that of the unanswerable questions declared unknown at the threshold that loses at most 3 % of the answerable
ones. The calibration error is the mean distance between the likelihood and the share of answerable questions in ten classes of
likelihood, both kinds of questions weighing the same; the peer declares unknown what has no text near enough (the greatest cosine), with its own such threshold. The constants
were fitted on `dev`; `held` is the third that they have not seen.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from memory_assets.memory import MemoryAgent
from memory_assets.services.search.corpus import open_embedder, open_texts
from memory_assets_tests.bench.row import Row
from memory_assets_tests.bench.transcripts import LABELS, SHARED
from memory_assets_tests.bench.whole_store import whole_store
from memory_assets_tests.stages.recall.leaving_out import build, cases, half_of
from memory_assets_tests.stages.recall.unknown import unknown_questions

LOST = 0.03
CLASSES = 10
SMALL_STEP = 10
"""The small row asks every tenth question."""

SCORER = SHARED.parent / "tools" / "score_gold.py"


@dataclass(frozen=True)
class Told:
    """A question with what is said of it."""

    grade: str
    """answerable, or how far from anything said: far, other technology, same project."""
    half: str
    ours: float
    nearest: float
    is_declared: bool
    """Recall said "not in memory" at its own threshold."""

    @property
    def is_answerable(self) -> bool:
        """Whether the answer is in memory."""
        return self.grade == "answerable"


def honesty(small: bool = False) -> list[Row]:
    """Returns the share told over both memories and each, by half and grade, beside the greatest cosine."""
    step = SMALL_STEP if small else 1
    with tempfile.TemporaryDirectory(prefix="bench-honesty-") as name:
        facts = _ask_facts(build(Path(name)), step)
    if not (LABELS.is_dir() and SCORER.is_file()):
        print(f"honesty: no labelled questions; {SCORER} does not exist on this machine")
        return _rows("fifty facts", facts)
    transcripts = _ask_transcripts(whole_store(small), step)
    return [
        *_rows("transcripts", transcripts),
        *_rows("fifty facts", facts),
        *(
            _share(f"honesty: transcripts, {grade}", transcripts, grade)
            for grade in unknown_questions()
        ),
    ]


def _ask_transcripts(agent: MemoryAgent, step: int) -> list[Told]:
    listed = subprocess.run(
        [sys.executable, str(SCORER), str(LABELS), "--questions"],
        check=True,
        capture_output=True,
        text=True,
    )
    asked = [("answerable", json.loads(line)["question"]) for line in listed.stdout.splitlines()]
    asked += [
        (grade, question)
        for grade, questions in unknown_questions().items()
        for question in questions
    ]
    nearest = _nearest(agent)
    return [
        _told(agent, grade, question, question, {}, nearest) for grade, question in asked[::step]
    ]


def _ask_facts(agent: MemoryAgent, step: int) -> list[Told]:
    plain = [case for case in cases() if not case.is_filtered and case.kind != "drift"]
    asked = [("answerable", case.id, case.question, case.asked) for case in plain if case.must]
    asked += [
        ("off topic", case.id, case.question, case.asked)
        for case in plain
        if case.kind == "off_topic"
    ]
    asked += [
        (grade, question, question, {})
        for grade, questions in unknown_questions().items()
        for question in questions
    ]
    nearest = _nearest(agent)
    return [
        _told(agent, grade, name, question, how, nearest)
        for grade, name, question, how in asked[::step]
    ]


def _told(
    agent: MemoryAgent, grade: str, name: str, question: str, how, nearest: Callable[[str], float]
) -> Told:
    answer = agent.recall(question, profile="deep", probe=True, **how)
    return Told(grade, half_of(name), answer.likelihood, nearest(question), not answer.is_known)


def _nearest(agent: MemoryAgent) -> Callable[[str], float]:
    """Returns what gives a question's greatest cosine over all memories and passages."""
    store = agent.store
    embedder, texts = open_embedder(store.settings.embedding_model), open_texts(store)
    memories = store.tables.read("memories").filter(state="active").join(
        store.tables.read("embeddings").unique("text_hash"), on="text_hash"
    )  # fmt: skip
    said = texts.open("messages")
    vectors = [np.array(memories["vector"].to_list(), dtype=np.float32)]
    vectors += (
        [said.vectors.astype(np.float32)] if said is not None and said.vectors.shape[1] else []
    )
    everything = np.concatenate(vectors)
    return lambda question: float((everything @ embedder.encode_query(question)).max())


def _rows(name: str, told: Sequence[Told]) -> list[Row]:
    rows = [_row(f"honesty: {name}, ours", told, lambda one: one.ours, is_ours=True)]
    rows += [
        _row(
            f"honesty: {name}, ours, {half}",
            [one for one in told if one.half == half],
            lambda one: one.ours,
            is_ours=True,
        )
        for half in ("dev", "held")
    ]
    rows += [_calibration(name, told, half) for half in ("dev", "held")]
    return [*rows, _row(f"honesty: {name}, greatest cosine", told, lambda one: one.nearest)]


def _calibration(name: str, told: Sequence[Told], half: str) -> Row:
    own = [one for one in told if one.half == half]
    error, classes = calibration_error(
        [one.ours for one in own], [one.is_answerable for one in own]
    )
    told_as = ", ".join(f"{said:.2f} → {true:.2f}" for said, true in classes)
    return Row(
        f"honesty: {name}, ours, {half}, calibration error", error, f"likelihood → share: {told_as}"
    )


def calibration_error(
    likelihoods: Sequence[float], is_true: Sequence[bool]
) -> tuple[float, list[tuple[float, float]]]:
    """Returns the expected calibration error, and the mean likelihood and the true share of each class that has questions."""
    said, true = np.array(likelihoods), np.array(is_true, dtype=float)
    weights = np.where(true > 0, 0.5 / max(true.sum(), 1), 0.5 / max((1 - true).sum(), 1))
    places, error, found = (
        np.minimum((said * CLASSES).astype(int), CLASSES - 1),
        0.0,
        list[tuple[float, float]](),
    )
    for place in np.unique(places):
        own = places == place
        means = (
            float(np.average(said[own], weights=weights[own])),
            float(np.average(true[own], weights=weights[own])),
        )
        error += float(weights[own].sum()) * abs(means[0] - means[1])
        found.append(means)
    return error, found


def _row(
    name: str, told: Sequence[Told], score: Callable[[Told], float], *, is_ours: bool = False
) -> Row:
    known = np.array([score(one) for one in told if one.is_answerable])
    unknown = np.array([score(one) for one in told if not one.is_answerable])
    threshold = np.sort(known)[int(LOST * len(known))]
    area = float((known[:, None] > unknown).mean() + 0.5 * (known[:, None] == unknown).mean())
    figures = [
        f"{int((unknown < threshold).sum())} of {len(unknown)} told at {threshold:.2f}",
        f"{int((known < threshold).sum())} of {len(known)} lost",
        f"AUC {area:.3f}",
    ]
    if is_ours:
        declared = [
            sum(one.is_declared for one in told if one.is_answerable is answerable)
            for answerable in (False, True)
        ]
        figures.append(f"as set: {declared[0]} told, {declared[1]} lost")
    return Row(name, float((unknown < threshold).mean()), ", ".join(figures))


def _share(name: str, told: Sequence[Told], grade: str) -> Row:
    own = [one for one in told if one.grade == grade]
    declared = sum(one.is_declared for one in own)
    return Row(name, declared / len(own), f"{declared} of {len(own)} told as set")
