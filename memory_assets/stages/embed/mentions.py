"""Reads the names in each memory and the relations that its words state: the table `mentions`.

Only memories whose words changed are read again. Names are resolved to entities with all memories
in view: `syncer.go` is the only file of the project with that ending, `git-sync` is a project if
memories come from one of that name.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import polars as pl

from memory_assets.english.changes import read_changes
from memory_assets.schema import frames as schemas
from memory_assets.schema.frames import hash_of
from memory_assets.stages.embed.entities import (
    ENTITIES_VERSION,
    LOCAL_KINDS,
    mentions_in,
    mentions_of_name,
)
from memory_assets.stages.embed.names import Name, code_spans

READ_STATES = ("active", "superseded", "stale", "archived", "cold")
"""Held and forgotten memories are not part of the graph."""

MOST_SPELLINGS = 8

_SOURCE = ("id", "wordings", "entities", "project", "person")
_BETWEEN_PART_AND_WHOLE = re.compile(
    r"[`'\"(\s]*(?:is |lives |defined |declared |now |also )?(?:in|inside|within|from)\s+[`'\"(]*"
)
_WHOLES = frozenset({"file", "folder", "package", "repository"})
_PARTS = frozenset({"identifier", "variable", "flag", "file", "folder"})
_USED = frozenset({"service", "tool", "package", "host", "command"})
_USING = re.compile(
    r"(?i)\b(?:(?<!to )use[sd]?|using|depends on|built (?:with|on)|runs (?:on|in|with)"
    r"|deployed (?:to|on|with|via)|written in"
    r"|hosted (?:on|by)|powered by|stored in|served by)\s+(?:the\s+|our\s+|a\s+|an\s+)?[`'\"]?$"
)
_UNSURE = re.compile(
    r"\b(?:not|never|n't|no longer|instead of|rather than|could|might|should we|would|if"
    r"|without|stop)\b|\?",
    re.IGNORECASE,
)
_ROOT_FILES = re.compile(
    r"(?:README|CHANGELOG|LICENSE|CONTRIBUTING|AGENTS|CLAUDE|SKILL|MEMORY|index|__init__"
    r"|package\.json|go\.mod)",
    re.I,
)
"""Files of many folders: the bare name means the one at the root, or is ambiguous."""


def read_mentions(memories: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """Returns the table `mentions`; rows of `known` are kept for unchanged memories."""
    readable = memories.filter(pl.col("state").is_in(READ_STATES)).select(_SOURCE)
    hashes = {row["id"]: _hash(row) for row in readable.iter_rows(named=True)}
    kept = known.filter(
        pl.col("memory_id").replace_strict(hashes, default=None, return_dtype=pl.String)
        == pl.col("read_from")
    )
    unread = readable.join(
        kept.select("memory_id").unique(), left_on="id", right_on="memory_id", how="anti"
    )
    rows = [
        row
        for memory in unread.iter_rows(named=True)
        for row in _read(memory, hashes[memory["id"]])
    ]
    found = pl.concat([kept, schemas.frame_of("mentions", rows)])
    return resolve_entities(found, memories).select(found.columns).sort("memory_id", "kind", "name")


def _hash(memory: Mapping[str, Any]) -> str:
    return hash_of(
        ENTITIES_VERSION,
        *memory["wordings"],
        "\n",
        *memory["entities"],
        memory["project"],
        memory["person"],
    )


def _read(memory: Mapping[str, Any], read_from: str) -> list[dict[str, Any]]:
    """Returns a row for each name in the memory, its project and person included."""
    rows: dict[str, dict[str, Any]] = {}
    own = {"project": memory["project"], "person": memory["person"]}
    named = [(kind, name, name) for kind, name in own.items() if name]
    together = "\n".join(memory["wordings"])
    mentions = [mention for text in memory["wordings"] for mention in mentions_in(text)]
    mentions += [
        mention
        for name in memory["entities"]
        if name not in together
        for mention in mentions_of_name(name)
    ]
    for kind, name, said in (*named, *((one.kind, one.name, one.said) for one in mentions)):
        empty = {
            "memory_id": memory["id"],
            "kind": kind,
            "name": name,
            "entity_id": "",
            "read_from": read_from,
        }
        row = rows.setdefault(
            f"{kind}/{name}", empty | {"said": [], "uses": [], "part_of": [], "replaced_by": []}
        )
        if said != name and said not in row["said"] and len(row["said"]) < MOST_SPELLINGS:
            row["said"].append(said)
    for text in memory["wordings"]:
        for source, relation, target in _stated(text, f"project/{memory['project']}"):
            if (
                source in rows
                and target in rows
                and source != target
                and target not in rows[source][relation]
            ):
                rows[source][relation].append(target)
    return list(rows.values())


def _stated(text: str, project: str) -> Iterator[tuple[str, str, str]]:
    """Yields the (name, relation, other name) that the text states; in doubt nothing."""
    mentions = mentions_in(text)
    yield from _commands_with_flags(text, mentions)
    for one, other in pairwise(mentions):
        if (
            one.kind in _PARTS
            and other.kind in _WHOLES
            and _BETWEEN_PART_AND_WHOLE.fullmatch(text, one.end, other.start)
        ):
            yield one.key, "part_of", other.key
    for mention in mentions:
        clause = re.split(r"[.;:!?]\s|\n", text[: mention.start])[-1]
        if mention.kind in _USED and _USING.search(clause) and not _UNSURE.search(clause):
            yield project, "uses", mention.key
    said = {mention.said.lower(): mention.key for mention in mentions} | {
        m.name.lower(): m.key for m in mentions
    }
    for change in read_changes(text):
        gone, came = said.get(change.gone), said.get(change.came)
        if gone and came and _are_alike(gone, came):
            yield gone, "replaced_by", came


def _commands_with_flags(text: str, mentions: Sequence[Name]) -> Iterator[tuple[str, str, str]]:
    """Yields the flags of a command between the same backticks."""
    for start, end in code_spans(text):
        inside = [mention for mention in mentions if start <= mention.start and mention.end <= end]
        if inside and inside[0].kind == "command":
            yield from (
                (inside[0].key, "uses", one.key) for one in inside[1:] if one.kind == "flag"
            )


def _are_alike(gone: str, came: str) -> bool:
    """Returns whether one can replace the other: a flag a flag, but a package also a tool or a
    service.
    """
    kinds = {name.split("/")[0] for name in (gone, came)}
    return len(kinds) == 1 or kinds <= {"service", "tool", "package", "command", "host"}


def resolve_entities(mentions: pl.DataFrame, memories: pl.DataFrame) -> pl.DataFrame:
    """Returns the mentions with their entities, resolved with all names of the project in view.

    Adds `entity_id` and its parts `entity_kind`, `entity_name` and `entity_project`.
    """
    from_project = memories.select(memory_id="id", project="project")
    placed = mentions.drop("entity_id").join(from_project, on="memory_id")
    names = placed.select("kind", "name", "project").unique()
    projects = {name.lower() for name in names.filter(pl.col("kind") == "project")["name"]}
    longer = _longer_names(names)
    rows = [
        (*row, *_resolve(row[0], row[1], row[2], projects, longer)) for row in names.iter_rows()
    ]
    columns = ("kind", "name", "project", "entity_kind", "entity_name", "entity_project")
    found = pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")
    ids = pl.Series(
        "entity_id", [entity_id(row[3], row[4], row[5]) for row in rows], dtype=pl.String
    )
    return placed.join(found.with_columns(ids), on=["kind", "name", "project"])


Longer = Mapping[tuple[str, str, str], str]
"""(project, kind, short name) → the one longer name of the project that ends with it."""


def _resolve(
    kind: str, name: str, project: str, projects: Collection[str], longer: Longer
) -> tuple[str, str, str]:
    """Returns kind, name and project of the entity behind a name in a memory of the project."""
    plain = name.rstrip("/").lower()
    is_no_word = not plain.isalpha()  # it means the project everywhere
    if plain in projects and (
        kind == "project" or (kind in ("identifier", "command", "folder", "package") and is_no_word)
    ):
        return "project", plain, ""
    name = longer.get((project, kind, name), name)
    return kind, name, project if kind in LOCAL_KINDS and "#" not in name[1:] else ""


def _longer_names(names: pl.DataFrame) -> dict[tuple[str, str, str], str]:
    """Returns the short names of files and identifiers with exactly one longer name in the project
    that ends with them.
    """
    ends: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    marks = {"file": "/", "identifier": "."}
    shorts: set[tuple[str, str, str]] = set()
    for kind, name, project in (
        names.filter(pl.col("kind").is_in(list(marks)))
        .select("kind", "name", "project")
        .iter_rows()
    ):
        parts = name.split(marks[kind])
        shorts.add((project, kind, name))
        for cut in range(1, len(parts) if not name.startswith(("/", "~")) else 1):
            ends[project, kind, marks[kind].join(parts[cut:])].add(name)
    longest = {
        short: {one for one in wholes if not ends.get((short[0], short[1], one))}
        for short, wholes in ends.items()
    }
    return {
        short: next(iter(longest[short]))
        for short in shorts
        if len(longest.get(short, ())) == 1 and not _ROOT_FILES.match(short[2])
    }


def entity_id(kind: str, name: str, project: str) -> str:
    """Returns the id of an entity."""
    return f"ent_{hash_of(kind, name, project)[:12]}"
