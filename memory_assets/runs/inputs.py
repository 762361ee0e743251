"""Input versions: what each partition of a table should be built from, as a hash.

By the general rule it is a hash of the rules' version, the declared settings and the fingerprints
of the tables that it is made from. `INPUTS` names the functions of tables for which that does not
fit; each says why, takes the store and the table's declaration, and returns the input version of
each partition that should exist.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import cache

import polars as pl

from memory_assets.runs.scopes import scopes_of
from memory_assets.schema.extras import extras
from memory_assets.schema.frames import empty, hash_of
from memory_assets.schema.protocols import PartInfo
from memory_assets.schema.records import READ_STATUSES
from memory_assets.schema.tables import TABLES, WHOLE, Table, version_of
from memory_assets.services.search.brief_inputs import (
    LESSONS_MD,
    due_triggers,
    expiring_on,
    lessons_of,
)
from memory_assets.services.sources.harness_files import (
    documented_parts,
    find_memory_files,
    memory_file_inputs,
)
from memory_assets.stages.brief.briefing import due_lines
from memory_assets.stages.brief.lessons import render_lessons
from memory_assets.stages.capture.checkpoints import WINDOW_COLUMNS, versions_of_days
from memory_assets.stages.capture.messages import inputs_of
from memory_assets.stages.capture.windows import HookSignals
from memory_assets.stages.deliver.events import COMPACTION_PENDING, ENDED
from memory_assets.stages.distill.standards import plan_allowances, standards_of
from memory_assets.stages.friction.week import DAYS as FRICTION_DAYS
from memory_assets.stages.maintain.states import MOVES
from memory_assets.stages.reflect.subjects import SPANS, WEEK, Span
from memory_assets.store.ledger import FEEDBACK, NOTES
from memory_assets.store.settings import RULES, Settings
from memory_assets.store.store import Store
from memory_assets.text.moments import event_time

FLUSHED = "sessions.flushed"
UNTIL = "~"
"""Comes before the moment in `version_until`."""

REFOLDING = NOTES | MOVES | {FEEDBACK}
"""Ledger events after which memories are folded again; recalls and uses wait for the next rebuild.
"""

SESSION_ENDED, SESSION_COMPACTING = (
    name.removeprefix("memory/") for name in (ENDED, COMPACTION_PENDING)
)


def input_versions(store: Store, table: Table) -> dict[str, str]:
    """Returns the input version of each partition that the table should have.

    The part after a space (a model, a prompt) never makes a partition stale, because building with
    another one costs money.
    """
    special = input_functions().get(table.built_with or table.name)
    if special:
        return special(store, table)
    sources = [name for name in table.made_from if TABLES[name].record]
    if table.grain == "whole":
        versions = part_versions(store, sources)
        return {WHOLE: version_from(store, table, *versions)} if versions else {}
    same = [store.tables.parts(name) for name in sources if TABLES[name].grain == table.grain]
    return {
        part: version_from(store, table, *(fingerprint(parts, part) for parts in same))
        for part in same[0]
    }


def part_versions(store: Store, names: Iterable[str]) -> list[str]:
    """Returns the name and the hash of each partition of the tables."""
    return [
        f"{name}/{part}={info.fingerprint}"
        for name in names
        for part, info in store.tables.parts(name).items()
    ]


def version_from(store: Store, table: Table, *sources: object) -> str:
    """Returns the hash of the table's rules and of what it is made from."""
    return hash_of(*rules_of(store, table), *sources)


def rules_of(store: Store, table: Table) -> list[object]:
    """Returns the version of the table's rules and the values of its settings."""
    return [table.version, *settings_of(store.settings, table)]


def settings_of(settings: Settings, table: Table) -> list[str]:
    """Returns the values of the settings that the table declares, as text."""
    return [_plain(getattr(settings, name)) for name in table.settings]


def fingerprint(parts: Mapping[str, PartInfo], part: str) -> str:
    """Returns the hash of the partition's rows, or `-` where it was never written."""
    return parts[part].fingerprint if part in parts else "-"


def unpaid(version: str) -> str:
    """Returns the input version without the model and prompt that follow a space in it."""
    return version.split(" ")[0]


def _plain(value: object) -> str:
    return repr(sorted(value.items())) if isinstance(value, dict) else str(value)


def windows(store: Store, table: Table) -> dict[str, str]:
    """The rules, the flushes and the records of each source, as JSON, so that only changed sessions
    are cut again.
    """
    moments = [moment.isoformat() for moment in flushes(store)]
    sources = {name: info.fingerprint for name, info in store.tables.parts("records").items()}
    signals = hook_signals_of(store)
    if signals:
        archived = store.archive.resources().filter(pl.col("conversation_id").is_in(list(signals)))
        pairs = archived.select("source_id", "conversation_id").unique().iter_rows()
        sources |= {
            source: hash_of(sources[source], signals[session])
            for source, session in pairs
            if source in sources
        }
    state = {"rules": version_from(store, table), "flushes": moments, "sources": sources}
    return {WHOLE: json.dumps(state, sort_keys=True, separators=(",", ":"))}


def flushes(store: Store) -> tuple[datetime, ...]:
    """Returns the moments at which a person ended every open session."""
    return tuple(event.at for event in store.ledger.events([FLUSHED]))


def hook_signals_of(store: Store) -> dict[str, HookSignals]:
    """Returns, by session, the events that its harness sent: when it ended, and when it was about
    to be compacted.
    """
    moments: dict[str, dict[str, list[datetime]]] = {}
    for event in store.ledger.events([SESSION_ENDED, SESSION_COMPACTING]):
        of_session = moments.setdefault(event.target, {SESSION_ENDED: [], SESSION_COMPACTING: []})
        sent_at = event_time(event.payload["sent_at"]) or event.at
        of_session[event.kind].append(min(sent_at, event.at))
    return {id: HookSignals(*map(tuple, kinds.values())) for id, kinds in moments.items()}


def harness_memories(store: Store, table: Table) -> dict[str, str]:
    """The memory files of harnesses, and documents; nothing before the first transcript or
    document, so that files alone do not start a store."""
    is_started = (
        store.tables.parts(table.name)
        or documented_parts(store)
        or (store.tables.parts("windows") and find_memory_files(store.settings))
    )
    return {WHOLE: memory_file_inputs(store)} if is_started else {}


def messages(store: Store, table: Table) -> dict[str, str]:
    """The windows that closed on the day; a day that lost its windows is built again, without
    rows.
    """
    closed = store.tables.read("windows").filter(pl.col("day").is_not_null())
    versions = {day.isoformat(): inputs_of(group) for (day,), group in closed.group_by("day")}
    return _with_lost(store, table, versions, inputs_of(closed.clear()))


def checkpoints(store: Store, table: Table) -> dict[str, str]:
    """The closed windows of the day, with what the turns in them depend on
    (`stages.capture.checkpoints`).
    """
    versions = versions_of_days(store.tables.read("windows", columns=WINDOW_COLUMNS), table.version)
    return _with_lost(store, table, versions, hash_of(table.version))


def _with_lost(
    store: Store, table: Table, versions: dict[str, str], of_nothing: str
) -> dict[str, str]:
    """Returns the versions, with those of days that have rows and no windows any more."""
    written = store.tables.parts(table.name)
    lost = [day for day, info in written.items() if info.rows and day not in versions]
    return versions | dict.fromkeys(lost, of_nothing)


def observer_answers(store: Store, table: Table) -> dict[str, str]:
    """The windows that are read and whether their sessions are short, the model and its prompts."""
    how = observer_and_prompt(store.settings) or RULES
    parts = store.tables.parts("messages")
    read = [_windows(store, [status]) for status in READ_STATUSES]
    by_day = {day: ["\x1f".join(windows.get(day, ())) for windows in read] for day in parts}
    return {
        day: f"{hash_of(table.version, *windows, fingerprint(parts, day))} {how}"
        for day, windows in by_day.items()
    }


def observer_and_prompt(settings: Settings) -> str:
    """Returns the model that observes and the hashes of its prompts; empty without a model."""
    from memory_assets.stages.distill.model import questions, short_sessions

    model = settings.model_of("observer")
    if model == RULES:
        return ""
    long = questions.prompt_hash(settings.observer_prompt)
    return f"{model}:{long}:{short_sessions.prompt_hash()}"


def reflector_and_prompt(settings: Settings) -> str:
    """Returns the model that reflects and the hash of its prompt; empty without a model."""
    from memory_assets.stages.reflect import questions

    model = settings.model_of("reflector")
    return "" if model == RULES else f"{model}:{questions.prompt_hash()}"


def reflector_and_pair_prompt(settings: Settings) -> str:
    """Returns the model that decides pairs in doubt and the hash of its prompt; empty without a
    model.
    """
    from memory_assets.stages.embed import pair_questions

    model = settings.model_of("reflector")
    return "" if model == RULES else f"{model}:{pair_questions.prompt_hash()}"


def observations(store: Store, table: Table) -> dict[str, str]:
    """Messages, answers, the standards of the write gate, and the number of facts that each window
    may add.

    Also the embedding model, which decides between categories and compares answers with the owner's
    words, and the facts that later parts of the same sessions replace.
    """
    standards = standards_of(store.settings)
    allowances = plan_allowances(store.tables.read("windows"), standards.limits.most_allowed)
    shares = {
        day: [f"{window}:{allowances[window]}" for window in ids]
        for day, ids in _windows(store, READ_STATUSES).items()
    }
    messages = store.tables.parts("messages")
    answers = store.tables.parts("observer_answers")
    replaced = replaced_by_day(store)
    rules = (standards.version, store.settings.embedding_model)
    return {
        day: hash_of(
            *rules,
            *shares.get(day, ()),
            fingerprint(messages, day),
            fingerprint(answers, day),
            *replaced.get(day, ()),
        )
        for day in messages
    }


def replaced_by_day(store: Store) -> dict[str, list[str]]:
    """Returns the ids of facts that answers replace, for each day on which their sessions have an
    answer.
    """
    rows = store.tables.read("observer_answers", columns=["day", "session_id", "replaced_ids"])
    pairs = rows.explode("replaced_ids").drop_nulls("replaced_ids")
    replacing = pairs.select("session_id", "replaced_ids").unique()
    days = rows.select("day", "session_id").unique().join(replacing, on="session_id")
    ids = days.sort("day", "replaced_ids").group_by("day", maintain_order=True).agg("replaced_ids")
    return {day.isoformat(): of_day for day, of_day in ids.iter_rows()}


def _windows(store: Store, statuses: Sequence[str]) -> dict[str, list[str]]:
    """Returns the ids of the windows of each day with one of the statuses, sorted."""
    windows = store.tables.read("windows", columns=["window_id", "day", "status"]).filter(
        pl.col("status").is_in(statuses)
    )
    by_day = windows.drop_nulls("day").sort("window_id").group_by("day").agg("window_id")
    return {day.isoformat(): ids for day, ids in by_day.iter_rows()}


def embeddings(store: Store, table: Table) -> dict[str, str]:
    """The day's observations, and its notes in the ledger and in the memories of harnesses.

    A day with texts that could not be encoded is stale again once they may be tried again.
    """
    observed = store.tables.parts("observations")
    noted = notes_by_day(store)
    versions = {
        day: version_from(store, table, fingerprint(observed, day), *noted.get(day, ()))
        for day in {*observed, *noted}
    }
    return versions | _waiting(store, table, versions)


def passage_vectors(store: Store, table: Table) -> dict[str, str]:
    """The day's passages; a day with passages that could not be encoded is stale again once they
    may be tried again.
    """
    parts = store.tables.parts("passages")
    versions = {day: version_from(store, table, fingerprint(parts, day)) for day in parts}
    return versions | _waiting(store, table, versions)


def _waiting(store: Store, table: Table, versions: Mapping[str, str]) -> dict[str, str]:
    """Returns the input versions of the partitions that have these, and wait for a moment that has
    not come.
    """
    now = store.settings.clock()
    waiting = dict[str, str]()
    for part, info in store.tables.parts(table.name).items():
        version, _, until = info.inputs.partition(UNTIL)
        if until and version == versions.get(part) and now < datetime.fromisoformat(until):
            waiting[part] = info.inputs
    return waiting


def version_until(version: str, until: datetime | None) -> str:
    """Returns the input version of a partition that is stale at the moment, whatever its inputs are
    by then.
    """
    return f"{version.partition(UNTIL)[0]}{UNTIL}{until.isoformat()}" if until else version


def notes_by_day(store: Store) -> dict[str, list[str]]:
    """Returns, by local day, the ids of notes and of the memories of harnesses."""
    from memory_assets.stages.embed.notes import note_rows

    notes = note_rows(store.ledger.events(NOTES), store.settings.zone).select("id", "day")
    rows = pl.concat([notes, store.tables.read("harness_memories", columns=["id", "day"])])
    by_day = rows.group_by("day", maintain_order=True).agg("id")
    return {day.isoformat(): ids for day, ids in by_day.select("day", "id").iter_rows()}


def merge_rules(store: Store) -> str:
    """Returns the hash of the rules by which pairs are judged; with other rules all pairs are
    judged again.
    """
    return hash_of(
        version_of("merges"), standards_of(store.settings).version, store.settings.embedding_model
    )


def memories(store: Store, table: Table) -> dict[str, str]:
    """The observations and their vectors, the ledger's notes, feedback and moves, and the day when
    one may become stale.
    """
    events = [event.id for event in store.ledger.events(REFOLDING)]
    if not (events or store.tables.parts("observations") or store.tables.parts("harness_memories")):
        return {}
    parts = part_versions(store, ("observations", "harness_memories", "embeddings", "passages"))
    versions = {WHOLE: version_from(store, table, version_of("merges"), *parts, *events)}
    return versions | _waiting(store, table, versions)


def reflections(store: Store, table: Table) -> dict[str, str]:
    """The observations up to the day: a reflection uses the memories at the day's end."""
    model = reflector_and_prompt(store.settings)
    versions = _running(store, table.version)
    return {day: f"{version} {model}".rstrip() for day, version in versions.items()}


def proposals(store: Store, table: Table) -> dict[str, str]:
    """The reflections of the day, which depend on all earlier observations, and the settings that
    name and place lines.
    """
    versions = _running(store, version_of("reflections"))
    return {day: version_from(store, table, version) for day, version in versions.items()}


def _running(store: Store, version: str) -> dict[str, str]:
    """Returns, by day with observations, the hash of all observations up to the day."""
    versions: dict[str, str] = {}
    for day, info in store.tables.parts("observations").items():
        if info.rows:
            version = hash_of(version, day, info.fingerprint)
            versions[day] = version
    return versions


def distillates(store: Store, table: Table) -> dict[str, str]:
    """The reflections of the days of each finished week or month."""
    span = next(span for span in SPANS if span.name == table.grain)
    model = reflector_and_prompt(store.settings)
    reflected = _finished(store, span, "reflections", is_with_inputs=True)
    return {
        first: f"{hash_of(table.version, *days)} {model}".rstrip()
        for first, days in reflected.items()
    }


def timeline(store: Store, table: Table) -> dict[str, str]:
    """The reflections and segments of the days of each finished week, in the zone."""
    segments = _finished(store, WEEK, "segments")
    weeks = distillates(store, TABLES["weekly_distillates"])
    return {
        week: version_from(store, table, unpaid(version), *segments.get(week, ()))
        for week, version in weeks.items()
    }


def _finished(
    store: Store, span: Span, table: str, *, is_with_inputs: bool = False
) -> dict[str, list[str]]:
    """Returns the versions of the days with rows, by the first day of each finished week or
    month.
    """
    today = store.settings.today()
    days: dict[str, list[str]] = {}
    for day, info in store.tables.parts(table).items():
        first = span.first_day(date.fromisoformat(day))
        if info.rows and span.last_day(first) < today:
            inputs = f":{info.inputs}" if is_with_inputs else ""
            days.setdefault(first.isoformat(), []).append(f"{day}={info.fingerprint}{inputs}")
    return days


def friction(store: Store, table: Table) -> dict[str, str]:
    """The messages and observations of the seven days that end with the day; only the last seven
    days can be due.
    """
    today = store.settings.today()
    written = store.tables.parts(table.name)
    versions = dict[str, str]()
    for day in store.tables.parts("messages"):
        if (today - date.fromisoformat(day)).days <= FRICTION_DAYS:
            is_found = day in written and written[day].rows > 0
            versions[day] = friction_version(store, table, day, is_found=is_found)
    return versions


def friction_version(store: Store, table: Table, day: str, *, is_found: bool) -> str:
    """Returns the input version of the day; if a friction was found on it, also of the messages of
    the next six days.
    """
    is_enough = observed_until(store, day) >= store.settings.friction_observations
    days = friction_days(day, is_found=is_found)
    upstream = [store.tables.parts(name) for name in ("messages", "observations")]
    hashes = [parts[of].fingerprint for parts in upstream for of in days if of in parts]
    return version_from(store, table, is_enough, *hashes)


def friction_days(day: str, *, is_found: bool = False) -> list[str]:
    """Returns the seven days that end with the day; where something is found, also the six days
    after it.
    """
    last = date.fromisoformat(day)
    back = range(-FRICTION_DAYS + 1, FRICTION_DAYS if is_found else 1)
    return [(last + timedelta(days=days)).isoformat() for days in back]


def observed_until(store: Store, day: str) -> int:
    """Returns the number of observations and segments up to the day."""
    tables = (store.tables.parts(name) for name in ("observations", "segments"))
    return sum(info.rows for parts in tables for part, info in parts.items() if part <= day)


def summaries_version(store: Store) -> str:
    """Returns the version of the memories that the category summaries should be built from; empty
    without memories.
    """
    info = store.tables.parts("memories").get(WHOLE)
    return hash_of(version_of("category_summaries"), info.fingerprint) if info else ""


def summaries_are_stale(store: Store) -> bool:
    """Returns whether the category summaries were built from other memories; the nightly run builds
    memories without them.
    """
    return summaries_version(store) != (store.note_of("category_summaries") or "")


def lessons_md(store: Store, table: Table) -> dict[str, str]:
    """The active lessons, which depend on the ledger and the memories; nothing before the first
    one.
    """
    text = render_lessons(lessons_of(store))
    if text or (store.workspace / LESSONS_MD).is_file():
        return {WHOLE: hash_of(table.version, text)}
    return {}


def briefing(store: Store, table: Table) -> dict[str, str]:
    """What changes without a triage: memories, windows, answers, reflections, due and expiry dates,
    lessons, the owner.
    """
    memories = store.tables.parts("memories")
    if not memories:
        return {}
    reflected = store.tables.parts("session_reflections")
    ends = (
        f"{day}={info.fingerprint}"
        for name in ("windows", "observer_answers", "reflections")
        for day, info in store.tables.parts(name).items()
    )
    version = version_from(
        store,
        table,
        fingerprint(memories, WHOLE),
        fingerprint(reflected, WHOLE),
        render_lessons(lessons_of(store)),
        *ends,
        # The memories recalled with a date do not matter here.
        *due_lines(due_triggers(store, empty("memories"))),
        *expiring_on(store),
    )
    return dict.fromkeys(scopes_of(store), version)


Inputs = Callable[[Store, Table], dict[str, str]]

INPUTS: dict[str, Inputs] = {
    "windows": windows,
    "harness_memories": harness_memories, "messages": messages, "sessions": messages,
    "checkpoints": checkpoints, "observer_answers": observer_answers,
    "observations": observations, "embeddings": embeddings,
    "passage_vectors": passage_vectors, "memories": memories, "reflections": reflections,
    "weekly_distillates": distillates, "monthly_distillates": distillates,
    "timeline": timeline, "proposals": proposals, "friction": friction,
    "lessons_md": lessons_md, "briefing": briefing,
}  # fmt: skip
ASKS: dict[str, Callable[[Settings], str]] = {
    "observer_answers": observer_and_prompt,
    "merges": reflector_and_pair_prompt,
    "reflections": reflector_and_prompt,
    "weekly_distillates": reflector_and_prompt,
    "monthly_distillates": reflector_and_prompt,
}
"""By table that a model answers, what returns the model and the hash of its prompt.

A change marks partitions as stale in the UI only: asking again costs money and takes a backfill.
"""


@cache
def input_functions() -> dict[str, Inputs]:
    """Returns the functions of all tables, with those of optional capabilities."""
    added = (extra.load(extra.inputs).INPUTS for extra in extras() if extra.inputs)
    return INPUTS | {name: function for inputs in added for name, function in inputs.items()}
