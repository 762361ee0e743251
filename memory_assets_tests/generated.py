"""Generates what follows from declarations: `make docs`.

`docs/tables.md` from the records, and the MCP tools (`interfaces/mcp/tools.json`) from the verbs.
"""

import json
from pathlib import Path
from typing import Any

from memory_assets.interfaces.mcp.protocol import TOOLS
from memory_assets.interfaces.verb import Verb
from memory_assets.interfaces.verbs import ADDED, FOR_AGENTS, VERBS
from memory_assets.schema.extra_folders import FOLDER
from memory_assets.schema.extras import extras
from memory_assets.schema.frames import key_of, partitioned_by, record_of, schema_of
from memory_assets.schema.tables import table_names
from memory_assets_tests.conftest import REPOSITORY

TABLES_MD = REPOSITORY / "docs" / "tables.md"


def render_dictionary() -> str:
    """Returns the dictionary of all tables and columns as Markdown: the content of `docs/tables.md`."""
    head = [
        "# The tables\n",
        "Generated from `memory_assets/schema/records/` by `make docs`. Each table is Parquet below `MEMORY_DATA/tables/`,",
        'in Hive folders, and a polars frame by `memory_assets.scan("observations")`. Times are UTC; a `day` is the local day,',
        "in the owner's zone, of the latest event of a window.\n",
        "Other programs read the same rows, with the same columns and types:\n",
        "| reader | `observations`, from the folder `MEMORY_DATA` |\n|---|---|",
        '| polars | `pl.scan_parquet("tables/observations/**/*.parquet", hive_partitioning=True)` |',
        "| DuckDB | `FROM read_parquet('tables/observations/**/*.parquet', hive_partitioning = true)` |",
        '| pyarrow | `ds.dataset("tables/observations", partitioning=days)` with '
        '`days = ds.partitioning(pa.schema({"day": pa.date32()}), flavor="hive")` |',
        '| pandas | `pd.read_parquet("tables/observations")` |\n',
        "Partition columns are in the folder names, not in the files. pyarrow and pandas do not recognise dates in them: pass",
        "the type to pyarrow, as above; convert the column in pandas. `columns.parquet` has columns, but no rows.\n",
        "While the store is written, a reader gets the old or the new version of each partition. DuckDB may open a file twice",
        "in one query, and polars reads sizes first: if a file is replaced in between, or grows, they can report an invalid",
        "file; run the query again. `memory_assets.scan` never fails like this.\n",
        "A file is larger than its content: a hole between rows and footer, which takes no space on most file systems.",
    ]
    return (
        "\n".join([*head, *(line for table in table_names() for line in _render_table(table))])
        + "\n"
    )


def _render_table(table: str) -> list[str]:
    doc = " ".join((record_of(table).__doc__ or "").split())
    rows = [
        f"| `{name}` | {dtype.replace('|', ' ')} | {text.replace('|', ' ')} |"
        for name, dtype, text in columns_of(table)
    ]
    key = ", ".join(f"`{name}`" for name in key_of(table))
    folders = "/".join(f"{name}=…" for name in partitioned_by(table))
    place = f"Partitions: `{folders}/`." if folders else "One partition."
    return [
        "",
        f"## {table}",
        "",
        doc,
        "",
        f"Key: {key}. {place}",
        "",
        "| column | type | meaning |",
        "|---|---|---|",
        *rows,
    ]


def columns_of(table: str) -> list[tuple[str, str, str]]:
    """Returns (name, type, description) of each column."""
    fields = record_of(table).model_fields.items()
    return [(name, str(schema_of(table)[name]), field.description or "") for name, field in fields]


def describe(verb: Verb) -> dict[str, Any]:
    """Returns the verb's tool as the Model Context Protocol describes one."""
    hints = {
        "title": verb.title,
        "readOnlyHint": not verb.is_writing,
        "destructiveHint": verb.is_destructive,
        "idempotentHint": not verb.is_writing or verb.is_destructive,
        "openWorldHint": False,
    }
    about = {"name": verb.tool, "title": verb.title, "description": verb.about}
    return about | {"inputSchema": verb.tool_schema(), "annotations": hints}


def describe_tools() -> dict[Path, list[dict[str, Any]]]:
    """Returns the tools of agents: the content of `interfaces/mcp/tools.json`, and of each extra's."""
    described = {TOOLS: [describe(verb) for verb in (*VERBS, *FOR_AGENTS) if verb not in ADDED]}
    for extra in extras():
        verbs = extra.load(extra.verbs) if extra.verbs else []
        if tools := [describe(verb) for verb in verbs if verb.about]:
            described[Path(FOLDER) / extra.name / TOOLS.name] = tools
    return described


def generated() -> dict[Path, str]:
    """Returns the content of each generated file."""
    tools = {
        path: json.dumps(described, ensure_ascii=False, indent=1) + "\n"
        for path, described in describe_tools().items()
    }
    return {TABLES_MD: render_dictionary(), **tools}


def main() -> None:
    """Writes all files."""
    for path, text in generated().items():
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
