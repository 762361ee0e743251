"""Which file an entry belongs in: what holds of one project stands in that project's file, once it has entries enough.

What follows the owner (rules, preferences, people) is in MEMORY.md, whichever project it was said in. Of a project the first
entries stand there, too; the third opens `projects/NAME.md` and the others move after it, byte for byte. Both are the same kind
of file, with the same contract.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_assets.schema.records import MEMORY_MD
from memory_assets.stages.reflect.proposals import PERSONAL
from memory_assets.store.ledger import Event
from memory_assets.store.ready import file_name

FOLDER = "projects"
OWN_FILE_FROM = 3
"""Fewer entries are no more than a session can carry beside its own."""


@dataclass(frozen=True)
class Move:
    """An entry that leaves MEMORY.md for its project's file."""

    promotion: Event
    path: str


def path_of(project: str) -> str:
    """Returns the project's file below the workspace, under a name that every file system takes."""
    return f"{FOLDER}/{file_name(project)}.md"


def memory_files(root: Path) -> list[str]:
    """Returns the files of entries that lie in the workspace: MEMORY.md first, then those of projects."""
    return [MEMORY_MD, *sorted(path.relative_to(root).as_posix() for path in (root / FOLDER).glob("*.md"))]


def is_memory_file(path: str) -> bool:
    """Returns whether it is a file of entries, of a path below the workspace."""
    return path == MEMORY_MD or (path.startswith(f"{FOLDER}/") and path.endswith(".md"))


def project_of(proposal: Mapping[str, Any]) -> str:
    """Returns the project that a proposal's line would hold of; empty where it follows the owner, or tells of a friction."""
    return "" if "target" in proposal or proposal["category"] in PERSONAL else proposal["project"]


def plan_homes(
    wanted: Sequence[str], proposals: Mapping[str, Mapping[str, Any]], promotions: Sequence[Event]
) -> dict[str, str]:
    """Returns the file of each proposal's line; `wanted` are those to be written, `promotions` those that are, in order."""
    homes = {event.target: event.payload.get("path", MEMORY_MD) for event in promotions}
    added = [event.target for event in promotions if "replaces" not in event.payload]
    counts = Counter(project_of(proposals[id]) for id in added if id in proposals)
    for id in wanted:
        if id in homes:
            continue
        project = project_of(proposals[id])
        counts[project] += 1
        homes[id] = path_of(project) if project and counts[project] >= OWN_FILE_FROM else MEMORY_MD
    return homes


def plan_moves(proposals: Mapping[str, Mapping[str, Any]], promotions: Sequence[Event], moved: Collection[str]) -> list[Move]:
    """Returns the lines that belong in the file of a project that has one by now; `moved` are the proposals whose line went."""
    projects = {event.target: project_of(proposals[event.target]) for event in promotions if event.target in proposals}
    added = [event.target for event in promotions if "replaces" not in event.payload]
    counts = Counter(projects[id] for id in added if id in projects)
    opened = {project for project, count in counts.items() if project and count >= OWN_FILE_FROM}
    return [
        Move(event, path_of(projects[event.target]))
        for event in promotions
        if projects.get(event.target) in opened
        and event.target not in moved
        and event.payload.get("path", MEMORY_MD) == MEMORY_MD
    ]
