"""Takes command lines apart: steps, the program that each runs, and what it does with it.

Takes what an agent typed into a shell; gives steps in order. A step is known by its key: the program and the plain words
behind it, without flags, paths and values, such as `git describe` or `docker compose restart`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

LONGEST_KEY = 4
"""Words of a key; what follows is what the command is about."""

_TOKEN = re.compile(r"""(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'";|&\\])+|&&|\|\||[;|&\n]""")
_JOINS = frozenset(("&&", "||", ";", "|", "&", "\n"))
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_PLAIN = re.compile(r"[a-z][a-z_.:-]*$")
_REDIRECTION = re.compile(r"\d?[<>]")
_WRAPPERS = frozenset(("sudo", "command", "time", "env", "exec", "nohup", "builtin"))
_RUNNERS = re.compile(r"(?:\S*/)?(?:python|pip|node)[\d.]+$")
_LOOKING = frozenset(
    """ls cat cd pwd echo head tail sed awk grep egrep rg ag find fd wc sort uniq tree which type file stat diff less
    more test [
    true false sleep date printf xargs jq read tr cut tee ps set export source . mkdir touch tput clear history
    basename dirname
    realpath readlink du df nl column comm cmp kill wait for do done if then fi while sed mktemp rm cp mv chmod
    nl""".split()
)
_LOOKING_AT = re.compile(
    r"git (?:status|diff|log|show|add|commit|push|pull|branch|checkout|switch|fetch|stash|rev-parse|rev-list|rebase"
    r"|merge|blame"
    r"|restore|reset|remote|worktree|config|ls-files|cherry-pick|grep|merge-base|cat-file|for-each-ref|ls-remote|clone"
    r"|apply|mv|rm)\b"
    r"|gh (?:pr|run|api|auth|issue|repo|search)\b|docker (?:ps|logs|inspect|images)\b|docker compose (?:ps|logs)\b"
    r"|systemctl (?:status|list-units|show)\b|journalctl\b"
)
_PROVERS = frozenset(
    """pytest jest vitest tsc eslint prettier ruff mypy pyright gofmt gofumpt goimports golangci-lint shellcheck
    rustfmt black
    python node ruby perl deno sh bash zsh""".split()
)
_BUILDERS = frozenset(
    "go cargo mix make mise npm pnpm yarn bun gradlew gradle mvn just task dotnet swift uv poetry rake bundle npx tsx".split()
)
_PROVES = frozenset(
    """test tests build vet fmt format lint check typecheck clippy compile dev start pytest run doc list generate mod
    tidy install
    add sync version env get tool""".split()
)
_LOOKUP = re.compile(r"(?:^|\s)(?:--help|-h|help)(?=\s|$)")


@dataclass(frozen=True)
class Step:
    """One command of a command line."""

    words: tuple[str, ...]
    """Without assignments before it and wrappers such as sudo."""
    assignments: tuple[str, ...] = ()

    @property
    def program(self) -> str:
        """What is run, without folder and version: `python3 -m pip` runs pip, `pip3` as well."""
        name = self.words[0]
        if _RUNNERS.match(name) or "/" in name:
            name = name.rsplit("/", 1)[-1]
        bare = re.sub(r"(?<=[a-z])[\d.]+$", "", name)
        return self.words[2] if bare == "python" and self.words[1:2] == ("-m",) and len(self.words) > 2 else bare

    @property
    def key(self) -> str:
        """The program and the plain words behind it."""
        found = [self.words[0]]
        for word in self.words[1:LONGEST_KEY]:
            if not _PLAIN.match(word):
                break
            found.append(word)
        return " ".join(found)

    @property
    def text(self) -> str:
        """The step as it would be typed."""
        return " ".join((*self.assignments, *self.words))

    @property
    def is_looking(self) -> bool:
        """Whether it only looks, moves about or records work, as every session does."""
        return self.words[0] in _LOOKING or bool(_LOOKING_AT.match(self.key)) or self.is_lookup

    @property
    def is_everyday(self) -> bool:
        """Whether it says nothing about a task: it looks, or it builds and tests as after every change."""
        program = self.program
        return self.is_looking or program in _PROVERS or (program in _BUILDERS and not self._task)

    @property
    def _task(self) -> str:
        """What a builder is asked to do that is neither building nor testing."""
        asked = [word.rsplit("/", 1)[-1] for word in self.words[1:LONGEST_KEY] if not word.startswith("-")]
        known = _PROVES | _PROVERS
        return (
            next((word for word in asked if word.split(":")[0] not in known and not word.startswith(".")), "") if asked else ""
        )

    @property
    def is_lookup(self) -> bool:
        """Whether it asks how something is used."""
        return self.words[0] in ("man", "tldr", "apropos", "info") or bool(_LOOKUP.search(" ".join(self.words[1:4])))


@lru_cache(maxsize=16_384)
def steps_of(command: str) -> tuple[Step, ...]:
    """Returns the steps of a command line in order; what stands in a here-document is no step."""
    steps: list[list[str]] = [[]]
    for token in _TOKEN.findall(command.partition("<<")[0]):
        if token in _JOINS:
            steps.append([])
        else:
            steps[-1].append(token)
    return tuple(step for words in steps if (step := _step(words)))


def words_of(command: str) -> tuple[str, ...]:
    """Returns the words of all steps, assignments included."""
    return tuple(word for step in steps_of(command) for word in (*step.assignments, *step.words))


def doing(commands: Iterable[str]) -> tuple[Step, ...]:
    """Returns the steps of the commands that do something rather than look."""
    return tuple(step for command in commands for step in steps_of(command) if not step.is_looking)


def _step(words: list[str]) -> Step | None:
    rest = [word for word in words if not _REDIRECTION.match(word)]
    assignments = []
    while rest and (_ASSIGNMENT.match(rest[0]) or rest[0] in _WRAPPERS):
        first = rest.pop(0)
        if first not in _WRAPPERS:
            assignments.append(first)
    return Step(tuple(rest), tuple(assignments)) if rest else None
