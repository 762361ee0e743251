"""Scores facts against labelled sessions: recall by priority, recall of the owner's rules,
precision and noise, with intervals.

Takes labels and the facts of any extractor, gives figures and the outcome of every fact and label.
A fact matches a label if both say the same (`text_agreement.likeness`) and one of its lines is near
the label's evidence. Labels and facts are paired one to one, the most similar first, and a paired
fact is right. A second fact for the same label is neither right nor wrong; further ones are wrong.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import product
from operator import attrgetter
from typing import Literal

from memory_assets.extras.lab.labels import (
    LabelledFact,
    LabelledNoise,
    LabelledSession,
    session_id,
)
from memory_assets.stages.maintain.text_agreement import agreement, content_words, likeness

WEIGHTS = {"high": 3, "medium": 2, "low": 1}
"""Weight of a label of each priority in recall."""

REACH = 3
"""Most records between a fact's lines and a label's evidence for both to be at the same place."""

MOST_LINES = 12
"""A fact that names more records as its evidence matches no label."""

SAYS_NOISE = 0.5
"""Agreement in words with a noise label from which a fact is noise."""

NEAR_NOISE = 0.2
"""The same for a fact whose evidence has a record in common with the label."""

RESAMPLES = 400
"""Samples of the sessions that the bootstrap draws for an interval."""

LOW = 20
HIGH = 380
"""Positions of the 5th and the 95th percentile among the sorted samples."""

Outcome = Literal["right", "repeat", "neutral", "wrong", "noise"]


@dataclass(frozen=True, slots=True)
class Fact:
    """One extracted fact, with the records that it comes from."""

    session: str
    text: str
    lines: tuple[int, ...]
    gate: str = "allow"
    id: str = ""
    reason: str = ""
    """The write gate's reason, where it is known."""
    author: str = ""
    """Whose statement it is taken for, where it is known."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of wanted labels and of facts; counts of several sessions can be added.

    `want` are wanted labels, `got` those that a fact covers.
    """

    want: int = 0
    got: int = 0
    """Like `want`, weighted by priority."""
    want_high: int = 0
    got_high: int = 0
    rules_want: int = 0
    rules_got: int = 0
    """Like `rules_want`, of the owner's rules, preferences and corrections only."""
    allowed: int = 0
    judged: int = 0
    """Allowed facts that are right, wrong or noise; not those that match a held label or repeat a
    right fact.
    """
    right: int = 0
    noisy: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    @property
    def recall(self) -> float:
        """Share of the labels that were found, weighted by priority."""
        return _share(self.got, self.want)

    @property
    def recall_high(self) -> float:
        """Share of the high-priority labels that were found."""
        return _share(self.got_high, self.want_high)

    @property
    def recall_owner_rules(self) -> float:
        """Share of the owner's rules, preferences and corrections that were found."""
        return _share(self.rules_got, self.rules_want)

    @property
    def precision(self) -> float:
        """Share of the judged facts that are right."""
        return _share(self.right, self.judged)

    @property
    def noise(self) -> float:
        """Share of the allowed facts that match labelled noise."""
        return _share(self.noisy, self.allowed)

    @property
    def f1(self) -> float:
        """Harmonic mean of weighted recall and precision."""
        return 2 * self.recall * self.precision / max(self.recall + self.precision, 1e-9)


@dataclass(frozen=True, slots=True)
class Paired:
    """The outcome of one session's labels and facts."""

    session: str
    counts: Counts
    outcomes: tuple[tuple[Fact, Outcome], ...]
    """Allowed facts, in order."""
    label_of: Mapping[int, LabelledFact]
    """Position of a fact in `outcomes` → the label that it matches."""
    missed: tuple[LabelledFact, ...]
    """Wanted labels without an allowed fact."""


@dataclass(frozen=True, slots=True)
class Score:
    """The figures of several sessions together."""

    sessions: tuple[Paired, ...]
    counts: Counts
    intervals: Mapping[str, tuple[float, float]]
    """90 % bootstrap intervals of recall, recall of the owner's rules, and precision."""

    @property
    def most_in_a_session(self) -> int:
        """The largest number of allowed facts in a session."""
        return max(paired.counts.allowed for paired in self.sessions)

    @property
    def allowed_per_session(self) -> float:
        """Mean number of allowed facts in a session."""
        return self.counts.allowed / len(self.sessions)

    @property
    def at_zero(self) -> tuple[str, ...]:
        """Sessions in which no wanted label was found."""
        return tuple(paired.session for paired in self.sessions if not paired.counts.got)


def score(labelled: Sequence[LabelledSession], facts: Sequence[Fact], *, seed: int = 0) -> Score:
    """Returns how well the facts cover the labels, which are of one session at least."""
    facts_of: defaultdict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        facts_of[session_id(fact.session)].append(fact)
    sessions = tuple(pair(labels, facts_of[labels.id]) for labels in labelled)
    counts = [paired.counts for paired in sessions]
    return Score(sessions, sum(counts, Counts()), _intervals(counts, seed))


def _intervals(counts: Sequence[Counts], seed: int) -> dict[str, tuple[float, float]]:
    """Returns the 90 % intervals of a bootstrap: figures of sessions drawn with replacement."""
    rng = random.Random(seed)
    samples = [sum(rng.choices(counts, k=len(counts)), Counts()) for _ in range(RESAMPLES)]
    intervals = {}
    for name in ("recall", "recall_owner_rules", "precision"):
        values = sorted(map(attrgetter(name), samples))
        intervals[name] = (round(values[LOW], 3), round(values[HIGH], 3))
    return intervals


def pair(labels: LabelledSession, facts: Sequence[Fact]) -> Paired:
    """Returns the outcome of each label and each allowed fact of a session."""
    allowed = [fact for fact in facts if fact.gate == "allow"]
    place_of, repeats = _matched(labels.facts, allowed)
    label_of = {number: labels.facts[place] for number, place in place_of.items()}
    outcomes: list[tuple[Fact, Outcome]] = []
    for number, fact in enumerate(allowed):
        outcome = _outcome(fact, labels, label_of.get(number), is_repeat=number in repeats)
        outcomes.append((fact, outcome))
    matched_places = frozenset(place_of.values())
    wanted = [(place, label) for place, label in enumerate(labels.facts) if label.gate != "hold"]
    covered = [label for place, label in wanted if place in matched_places]
    missed = tuple(label for place, label in wanted if place not in matched_places)
    counts = _counts(covered, missed, [outcome for _, outcome in outcomes])
    return Paired(labels.session, counts, tuple(outcomes), label_of, missed)


def _matched(
    labels: Sequence[LabelledFact], facts: Sequence[Fact]
) -> tuple[dict[int, int], set[int]]:
    """Returns the position of the label that each fact matches, one to one, and the facts that
    repeat such a label; facts are named by their position.
    """
    pairs = []
    for (number, fact), (place, label) in product(enumerate(facts), enumerate(labels)):
        similarity = 0.0
        if is_placed(fact, label):
            similarity = likeness(fact.text, label.text, label.key_terms)
        if similarity:
            pairs.append((similarity, number, place))
    pairs.sort(reverse=True)
    place_of = _one_to_one((number, place) for _, number, place in pairs)
    repeats = _one_to_one((number, place) for _, number, place in pairs if number not in place_of)
    return place_of, set(repeats)


def _one_to_one(pairs: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Returns the pairs in order; a pair is left out if an earlier one holds one of its sides."""
    place_of: dict[int, int] = {}
    for number, place in pairs:
        if number not in place_of and place not in place_of.values():
            place_of[number] = place
    return place_of


def is_placed(fact: Fact, label: LabelledFact) -> bool:
    """Returns whether the fact has few enough records, one of them near the label's evidence."""
    if len(fact.lines) > MOST_LINES:
        return False
    return any(abs(line - record) <= REACH for line in fact.lines for record in label.evidence)


def _outcome(
    fact: Fact, labels: LabelledSession, label: LabelledFact | None, *, is_repeat: bool
) -> Outcome:
    if label:
        return "neutral" if label.gate == "hold" else "right"
    if is_repeat:
        return "repeat"
    return "noise" if find_noise(fact, labels.noise) else "wrong"


def find_noise(fact: Fact, noise: Sequence[LabelledNoise]) -> LabelledNoise | None:
    """Returns the first noise label that the fact agrees with.

    Less agreement is enough where both name the same records.
    """
    words = content_words(fact.text)
    for label in noise:
        is_near = not set(fact.lines).isdisjoint(label.evidence)
        least = NEAR_NOISE if is_near else SAYS_NOISE
        if agreement(words, content_words(label.text)) >= least:
            return label
    return None


def _counts(
    covered: Sequence[LabelledFact], missed: Sequence[LabelledFact], outcomes: Sequence[Outcome]
) -> Counts:
    wanted = [*covered, *missed]
    return Counts(
        want=sum(WEIGHTS[label.priority] for label in wanted),
        got=sum(WEIGHTS[label.priority] for label in covered),
        want_high=sum(label.priority == "high" for label in wanted),
        got_high=sum(label.priority == "high" for label in covered),
        rules_want=sum(label.is_owners_rule for label in wanted),
        rules_got=sum(label.is_owners_rule for label in covered),
        allowed=len(outcomes),
        judged=sum(outcome in ("right", "wrong", "noise") for outcome in outcomes),
        right=outcomes.count("right"),
        noisy=outcomes.count("noise"),
    )


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
