"""Decides which file an entry belongs in: that of its project, or MEMORY.md for what holds in all
of the owner's projects.

A rule, a preference or a fact belongs in the file of the project in which it was said, whatever it
says of other projects. A preference holds in all if it was said in two; so does what is known of
people. A project's file begins with its first
entry. Facts of a project that an earlier release wrote into MEMORY.md move there, byte for byte.
All files have the same format.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory_assets.schema.protocols import Row
from memory_assets.schema.records import MEMORY_MD
from memory_assets.stages.distill.rows import PERSONAL
from memory_assets.store.ledger import Event
from memory_assets.store.ready import file_name

FOLDER = "projects"
STAYS = PERSONAL | {"rules-conventions"}
"""Categories whose lines are not moved: an earlier release promoted them for all projects."""


@dataclass(frozen=True)
class Move:
    """An entry that leaves MEMORY.md for its project's file."""

    promotion: Event
    path: str


def path_of(project: str) -> str:
    """Returns the path of the project's file in the workspace, with a name that every file system
    accepts.
    """
    return f"{FOLDER}/{file_name(project)}.md"


def memory_files(root: Path) -> list[str]:
    """Returns the files of entries in the workspace: MEMORY.md first, then those of projects."""
    paths = (root / FOLDER).glob("*.md")
    return [MEMORY_MD, *sorted(path.relative_to(root).as_posix() for path in paths)]


def is_memory_file(path: str) -> bool:
    """Returns whether the path, relative to the workspace, is a file of entries."""
    folder, _, name = path.rpartition("/")
    return path == MEMORY_MD or (folder == FOLDER and name.endswith(".md"))


def project_of(proposal: Row) -> str:
    """Returns the project in which a proposal's line holds; empty if it holds in all: what is known
    of people, and a preference, or a problem, of two projects.
    """
    category = proposal["category"]
    is_of_several = proposal.get("project_count", 1) > 1
    is_owners = category in PERSONAL and (is_of_several or category != "preferences")
    return "" if is_owners else proposal["project"]


def home_of(proposal: Row) -> str:
    """Returns the file that a proposal's line belongs in."""
    project = project_of(proposal)
    return path_of(project) if project else MEMORY_MD


def place_of(proposal: Row) -> tuple[str, str]:
    """Returns where a proposal's line holds: its project and nobody in particular, or everywhere
    for one person.
    """
    project = project_of(proposal)
    person = "" if project else proposal["person"]
    return (project, person)


def plan_homes(
    wanted: Sequence[str], proposals: Mapping[str, Row], promotions: Sequence[Event]
) -> dict[str, str]:
    """Returns the file of each proposal's line; `wanted` are the lines to write, `promotions` the
    written ones.
    """
    recorded = {event.target: event.payload.get("path", MEMORY_MD) for event in promotions}
    return {id: home_of(proposals[id]) for id in wanted} | recorded


def plan_moves(
    proposals: Mapping[str, Row], promotions: Sequence[Event], moved: Collection[str]
) -> list[Move]:
    """Returns the facts of projects that are recorded in MEMORY.md; `moved` are the proposals whose
    line was moved before.
    """
    moves = []
    for event in promotions:
        proposal = proposals.get(event.target)
        is_in_memory_md = event.payload.get("path", MEMORY_MD) == MEMORY_MD
        if event.target in moved or not proposal or not is_in_memory_md:
            continue
        project = project_of(proposal)
        if project and proposal["category"] not in STAYS and "replaces" not in event.payload:
            moves.append(Move(event, path_of(project)))
    return moves
