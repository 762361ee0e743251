"""Finds what is known of a file, a command or an error: rules that name it, the last decision about
it, when it failed and what cured it.

Memories are those that a recall may return; failures are read from tool calls. A later statement of
the owner that replaces a result stands above it.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, zip_longest
from operator import attrgetter
from pathlib import Path

import polars as pl

from memory_assets.schema.protocols import Row
from memory_assets.schema.requests import LOOKUP, RecallRequest
from memory_assets.services.search import subject as subjects
from memory_assets.services.search.corpus import until_published
from memory_assets.services.search.subject import Subject
from memory_assets.stages.distill.rules.candidates import OWNERS_KINDS
from memory_assets.stages.embed.notes import hidden_sources
from memory_assets.stages.friction.past_failures import PastFailure, past_failures
from memory_assets.stages.friction.week import read_week
from memory_assets.stages.recall import results as shown
from memory_assets.stages.recall.replaced import present_first
from memory_assets.stages.recall.results import Answer, Recalled
from memory_assets.store.ledger import NOTES
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets.store.places import home_folder
from memory_assets.store.projects import find_repository, project_of
from memory_assets.store.store import Store
from memory_assets.text.short_ids import short_message_id

FEW = 5
"""Results where the request has no limit."""

DECISIONS = frozenset(("decision", "state_change"))
TABLES = ("messages", "messages_open")
CURED = "cured by"
NO_CURE = "no cure seen"
IN_PART = "names a part of it"

_OF_CALLS = """message_id session_id window_id ordinal author kind tool_name is_error is_user_turn
    event_at text""".split()
_OF_MESSAGES = "message_id session_id window_id line author event_at text".split()
_IS_CALL = pl.col("kind").is_in(["tool_call", "tool_result"])


@dataclass(frozen=True)
class Lookup:
    """What is looked up, and for whom."""

    store: Store
    request: RecallRequest
    subject: Subject
    project: str
    """Empty: everywhere."""
    person: str
    """Whose messages may be read; empty: everybody's."""
    now: datetime
    hidden: Collection[str]
    """Messages that contain forgotten words."""


def known_of(
    store: Store,
    memories: pl.DataFrame,
    request: RecallRequest,
    now: datetime,
    *,
    folder: str = "",
    person: str = "",
) -> Answer:
    """Returns what is known of the subject of the request, newest first.

    `folder` is where the person works: paths are relative to it, and its project is meant. With
    `person`, only messages of that person's sessions are read.
    """
    lookup = lookup_of(store, request, now, folder=folder, person=person)
    groups = [*memory_groups(lookup, memories), _failure_results(lookup)]
    ordered = [result for results in zip_longest(*groups) for result in results if result]
    results = present_results(lookup, ordered[: request.limit or FEW])
    label = lookup.subject.label
    return Answer(label, LOOKUP, tuple(results), len(ordered), asked=label, is_known=bool(results))


def lookup_of(
    store: Store, request: RecallRequest, now: datetime, *, folder: str, person: str = ""
) -> Lookup:
    """Returns the lookup of the request's subject, in the project of the folder if it is known."""
    here = project_of(find_repository(folder, home_folder()), folder) if folder else ""
    project = request.only_project or request.project or here
    is_known = project in store.tables.read("windows", columns=["project"])["project"]
    project = project if is_known else ""
    subject = _subject_of(store, request, folder, project)
    hidden = hidden_sources(store.ledger.events(NOTES))
    return Lookup(store, request, subject, project, person, now, hidden)


def _subject_of(store: Store, request: RecallRequest, folder: str, project: str) -> Subject:
    if request.command:
        return subjects.CommandSubject(request.command)
    if request.error:
        return subjects.ErrorSubject.of(request.error)
    path, place = _place_of(request.file or "", folder)
    is_shared = "/" in path and _is_shared_name(store.tables, place, project)
    return subjects.FileSubject(path, place, is_shared)


def _place_of(path: str, folder: str) -> tuple[str, str]:
    """Returns the path in its repository; and, of a file that is on this disk, the path from the
    folder of the repository on.
    """
    given = Path(path.replace("\\", "/")).expanduser()
    absolute = Path(os.path.normpath(Path(folder) / given))
    root = next((place for place in absolute.parents if (place / ".git").exists()), None)
    if root is None:
        return given.as_posix(), given.as_posix()
    inside = absolute.relative_to(root).as_posix()
    return inside, f"{root.name}/{inside}" if absolute.exists() else inside


def _is_shared_name(tables: ParquetTables, place: str, project: str) -> bool:
    """Returns whether sessions of the project read or wrote another file of that name."""
    sessions = tables.scan("sessions").filter(pl.col("project").is_in([project]) | (not project))
    files = sessions.select(pl.concat_list("files_read", "files_modified").explode()).collect()
    paths = "/" + files.to_series()
    folder, name = f"/{place}".rsplit("/", 2)[-2:]
    others = paths.str.ends_with(f"/{name}") & ~paths.str.ends_with(f"/{folder}/{name}")
    return bool(others.any())


def memory_groups(lookup: Lookup, memories: pl.DataFrame) -> Iterator[list[Recalled]]:
    """Yields the rules that name the subject, the last decision, and what else is known."""
    groups: dict[str, list[Recalled]] = {"rule": [], "decision": [], "other": []}
    error = lookup.subject if isinstance(lookup.subject, subjects.ErrorSubject) else None
    for row in _naming_rows(lookup, memories):
        result = shown.result_of(row, lookup.now, score=1.0, arms=("name",))
        if error and not error.is_whole_in(row["text"]):
            result = replace(result, tags=(*result.tags, IN_PART))
        groups[_group_of(row)].append(result)
    yield from (groups["rule"], groups["decision"][:1], groups["other"])


def _naming_rows(lookup: Lookup, memories: pl.DataFrame) -> Iterator[Row]:
    """Yields the memories that name the subject, newest first, each text once."""
    wanted = [shown.condition(lookup.request, memories.columns), _contains(lookup.subject.hints)]
    if lookup.project:
        is_general = pl.col("scope") != "project"
        wanted.append(pl.col("project").is_in(["", lookup.project]) | is_general)
    newest = memories.filter(*wanted).sort("event_at", "id", descending=True)
    for row in newest.unique("text", keep="first", maintain_order=True).iter_rows(named=True):
        if lookup.subject.is_named_in(row["text"], is_rule=_group_of(row) == "rule"):
            yield row


def _contains(hints: Collection[str]) -> pl.Expr:
    return pl.col("text").str.to_lowercase().str.contains_any(list(hints))


def _group_of(row: Row) -> str:
    if row["category"] == "rules-conventions" or OWNERS_KINDS.intersection(row["tags"]):
        return "rule"
    return "other" if DECISIONS.isdisjoint(row["tags"]) else "decision"


def _failure_results(lookup: Lookup) -> list[Recalled]:
    """Returns the failures that something followed, cured ones first, then newest first; without
    any of these the last one. Those with the same error are one.
    """
    by_error: dict[tuple[str, str], PastFailure] = {}
    near = read_failures(lookup.store.tables, _IS_CALL & _contains(lookup.subject.call_hints))
    for failure in sorted(failures_of(lookup, near), key=lambda failure: failure.call.at):
        key = (failure.call.tool, subjects.shape_of(failure.line))
        if failure.cure or key not in by_error:
            by_error[key] = failure
    by_message = {failure.call.message_id: failure for failure in by_error.values()}
    rows = _messages(lookup.store.tables, pl.col("message_id").is_in(list(by_message)))
    allowed = rows.filter(shown.condition(lookup.request, rows.columns))
    newest = allowed.sort("event_at", "message_id", descending=True).iter_rows(named=True)
    results = [_failure_result(lookup, row, by_message[row["message_id"]]) for row in newest]
    followed = [result for result in results if result.other_half]
    return sorted(followed, key=lambda result: CURED not in str(result.other_half)) or results[:1]


def failures_of(lookup: Lookup, failures: Iterable[PastFailure]) -> Iterator[PastFailure]:
    """Yields those that are about the subject and may be shown; an error is the same in all
    projects.
    """
    if lookup.request.are_for_memories:
        return
    projects = "" if isinstance(lookup.subject, subjects.ErrorSubject) else lookup.project
    for failure in failures:
        session = failure.call.session
        is_here = projects in ("", session.project) and lookup.person in ("", session.person)
        is_allowed = is_here and failure.message_ids.isdisjoint(lookup.hidden)
        if is_allowed and lookup.subject.is_of(failure.call):
            yield failure


def read_failures(tables: ParquetTables, is_near: pl.Expr) -> list[PastFailure]:
    """Returns the failures of the sessions that have a message for which the condition holds."""
    is_wanted = _IS_CALL | pl.col("is_user_turn")
    scans = (tables.scan(table).filter(is_wanted).select(_OF_CALLS) for table in TABLES)
    rows = pl.concat(scans)
    for condition in (pl.col("is_error"), is_near):
        near = rows.filter(condition).select("session_id").unique()
        rows = rows.join(near, on="session_id", how="semi")
    windows = tables.read("windows", columns="session_id day project folder person".split())
    return list(past_failures(read_week(rows.collect(), windows)))


def _failure_result(lookup: Lookup, row: Row, failure: PastFailure) -> Recalled:
    how = {"text": str(failure), "score": 1.0, "arms": ("name",)}
    result = shown.message_result(row, lookup.now, **how)
    cure = failure.cure
    if cure is None:
        return replace(result, tags=(NO_CURE,))
    link = CURED if cure.is_sure else "then"
    half = shown.OtherHalf(cure.call.message_id, link, result.said_by, str(cure), row["line"])
    return replace(result, other_half=half)


def present_results(lookup: Lookup, chosen: Sequence[Recalled]) -> list[Recalled]:
    """Returns the results, newest first; those that the owner replaced are marked and stand below
    the statement that replaced them.
    """
    first = min((result.event_at for result in chosen), default=lookup.now)
    is_wanted = (pl.col("event_at") > first) & _contains(lookup.subject.hints)
    is_readable = pl.lit(not lookup.person) | (pl.col("person") == lookup.person)
    is_shown = is_readable & ~pl.col("message_id").is_in(list(lookup.hidden))
    turns = _owner_turns(lookup.store.tables).filter(is_wanted, is_shown).iter_rows(named=True)
    statements = [
        shown.message_result(row, lookup.now, text=row["text"], score=0.0, arms=("name",))
        for row in turns
        if lookup.subject.is_named_in(row["text"])
    ]
    newest = sorted(chain(chosen, statements), key=attrgetter("event_at"), reverse=True)
    results = present_first(newest)
    marks = " ".join(tag for result in results for tag in result.tags)
    unused = [turn for turn in statements if short_message_id(turn.memory_id) not in marks]
    return [result for result in results if result not in unused]


@until_published("messages", "messages_open", "windows")
def _owner_turns(tables: ParquetTables) -> pl.DataFrame:
    """Returns the turns that owners typed."""
    return _messages(tables, pl.col("is_user_turn"))


def _messages(tables: ParquetTables, is_wanted: pl.Expr) -> pl.DataFrame:
    """Returns messages with the columns of a result; each is one passage."""
    scans = (tables.scan(table).filter(is_wanted).select(_OF_MESSAGES) for table in TABLES)
    windows = tables.scan("windows").select("window_id", "project", "person", "path")
    rows = pl.concat(scans).unique("message_id").join(windows, on="window_id")
    text = pl.col("text")
    return rows.with_columns(whole=text, char_from=0, char_to=text.str.len_chars()).collect()
