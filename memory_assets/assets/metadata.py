"""Dagster metadata of a table: its figures, the lineage of its columns, and their schema."""

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import dagster as dg
from dagster_pandera import pandera_schema_to_dagster_type

from memory_assets.runs.results import Markdown
from memory_assets.schema import frames
from memory_assets.schema.tables import Table


def shown(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the figures as metadata: counts by name as bars, paths as paths; no empty ones."""
    return {name: _shown_value(value) for name, value in figures.items() if value != {}}


def _shown_value(value: Any) -> Any:
    if isinstance(value, Markdown):
        return dg.MetadataValue.md(value)
    if isinstance(value, Path):
        return dg.MetadataValue.path(str(value))
    if not isinstance(value, Mapping):
        return value
    has_counts = all(isinstance(count, int | float) for count in value.values())
    return bars(value) if has_counts else value


def bars(counts: Mapping[str, float]) -> dg.MarkdownMetadataValue:
    """Returns the counts as a small bar chart in Markdown; the largest has 24 blocks."""
    most = max(counts.values(), default=0) or 1
    lines = [
        f"| {name} | `{'█' * round(24 * count / most):<24}` | {count} |"
        for name, count in counts.items()
    ]
    return dg.MetadataValue.md("| | | |\n|---|---|---:|\n" + "\n".join(lines))


def column_lineage(table: Table) -> dict[str, dg.TableColumnLineage]:
    """Returns the declared lineage of the table's columns as metadata; empty without any."""
    deps: dict[str, list[dg.TableColumnDep]] = {}
    for column, source in table.lineage:
        upstream, _, name = source.partition(".")
        deps.setdefault(column, []).append(dg.TableColumnDep(asset_key=upstream, column_name=name))
    return {"dagster/column_lineage": dg.TableColumnLineage(deps_by_column=deps)} if deps else {}


def code_references(build: Callable[..., Any]) -> dg.CodeReferencesMetadataValue:
    """Returns where the function is defined, which the UI shows with a link to the editor.

    `dg.with_source_code_references` would name the factory of all assets.
    """
    code = inspect.unwrap(build).__code__
    reference = dg.LocalFileCodeReference(
        file_path=code.co_filename, line_number=code.co_firstlineno, label=build.__name__
    )
    return dg.CodeReferencesMetadataValue(code_references=[reference])


@cache
def column_schema(table: str) -> dg.TableSchema:
    """Returns the table's columns, types, bounds and descriptions as Dagster shows them, from its
    pandera schema.
    """
    dagster_type = pandera_schema_to_dagster_type(frames.checks_of(table))
    return dagster_type.metadata["schema"].value  # pyright: ignore[reportReturnType]
