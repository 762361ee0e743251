"""What waits to be done, told from the store alone: no Dagster, no heavy import, a few milliseconds.

The sensors and `memory ingest` ask the same questions. Each step's answer compares what is there with what the next table
says it was made from, so it holds after any crash, backfill or deletion.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from memory_assets.schema.frames import empty, hash_of
from memory_assets.schema.protocols import PartInfo, Tables
from memory_assets.services.harness_files import find_memory_files, memory_file_inputs
from memory_assets.services.sources import find_sources
from memory_assets.stages.capture.messages import pending_days
from memory_assets.stages.capture.tombstones import unfinished
from memory_assets.stages.capture.windows import WINDOWS_VERSION, Told
from memory_assets.stages.deliver import spool
from memory_assets.stages.deliver.events import ACCUMULATED, COMPACTION_PENDING, ENDED, REFLECTED, SCHEMA_VERSION
from memory_assets.stages.deliver.inbox import moment_of
from memory_assets.stages.distill import ANSWERS_VERSION, DISTILL_VERSION, LESSONS_VERSION
from memory_assets.stages.distill.allowance import plan_allowances
from memory_assets.stages.distill.dates.triggers import TRIGGERS_VERSION
from memory_assets.stages.distill.standards import standards_of
from memory_assets.stages.embed.encode import EMBED_VERSION
from memory_assets.stages.embed.entities import ENTITIES_VERSION
from memory_assets.stages.embed.graph import GRAPH_VERSION
from memory_assets.stages.embed.memories import FOLD_VERSION
from memory_assets.stages.embed.merge import MERGE_VERSION
from memory_assets.stages.embed.passages import PASSAGES_VERSION
from memory_assets.stages.evaluate import EVALUATION_VERSION
from memory_assets.stages.evaluate.quality import QUALITY_VERSION
from memory_assets.stages.friction.number import FRICTION_VERSION
from memory_assets.stages.friction.week import DAYS as FRICTION_DAYS
from memory_assets.stages.reflect import DISTILLER, REFLECTOR
from memory_assets.stages.reflect.gradient import DAY, MONTH, TABLE_OF, WEEK, Span
from memory_assets.store.ledger import FEEDBACK, NOTES, WORDS_ERASED, WORDS_FORGOTTEN, Event
from memory_assets.store.settings import RULES
from memory_assets.text.files import write_atomically

if TYPE_CHECKING:
    from memory_assets.store.store import Store

FRICTION_REQUESTED = "friction.requested"
FLUSHED = "sessions.flushed"
SESSION_ENDED, SESSION_COMPACTING, DAY_ACCUMULATED, DAY_REFLECTED = (
    name.removeprefix("memory/") for name in (ENDED, COMPACTION_PENDING, ACCUMULATED, REFLECTED)
)
"""What was sent, as the ledger calls it."""

TOLD = NOTES | {FEEDBACK}
"""Events that ask for a new fold; recalls and their echoes wait for the next one."""

DUE_MARK = "- ⏰"
"""How the briefing begins a line of what comes up."""

ACCUMULATED_TOKENS = 40_000
"""Observations of one day that are reflected on at once, and do not wait for the morning."""

DISTILLING = (("distil_weeks", WEEK), ("distil_months", MONTH))
"""Jobs that distil what is finished, and what they distil."""

TRIAGED = "triaged"
"""File that holds what the last triage read."""


def transcripts_changed(store: "Store") -> bool:
    """Returns whether a transcript grew, appeared or was rewritten since it was captured, from sizes and times alone."""
    from memory_assets.stages.capture.intake import has_changes

    return has_changes(find_sources(store.settings), store.archive, store.settings.clock())


def erasing_is_due(store: "Store") -> bool:
    """Returns whether words are forgotten that were not erased everywhere yet: a process was killed, or found a file busy."""
    return bool(unfinished(store.ledger.events([WORDS_FORGOTTEN, WORDS_ERASED])))


def capture_inputs(store: "Store") -> str:
    """Returns the hash of what a capture would look at: the files that changed, and what windows are cut from."""
    from memory_assets.stages.capture.intake import changed_files

    changed = changed_files(find_sources(store.settings), store.archive, store.settings.clock())
    looks = [f"{file.path}:{file.size}:{file.mtime_ns}" for file in changed]
    written = store.tables.parts("windows").get("all")
    erasing = str(erasing_is_due(store))
    return hash_of(*looks, windows_inputs(store), written.fingerprint if written else "-", memory_file_inputs(store), erasing)


def capture_is_due(store: "Store") -> bool:
    """Returns whether there is something to take in, a window to close, or a forgetting to finish."""
    changed = transcripts_changed(store) or harness_memories_changed(store)
    return changed or windows_due(store) or erasing_is_due(store)


def harness_memories_changed(store: "Store") -> bool:
    """Returns whether what a harness remembers by itself changed since it was read."""
    written = store.tables.parts("harness_memories").get("all")
    if written is None:
        return bool(store.tables.parts("windows")) and bool(find_memory_files(store.settings))
    return written.inputs != memory_file_inputs(store)


def windows_due(store: "Store") -> bool:
    """Returns whether captured ranges are not yet cut into windows, or an open window has been idle for long enough."""
    tables = store.tables
    written = tables.parts("windows").get("all")
    if written is None:
        return bool(tables.parts("records")) or not store.archive.resources().is_empty()
    if written.inputs != windows_inputs(store):
        return True
    idle = timedelta(minutes=store.settings.idle_minutes)
    now, moments = store.settings.clock(), flushes(store)
    opened = tables.read("windows", columns=["status", "ended_at"]).filter(pl.col("status") == "open")
    return any(ended + idle <= now or any(ended <= moment for moment in moments) for ended in opened["ended_at"])


def flushes(store: "Store") -> tuple[datetime, ...]:
    """Returns the moments at which a person ended every open session."""
    return tuple(event.at for event in store.ledger.events([FLUSHED]))


def told_of_sessions(store: "Store") -> dict[str, Told]:
    """Returns what harnesses told of sessions: when each ended, and when it was about to be compacted."""
    found: dict[str, dict[str, list[datetime]]] = {}
    for event in store.ledger.events([SESSION_ENDED, SESSION_COMPACTING]):
        moment = min(moment_of(event.payload["sent_at"]) or event.at, event.at)
        found.setdefault(event.target, {}).setdefault(event.kind, []).append(moment)
    return {
        session: Told(tuple(told.get(SESSION_ENDED, ())), tuple(told.get(SESSION_COMPACTING, ())))
        for session, told in found.items()
    }


def events_wait(store: "Store") -> bool:
    """Returns whether something was sent that was not taken in."""
    return bool(spool.unread(str(store.root)))


def spool_inputs(store: "Store") -> str:
    """Returns the hash of what waits in the spool."""
    return hash_of(*spool.unread(str(store.root)).items())


def event_inputs(events: Sequence[Event]) -> str:
    """Returns the hash of what the tables `events` and `dead_letters` are folded from."""
    return hash_of(SCHEMA_VERSION, *(event.id for event in events))


def days_asked_for(store: "Store") -> dict[date, str]:
    """Returns the days that somebody sent word of (`observations.accumulated`) and nobody reflected on, with its event."""
    asked = {date.fromisoformat(event.target): event.id for event in store.ledger.events([DAY_ACCUMULATED])}
    return {day: asked[day] for day in days_to_reflect(store.tables) if day in asked} if asked else {}


def windows_inputs(store: "Store") -> str:
    """Returns what windows are cut from, as JSON: the rules, the moments of a flush, and of each source its records and what
    its harness told."""
    settings = store.settings
    rules = hash_of(
        WINDOWS_VERSION, settings.idle_minutes, settings.short_turns, settings.context_tokens, settings.owner, settings.people
    )
    moments = [moment.isoformat() for moment in flushes(store)]
    told = _told_by_source(store)
    sources = {
        name: hash_of(info.fingerprint, told[name]) if name in told else info.fingerprint
        for name, info in store.tables.parts("records").items()
    }
    return json.dumps({"rules": rules, "flushes": moments, "sources": sources}, sort_keys=True)


def _told_by_source(store: "Store") -> dict[str, Told]:
    told = told_of_sessions(store)
    if not told:
        return {}
    sources = store.archive.resources().filter(pl.col("conversation_id").is_in(list(told)))
    return {source: told[session] for source, session in sources.select("source_id", "conversation_id").unique().iter_rows()}


def days_to_learn(store: "Store") -> list[date]:
    """Returns the days of which a table was made from something else than what is there now, or not at all."""
    windows = store.tables.read("windows")
    moved = {day.isoformat() for day in pending_days(windows, store.tables)}
    days = set(store.tables.parts("messages"))
    observed, asked = store.tables.parts("observations"), store.tables.parts("observer_answers")
    wanted = distil_inputs(store, windows, days - moved)
    stale = {day for day, inputs in wanted.items() if day not in observed or observed[day].inputs != inputs}
    stale |= {day for day, what in windows_to_ask(store, windows, days).items() if not _was_asked(asked.get(day), what)}
    embedded, noted = store.tables.parts("embeddings"), notes_by_day(store)
    inputs_of = {day: embed_inputs(store, day, noted) for day in {*observed, *noted}}
    unembedded = {day for day, inputs in inputs_of.items() if day not in embedded or embedded[day].inputs != inputs}
    cut = store.tables.parts("passages")
    uncut = {day for day in days if day not in cut or cut[day].inputs != passage_inputs(store, day)}
    measured = store.tables.parts("quality")
    due = quality_inputs(store.tables, observed)
    unmeasured = {day for day, inputs in due.items() if day not in measured or measured[day].inputs != inputs}
    triggered, wanted = store.tables.parts("triggers"), trigger_inputs(store, days)
    unread = {day for day, inputs in wanted.items() if day not in triggered or triggered[day].inputs != inputs}
    taught, asked_for = store.tables.parts("lessons"), lesson_inputs(store, days)
    untaught = {day for day, inputs in asked_for.items() if day not in taught or taught[day].inputs != inputs}
    due = moved | stale | unembedded | uncut | unmeasured | unread | untaught
    return sorted(date.fromisoformat(day) for day in due)


def distil_inputs(store: "Store", windows: pl.DataFrame, days: Iterable[str]) -> dict[str, str]:
    """Returns, by day, the hash of what its segments, observations and verdicts are made from."""
    standards = standards_of(store.settings)
    allowances, messages = plan_allowances(windows, standards.limits.most_allowed), store.tables.parts("messages")
    answers = store.tables.parts("observer_answers")
    closed = windows.filter((pl.col("status") == "observed") & pl.col("day").is_not_null())
    shares: dict[str, list[str]] = {}
    for day, window in closed.select("day", "window_id").sort("day", "window_id").iter_rows():
        shares.setdefault(day.isoformat(), []).append(f"{window}:{allowances[window]}")
    return {
        day: hash_of(standards.version, *shares.get(day, ()), *(_fingerprint(parts, day) for parts in (messages, answers)))
        for day in days
    }


def _fingerprint(parts: Mapping[str, PartInfo], day: str) -> str:
    return parts[day].fingerprint if day in parts else "-"


def answers_inputs(store: "Store", windows: pl.DataFrame, days: Iterable[str]) -> dict[str, str]:
    """Returns, by day, what its answers are made from: its windows, the model and the prompt."""
    from memory_assets.stages.distill.model.questions import prompt_hash

    settings = store.settings
    how = settings.model if settings.model == RULES else f"{settings.model}:{prompt_hash(settings.observer_prompt)}"
    return {day: f"{what} {how}" for day, what in windows_to_ask(store, windows, days).items()}


def windows_to_ask(store: "Store", windows: pl.DataFrame, days: Iterable[str]) -> dict[str, str]:
    """Returns, by day, the hash of the windows that a model is asked about.

    Only new or changed windows make a day due by itself; another prompt or model costs money, and waits for a backfill.
    """
    messages = store.tables.parts("messages")
    closed = windows.filter((pl.col("status") == "observed") & pl.col("day").is_not_null()).sort("window_id")
    observed: dict[str, list[str]] = {}
    for day, window in closed.select("day", "window_id").iter_rows():
        observed.setdefault(day.isoformat(), []).append(window)
    return {day: hash_of(ANSWERS_VERSION, *observed.get(day, ()), _fingerprint(messages, day)) for day in days}


def _was_asked(written: PartInfo | None, windows: str) -> bool:
    """Returns whether the day's answers are about these windows, under whatever prompt."""
    return written is not None and made_from(written) == windows


def made_from(written: PartInfo) -> str:
    """Returns the hash of what a part was made from, whatever model and prompt it was made with."""
    return written.inputs.split(" ")[0]


def notes_by_day(store: "Store") -> dict[str, list[str]]:
    """Returns the ids of what was noted, or remembered by a harness, on each local day."""
    from memory_assets.stages.embed.notes import note_rows

    found: dict[str, list[str]] = {}
    notes = note_rows(store.ledger.events(NOTES), store.settings.zone).select("id", "day")
    remembered = store.tables.read("harness_memories", columns=["id", "day"])
    for id, day in pl.concat([notes, remembered]).iter_rows():
        found.setdefault(day.isoformat(), []).append(id)
    return found


def embed_inputs(store: "Store", day: str, noted: Mapping[str, Sequence[str]]) -> str:
    """Returns the hash of what the day's embeddings are made from: its observations and what was noted on it."""
    observed = store.tables.parts("observations", [day]).get(day)
    texts = (observed.fingerprint if observed else "-", *noted.get(day, ()))
    return hash_of(EMBED_VERSION, store.settings.embedding_model, *texts)


def trigger_inputs(store: "Store", days: Iterable[str]) -> dict[str, str]:
    """Returns, by day, the hash of what its triggers are made from."""
    parts = [store.tables.parts(table) for table in ("messages", "observations")]
    how = (TRIGGERS_VERSION, store.settings.timezone, store.settings.date_order)
    return {day: hash_of(*how, *(_fingerprint(one, day) for one in parts)) for day in days}


def lesson_inputs(store: "Store", days: Iterable[str]) -> dict[str, str]:
    """Returns, by day, the hash of what its lessons are made from; windows say which messages those are."""
    said = store.tables.parts("messages")
    return {day: hash_of(LESSONS_VERSION, DISTILL_VERSION, _fingerprint(said, day)) for day in days}


def passage_inputs(store: "Store", day: str) -> str:
    """Returns the hash of what the day's passages are made from."""
    said = store.tables.parts("messages", [day]).get(day)
    return hash_of(PASSAGES_VERSION, store.settings.embedding_model, said.fingerprint if said else "-")


def quality_inputs(tables: Tables, days: Iterable[str]) -> dict[str, str]:
    """Returns, by day, the hash of what its quality is measured from."""
    parts = [tables.parts(table) for table in ("messages", "observations", "verdicts")]
    return {day: hash_of(QUALITY_VERSION, *(_fingerprint(one, day) for one in parts)) for day in days}


def evaluation_inputs(store: "Store") -> str:
    """Returns the hash of what an evaluation is made from: the labels, the observations and who made them."""
    from memory_assets.stages.evaluate.labels import hash_of_labels

    labels = hash_of_labels(store.settings.gold) if store.settings.gold else "-"
    windows = store.tables.parts("windows").get("all")
    parts = (f"{day}={info.fingerprint}" for day, info in store.tables.parts("observations").items())
    return hash_of(EVALUATION_VERSION, DISTILL_VERSION, labels, windows.fingerprint if windows else "-", *parts)


def evaluation_is_behind(store: "Store") -> bool:
    """Returns whether labelled sessions are named and were not yet scored against the present observations."""
    if store.settings.gold is None or not store.tables.parts("observations"):
        return False
    written = store.tables.parts("evaluation").get("all")
    return written is None or written.inputs != evaluation_inputs(store)


def merge_inputs(store: "Store") -> str:
    """Returns the hash of what pairs are judged by; with another one, all are judged again."""
    return hash_of(MERGE_VERSION, standards_of(store.settings).version, store.settings.embedding_model)


def fold_inputs(tables: Tables, events: Iterable[Event]) -> str:
    """Returns the hash of everything that the memories are folded from; of the ledger, what people and agents told."""
    names = ("observations", "harness_memories", "embeddings", "passages")
    parts = (f"{name}/{day}={info.fingerprint}" for name in names for day, info in tables.parts(name).items())
    told = (event.id for event in events if event.kind in TOLD)
    return hash_of(FOLD_VERSION, MERGE_VERSION, *parts, *told)


def fold_is_behind(store: "Store") -> bool:
    """Returns whether something was observed or told since memories were folded, or what follows from them was never made."""
    written, told = store.tables.parts("memories").get("all"), store.ledger.events(TOLD)
    if written is None:
        return bool(told or store.tables.parts("observations") or store.tables.parts("harness_memories"))
    return "all" not in store.tables.parts("recalls") or written.inputs != fold_inputs(store.tables, told)


def graph_inputs(store: "Store") -> str:
    """Returns the hash of what the entity graph is made from: the memories and the owner's aliases."""
    folded = store.tables.parts("memories").get("all")
    aliases = json.dumps(store.settings.aliases, sort_keys=True)
    return hash_of(ENTITIES_VERSION, GRAPH_VERSION, folded.fingerprint if folded else "-", aliases)


def graph_is_behind(store: "Store") -> bool:
    """Returns whether the entity graph was made from other memories than the present ones, or not at all."""
    if "all" not in store.tables.parts("memories"):
        return False
    written = store.tables.parts("relations").get("all")
    return written is None or written.inputs != graph_inputs(store)


def index_is_missing(store: "Store") -> bool:
    """Returns whether an index was deleted or moved aside as unreadable, though there are memories to find."""
    pointers = (store.root / "index" / name / "current" for name in ("vectors", "texts"))
    return "all" in store.tables.parts("memories") and not all(pointer.is_file() for pointer in pointers)


def briefing_is_behind(store: "Store") -> bool:
    """Returns whether a lesson, or something that comes up today or tomorrow, is not told, or told though it is over."""
    from memory_assets.services.active_lessons import lessons_are_behind
    from memory_assets.services.due_triggers import coming_up
    from memory_assets.stages.brief.briefing import due_lines

    if lessons_are_behind(store):
        return True
    path = store.workspace / "briefing.md"
    if not path.is_file() or not store.tables.parts("triggers"):
        return False
    told = {line for line in path.read_text("utf-8", errors="replace").splitlines() if line.startswith(DUE_MARK)}
    wanted = due_lines(coming_up(store, empty("memories")))  # what is recalled with them does not matter here
    return told != {line for line in wanted if line.startswith(DUE_MARK)}


def briefing_inputs(store: "Store") -> str:
    """Returns the hash of what makes a briefing due by itself: lessons, triggers and the day."""
    parts = (
        f"{table}/{day}={one.fingerprint}"
        for table in ("lessons", "triggers")
        for day, one in store.tables.parts(table).items()
    )
    return hash_of(store.settings.today(), *parts)


def days_to_reflect(tables: Tables) -> list[date]:
    """Returns the days whose proposals were made from other observations than the present ones."""
    written = tables.parts("proposals")
    wanted = proposal_inputs(tables)
    return [date.fromisoformat(d) for d, inputs in wanted.items() if d not in written or written[d].inputs != inputs]


def days_to_find_friction(store: "Store") -> list[date]:
    """Returns the days with messages, of the last seven, whose frictions were found in other messages than the present ones."""
    today = store.settings.today()
    recent = [day for day in store.tables.parts("messages") if (today - date.fromisoformat(day)).days <= FRICTION_DAYS]
    written = store.tables.parts("friction")
    wanted = {day: friction_inputs(store, day) for day in recent}
    return [date.fromisoformat(d) for d, inputs in wanted.items() if d not in written or written[d].inputs != inputs]


def friction_asked_for(store: "Store") -> dict[date, str]:
    """Returns the days in which frictions are to be found at once, with the latest event that asks for it."""
    asked = store.ledger.events([FRICTION_REQUESTED])
    return dict.fromkeys(days_to_find_friction(store), asked[-1].id) if asked else {}


def friction_inputs(store: "Store", day: str) -> str:
    """Returns the hash of what the frictions of the seven days that end with the day are found in."""
    last = date.fromisoformat(day)
    days = [(last - timedelta(days=back)).isoformat() for back in range(FRICTION_DAYS)]
    parts = [store.tables.parts(table) for table in ("messages", "observations")]
    is_enough = observations_until(store.tables, day) >= store.settings.friction_observations
    return hash_of(
        FRICTION_VERSION, store.settings.embedding_model, is_enough, *(_fingerprint(p, d) for p in parts for d in days)
    )


def observations_until(tables: Tables, day: str) -> int:
    """Returns how many observations there are up to the day."""
    return sum(info.rows for part, info in tables.parts("observations").items() if part <= day)


def proposal_inputs(tables: Tables) -> dict[str, str]:
    """Returns, by day, the hash of what its proposals rest on: the observations of that day and of all days before it.

    Proposals of a day look at the memories as they stood at its end, so a backfilled older day makes the later ones due.
    """
    found: dict[str, str] = {}
    running = REFLECTOR
    for day, info in tables.parts("observations").items():
        if not info.rows:
            continue
        running = hash_of(running, day, info.fingerprint)
        found[day] = running
    return found


def days_accumulated(store: "Store") -> list[date]:
    """Returns the days nobody reflected on since they passed so many tokens of observations that they should not wait."""
    due = [day.isoformat() for day in days_to_reflect(store.tables)]
    read = store.tables.read("observations", due, columns=["day", "tokens"])
    found = read.group_by("day").agg(pl.col("tokens").sum()).filter(pl.col("tokens") >= ACCUMULATED_TOKENS)
    return sorted(found["day"])


def periods_to_distil(store: "Store", span: Span) -> list[date]:
    """Returns the first days of the finished weeks, or months, whose days were reflected on since they were distilled."""
    tables = (TABLE_OF[span.name], *(("timeline",) if span == WEEK else ()))
    written, wanted = [store.tables.parts(table) for table in tables], telling_inputs(store, span)
    due = (part for part, what in wanted.items() if any(part not in one or made_from(one[part]) != what for one in written))
    return [date.fromisoformat(part) for part in due]


def telling_inputs(store: "Store", span: Span) -> dict[str, str]:
    """Returns, by the first day of each day, or finished week or month, the hash of what is told of it is made from."""
    if span == DAY:
        return proposal_inputs(store.tables)
    today = store.settings.today()
    reflected: dict[date, list[str]] = {}
    for day, info in store.tables.parts("reflections").items():
        first = span.first_day(date.fromisoformat(day))
        if info.rows and span.last_day(first) < today:
            reflected.setdefault(first, []).append(f"{day}={info.fingerprint}:{info.inputs}")
    return {first.isoformat(): hash_of(DISTILLER, *days) for first, days in reflected.items()}


def review_inputs(store: "Store") -> str:
    """Returns the hash of what a triage reads: proposals, memories, the ledger's decisions, REVIEW.md and MEMORY.md."""
    names = ("proposals", "friction", "memories")
    parts = (f"{name}/{part}={info.fingerprint}" for name in names for part, info in store.tables.parts(name).items())
    told = [event.id for event in store.ledger.events() if event.kind.startswith("proposal.") or event.kind == DAY_REFLECTED]
    from memory_assets.stages.triage.projects import memory_files

    files = (hash_file(store.workspace / name) for name in ("REVIEW.md", *memory_files(store.workspace)))
    return hash_of(*parts, len(told), *told[-1:], *files)


def review_is_behind(store: "Store") -> bool:
    """Returns whether a proposal, a decision, an edit by hand or the calendar asks for a triage."""
    path = store.root / TRIAGED
    if not store.tables.parts("proposals") and not store.tables.parts("friction"):
        return False
    is_decided = "all" in store.tables.parts("decisions")  # derived, so a newer schema starts it anew
    if not is_decided or not path.is_file() or path.read_text() != review_inputs(store):
        return True
    waiting = store.tables.read("decisions", columns=["state", "expires_at"]).filter(pl.col("state") == "pending")
    return waiting.filter(pl.col("expires_at") <= store.settings.clock()).height > 0


def review_is_due(store: "Store") -> bool:
    """Returns whether anything asks for a triage: what is in the store, or what a person did to a task."""
    from memory_assets.services.review import look_at_tasks, tasks_say

    return review_is_behind(store) or bool(tasks_say(store, look_at_tasks(store)))


def reviews_are_due(store: "Store") -> bool:
    """Returns whether a model is named and has not seen all that waits."""
    if store.settings.model == RULES:
        return False
    from memory_assets.stages.triage.run import waits_for_review

    return bool(waits_for_review(store.tables, store.tables.read("model_reviews")))


def note_triaged(store: "Store", inputs: str) -> None:
    """Keeps what the last triage read, as it left things."""
    write_atomically(store.root / TRIAGED, inputs.encode())


def hash_file(path: Path) -> str:
    """Returns a short hash of the file, or `-` where there is none."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else "-"
