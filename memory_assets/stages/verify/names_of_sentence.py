"""Finds what a sentence of a memory names that can be looked up in a repository.

A name has a known shape, in prose too, or is written as code; an ordinary word never is one. Most
shapes are those by which entities are recognised. What the sentence itself says is removed, renamed
or replaced is not looked up.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain, pairwise

from memory_assets.english.removals import is_forbidden, is_removed
from memory_assets.schema.records import EntityKind
from memory_assets.schema.vocabulary import NamedKind
from memory_assets.stages.embed.entities import mentions_in
from memory_assets.stages.embed.names import Name, Span, code_spans, inside
from memory_assets.stages.verify.flags import flags_in, program_start
from memory_assets.stages.verify.named import Named, is_possible, is_task, tasks_in
from memory_assets.stages.verify.stated_values import dependencies_in, settings_in
from memory_assets.text.file_names import EXTENSIONS

_KINDS: dict[EntityKind, NamedKind] = {
    "file": "path",
    "folder": "path",
    "variable": "environment variable",
    "branch": "branch",
    "adr": "decision record",
    "identifier": "symbol",
    "commit": "commit",
    "ticket": "pull request",
}
_AS_WRITTEN = ("path", "commit")
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
_FOLDER_BEHIND = re.compile(r"`?\s+(?:folder|directory|package)\b")
_INSTALL = re.compile(r"\b(?:install|add)\s+$")
_BRANCH = re.compile(
    r"\bbranch\s+`?((?<=`)[\w./-]+|[\w.]+[/-][\w./-]*\w)(?![\w/])|`([\w./-]+)`\s+branch\b"
)
_CALL = re.compile(r"(?<![\w./$-])([A-Za-z_]\w+(?:(?:\.|::)\w+)*)\(\)")
_RUN = re.compile(r"(?i)\b(?:run|call|execut)\w*\s+`$")
_WORDS = re.compile(r"([a-z][\w.-]*)\s+([a-z][a-z0-9:-]*)(?![\w./=])")

_FORBIDDEN = frozenset({"symbol", "flag", "command", "setting", "dependency"})
"""Kinds that a rule forbids so that they are nowhere."""

LONGEST_SENTENCE = 2_000
"""Characters that are read; a longer text is data."""

Placed = tuple[Span, Named]
"""A name, and where it stands."""


def names_in_sentence(text: str, *, in_code: bool = False) -> Iterator[Named]:
    """Yields each name that the sentence does not itself say is gone, or forbids, once; on demand
    only those between backticks.
    """
    text = text[:LONGEST_SENTENCE]
    code = code_spans(text) if in_code else ((0, len(text)),)
    placed = [name for name in read_names(text) if inside(name[0][0], code)]
    removed = {named for span, named in placed if _is_ended(text, span, named)}
    for named in dict.fromkeys(named for _, named in placed):
        if named not in removed or named.kind == "commit":
            yield named


def _is_ended(text: str, span: Span, named: Named) -> bool:
    """Returns whether the text says that what it names here is gone, or is not to be used."""
    is_unwanted = named.kind in _FORBIDDEN and is_forbidden(text, span[0])
    return is_unwanted or is_removed(text, *span)


@lru_cache(maxsize=4_096)
def read_names(text: str) -> tuple[Placed, ...]:
    """Returns all names of the sentence with their places, in order."""
    entities = filter(None, map(_named_entity, mentions_in(text)))
    readers = (_tasks, _commands, _other_paths, flags_in, _matches, dependencies_in, settings_in)
    others = (name for reader in readers for name in reader(text))
    return tuple(sorted(chain(entities, others), key=lambda placed: placed[0]))


def _named_entity(mention: Name) -> Placed | None:
    """Returns the entity as a name, if it is of a kind that can be looked up."""
    kind = _KINDS.get(mention.kind)
    is_word = mention.said.isupper() or "-" in mention.said
    is_issue = mention.said[0] not in "#PpMm" or not mention.name.startswith("#")
    is_other = {"path": not is_possible(mention.said), "symbol": is_word, "pull request": is_issue}
    if kind is None or is_other.get(kind):
        return None
    text = mention.said.removeprefix("./") if kind in _AS_WRITTEN else mention.name
    return (mention.start, mention.end), Named(kind, text)


def _tasks(text: str) -> Iterator[Placed]:
    code = code_spans(text)
    edges = (0, *chain.from_iterable(code), len(text))
    for span in pairwise(edges):
        tasks = ((span, named) for named in tasks_in(text[slice(*span)]))
        yield from (task for task in tasks if span in code or task[1].kind not in _ENGLISH)
    for match in _TASK.finditer(text):
        kind = "mise task" if "mise" in text else "package script"
        yield match.span(1), Named(kind, match[1])


def _commands(text: str) -> Iterator[Placed]:
    """Yields commands that run no task; of an unlisted program with its first word."""
    names = {each.start: each.name for each in mentions_in(text) if each.kind == "command"}
    for start, end in code_spans(text):
        begin = program_start(text, start, end)
        words = _WORDS.match(text, begin, end)
        if words and (begin > start or _is_run(text, words, start, end)):
            names.setdefault(begin, words[0])
    for start, name in names.items():
        words = _WORDS.match(text, start)
        if not is_task(text[start:]):
            yield (start, start + 1), Named("command", words[0] if words else name)


def _is_run(text: str, words: re.Match[str], start: int, end: int) -> bool:
    """Returns whether the code has only these two words, and something runs them."""
    return words.end() == end and bool("-" in words[1] or _RUN.search(text, 0, start))


def _other_paths(text: str) -> Iterator[Placed]:
    """Yields paths that are no entities, because only their surroundings show that they are."""
    mentions = (each for each in mentions_in(text) if each.kind != "command")
    taken = [range(each.start, each.end) for each in mentions]
    for pair in _TWO_FILES.finditer(text):
        yield from ((pair.span(part), Named("path", pair[part])) for part in (1, 2))
    for match in chain(_PATH.finditer(text), _FILE.finditer(text)):
        path = match[1].rstrip(".").removeprefix("./")
        is_entity = any(
            match.start(1) in each or each.start in range(*match.span(1)) for each in taken
        )
        if path.strip("./") and not is_entity and _is_path(match, path):
            yield match.span(1), Named("path", path)


def _is_path(match: re.Match[str], path: str) -> bool:
    """Returns whether the words are a path, and no address, reference, date or pair of words."""
    parts = path.strip("/").split("/")
    if not is_possible(path) or _is_address(match, path, parts):
        return False
    has_mark = len(parts) == 1 or path.startswith("../") or path.endswith("/")
    is_long = len(parts) > 2 and not all(map(str.isalpha, parts))
    return has_mark or is_long or parts[0] in _CODE_FOLDERS or _is_in_folder(match, parts)


def _is_in_folder(match: re.Match[str], parts: list[str]) -> bool:
    """Returns whether what stands around the words says that they are a path."""
    text = match.string
    if inside(match.start(1), code_spans(text)) and (len(parts) > 2 or "." in parts[-1]):
        return True
    is_inside = parts[0] in _FOLDERS and _IN_FOLDER.search(text, 0, match.start(1))
    return bool(is_inside or _FOLDER_BEHIND.match(text, match.end(1)))


def _is_address(match: re.Match[str], path: str, parts: list[str]) -> bool:
    is_host = "." in parts[0].strip(".") and len(parts) > 1
    is_installed = _INSTALL.search(match.string, 0, match.start(1))
    is_package = is_installed is not None and match[1] == path
    return is_host or is_package or parts[0] in ("refs", "origin") or any(map(str.isdigit, parts))


def _matches(text: str) -> Iterator[Placed]:
    for match in _BRANCH.finditer(text):
        yield match.span(), Named("branch", match[1] or match[2])
    for match in _CALL.finditer(text):
        yield match.span(1), Named("symbol", match[1])
