"""Input versions of the tables for which the general rule of `runs.staleness` does not fit, each with the reason.

Every function takes the store and the table's declaration, and returns the input version of each partition that should exist.
"""

import json
from datetime import date, datetime, timedelta

import polars as pl

from memory_assets.runs.scopes import scopes_of
from memory_assets.runs.staleness import fingerprint, rules_of
from memory_assets.schema.frames import empty, hash_of
from memory_assets.schema.tables import TABLES, WHOLE, Table, version_of
from memory_assets.services.active_lessons import LESSONS_MD, lessons_of
from memory_assets.services.due_triggers import due_triggers
from memory_assets.services.harness_files import find_memory_files, memory_file_inputs
from memory_assets.stages.brief.briefing import due_lines
from memory_assets.stages.brief.lessons import render_lessons
from memory_assets.stages.capture.messages import inputs_of
from memory_assets.stages.capture.windows import HookSignals
from memory_assets.stages.deliver.events import COMPACTION_PENDING, ENDED
from memory_assets.stages.deliver.inbox import moment_of
from memory_assets.stages.distill.allowance import plan_allowances
from memory_assets.stages.distill.standards import standards_of
from memory_assets.stages.friction.week import DAYS as FRICTION_DAYS
from memory_assets.stages.reflect.gradient import MONTH, WEEK, Span
from memory_assets.store.ledger import FEEDBACK, NOTES
from memory_assets.store.settings import RULES, Settings
from memory_assets.store.store import Store

FLUSHED = "sessions.flushed"
TOLD = NOTES | {FEEDBACK}
"""Ledger events that ask for new memories; recalls and their echoes wait for the next rebuild."""

SESSION_ENDED, SESSION_COMPACTING = (name.removeprefix("memory/") for name in (ENDED, COMPACTION_PENDING))


def windows(store: Store, table: Table) -> dict[str, str]:
    """The rules, the flushes and the records of each source, as JSON, so that only changed sessions are cut again."""
    moments = [moment.isoformat() for moment in flushes(store)]
    told = _told_by_source(store)
    sources = {
        name: hash_of(info.fingerprint, told[name]) if name in told else info.fingerprint
        for name, info in store.tables.parts("records").items()
    }
    now = {"rules": hash_of(*rules_of(store, table)), "flushes": moments, "sources": sources}
    return {WHOLE: json.dumps(now, sort_keys=True, separators=(",", ":"))}


def flushes(store: Store) -> tuple[datetime, ...]:
    """Returns the moments at which a person ended every open session."""
    return tuple(event.at for event in store.ledger.events([FLUSHED]))


def told_of_sessions(store: Store) -> dict[str, HookSignals]:
    """Returns, by session, the events of its harness: when it ended, and when it was about to be compacted."""
    found: dict[str, dict[str, list[datetime]]] = {}
    for event in store.ledger.events([SESSION_ENDED, SESSION_COMPACTING]):
        moment = min(moment_of(event.payload["sent_at"]) or event.at, event.at)
        found.setdefault(event.target, {}).setdefault(event.kind, []).append(moment)
    return {
        session: HookSignals(tuple(told.get(SESSION_ENDED, ())), tuple(told.get(SESSION_COMPACTING, ())))
        for session, told in found.items()
    }


def _told_by_source(store: Store) -> dict[str, HookSignals]:
    told = told_of_sessions(store)
    if not told:
        return {}
    sources = store.archive.resources().filter(pl.col("conversation_id").is_in(list(told)))
    return {source: told[session] for source, session in sources.select("source_id", "conversation_id").unique().iter_rows()}


def harness_memories(store: Store, table: Table) -> dict[str, str]:
    """The files that harnesses keep; nothing before the first transcript, so that a store is not made of them alone."""
    if not store.tables.parts(table.name) and not (store.tables.parts("windows") and find_memory_files(store.settings)):
        return {}
    return {WHOLE: memory_file_inputs(store)}


def messages(store: Store, table: Table) -> dict[str, str]:
    """The windows that closed on the day; a day that lost its windows is built once more, without rows."""
    closed = store.tables.read("windows").filter(pl.col("day").is_not_null())
    wanted = {day.isoformat(): inputs_of(group) for (day,), group in closed.group_by("day")}
    lost = (part for part, info in store.tables.parts(table.name).items() if info.rows and part not in wanted)
    return wanted | dict.fromkeys(lost, inputs_of(closed.clear()))


def observer_answers(store: Store, table: Table) -> dict[str, str]:
    """The windows that are asked about, and by which model and prompt."""
    how, said, observed = observer_and_prompt(store.settings) or RULES, store.tables.parts("messages"), _observed_windows(store)
    return {day: f"{hash_of(table.version, *observed.get(day, ()), fingerprint(said, day))} {how}" for day in said}


def observer_and_prompt(settings: Settings) -> str:
    """Returns the model that observes and the hash of its prompt; empty without a model."""
    from memory_assets.stages.distill.model import questions

    return "" if settings.model == RULES else f"{settings.model}:{questions.prompt_hash(settings.observer_prompt)}"


def reflector_and_prompt(settings: Settings) -> str:
    """Returns the model that reflects and the hash of its prompt; empty without a model."""
    from memory_assets.stages.reflect import questions

    return "" if settings.model == RULES else f"{settings.model}:{questions.prompt_hash()}"


def observations(store: Store, table: Table) -> dict[str, str]:
    """Messages, answers, the standards of the gate, and the share of a session's facts that each window may have."""
    standards, parts = standards_of(store.settings), store.tables.parts("messages")
    answers, cut = store.tables.parts("observer_answers"), store.tables.read("windows")
    allowances = plan_allowances(cut, standards.limits.most_allowed)
    shares = {day: [f"{window}:{allowances[window]}" for window in ids] for day, ids in _observed_windows(store).items()}
    return {
        day: hash_of(standards.version, *shares.get(day, ()), fingerprint(parts, day), fingerprint(answers, day))
        for day in parts
    }


def _observed_windows(store: Store) -> dict[str, list[str]]:
    """Returns the ids of the observed windows of each day, sorted."""
    closed = store.tables.read("windows", columns=["window_id", "day", "status"])
    observed = closed.filter((pl.col("status") == "observed") & pl.col("day").is_not_null()).sort("window_id")
    found: dict[str, list[str]] = {}
    for day, window in observed.select("day", "window_id").iter_rows():
        found.setdefault(day.isoformat(), []).append(window)
    return found


def embeddings(store: Store, table: Table) -> dict[str, str]:
    """The day's observations, and what was noted on it, which lies in the ledger and in the harnesses' own memories."""
    observed, noted = store.tables.parts("observations"), notes_by_day(store)
    return {
        day: hash_of(*rules_of(store, table), fingerprint(observed, day), *noted.get(day, ())) for day in {*observed, *noted}
    }


def notes_by_day(store: Store) -> dict[str, list[str]]:
    """Returns the ids of what was noted, or remembered by a harness, on each local day."""
    from memory_assets.stages.embed.notes import note_rows

    found: dict[str, list[str]] = {}
    notes = note_rows(store.ledger.events(NOTES), store.settings.zone).select("id", "day")
    remembered = store.tables.read("harness_memories", columns=["id", "day"])
    for id, day in pl.concat([notes, remembered]).iter_rows():
        found.setdefault(day.isoformat(), []).append(id)
    return found


def evaluation(store: Store, table: Table) -> dict[str, str]:
    """The labels too; nothing where no labelled sessions are named."""
    from memory_assets.stages.evaluate.labels import hash_of_labels

    observed = store.tables.parts("observations")
    if store.settings.gold is None or not observed:
        return {}
    parts = (f"{day}={info.fingerprint}" for day, info in observed.items())
    cut = fingerprint(store.tables.parts("windows"), WHOLE)
    return {WHOLE: hash_of(table.version, version_of("observations"), hash_of_labels(store.settings.gold), cut, *parts)}


def merge_rules(store: Store) -> str:
    """Returns the hash of the rules by which pairs are judged; with other rules all pairs are judged again."""
    return hash_of(version_of("merges"), standards_of(store.settings).version, store.settings.embedding_model)


def memories(store: Store, table: Table) -> dict[str, str]:
    """The observations and their vectors, and the ledger's notes and feedback."""
    names = ("observations", "harness_memories", "embeddings", "passages")
    told = [event.id for event in store.ledger.events(TOLD)]
    parts = [f"{name}/{day}={info.fingerprint}" for name in names for day, info in store.tables.parts(name).items()]
    if not (told or store.tables.parts("observations") or store.tables.parts("harness_memories")):
        return {}
    return {WHOLE: hash_of(table.version, version_of("merges"), *parts, *told)}


def reflections(store: Store, table: Table) -> dict[str, str]:
    """Its own observations and those of all earlier days: a reflection sees the memories as they were at the day's end."""
    how = reflector_and_prompt(store.settings)
    return {day: f"{running} {how}".rstrip() for day, running in _running(store, table.version).items()}


def proposals(store: Store, table: Table) -> dict[str, str]:
    """The reflections of the day, which rest on all earlier observations, and the settings that name and place lines."""
    rules = rules_of(store, table)
    return {day: hash_of(*rules, running) for day, running in _running(store, version_of("reflections")).items()}


def _running(store: Store, version: str) -> dict[str, str]:
    """Returns, by day with observations, the hash of them and of those of all days before it."""
    found: dict[str, str] = {}
    running = version
    for day, info in store.tables.parts("observations").items():
        if info.rows:
            running = hash_of(running, day, info.fingerprint)
            found[day] = running
    return found


def weekly_distillates(store: Store, table: Table) -> dict[str, str]:
    """The reflections of the days of each finished week."""
    return _periods(store, table, WEEK)


def monthly_distillates(store: Store, table: Table) -> dict[str, str]:
    """The reflections of the days of each finished month."""
    return _periods(store, table, MONTH)


def timeline(store: Store, table: Table) -> dict[str, str]:
    """The reflections of the days of each finished week, in the zone."""
    told = _periods(store, TABLES["weekly_distillates"], WEEK)
    return {week: hash_of(*rules_of(store, table), version.split(" ")[0]) for week, version in told.items()}


def _periods(store: Store, table: Table, span: Span) -> dict[str, str]:
    today, how = store.settings.today(), reflector_and_prompt(store.settings)
    reflected: dict[date, list[str]] = {}
    for day, info in store.tables.parts("reflections").items():
        first = span.first_day(date.fromisoformat(day))
        if info.rows and span.last_day(first) < today:
            reflected.setdefault(first, []).append(f"{day}={info.fingerprint}:{info.inputs}")
    return {first.isoformat(): f"{hash_of(table.version, *days)} {how}".rstrip() for first, days in reflected.items()}


def friction(store: Store, table: Table) -> dict[str, str]:
    """The messages and observations of the seven days that end with the day; only the last seven days can be due."""
    today = store.settings.today()
    recent = [day for day in store.tables.parts("messages") if (today - date.fromisoformat(day)).days <= FRICTION_DAYS]
    return {day: friction_version(store, table, day) for day in recent}


def friction_version(store: Store, table: Table, day: str) -> str:
    """Returns the input version of the day's frictions."""
    last = date.fromisoformat(day)
    days = [(last - timedelta(days=back)).isoformat() for back in range(FRICTION_DAYS)]
    parts = [store.tables.parts(name) for name in ("messages", "observations")]
    is_enough = observations_until(store, day) >= store.settings.friction_observations
    return hash_of(*rules_of(store, table), is_enough, *(fingerprint(one, d) for one in parts for d in days))


def observations_until(store: Store, day: str) -> int:
    """Returns how many observations there are up to the day."""
    return sum(info.rows for part, info in store.tables.parts("observations").items() if part <= day)


def lessons_md(store: Store, table: Table) -> dict[str, str]:
    """The lessons that hold, which the ledger and the memories decide too; nothing before there is one."""
    text = render_lessons(lessons_of(store))
    return {WHOLE: hash_of(table.version, text)} if text or (store.workspace / LESSONS_MD).is_file() else {}


def briefing(store: Store, table: Table) -> dict[str, str]:
    """What changes without a triage: the memories, the calendar, the lessons that hold, the owner's name."""
    names = ("memories", "session_reflections")
    read = [fingerprint(store.tables.parts(name), WHOLE) for name in names]
    if WHOLE not in store.tables.parts("memories"):
        return {}
    ahead = due_lines(due_triggers(store, empty("memories")))  # the memories recalled with a date do not matter here
    version = hash_of(*rules_of(store, table), *read, render_lessons(lessons_of(store)), *ahead)
    return dict.fromkeys(scopes_of(store), version)
