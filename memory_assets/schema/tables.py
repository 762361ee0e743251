"""Every table and file that the pipeline builds, each declared once, in build order.

A declaration defines the Dagster asset with its dependencies, partitions and column schema, what
makes it stale, the jobs that build it, the order of runs, and its entry in `docs/tables.md`. To add
a table: write its record, declare it here, write the function named in `build`, test that function.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import groupby

from memory_assets.schema import records as r
from memory_assets.schema.declarations import (
    DYNAMIC,  # noqa: F401 (who reads tables finds the words of their declarations here)
    FOLDERS,  # noqa: F401
    WHOLE,  # noqa: F401
    Grain,
    Job,
    Table,
)
from memory_assets.schema.extras import Extra, extras
from memory_assets.schema.records import Record

_OF_EXTRAS = tuple((extra, *extra.load_tables()) for extra in extras() if extra.tables)
"""Each optional capability that adds tables, with these and its jobs."""

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
        Job("index_documents", "Indexing documents",
            "Cut the documents of the library into chunks, encode these, and index them."),
        Job("poll_feeds", "Polling feeds", "Look for new items in the feeds that you watch.",
        is_scheduled=True),
        *(job for _, _, jobs in _OF_EXTRAS for job in jobs),
    )
}  # fmt: skip
"""All jobs, in run order."""

_TRIAGE, _REBUILD = ("triage", "review"), ("rebuild_memories",)
_STANDARDS = (
    "taxonomy",
    "optional_categories",
    "least_useful",
    "facts_per_session",
    "embedding_model",
)
_GIT = frozenset({"markdown", "git"})
_LLM, _ONNX = (frozenset({"polars", "parquet", by}) for by in ("llm", "onnx"))
"""Kinds of tables that a model answers where one is configured, and of those with vectors."""


def _rows(
    name: str,
    record: type[Record] | None,
    stage: str,
    jobs: str | tuple[str, ...],
    version: str,
    **more,
) -> Table:
    """Returns the declaration of a table; its functions are given by their names below `runs.steps`
    and `runs.inputs`.

    By default the build function is in the module of the stage and has the name of the table.
    `build` names another one.
    """
    build = more.pop("build", name)
    named = {"build": f"runs.steps.{build}" if ":" in build else f"runs.steps.{stage}:{build}"}
    for key, folder in {
        "report": "runs.steps.",
        "inputs": "runs.inputs:",
        "asks": "runs.inputs:",
    }.items():
        if more.get(key):
            named[key] = folder + more.pop(key)
    doc = more.pop("doc", record.__doc__)
    return Table(
        name,
        stage,
        (jobs,) if isinstance(jobs, str) else jobs,
        version,
        record=record,
        doc=doc,
        **named,
        **more,
    )


def _file(
    name: str,
    stage: str,
    jobs: str | tuple[str, ...],
    version: str,
    *,
    inputs: str | None = None,
    **more,
) -> Table:
    return _rows(name, None, stage, jobs, version, inputs=inputs, **more)


def _tables_of(extra: Extra, tables: Iterable[Table]) -> Iterator[Table]:
    """Yields the tables that an optional capability adds; it names functions below its own
    folder.
    """
    for table in tables:
        named = {
            field: f"extras.{extra.name}.{getattr(table, field)}"
            for field in ("build", "inputs", "asks", "is_whole", "report")
            if getattr(table, field)
        }
        yield replace(
            table, doc=table.doc or (table.record.__doc__ if table.record else "") or "", **named
        )


TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        # deliver: what harnesses, people and programs sent
        _rows("events", r.SentEvent, "deliver", "capture", "deliver/1", inputs=None, plots=("name",
        )),
        _rows("dead_letters", r.DeadLetter, "deliver", "capture", "deliver/1", made_from=("events",
        ), inputs=None),
        # capture: transcripts as archived bytes, records, windows and messages
        _rows("resources", r.Resource, "capture", "capture", "6", inputs=None),
        _rows("records", r.TranscriptRecord, "capture", "capture", "records/4", grain="source",
        made_from=("resources",),
              inputs=None, plots=("status",)),
        _rows("windows", r.Window, "capture", "capture", "windows/4", made_from=("records",
        "events"),
              settings=("idle_minutes", "short_turns", "context_tokens", "owner", "people"),
              inputs="windows",
              plots=("trigger", "status", "harness")),
        _rows("messages_open", r.Message, "capture", "capture", "records/4", made_from=("windows",
        "resources"), inputs=None,
              doc="Messages of windows that are still growing, replaced at every run."),
        _rows("checkpoints_open", r.Checkpoint, "capture", "capture", "checkpoints/1",
        made_from=("windows", "records"),
              inputs=None, doc="Turns with messages in windows that are still growing, replaced "
                               "at every run."),
        _rows("adrs", r.Adr, "capture", "capture", "adrs/1", build="library:adrs",
        made_from=("windows",),
              settings=("owner", "adr_folders"), inputs="adrs", plots=("status",)),
        _rows("discoveries", r.Discovery, "capture", "index_documents", "discoveries/1",
        grain="document",
              build="documents:discoveries", inputs="discoveries", plots=("kind",)),
        _rows("harness_memories", r.HarnessMemory, "capture", "capture", "harness-memories/1",
              made_from=("windows", "adrs", "discoveries"),
              settings=("owner", "timezone", "harness_memories"), inputs="harness_memories",
              plots=("observer",)),
        _rows("missed", r.Missed, "capture", "nightly", "missed/1", build="maintain:missed",
        grain="day",
              made_from=("windows", "harness_memories"), inputs=None, plots=("kind",)),
        _rows("messages", r.Message, "capture", "process_days", "records/4", grain="day",
              made_from=("windows", "resources", "missed"), inputs="messages",
              doc="Messages of the windows that closed on the day, with their text."),
        _rows("sessions", r.Session, "capture", "process_days", "records/4", grain="day",
        made_from=("windows", "messages"),
              inputs="messages", follows=True),
        _rows("checkpoints", r.Checkpoint, "capture", "process_days", "checkpoints/1", grain="day",
              made_from=("windows", "records"), inputs="checkpoints"),
        # distill: facts, with who said them and whether they may be kept
        _rows("observer_answers", r.ObserverAnswer, "distill", "process_days", "answers/3",
        grain="day",
              kinds=_LLM,
              made_from=("messages", "sessions"), inputs="observer_answers",
              asks="observer_and_prompt", in_branch=True,
              plots=("state", "model", "parse_path")),
        _rows("segments", r.Segment, "distill", "process_days", "distill/6", build="observations",
        grain="day",
              made_from=("messages", "observer_answers"), settings=_STANDARDS,
              inputs="observations", follows=True,
              in_branch=True, plots=("project",)),
        _rows("verdicts", r.VerdictRow, "distill", "process_days", "distill/6",
        build="observations", grain="day",
              made_from=("messages", "observer_answers"), settings=_STANDARDS,
              inputs="observations", follows=True,
              in_branch=True, plots=("verdict", "reason", "parse_path")),
        _rows("observations", r.Observation, "distill", "process_days", "distill/6", grain="day",
              made_from=("messages", "observer_answers"), settings=_STANDARDS,
              inputs="observations", in_branch=True,
              plots=("gate", "priority", "category"), report="distill:emit_accumulated",
              lineage=(("quote", "messages.text"),
              ("message_ids", "messages.message_id"))),
        _rows("triggers", r.TriggerRow, "distill", "process_days", "triggers/2", grain="day",
              made_from=("messages", "observations", "windows", "resources"), settings=("timezone",
              "date_order")),
        _rows("lessons", r.Lesson, "distill", "process_days", "lessons/4", grain="day",
        made_from=("messages", "windows")),
        _file("daily_log", "distill", ("process_days",), "daily_log/6", grain="day",
              made_from=("observations", "segments", "observer_answers", "sessions", "messages"),
              inputs="",
              kinds=frozenset({"markdown"}),
              doc="A readable log of each day, one section per window, a handoff per session; "
                  "text between them is kept."),
        _rows("quality", r.QualityRow, "quality", "process_days", "quality/3", grain="day",
              made_from=("observations", "messages", "verdicts"), report="quality:quality_report"),
        # embed: vectors, merges, memories and their indexes
        _rows("embedding_failures", r.EmbeddingFailure, "embed", "process_days", "embed/2",
        build="embeddings", grain="day",
              made_from=("observations", "harness_memories"), settings=("embedding_model",),
              inputs="embeddings", follows=True,
              in_branch=True),
        _rows("embeddings", r.Embedding, "embed", "process_days", "embed/2", grain="day",
              kinds=_ONNX,
              made_from=("observations", "harness_memories"), settings=("embedding_model",),
              inputs="embeddings",
              in_branch=True, is_newest_first=True),
        _rows("passages", r.Passage, "embed", "process_days", "passages/3", grain="day",
        made_from=("messages",),
              is_newest_first=True),
        _rows("passage_vectors", r.PassageVector, "embed", "encode_messages", "passage-vectors/1",
        grain="day",
              kinds=_ONNX,
              made_from=("passages", "messages"), settings=("embedding_model",),
              inputs="passage_vectors",
              is_newest_first=True),
        _rows("merges", r.MergeEdge, "embed", _REBUILD, "merge/5", made_from=("observations",
        "embeddings"),
              kinds=_LLM,
              settings=(*_STANDARDS, "embedding_model"), inputs=None,
              asks="reflector_and_pair_prompt", in_branch=True,
              plots=("relation", "reason")),
        _file("boosts", "embed", "nightly", "boosts/1", build="maintain:boosts", grain="day",
        made_from=("observations",),
              kinds=frozenset({"jsonl"}),
              doc="What the nightly run adds to the rank of facts of the day, as events in the "
                  "ledger."),
        _file("archivals", "embed", "weekly", "archive/1", build="maintain:archivals",
              made_from=("observations", "harness_memories", "merges"), kinds=frozenset({"jsonl"}),
              doc="Which unused memories leave recall, as events in the ledger."),
        _file("cold_storage", "embed", "monthly", "cold/1", build="maintain:cold_storage",
              made_from=("observations", "harness_memories", "merges"), kinds=frozenset({"jsonl"}),
              doc="Which archived memories have been unused for six months, as events in the "
                  "ledger."),
        _rows("memories", r.Memory, "embed", _REBUILD, "fold/8",
              made_from=("observations", "harness_memories", "merges", "windows", "messages",
              "boosts",
              "archivals", "cold_storage"),
              settings=("ttl_days", "timezone"), inputs="memories",
              in_branch=True, plots=("state", "category", "priority"), lineage=(("text",
              "observations.text"),
              ("observation_ids", "observations.id"), ("category", "observations.category"),
              ("confidence", "observations.confidence"))),
        _rows("adr_conflicts", r.AdrConflict, "library", _REBUILD, "adr-conflicts/1",
        made_from=("adrs", "memories"),
              plots=("reason",)),
        _rows("mentions", r.Mention, "embed", _REBUILD, "entities/1", made_from=("memories",),
        plots=("kind",)),
        _rows("entities", r.Entity, "embed", _REBUILD, "graph/1", made_from=("mentions",
        "memories"), settings=("aliases",),
              plots=("kind",)),
        _rows("relations", r.RelationRow, "embed", _REBUILD, "graph/1", made_from=("mentions",
        "entities", "memories"),
              settings=("aliases",), plots=("kind",)),
        _file("reembedding", "embed", "monthly", "reembed/1", build="maintain:reembedding",
              made_from=("embeddings", "passage_vectors"), kinds=frozenset({"parquet"}),
              doc="Marks vectors of another model version for encoding, and has both indexes "
                  "rebuilt beside the old ones."),
        _file("vector_index", "embed", _REBUILD, "vectors/2", made_from=("memories", "embeddings",
        "reembedding"),
              settings=("chroma",), kinds=frozenset({"chroma"}), pool="index",
              doc="Chroma's generation of the memories' vectors, projected from Parquet."),
        _file("text_index", "embed", (*_REBUILD, "encode_messages"), "texts/2/1",
              made_from=("memories", "passages", "passage_vectors", "messages_open", "reembedding"),
              kinds=frozenset({"numpy"}), pool="index",
              doc="Terms of memories, and terms and vectors of passages, in arrays projected "
                  "from Parquet."),
        # recall
        _rows("category_summaries", r.CategorySummary, "recall", _REBUILD, "rules/1",
        grain="category", made_from=("memories",),
              inputs=None),
        _rows("recalls", r.RecallEvent, "recall", _REBUILD, "recalls/2", made_from=("memories",),
        inputs=None),
        # reflect: days, weeks, months, and proposals for MEMORY.md
        _rows("reflections", r.Reflection, "reflect", "reflect", "rules/4", grain="day",
        made_from=("observations", "memories"),
              kinds=_LLM,
              inputs="reflections", asks="reflector_and_prompt", follows=True, in_branch=True,
              report="condensing:condensed",
              doc="What a day's sessions established about each project, condensed and cited."),
        _rows("session_reflections", r.SessionReflection, "reflect", _REBUILD, "session/2",
              made_from=("windows", "observations", "memories"), settings=("context_tokens",),
              inputs=None),
        _rows("weekly_distillates", r.Reflection, "reflect", "distil_weeks", "rules/2",
        grain="week",
              kinds=_LLM,
              made_from=("reflections",), inputs="weekly_distillates", asks="reflector_and_prompt",
              report="condensing:condensed",
              doc="The reflections of a finished week's days, condensed for each project, with "
                  "citations."),
        _rows("monthly_distillates", r.Reflection, "reflect", "distil_months", "rules/2",
        grain="month",
              kinds=_LLM,
              made_from=("reflections",), inputs="monthly_distillates", asks="reflector_and_prompt",
              report="condensing:condensed",
              doc="The reflections of a finished month's days, condensed for each project, with "
                  "citations."),
        _rows("dropped_facts", r.DroppedFact, "reflect", ("reflect", "distil_weeks",
        "distil_months"), "dropped/1",
              grain="span", made_from=("reflections", "weekly_distillates", "monthly_distillates"),
              inputs=None),
        _rows("timeline", r.TimelineSentence, "reflect", "distil_weeks", "timeline/4", grain="week",
              made_from=("reflections", "segments"), settings=("timezone",), inputs="timeline",
              report="reflect:write_chapters"),
        _rows("proposals", r.Proposal, "reflect", "reflect", "propose/3", grain="day",
        made_from=("reflections", "memories"),
              settings=("owner", "sections", "timezone"), inputs="proposals", in_branch=True,
              report="reflect:emit_reflected",
              lineage=(("text", "memories.text"), ("memory_id", "memories.id"),
              ("observation_ids", "reflections.observation_ids"), ("category", "memories.category"),
              ("confidence", "memories.confidence"))),
        # friction
        _rows("friction", r.Friction, "friction", "find_friction", "friction/6", grain="day",
              made_from=("messages", "sessions", "observations"),
              settings=("embedding_model", "friction_observations", "owner", "timezone"),
              inputs="friction", plots=("kind",),
              report="friction:worst"),
        # triage: decisions, MEMORY.md and the review surfaces
        _rows("amendments", r.Amendment, "triage", _TRIAGE, "amend/2", made_from=("memories",
        "proposals"), inputs=None,
              in_branch=True, pool="memory_md"),
        _rows("model_reviews", r.ModelReview, "triage", "review", "batch/2", made_from=("proposals",
        ), inputs=None,
              kinds=_LLM,
              plots=("verdict",)),
        _rows("decisions", r.Decision, "triage", _TRIAGE, "triage/7",
              made_from=("proposals", "friction", "amendments", "model_reviews"),
              settings=("owner", "sections", "review_days", "trust_after", "timezone"), inputs=None,
              in_branch=True,
              plots=("state", "tier"), pool="memory_md", lineage=(("proposal_id",
              "proposals.proposal_id"),
              ("text", "proposals.text"), ("section", "proposals.section"))),
        _rows("trust", r.TrustRow, "triage", _TRIAGE, "trust/1", made_from=("decisions",),
        inputs=None, in_branch=True),
        _file("memory_md", "triage", _TRIAGE, "triage/7", grain="scope", made_from=("decisions",),
        in_branch=True, kinds=_GIT,
              pool="memory_md", lineage=(("line", "decisions.text"), ("section",
              "decisions.section")),
              doc="MEMORY.md and the files of projects, one per scope; each promotion is a "
                  "commit that names its session."),
        _rows("slog", r.SlogEntry, "triage", _TRIAGE, "slog/1", build="library:slog",
        made_from=("memory_md",), inputs="slog",
              plots=("action",), kinds=frozenset({"polars", "parquet", "git"}), pool="memory_md"),
        _rows("documents", r.Document, "library", "index_documents", "documents/1",
        build="documents:documents",
              inputs="documents", plots=("kind",)),
        _rows("document_chunks", r.DocumentChunk, "library", "index_documents", "documents/1",
        grain="document",
              build="documents:document_chunks", made_from=("documents",),
              inputs="document_chunks"),
        _rows("document_vectors", r.DocumentVector, "library", "index_documents",
        "document-vectors/1", grain="document",
              build="documents:document_vectors", made_from=("document_chunks",),
              settings=("embedding_model",), kinds=_ONNX),
        _file("document_index", "library", ("index_documents",), "documents/1",
        build="documents:document_index",
              made_from=("document_chunks", "document_vectors"), inputs="document_index",
              kinds=frozenset({"numpy"}),
              pool="index", doc="Terms and vectors of the chunks of documents, apart from those "
                                "of memories and messages."),
        _rows("feed_items", r.FeedItem, "library", "poll_feeds", "feeds/1", grain="feed",
        build="documents:feed_items",
              inputs=None),
        _file("patches", "triage", _TRIAGE, "triage/7", made_from=("decisions",),
        kinds=frozenset({"git"}), pool="memory_md",
              doc="Approved changes of files outside the workspace, each as a patch; the files "
                  "are not edited."),
        _rows("entries", r.EntryRow, "triage", _TRIAGE, "entries/1", made_from=("memory_md",
        "memories"), inputs=None,
              in_branch=True, plots=("state",), pool="memory_md", lineage=(("text",
              "memory_md.line"),
              ("section", "memory_md.section"), ("memory_id", "memories.id"))),
        _file("review_md", "triage", _TRIAGE, "triage/7", made_from=("decisions", "memory_md",
        "adr_conflicts"), kinds=_GIT,
              pool="memory_md", doc="REVIEW.md: proposals waiting for a person to approve, "
                                    "reject or edit."),
        _file("reflected_log", "triage", _TRIAGE, "reflected/1", made_from=("daily_log",
        "reflections", "decisions"),
              kinds=_GIT, pool="memory_md",
              doc="How each day was reflected on, in its log: sizes, and what became of the "
                  "proposed lines."),
        _file("review_tasks", "triage", _TRIAGE, "tasks/1", made_from=("decisions",),
        kinds=frozenset({"todoist"}),
              pool="memory_md",
              checks=(("are_in_step", "The tasks match the waiting proposals, if a Todoist token "
                                      "is set."),),
              doc="Tasks in the owner's Todoist for the waiting proposals, if a token is set."),
        _rows("telemetry", r.TelemetryRow, "quality", _TRIAGE, "telemetry/1",
        made_from=("decisions",), inputs=None,
              plots=("level",), report="quality:slowest"),
        # maintain: insights, the nightly run, the health report
        _rows("insights", r.Insight, "maintain", "weekly", "insights/1",
              made_from=("memories", "embeddings", "category_summaries"), inputs=None,
              plots=("category",),
              report="maintain:write_insights", lineage=(("text", "memories.text"), ("memory_ids",
              "memories.id"))),
        _rows("nightly_stats", r.NightlyStats, "maintain", "nightly", "nightly/1", grain="day",
              made_from=("missed", "boosts", "memories", "merges"), inputs=None,
              report="maintain:nightly_report"),
        _file("health_report", "maintain", "monthly", "health/1",
              made_from=("memories", "observations", "sessions", "quality", "recalls",
              "observer_answers", "reflections",
              "weekly_distillates", "monthly_distillates", "nightly_stats"),
              kinds=frozenset({"markdown", "html"}),
              doc="How memory grows, how good it is, how recall answers, how fast, at what "
                  "price, how fresh; with pictures."),
        # brief
        _file("lessons_md", "brief", ("rebuild_memories", "brief"), "lessons/1",
        made_from=("lessons", "memories"),
              inputs="lessons_md", kinds=_GIT, doc="lessons.md: the owner's corrections that "
                                                   "still hold, under git."),
        _file("briefing", "brief", (*_TRIAGE, "brief"), "brief/9", grain="scope",
              made_from=("memories", "memory_md", "proposals", "decisions", "triggers", "lessons",
              "windows", "messages",
              "session_reflections", "observer_answers", "reflections"), settings=("owner",
              "timezone", "context_tokens"),
              inputs="briefing", is_whole="runs.steps.brief:is_whole",
              kinds=frozenset({"markdown"}),
              doc="Context for the next session of a project: MEMORY.md, lessons, what was left "
                  "open, recent facts, dates."),
    )
}  # fmt: skip
"""All tables and files by name, in build order."""

TABLES |= {table.name: table for added in _OF_EXTRAS for table in _tables_of(*added[:2])}


def deadline_of(table: Table) -> timedelta:
    """Returns how long input may wait for the table: as long as for the job that builds it
    first.
    """
    return timedelta(hours=JOBS[table.jobs[0]].deadline_hours)


def table_names() -> list[str]:
    """Returns the names of all tables with rows, in build order."""
    return [name for name, table in TABLES.items() if table.record]


def version_of(name: str) -> str:
    """Returns the version of the rules that build the table."""
    return TABLES[name].version


def tables_in(job: str, *, only_in_branch: bool = False) -> list[Table]:
    """Returns what the job builds, in order; in a what-if branch only what MEMORY.md depends on."""
    return [
        table
        for table in TABLES.values()
        if _is_in(job, table) and (table.in_branch or not only_in_branch)
    ]


def built_together(tables: Iterable[Table]) -> list[list[Table]]:
    """Returns the tables in groups that share a build function."""
    return [list(group) for _, group in groupby(tables, key=lambda table: table.build)]


def with_sources(names: Iterable[str], *, grain: Grain | None = None) -> set[str]:
    """Returns the tables and files with all that they are made from, directly or not, and what is
    built along with these.

    With `grain`, only tables with such partitions are followed.
    """
    table_names: set[str] = set()
    waiting = [*names]
    while waiting:
        name = waiting.pop()
        if name not in table_names and grain in (None, TABLES[name].grain):
            table_names.add(name)
            built = TABLES[name].build
            waiting += [
                *TABLES[name].made_from,
                *(table.name for table in TABLES.values() if table.build == built),
            ]
    return table_names


def _is_in(job: str, table: Table) -> bool:
    """Returns whether the job builds the table; a run has one kind of partitions."""
    grain = JOBS[job].grain
    also = JOBS[job].also
    return job in table.jobs or (
        not also.isdisjoint(table.jobs)
        and (grain == "whole" or not table.is_partitioned or table.grain == grain)
    )
