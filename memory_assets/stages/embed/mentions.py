"""Builds the table `mentions`: the names in each memory, and the relations that its texts state.

Only memories whose texts changed are read again. Names are resolved to entities by the names in all
memories. For instance, `syncer.go` stands for the only file of the project whose path ends so, and
`git-sync` for a project if memories come from a project of that name.
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
from memory_assets.stages.embed import entities
from memory_assets.stages.embed.entities import mentions_in
from memory_assets.stages.embed.names import Name, code_spans

READ_STATES = ("active", "superseded", "stale", "archived", "cold")
"""Held and forgotten memories are not part of the graph."""

MOST_SPELLINGS = 8

_WHERE = ("id", "project")
_SOURCE = ("id", "wordings", "entities", "project", "person")
_BETWEEN_PART_AND_WHOLE = re.compile(
    r"[`'\"(\s]*(?:is |lives |defined |declared |now |also )?(?:in|inside|within|from)\s+[`'\"(]*"
)
_WHOLES = frozenset({"file", "folder", "package", "repository"})
_PARTS = frozenset({"identifier", "variable", "flag", "file", "folder"})
_NAMED_AS_PROJECTS = frozenset({"identifier", "command", "folder", "package"})
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
"""Names of files that many folders have; a bare name of these is not resolved to a longer path."""


def read_mentions(
    memories: pl.DataFrame,
    earlier: pl.DataFrame,
    of_sessions: pl.DataFrame | None = None,
    sessions: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Returns the table `mentions`; rows of `earlier` stay for unchanged memories.

    `of_sessions` are the mentions of the `sessions`, which are resolved with them.
    """
    readable = memories.filter(pl.col("state").is_in(READ_STATES)).select(_SOURCE)
    hashes = {row["id"]: _hash(row) for row in readable.iter_rows(named=True)}
    ids = pl.col("memory_id")
    hash_now = ids.replace_strict(hashes, default=None, return_dtype=pl.String)
    unchanged = earlier.filter(hash_now == pl.col("read_from"))
    read_ids = unchanged.select(id="memory_id").unique()
    unread = readable.join(read_ids, on="id", how="anti").iter_rows(named=True)
    rows = [row for memory in unread for row in _read(memory, hashes[memory["id"]])]
    mentions = pl.concat([unchanged, schemas.frame_of("mentions", rows)])
    sources = memories.select(_WHERE)
    if of_sessions is not None and sessions is not None:
        mentions = pl.concat([mentions, of_sessions])
        sources = pl.concat([sources, sessions.select(_WHERE)])
    resolved = resolve_entities(mentions, sources).select(mentions.columns)
    return resolved.sort("memory_id", "kind", "name")


def _hash(memory: Mapping[str, Any]) -> str:
    words = (*memory["wordings"], "\n", *memory["entities"])
    return hash_of(entities.ENTITIES_VERSION, *words, memory["project"], memory["person"])


def _read(memory: Mapping[str, Any], read_from: str) -> list[dict[str, Any]]:
    """Returns a row for each name in the memory, its project and person included."""
    rows: dict[str, dict[str, Any]] = {}
    for kind, name, spelling in _spellings(memory):
        if f"{kind}/{name}" not in rows:
            origin = {"memory_id": memory["id"], "read_from": read_from}
            entity = {"kind": kind, "name": name, "entity_id": ""}
            lists = {"said": [], "uses": [], "part_of": [], "replaced_by": []}
            rows[f"{kind}/{name}"] = origin | entity | lists
        spellings = rows[f"{kind}/{name}"]["said"]
        if spelling not in (name, *spellings) and len(spellings) < MOST_SPELLINGS:
            spellings.append(spelling)
    for text in memory["wordings"]:
        for source, relation, target in _stated(text, f"project/{memory['project']}"):
            is_read = source in rows and target in rows and source != target
            if is_read and target not in rows[source][relation]:
                rows[source][relation].append(target)
    return list(rows.values())


def _spellings(memory: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yields kind, name and spelling of everything that the memory names."""
    for kind in ("project", "person"):
        if memory[kind]:
            yield kind, memory[kind], memory[kind]
    texts = memory["wordings"]
    all_texts = "\n".join(texts)
    unmentioned = (name for name in memory["entities"] if name not in all_texts)
    for mentions in (*map(mentions_in, texts), *map(entities.mentions_of_name, unmentioned)):
        for mention in mentions:
            yield mention.kind, mention.name, mention.said


Relation = tuple[str, str, str]
"""A name, its relation, and the other name."""


def _stated(text: str, project: str) -> Iterator[Relation]:
    """Yields the relations that the text states; in doubt nothing."""
    mentions = mentions_in(text)
    yield from _commands_with_flags(text, mentions)
    yield from _parts_of_wholes(text, mentions)
    for mention in mentions:
        clause = re.split(r"[.;:!?]\s|\n", text[: mention.start])[-1]
        is_used = mention.kind in _USED and _USING.search(clause)
        if is_used and not _UNSURE.search(clause):
            yield project, "uses", mention.key
    key_of = {mention.said.lower(): mention.key for mention in mentions}
    key_of |= {mention.name.lower(): mention.key for mention in mentions}
    for change in read_changes(text):
        replaced = key_of.get(change.gone)
        replacement = key_of.get(change.came)
        if replaced and replacement and _are_alike(replaced, replacement):
            yield replaced, "replaced_by", replacement


def _parts_of_wholes(text: str, mentions: Sequence[Name]) -> Iterator[Relation]:
    """Yields pairs of which the text says that one is part of the other: "`run` in `cli.py`"."""
    for part, whole in pairwise(mentions):
        have_kinds = part.kind in _PARTS and whole.kind in _WHOLES
        if have_kinds and _BETWEEN_PART_AND_WHOLE.fullmatch(text, part.end, whole.start):
            yield part.key, "part_of", whole.key


def _commands_with_flags(text: str, mentions: Sequence[Name]) -> Iterator[Relation]:
    """Yields the flags of a command between the same backticks."""
    for start, end in code_spans(text):
        inside = [name for name in mentions if start <= name.start and name.end <= end]
        if inside and inside[0].kind == "command":
            flags = (mention for mention in inside[1:] if mention.kind == "flag")
            yield from ((inside[0].key, "uses", flag.key) for flag in flags)


def _are_alike(replaced: str, replacement: str) -> bool:
    """Returns whether things of these kinds can replace each other, such as a package a tool."""
    kinds = {name.split("/")[0] for name in (replaced, replacement)}
    return len(kinds) == 1 or kinds <= {"service", "tool", "package", "command", "host"}


def resolve_entities(mentions: pl.DataFrame, memories: pl.DataFrame) -> pl.DataFrame:
    """Returns the mentions with their entities, resolved with all names of the project in view.

    Adds `entity_id` and its parts `entity_kind`, `entity_name` and `entity_project`.
    """
    from_project = memories.select(memory_id="id", project="project")
    with_project = mentions.drop("entity_id").join(from_project, on="memory_id")
    names = with_project.select("kind", "name", "project").unique()
    projects = {name.lower() for name in names.filter(kind="project")["name"]}
    longer = _longer_names(names)
    rows = []
    for kind, name, project in names.iter_rows():
        entity = _resolve(kind, name, project, projects, longer)
        rows.append((kind, name, project, *entity, entity_id(*entity)))
    key = ["kind", "name", "project"]
    columns = [*key, "entity_kind", "entity_name", "entity_project", "entity_id"]
    schema = dict.fromkeys(columns, pl.String)
    resolved = pl.DataFrame(rows, schema=schema, orient="row")
    return with_project.join(resolved, on=key)


Longer = Mapping[tuple[str, str, str], str]
"""(project, kind, short name) → the one longer name of the project that ends with it."""


def _resolve(
    kind: str, name: str, project: str, projects: Collection[str], longer: Longer
) -> tuple[str, str, str]:
    """Returns kind, name and project of the entity behind a name in a memory of the project."""
    plain = name.rstrip("/").lower()
    # A name that is not a plain word means the project everywhere.
    is_special = kind in _NAMED_AS_PROJECTS and not plain.isalpha()
    if plain in projects and (is_special or kind == "project"):
        return "project", plain, ""
    name = longer.get((project, kind, name), name)
    is_local = kind in entities.LOCAL_KINDS and "#" not in name[1:]
    return kind, name, project if is_local else ""


def _longer_names(names: pl.DataFrame) -> dict[tuple[str, str, str], str]:
    """Returns the longer names of files and identifiers that stand for short ones.

    A short name is resolved if exactly one longest name in the project ends with it.
    """
    ends: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    marks = {"file": "/", "identifier": "."}
    has_parts = pl.col("kind").is_in(list(marks))
    divisible = names.filter(has_parts).select("project", "kind", "name")
    for project, kind, name in divisible.iter_rows():
        parts = [] if name.startswith(("/", "~")) else name.split(marks[kind])
        for cut in range(1, len(parts)):
            ends[project, kind, marks[kind].join(parts[cut:])].add(name)
    longer_names = {}
    for project, kind, name in divisible.iter_rows():
        wholes = ends.get((project, kind, name), set())
        longest = [whole for whole in wholes if not ends.get((project, kind, whole))]
        if len(longest) == 1 and not _ROOT_FILES.match(name):
            longer_names[project, kind, name] = longest[0]
    return longer_names


def entity_id(kind: str, name: str, project: str) -> str:
    """Returns the id of an entity."""
    return f"ent_{hash_of(kind, name, project)[:12]}"
