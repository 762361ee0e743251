"""Compares texts and tool calls with the file, the command or the error that somebody asks about.

A file is named by its path in the project, by the end of that path from a folder on, or by its bare
name where the project has no other file of that name. A command is named by its program and
subcommand. Rules may name less: a folder above the file, the ending of its name, the program alone.
An error is compared by its shape, without paths and numbers.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

from memory_assets.stages.embed.entities import mentions_in
from memory_assets.stages.embed.names import KINDS, code_spans
from memory_assets.stages.friction import failures
from memory_assets.stages.friction.commands import (
    CHECKERS,
    INTERPRETERS,
    PLAIN,
    ROUTINE,
    CommandStep,
    parse_steps,
)
from memory_assets.stages.friction.week import ToolCall
from memory_assets.text.words import word_set

IN_TWO_WORDS = word_set("run compose exec gh glab aws gcloud az")
"""Programs and subcommands whose next word belongs to the name, too."""

FEWEST_WORDS = 3
FEWEST_CHARS = 12
"""Of a part of an error by which a memory may name it; a shorter part is of many errors."""

_FOLDER = re.compile(r"(?<![\w/.-])(?:\./)?((?:[\w.@+-]+/)+)(?![\w.-])")
_ENDING = re.compile(r"\*(\.[\w.]*\w)")
_VARYING = re.compile(
    r"""0x[0-9a-fA-F]+|\b[0-9a-f]{4,}(?:-[0-9a-f]{4,}){2,}\b"""
    r"""|(?:\b[A-Za-z]:)?[^\s'"`()<>,;:=\[\]]*[/\\][^\s'"`()<>,;:\[\]]*"""
    r"""|\b[\w-]+\.[a-z]{1,4}(?=:\d|["'],? line)"""
)
"""Addresses, UUIDs and paths, also relative ones, and a file name before the number of a line."""

_PLAIN_RUN = re.compile(r"[a-z_]+(?: [a-z_]+)*")
_OPENING = re.compile(r"^(?:[^\w#]|(?:error|fatal|warning)\b)+")
_GENERIC_END = re.compile(r"(?:error|exception|failed|warning)$")


@dataclass(frozen=True)
class FileSubject:
    """A file."""

    shown_path: str
    place: str
    """Its path; of a file on this disk from the name of its project on."""
    is_shared_name: bool = False
    """Whether the project has another file of the same name, so that the bare name is not enough.
    """

    @property
    def label(self) -> str:
        """The path."""
        return f"the file {self.shown_path}"

    @property
    def name(self) -> str:
        """The bare name."""
        return self.place.rsplit("/", 1)[-1]

    @property
    def call_hints(self) -> tuple[str, ...]:
        """Lower-case texts. A call or result about the file contains at least one of them."""
        return (self.name.lower(),)

    @property
    def hints(self) -> tuple[str, ...]:
        """Lower-case texts. A memory that names it, its folder or ending contains one of them."""
        folders = filter(None, self.place.lower().split("/")[:-1])
        return (*self.call_hints, *(f"{folder}/" for folder in folders), "*.")

    def is_named_in(self, text: str, *, is_rule: bool = False) -> bool:
        """Returns whether the text names the file, or is a rule for its folder or ending."""
        if any(map(self._is_spelling, self._spelled.finditer(text))):
            return True
        return is_rule and self._is_covered(text)

    def is_of(self, call: ToolCall) -> bool:
        """Returns whether the error names the file, or the step that failed."""
        steps = [step for step in parse_steps(call.command) if not step.is_routine]
        if not steps or failures.error_line(call.output) is None:
            return False
        return self.is_named_in(failures.telling_line(call.output)) or self.is_named_in(
            steps[-1].text
        )

    @cached_property
    def _spelled(self) -> re.Pattern[str]:
        name = re.escape(self.name)
        return re.compile(rf"(?<![\w.@~+-])(`?)((?:[\w.@+~-]*/)*){name}(?![\w/-]|\.\w)")

    def _is_spelling(self, match: re.Match[str]) -> bool:
        """Returns whether a path that ends with the bare name is that of the file."""
        folder = match[2].removeprefix("./")
        if not folder:
            is_word = not match[1] and self.name.isalpha() and self.name.islower()
            return not self.is_shared_name and not is_word
        spelled = f"/{folder.removeprefix('/')}{self.name}"
        return f"/{self.place}".endswith(spelled) or spelled.endswith(f"/{self.place}")

    def _is_covered(self, text: str) -> bool:
        folders = (match[1] for match in _FOLDER.finditer(text))
        endings = (match[1] for match in _ENDING.finditer(text))
        is_in_folder = any(f"/{folder}" in f"/{self.place}" for folder in folders)
        return is_in_folder or any(map(self.name.endswith, endings))


@dataclass(frozen=True)
class CommandSubject:
    """A command line."""

    command: str

    @property
    def label(self) -> str:
        """The program and subcommand of each step."""
        return f"the command {', '.join(map(' '.join, self._names))}"

    @property
    def call_hints(self) -> tuple[str, ...]:
        """The programs."""
        return tuple(named[0].lower() for named in self._names)

    hints = call_hints

    def is_named_in(self, text: str, *, is_rule: bool = False) -> bool:
        """Returns whether the text names a step, or is a rule for its program."""
        return any(_names_step(named, text, is_rule=is_rule) for named in self._names)

    def is_of(self, call: ToolCall) -> bool:
        """Returns whether it is one of these; of several steps it is not sure which one failed."""
        names = _step_names(call.command)
        is_same = any(names[0][: len(named)] == named for named in self._names if len(names) == 1)
        return is_same and failures.error_line(call.output) is not None

    @cached_property
    def _names(self) -> tuple[tuple[str, ...], ...]:
        return _step_names(self.command)


@dataclass(frozen=True)
class ErrorSubject:
    """An error, by the line that says what went wrong."""

    line: str

    @classmethod
    def of(cls, text: str) -> "ErrorSubject":
        """Returns the error that the output, or its one line, states."""
        lines = text.split("\n")
        return cls(failures.telling_line(text) or lines[-1].strip())

    @property
    def label(self) -> str:
        """The line."""
        return f"the error “{self.line}”"

    @property
    def call_hints(self) -> tuple[str, ...]:
        """The longest part of the line without anything that varies."""
        return (_longest_run(self._shape),)

    @property
    def hints(self) -> tuple[str, ...]:
        """The longest such part of each part of the line."""
        return tuple(map(_longest_run, self._parts))

    def is_named_in(self, text: str, *, is_rule: bool = False) -> bool:
        """Returns whether the text has the line, or a telling part of it."""
        shape = shape_of(text)
        return any(part in shape for part in self._parts if part)

    def is_whole_in(self, text: str) -> bool:
        """Returns whether the text has the line; no text has an empty one."""
        return bool(self._shape) and self._shape in shape_of(text)

    def is_of(self, call: ToolCall) -> bool:
        """Returns whether the output has the line."""
        output = call.output
        is_near = self.call_hints[0] in output.lower()
        return is_near and any(map(self.is_whole_in, output.splitlines()))

    @cached_property
    def _shape(self) -> str:
        return shape_of(self.line)

    @cached_property
    def _parts(self) -> tuple[str, ...]:
        parts = (part for part in re.split(r": |[“”`\"]", self._shape) if _is_telling(part))
        return tuple(dict.fromkeys((self._shape, *parts)))


Subject = FileSubject | CommandSubject | ErrorSubject


def shape_of(line: str) -> str:
    """Returns the line in lower case, without paths, numbers, addresses and its opening."""
    shape = failures.signature_of(_VARYING.sub("#", line))
    return _OPENING.sub("", shape) or shape


def _is_telling(part: str) -> bool:
    words = part.split()
    is_long = len(words) >= FEWEST_WORDS or len(part) >= FEWEST_CHARS
    return is_long and not _GENERIC_END.search(part)


def _longest_run(shape: str) -> str:
    return max(_PLAIN_RUN.findall(shape), key=len, default=shape)


def _step_names(command: str) -> tuple[tuple[str, ...], ...]:
    """Returns the names of the steps that do more than look or move about; of all if none does."""
    steps = parse_steps(command)
    working = [step for step in steps if step.words[0] not in ROUTINE] or steps
    return tuple(dict.fromkeys(map(name_of, working)))


def name_of(step: CommandStep) -> tuple[str, ...]:
    """Returns the program with its subcommand, or the script that an interpreter runs."""
    program = step.program
    arguments = step.arguments
    if program in INTERPRETERS and arguments and not arguments[0].startswith("-"):
        return (arguments[0].rsplit("/", 1)[-1],)
    if program in CHECKERS or "." in program:
        return (program,)
    plain = list(takewhile(PLAIN.match, arguments))
    count = 1 if IN_TWO_WORDS.isdisjoint((program, *plain[:1])) else 2
    return (program, *plain[:count])


def _names_step(named: tuple[str, ...], text: str, *, is_rule: bool) -> bool:
    program = named[0]
    phrase = r"\s+".join(map(re.escape, named))
    pattern = re.compile(rf"(?<![\w./-]){phrase}(?![\w-])")
    is_clear = len(named) > 1 or "." in program
    spans = [(0, len(text))] if is_clear else code_spans(text)
    may_be_bare = is_rule or not is_clear
    is_named = any(pattern.search(text, start, end) for start, end in spans)
    return is_named or (may_be_bare and program in _bare_programs(text))


def _bare_programs(text: str) -> Iterator[str]:
    """Yields the programs that the text names without a subcommand."""
    yield from (text[start:end] for start, end in code_spans(text))
    for mention in mentions_in(text):
        if mention.kind in KINDS:
            yield mention.name.lower()
