"""Recognises entities in a text: files, commands, flags, packages, services, hosts, people,
decisions, tickets, identifiers.

Takes a text, and returns its names with their kind and usual spelling. Precision comes first: a
name is an entity only if it has a known shape (address, path, number, flag, handle, identifier,
commit) or is listed (`names`). A plain English word never is, even between backticks.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

from memory_assets.schema.tables import version_of
from memory_assets.stages.embed.names import (
    Name,
    Span,
    code_spans,
    excluded,
    find_commands,
    find_known,
    inside,
    known_names,
)
from memory_assets.text.file_names import EXTENSIONS
from memory_assets.text.words import word_set

_URL = re.compile(r"\bhttps?://([\w.-]+)(:\d{2,5})?((?:/[^\s)>\]`'\"“”]*)?)")
_REPOSITORY = re.compile(r"(?<![\w/.-])(?:github|gitlab)\.com[:/]([\w-][\w.-]*/[\w-][\w.-]*)")
_HOSTNAME = re.compile(
    r"(?<![\w@/.-])((?:[a-z0-9][a-z0-9-]+\.)+(?:com|org|net|io|dev|cloud|ai|gov|edu|internal"
    r"|local|eu|de|uk))(:\d{2,5})?(?![\w.-]*\w)"
)
_LOCALHOST = re.compile(r"(?<![\w.-])(?:localhost|127\.0\.0\.1|0\.0\.0\.0):(\d{2,5})\b")
_ADDRESS = re.compile(r"(?<![\w.])(\d{1,3}(?:\.\d{1,3}){3})(?::(\d{2,5}))?(?![\w.]*\d)")
_FORGES = ("github.com", "gitlab.com")
_PLACEHOLDER_HOST = re.compile(r"(?:^|\.)example\.|^(?:foo|bar|host|your|my)[\w-]*\.")
_ADR = re.compile(r"\bADR[-_ ]?(\d{1,5})\b", re.IGNORECASE)
_STANDARD = re.compile(r"\b(RFC|PEP)[- ]?(\d{1,5})\b|\b(CVE-\d{4}-\d{4,7})\b")
_TICKET_URL = re.compile(r"^/([\w.-]+/[\w.-]+)/(?:pull|issues|-/merge_requests)/(\d+)")
_TICKET = re.compile(
    r"(?<![\w&#])(?:(?P<repository>[\w-]+/[\w.-]+)#(?P<there>\d{1,6})|(?i:(?:PR|MR|issue"
    r"|pull request|merge request|bug|ticket"
    r"|fixe|close)s?)\s*#?(?P<told>\d{1,6})|#(?P<bare>\d{2,5}))\b(?![\w%]|\.\d)"
)
_KEY = re.compile(r"(?<![\w-])([A-Z][A-Z0-9]{1,9})-(\d{1,6})\b(?![-\w]|\.\w)")
_FILE = re.compile(
    rf"(?<![\w/.@<>*$}}~-])((?:~"
    rf"|\.{{1,2}})?/?(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.(?:{EXTENSIONS}))\b(?![\w/(*<]|\.\w)"
)
_FILE_IN_C = re.compile(r"(?<![\w/.@<>*$~-])((?:[\w.@+-]+/)+[\w-]+\.[ch])\b(?!\w|/)")
_DOTFILE = re.compile(
    r"(?<![\w/.])(\.(?:git[a-z]+|[a-z]+(?:rc|ignore)|editorconfig|profile|env|mailmap)(?:\.\w+)?)\b"
    r"(?![\w/])"
)
_FOLDER = re.compile(
    r"(?<![\w/.@<>*$}:~-])((?:~|\.{1,2})/[\w.@+-]+(?:/[\w.@+-]+)*/?|/(?:usr|etc|var|home|opt"
    r"|Users|mnt|srv|tmp|Library)(?:/[\w.@+-]+)+/?"
    r"|\.[a-z][\w-]+/(?:[\w.@+-]+/?)*"
    r"|(?:src|cmd|internal|pkg|libs?|docs?|tests?|scripts?|bin|config|apps?|packages|examples?"
    r"|tools?|assets|plugins|templates|components|services|modules|api|web|server|client|deploy)(?:/[\w.@+-]+)+/?|[\w.-]+(?:/[\w.-]+)*/(?=`))(?![\w<*{(])"
)
_FILE_AT_LAST = re.compile(
    r"/(?:config|known_hosts|authorized_keys|id_\w+|hosts|passwd|credentials|Makefile"
    r"|Dockerfile|LICENSE|[\w-]+\.[a-z0-9]{2,5})$"
)
_REFERENCE = re.compile(r"(?<![\w/.-])refs/(?:heads|remotes)/([\w-][\w./-]*\w)(?![\w*/<])")
_BRANCH = re.compile(
    r"(?<![\w/.-])(?:origin/|upstream/)?((?:feat(?:ure)?|(?:bug|hot)?fix|chore|refactor"
    r"|docs|release|perf|test|user)/[\w.-]*[-\d][\w.-]*\w"
    r"|(?<=origin/)[\w][\w./-]*\w)(?![\w*/<])"
)
_COMMIT = re.compile(
    r"(?<![\w./#-])(?=[0-9]*[a-f])(?=[a-f]*[0-9])([0-9a-f]{7,12}|[0-9a-f]{40})(?![\w-]|\.\w)"
)
_FLAG = re.compile(r"(?<![\w-])(--[a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?![\w*-])")
_VARIABLE = re.compile(r"(?<![\w.$-])\$?\{?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b(?![*(]|\.\w)")
_PACKAGE = re.compile(r"(?<![\w/@.])(@[a-z][a-z0-9-]+/[a-z][a-z0-9.-]*[a-z0-9])(?![\w/])")
_INSTALLED = re.compile(
    r"\b(?:pip3? install|uv (?:pip install|add)|p?npm (?:i|install|add)|(?:poetry|yarn|cargo) add"
    r"|go get|(?:brew|gem|apt|apt-get) install)\s+(?:-[\w-]+\s+)*([\w@][\w./@-]*\w)"
)
_HANDLE = re.compile(r"(?<![\w./@`])@([a-zA-Z][a-zA-Z0-9]*(?:-[a-zA-Z0-9]+)*)(?![\w/.(:-])")
_NAME_PART = r"[A-Za-z_][A-Za-z0-9_]"
_DOTTED = re.compile(
    rf"(?<![\w./$@#~-])({_NAME_PART}+(?:(?:\."
    rf"|::){_NAME_PART}*)+)(\([^()`\n]{{0,60}}\))?(?![\w/:*]|\.\w)"
)
_CAMEL = re.compile(
    r"(?<![\w./$@#<~-])((?:[a-z][a-z0-9]*[A-Z]"
    r"|[A-Z]+[a-z0-9]+[A-Z])[A-Za-z0-9_]*)(\([^()`\n]{0,60}\))?(?![\w/-]|\.\w)"
)
_SNAKE = re.compile(
    r"(?<![\w./$@#<~-])(_{0,2}[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+)(\([^()`\n]{0,60}\))?(?![\w/*-]|\.\w)"
)
_CALL = re.compile(r"([a-z][a-z0-9]{2,})\([^()`\n]{0,60}\)")
_KEBAB = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+){1,4}")
_ERROR_CODE = re.compile(r"[A-Z]{1,6}\d{3,5}")
_MISTYPED = re.compile(r"[A-Z]+[a-z]?s?|[A-Za-z]?[a-z]+[A-Z]")
"""Abbreviations in the plural, and words with accidental capitals, which are no identifiers."""
_RECEIVERS = word_set("self this cls ctx req res err cfg opts args kwargs www std")

ENTITIES_VERSION = version_of("mentions")

LOCAL_KINDS = word_set("file folder flag adr ticket branch commit identifier variable")
"""Kinds whose names mean different things in different projects, such as README.md."""

LONGEST_NAME = 120


def find_urls(text: str) -> Iterator[Name]:
    """Yields repositories, tickets and hosts that addresses name."""
    for match in _URL.finditer(text):
        host = match[1].lower().rstrip(".")
        path = match[3] or ""
        ticket = _TICKET_URL.match(path)
        if host not in _FORGES:
            is_name = "." in host and not host.replace(".", "").isdigit()
            if is_name and not _PLACEHOLDER_HOST.search(host):
                yield Name.of("host", f"{host}{match[2] or ''}", match)
        elif ticket:
            yield Name.of("ticket", f"{ticket[1]}#{ticket[2]}", match)
        else:
            yield from _repository(path.strip("/"), match)
    for match in _REPOSITORY.finditer(text):
        yield from _repository(match[1], match)


def _repository(path: str, match: re.Match[str]) -> Iterator[Name]:
    """Yields the repository of the path, if it names one."""
    owner, _, subpath = path.partition("/")
    name = subpath.split("/")[0]
    if owner and name and owner not in ("orgs", "owner", "org", "user", "foo", "acme"):
        repository = f"{owner}/{name.rstrip('.,').removesuffix('.git')}"
        yield Name.of("repository", repository.lower(), match)


def find_hosts(text: str) -> Iterator[Name]:
    """Yields hosts, with their ports."""
    for match in _LOCALHOST.finditer(text):
        yield Name.of("host", f"localhost:{match[1]}", match)
    for match in _ADDRESS.finditer(text):
        is_private = match[1].startswith(("10.", "192.168.", "172."))
        if _is_address(match[1]) and (match[2] or is_private):
            yield Name.of("host", match[0], match)
    for match in _HOSTNAME.finditer(text):
        name = match[1]
        is_other = name in known_names() or name in _FORGES
        if not is_other and not _PLACEHOLDER_HOST.search(name):
            yield Name.of("host", f"{name}{match[2] or ''}", match)


def _is_address(text: str) -> bool:
    parts = text.split(".")
    return all(int(part) < 256 and (part == "0" or part[0] != "0") for part in parts)


def find_numbered(text: str) -> Iterator[Name]:
    """Yields decisions, standards and tickets."""
    for match in _ADR.finditer(text):
        yield Name.of("adr", f"ADR-{int(match[1]):04d}", match)
    for match in _STANDARD.finditer(text):
        yield Name.of("standard", match[3] or f"{match[1]} {match[2]}", match)
    for match in _TICKET.finditer(text):
        name = f"#{int(match['told'] or match['bare'] or 0)}"
        if match["there"]:
            name = f"{match['repository'].lower()}#{match['there']}"
        yield Name.of("ticket", name, match)
    for match in _KEY.finditer(text):
        if match[1] not in excluded("keys"):
            yield Name.of("ticket", match[0], match)


def find_paths(text: str) -> Iterator[Name]:
    """Yields files, branches and folders."""
    for pattern in (_FILE, _FILE_IN_C, _DOTFILE):
        for match in pattern.finditer(text):
            name = match[1].removeprefix("./")
            is_other = name.lower() in known_names() or name.startswith("../..")
            if not is_other and _is_file(name):
                yield Name.of("file", name, match, 1)
    for match in (*_REFERENCE.finditer(text), *_BRANCH.finditer(text)):
        branch = match[1].removeprefix("origin/").rstrip(".,")
        if branch and branch not in ("main", "master", "HEAD", "foo", "bar"):
            yield Name.of("branch", branch, match)
    yield from _find_folders(text)


def _find_folders(text: str) -> Iterator[Name]:
    for match in _FOLDER.finditer(text):
        path = match[1].rstrip(".")
        name = path.removeprefix("./").rstrip("/")
        is_other = name.startswith(("refs", "..")) or len(name) <= 2
        if not is_other and _is_folder(name, path):
            is_file = not path.endswith("/") and _FILE_AT_LAST.search(name)
            kind, name = ("file", name) if is_file else ("folder", f"{name}/")
            yield Name(kind, name, path, match.start(1), match.start(1) + len(path))


def _is_file(name: str) -> bool:
    *above, last = name.split("/")
    stem, _, extension = last.rpartition(".")
    is_two = any(_FILE.fullmatch(part) for part in above)  # "go.mod/package.json"
    is_environment = extension == "env" and stem in ("process", "import.meta", "os")
    is_code = is_environment or stem.isdigit()
    return (len(stem) > 1 or last.startswith(".")) and not is_two and not is_code


def _is_folder(name: str, path: str) -> bool:
    """Returns whether the path is a folder, not a pair of words ("docs/tests") or a placeholder."""
    parts = [part for part in name.strip("~/").split("/") if part]
    if not parts or not re.search(r"[a-z]{2}", name):
        return False
    plain = all(part.isalpha() and part.islower() for part in parts)
    is_path = path.endswith("/") or path.startswith(("~", "/", "."))
    return is_path or not plain or len(parts) > 2


def find_commits(text: str) -> Iterator[Name]:
    """Yields commits, by their first seven digits."""
    return (Name.of("commit", match[1][:7], match) for match in _COMMIT.finditer(text))


def find_flags(text: str) -> Iterator[Name]:
    """Yields flags, then environment variables and constants."""
    yield from (Name.of("flag", match[1], match, 1) for match in _FLAG.finditer(text))
    for match in _VARIABLE.finditer(text):
        yield Name.of("variable", match[1], match, 1)


def find_packages(text: str) -> Iterator[Name]:
    """Yields packages with a scope, or after a command that installs them."""
    for match in _PACKAGE.finditer(text):
        yield Name.of("package", match[1], match, 1)
    for match in _INSTALLED.finditer(text):
        is_scoped = match[1].startswith("@")
        name = match[1] if is_scoped else re.split(r"@(?=\w)|[=<>]", match[1])[0]
        is_other = "/" in name or name.lower() in known_names()
        if not is_other and re.fullmatch(r"[a-z][\w.-]{2,}", name):
            yield Name.of("package", name, match, 1)


def find_people(text: str, code: tuple[Span, ...]) -> Iterator[Name]:
    """Yields people by their handles."""
    for match in _HANDLE.finditer(text):
        handle = match[1].lower()
        is_other = len(handle) < 3 or handle in excluded("handles")
        if not is_other and not inside(match.start(), code):
            yield Name.of("person", handle, match)


def find_identifiers(text: str, code: tuple[Span, ...]) -> Iterator[Name]:
    """Yields names in code: mixed case, underscores, dots, calls, hyphens between backticks."""
    for match in _DOTTED.finditer(text):
        is_code = bool(match[2]) or inside(match.start(), code)
        if _is_dotted_name(match, is_code=is_code):
            yield Name.of("identifier", match[1].replace("::", "."), match)
    for match in chain(_CAMEL.finditer(text), _SNAKE.finditer(text)):
        word = match[1].lower()
        is_excluded = bool({word, word.removesuffix("s")} & excluded("identifiers"))
        if len(word) > 3 and not is_excluded and not _MISTYPED.fullmatch(match[1]):
            yield Name.of("identifier", match[1], match)
    yield from _names_between_backticks(text, code)


def _names_between_backticks(text: str, code: tuple[Span, ...]) -> Iterator[Name]:
    for start, end in code:
        words = text[start:end]
        call = _CALL.fullmatch(words)
        is_name = _is_kebab(words) or _ERROR_CODE.fullmatch(words)
        if call and call[1] not in excluded("identifiers"):
            yield Name("identifier", f"{call[1]}()", words, start, end)
        elif is_name and words not in excluded("identifiers"):
            yield Name("identifier", words, words, start, end)


def _is_dotted_name(match: re.Match[str], *, is_code: bool) -> bool:
    parts = re.split(r"\.|::", match[1])
    has_capitals = any(re.search(r"[A-Z_]", part[1:]) for part in parts)
    has_shape = has_capitals or parts[-1][:1].isupper() or (is_code and len(parts) > 2)
    is_address = parts[-1] in ("example", "com", "org", "net")
    is_long = all(len(part) > 1 for part in parts)
    return has_shape and is_long and not is_address and parts[0] not in _RECEIVERS


def _is_kebab(text: str) -> bool:
    if not _KEBAB.fullmatch(text):
        return False
    parts = text.split("-")
    is_plain = parts[0] in excluded("prefixes") or parts[-1] in excluded("suffixes")
    return all(len(part) > 1 for part in parts) and not is_plain


@lru_cache(maxsize=16_384)
def mentions_in(text: str) -> tuple[Name, ...]:
    """Returns the names in the text, in order; where names overlap, the first recogniser wins."""
    code = code_spans(text)
    by_precedence = chain(
        find_urls(text), find_paths(text), find_numbered(text), find_commands(text, code),
        find_packages(text),
        find_hosts(text), find_flags(text), find_known(text), find_people(text, code),
        find_identifiers(text, code),
        find_commits(text),
    )  # fmt: skip
    names: list[Name] = []
    for name in by_precedence:
        overlaps = any(name.start < first.end and first.start < name.end for first in names)
        if not overlaps and len(name.name) <= LONGEST_NAME:
            names.append(name)
    return tuple(sorted(names, key=lambda name: name.start))


def mentions_of_name(name: str) -> tuple[Name, ...]:
    """Returns the names in a text that is one name, read as if it were between backticks."""
    return mentions_in(f"`{name.strip(' `')}`")
