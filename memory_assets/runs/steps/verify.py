"""Builds the table of names that memories, proposals, lines and rules files mention."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import polars as pl

from memory_assets.adapters.git_reading import reading
from memory_assets.runs.results import Rows, per_partition
from memory_assets.schema.frames import frame_of
from memory_assets.schema.records import Verification
from memory_assets.services.review.written_lines import read_lines
from memory_assets.services.sources.worktrees import Worktrees, read_worktrees
from memory_assets.stages.triage.projects import path_of
from memory_assets.stages.verify.verifications import TextToVerify, Worktree, look_up
from memory_assets.store.store import Store

NAMELESS = "verified_without_names"
"""The note with hashes of texts that name nothing, so that they are not read again."""


@per_partition
def verifications(store: Store, _: str) -> Rows:
    """Looks up the names of texts that changed, and all names of repositories whose HEAD moved."""
    began = perf_counter()
    worktrees = read_worktrees(store)
    texts: dict[Path, list[TextToVerify]] = defaultdict(list)
    for worktree, text in (*_lines(store, worktrees), *_facts(store, worktrees)):
        texts[worktree.root].append(text)
    earlier = store.tables.read("verifications")
    nameless = set((store.note_of(NAMELESS) or "").split())
    rows = [
        row
        for root, worktree in worktrees.by_root.items()
        for row in look_up(worktree, texts[root], earlier, reading, nameless)
    ]
    hashes = {text.hash for of_root in texts.values() for text in of_root}
    hashes.update(worktree.hash for worktree in worktrees.by_root.values())
    store.note(NAMELESS, " ".join(sorted(nameless & hashes)))
    seconds = round(perf_counter() - began, 3)
    figures = {"repositories": len(worktrees.by_root), "seconds": seconds}
    frame = frame_of("verifications", rows).unique(Verification.key, maintain_order=True)
    return Rows(frame, figures)


def _lines(store: Store, worktrees: Worktrees) -> Iterator[tuple[Worktree, TextToVerify]]:
    """Yields the entries; one that a person wrote for no project is looked up everywhere."""
    projects = {path_of(project): project for project in worktrees.by_project}
    for line in read_lines(store):
        sessions = line.promotion.payload.get("session_ids", []) if line.promotion else []
        place = worktrees.place_of(sessions, projects.get(line.path, ""))
        everywhere = () if line.promotion else worktrees.by_project.values()
        for worktree, folder in [place] if place else everywhere:
            at = f"{line.path}:{line.entry.number}"
            about = (line.text, line.entry.text, folder, line.entry.on, at)
            yield worktree, TextToVerify("line", *about)


def _facts(store: Store, worktrees: Worktrees) -> Iterator[tuple[Worktree, TextToVerify]]:
    """Yields the pending proposals and the active memories, the latest first."""
    read = store.tables.read
    decided = read("decisions").filter(pl.col("state") != "pending")
    proposals = read("proposals").join(decided, on="proposal_id", how="anti").sort("event_on")
    memories = read("memories").filter(state="active", kind="fact").sort("event_at", "id")
    said_on = pl.col("event_at").dt.convert_time_zone(store.settings.timezone).dt.date()
    columns = ("text", "session_ids", "project")
    pending = proposals.select(
        *columns, subject=pl.lit("proposal"), id="proposal_id", on="event_on"
    )
    active = memories.select(*columns, subject=pl.lit("memory"), id="id", on=said_on)
    commits = _commits(store, memories)
    for row in pl.concat([active, pending]).reverse().iter_rows(named=True):
        place = worktrees.place_of(reversed(row["session_ids"]), row["project"])
        if place:
            worktree, folder = place
            about = (row["subject"], row["id"], row["text"], folder, row["on"])
            yield worktree, TextToVerify(*about, commit=commits.get(row["id"], ""))


def _commits(store: Store, memories: pl.DataFrame) -> dict[str, str]:
    """Returns, by memory, the commit that followed its latest fact."""
    observations = store.tables.read("observations", columns=["id", "commit", "event_at"])
    followed = observations.filter(pl.col("commit") != "").rename({"id": "observation_ids"})
    of_memories = memories.select("id", "observation_ids").explode("observation_ids")
    joined = of_memories.join(followed, on="observation_ids").sort("event_at")
    return dict(joined.select("id", "commit").iter_rows())


BUILDERS = (verifications,)
"""The functions that build the tables of their names (`runs.builders`)."""
