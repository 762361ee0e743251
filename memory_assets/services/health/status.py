"""The state of the store: what it contains, what is pending, how old it is, and where its files
are.

Reads footers of tables, a few small columns, and the pending proposals. The status can be saved as
text in the store: `entry` prints this text as long as no table changes.
"""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import get_args

import polars as pl
from polars.exceptions import PanicException

from memory_assets.english.languages import language_of
from memory_assets.services.health.built_share import built_share
from memory_assets.services.health.helping import rules_kept
from memory_assets.services.models.model_questions import CAME_TO_NOTHING
from memory_assets.services.models.open_models import projects_of, waiting_projects
from memory_assets.services.review.proposals import ProposalCounts, count_proposals
from memory_assets.services.sources import transcripts
from memory_assets.stages.capture.discover import LeftOutFile
from memory_assets.stages.deliver.silence import alarm
from memory_assets.stages.maintain.helping import help_line
from memory_assets.stages.reflect.questions import NO_ANSWER
from memory_assets.stages.reflect.subjects import TABLE_OF
from memory_assets.stages.triage.file_sizes import too_long_files
from memory_assets.store.ledger import NOTED
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets.store.ready import STATUS, stamp
from memory_assets.store.settings import RULES, Role, Settings
from memory_assets.store.store import Store
from memory_assets.text.files import text_of, write_atomically
from memory_assets.text.words import counted

NAME_WIDTH = 12
SHOWN_PROJECTS = 8
TURNS_READ = 2_000
CHARS_READ = 400
"""Latest turns of all sessions, and characters of each, by which languages are recognised."""

ENGLISH = ("", "en")
"""English, and turns that are too short to tell."""

SHOWN_FILES = 5
"""Files in the status that are not taken in."""

COUNTED = ("sessions", "messages", "facts", "memories", "proposals")
"""Tables whose rows are counted."""

FACTS = {"facts": "observations", "memories": "memories"}
"""What is counted → the table whose facts it is; narratives, which a model wrote, are left out."""


@dataclass(frozen=True)
class Status:
    """The state of the store."""

    store: Path
    is_sample: bool
    rows: dict[str, int]
    """Number of rows by table, and of facts among the observations and the memories."""
    memories: dict[str, int]
    """Memories by state."""
    noted: int
    """Notes in the ledger, which are recalled before they are memories."""
    pending: int
    asked: int
    """Pending proposals that the owner is asked about now; the others follow."""
    proposed: int
    """All proposals, decided ones included: new lines, changes, and fixes of problems."""
    open_windows: int
    first_day: str | None
    last_day: str | None
    updated_at: datetime | None
    """When the memories were last updated."""
    memory_md: Path
    review_md: Path
    briefing_md: Path
    left_out: tuple[LeftOutFile, ...] = ()
    """Files that look like transcripts and are not taken in."""
    unread: tuple[str, ...] = ()
    """Older sessions, and files of harnesses without a reader: how many, and what to do."""
    ignored: tuple[LeftOutFile, ...] = ()
    """Transcripts that `.memoryignore` or their harness leaves out."""
    model: str = ""
    """The configured models; empty if there are none."""
    sent_projects: tuple[str, ...] = ()
    """Projects whose sessions the models may be sent."""
    waiting_projects: tuple[str, ...] = ()
    """Projects with sessions that the configured models may not be sent."""
    uses_models: bool = False
    """Whether a model is configured."""
    not_english: int = 0
    """Sessions with turns in other languages, if no model reads them."""
    unanswered: str = ""
    """How many questions to a model came to nothing, the latest reason, and what to do; empty if
    none did.
    """
    too_long: tuple[str, ...] = ()
    """Files of entries that are too long for a session."""
    damaged_lines: int = 0
    """Lines of the ledger and of the archive's catalog that cannot be read."""
    objects: str = ""
    """Address of the bucket that holds the store, while the folder is a copy; empty without a
    bucket.
    """
    rules: str = ""
    """Whether memory helps: rules kept, corrections that returned; empty before one is judged."""
    building: str = ""
    """How many sessions are distilled so far; empty once all of them are."""
    alarm: str | None = None
    """That events or other input wait for too long, if so, and what to do."""

    @property
    def is_empty(self) -> bool:
        """Whether no transcript was read and no note saved yet."""
        return not any(self.rows.values()) and not self.noted and not self.open_windows

    @property
    def text(self) -> str:
        """The status for people, without the alarm."""
        return render_status(self)


def status_of(store: Store, *, is_sample: bool = False) -> Status:
    """Returns the state of the store."""
    tables = store.tables
    days = [day for day, info in tables.parts("segments").items() if info.rows]
    proposals = count_proposals(store)
    written = [info.written_at for info in tables.parts("memories").values()]
    return Status(
        store=store.root,
        is_sample=is_sample,
        rows={name: _rows(tables, name) for name in COUNTED},
        memories=_count(tables, "memories", "state", pl.col("kind") == "fact"),
        noted=len(store.ledger.events([NOTED])),
        **vars(proposals),
        open_windows=_count(tables, "windows", "status").get("open", 0),
        first_day=min(days, default=None),
        last_day=max(days, default=None),
        updated_at=max(written, default=None),
        memory_md=store.workspace / "MEMORY.md",
        review_md=store.workspace / "REVIEW.md",
        briefing_md=store.workspace / "briefing.md",
        left_out=tuple(transcripts.find_left_out(store)),
        unread=tuple(transcripts.find_unread(store)),
        ignored=tuple(transcripts.find_ignored(store.settings)),
        model=_model_names(store.settings),
        sent_projects=tuple(name for name in projects_of(store) if store.settings.may_send(name)),
        waiting_projects=waiting_projects(store),
        uses_models=store.settings.uses_models,
        not_english=0 if store.settings.uses_models else _sessions_not_in_english(tables),
        unanswered=_unanswered(store.tables),
        too_long=too_long_files(store.workspace),
        damaged_lines=len(store.ledger.damaged()) + len(store.archive.damaged_lines()),
        objects=store.shared.address if store.shared else "",
        rules=help_line(rules_kept(store), store.settings.today()),
        building=built_share(store),
        alarm=alarm(str(store.root)),
    )


def keep_status(store: Store, *, is_sample: bool = False) -> Status:
    """Returns the state of the store and saves its text."""
    tables_stamp = stamp(str(store.root))
    status = status_of(store, is_sample=is_sample)
    write_atomically(store.root / STATUS, f"{tables_stamp}\n\n{render_status(status)}".encode())
    return status


def recount_proposals(store: Store) -> None:
    """Corrects the counts of proposals in the saved text, and removes its stamp.

    The status bar reads the corrected line. `memory status` computes a text without a stamp again.
    Raises nothing: the decision that changed the counts is already recorded.
    """
    with suppress(Exception, PanicException):
        _, _, text = text_of(store.root / STATUS).partition("\n\n")
        lines = text.split("\n")
        (place,) = (n for n, line in enumerate(lines) if line.startswith(_line("to review", "")))
        lines[place] = _line("to review", _to_review(count_proposals(store)))
        write_atomically(store.root / STATUS, "\n".join(["", "", *lines]).encode())


def render_status(status: Status) -> str:
    """Returns the status as text with the command to run next, but without the alarm: it changes
    without any table, so it is added when the text is printed.
    """
    if status.is_empty:
        return _render_empty(status)
    facts = f"{status.rows['facts']:,} in {status.rows['sessions']:,} sessions"
    damage = f"{status.damaged_lines:,} lines cannot be read; see `memory doctor`"
    unsent = f"{', '.join(status.waiting_projects)} (`memory model add PROJECT`)"
    has_unread = bool(status.unread or status.left_out)
    sample = " (the bundled sample)" if status.is_sample else ""
    lines = {
        "store": f"{status.store}{sample}",
        "kept in": f"{status.objects}; the folder is a copy" if status.objects else "",
        "building": status.building,
        "days": _days(status),
        "messages": f"{status.rows['messages']:,}",
        "facts": facts,
        "open": f"{status.open_windows:,} sessions still going on",
        "not read": _not_read(status) if has_unread else "",
        "ignored": _ignored(status.ignored) if status.ignored else "",
        "too long": "; ".join(status.too_long),
        "damaged": damage if status.damaged_lines else "",
        "memories": _memories(status),
        "rules": status.rules,
        "to review": _to_review(status),
        "updated": f"{status.updated_at:%Y-%m-%d %H:%M} UTC" if status.updated_at else "never",
        "model": _model_use(status),
        "not sent": unsent if status.waiting_projects else "",
        "language": _language(status),
        "no answer": status.unanswered,
        "MEMORY.md": status.memory_md,
        "REVIEW.md": status.review_md,
    }
    table = [_line(name, value) for name, value in lines.items() if value]
    return "\n".join([*table, _next_step(status)])


def _line(name: str, value: object) -> str:
    return f"{name:<{NAME_WIDTH}}  {value}"


def _render_empty(status: Status) -> str:
    has_store = (status.store / "VERSION").is_file()
    has_unread = bool(status.unread or status.left_out)
    start = "" if has_store and has_unread else " Run `memory up` to take in transcripts."
    text = f"There is no memory in {status.store} yet.{start}"
    if has_unread:
        text += f"\n{'not read':<{NAME_WIDTH}}  {_not_read(status)}"
    if status.ignored:
        text += f"\n{'ignored':<{NAME_WIDTH}}  {_ignored(status.ignored)}"
    return text


def _days(status: Status) -> str:
    return f"{status.first_day} to {status.last_day}" if status.first_day else "none observed yet"


def _memories(status: Status) -> str:
    counts = ", ".join(f"{count:,} {state}" for state, count in status.memories.items())
    return counts or f"none built yet; notes: {status.noted:,}"


def _to_review(counts: Status | ProposalCounts) -> str:
    later = counts.pending - counts.asked
    now = f"{counts.asked:,} now, {later:,} later" if later else f"{counts.pending:,}"
    return f"{now} of {counted(counts.proposed, 'proposal')}"


def _model_use(status: Status) -> str:
    """Returns the models and what they may be sent."""
    if status.model:
        return f"{status.model}; may be sent: {_first_projects(status.sent_projects)}"
    if status.objects:
        return "none: no text is sent to one"
    return "none: nothing leaves this machine"


def _next_step(status: Status) -> str:
    if status.pending:
        return "Next: `memory review` shows what waits for you; or tick boxes in REVIEW.md."
    up = "`memory up` keeps watch and serves the Dagster UI"
    if status.memories or status.noted:
        return f'Next: `memory recall "how do we install packages here"`; {up}.'
    return f"Next: {up}; facts are taken from a session once it has ended."


def _ignored(files: Sequence[LeftOutFile]) -> str:
    """Returns how many transcripts each rule leaves out."""
    counts = Counter(file.reason for file in files).most_common()
    by_reason = "; ".join(f"{count:,} {reason}" for reason, count in counts)
    return f"{len(files):,} transcripts: {by_reason}"


def _first_projects(projects: Sequence[str]) -> str:
    """Returns the first projects, and how many more there are."""
    more = f" and {len(projects) - SHOWN_PROJECTS:,} more" if len(projects) > SHOWN_PROJECTS else ""
    return (", ".join(projects[:SHOWN_PROJECTS]) or "no project") + more


def _model_names(settings: Settings) -> str:
    """Returns the names of the models; empty where rules are used alone."""
    names = dict.fromkeys(settings.model_of(role) for role in get_args(Role))
    return ", ".join(name for name in names if name != RULES)


def _not_read(status: Status) -> str:
    """Returns what is not read, one per line, and the first files that are left out; the doctor
    lists all.
    """
    lines = list(status.unread)
    lines += [f"{file.path}: {file.reason}" for file in status.left_out[:SHOWN_FILES]]
    if len(status.left_out) > SHOWN_FILES:
        lines.append(f"and {len(status.left_out) - SHOWN_FILES:,} more; `memory doctor` lists them")
    return f"\n{'':<{NAME_WIDTH}}  ".join(lines)


def _rows(tables: ParquetTables, name: str) -> int:
    """Returns the number of rows, or of facts, that `Status.rows` has under the name."""
    if name in FACTS:
        return sum(_count(tables, FACTS[name], "kind", pl.col("kind") == "fact").values())
    return sum(info.rows for info in tables.parts(name).values())


def _sessions_not_in_english(tables: ParquetTables) -> int:
    """Returns in how many sessions one of the owner's latest turns is in another language."""
    turns = tables.scan("messages").filter("is_user_turn", author="owner").sort("event_at")
    texts = turns.select("session_id", pl.col("text").str.head(CHARS_READ)).tail(TURNS_READ)
    rows = texts.collect().iter_rows()
    return len({id for id, text in rows if language_of(text) not in ENGLISH})


def _language(status: Status) -> str:
    if not status.not_english:
        return ""
    sessions = counted(status.not_english, "session")
    return (
        f"{sessions} not only in English, which is all that rules without a model understand; "
        "recall works in all languages (`memory model`)"
    )


def _unanswered(tables: ParquetTables) -> str:
    """Returns how many questions to a model came to nothing, and why the latest did."""
    columns = ["asked_at", "problem", "state"]
    rows = tables.read("observer_answers", columns=columns).sort("asked_at")
    failed = rows.filter(pl.col("state").is_in(CAME_TO_NOTHING))
    problems = failed["problem"].drop_nulls().to_list()
    for name in TABLE_OF.values():
        without_answer = tables.read(name, columns=["problem"]).filter(NO_ANSWER)
        problems += without_answer["problem"].to_list()
    if not problems:
        return ""
    count = f"{counted(len(problems), 'question')} to a model came to nothing"
    return f"{count}: {problems[-1].rstrip('.')}. `memory data backfill` asks again"


def _count(tables: ParquetTables, table: str, column: str, *conditions: pl.Expr) -> dict[str, int]:
    """Returns the number of rows that meet the conditions, by the value of the column."""
    groups = tables.scan(table).filter(*conditions).group_by(column)
    return dict(groups.agg(pl.len()).sort(column).collect().iter_rows())
