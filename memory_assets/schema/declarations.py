"""The types with which tables and jobs are declared; `schema.tables` lists all declarations."""

from dataclasses import dataclass

from memory_assets.schema.extras import extras
from memory_assets.schema.records import Record

Grain = str
"""What one partition of a table holds: everything (`whole`), a local `day`, a finished `week` or
`month`, a `category`, the owner or a project (`scope`: `runs.scopes`), a transcript file
(`source`), a day, week or month (`span`), or a kind that an optional capability adds.
"""

_ADDED = {grain: column for extra in extras() for grain, (column, _) in extra.grains.items()}
DYNAMIC: tuple[Grain, ...] = ("scope", *_ADDED)
"""Grains whose partitions are added and removed as the content of the store changes."""

FOLDERS: dict[Grain, tuple[str, ...]] = {
    "whole": (),
    "day": ("day",),
    "week": ("day",),
    "month": ("day",),
    "category": ("category",),
    "scope": (),
    "source": ("source_id",),
    "span": ("span", "day"),
    **{grain: (column,) for grain, column in _ADDED.items()},
}
"""Grain → the partition columns; the day of a week or month is its first."""

WHOLE = "all"
"""The only partition of an unpartitioned table."""


@dataclass(frozen=True)
class Table:
    """Declaration of one table or file: its sources, its jobs and what makes it stale.

    `runs.builders` and `runs.inputs` have the functions that build it and compute its input
    version.
    """

    name: str
    stage: str
    jobs: tuple[str, ...]
    """Names of the jobs that build it (`JOBS`)."""
    version: str
    """Version of the rules that build it; a new version makes every partition stale."""
    record: type[Record] | None = None
    """Row type; None for a file or an index."""
    grain: Grain = "whole"
    made_from: tuple[str, ...] = ()
    """Tables and files that it reads. A partition of a day becomes stale if the same day of one of
    them changed; other tables do not count.
    """
    settings: tuple[str, ...] = ()
    """Settings that affect its content; a new value makes it stale."""
    every_run: bool = False
    """Whether it is built whenever one of its jobs runs, and never makes a job due."""
    built_with: str = ""
    """The table whose function also builds this one; empty if it has its own function."""
    follows: bool = False
    """Whether it is built together with another table of its job, and never makes the job due by
    itself.
    """
    doc: str = ""
    """A sentence about it, instead of the docstring of its record."""
    lineage: tuple[tuple[str, str], ...] = ()
    """Columns on the path to MEMORY.md, each with its source `table.column`."""
    plots: tuple[str, ...] = ()
    """Columns for which the metadata of a run counts the rows of each value."""
    checks: tuple[tuple[str, str], ...] = ()
    """Names and descriptions of checks that the build function reports."""
    kinds: frozenset[str] = frozenset({"polars", "parquet"})
    """Kinds of the asset, which Dagster's UI shows."""
    pool: str | None = None
    """Dagster pool that prevents two runs from writing the same files."""
    is_newest_first: bool = False
    """Whether the latest partitions are built first."""
    in_branch: bool = False
    """Whether a what-if branch builds it too."""
    before: str = ""
    """For a table of an optional capability: the table of the core that is built right after it;
    empty if it is built after all tables of the core.
    """
    is_added: bool = False
    """Whether an optional capability adds it (`schema.tables`)."""

    @property
    def description(self) -> str:
        """The sentence that the UI and the docs show."""
        return self.doc or (self.record and self.record.__doc__) or ""

    @property
    def is_judged(self) -> bool:
        """Whether it makes its job due when its input version changes."""
        return not (self.every_run or self.follows or self.built_with)

    @property
    def is_partitioned(self) -> bool:
        """Whether Dagster knows its partitions."""
        return self.grain != "whole" and not self.has_own_parts

    @property
    def has_own_parts(self) -> bool:
        """Whether the store knows its partitions, but Dagster does not."""
        return self.grain in ("source", "span")


@dataclass(frozen=True)
class JobTimes:
    """When Dagster starts a job of an optional capability."""

    name: str
    cron: str
    description: str


@dataclass(frozen=True)
class Job:
    """Tables that one run builds together."""

    name: str
    title: str
    """Shown in the progress line."""
    description: str
    grain: Grain = "whole"
    is_scheduled: bool = False
    """Whether a schedule starts it instead of a sensor; the command line always runs it at once."""
    also: frozenset[str] = frozenset()
    """Jobs whose tables it also builds, except tables with another kind of partitions. A schedule
    starts such a job.
    """
    every_days: int = 0
    """Days after which a job with `also` is due if its schedule did not start it and its input
    changed.
    """
    schedule: JobTimes | None = None
    """For a job of an optional capability: its schedule. Those of the core are in
    `assets.automation`.
    """
    deadline_hours: int = 24
    """Hours that input may wait for this job before the doctor reports it: sensors look every
    minute, schedules once a day.
    """

    @property
    def is_partitioned(self) -> bool:
        """Whether a run of it covers given days, weeks or months."""
        return self.grain != "whole"

    @property
    def is_at_once(self) -> bool:
        """Whether new transcripts make it due. They do not start triage: its own sensor also
        watches the edits of people.
        """
        return not self.is_scheduled and self.name != "triage"
