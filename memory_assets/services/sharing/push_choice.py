"""Chooses the sessions of this machine that may be pushed to a shared memory, and says why others
are not.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import polars as pl

from memory_assets.harnesses.readers import HEADER_LINES
from memory_assets.schema.tables import version_of
from memory_assets.services.sources.ignoring import IgnoreRules, read_ignore_rules
from memory_assets.store.archive import Range
from memory_assets.store.ledger import WORDS_FORGOTTEN
from memory_assets.store.settings import Settings
from memory_assets.store.store import Store

CAME_FROM_OTHERS = "pushed here by another machine"
NOT_INDEXED = "without messages of their own, or not indexed yet: `memory ingest` does it"
OF_OTHERS = "of other people"


@dataclass(frozen=True)
class LeftOutSessions:
    """Sessions that are not pushed, and why."""

    reason: str
    sessions: int


@dataclass(frozen=True)
class PushSource:
    """A transcript that may be pushed."""

    source_id: str
    ranges: Sequence[Range]
    project: str
    fingerprint: str
    """Of its bytes and of the rules by which they are masked."""


def choose(store: Store) -> tuple[list[PushSource], tuple[LeftOutSessions, ...]]:
    """Returns the transcripts that may be pushed, and how many others there are for each reason."""
    facts, rules = _facts_of(store), read_ignore_rules(store.settings)
    masked_by = f"{version_of('resources')}:{len(store.ledger.events([WORDS_FORGOTTEN]))}"
    chosen: list[PushSource] = []
    left_out: Counter[str] = Counter()
    for source, ranges in store.archive.sources().items():
        projects, persons = facts.get(source, (frozenset(), frozenset()))
        reason = _reason(store.settings, ranges, projects, persons) or _ignored(
            store, rules, ranges
        )
        if reason:
            left_out[reason] += 1
            continue
        bytes_ = "\x1f".join(f"{entry.id}:{entry.sha256}" for entry in ranges)
        fingerprint = hashlib.sha256(f"{masked_by}\x1f{bytes_}".encode()).hexdigest()[:32]
        chosen.append(PushSource(source, ranges, min(projects), fingerprint))
    return chosen, tuple(
        LeftOutSessions(reason, count) for reason, count in sorted(left_out.items())
    )


def _reason(
    settings: Settings, ranges: Sequence[Range], projects: frozenset[str], persons: frozenset[str]
) -> str:
    if ranges[0].pushed:
        return CAME_FROM_OTHERS
    if not persons:
        return NOT_INDEXED
    if persons != {settings.owner}:
        return OF_OTHERS
    excluded = sorted(project for project in projects if not settings.may_push(project))
    return f"of {excluded[0]}: `push_projects` leaves it out" if excluded else ""


def _ignored(store: Store, rules: IgnoreRules, ranges: Sequence[Range]) -> str:
    first = ranges[0]
    lines = islice(store.archive.lines(first.source_id, ranges[-1].generation), HEADER_LINES)
    return (
        rules.reason_for_archived(first.path, first.harness, (line.content for line in lines)) or ""
    )


def _facts_of(store: Store) -> Mapping[str, tuple[frozenset[str], frozenset[str]]]:
    """Returns the projects and persons of the windows of each source."""
    windows = store.tables.read("windows", columns=["source_id", "project", "person"])
    found = windows.group_by("source_id").agg(pl.col("project", "person").unique())
    return {
        source: (frozenset(projects), frozenset(persons))
        for source, projects, persons in found.iter_rows()
    }
