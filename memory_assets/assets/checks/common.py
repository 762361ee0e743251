"""What all asset checks share: their registration, their results, and the checks of every table.

A check looks at the rows that the run wrote; a run over several days has one result for all of
them. The result shows the ids of a few offending rows, never their text.

If a store is shared through a bucket, changes of other machines may have arrived since a day was
built. Such a day is checked after the next run, which builds it again.
"""

import inspect
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from types import FunctionType
from typing import Any, Literal, TypeVar

import dagster as dg
import polars as pl
import polars.selectors as cs

from memory_assets.errors import TableError
from memory_assets.runs.days import RANGE_END, RANGE_START
from memory_assets.runs.liveness import hold
from memory_assets.runs.staleness import stale_partitions
from memory_assets.schema import frames as schemas
from memory_assets.schema.tables import TABLES, with_sources
from memory_assets.stages.maintain.checks import text_columns
from memory_assets.store.store import Store
from memory_assets.text.masking.redact import mask_frame, secret_rows, secret_rules

Days = list[str] | None
"""The days of the run, or the partitions that it wrote of a table without days; None for all."""

Judge = Callable[[Store, Days], pl.DataFrame | dg.AssetCheckResult]
"""Function of a check, which returns the offending rows or a result."""

F = TypeVar("F", bound=FunctionType)

Level = Literal["block", "error", "warn"]
"""What a failed check does: stops everything downstream, shows an error, or shows a warning."""

SHOWN = 5
"""Most offending rows that a result shows."""


@dataclass(frozen=True)
class TableCheck:
    """A check of one asset."""

    asset: str
    name: str
    description: str
    judge: Judge
    level: Level = "block"

    @property
    def spec(self) -> dg.AssetCheckSpec:
        """The check's declaration for Dagster."""
        return dg.AssetCheckSpec(
            self.name,
            asset=self.asset,
            description=self.description,
            blocking=self.level == "block",
        )

    def run(self, store: Store, days: Days) -> dg.AssetCheckResult:
        """Returns the check's result for the days."""
        result = self.judge(store, days)
        if isinstance(result, pl.DataFrame):
            result = verdict(result.is_empty(), result)
        warn = dg.AssetCheckSeverity.WARN
        severity = warn if self.level == "warn" else dg.AssetCheckSeverity.ERROR
        return result._replace(
            asset_key=self.spec.asset_key, check_name=self.name, severity=severity
        )


REGISTERED: list[TableCheck] = []
"""The checks of all stages, in the order of their definition."""


def check(asset: str, name: str = "", *, level: Level = "block") -> Callable[[F], F]:
    """Registers the decorated function as a check of the asset.

    The check has the name of the function unless `name` is given. Its description is the first
    paragraph of the docstring, with the constants of the module that it names in braces.
    """

    def register(judge: F) -> F:
        described = (inspect.getdoc(judge) or "").partition("\n\n")[0].format_map(judge.__globals__)
        REGISTERED.append(TableCheck(asset, name or judge.__name__, described, judge, level))
        return judge

    return register


def verdict(
    passed: bool, broken: pl.DataFrame | None = None, **metadata: Any
) -> dg.AssetCheckResult:
    """Returns the result of a check, with the number and the first of the offending rows."""
    if broken is not None and not broken.is_empty():
        metadata |= {"offending_rows": broken.height, "examples": _examples(broken)}
    return dg.AssetCheckResult(passed=passed, metadata=metadata)


def unknown(
    cited: pl.DataFrame, store: Store, table: str, column: str = "id", days: Days = None
) -> pl.DataFrame:
    """Returns the rows whose id in the column is the id of no row of the table, or of its days."""
    return cited.join(store.tables.read(table, days, columns=[column]), on=column, how="anti")


def problems(**rows_by_problem: pl.DataFrame) -> pl.DataFrame:
    """Returns the rows of all problems, each with the problem's name in words."""
    return pl.concat(
        rows.with_columns(problem=pl.lit(problem.replace("_", " ")))
        for problem, rows in rows_by_problem.items()
    )


def _examples(broken: pl.DataFrame) -> dg.MarkdownMetadataValue:
    """Returns a table of the first rows, without columns of lists."""
    plain = broken.select(~cs.list()).head(SHOWN)
    rows = [plain.columns, ["---"] * plain.width]
    rows += ([str(value)[:60] for value in row] for row in plain.iter_rows())
    return dg.MetadataValue.md("\n".join(f"| {' | '.join(row)} |" for row in rows))


def schema_check(table: str) -> TableCheck:
    """Returns the check that a table's rows fit its schema and repeat no key."""

    def judge(store: Store, days: Days) -> dg.AssetCheckResult:
        frame = store.tables.read(table, _parts(table, days))
        try:
            schemas.check(table, frame)
        except TableError as error:
            return verdict(False, schemas.find_broken(table, frame), problem=str(error)[:500])
        return verdict(True, rows=frame.height)

    key = ", ".join(schemas.key_of(table))
    described = f"Every row of {table} fits the schema; no two rows share {key}."
    return TableCheck(table, "schema_and_unique_keys", described, judge)


def no_secrets_check(table: str) -> TableCheck:
    """Returns the check that no text of the table holds a secret that masking recognises.

    It names rows and rules, never values. It does not block, because it finds only rows that an
    older release wrote, and these must not end all learning. New rows with secrets are put aside
    before they are written (`runs.materialise`).
    """
    key = schemas.key_of(table)
    columns = list(dict.fromkeys([*key, *text_columns(table)]))

    def judge(store: Store, days: Days) -> pl.DataFrame:
        frame = store.tables.read(table, _parts(table, days), columns=columns)
        rows = secret_rows(frame)
        rules = [", ".join(secret_rules(frame, row)) for row in rows]
        named = frame.select(pl.col(key).cast(pl.String))[rows]
        return mask_frame(named.with_columns(pl.Series("rule", rules, dtype=pl.String)))

    return TableCheck(
        table, "no_secrets", "No text holds a key, token or password.", judge, "error"
    )


def _parts(table: str, days: Days) -> Days:
    """Returns the partitions of the table to check; None for all of an unpartitioned table."""
    return None if TABLES[table].grain == "whole" else days


def one_step_per_asset(checks: Iterable[TableCheck]) -> list[dg.AssetChecksDefinition]:
    """Returns the checks with one step for each asset, because each step of Dagster takes time."""
    by_asset = defaultdict[str, list[TableCheck]](list)
    for check in checks:
        by_asset[check.asset].append(check)
    return [_one_step(asset, asset_checks) for asset, asset_checks in by_asset.items()]


def _one_step(asset: str, checks: Sequence[TableCheck]) -> dg.AssetChecksDefinition:
    specs = [check.spec for check in checks]

    @dg.multi_asset_check(name=f"{asset}_checks", specs=specs, can_subset=True)
    def run_checks(
        context: dg.AssetCheckExecutionContext, store: dg.ResourceParam[Store]
    ) -> Iterator[dg.AssetCheckResult]:
        hold(store, context.run.run_id)
        if asset in TABLES and TABLES[asset].has_own_parts:
            record = context.instance.get_run_record_by_id(context.run.run_id)
            days = written_since(store, asset, record.create_timestamp) if record else None
        else:
            days = settled_days(store, asset, days_of_run(context.run.tags))
        for check in checks:
            if check.spec.key in context.selected_asset_check_keys:
                yield check.run(store, days)

    return run_checks


def written_since(store: Store, asset: str, began: datetime) -> Days:
    """Returns the partitions that were written since then.

    If there are none, only the checks were run: then returns None, which stands for all.
    """
    parts = store.tables.parts(asset)
    return [part for part, info in parts.items() if info.written_at >= began] or None


def settled_days(store: Store, asset: str, days: Days) -> Days:
    """Returns the days without those that a change of another machine made stale.

    A day is left out if it is stale in the table or in one of its sources.
    """
    if store.shared is None or days is None:
        return days
    names = with_sources([asset], grain=TABLES[asset].grain)
    stale = {part for name in names for part in stale_partitions(store, TABLES[name])}
    return [day for day in days if day not in stale]


def days_of_run(tags: Mapping[str, str]) -> Days:
    """Returns the days of a run with these tags; None if it has none (whole tables, scopes)."""
    key = tags.get("dagster/partition", "")
    start = tags.get(RANGE_START, key)
    end = tags.get(RANGE_END, key)
    if not start[:1].isdigit():
        return None
    days = pl.date_range(date.fromisoformat(start), date.fromisoformat(end), eager=True)
    return [day.isoformat() for day in days]
