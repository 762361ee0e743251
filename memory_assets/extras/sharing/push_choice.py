"""Chooses the sessions of this machine that may be pushed, and says why others are left out."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import polars as pl

from memory_assets.extras.sharing.settings import sharing
from memory_assets.harnesses.readers import HEADER_LINES
from memory_assets.schema.setting_types import ALL_PROJECTS
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
    """The number of sessions that are left out for one reason."""

    reason: str
    sessions: int


@dataclass(frozen=True)
class PushSource:
    """A transcript that may be pushed."""

    source_id: str
    ranges: Sequence[Range]
    project: str
    fingerprint: str
    """Hash of its bytes and of the version of masking; equal as long as nothing has to be sent."""


def choose(store: Store) -> tuple[list[PushSource], tuple[LeftOutSessions, ...]]:
    """Returns the transcripts that may be pushed, and the number of others by reason."""
    names = _projects_and_persons(store)
    rules = read_ignore_rules(store.settings)
    masked_by = f"{version_of('resources')}:{len(store.ledger.events([WORDS_FORGOTTEN]))}"
    sources: list[PushSource] = []
    left_out: Counter[str] = Counter()
    for source_id, ranges in store.archive.sources().items():
        projects, persons = names.get(source_id, ([], []))
        reason = _reason(store.settings, ranges, projects, persons)
        reason = reason or _reason_to_ignore(store, rules, ranges)
        if reason:
            left_out[reason] += 1
            continue
        entries = "\x1f".join(f"{entry.id}:{entry.sha256}" for entry in ranges)
        fingerprint = hashlib.sha256(f"{masked_by}\x1f{entries}".encode()).hexdigest()[:32]
        sources.append(PushSource(source_id, ranges, min(projects), fingerprint))
    return sources, tuple(LeftOutSessions(*item) for item in sorted(left_out.items()))


def _reason(
    settings: Settings, ranges: Sequence[Range], projects: Sequence[str], persons: Sequence[str]
) -> str:
    """Returns why the transcript is left out; empty if it may be pushed."""
    if ranges[0].pushed:
        return CAME_FROM_OTHERS
    if not persons:
        return NOT_INDEXED
    if set(persons) != {settings.owner}:
        return OF_OTHERS
    excluded = sorted(
        project for project in projects if not may_push(sharing(settings).push_projects, project)
    )
    return f"of {excluded[0]}: `push_projects` leaves it out" if excluded else ""


def may_push(names: Sequence[str], project: str) -> bool:
    """Returns whether the setting `push_projects` lets sessions of the project be pushed."""
    has_only_exclusions = bool(names) and all(name.startswith("!") for name in names)
    is_included = project in names or ALL_PROJECTS in names or has_only_exclusions
    return is_included and f"!{project}" not in names


def _reason_to_ignore(store: Store, rules: IgnoreRules, ranges: Sequence[Range]) -> str | None:
    first = ranges[0]
    lines = islice(store.archive.lines(first.source_id, ranges[-1].generation), HEADER_LINES)
    content = (line.content for line in lines)
    return rules.reason_for_archived(first.path, first.harness, content, first.folder)


def _projects_and_persons(store: Store) -> Mapping[str, tuple[list[str], list[str]]]:
    """Returns the projects and persons of the windows of each source."""
    windows = store.tables.read("windows", columns=["source_id", "project", "person"])
    rows = windows.group_by("source_id").agg(pl.col("project", "person").unique()).iter_rows()
    return {source_id: (projects, persons) for source_id, projects, persons in rows}
