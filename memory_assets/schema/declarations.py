"""What a table and a job are declared with; all of them are listed in `schema.tables`."""

from dataclasses import dataclass

from memory_assets.schema.extras import extras
from memory_assets.schema.records import Record

Grain = str
"""What one partition holds: everything (`whole`), a local `day`, a finished `week` or `month`, a
`category`, the owner or a project (`scope`: `runs.scopes`), a transcript file (`source`), a day,
week or month (`span`), or what an optional capability names."""

_ADDED = {grain: column for extra in extras() for grain, (column, _) in extra.grains.items()}
DYNAMIC: tuple[Grain, ...] = ("scope", *_ADDED)
"""Grains whose partitions come and go with what is in the store."""

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
"""Partition columns; a week or month is named by its first day."""

WHOLE = "all"
"""The only partition of an unpartitioned table."""


@dataclass(frozen=True)
class Table:
    """Declaration of one table or file: its sources, its jobs and what makes it stale.

    `runs.builders` and `runs.inputs` have its functions, by its name.
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
    """Tables and files that it reads. For a day table, those of the same grain determine staleness.
    """
    settings: tuple[str, ...] = ()
    """Settings that affect its content; a new value makes it stale."""
    every_run: bool = False
    """Whether it is built whenever one of its jobs runs, and never makes a job due."""
    built_with: str = ""
    """The table whose function builds this one, too."""
    follows: bool = False
    """Whether it is built along with another table of its job, and never makes the job due by
    itself.
    """
    doc: str = ""
    """One sentence about it, where the docstring of its record does not apply."""
    lineage: tuple[tuple[str, str], ...] = ()
    """Columns on the path to MEMORY.md, each with its source `table.column`."""
    plots: tuple[str, ...] = ()
    """Columns whose values are counted in the metadata of a run."""
    checks: tuple[tuple[str, str], ...] = ()
    """Names and descriptions of checks that the build function reports."""
    kinds: frozenset[str] = frozenset({"polars", "parquet"})
    pool: str | None = None
    """Dagster pool that prevents two runs from writing the same files."""
    is_newest_first: bool = False
    """Whether the latest partitions are built first."""
    in_branch: bool = False
    """Whether a what-if branch builds it too."""
    before: str = ""
    """Of an optional capability: the table of the core that is built right after it; empty for the
    last one."""
    is_added: bool = False
    """Whether an optional capability adds it (`schema.tables`)."""

    @property
    def description(self) -> str:
        """The sentence that the UI and the docs show."""
        return self.doc or (self.record and self.record.__doc__) or ""

    @property
    def is_judged(self) -> bool:
        """Whether its own input version decides when it is built, not the run of its job."""
        return not (self.every_run or self.follows)

    @property
    def is_partitioned(self) -> bool:
        """Whether Dagster knows its partitions; sources and spans are partitions of the store
        only.
        """
        return self.grain != "whole" and not self.has_own_parts

    @property
    def has_own_parts(self) -> bool:
        """Whether only the store knows its partitions."""
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
    """Jobs whose tables it builds too, those with other partitions excluded. The clock starts such
    a job.
    """
    every_days: int = 0
    """Days after which such a job is due if its schedule did not start it and its input changed."""
    schedule: JobTimes | None = None
    """Of an optional capability: what starts it; jobs of the core are in `assets.automation`."""
    deadline_hours: int = 24
    """Hours that input may wait for it before memory counts as silent: a sensor looks every minute,
    a schedule once a day.
    """

    @property
    def is_partitioned(self) -> bool:
        """Whether a run of it covers given days, weeks or months."""
        return self.grain != "whole"

    @property
    def is_at_once(self) -> bool:
        """Whether new transcripts make it due; triage has its own sensor, which also watches
        people's edits.
        """
        return not self.is_scheduled and self.name != "triage"
