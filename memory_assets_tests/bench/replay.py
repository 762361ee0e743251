"""What becomes of a model's answers: the recorded ones through parser, grounding and gate, and where facts and labels are lost.

A labelled session is one window, since its recorded answer is about all of it. The first rows are the figures of the product's
scorer. The others count what was lost on the way: of the facts that the model allowed, those that are not allowed in the end, by
reason; of the labels that the answer states, those that no allowed fact matches, by the stage that loses them.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

import polars as pl

from memory_assets.adapters.local_embedder import LocalEmbedder
from memory_assets.extras.lab.labels import LabelledSession, read_labels
from memory_assets.extras.lab.score import MOST_LINES, Fact, Score, is_placed, score
from memory_assets.schema.protocols import Embedder
from memory_assets.stages.distill.day import find_in_windows, judge_windows
from memory_assets.stages.distill.model.observer import Answered
from memory_assets.stages.distill.model.parser import ParsedFact, parse_answer
from memory_assets.stages.distill.standards import MOST_ALLOWED
from memory_assets.stages.distill.write_gate import GateResult
from memory_assets.stages.maintain.text_agreement import likeness
from memory_assets_tests.bench.gold import capture_labelled
from memory_assets_tests.bench.row import Row
from memory_assets_tests.bench.transcripts import LABELS, RECORDED
from memory_assets_tests.factories import frame, row

FLOORS = {"recall": 0.75, "recall_owner_rules": 0.75, "precision": 0.90}
CEILINGS = {"noise": 0.03}
KEPT = 0.97
"""Least share of the recall that the answers would have if all that they allow had perfect evidence."""

ZONE = ZoneInfo("UTC")
"""The zone of the stamps in the recorded answers."""


@dataclass(frozen=True)
class Replayed:
    """A session's answer, stage by stage."""

    session: str
    marked: int
    """Lines of the answer that hold a fact."""
    parsed: tuple[ParsedFact, ...]
    results: tuple[GateResult, ...]

    @property
    def facts(self) -> list[Fact]:
        """The facts that are stored, as the scorer takes them."""
        return [
            Fact(self.session, it.text, it.lines, one.verdict, reason=one.reason, author=it.author)
            for one in self.results
            if one.verdict != "discard"
            for it in (one.candidate,)
        ]


def replay(small: bool = False) -> list[Row]:
    """Returns the figures of the recorded answers, and a row for each way in which facts and labels are lost."""
    if not LABELS.is_dir():
        print(f"replay: no labelled sessions; {LABELS} does not exist on this machine")
        return []
    labelled = read_labels(LABELS)
    captured = capture_labelled([one.session for one in labelled], small)
    replayed = list(replay_answers(captured.messages, RECORDED, LocalEmbedder()))
    labelled = [one for one in labelled if one.session in {each.session for each in replayed}]
    found = score(labelled, [fact for one in replayed for fact in one.facts])
    return [
        *_figures(found),
        *speakers(found),
        _kept(labelled, replayed, found),
        *lost_facts(replayed),
        *lost_labels(labelled, replayed, found),
    ]


def replay_answers(
    messages: pl.DataFrame, recorded: Path, embedder: Embedder | None
) -> Iterator[Replayed]:
    """Yields what becomes of the recorded answer about each session."""
    for (name,), own in messages.group_by("session_id", maintain_order=True):
        session = str(name)
        rows = own.sort("line").with_columns(
            ordinal=pl.int_range(pl.len(), dtype=own.schema["ordinal"]), window_id=pl.lit(session)
        )
        window = frame(
            "windows", row("windows", window_id=session, session_id=session, status="observed")
        )
        text = (recorded / f"{session}.answer.xml").read_text(encoding="utf-8")
        answers = {session: [Answered(0, rows.height - 1, "recorded", "recorded", text, ZONE)]}
        found = next(find_in_windows(window, rows, answers, embedder))
        ((_, results),) = judge_windows([found], {session: MOST_ALLOWED})
        marked = sum(line.lstrip().startswith(("*", "-")) for line in text.splitlines())
        kept = tuple(one for one in results if one.candidate.kind != "narrative")
        yield Replayed(session, marked, parse_answer(text).facts, kept)


def _figures(found: Score) -> Iterator[Row]:
    counts = found.counts
    for name, floor in FLOORS.items():
        low, high = found.intervals[name]
        yield Row(f"replay: {name}", getattr(counts, name), f"[{low:.2f} {high:.2f}]", floor=floor)
    for name, limit in CEILINGS.items():
        yield Row(
            f"replay: {name}",
            getattr(counts, name),
            f"{counts.noisy} of {counts.allowed}",
            limit=limit,
        )
    yield Row(
        "replay: allowed a session", found.allowed_per_session, f"{found.most_in_a_session} at most"
    )


def speakers(found: Score) -> Iterator[Row]:
    """Yields the share of matched facts whose author is the label's: of the owner's facts, and of all others."""
    pairs = [
        (label.said_by == "owner", session.outcomes[number][0].author == "owner")
        for session in found.sessions
        for number, label in session.label_of.items()
    ]
    for name, is_owners, floor in (("owner's", True, 0.7), ("others'", False, 0.9)):
        right = [guessed == is_owners for labelled, guessed in pairs if labelled == is_owners]
        figures = f"{sum(right)} of {len(right)}"
        yield Row(f"replay: speaker, {name} facts", sum(right) / len(right), figures, floor=floor)


def _kept(labelled: Sequence[LabelledSession], replayed: Sequence[Replayed], found: Score) -> Row:
    """Returns the share of the best possible recall: of every allowed fact, with the evidence of the label that it resembles most."""
    by_session, ideal = {one.session: one for one in replayed}, list[Fact]()
    for labels in labelled:
        for fact in by_session[labels.session].parsed:
            best = max(
                labels.facts, key=lambda label: likeness(fact.text, label.text, label.key_terms)
            )
            ideal.append(
                Fact(labels.session, fact.text, best.evidence[:MOST_LINES], fact.gate or "hold")
            )
    best_possible = score(labelled, ideal).counts
    figures = (
        f"at best {best_possible.recall:.3f}, owner's rules {best_possible.recall_owner_rules:.3f}"
    )
    return Row(
        "replay: share of the best possible recall",
        found.counts.recall / best_possible.recall,
        figures,
        floor=KEPT,
    )


def lost_facts(replayed: Sequence[Replayed]) -> Iterator[Row]:
    """Yields the share of facts that each stage loses, of those that the model allowed."""
    marked, parsed = sum(one.marked for one in replayed), sum(len(one.parsed) for one in replayed)
    yield Row(
        "replay: facts that are not parsed", 1 - parsed / marked, f"{marked - parsed} of {marked}"
    )
    wanted = [
        result for one in replayed for result in one.results if result.candidate.hint == "allow"
    ]
    lost = Counter(one.reason for one in wanted if one.verdict != "allow")
    for reason, count in lost.most_common():
        yield Row(
            f"replay: facts lost, {reason[:40]}", count / len(wanted), f"{count} of {len(wanted)}"
        )


def lost_labels(
    labelled: Sequence[LabelledSession], replayed: Sequence[Replayed], found: Score
) -> Iterator[Row]:
    """Yields the labels that the answers state and no allowed fact matches, by the stage that loses them."""
    by_session, lost = {one.session: one for one in replayed}, Counter[str]()
    for session, labels in zip(found.sessions, labelled, strict=True):
        stages = by_session[labels.session]
        for label in session.missed:
            alike = [
                fact.text
                for fact in stages.parsed
                if likeness(fact.text, label.text, label.key_terms)
            ]
            results = [one for one in stages.results if one.candidate.text in alike]
            placed = [one for one in results if is_placed(Fact("", "", one.candidate.lines), label)]
            if not alike:
                lost["not in the answer"] += 1
            elif not any(one.candidate.lines for one in results):
                lost["no evidence"] += 1
            elif not placed:
                lost["evidence elsewhere"] += 1
            elif all(one.verdict != "allow" for one in placed):
                lost[f"held: {placed[0].reason}"[:40]] += 1
            else:
                lost["fact matches another label"] += 1
    total = sum(lost.values())
    for stage, count in lost.most_common():
        yield Row(f"replay: labels lost, {stage}", count / max(total, 1), f"{count} of {total}")
