"""Every table and file that the pipeline builds, each declared once, in the order of the journey.

From a declaration follow the Dagster asset with its dependencies, partitions and column schema, what makes it stale, the jobs
that build it, the order of the command line's run and of the sensors' requests, and its page in `docs/tables.md`. To add a
table: write its record, declare it here, write the function named in `build`, test that function.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from memory_assets.errors import TableError
from memory_assets.schema import records as r
from memory_assets.schema.records import Record

Grain = Literal["whole", "day", "week", "month", "category", "scope", "source", "span"]
"""What one partition is: everything, a local day, a finished week or month, a category, the owner or a project (`runs.scopes`),
a transcript file, or any of day, week and month."""

FOLDERS: dict[Grain, tuple[str, ...]] = {
    "whole": (),
    "day": ("day",),
    "week": ("day",),
    "month": ("day",),
    "category": ("category",),
    "scope": (),
    "source": ("source_id",),
    "span": ("span", "day"),
}
"""Columns whose values name the folders of the partitions; a week or month is named by its first day."""

WHOLE = "all"
"""The only partition of a table that has no others."""


@dataclass(frozen=True)
class Table:
    """One table or file: what it is, what it is made from, and what builds it."""

    name: str
    stage: str
    jobs: tuple[str, ...]
    """Names of the jobs that build it (`JOBS`)."""
    version: str
    """Version of the rules that build it; another one makes every partition stale."""
    build: str
    """Dotted name, below the package, of the function that builds it: see `runs.materialise`."""
    record: type[Record] | None = None
    """One row; None for a file or an index, which holds no rows of its own."""
    grain: Grain = "whole"
    made_from: tuple[str, ...] = ()
    """Tables and files that it reads. For a day table those of the same grain decide whether it is stale."""
    settings: tuple[str, ...] = ()
    """Settings that decide what is in it; another value makes it stale."""
    inputs: str | None = ""
    """Dotted name of the function that returns the input version of each partition, where the general rule does not fit.

    None: it is built whenever one of its jobs runs, and never makes a job due.
    """
    follows: bool = False
    """Whether it is built along with another table of its job, and never makes the job due by itself."""
    asks: str = ""
    """Dotted name of the function that returns, from the settings, the model and the hash of the prompt that it is asked with.

    Another one marks partitions as stale in the UI, but costs money: no job is due for it, a backfill asks again.
    """
    doc: str = ""
    """One sentence for people, where the record's own does not fit."""
    lineage: tuple[tuple[str, str], ...] = ()
    """Columns of the way to MEMORY.md, each with the `table.column` that it is made from."""
    plots: tuple[str, ...] = ()
    """Columns whose values are counted in the metadata of a run."""
    report: str = ""
    """Dotted name of the function that returns more figures of the partitions of a run, once they are written."""
    checks: tuple[tuple[str, str], ...] = ()
    """Names and descriptions of checks whose outcome the build function reports."""
    kinds: frozenset[str] = frozenset({"polars", "parquet"})
    pool: str | None = None
    """Dagster pool that keeps two runs from writing the same files."""
    fresh_days: int | None = None
    """Days after which the UI shows it as overdue."""
    in_branch: bool = False
    """Whether a what-if branch builds it too."""

    @property
    def is_partitioned(self) -> bool:
        """Whether Dagster knows its partitions; sources and spans are partitions of the store alone."""
        return self.grain not in ("whole", "source", "span")


@dataclass(frozen=True)
class Job:
    """Tables that one run builds together."""

    name: str
    title: str
    """What a progress line says while it runs."""
    description: str
    grain: Grain = "whole"
    is_scheduled: bool = False
    """Whether sensors leave it to a schedule; the command line runs it at once all the same."""

    @property
    def is_partitioned(self) -> bool:
        """Whether a run of it names days, weeks or months."""
        return self.grain != "whole"

    @property
    def is_at_once(self) -> bool:
        """Whether new transcripts alone make it due; triage also follows people's edits, and has a sensor of its own."""
        return not self.is_scheduled and self.name != "triage"


JOBS = {
    job.name: job
    for job in (
        Job("capture", "Reading transcripts", "Read events and new transcript bytes, and cut them into windows."),
        Job("process_days", "Extracting facts", "Extract and embed the facts of the windows of a range of days.", "day"),
        Job("rebuild_memories", "Merging and indexing", "Merge observations into memories and update indexes and summaries."),
        Job("reflect", "Reflecting", "Condense days of observations and propose lines for MEMORY.md.", "day", True),
        Job("distil_weeks", "Condensing weeks", "Condense finished weeks from the reflections of their days.", "week", True),
        Job("distil_months", "Condensing months",
            "Condense finished months from the reflections of their days.", "month", True),
        Job("find_friction", "Looking for friction",
            "Find problems that recur within seven days, with a fix for each.", "day", True),
        Job("triage", "Writing MEMORY.md", "Decide proposals by rules and by review; write MEMORY.md, REVIEW.md and tasks."),
        Job("review", "Reviewing proposals",
            "Let the configured model review what rules left open, then triage.", is_scheduled=True),
        Job("brief", "Writing the briefing", "Write lessons.md and the briefing."),
        Job("evaluate", "Scoring observations", "Score the observations against the labelled sessions that `gold` names."),
    )
}  # fmt: skip
"""All jobs, in the order in which the command line runs them and the sensors request them."""

_TRIAGE, _REBUILD = ("triage", "review"), ("rebuild_memories",)
_GIT = frozenset({"markdown", "git"})


def _rows(name: str, record: type[Record], stage: str, job: str | tuple[str, ...], version: str, build: str, **more) -> Table:
    return Table(name, stage, (job,) if isinstance(job, str) else job, version, build, record, **more)


def _file(name: str, stage: str, jobs: tuple[str, ...], version: str, build: str, doc: str, **more) -> Table:
    return Table(name, stage, jobs, version, build, doc=doc, **{"inputs": None, **more})


TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        # deliver: what harnesses, people and programs sent
        _rows("events", r.SentEvent, "deliver", "capture", "deliver/1", "runs.steps.deliver:events", inputs=None,
              plots=("name",),
              doc="What harnesses, people and programs sent: each event once, in the order in which it was sent."),
        _rows("dead_letters", r.DeadLetter, "deliver", "capture", "deliver/1", "runs.steps.deliver:dead_letters",
              made_from=("events",), inputs=None,
              doc="Lines of the spool that could not be parsed, with the reason and the file."),
        # capture: transcripts as archived bytes, records, windows and messages
        _rows("resources", r.Resource, "capture", "capture", "3", "runs.steps.capture:resources", inputs=None, fresh_days=7,
              doc="Byte ranges of transcripts, archived once, with secrets and forgotten words masked."),
        _rows("records", r.TranscriptRecord, "capture", "capture", "records/1", "runs.steps.capture:records", grain="source",
              made_from=("resources",), inputs=None, plots=("status",),
              doc="One light row for each line of a transcript: what it is and where its bytes lie."),
        _rows("windows", r.Window, "capture", "capture", "windows/1", "runs.steps.capture:windows",
              made_from=("records", "events"), inputs="runs.inputs:windows", plots=("trigger", "status", "harness"),
              settings=("idle_minutes", "short_turns", "context_tokens", "owner", "people"),
              doc="Parts of a session that are observed as a whole, closed by a compaction, the session's end or their size."),
        _rows("messages_open", r.Message, "capture", "capture", "records/1", "runs.steps.capture:messages_open",
              made_from=("windows", "resources"), inputs=None,
              doc="Messages of windows that are still growing, replaced at every run."),
        _rows("harness_memories", r.HarnessMemory, "capture", "capture", "harness-memories/1",
              "runs.steps.capture:harness_memories",
              made_from=("windows",), settings=("owner", "timezone", "harness_memories"), inputs="runs.inputs:harness_memories",
              plots=("observer",), doc="What Claude Code and Codex remember by themselves; their files are only read."),
        _rows("messages", r.Message, "capture", "process_days", "records/1", "runs.steps.capture:messages", grain="day",
              made_from=("windows", "resources"), inputs="runs.inputs:messages",
              doc="Messages of the windows that closed on the day, with their text."),
        _rows("sessions", r.Session, "capture", "process_days", "records/1", "runs.steps.capture:sessions", grain="day",
              made_from=("windows", "messages"), follows=True, inputs="runs.inputs:messages", fresh_days=2,
              doc="Name, duration, counts and files of each session, from the windows that closed on the day."),
        # distill: facts, with who said them and whether they may be kept
        _rows("observer_answers", r.ObserverAnswer, "distill", "process_days", "answers/1",
              "runs.steps.distill:observer_answers",
              grain="day", made_from=("messages", "sessions"), asks="runs.inputs:observer_and_prompt",
              inputs="runs.inputs:observer_answers", plots=("state", "model", "parse_path"), in_branch=True,
              doc="Raw answers of the model about each window, with tokens, price and time; empty without a model."),
        _rows("segments", r.Segment, "distill", "process_days", "distill/2", "runs.steps.distill:observations", grain="day",
              made_from=("messages", "observer_answers"), follows=True, inputs="runs.inputs:observations",
              plots=("project",), in_branch=True,
              settings=("taxonomy", "least_useful", "facts_per_session"),
              doc="Neighbouring messages about one topic, with a narrative of one to three sentences."),
        _rows("verdicts", r.VerdictRow, "distill", "process_days", "distill/2", "runs.steps.distill:observations", grain="day",
              made_from=("messages", "observer_answers"), follows=True, inputs="runs.inputs:observations", in_branch=True,
              settings=("taxonomy", "least_useful", "facts_per_session"), plots=("verdict", "reason", "parse_path"),
              doc="The write gate's verdict on every candidate fact, with the reason."),
        _rows("observations", r.Observation, "distill", "process_days", "distill/2", "runs.steps.distill:observations",
              grain="day",
              made_from=("messages", "observer_answers"), inputs="runs.inputs:observations", in_branch=True,
              settings=("taxonomy", "least_useful", "facts_per_session"), plots=("gate", "priority", "category"),
              lineage=(("quote", "messages.text"), ("message_ids", "messages.message_id")),
              doc="Facts worth keeping from each segment, with priority, category and verdict."),
        _rows("triggers", r.TriggerRow, "distill", "process_days", "triggers/1", "runs.steps.distill:triggers", grain="day",
              made_from=("messages", "observations", "windows", "resources"), settings=("timezone", "date_order"),
              doc="Dates ahead that the owner named, resolved against the message's time, with what to recall then."),
        _rows("lessons", r.Lesson, "distill", "process_days", "lessons/1", "runs.steps.distill:lessons", grain="day",
              made_from=("messages", "windows"),
              doc="Corrections and rules of the owner for later sessions, from short sessions too."),
        _file("daily_log", "distill", ("process_days",), "daily_log/1", "runs.steps.distill:daily_log", grain="day",
              made_from=("observations", "sessions"), kinds=frozenset({"markdown"}),
              doc="A log of each day for people, one section a window; text that a person adds between the sections stays."),
        _rows("quality", r.QualityRow, "quality", "process_days", "quality/1", "runs.steps.quality:quality", grain="day",
              made_from=("observations", "messages", "verdicts"),
              report="runs.steps.quality:quality_report",
              doc="Quality of each day's facts: mixes, junk, repeats and faults, measured against their own sources."),
        _rows("evaluation", r.EvaluationRow, "quality", "evaluate", "evaluation/1", "runs.steps.quality:evaluation",
              made_from=("windows", "observations"), settings=("gold",), inputs="runs.inputs:evaluation",
              doc="Recall, precision and noise of the observations on labelled sessions, with intervals."),
        # embed: vectors, merges, memories and their indexes
        _rows("embeddings", r.Embedding, "embed", "process_days", "embed/1", "runs.steps.embed:embeddings", grain="day",
              made_from=("observations", "harness_memories"), settings=("embedding_model",), inputs="runs.inputs:embeddings",
              in_branch=True,
              doc="One vector for each distinct text of the day, computed on this machine and keyed by the text's hash."),
        _rows("passages", r.Passage, "embed", "process_days", "passages/2", "runs.steps.embed:passages", grain="day",
              made_from=("messages",), settings=("embedding_model",),
              doc="Passages of a few sentences that people and assistants said, each with its vector."),
        _rows("merges", r.MergeEdge, "embed", _REBUILD, "merge/3", "runs.steps.embed:merges", made_from=("observations",
              "embeddings"),
              settings=("taxonomy", "least_useful", "facts_per_session", "embedding_model"), inputs=None, plots=("reason",),
              in_branch=True, doc="Pairs of observations that say the same, or that contradict each other."),
        _rows("memories", r.Memory, "embed", _REBUILD, "fold/4", "runs.steps.embed:memories", inputs="runs.inputs:memories",
              made_from=("observations", "harness_memories", "merges", "windows", "messages"), in_branch=True,
              plots=("state", "category", "priority"),
              lineage=(("text", "observations.text"), ("observation_ids", "observations.id"),
                       ("category", "observations.category"), ("confidence", "observations.confidence")),
              doc="What is known now: observations merged, with what the ledger says of them and what harnesses remember."),
        _rows("mentions", r.Mention, "embed", _REBUILD, "entities/1", "runs.steps.embed:mentions", made_from=("memories",),
              plots=("kind",), doc="What each memory names, recognised by shape or from a list of names."),
        _rows("entities", r.Entity, "embed", _REBUILD, "graph/1", "runs.steps.embed:entities", made_from=("mentions",
              "memories"),
              settings=("aliases",), plots=("kind",),
              doc="Files, commands, packages, services, people and ids that memories name, with their other names."),
        _rows("relations", r.RelationRow, "embed", _REBUILD, "graph/1", "runs.steps.embed:relations", plots=("kind",),
              made_from=("mentions", "entities", "memories"), settings=("aliases",),
              doc="How entities are related, with the memories that say so; the strongest part is drawn in the workspace."),
        _file("vector_index", "embed", _REBUILD, "vectors/2", "runs.steps.embed:vector_index", made_from=("memories",
              "embeddings"),
              kinds=frozenset({"chroma"}), pool="index",
              doc="Chroma's generation of the memories' vectors, projected from Parquet."),
        _file("text_index", "embed", _REBUILD, "texts/2/1", "runs.steps.embed:text_index", kinds=frozenset({"numpy"}),
              pool="index",
              made_from=("memories", "passages", "messages_open"),
              doc="Terms of memories, and terms and vectors of passages, in arrays projected from Parquet."),
        # recall
        _rows("category_summaries", r.CategorySummary, "recall", _REBUILD, "rules/1", "runs.steps.recall:category_summaries",
              grain="category", made_from=("memories",), inputs=None,
              doc="What is known in each category, for each project and person, in a few cited lines."),
        _rows("recalls", r.RecallEvent, "recall", _REBUILD, "recalls/1", "runs.steps.recall:recalls", made_from=("memories",),
              inputs=None, doc="How questions were answered: the tier that answered, and what it cost."),
        # reflect: days, weeks, months, and proposals for MEMORY.md
        _rows("reflections", r.Reflection, "reflect", "reflect", "rules/4", "runs.steps.reflect:reflections", grain="day",
              made_from=("observations", "memories"), asks="runs.inputs:reflector_and_prompt", follows=True,
              inputs="runs.inputs:reflections",
              in_branch=True,
              report="runs.steps.condensing:condensed",
              doc="What a day's sessions say together about each project, condensed and cited."),
        _rows("session_reflections", r.SessionReflection, "reflect", _REBUILD, "session/1",
              "runs.steps.reflect:session_reflections", made_from=("windows", "observations", "memories"), inputs=None,
              settings=("context_tokens",),
              doc="What a session that outgrew a third of its context established, for its own next start."),
        _rows("weekly_distillates", r.Reflection, "reflect", "distil_weeks", "rules/2", "runs.steps.reflect:weekly_distillates",
              grain="week", made_from=("reflections",), asks="runs.inputs:reflector_and_prompt",
              inputs="runs.inputs:weekly_distillates",
              report="runs.steps.condensing:condensed",
              doc="What the days of a finished week say together about each project, shorter than they do, with citations."),
        _rows("monthly_distillates", r.Reflection, "reflect", "distil_months", "rules/2",
              "runs.steps.reflect:monthly_distillates",
              grain="month", made_from=("reflections",), asks="runs.inputs:reflector_and_prompt",
              inputs="runs.inputs:monthly_distillates",
              report="runs.steps.condensing:condensed",
              doc="What the days of a finished month say together about each project, shorter than its weeks, with citations."),
        _rows("dropped_facts", r.DroppedFact, "reflect", ("reflect", "distil_weeks", "distil_months"), "dropped/1",
              "runs.steps.reflect:dropped_facts",
              grain="span", made_from=("reflections", "weekly_distillates", "monthly_distillates"),
              inputs=None,
              doc="Facts that a day, week or month leaves out, each with the reason and the memory that holds it now."),
        _rows("timeline", r.TimelineSentence, "reflect", "distil_weeks", "timeline/2", "runs.steps.reflect:timeline",
              grain="week",
              made_from=("reflections",), settings=("timezone",), inputs="runs.inputs:timeline",
              report="runs.steps.reflect:write_chapters",
              doc="Each finished week as a chapter: what was worked on, decided and committed, with sources."),
        _rows("proposals", r.Proposal, "reflect", "reflect", "propose/1", "runs.steps.reflect:proposals", grain="day",
              made_from=("reflections", "memories"), settings=("owner", "sections", "timezone"), inputs="runs.inputs:proposals",
              in_branch=True,
              lineage=(("text", "memories.text"), ("memory_id", "memories.id"),
                       ("observation_ids", "reflections.observation_ids"), ("category", "memories.category"),
                       ("confidence", "memories.confidence")),
              doc="Lines proposed for MEMORY.md, each numbered once."),
        # friction
        _rows("friction", r.Friction, "friction", "find_friction", "friction/2", "runs.steps.friction:friction", grain="day",
              made_from=("messages", "sessions", "observations"), inputs="runs.inputs:friction", plots=("kind",),
              settings=("embedding_model", "friction_observations", "owner", "timezone"),
              report="runs.steps.friction:worst",
              doc="Problems that recur within seven days, with the exact change that would end each."),
        # triage: decisions, MEMORY.md and the review surfaces
        _rows("amendments", r.Amendment, "triage", _TRIAGE, "amend/1", "runs.steps.triage:amendments", inputs=None,
              pool="memory_md",
              made_from=("memories", "proposals"), in_branch=True,
              doc="Changes of lines that MEMORY.md holds: corrected, replaced, contradicted since, or too many."),
        _rows("model_reviews", r.ModelReview, "triage", "review", "batch/1", "runs.steps.triage:model_reviews",
              made_from=("proposals",), inputs=None, plots=("verdict",),
              doc="A model's reviews of proposals that rules left to a person, twenty at a time; empty without a model."),
        _rows("decisions", r.Decision, "triage", _TRIAGE, "triage/5", "runs.steps.triage:decisions", inputs=None,
              pool="memory_md",
              made_from=("proposals", "friction", "amendments", "model_reviews"), plots=("state", "tier"), in_branch=True,
              settings=("owner", "sections", "review_days", "trust_after", "timezone"),
              lineage=(("proposal_id", "proposals.proposal_id"), ("text", "proposals.text"), ("section", "proposals.section")),
              doc="State of each proposal: promoted, merged, rejected, expired or pending."),
        _rows("trust", r.TrustRow, "triage", _TRIAGE, "trust/1", "runs.steps.triage:trust", made_from=("decisions",),
              inputs=None,
              in_branch=True,
              doc="How people decided the proposals of each category, and which categories need no approval any more."),
        _file("memory_md", "triage", _TRIAGE, "triage/5", "runs.steps.triage:memory_md", grain="scope",
              made_from=("decisions",), kinds=_GIT, pool="memory_md", fresh_days=7, in_branch=True,
              lineage=(("line", "decisions.text"), ("section", "decisions.section")),
              doc="MEMORY.md and the files of projects, one per scope; each promotion is a commit that names its session."),
        _file("patches", "triage", _TRIAGE, "triage/5", "runs.steps.triage:patches", made_from=("decisions",),
              kinds=frozenset({"git"}), pool="memory_md",
              doc="Approved changes of files outside the workspace, each as a patch; the files themselves are not edited."),
        _rows("entries", r.EntryRow, "triage", _TRIAGE, "entries/1", "runs.steps.triage:entries", made_from=("memory_md",
              "memories"),
              inputs=None, pool="memory_md", plots=("state",), in_branch=True,
              lineage=(("text", "memory_md.line"), ("section", "memory_md.section"), ("memory_id", "memories.id")),
              doc="Each line of MEMORY.md with its state: candidate, established, proven or deprecated."),
        _file("review_md", "triage", _TRIAGE, "triage/5", "runs.steps.triage:review_md", made_from=("decisions", "memory_md"),
              kinds=_GIT, pool="memory_md", doc="REVIEW.md: proposals that wait for a person to approve, reject or edit."),
        _file("review_tasks", "triage", _TRIAGE, "tasks/1", "runs.steps.triage:review_tasks", made_from=("decisions",),
              kinds=frozenset({"todoist"}), pool="memory_md",
              checks=(("are_in_step", "The tasks match the proposals that wait, where a Todoist token is set."),),
              doc="Tasks in the owner's Todoist for the proposals that wait, where a token is set."),
        _rows("calibration", r.CalibrationRow, "quality", _TRIAGE, "calibration/1", "runs.steps.quality:calibration",
              inputs=None,
              made_from=("verdicts", "observations", "proposals", "model_reviews", "decisions", "entries"),
              doc="Each verdict by reason, category and version, with how people decided on its rows."),
        # brief
        _file("lessons_md", "brief", ("rebuild_memories", "brief"), "lessons/1", "runs.steps.brief:lessons_md", kinds=_GIT,
              inputs="runs.inputs:lessons_md", made_from=("lessons", "memories"),
              doc="lessons.md: the owner's corrections that still hold, under git."),
        _file("briefing", "brief", (*_TRIAGE, "brief"), "brief/4", "runs.steps.brief:briefing", grain="scope",
              made_from=("memories", "memory_md", "decisions", "triggers", "lessons", "session_reflections"),
              settings=("owner", "timezone"),
              kinds=frozenset({"markdown"}), inputs="runs.inputs:briefing",
              doc="What the next session should know at once: MEMORY.md, recent facts, dates ahead, proposals that wait."),
    )
}  # fmt: skip
"""All tables and files by name, in the order in which they are built."""


def table_of(name: str) -> Table:
    """Returns the declaration; raises `TableError` for an unknown name."""
    try:
        return TABLES[name]
    except KeyError:
        raise TableError(f"There is no table '{name}'. The tables are: {', '.join(table_names())}.") from None


def table_names() -> list[str]:
    """Returns the names of everything that has rows, in the order of the journey."""
    return [name for name, table in TABLES.items() if table.record]


def version_of(name: str) -> str:
    """Returns the version of the rules that build the table."""
    return TABLES[name].version


def tables_in(job: str, *, only_in_branch: bool = False) -> list[Table]:
    """Returns what the job builds, in order; in a what-if branch only what leads to MEMORY.md."""
    return [table for table in TABLES.values() if job in table.jobs and (table.in_branch or not only_in_branch)]


def downstream_of(names: Iterable[str]) -> set[str]:
    """Returns the tables and files that are made from the named ones, directly or through others, without these."""
    found = set(names)
    while more := {table.name for table in TABLES.values() if found.intersection(table.made_from)} - found:
        found |= more
    return found - set(names)
