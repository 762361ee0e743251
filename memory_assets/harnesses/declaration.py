"""What each harness declares in its folder: how its files are recognised, where they are, what
reads them, and our parts of its settings.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from memory_assets.harnesses.hook_commands import HookTarget
from memory_assets.harnesses.hook_parts import HookPart
from memory_assets.harnesses.normal_form import TranscriptReader
from memory_assets.schema.vocabulary import Harness

Record = Mapping[str, Any]
"""A line of a transcript."""


@dataclass(frozen=True)
class Location:
    """A file or folder of a harness, which a variable of the environment may move."""

    path: str
    """Below the parent or, without one, below the person's home."""
    variable: str = ""
    """Names another file or folder in its place."""
    parent: "Location | None" = None

    def find(self, home: Path, environ: Mapping[str, str]) -> Path:
        """Returns the path, whether or not it exists."""
        named = environ.get(self.variable)
        if named:
            return Path(named).expanduser()
        folder = self.parent.find(home, environ) if self.parent else home
        return folder / self.path

    def variables(self) -> list[str]:
        """Returns the names of the variables that may move it."""
        above = self.parent.variables() if self.parent else []
        return [*above, self.variable] if self.variable else above


DATA = Location(".local/share", "XDG_DATA_HOME")
CONFIG = Location(".config", "XDG_CONFIG_HOME")


@dataclass(frozen=True)
class ArchivedLines:
    """The lines of a session in a database that were archived before."""

    until: datetime
    """Their latest time stamp."""
    read: Callable[[], list[Record]]


class ReadNewLines(Protocol):
    """Reads a database of sessions."""

    def __call__(
        self,
        path: Path,
        archived: Callable[[str], ArchivedLines],
        is_ignored: Callable[[str], bool],
    ) -> Iterator[tuple[str, bytes]]:
        """Yields sessions with their new lines, without those in ignored folders."""
        ...


@dataclass(frozen=True)
class MemoryFolders:
    """Where a harness keeps its own memories, as Markdown files."""

    folders: str
    """A pattern of the folders, below the folder of the harness's settings."""
    deepest: int = 0
    """Levels of folders below each of them."""
    is_beside_sessions: bool = False
    """Whether the folder above has the transcripts of the same project."""


@dataclass(frozen=True)
class EnforcedRule:
    """A rule of the person, as far as a harness can enforce it."""

    id: str
    """A text that is a file name, too."""
    text: str
    commands: Sequence[str]
    """Beginnings of commands that it forbids or, if it `asks`, that need the person's consent."""
    files: Sequence[str]
    """Files, and folders with `/` at the end, that it forbids to edit."""
    asks: bool


class Enforcement(NamedTuple):
    """What a person adds to a file so that a rule is enforced; without a text nothing."""

    file: str
    section: str
    text: str


@dataclass(frozen=True, kw_only=True)
class HarnessDeclaration:
    """What is known about a harness; one without a `name` is recognised and cannot be read yet."""

    title: str
    """Its name for people."""
    transcripts: tuple[Location, ...] = ()
    is_record: Callable[[Record], bool] = lambda _: False
    """Whether the harness writes such records."""
    tables: frozenset[str] = frozenset()
    """Names that the tables of its SQLite file include."""
    file_names: tuple[str, ...] = ()
    """Patterns of ends of paths that no other harness gives to its transcripts."""


@dataclass(frozen=True, kw_only=True)
class ReadHarness(HarnessDeclaration):
    """A harness whose transcripts are read."""

    name: Harness
    settings: Location
    """The folder of its settings."""
    reader: type[TranscriptReader]
    read_new_lines: ReadNewLines | None = None
    """Reads the new lines of a database; None where transcripts are files of lines."""
    program: str = ""
    """The command of its client."""
    prompt_options: tuple[str, ...] = ()
    """Options in front of the first prompt with which its client is started."""
    hook_parts: Callable[[HookTarget], tuple[HookPart, ...]] | None = None
    """Returns our parts of its settings; None where it has neither hooks nor servers of tools."""
    instructions: str = "AGENTS.md"
    """The file of a person's instructions below its settings; empty where it reads none."""
    memories: MemoryFolders | None = None
    is_not_for_memory: Callable[[Record], bool] | None = None
    """Whether the record that names the session's folder marks it as not for memory."""
    enforce: Callable[[EnforcedRule], Enforcement] | None = None
    """Returns what makes the harness enforce a rule; without, AGENTS.md repeats it."""


def open_database(path: Path) -> sqlite3.Connection:
    """Returns an SQLite file opened for reading; neither it nor its folder is changed."""
    # Without a write-ahead log, `mode=ro` would create one.
    mode = "mode=ro" if Path(f"{path}-wal").exists() else "immutable=1"
    return sqlite3.connect(f"{path.as_uri()}?{mode}", uri=True)


def quoted(value: object) -> str:
    """Returns a value as source text of a rule."""
    return json.dumps(value, ensure_ascii=False)


def type_of(record: Record) -> str:
    """Returns the type of a record; empty where it is no text."""
    record_type = record.get("type")
    return record_type if isinstance(record_type, str) else ""


def message_of(record: Record) -> Record:
    """Returns the message in a record; empty where it is no object."""
    message = record.get("message")
    return message if isinstance(message, dict) else {}
