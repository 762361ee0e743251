"""Input versions: a hash of everything from which a partition should be built.

A partition is stale if it was built from another input version. In general the version is a hash of
the rules' version, the declared settings and the fingerprints of the source tables. For some tables
a function of their own computes it (`INPUTS`). Such a function gets the store and the table's
declaration, and returns the version of each partition that should exist. Its docstring lists what
the version depends on.
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
from memory_assets.services.health.visible_rules import rules_in
from memory_assets.services.review.written_lines import read_lines
from memory_assets.services.search import brief_inputs
from memory_assets.services.search.corpus import until_published
from memory_assets.services.sources.harness_files import (
    documented_parts,
    find_memory_files,
    memory_file_inputs,
)
from memory_assets.services.sources.transcripts import distilled_since
from memory_assets.services.sources.worktrees import read_worktrees
from memory_assets.stages.brief.briefing import due_lines
from memory_assets.stages.brief.lessons import render_lessons
from memory_assets.stages.capture.checkpoints import WINDOW_COLUMNS, versions_of_days
from memory_assets.stages.capture.messages import inputs_of
from memory_assets.stages.capture.windows import HookSignals
from memory_assets.stages.deliver.events import COMPACTION_PENDING, ENDED
from memory_assets.stages.distill.model.answers import AGENT_QUESTIONS
from memory_assets.stages.distill.standards import plan_allowances, standards_of
from memory_assets.stages.friction.known_rules import KnownRule
from memory_assets.stages.friction.week import DAYS as FRICTION_DAYS
from memory_assets.stages.maintain.states import MOVES
from memory_assets.stages.reflect.subjects import SPANS, WEEK, Span
from memory_assets.store.ledger import FEEDBACK, NOTES
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets.store.settings import RULES, Settings
from memory_assets.store.store import Store
from memory_assets.text.moments import event_time

FLUSHED = "sessions.flushed"
"""Kind of the event that ends every open session."""

UNTIL = "~"
"""Separates the version and the moment in the result of `version_until`."""

OF_ALL_SESSIONS = ("messages", "sessions", "passages")
"""Tables that are built of sessions from before `--since`, too, which are searched by words."""

READ_OF_SESSIONS = frozenset({"windows", *OF_ALL_SESSIONS})
"""Tables whose readers leave out days with such sessions alone."""

REFOLDING = NOTES | MOVES | {FEEDBACK}
"""Kinds of events after which memories are stale. Recalls and uses make no memory stale."""

SESSION_ENDED = ENDED.removeprefix("memory/")
SESSION_COMPACTING = COMPACTION_PENDING.removeprefix("memory/")
"""Kinds of events in the ledger."""


def input_versions(store: Store, table: Table) -> dict[str, str]:
    """Returns the input version of each partition that the table should have.

    The part after a space names a model and its prompt. Another model or prompt makes no partition
    stale, because asking again costs money. A partition that waits for a moment keeps the version
    that it was written with until then (`version_until`).
    """
    versions = _current_versions(store, table)
    if table.grain == "day" and table.name not in OF_ALL_SESSIONS:
        older_days = _older_days(store.tables) if READ_OF_SESSIONS & {*table.made_from} else ()
        versions = {day: version for day, version in versions.items() if day not in older_days}
    return versions | _waiting(store, table, versions) if table.record else versions


@until_published("windows")
def _older_days(tables: ParquetTables) -> frozenset[str]:
    """Returns the days whose windows are all older than `--since`."""
    windows = tables.read("windows", columns=["day", "status"]).drop_nulls("day")
    days = windows.group_by("day").agg(is_older=(pl.col("status") == "older").all())
    return frozenset(map(str, days.filter("is_older")["day"]))


def _current_versions(store: Store, table: Table) -> dict[str, str]:
    own_function = input_functions().get(table.built_with or table.name)
    if own_function:
        return own_function(store, table)
    sources = [name for name in table.made_from if TABLES[name].record]
    if table.grain == "whole":
        versions = part_versions(store, sources)
        return {WHOLE: version_from(store, table, *versions)} if versions else {}
    same_names = [name for name in sources if TABLES[name].grain == table.grain]
    same_grain = [store.tables.parts(name) for name in same_names]
    return {
        part: version_from(store, table, *(fingerprint(parts, part) for parts in same_grain))
        for part in same_grain[0]
    }


def part_versions(store: Store, names: Iterable[str]) -> list[str]:
    """Returns a text with the name and the hash of each partition of the tables."""
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
    """The rules, the flushes, and the records and signals of each source, as JSON.

    From the JSON the build function sees which sources changed, and cuts only their sessions again.
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
    since = distilled_since(store.settings)
    rules = version_from(store, table, *filter(None, [since]))
    state = {"rules": rules, "flushes": moments, "sources": sources}
    return {WHOLE: json.dumps(state, sort_keys=True, separators=(",", ":"))}


def flushes(store: Store) -> tuple[datetime, ...]:
    """Returns the moments at which a person ended every open session."""
    return tuple(event.at for event in store.ledger.events([FLUSHED]))


def hook_signals_of(store: Store) -> dict[str, HookSignals]:
    """Returns, by session, when its harness reported its end, and compactions that were to come."""
    moments: dict[str, dict[str, list[datetime]]] = {}
    for event in store.ledger.events([SESSION_ENDED, SESSION_COMPACTING]):
        by_kind = moments.setdefault(event.target, {SESSION_ENDED: [], SESSION_COMPACTING: []})
        sent_at = event_time(event.payload["sent_at"]) or event.at
        by_kind[event.kind].append(min(sent_at, event.at))
    return {id: HookSignals(*map(tuple, by_kind.values())) for id, by_kind in moments.items()}


def harness_memories(store: Store, table: Table) -> dict[str, str]:
    """The memory files of harnesses, and documents.

    Nothing before the first transcript or document, so that memory files alone do not fill a store.
    """
    is_started = (
        store.tables.parts(table.name)
        or documented_parts(store)
        or (store.tables.parts("windows") and find_memory_files(store.settings))
    )
    return {WHOLE: memory_file_inputs(store)} if is_started else {}


def messages(store: Store, table: Table) -> dict[str, str]:
    """The windows that closed on the day. A day that lost its windows is built again, as empty."""
    closed = store.tables.read("windows").filter(pl.col("day").is_not_null())
    versions = {day.isoformat(): inputs_of(group) for (day,), group in closed.group_by("day")}
    return _with_lost(store, table, versions, inputs_of(closed.clear()))


def checkpoints(store: Store, table: Table) -> dict[str, str]:
    """What the turns in the day's closed windows depend on (`stages.capture.checkpoints`)."""
    versions = versions_of_days(store.tables.read("windows", columns=WINDOW_COLUMNS), table.version)
    return _with_lost(store, table, versions, hash_of(table.version))


def _with_lost(
    store: Store, table: Table, versions: dict[str, str], empty_version: str
) -> dict[str, str]:
    """Adds the days that still have rows and lost what these were made from, each with the empty
    version.
    """
    written = store.tables.parts(table.name)
    lost_days = [day for day, info in written.items() if info.rows and day not in versions]
    return versions | dict.fromkeys(lost_days, empty_version)


def observer_answers(store: Store, table: Table) -> dict[str, str]:
    """The messages, the windows to ask about with their statuses, the answers of agents; the model
    and its prompts.
    """
    model_and_prompts = observer_and_prompt(store.settings) or RULES
    parts = store.tables.parts("messages")
    by_status = [_windows(store, [status]) for status in READ_STATUSES]
    by_day = {day: ["\x1f".join(windows.get(day, ())) for windows in by_status] for day in parts}
    agents = answers_of_agents(store)
    versions = {}
    for day, windows in by_day.items():
        hashed = hash_of(table.version, *windows, fingerprint(parts, day), *agents.get(day, ()))
        versions[day] = f"{hashed} {model_and_prompts}"
    return versions


def answers_of_agents(store: Store) -> dict[str, list[str]]:
    """Returns the names of the stored answers to questions that agents were given, by day."""
    markers = (store.answers / AGENT_QUESTIONS).glob("*/*")
    day_of = {marker.name.partition("-")[0]: marker.parent.name for marker in markers}
    days: dict[str, list[str]] = {}
    for path in sorted(store.answers.glob("*.json")) if day_of else ():
        day = day_of.get(path.name.partition("-")[0])
        if day:
            days.setdefault(day, []).append(path.name)
    return days


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
    """Returns the model that compares pairs of facts and its prompt's hash; empty without one."""
    from memory_assets.stages.embed import pair_questions

    model = settings.model_of("reflector")
    return "" if model == RULES else f"{model}:{pair_questions.prompt_hash()}"


def observations(store: Store, table: Table) -> dict[str, str]:
    """The day's messages, answers of models, allowances and replaced facts, and the rules.

    An allowance is the number of facts that a window may add. Replaced facts are those that a later
    part of the same session corrected. The rules are the standards of the write gate, and the
    embedding model, which chooses categories and compares answers with the owner's words.
    """
    standards = standards_of(store.settings)
    allowances = plan_allowances(store.tables.read("windows"), standards.limits.most_allowed)
    allowances_by_day = {
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
            *allowances_by_day.get(day, ()),
            fingerprint(messages, day),
            fingerprint(answers, day),
            *replaced.get(day, ()),
        )
        for day in messages
    }


def replaced_by_day(store: Store) -> dict[str, list[str]]:
    """Returns the ids of facts that answers replace, by day with an answer about their session."""
    rows = store.tables.read("observer_answers", columns=["day", "session_id", "replaced_ids"])
    pairs = rows.explode("replaced_ids").drop_nulls("replaced_ids")
    replacing = pairs.select("session_id", "replaced_ids").unique()
    days = rows.select("day", "session_id").unique().join(replacing, on="session_id")
    ordered = days.sort("day", "replaced_ids")
    ids = ordered.group_by("day", maintain_order=True).agg("replaced_ids")
    return {day.isoformat(): replaced_ids for day, replaced_ids in ids.iter_rows()}


def _windows(store: Store, statuses: Sequence[str]) -> dict[str, list[str]]:
    """Returns the ids of the windows of each day with one of the statuses, sorted."""
    windows = store.tables.read("windows", columns=["window_id", "day", "status"]).filter(
        pl.col("status").is_in(statuses)
    )
    by_day = windows.drop_nulls("day").sort("window_id").group_by("day").agg("window_id")
    return {day.isoformat(): ids for day, ids in by_day.iter_rows()}


def embeddings(store: Store, table: Table) -> dict[str, str]:
    """The day's observations, and its notes in the ledger and in the memories of harnesses."""
    observed = store.tables.parts("observations")
    noted = notes_by_day(store)
    return {
        day: version_from(store, table, fingerprint(observed, day), *noted.get(day, ()))
        for day in {*observed, *noted}
    }


def passage_vectors(store: Store, table: Table) -> dict[str, str]:
    """The day's passages."""
    parts = store.tables.parts("passages")
    return {day: version_from(store, table, fingerprint(parts, day)) for day in parts}


def _waiting(store: Store, table: Table, versions: Mapping[str, str]) -> dict[str, str]:
    """Returns the written versions that name a moment in the future and are current otherwise.

    They replace the current versions, so that these partitions are not stale before that moment
    (`version_until`).
    """
    now = store.settings.clock()
    waiting = dict[str, str]()
    for part, info in store.tables.parts(table.name).items():
        version, _, until = info.inputs.partition(UNTIL)
        if until and version == versions.get(part) and now < datetime.fromisoformat(until):
            waiting[part] = info.inputs
    return waiting


def version_until(version: str, until: datetime | None) -> str:
    """Returns the version with the moment from which the partition is stale in any case."""
    return f"{version.partition(UNTIL)[0]}{UNTIL}{until.isoformat()}" if until else version


def notes_by_day(store: Store) -> dict[str, list[str]]:
    """Returns, by local day, the ids of notes and of the memories of harnesses."""
    from memory_assets.stages.embed.notes import note_rows

    notes = note_rows(store.ledger.events(NOTES), store.settings.zone).select("id", "day")
    rows = pl.concat([notes, store.tables.read("harness_memories", columns=["id", "day"])])
    by_day = rows.group_by("day", maintain_order=True).agg("id")
    return {day.isoformat(): ids for day, ids in by_day.select("day", "id").iter_rows()}


def merge_rules(store: Store) -> str:
    """Returns the hash of the rules that compare pairs of facts; a new one compares all again."""
    settings = store.settings
    standards = standards_of(settings)
    return hash_of(version_of("merges"), standards.version, settings.embedding_model)


def memories(store: Store, table: Table) -> dict[str, str]:
    """The tables that are folded, the events `REFOLDING`, and the moment of the next change.

    At that moment a memory may become stale by its age.
    """
    events = [event.id for event in store.ledger.events(REFOLDING)]
    if not (events or store.tables.parts("observations") or store.tables.parts("harness_memories")):
        return {}
    parts = part_versions(store, ("observations", "harness_memories", "embeddings", "passages"))
    return {WHOLE: version_from(store, table, version_of("merges"), *parts, *events)}


def reflections(store: Store, table: Table) -> dict[str, str]:
    """The observations up to the day: a reflection uses the memories at the day's end."""
    model = reflector_and_prompt(store.settings)
    versions = _cumulative_versions(store, table.version)
    with_model = {day: f"{version} {model}".rstrip() for day, version in versions.items()}
    return _with_lost(store, table, with_model, hash_of(table.version))


def proposals(store: Store, table: Table) -> dict[str, str]:
    """The reflections of the day, so all earlier observations; the owner, sections and zone."""
    versions = _cumulative_versions(store, version_of("reflections"))
    with_settings = {day: version_from(store, table, version) for day, version in versions.items()}
    return _with_lost(store, table, with_settings, hash_of(table.version))


def _cumulative_versions(store: Store, version: str) -> dict[str, str]:
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
    versions = {
        first: f"{hash_of(table.version, *days)} {model}".rstrip()
        for first, days in reflected.items()
    }
    return _with_lost(store, table, versions, hash_of(table.version))


def timeline(store: Store, table: Table) -> dict[str, str]:
    """The reflections and segments of the days of each finished week, and the time zone."""
    segments = _finished(store, WEEK, "segments")
    weeks = distillates(store, TABLES["weekly_distillates"])
    versions = {
        week: version_from(store, table, unpaid(version), *segments.get(week, ()))
        for week, version in weeks.items()
    }
    return _with_lost(store, table, versions, hash_of(table.version))


def _finished(
    store: Store, span: Span, table: str, *, is_with_inputs: bool = False
) -> dict[str, list[str]]:
    """Returns the versions of the days with rows, by the first day of their week or month.

    Weeks or months that are not over are left out. `is_with_inputs` adds the input versions.
    """
    today = store.settings.today()
    days: dict[str, list[str]] = {}
    for day, info in store.tables.parts(table).items():
        first = span.first_day(date.fromisoformat(day))
        if info.rows and span.last_day(first) < today:
            inputs = f":{info.inputs}" if is_with_inputs else ""
            days.setdefault(first.isoformat(), []).append(f"{day}={info.fingerprint}{inputs}")
    return days


def obedience(store: Store, table: Table) -> dict[str, str]:
    """The day's messages, and the rules that tool calls can show; nothing before the first rule."""
    rules = counted_rules(store, rules_in(store))
    if not rules and not store.tables.parts(table.name):
        return {}
    parts = store.tables.parts("messages")
    return {day: version_from(store, table, fingerprint(parts, day), *rules) for day in parts}


def counted_rules(store: Store, rules: Iterable[KnownRule]) -> list[str]:
    """Returns, by id and text, those of the rules that make verdicts stale when they change.

    A line of MEMORY.md counts by its memory; one of no memory from its second day on, as lines are
    read after sessions are judged.
    """
    today = store.settings.today()
    zone = store.settings.zone
    return [
        f"{rule.id}:{rule.source}"
        for rule in rules
        if rule.origin == "memory"
        or (rule.origin == "line" and rule.line_since.astimezone(zone).date() < today)
    ]


def friction(store: Store, table: Table) -> dict[str, str]:
    """The messages and observations of the seven days that end with the day.

    Only the last seven days have a version, so that older ones are not built again.
    """
    today = store.settings.today()
    written = store.tables.parts(table.name)
    rules = counted_rules(store, rules_in(store))
    versions = dict[str, str]()
    for day in store.tables.parts("messages"):
        if (today - date.fromisoformat(day)).days <= FRICTION_DAYS:
            has_friction = day in written and written[day].rows > 0
            versions[day] = friction_version(store, table, day, rules, has_friction=has_friction)
    return versions


def friction_version(
    store: Store, table: Table, day: str, rules: Sequence[str], *, has_friction: bool
) -> str:
    """Returns the input version of the day; with a friction on it, also of the six later days."""
    is_enough = session_count(store, day) >= store.settings.friction_sessions
    days = friction_days(day, has_friction=has_friction)
    sources = [store.tables.parts(name) for name in ("messages", "observations")]
    hashes = [parts[part].fingerprint for parts in sources for part in days if part in parts]
    return version_from(store, table, is_enough, *hashes, *rules)


def friction_days(day: str, *, has_friction: bool = False) -> list[str]:
    """Returns the seven days that end with the day; with a friction, also the six days after it."""
    middle = date.fromisoformat(day)
    end = FRICTION_DAYS if has_friction else 1
    offsets = range(1 - FRICTION_DAYS, end)
    return [(middle + timedelta(days=offset)).isoformat() for offset in offsets]


def session_count(store: Store, day: str) -> int:
    """Returns the number of sessions that were read up to the day."""
    windows = store.tables.read("windows", columns=["session_id", "day", "status"])
    is_before = pl.col("day") <= date.fromisoformat(day)
    read_windows = windows.filter(pl.col("status").is_in(READ_STATUSES), is_before)
    return read_windows["session_id"].n_unique()


def verifications(store: Store, table: Table) -> dict[str, str]:
    """The memories and proposals, what people wrote into MEMORY.md, and HEAD of each repository
    that sessions of this machine worked in; nothing without a repository.
    """
    worktrees = read_worktrees(store).by_root
    if not worktrees:
        return {}
    heads = (f"{root}={worktree.head}" for root, worktree in worktrees.items())
    parts = part_versions(store, ("memories", "proposals"))
    lines = (f"{line.path}:{line.text}" for line in read_lines(store) if not line.promotion)
    return {WHOLE: version_from(store, table, *heads, *parts, *lines)}


def summaries_version(store: Store) -> str:
    """Returns the version from which category summaries should be built; empty without memories."""
    info = store.tables.parts("memories").get(WHOLE)
    return hash_of(version_of("category_summaries"), info.fingerprint) if info else ""


def summaries_are_stale(store: Store) -> bool:
    """Returns whether the category summaries were built from other memories than the present ones.

    This happens every night, because the nightly run builds memories and no summaries.
    """
    return summaries_version(store) != (store.note_of("category_summaries") or "")


def lessons_md(store: Store, table: Table) -> dict[str, str]:
    """The text of the active lessons, which depends on the ledger; nothing before the first one."""
    text = render_lessons(brief_inputs.lessons_of(store))
    if text or (store.workspace / brief_inputs.LESSONS_MD).is_file():
        return {WHOLE: hash_of(table.version, text)}
    return {}


def briefing(store: Store, table: Table) -> dict[str, str]:
    """What may change a briefing without a triage: tables, lessons, due dates and expiry dates."""
    if not store.tables.parts("memories"):
        return {}
    tables = """memories session_reflections windows segments observer_answers reflections
        verifications"""
    version = version_from(
        store,
        table,
        *part_versions(store, tables.split()),
        render_lessons(brief_inputs.lessons_of(store)),
        # The memories that are shown with a due date need not be compared: their hash is above.
        *due_lines(brief_inputs.due_triggers(store, empty("memories"))),
        *brief_inputs.expiring_on(store),
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
    "obedience": obedience, "verifications": verifications,
    "lessons_md": lessons_md, "briefing": briefing,
}  # fmt: skip
ASKS: dict[str, Callable[[Settings], str]] = {
    "observer_answers": observer_and_prompt,
    "merges": reflector_and_pair_prompt,
    "reflections": reflector_and_prompt,
    "weekly_distillates": reflector_and_prompt,
    "monthly_distillates": reflector_and_prompt,
}
"""By table that a model answers: the function that returns the model and the hash of its prompt.

After a change only the UI shows partitions as stale. A backfill asks again, which costs money.
"""


@cache
def input_functions() -> dict[str, Inputs]:
    """Returns `INPUTS` with the functions of optional capabilities."""
    added = (extra.load(extra.inputs).INPUTS for extra in extras() if extra.inputs)
    return INPUTS | {name: function for inputs in added for name, function in inputs.items()}
