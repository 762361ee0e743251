"""Rows of the names that memories, lines and rules files mention, looked up in repositories."""

from datetime import date
from typing import ClassVar, Literal

from memory_assets.schema.records.base import Record, column

VerifiedSubject = Literal["memory", "proposal", "line", "rules file"]
NameState = Literal["holds", "moved", "changed", "gone", "unknown"]


class Verification(Record):
    """A name in a memory, a pending proposal, a line of MEMORY.md or a rules file, and whether what
    it names still exists in the project's repository.
    """

    key: ClassVar = ("root", "subject", "subject_id", "place", "kind", "name", "value")
    project: str = column("Project.")
    root: str = column("Folder of the repository: its main worktree.")
    subject: VerifiedSubject = column("What names it: memory, proposal, line or rules file.")
    subject_id: str = column(
        "Id of the memory or proposal, hash of the line, or path of the rules file."
    )
    place: str = column("File and line, as `FILE:LINE`; empty for memories and proposals.")
    text_hash: str = column("Hash of the text that names it, and of its day.")
    written_on: date | None = column("Day on which it was last said; empty for rules files.")
    kind: str = column("What is named: path, make target, flag, dependency …")
    name: str = column("The name as written.")
    value: str = column("What the text states of it, such as a version or a port.")
    commit: str = column("The commit at which it was looked up.")
    state: NameState = column(
        "`holds`; `moved`: renamed; `changed`: another value than stated; `gone`: existed once; "
        "`unknown`: never tracked, or not found out in time."
    )
    since_on: date | None = column("Day since which it does not hold.")
    since_commit: str = column("The commit since which it does not hold.")
    moved_to: str = column("Its new name, if it was renamed.")
