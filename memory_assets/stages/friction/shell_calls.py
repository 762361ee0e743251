"""Lists the programs that a command line runs, as a shell would run them.

Takes what an agent gave its shell; returns calls in order. What is quoted, commented out, or in a
here-document that no shell reads is no call. What a shell, a launcher such as `uv run`, a loop or a
substitution runs is one, beside the call that runs it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import dropwhile, pairwise, permutations, takewhile
from pathlib import PurePosixPath

from memory_assets.stages.friction.commands import (
    ASSIGNMENT,
    INTERPRETERS,
    WRAPPERS,
    CommandStep,
)
from memory_assets.text.words import word_set

_HERE_DOCUMENT = re.compile(
    r"(?:(?:^|(?<=[;&| ]))(?P<reader>(?:(?:ba|z|da)?sh|python[\d.]*)(?: -\w*)* *))?"
    r"(?<!<)<<(?!<)-?[ ]*\\?(?P<quote>['\"]?)(?P<end>[\w-]+)(?P=quote)"
    r"(?P<line>[^\n]*)\n(?P<body>[\s\S]*?)(?:^[ \t]*(?P=end)[ \t]*$|\Z)",
    re.MULTILINE,
)
_PYTHON_WRITES = re.compile(
    r"""(?:\bopen\((?=[^)]*,\s*["'][wa])|\bPath\((?=[^)]*\)\.write)|\.(?:write|to|save)_?\w*\()"""
    r"""(["'][^"'\n]+["'])"""
)
_TOKEN = re.compile(
    r"""(?P<comment>(?<![^\s;|&(])\#[^\n]*)"""
    r"""|(?P<redirection>\d?>&[\d-]?|&?>>?\|?|[12]>>?|<+)"""
    r"""|(?P<separator>&&|\|\||[;|&\n(){}](?=\s|;|$|[^,\w])|[;|&\n()])"""
    r"""|(?P<word>(?:\$'(?:\\[\s\S]|[^'\\])*'|'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\$\([^()]*\)"""
    r"""|\\[\s\S]|[^\s;|&()<>'"\\])+"""
    r"""|['"])"""
)
_QUOTED = re.compile(r"""'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|\\\n|\\([\s\S])""")
_LITERAL = re.compile(r"""("(?:\\[\s\S]|[^"\\])*")|\$'(?:\\[\s\S]|[^'\\])*'|'[^']*'""")
"""What stands between single quotes, which runs nothing; group 1 is what double quotes hold."""

_SUBSTITUTION = re.compile(r"\$\(([^()]*)\)|`([^`]*)`")
_KEYWORDS = word_set("do then else elif if while until ! {")
_LISTS = word_set("for case select function")
_WRAPPERS = WRAPPERS | word_set("doas nice timeout xargs stdbuf watch")
VALUED = word_set("""-u -g -n -I -C -c -p --with --python --group --extra --prefix --cwd --dir
    --context --namespace --filter""")
"""Options whose value is the next word."""

_LAUNCHERS = word_set("uv poetry pdm hatch pipenv bundle mise npm pnpm yarn")
_DIRECT_LAUNCHERS = word_set("npx bunx uvx pnpm yarn")
_RUNS = word_set("run exec dlx")
_SCRIPT_RUNNERS = word_set("npm pnpm yarn bun mise")
"""Launchers whose `run` names a script of the package, which is no program."""

_LETTERS = re.compile(r"-[A-Za-z]{1,3}$")
_SCRIPT = re.compile(r"[\w./-]+\.(?:py|js|mjs|ts|rb|pl|sh)$")
_IN_PLACE = re.compile(r"-[a-z]*i|--in-place")
_DURATION = re.compile(r"\d+[smh]?$")
_SHELLS = word_set("bash sh zsh dash eval")
_EDITORS = word_set("tee rm mv cp truncate touch")
"""Programs that write the files that they are given."""


@dataclass(frozen=True)
class ShellCall(CommandStep):
    """One program that a command line runs."""

    launcher: str = ""
    """The program that runs it, such as `uv`."""
    folder: str = ""
    """Where the command line changed to before it; empty for where it began."""
    output: tuple[str, ...] = ()
    """Files that its output is redirected to."""
    is_conditional: bool = False
    """Whether it runs only if the call before it worked."""

    def has(self, need: str) -> bool:
        """Returns whether it has the option, alone or among several letters, or the value."""
        return need in self._spellings

    @property
    def _spellings(self) -> frozenset[str]:
        words = (*self.arguments, *self.assignments)
        parts = (part for word in words for part in word.partition("="))
        clusters = [word for word in words if _LETTERS.match(word)]
        letters = (f"-{letter}" for word in clusters for letter in word)
        orders = ("".join(order) for word in clusters for order in permutations(word))
        pairs = (f"{option}={value}" for option, value in pairwise(words))
        return frozenset((*words, *parts, *letters, *orders, *pairs, *(word[:1] for word in words)))

    @property
    def written(self) -> tuple[str, ...]:
        """The files that it writes, as far as its words say."""
        paths = [word for word in self.arguments if word and not word.startswith("-")]
        if self.program == "git":
            paths = paths[1:] if paths[:1] in (["rm"], ["mv"]) else []
        elif self.program in ("sed", "perl"):
            first = 0 if self.has("-e") else 1
            paths = paths[first:] if any(map(_IN_PLACE.match, self.arguments)) else []
        elif self.program == "cp":
            paths = paths[-1:]
        elif self.program not in _EDITORS:
            paths = []
        return (*self.output, *paths)


@lru_cache(maxsize=16_384)
def read_shell_calls(command: str) -> tuple[ShellCall, ...]:
    """Returns the calls of a command line in order."""
    joined = command.replace("\\\n", " ")
    return tuple(_calls(_HERE_DOCUMENT.sub(_without_body, joined), ""))


def _without_body(found: re.Match[str]) -> str:
    """Returns the rest of the line, and of the body what a shell runs or Python code writes."""
    reader = found["reader"] or ""
    if reader.startswith("python"):
        body = "".join(f"\n> {path}" for path in _PYTHON_WRITES.findall(found["body"]))
    else:
        body = f"\n{found['body']}" if reader else ""
    return f"{reader}{found['line']}{body}\n"


def _calls(command: str, folder: str) -> Iterator[ShellCall]:
    tokens: list[tuple[str, str]] = []
    variables: dict[str, str] = {}
    is_conditional = False
    for token in _TOKEN.finditer(f"{command}\n"):
        if token.lastgroup != "separator":
            tokens.append((token.lastgroup or "", token.group()))
            continue
        words = _resolved(_words(tokens), variables)
        if words[:2] in (["command", "-v"], ["command", "-V"]):
            words = []
        step = ShellCall((), folder=folder, output=_outputs(tokens), is_conditional=is_conditional)
        yield from _run(words, step)
        if words[:1] == ["cd"] and len(words) > 1:
            folder = str(PurePosixPath(folder, _bare(words[1])))
        tokens = []
        is_conditional = token.group() == "&&"


def _resolved(words: list[str], variables: dict[str, str]) -> list[str]:
    """Returns the words with the value of a variable as their program; notes assignments."""
    if all(map(ASSIGNMENT.match, words)):
        variables |= dict(word.split("=", 1) for word in words)
    program = words[0].strip('${}"') if words[:1] else ""
    return [variables[program], *words[1:]] if program in variables else words


def _words(tokens: Sequence[tuple[str, str]]) -> list[str]:
    """Returns the words that are no target of a redirection."""
    pairs = zip([("", ""), *tokens], tokens, strict=False)
    return [text for before, (kind, text) in pairs if kind == "word" and not _takes_target(*before)]


def _outputs(tokens: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Returns the files that output is redirected to."""
    pairs = pairwise(tokens)
    targets = (text for before, (_, text) in pairs if ">" in before[1] and _takes_target(*before))
    return tuple(map(_bare, targets))


def _takes_target(kind: str, sign: str) -> bool:
    return kind == "redirection" and "&" not in sign[1:]


def _run(typed: Sequence[str], step: ShellCall) -> Iterator[ShellCall]:
    """Yields the call of these words, after what its substitutions run."""
    for word in typed:
        for pair in _SUBSTITUTION.findall(_LITERAL.sub(r"\1", word)):
            yield from _calls("".join(pair), step.folder)
    words = list(dropwhile(_KEYWORDS.__contains__, typed))
    if words[:1] and words[0] not in _LISTS:
        yield from _launch([_bare(word) for word in words], step)
    elif step.output:
        yield replace(step, words=(":",))


def _launch(words: Sequence[str], step: ShellCall) -> Iterator[ShellCall]:
    """Yields the call, and what a wrapper, a shell or a launcher runs."""
    assignments = tuple(takewhile(ASSIGNMENT.match, words))
    rest = list(words[len(assignments) :])
    if not rest:
        return
    call = replace(step, words=tuple(rest), assignments=step.assignments + assignments)
    yield call
    if call.program in _WRAPPERS:
        yield from _launch(_after_options(rest[1:]), replace(call, words=()))
    elif call.program in _SHELLS and (call.has("-c") or call.program == "eval"):
        yield from _calls(rest[-1], step.folder)
    else:
        yield from _launch(_launched(call), replace(step, launcher=call.program))


def _launched(call: ShellCall) -> list[str]:
    """Returns the words of the program that a launcher or an interpreter runs."""
    arguments = _after_options(list(call.arguments))
    if not arguments or is_script_run(call, arguments[0]):
        return []
    if call.program in INTERPRETERS:
        return arguments if _SCRIPT.match(arguments[0]) else []
    if call.program in _LAUNCHERS and arguments[0] in _RUNS:
        return _after_options(arguments[1:])
    return arguments if call.program in _DIRECT_LAUNCHERS else []


def is_script_run(step: CommandStep, word: str) -> bool:
    """Returns whether the word is the `run` in front of a script of the package."""
    return word == "run" and step.program in _SCRIPT_RUNNERS


def _after_options(words: list[str]) -> list[str]:
    """Returns the words after the options, durations and assignments at the beginning."""
    while words and (words[0].startswith("-") or _DURATION.match(words[0])):
        is_valued = words[0] in VALUED
        words = words[2:] if is_valued else words[1:]
    return words


def _bare(word: str) -> str:
    """Returns the word without its quotes."""
    return _QUOTED.sub(lambda found: next(filter(None, found.groups()), ""), word)
