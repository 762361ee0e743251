"""Distils the windows of one day: segments, observations and verdicts from one pass over its
messages.

Takes the windows and messages of the day as frames, and the stored answers of models. Of a window
of a short session only the owner's rules and preferences for later sessions are returned, with the
segments in which they were said. Open windows are skipped.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import chain, islice
from types import MappingProxyType

import polars as pl

from memory_assets.schema.frames import frame_of
from memory_assets.schema.protocols import Embedder
from memory_assets.schema.records import READ_STATUSES
from memory_assets.stages.distill.commits import next_commits
from memory_assets.stages.distill.grounding.narratives import without_orders
from memory_assets.stages.distill.items import items_of, quote_from
from memory_assets.stages.distill.model.established import established_id
from memory_assets.stages.distill.model.observer import Answered, observe_window
from memory_assets.stages.distill.quotes import Quote, find_quotes
from memory_assets.stages.distill.rows import candidate_id, candidate_row, segment_row
from memory_assets.stages.distill.rules.candidates import (
    OWNERS_KINDS,
    START_CONFIDENCE,
    Candidate,
    Observed,
    candidate_of,
)
from memory_assets.stages.distill.rules.exchanges import Exchange, Row, parse_exchanges
from memory_assets.stages.distill.rules.rules import mark_overturned
from memory_assets.stages.distill.standards import DEFAULT_STANDARDS, Standards, plan_allowances
from memory_assets.stages.distill.taxonomy import ONLY_THE_OWNERS, category_named
from memory_assets.stages.distill.write_gate import GateResult, judge

COMMITTED = frozenset({"decision", "state_change", "result"})
"""Kinds of facts that a commit may carry out."""

Answers = Mapping[str, Sequence[Answered]]
"""A model's answers by window; windows without answers are observed with the rules."""


def build_day(
    windows: pl.DataFrame,
    messages: pl.DataFrame,
    *,
    answers: Answers = MappingProxyType({}),
    allowances: Mapping[str, int] | None = None,
    standards: Standards = DEFAULT_STANDARDS,
    embedder: Embedder | None = None,
    replaced: Collection[str] = (),
) -> dict[str, pl.DataFrame]:
    """Returns the tables `segments`, `observations` and `verdicts` of the day's windows.

    `allowances` is the number of facts that each window may allow, from `plan_allowances` over all
    windows of the store; by default it is planned from the given windows alone. `replaced` are the
    ids of facts that a later part of their session replaces. The embedder compares a model's facts
    with the owner's words, and decides between categories that fit equally.
    """
    if allowances is None:
        allowances = plan_allowances(windows, standards.limits.most_allowed)
    rows: dict[str, list[Row]] = {"segments": [], "observations": [], "verdicts": []}
    in_windows = find_in_windows(windows, messages, answers, embedder)
    observed = [_with_replaced_marked(findings, replaced) for findings in in_windows]
    version = standards.taxonomy.version
    for findings, results in judge_windows(observed, allowances, standards, embedder):
        rows["segments"] += findings.stored_segments()
        about = (findings.window, findings.segments, findings.observed, version)
        for result in results:
            row = candidate_row(result, *about)
            rows["verdicts"].append(row)
            if result.verdict != "discard":
                rows["observations"].append(row)
    return {table: frame_of(table, table_rows) for table, table_rows in rows.items()}


@dataclass(frozen=True, slots=True)
class WindowFindings:
    """What was found in a window, before the write gate."""

    window: Row
    segments: list[Row]
    """Rows of the table `segments`; every message of an observed window is in exactly one."""
    observed: Observed
    """Its candidates are the facts, then the narratives."""

    def stored_segments(self) -> list[Row]:
        """Returns the segments to store: all of an observed window, else those with candidates."""
        if self.window["status"] == "observed":
            return self.segments
        numbers = {candidate.segment for candidate in self.observed.candidates}
        return [self.segments[number] for number in sorted(numbers)]


def find_in_windows(
    windows: pl.DataFrame,
    messages: pl.DataFrame,
    answers: Answers,
    embedder: Embedder | None = None,
) -> Iterator[WindowFindings]:
    """Yields the findings of each window that is read, in order of window ids.

    The embedder compares a model's facts with the owner's words.
    """
    groups = messages.group_by("window_id", maintain_order=True)
    by_window = {window_id: window_messages for (window_id,), window_messages in groups}
    sessions: dict[str, list[Exchange]] = {}
    is_read = pl.col("status").is_in(READ_STATUSES)
    for window in windows.filter(is_read).sort("window_id").iter_rows(named=True):
        window_id = window["window_id"]
        session_id = window["session_id"]
        if window_id not in by_window:
            continue
        rows = by_window[window_id].sort("ordinal").to_dicts()
        observed = observe_window(rows, answers.get(window_id, ()), embedder)
        if session_id not in sessions:
            of_session = messages.filter(session_id=session_id).sort("event_at", "line")
            sessions[session_id] = parse_exchanges(of_session.to_dicts())
        candidates = _with_overturned_marked(observed.candidates, sessions[session_id])
        candidates = _with_commits(candidates, next_commits(rows))
        yield _findings(window, rows, replace(observed, candidates=candidates))


def _findings(window: Row, rows: Sequence[Row], observed: Observed) -> WindowFindings:
    """Returns the segments of the window, and its facts and narratives as candidates.

    Of a window of a short session only the lessons are candidates.
    """
    groups = [list(map(rows.__getitem__, numbers)) for numbers in observed.segments]
    narrated = zip(groups, observed.narratives, strict=True)
    texts = [_safe(group, text) for group, text in narrated]
    quotes = [find_quotes(group) for group in groups]
    if window["summary"] and quotes:
        last_id = window["last_message_id"]
        quotes[-1].append(Quote("summary", window["summary"], last_id))
    safe_quotes = map(_safe_quotes, quotes, groups)
    segments = [
        segment_row(window, group, n, observed.observer, texts[n], group_quotes)
        for n, (group, group_quotes) in enumerate(zip(groups, safe_quotes, strict=True))
    ]
    if window["status"] == "short":
        candidates = _lessons(observed.candidates)
    else:
        narratives = [_narrative(group, texts[n], n) for n, group in enumerate(groups) if texts[n]]
        candidates = [*observed.candidates, *narratives]
    return WindowFindings(window, segments, replace(observed, candidates=candidates))


def _with_overturned_marked(
    candidates: Sequence[Candidate], session: Sequence[Exchange]
) -> list[Candidate]:
    """Returns the candidates; those of the rules that the session takes back later are marked.

    `session` has the exchanges of all windows of the session on this day.
    """
    of_rules = [candidate for candidate in candidates if candidate.hint is None]
    by_rules = iter(mark_overturned(of_rules, session))
    return [next(by_rules) if candidate.hint is None else candidate for candidate in candidates]


def _with_commits(candidates: Sequence[Candidate], commits: Mapping[str, str]) -> list[Candidate]:
    """Returns the candidates; decisions, changes and results have the commit that followed."""
    return [
        replace(candidate, commit=commits.get(candidate.message_ids[-1], ""))
        if candidate.kind in COMMITTED
        else candidate
        for candidate in candidates
    ]


def _with_replaced_marked(findings: WindowFindings, replaced: Collection[str]) -> WindowFindings:
    """Returns the findings; facts that a later part of the session replaces are marked."""
    if not replaced:
        return findings
    window_id = findings.window["window_id"]

    def _mark(candidate: Candidate) -> Candidate:
        is_replaced = established_id(window_id, candidate.text) in replaced
        return replace(candidate, is_overturned=candidate.is_overturned or is_replaced)

    candidates = [_mark(candidate) for candidate in findings.observed.candidates]
    return replace(findings, observed=replace(findings.observed, candidates=candidates))


def judge_windows(
    windows: Iterable[WindowFindings],
    allowances: Mapping[str, int],
    standards: Standards = DEFAULT_STANDARDS,
    embedder: Embedder | None = None,
) -> Iterator[tuple[WindowFindings, list[GateResult]]]:
    """Yields each window with the results of the write gate for its candidates, one for each id.

    The windows of a session on one day share their allowances: the most useful facts of all of them
    are allowed.
    """
    sessions: dict[tuple[str, date], list[WindowFindings]] = {}
    for window in windows:
        sessions.setdefault((window.window["session_id"], window.window["day"]), []).append(window)
    for session_windows in sessions.values():
        room = sum(allowances[window.window["window_id"]] for window in session_windows)
        by_windows = (window.observed.candidates for window in session_windows)
        candidates = list(chain.from_iterable(by_windows))
        results = iter(judge(candidates, most_allowed=room, standards=standards, embedder=embedder))
        for window in session_windows:
            by_id: dict[str, GateResult] = {}
            for result in islice(results, len(window.observed.candidates)):
                id = candidate_id(result.candidate, window.segments)
                by_id.setdefault(id, result)
            yield window, list(by_id.values())


def _lessons(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Returns the candidates of a short session that matter later; most short sessions are errands.

    Of the rules observer's candidates these are the owner's rules that were not taken back, of a
    model's its rules and preferences. The write gate holds those that the owner did not say.
    """
    return [candidate for candidate in candidates if _is_lesson(candidate)]


def _is_lesson(candidate: Candidate) -> bool:
    is_owners = candidate.author == "owner" and candidate.kind in OWNERS_KINDS
    if is_owners and not candidate.is_overturned:
        return True
    is_by_model = candidate.hint is not None
    return is_by_model and category_named(candidate.hint_category) in ONLY_THE_OWNERS


def _safe_quotes(quotes: Sequence[Quote], messages: Sequence[Row]) -> list[Quote]:
    """Returns the quotes that are the owner's, or have no orders that the owner did not give."""
    return [
        quote
        for quote in quotes
        if quote.source == "request" or _safe(messages, quote.text) == quote.text
    ]


def _safe(messages: Sequence[Row], text: str) -> str:
    """Returns the text without orders that the owner did not give, as agents read the log."""
    safe_text = without_orders(text, messages)
    if not safe_text:
        return ""
    (result,) = judge([_narrative(messages, safe_text, 0)])
    return "" if result.verdict == "discard" else safe_text


def _narrative(messages: Sequence[Row], text: str, segment: int) -> Candidate:
    """Returns the narrative of a segment as a candidate; `messages` are those of the segment."""
    texts = [row for row in messages if row["kind"] == "text"]
    spoken = [row for row in texts if row["author"] in ("owner", "assistant")] or list(messages)
    first_spoken = next((row for row in spoken if row["is_user_turn"]), spoken[0])
    evidence = [first_spoken] if first_spoken is spoken[-1] else [first_spoken, spoken[-1]]
    items = items_of(text, [row["text"] for row in messages], text)
    quote = quote_from([evidence[-1]["text"]], text)
    candidate = candidate_of("narrative", 0.5, text, quote, *evidence, author="assistant")
    return replace(
        candidate,
        segment=segment,
        event_at=max(row["event_at"] for row in messages),
        strength="inferred",
        confidence=START_CONFIDENCE["inferred"],
        priority="low",
        **items,
    )
