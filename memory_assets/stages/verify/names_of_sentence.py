"""Finds what a sentence of a memory names that can be looked up in a repository.

A name has a known shape, in prose too, or is written as code; an ordinary word never is one. Most
shapes are those by which entities are recognised. What the sentence itself says is removed, renamed
or replaced is not looked up.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

from memory_assets.english.removals import is_removed
from memory_assets.schema.records import EntityKind
from memory_assets.stages.embed.entities import mentions_in
from memory_assets.stages.embed.names import Name, Span, code_spans, inside
from memory_assets.stages.verify.flags import flags_in, program_start
from memory_assets.stages.verify.named import (
    Named,
    NamedKind,
    is_possible,
    is_task,
    tasks_in,
)
from memory_assets.stages.verify.stated_values import dependencies_in, settings_in
from memory_assets.text.file_names import EXTENSIONS

_KINDS: dict[EntityKind, NamedKind] = {
    "variable": "environment variable",
    "branch": "branch",
    "adr": "decision record",
}
_ENGLISH = ("make target", "just recipe")
"""Tasks whose commands are English outside of code: "make sure", "just a moment"."""

_PATH = re.compile(r"(?<![\w/.@:~$<>{}*#&=-])((?:\.{1,2}/)*(?:[\w.+-]+/)+[\w.+-]*)(?![\w/*<{(@#])")
_FILE = re.compile(r"(?<![\w/.-])(\.[a-z]+(?:-[a-z]+)+|(?!Pro|Log)[A-Z][a-z]+file)\b(?![\w/-])")
_TWO_FILES = re.compile(
    rf"(?<![\w/.-])([\w-]+\.(?:{EXTENSIONS}))/([\w-]+\.(?:{EXTENSIONS}))(?![\w/])"
)
_TASK = re.compile(
    r"(?<![\w/:.@-])((?:build|check|dev|fmt|lint|release|run|start|test):[a-z][\w:-]*)"
)
"""A task of a kind: "test:unit"."""

_CODE_FOLDERS = frozenset({"src", "cmd", "internal", "pkg", "lib", "scripts", "hooks"})
"""Folders with which no pair of words begins, such as "docs/tests"."""

_FOLDERS = frozenset({"docs", "tests", "tools", "plugins", "assets", "config", "examples", "ops"})
"""Folders that follow a preposition."""

_IN_FOLDER = re.compile(r"\b(?:[Ii]n|[Uu]nder|to|into|from)\s+`?$")
_IS_FOLDER = re.compile(r"\b(?:folder|package)\s+`?$")
_FOLDER_BEHIND = re.compile(r"`?\s+(?:folder|directory|package)\b")
_INSTALL = re.compile(r"\b(?:install|add)\s+$")
_BRANCH = re.compile(
    r"\bbranch\s+`?((?<=`)[\w./-]+|[\w.]+[/-][\w./-]*\w)(?![\w/])|`([\w./-]+)`\s+branch\b"
)
_CALL = re.compile(r"(?<![\w./$-])([A-Za-z_]\w+(?:(?:\.|::)\w+)*)\(\)")
_RUN = re.compile(r"(?i)\b(?:run|call|execut)\w*\s+`$")
_WORDS = re.compile(r"([a-z][\w.-]*)\s+([a-z][a-z0-9:-]*)(?![\w./=])")

Placed = tuple[Span, Named]
"""A name, and where it stands."""


def names_in_sentence(text: str, *, in_code: bool = False) -> Iterator[Named]:
    """Yields each name that the sentence does not itself say is gone, once; on demand only those
    between backticks.
    """
    placed = read_names(text)
    if in_code:
        code = code_spans(text)
        placed = [name for name in placed if inside(name[0][0], code)]
    removed = {named for span, named in placed if is_removed(text, *span)}
    for named in dict.fromkeys(named for _, named in placed):
        if named not in removed or named.kind == "commit":
            yield named


@lru_cache(maxsize=4_096)
def read_names(text: str) -> tuple[Placed, ...]:
    """Returns all names of the sentence with their places, in order."""
    mentions = mentions_in(text)
    code = code_spans(text)
    names = chain(
        _tasks(text, code),
        filter(None, map(_mentioned, mentions)),
        _commands(text, code, mentions),
        _other_paths(text, code, mentions),
        flags_in(text, code, mentions),
        _branches(text),
        ((match.span(1), Named("symbol", match[1])) for match in _CALL.finditer(text)),
        dependencies_in(text),
        settings_in(text),
    )
    return tuple(sorted(names, key=lambda placed: placed[0]))


def _tasks(text: str, code: tuple[Span, ...]) -> Iterator[Placed]:
    for span in code:
        yield from ((span, named) for named in tasks_in(text[slice(*span)]))
    for match in _TASK.finditer(text):
        kind = "mise task" if "mise" in text else "package script"
        yield match.span(1), Named(kind, match[1])
    starts = (0, *(end for _, end in code))
    ends = (*(start for start, _ in code), len(text))
    for span in zip(starts, ends, strict=True):
        tasks = tasks_in(text[slice(*span)])
        yield from ((span, named) for named in tasks if named.kind not in _ENGLISH)


def _mentioned(mention: Name) -> Placed | None:
    """Returns the entity as a name, if it is of a kind that can be looked up."""
    span = (mention.start, mention.end)
    if mention.kind in ("file", "folder"):
        path = mention.said.removeprefix("./")
        return (span, Named("path", path)) if is_possible(path) else None
    if mention.kind in _KINDS:
        return span, Named(_KINDS[mention.kind], mention.name)
    is_word = mention.said.isupper() or "-" in mention.said
    if mention.kind == "identifier" and not is_word:
        return span, Named("symbol", mention.name)
    if mention.kind == "commit":
        return span, Named("commit", mention.said)
    is_request = mention.said[0] in "#PpMm" and mention.name.startswith("#")
    if mention.kind == "ticket" and is_request:
        return span, Named("pull request", mention.name)
    return None


def _commands(text: str, code: tuple[Span, ...], mentions: tuple[Name, ...]) -> Iterator[Placed]:
    """Yields commands that run no task; of an unlisted program with its first word."""
    listed = {mention.start: mention for mention in mentions if mention.kind == "command"}
    for start, mention in listed.items():
        words = _WORDS.match(text, start)
        name = mention.name if " " in mention.name or not words else words[0]
        if not is_task(text[start:]):
            yield (start, mention.end), Named("command", name)
    for start, end in code:
        begin = program_start(text, start, end)
        words = _WORDS.match(text, begin, end)
        if words and begin not in listed and _is_command(text, start, begin, end, words):
            yield words.span(), Named("command", words[0])


def _is_command(text: str, start: int, begin: int, end: int, words: re.Match[str]) -> bool:
    """Returns whether the words of the code are a command, because something runs them."""
    is_program = "-" in words[1] or _RUN.search(text, 0, start)
    is_started = begin > start or (words.end() == end and is_program is not None)
    return is_started and not is_task(words[0])


def _other_paths(text: str, code: tuple[Span, ...], mentions: tuple[Name, ...]) -> Iterator[Placed]:
    """Yields paths that are no entities, because only their surroundings show that they are."""
    taken = tuple((mention.start, mention.end) for mention in mentions if mention.kind != "command")
    for pair in _TWO_FILES.finditer(text):
        yield from ((pair.span(part), Named("path", pair[part])) for part in (1, 2))
    for match in chain(_PATH.finditer(text), _FILE.finditer(text)):
        span = match.span(1)
        path = match[1].rstrip(".")
        is_entity = any(start < span[1] and span[0] < end for start, end in taken)
        if (
            path.strip("./")
            and not is_entity
            and is_possible(path)
            and _is_path(text, path, span, code)
        ):
            yield span, Named("path", path.removeprefix("./"))


def _is_path(text: str, path: str, span: Span, code: tuple[Span, ...]) -> bool:
    parts = path.strip("/").split("/")
    if _is_address(text, path, parts, span[0]):
        return False
    if len(parts) == 1 or path.startswith("../") or path.endswith("/"):
        return True
    if len(parts) > 2 and not all(map(str.isalpha, parts)):
        return True
    if inside(span[0], code) and (len(parts) > 2 or "." in parts[-1]):
        return True
    is_inside = parts[0] in _FOLDERS and _IN_FOLDER.search(text, 0, span[0])
    is_folder = _IS_FOLDER.search(text, 0, span[0]) or _FOLDER_BEHIND.match(text, span[1])
    return parts[0] in _CODE_FOLDERS or bool(is_inside or is_folder)


def _is_address(text: str, path: str, parts: list[str], start: int) -> bool:
    """Returns whether the words are a host, a reference of git, a date or a package."""
    is_host = "." in parts[0].strip(".") and len(parts) > 1
    is_package = _INSTALL.search(text, 0, start) and not path.startswith(".")
    is_reference = parts[0] in ("refs", "origin")
    return is_host or is_reference or bool(is_package) or any(map(str.isdigit, parts))


def _branches(text: str) -> Iterator[Placed]:
    for match in _BRANCH.finditer(text):
        yield match.span(), Named("branch", match[1] or match[2])
