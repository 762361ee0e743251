"""Every table and file that the pipeline builds, each declared once, in build order.

A declaration defines the Dagster asset with its dependencies, partitions and column schema, what
makes it stale, the jobs that build it, the order of runs, and its entry in `docs/tables.md`. To add
a table: write its record, declare it here, write its function in `runs.steps`, and test it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import chain, groupby

from memory_assets.schema import records as r
from memory_assets.schema.declarations import (
    DYNAMIC,  # noqa: F401 (users of this module find these names of declarations here)
    FOLDERS,  # noqa: F401
    WHOLE,  # noqa: F401
    Grain,
    Job,
    Table,
)
from memory_assets.schema.extras import extras, further_sources

_OF_EXTRAS = [extra.load(extra.tables) for extra in extras() if extra.tables]
"""The modules with the tables and jobs of optional capabilities."""

_ADDED_JOBS = [*chain.from_iterable(getattr(added, "JOBS", ()) for added in _OF_EXTRAS)]

JOBS = {
    job.name: job
    for job in (
        Job("capture", "Reading transcripts", "Read events and new transcript bytes, and cut "
                                              "them into windows."),
        Job("process_days", "Extracting facts", "Extract and embed the facts of the windows of a "
                                                "range of days.", "day"),
        Job("nightly", "Nightly maintenance",
            "Read what was missed on the past day, merge, boost the facts of the day, and count.",
            "day", True,
            frozenset({"capture", "process_days", "rebuild_memories"}), every_days=1),
        Job("weekly", "Weekly maintenance", "Archive unused memories, rebuild category "
                                            "summaries, and write insights.",
            is_scheduled=True, also=frozenset({"rebuild_memories"}), every_days=7,
            deadline_hours=48),
        Job("monthly", "Monthly maintenance", "Move unused memories into cold storage, and write "
                                              "the health report.",
            is_scheduled=True, also=frozenset({"rebuild_memories"}), every_days=31,
            deadline_hours=48),
        Job("rebuild_memories", "Merging and indexing", "Merge observations into memories and "
                                                        "update indexes and summaries."),
        Job("reflect", "Reflecting",
            "Condense days of observations and propose lines for MEMORY.md.", "day", True,
            deadline_hours=48),
        Job("distil_weeks", "Condensing weeks",
            "Condense finished weeks from the reflections of their days.", "week", True,
            deadline_hours=48),
        Job("distil_months", "Condensing months",
            "Condense finished months from the reflections of their days.", "month", True,
            deadline_hours=48),
        Job("find_friction", "Looking for friction",
            "Find problems that recur within seven days, with a fix for each.", "day", True,
            deadline_hours=48),
        Job("triage", "Writing MEMORY.md", "Decide proposals by rules and by review; write "
                                           "MEMORY.md, REVIEW.md and tasks."),
        Job("review", "Reviewing proposals",
            "Let the configured model review what rules left open, then triage.", is_scheduled=True,
            deadline_hours=48),
        Job("brief", "Writing the briefing", "Write lessons.md and the briefing."),
        Job("encode_messages", "Encoding messages",
            "Encode the passages of messages, which are found by their words until then.", "day"),
        *_ADDED_JOBS,
    )
}  # fmt: skip
"""All jobs, in run order."""

ADDED_JOBS = tuple(job.name for job in _ADDED_JOBS)
"""Those of optional capabilities, the last ones."""

_TRIAGE = ("triage", "review")
_REBUILD = ("rebuild_memories",)
_STANDARDS = tuple(
    "taxonomy optional_categories least_useful facts_per_session embedding_model".split()
)
_GIT = frozenset({"markdown", "git"})
_LLM = frozenset({"polars", "parquet", "llm"})
"""Kinds of tables with answers of the configured model."""

_ONNX = frozenset({"polars", "parquet", "onnx"})
"""Kinds of tables with vectors."""


_CORE = (
    # deliver: what harnesses, people and programs sent
    Table("events", "deliver", ("capture",), "deliver/1", r.SentEvent, every_run=True,
          plots=("name",)),
    Table("dead_letters", "deliver", ("capture",), "deliver/1", r.DeadLetter,
          made_from=("events",), every_run=True),
    # capture: transcripts as archived bytes, records, windows and messages
    Table("resources", "capture", ("capture",), "6", r.Resource, every_run=True),
    Table("records", "capture", ("capture",), "records/6", r.TranscriptRecord, grain="source",
          made_from=("resources",), every_run=True, plots=("status",)),
    Table("windows", "capture", ("capture",), "windows/6", r.Window,
          made_from=("records", "events"),
          settings=("idle_minutes", "short_turns", "context_tokens", "owner", "people"),
          plots=("trigger", "status", "harness")),
    Table("messages_open", "capture", ("capture",), "records/5", r.Message,
          made_from=("windows", "resources"), every_run=True,
          doc="Messages of windows that are still growing, replaced at every run."),
    Table("checkpoints_open", "capture", ("capture",), "checkpoints/1", r.Checkpoint,
          made_from=("windows", "records"), every_run=True,
          doc="Turns with messages in windows that are still growing, replaced at every run."),
    Table("harness_memories", "capture", ("capture",), "harness-memories/1", r.HarnessMemory,
          made_from=("windows",),
          settings=("owner", "timezone", "harness_memories"), plots=("observer",)),
    Table("missed", "capture", ("nightly",), "missed/1", r.Missed, grain="day",
          made_from=("windows", "harness_memories"), every_run=True, plots=("kind",)),
    Table("messages", "capture", ("process_days",), "records/5", r.Message, grain="day",
          made_from=("windows", "resources", "missed"),
          doc="Messages of the windows that closed on the day, with their text."),
    Table("sessions", "capture", ("process_days",), "records/5", r.Session, grain="day",
          made_from=("windows", "messages"), follows=True),
    Table("checkpoints", "capture", ("process_days",), "checkpoints/1", r.Checkpoint,
          grain="day", made_from=("windows", "records")),
    # distill: facts, with who said them and whether they may be kept
    Table("observer_answers", "distill", ("process_days",), "answers/3", r.ObserverAnswer,
          grain="day", kinds=_LLM, made_from=("messages", "sessions"), in_branch=True,
          plots=("state", "model", "parse_path")),
    Table("segments", "distill", ("process_days",), "distill/10", r.Segment,
          built_with="observations", grain="day", made_from=("messages", "observer_answers"),
          settings=_STANDARDS, in_branch=True, plots=("project",)),
    Table("verdicts", "distill", ("process_days",), "distill/10", r.VerdictRow,
          built_with="observations", grain="day", made_from=("messages", "observer_answers"),
          settings=_STANDARDS, in_branch=True,
          plots=("verdict", "reason", "parse_path")),
    Table("observations", "distill", ("process_days",), "distill/10", r.Observation, grain="day",
          made_from=("messages", "observer_answers"), settings=_STANDARDS, in_branch=True,
          plots=("gate", "priority", "category"),
          lineage=(("quote", "messages.text"), ("message_ids", "messages.message_id"))),
    Table("triggers", "distill", ("process_days",), "triggers/3", r.TriggerRow, grain="day",
          made_from=("messages", "observations", "windows", "resources"),
          settings=("timezone", "date_order")),
    Table("lessons", "distill", ("process_days",), "lessons/7", r.Lesson, grain="day",
          made_from=("messages", "windows")),
    Table("daily_log", "distill", ("process_days",), "daily_log/7", grain="day",
          made_from=("observations", "segments", "observer_answers", "sessions"),
          kinds=frozenset({"markdown"}),
          doc="A readable log of each day, one section per window, a handoff per session; "
              "text between them is kept."),
    Table("quality", "quality", ("process_days",), "quality/3", r.QualityRow, grain="day",
          made_from=("observations", "messages", "verdicts")),
    # embed: vectors, merges, memories and their indexes
    Table("embedding_failures", "embed", ("process_days",), "embed/2", r.EmbeddingFailure,
          built_with="embeddings", grain="day", made_from=("observations", "harness_memories"),
          settings=("embedding_model",), in_branch=True),
    Table("embeddings", "embed", ("process_days",), "embed/2", r.Embedding, grain="day",
          kinds=_ONNX, made_from=("observations", "harness_memories"),
          settings=("embedding_model",), in_branch=True, is_newest_first=True),
    Table("passages", "embed", ("process_days",), "passages/4", r.Passage, grain="day",
          made_from=("messages",), is_newest_first=True),
    Table("passage_vectors", "embed", ("encode_messages",), "passage-vectors/1",
          r.PassageVector, grain="day", kinds=_ONNX, made_from=("passages", "messages"),
          settings=("embedding_model",), is_newest_first=True),
    Table("merges", "embed", _REBUILD, "merge/7", r.MergeEdge,
          made_from=("observations", "embeddings"), kinds=_LLM,
          settings=(*_STANDARDS, "embedding_model"), every_run=True, in_branch=True,
          plots=("relation", "reason")),
    Table("boosts", "embed", ("nightly",), "boosts/1", every_run=True, grain="day",
          made_from=("observations",), kinds=frozenset({"jsonl"}),
          doc="What the nightly run adds to the rank of facts of the day, as events in the "
              "ledger."),
    Table("archivals", "embed", ("weekly",), "archive/1", every_run=True,
          made_from=("observations", "harness_memories", "merges"), kinds=frozenset({"jsonl"}),
          doc="Which unused memories leave recall, as events in the ledger."),
    Table("cold_storage", "embed", ("monthly",), "cold/1", every_run=True,
          made_from=("observations", "harness_memories", "merges"), kinds=frozenset({"jsonl"}),
          doc="Which archived memories have been unused for six months, as events in the "
              "ledger."),
    Table("memories", "embed", _REBUILD, "fold/8", r.Memory,
          made_from=("observations", "harness_memories", "merges", "windows", "messages",
                     "boosts", "archivals", "cold_storage"), settings=("ttl_days", "timezone"),
          in_branch=True, plots=("state", "category", "priority"),
          lineage=(("text", "observations.text"), ("observation_ids", "observations.id"),
                   ("category", "observations.category"),
                   ("confidence", "observations.confidence"))),
    Table("mentions", "embed", _REBUILD, "entities/3", r.Mention,
          made_from=("memories", "sessions", "messages"), plots=("kind",)),
    Table("entities", "embed", _REBUILD, "graph/2", r.Entity,
          made_from=("mentions", "memories", "sessions"), settings=("aliases",), plots=("kind",)),
    Table("relations", "embed", _REBUILD, "graph/1", r.RelationRow,
          made_from=("mentions", "entities", "memories"), settings=("aliases",),
          plots=("kind",)),
    Table("reembedding", "embed", ("monthly",), "reembed/1", every_run=True,
          made_from=("embeddings", "passage_vectors"), kinds=frozenset({"parquet"}),
          doc="Marks vectors of another model version for encoding, and has both indexes "
              "rebuilt beside the old ones."),
    Table("vector_index", "embed", _REBUILD, "vectors/3", every_run=True,
          made_from=("memories", "embeddings", "reembedding"),
          kinds=frozenset({"numpy"}), pool="index",
          doc="Vectors of memories in arrays projected from Parquet, which recall asks."),
    Table("chroma", "embed", ("nightly",), "chroma/1", every_run=True,
          made_from=("memories", "embeddings", "vector_index"),
          kinds=frozenset({"chroma"}), pool="index",
          doc="Chroma's copy of the memories' vectors, for programs that read Chroma."),
    Table("text_index", "embed", (*_REBUILD, "encode_messages"), "texts/2/1", every_run=True,
          made_from=("memories", "passages", "passage_vectors", "messages_open", "reembedding"),
          kinds=frozenset({"numpy"}), pool="index",
          doc="Terms of memories, and terms and vectors of passages, in arrays projected "
              "from Parquet."),
    # recall
    Table("category_summaries", "recall", _REBUILD, "rules/1", r.CategorySummary,
          grain="category", made_from=("memories",), every_run=True),
    Table("recalls", "recall", _REBUILD, "recalls/2", r.RecallEvent, made_from=("memories",),
          every_run=True),
    # reflect: days, weeks, months, and proposals for MEMORY.md
    Table("reflections", "reflect", ("reflect",), "rules/5", r.Reflection, grain="day",
          made_from=("observations", "memories"), kinds=_LLM, follows=True, in_branch=True,
          doc="What a day's sessions established about each project, condensed and cited."),
    Table("session_reflections", "reflect", _REBUILD, "session/2", r.SessionReflection,
          made_from=("windows", "observations", "memories"), settings=("context_tokens",),
          every_run=True),
    Table("weekly_distillates", "reflect", ("distil_weeks",), "rules/3", r.Reflection,
          grain="week", kinds=_LLM, made_from=("reflections",),
          doc="The reflections of a finished week's days, condensed for each project, with "
              "citations."),
    Table("monthly_distillates", "reflect", ("distil_months",), "rules/3", r.Reflection,
          grain="month", kinds=_LLM, made_from=("reflections",),
          doc="The reflections of a finished month's days, condensed for each project, with "
              "citations."),
    Table("dropped_facts", "reflect", ("reflect", "distil_weeks", "distil_months"), "dropped/1",
          r.DroppedFact, grain="span",
          made_from=("reflections", "weekly_distillates", "monthly_distillates"),
          every_run=True),
    Table("timeline", "reflect", ("distil_weeks",), "timeline/5", r.TimelineSentence,
          grain="week", made_from=("reflections", "segments"), settings=("timezone",)),
    Table("proposals", "reflect", ("reflect",), "propose/4", r.Proposal, grain="day",
          made_from=("reflections", "observations", "memories"),
          settings=("owner", "sections", "timezone"), in_branch=True,
          lineage=(("text", "memories.text"), ("memory_id", "memories.id"),
                   ("observation_ids", "reflections.observation_ids"),
                   ("category", "memories.category"), ("confidence", "memories.confidence"))),
    # friction
    Table("obedience", "friction", ("find_friction",), "obedience/1", r.Obedience, grain="day",
          made_from=("messages", "sessions", "memories"), plots=("state", "known"),
          lineage=(("rule_id", "memories.id"), ("message_id", "messages.message_id"))),
    Table("friction", "friction", ("find_friction",), "friction/8", r.Friction, grain="day",
          made_from=("messages", "sessions", "observations"),
          settings=("embedding_model", "friction_sessions", "owner", "timezone"),
          plots=("kind",)),
    # verify: names in all of these, looked up in repositories
    Table("verifications", "verify", (*_TRIAGE, "brief"), "verify/1", r.Verification,
          made_from=("windows", "memories", "proposals"),
          plots=("state", "subject")),
    # triage: decisions, MEMORY.md and the review surfaces
    Table("amendments", "triage", _TRIAGE, "amend/2", r.Amendment,
          made_from=("memories", "proposals", "verifications"), every_run=True,
          in_branch=True, pool="memory_md"),
    Table("model_reviews", "triage", ("review",), "batch/2", r.ModelReview,
          made_from=("proposals",), every_run=True, kinds=_LLM, plots=("verdict",)),
    Table("decisions", "triage", _TRIAGE, "triage/7", r.Decision,
          made_from=("proposals", "friction", "verifications", "amendments", "model_reviews"),
          settings=("owner", "sections", "review_days", "trust_after", "timezone"),
          every_run=True, in_branch=True, plots=("state", "tier"), pool="memory_md",
          lineage=(("proposal_id", "proposals.proposal_id"), ("text", "proposals.text"),
                   ("section", "proposals.section"))),
    Table("trust", "triage", _TRIAGE, "trust/1", r.TrustRow, made_from=("decisions",),
          every_run=True, in_branch=True),
    Table("memory_md", "triage", _TRIAGE, "triage/7", every_run=True, grain="scope",
          made_from=("decisions",), in_branch=True, kinds=_GIT, pool="memory_md",
          lineage=(("line", "decisions.text"), ("section", "decisions.section")),
          doc="MEMORY.md and the files of projects, one per scope; each promotion is a "
              "commit that names its session."),
    Table("patches", "triage", _TRIAGE, "triage/7", every_run=True, made_from=("decisions",),
          kinds=frozenset({"git"}), pool="memory_md",
          doc="Approved changes of files outside the workspace, each as a patch; the files "
              "are not edited."),
    Table("entries", "triage", _TRIAGE, "entries/1", r.EntryRow,
          made_from=("memory_md", "memories"), every_run=True, in_branch=True, plots=("state",),
          pool="memory_md",
          lineage=(("text", "memory_md.line"), ("section", "memory_md.section"),
                   ("memory_id", "memories.id"))),
    Table("review_md", "triage", _TRIAGE, "triage/7", every_run=True,
          made_from=("decisions", "memory_md"), kinds=_GIT, pool="memory_md",
          doc="REVIEW.md: proposals waiting for a person to approve, reject or edit."),
    Table("reflected_log", "triage", _TRIAGE, "reflected/1", every_run=True,
          made_from=("daily_log", "reflections", "decisions"), kinds=_GIT, pool="memory_md",
          doc="How each day was reflected on, in its log: sizes, and what became of the "
              "proposed lines."),
    Table("review_tasks", "triage", _TRIAGE, "tasks/1", every_run=True,
          made_from=("decisions",), kinds=frozenset({"todoist"}), pool="memory_md",
          checks=(("are_in_step",
                   "The tasks match the waiting proposals, if a Todoist token is set."),),
          doc="Tasks in the owner's Todoist for the waiting proposals, if a token is set."),
    Table("telemetry", "quality", _TRIAGE, "telemetry/1", r.TelemetryRow,
          made_from=("decisions",), every_run=True, plots=("level",)),
    # maintain: insights, the nightly run, the health report
    Table("insights", "maintain", ("weekly",), "insights/1", r.Insight,
          made_from=("memories", "embeddings", "category_summaries"), every_run=True,
          plots=("category",),
          lineage=(("text", "memories.text"), ("memory_ids", "memories.id"))),
    Table("nightly_stats", "maintain", ("nightly",), "nightly/1", r.NightlyStats, grain="day",
          made_from=("missed", "boosts", "memories", "merges"), every_run=True),
    Table("health_report", "maintain", ("monthly",), "health/1", every_run=True,
          made_from=("memories", "observations", "sessions", "quality", "recalls",
                     "observer_answers", "reflections", "weekly_distillates",
                     "monthly_distillates", "nightly_stats", "verifications", "obedience"),
          kinds=frozenset({"markdown", "html"}),
          doc="How memory grows, how good it is, how recall answers, how fast, at what "
              "price, how fresh; with pictures."),
    # brief
    Table("lessons_md", "brief", ("rebuild_memories", "brief"), "lessons/1",
          made_from=("lessons", "memories"), kinds=_GIT,
          doc="lessons.md: the owner's corrections that still hold, under git."),
    Table("briefing", "brief", (*_TRIAGE, "brief"), "brief/10", grain="scope",
          made_from=("memories", "memory_md", "proposals", "decisions", "triggers", "lessons",
                     "windows", "segments", "session_reflections", "observer_answers",
                     "reflections", "verifications"),
          settings=("owner", "timezone", "context_tokens"),
          kinds=frozenset({"markdown"}),
          doc="Context for the next session of a project: MEMORY.md, lessons, what was left "
              "open, recent facts, dates."),
)  # fmt: skip


def _in_build_order() -> Iterator[Table]:
    """Yields the tables of the core, each after the optional tables that come `before` it, then the
    other optional tables.
    """
    optional = [replace(table, is_added=True) for module in _OF_EXTRAS for table in module.TABLES]
    for table in _CORE:
        yield from (added for added in optional if added.before == table.name)
        yield replace(table, made_from=(*table.made_from, *further_sources(table.name)))
    yield from (added for added in optional if not added.before)


TABLES: dict[str, Table] = {table.name: table for table in _in_build_order()}
"""All tables and files by name, in build order."""


def deadline_of(table: Table) -> timedelta:
    """Returns how long input may wait for the table: the deadline of its first job."""
    return timedelta(hours=JOBS[table.jobs[0]].deadline_hours)


def table_names() -> list[str]:
    """Returns the names of all tables with rows, in build order."""
    return [name for name, table in TABLES.items() if table.record]


def version_of(name: str) -> str:
    """Returns the version of the rules that build the table."""
    return TABLES[name].version


def tables_in(job: str, *, only_in_branch: bool = False) -> list[Table]:
    """Returns the tables and files that the job builds, in order; with `only_in_branch` those that
    a what-if branch builds.
    """
    return [
        table
        for table in TABLES.values()
        if _is_in(job, table) and (table.in_branch or not only_in_branch)
    ]


def built_together(tables: Iterable[Table]) -> list[list[Table]]:
    """Returns the tables in groups that one function builds; the table that has the function is the
    last of its group.
    """
    groups = groupby(tables, key=lambda table: table.built_with or table.name)
    return [list(group) for _, group in groups]


def with_sources(names: Iterable[str], *, grain: Grain | None = None) -> set[str]:
    """Returns the names, with all tables and files that these are made from, directly or not, and
    all that are built together with one of them.

    With `grain`, only tables with such partitions are returned and followed.
    """
    all_names: set[str] = set()
    waiting = [*names]
    while waiting:
        name = waiting.pop()
        if name not in all_names and grain in (None, TABLES[name].grain):
            all_names.add(name)
            builder = TABLES[name].built_with or name
            together = [table.name for table in TABLES.values() if table.built_with == builder]
            waiting += [*TABLES[name].made_from, builder, *together]
    return all_names


def _is_in(job: str, table: Table) -> bool:
    """Returns whether the job builds the table, itself or for a job in its `also`: then only if the
    table is not partitioned, or partitioned as the job.
    """
    grain = JOBS[job].grain
    also = JOBS[job].also
    return job in table.jobs or (
        not also.isdisjoint(table.jobs)
        and (grain == "whole" or not table.is_partitioned or table.grain == grain)
    )
