"""Decides which file an entry belongs in: a project with enough entries has a file of its own.

What follows the owner (rules, preferences, people) is in MEMORY.md, whichever project it was said in. The first entries of a
project are there, too; the third creates `projects/NAME.md`, and the others move after it, byte for byte. Both files have the
same format.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory_assets.schema.protocols import Row
from memory_assets.schema.records import MEMORY_MD
from memory_assets.stages.reflect.proposals import PERSONAL
from memory_assets.store.ledger import Event
from memory_assets.store.ready import file_name

FOLDER = "projects"
OWN_FILE_FROM = 3
"""Fewer entries are not worth a file."""


@dataclass(frozen=True)
class Move:
    """An entry that leaves MEMORY.md for its project's file."""

    promotion: Event
    path: str


def path_of(project: str) -> str:
    """Returns the path of the project's file in the workspace, with a name that every file system accepts."""
    return f"{FOLDER}/{file_name(project)}.md"


def memory_files(root: Path) -> list[str]:
    """Returns the files of entries in the workspace: MEMORY.md first, then those of projects."""
    return [MEMORY_MD, *sorted(path.relative_to(root).as_posix() for path in (root / FOLDER).glob("*.md"))]


def is_memory_file(path: str) -> bool:
    """Returns whether the path, relative to the workspace, is a file of entries."""
    return path == MEMORY_MD or (path.startswith(f"{FOLDER}/") and path.endswith(".md"))


def project_of(proposal: Row) -> str:
    """Returns the project of a proposal's line; empty if it follows the owner, or is about a recurring problem."""
    return "" if "target" in proposal or proposal["category"] in PERSONAL else proposal["project"]


def plan_homes(wanted: Sequence[str], proposals: Mapping[str, Row], promotions: Sequence[Event]) -> dict[str, str]:
    """Returns the file of each proposal's line; `wanted` are the lines to write, `promotions` the written ones, in order."""
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


def plan_moves(proposals: Mapping[str, Row], promotions: Sequence[Event], moved: Collection[str]) -> list[Move]:
    """Returns the lines that belong in a project's file by now; `moved` are the proposals whose line was moved before."""
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
