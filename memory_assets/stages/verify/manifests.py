"""Where a project says what it depends on and which programs are its own, and how these look."""

import re

from memory_assets.stages.verify.contents import Trace, in_text
from memory_assets.stages.verify.values import name_pattern, value_pattern

_MANIFESTS = (
    "pyproject.toml", "requirements*.txt", "requirements/*.txt", "constraints*.txt",
    "requirements*.in", "setup.py",
    "setup.cfg", "Pipfile", "*.lock", "package.json", "package-lock.json", "pnpm-lock.yaml",
    "go.mod", "go.sum", "Cargo.toml", "Dockerfile*", "*compose*.y*ml", ".tool-versions",
    "mise.toml",
)  # fmt: skip
"""Names of files, in any folder."""

_PACKAGES = ("pyproject.toml", "setup.py", "setup.cfg", "package.json", "Cargo.toml")
"""Those in which a package says what its programs are."""

_PROGRAM = r"(?:\.(?:sh|bash|py|[cm]?[jt]s|rb|pl))?$"
"""How the path of a program ends."""


def trace_of_package(name: str, version: str = "") -> Trace:
    """Returns how a dependency is seen, or its version: in its line, or in the line of its version
    in a lock file.
    """
    # These separators are the same to an index.
    joined = "[-_.]".join(map(re.escape, re.split(r"[-_.]+", name)))
    package = rf"(?i:(?<![\w@-])(?<!types/){joined}(?![\w-]))"
    if version:
        value = value_pattern(version.lstrip("v^~=<> "), is_version=True)
        package += rf"[^\n]*?(?:\n\s*\"?version\"?[^\n]*?)?{value}"
    pattern = in_text(re.compile(package))
    return Trace(pattern, pattern, globs=_MANIFESTS)


def trace_of_program(name: str) -> Trace:
    """Returns how a program of the project's own is seen, as an entry point of a package."""
    word = re.escape(name)
    python = rf"^\s*[\"']?{word}\s*[\"']?\s*=\s*[\"']?[\w.]+:\w+"
    script = rf"\"{word}\"\s*:\s*\"(?:\./)?[\w./-]*(?:bin/[\w./-]+|\.[cm]?[jt]s)\""
    package = rf"\"name\"\s*:\s*\"(?:@[^/\"]+/)?{word}\"(?=[^\0]*\"bin\")"
    cargo = rf"^name\s*=\s*\"{word}\""
    patterns = (python, script, package, cargo)
    entry = in_text(re.compile("|".join(patterns), re.MULTILINE))
    return Trace(entry, entry, name, _PACKAGES)


def program_path(name: str) -> re.Pattern[str]:
    """Returns the pattern of the path of a program that no manifest names."""
    word = re.escape(name)
    folder = r"(?:s?bin|scripts?|tools?|hack|ops)/(?:[^/]+/)?"
    return re.compile(rf"(?:^|/)cmd/{word}/|(?:^|/){folder}{word}{_PROGRAM}|^{word}{_PROGRAM}")


def trace_of_argument(argument: str) -> Trace:
    """Returns how a flag or a subcommand is seen: as it is written, quoted, or as the parameter
    that a parser makes it of.
    """
    name = argument.lstrip("-")
    dashes = "--?" if name != argument else ""
    word = re.escape(name)
    written = rf"(?<![\w-]){dashes}{word}(?![\w-])|[\"'`]{word}[\"'` ]"
    parameter = name_pattern(name) if "-" in name else rf"(?<!\w){word}\s*:"
    is_there = in_text(re.compile(f"{written}|{parameter}"))
    if name.isidentifier():
        return Trace(is_there, in_text(re.compile(written)), name, is_documented=True, is_word=True)
    # In camel case, the first letter of a part is another.
    literal = max(name.split("-"), key=len)[1:]
    return Trace(is_there, in_text(re.compile(written)), literal, is_documented=True)
