"""Parses command lines into steps: the program that each runs, and its subcommand.

Takes what an agent typed into a shell; returns steps in order. The key of a step is its program and
the plain words after it, without flags, paths and values: `git describe`, `docker compose restart`.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, groupby, takewhile

from memory_assets.text.words import word_set

LONGEST_KEY = 4
"""Words of a key; the words after them are arguments."""

_TOKEN = re.compile(
    r"""\d?>&\d|&>>?|(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'";|&\\])+|&&|\|\||[;|&\n]"""
)
_SEPARATORS = frozenset(("&&", "||", ";", "|", "&", "\n"))
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
PLAIN = re.compile(r"[a-z][a-z_.:-]*$")
_FILE = re.compile(r"\w\.(?!(?:py|sh|m?[jt]s|rb|exs?|pl|php|lua|r)$)[a-z]{1,5}$")
"""A file that is worked on; a script is part of what is run."""

_REDIRECTION = re.compile(r"\d?&?[<>]")
WRAPPERS = frozenset(("sudo", "command", "time", "env", "exec", "nohup", "builtin"))
_RUNNERS = re.compile(r"(?:\S*/)?(?:python|pip|node)[\d.]+$")
ROUTINE = word_set("""ls cat cd pwd echo head tail sed awk grep egrep rg ag find fd wc sort uniq
    tree which type file stat diff less more test [ true false sleep date printf xargs jq read tr
    cut tee ps set export source . mkdir touch tput clear history basename dirname realpath readlink
    du df nl column comm cmp kill wait for do done if then fi while mktemp rm cp mv""")
_ROUTINE_COMMANDS = re.compile(
    r"git (?!describe|tag|bisect|submodule|lfs|notes)|gh (?:pr|run|api|auth|issue|repo|search)\b"
    r"|docker (?:compose )?(?:ps|logs|inspect|images)\b|systemctl (?:status|list-units|show)\b"
    r"|journalctl\b"
)
INTERPRETERS = word_set("python node ruby perl deno sh bash zsh")
CHECKERS = INTERPRETERS | word_set("""pytest jest vitest tsc eslint prettier ruff mypy pyright
    gofmt gofumpt goimports golangci-lint shellcheck rustfmt black""")
_BUILDERS = word_set("""go cargo mix make mise npm pnpm yarn bun gradlew gradle mvn just task dotnet
    swift uv poetry rake bundle npx tsx""")
_CHECKS = word_set("""test tests build vet fmt format lint check typecheck clippy compile dev start
    pytest run doc list generate mod tidy install add sync version env get tool""")
MANUALS = ("man", "tldr", "apropos", "info")
_HELP = re.compile(r"(?:^|\s)(?:--help|-h|help)(?=\s|$)")


@dataclass(frozen=True)
class CommandStep:
    """One command of a command line."""

    words: tuple[str, ...]
    """Without leading assignments and wrappers such as sudo."""
    assignments: tuple[str, ...] = ()

    @property
    def program(self) -> str:
        """The program, without folder and version: `python3 -m pip` and `pip3` run pip."""
        name = self.words[0]
        if _RUNNERS.match(name) or "/" in name:
            name = name.rsplit("/", 1)[-1]
        bare = re.sub(r"(?<=[a-z])[\d.]+$", "", name)
        if bare == "python" and self.words[1:2] == ("-m",) and len(self.words) > 2:
            return self.words[2]
        return bare

    @property
    def arguments(self) -> tuple[str, ...]:
        """The words after the program, also where another program runs it."""
        is_module = self.words[1:3] == ("-m", self.program)
        return self.words[3:] if is_module else self.words[1:]

    @property
    def key(self) -> str:
        """The program and the plain words after it."""
        words = self.words[1:LONGEST_KEY]
        plain = takewhile(lambda word: PLAIN.match(word) and not _FILE.search(word), words)
        return " ".join([self.words[0], *plain])

    @property
    def text(self) -> str:
        """The step as typed."""
        return " ".join((*self.assignments, *self.words))

    @property
    def is_routine(self) -> bool:
        """Whether it only looks, moves about or records work, as every session does."""
        is_routine = self.words[0] in ROUTINE or self.is_help
        return is_routine or bool(_ROUTINE_COMMANDS.match(self.key))

    @property
    def is_everyday(self) -> bool:
        """Whether it is not specific to a task: routine, or building and testing as after every
        change.
        """
        if self.is_routine or self.program in CHECKERS:
            return True
        words = (word for word in self.words[1:LONGEST_KEY] if not word.startswith("-"))
        names = (word.rsplit("/", 1)[-1] for word in words)
        tasks = {name.split(":")[0] for name in names if name and name[0] != "."}
        return self.program in _BUILDERS and tasks <= _CHECKS | CHECKERS

    @property
    def is_help(self) -> bool:
        """Whether it asks how a program is used."""
        return self.words[0] in MANUALS or bool(_HELP.search(" ".join(self.words[1:4])))


@lru_cache(maxsize=16_384)
def parse_steps(command: str) -> tuple[CommandStep, ...]:
    """Returns the steps of a command line in order, without the content of a here-document."""
    tokens = _TOKEN.findall(command.partition("<<")[0])
    parts = groupby(tokens, _SEPARATORS.__contains__)
    steps = (_step(list(words)) for is_separator, words in parts if not is_separator)
    return tuple(filter(None, steps))


def words_of(command: str) -> tuple[str, ...]:
    """Returns the words of all steps, assignments included."""
    steps = parse_steps(command)
    return tuple(chain.from_iterable(step.assignments + step.words for step in steps))


def _step(typed: list[str]) -> CommandStep | None:
    rest = [word for word in typed if not _REDIRECTION.match(word)]
    opening = list(takewhile(lambda word: ASSIGNMENT.match(word) or word in WRAPPERS, rest))
    assignments = tuple(word for word in opening if word not in WRAPPERS)
    words = rest[len(opening) :]
    return CommandStep(tuple(words), assignments) if words else None
