"""Looks up what texts name, and says what of it is gone.

Takes the texts of one repository and the rows of the last time; returns a row for each name. While
HEAD stays, only texts that are new or changed are looked up. Only names and times come from the
repository.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import Path

import polars as pl

from memory_assets.schema.frames import hash_of
from memory_assets.schema.protocols import History, Row
from memory_assets.schema.records import VerifiedSubject
from memory_assets.schema.tables import version_of
from memory_assets.stages.verify.file_reading import read_text
from memory_assets.stages.verify.lookups import Lookups
from memory_assets.stages.verify.named import Named
from memory_assets.stages.verify.names_of_markdown import names_in
from memory_assets.stages.verify.names_of_sentence import names_in_sentence
from memory_assets.stages.verify.rules_files import FOR_PEOPLE, rules_files
from memory_assets.text.visible import printable

OpenHistory = Callable[[Path], AbstractContextManager[History | None]]
NAMES = "names `"
"""How the mark of a memory begins that names something gone."""

_RUNNERS = {
    "make target": "make ",
    "just recipe": "just ",
    "package script": "npm run ",
    "mise task": "mise run ",
    "commit": "commit ",
}
"""What stands before a name, of a task what a person types."""

_PLAIN_PATH = re.compile(r"[\w.@+/-]+")
"""A path that is no sentence: a repository's names reach the contexts of agents."""

_VERSION = version_of("verifications")
_RANK = {"holds": 0, "changed": 1, "moved": 2, "gone": 3}
"""Of a name that was looked up in several repositories, the first state counts."""


@dataclass(frozen=True)
class Worktree:
    """The main worktree of a repository."""

    root: Path
    git: Path
    """Its git folder."""
    project: str
    head: str
    """The commit of HEAD."""

    @property
    def hash(self) -> str:
        """Returns what stands for its rules files at this commit."""
        return hash_of(_VERSION, self.root, self.head)


@dataclass(frozen=True)
class TextToVerify:
    """A text whose names are looked up."""

    subject: VerifiedSubject
    id: str
    text: str
    folder: Path
    """Where paths in it begin."""
    written_on: date | None = None
    place: str = ""
    """Its file and line, or its file alone."""
    commit: str = ""
    """The commit that followed what it says: once reverted, it holds no more."""

    @cached_property
    def hash(self) -> str:
        """Returns what stands for its names, and for the day on which they held."""
        return hash_of(_VERSION, self.subject, self.id, self.text, self.written_on, self.commit)

    def names(self) -> list[Named]:
        """Returns its names, each once."""
        find_names = names_in if self.subject == "rules file" else names_in_sentence
        commits = [Named("commit", self.commit)] if self.commit else []
        return list(dict.fromkeys((*find_names(self.text), *commits)))


TextAndName = tuple[TextToVerify, Named]


def look_up(
    worktree: Worktree,
    texts: Sequence[TextToVerify],
    earlier: pl.DataFrame,
    open_history: OpenHistory,
    nameless: set[str],
) -> Iterator[Row]:
    """Yields a row for each name of the texts, and of the repository's rules files; those that were
    looked up at the same HEAD are rows of `earlier`.

    `nameless` has the hashes of texts without names and of the repositories whose rules files were
    read; new ones are added.
    """
    same_head = earlier.filter(root=str(worktree.root), commit=worktree.head)
    rows = same_head.rows_by_key("text_hash", named=True, include_key=True)
    read = nameless.union(rows)
    yield from rows.get(worktree.hash, ())
    places = [(row, text.place) for text in texts for row in rows.get(text.hash, ())]
    yield from ({**row, "place": place} for row, place in places)
    unread = [text for text in texts if text.hash not in read]
    names = [(text, name) for text in unread for name in text.names()]
    nameless.update({text.hash for text in unread} - {text.hash for text, _ in names})
    if names or worktree.hash not in nameless:
        yield from _look_up_now(worktree, names, open_history, nameless)


def _look_up_now(
    worktree: Worktree, names: list[TextAndName], open_history: OpenHistory, nameless: set[str]
) -> Iterator[Row]:
    """Yields the rows of the names, and of those in rules files if they are not `nameless` yet.

    Where git does not answer, they have no hash, so that they are looked up again.
    """
    with open_history(worktree.root) as history:
        lookups = Lookups(worktree.root, history)
        if worktree.hash not in nameless:
            names += _names_of_rules(worktree.root, lookups)
        rows = [_row(worktree, text, name, lookups) for text, name in names]
    if history is None:
        rows = [{**row, "text_hash": ""} for row in rows]
    else:
        nameless.add(worktree.hash)
    yield from rows


def _names_of_rules(root: Path, lookups: Lookups) -> Iterator[TextAndName]:
    for file in rules_files(root, lookups):
        if file not in FOR_PEOPLE:
            path = root / file
            text = read_text(root, file).text
            rules = TextToVerify("rules file", printable(str(path)), text, path.parent, place=file)
            yield from ((rules, name) for name in rules.names())


def _row(worktree: Worktree, text: TextToVerify, name: Named, lookups: Lookups) -> Row:
    verdict = lookups.verdict(name, text.folder, text.written_on)
    if verdict.moved_to and not _PLAIN_PATH.fullmatch(verdict.moved_to):
        verdict = replace(verdict, state="gone", moved_to="")
    return {
        "project": worktree.project,
        "root": str(worktree.root),
        "subject": text.subject,
        "subject_id": text.id,
        "place": f"{text.place}:{name.line}" if name.line else text.place,
        "text_hash": worktree.hash if text.subject == "rules file" else text.hash,
        "written_on": text.written_on,
        "kind": name.kind,
        "name": printable(name.text),
        "value": name.value,
        "commit": worktree.head,
        "state": "unknown" if verdict.state == "missing" else verdict.state,
        "since_on": verdict.since,
        "since_commit": verdict.commit,
        "moved_to": verdict.moved_to,
    }


@dataclass(frozen=True)
class GoneNames:
    """What a text names that does not hold any more."""

    mark: str
    """In words, with the day and the new name of the first of them."""
    is_all: bool
    """Whether nothing that it names is known to hold."""
    new_names: Mapping[str, str]
    """Names that were renamed."""


def gone_names(rows: pl.DataFrame, subject: VerifiedSubject) -> dict[str, GoneNames]:
    """Returns what the texts of that subject name that does not hold, by id; those without such a
    name are left out.
    """
    names = _looked_up(rows, subject).rows_by_key("subject_id", named=True)
    outdated = not_holding(rows, subject)["subject_id"].unique(maintain_order=True)
    return {id: _gone_names(names[id]) for id in outdated}


def not_holding(rows: pl.DataFrame, subject: VerifiedSubject) -> pl.DataFrame:
    """Returns the names in texts of that subject that do not hold."""
    return _looked_up(rows, subject).filter(pl.col("state") != "holds")


def _looked_up(rows: pl.DataFrame, subject: VerifiedSubject) -> pl.DataFrame:
    """Returns the names with a known state, each once, in the order of their days."""
    looked_up = rows.filter(pl.col("state").is_in(list(_RANK)), subject=subject)
    rank = pl.col("state").replace_strict(_RANK, return_dtype=pl.Int8)
    named = ("subject_id", "place", "kind", "name", "value")
    once = looked_up.sort(rank).unique(named, keep="first", maintain_order=True)
    return once.sort("since_on", "name", nulls_last=True)


def _gone_names(rows: Sequence[Row]) -> GoneNames:
    outdated = [row for row in rows if row["state"] != "holds"]
    more = f", and {len(outdated) - 1} more" if len(outdated) > 1 else ""
    others = [row for row in rows if row["kind"] != "commit"] or outdated
    is_all = all(row["state"] in ("gone", "moved") for row in others)
    new_names = {row["name"]: row["moved_to"] for row in rows if row["state"] == "moved"}
    return GoneNames(f"{mark_of(outdated[0])}{more}", is_all, new_names)


def mark_of(row: Row) -> str:
    """Returns what became of a name that does not hold, in words."""
    is_reverted = row["kind"] == "commit"
    what = "changed" if row["state"] == "changed" else "reverted" if is_reverted else "gone"
    runner = _RUNNERS.get(row["kind"], "")
    name = f"{runner}{row['name']} {row['value']}".strip()
    since = f" since {row['since_on']}" if row["since_on"] else ""
    renamed = f" (renamed to `{row['moved_to']}`)" if row["moved_to"] else ""
    return f"{NAMES}{name}`, {what}{since}{renamed}"
