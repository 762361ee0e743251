"""Recognises the names that `names.toml` lists: services, tools, packages, and the programs of
commands.

`Name` is the record of a name in a text, which all recognisers return.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from memory_assets.english.aliases import names_of
from memory_assets.schema.records import EntityKind
from memory_assets.text.patterns import data_beside

_CODE = re.compile(r"`([^`\n]{1,200})`")

KINDS: tuple[EntityKind, ...] = ("service", "tool", "package")

_SUBCOMMAND = re.compile(r"[a-z][a-z0-9:-]*")
_PROGRAM = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")
_FLAG = re.compile(r"--[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_BEGINS = re.compile(r"(?:^|[.!?:;]\s+|\n\s*|[“\"(]\s*|[-*•]\s+)$")
_BEFORE_COMMAND = re.compile(r"^(?:\$\s+|sudo\s+|[A-Z_]+=\S+\s+)+")


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a text."""

    kind: EntityKind
    name: str
    """Its usual spelling."""
    said: str
    """Its spelling in the text."""
    start: int
    end: int

    @property
    def key(self) -> str:
        """The kind and the name as one key."""
        return f"{self.kind}/{self.name}"

    @classmethod
    def of(cls, kind: EntityKind, name: str, match: re.Match[str], group: int | str = 0) -> "Name":
        """Returns the match, or one of its groups, as a name."""
        return cls(kind, name, match[group], match.start(group), match.end(group))


Span = tuple[int, int]


@lru_cache(maxsize=1_024)
def code_spans(text: str) -> tuple[Span, ...]:
    """Returns the spans between backticks."""
    return tuple((match.start(1), match.end(1)) for match in _CODE.finditer(text))


def inside(position: int, spans: tuple[Span, ...]) -> bool:
    """Returns whether the position lies in one of the spans."""
    return any(start <= position < end for start, end in spans)


def find_known(text: str) -> Iterator[Name]:
    """Yields services, tools and packages.

    A name that is also an English word needs its exact spelling, not at the start of a sentence.
    """
    names = known_names()
    exact = _exact_names()
    for match in _known_pattern().finditer(text):
        word = match[0].lower()
        is_spelled = match[0] == exact.get(word, match[0])
        begins = word in exact and _BEGINS.search(text, 0, match.start())
        if is_spelled and not begins:
            kind, name = names[word]
            yield Name.of(kind, name, match)


def find_commands(text: str, code: tuple[Span, ...]) -> Iterator[Name]:
    """Yields programs with their subcommands; their flags are separate names."""
    for start, end in code:
        prompt = _BEFORE_COMMAND.match(text[start:end])
        begin = start + (prompt.end() if prompt else 0)
        command = _command(text[begin:end])
        if command:
            name = " ".join(command.split())
            yield Name("command", name, command, begin, begin + len(command))
    for match in _prose_commands().finditer(text):
        yield Name.of("command", " ".join(match[0].split()), match)


def _command(words: str) -> str | None:
    """Returns the program that begins the words, with its subcommand; None if there is none."""
    program, *arguments = words.split() or [""]
    if not _PROGRAM.fullmatch(program):
        return None
    programs = listed_programs()
    is_excluded = program in excluded("programs")
    if program not in programs:
        has_flags = any(map(_FLAG.fullmatch, arguments))
        return program if has_flags and not is_excluded else None
    if programs[program] and arguments and _SUBCOMMAND.fullmatch(arguments[0]):
        subcommand = arguments[0]
        return words[: words.index(subcommand, len(program)) + len(subcommand)]
    is_other = is_excluded or program in known_names()
    return program if arguments or not is_other else None


@cache
def known_names() -> dict[str, tuple[EntityKind, str]]:
    """Returns kind and usual spelling of each known name and its aliases, by lower case."""
    names: dict[str, tuple[EntityKind, str]] = {}
    for kind in KINDS:
        for spelling in (*_table()[kind]["any"], *_table()[kind]["exact"]):
            names.setdefault(spelling.lower(), (kind, spelling))
    for name in list(names):
        for alias in names_of(name):
            if len(alias) > 2 and alias not in excluded("aliases"):
                names.setdefault(alias, names[name])
    return names


@cache
def excluded(kind: str) -> frozenset[str]:
    """Returns the words that look like an entity of the kind but are not."""
    return frozenset(_table()["no"][kind])


@cache
def _exact_names() -> dict[str, str]:
    """Returns the names that are also English words: lower case → spelling."""
    return {spelling.lower(): spelling for kind in KINDS for spelling in _table()[kind]["exact"]}


@cache
def _known_pattern() -> re.Pattern[str]:
    names = _any_of(known_names())
    return re.compile(rf"(?<![\w./@$#~-]){names}(?![\w/+#@(-]|\.\w)", re.IGNORECASE)


def _any_of(words: Iterable[str]) -> str:
    """Returns a pattern of the words, the longest first; each common beginning is tried once."""
    endings: dict[str, list[str]] = {}
    for word in words:
        endings.setdefault(word[:1], []).append(word[1:])
    is_whole = endings.pop("", None)
    branches = [re.escape(letter) + _any_of(rest) for letter, rest in endings.items()]
    pattern = f"(?:{'|'.join(branches)})" if branches else ""
    return f"{pattern}?" if is_whole and branches else pattern


@cache
def listed_programs() -> dict[str, bool]:
    """Returns the programs, and whether a subcommand belongs to the name."""
    command = _table()["command"]
    return dict.fromkeys(command["alone"], False) | dict.fromkeys(command["with"], True)


@cache
def _prose_commands() -> re.Pattern[str]:
    """Returns the pattern of commands that are also recognised outside of backticks."""
    prose = _table()["prose"].items()
    commands = (
        rf"{program}\s+(?:{'|'.join(map(re.escape, subcommands))})"
        for program, subcommands in prose
    )
    return re.compile(rf"(?<![\w./-])(?:{'|'.join(commands)})\b(?![\w/-])")


@cache
def _table() -> dict[str, Any]:
    return data_beside(__file__)
