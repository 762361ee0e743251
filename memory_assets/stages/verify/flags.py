"""Finds the flags of a sentence, with the programs that they are given to."""

import re
from collections.abc import Iterator

from memory_assets.stages.embed.entities import mentions_in
from memory_assets.stages.embed.names import Span, code_spans
from memory_assets.stages.verify.named import Named

_FLAG = re.compile(r"(?<![^\s`'\"(\[])(--?[A-Za-z][\w-]*)(?![\w*]|-\*)")
_ENDS_COMMAND = re.compile(r"&&|[;|]")
_BEFORE_PROGRAM = re.compile(
    r"\s*(?:(?:\$|[A-Z_]+=\S*|sudo|npx|uvx|\w+ (?:run|exec)(?: --)?|python3? -m)\s+)*"
)
_PROGRAM = re.compile(r"[\w./][\w./-]*(?=\s)")
_PROGRAM_IN_FRONT = re.compile(
    r"(?<![\w/.-])([a-z][a-z0-9]*(?:-[a-z0-9]+)+)`?(?:\s+--?[\w=-]+)*\s+`?$"
)
_ONLY_FLAGS = re.compile(r"`?(?:\s+--?[\w=-]+)*\s+`?")


def flags_in(text: str) -> Iterator[tuple[Span, Named]]:
    """Yields the flags with their places: `program --flag`, or the flag alone."""
    for match in _FLAG.finditer(text):
        start = match.start(1)
        in_code = [begin for begin, end in code_spans(text) if begin <= start < end]
        program = _program_in_code(text[in_code[0] : start]) if in_code else ""
        program = program or _program_in_front(text, start)
        is_long = match[1].startswith("--") or len(match[1]) == 2
        if in_code or program or is_long or text[match.end() :].startswith("="):
            yield match.span(1), Named("flag", f"{program} {match[1]}".strip())


def program_start(text: str, start: int, end: int) -> int:
    """Returns where the program of the command begins, behind variables and what runs programs."""
    prefix = _BEFORE_PROGRAM.match(text, start, end)
    return prefix.end() if prefix else start


def _program_in_code(words: str) -> str:
    """Returns the program of the command that the words begin; after ` -- ` it is unknown."""
    command = _ENDS_COMMAND.split(words)[-1]
    program = _PROGRAM.match(command, program_start(command, 0, len(command)))
    if not program or " -- " in command[program.end() :]:
        return ""
    is_script = "." in program[0].rpartition("/")[2]
    return program[0] if is_script else program[0].rpartition("/")[2]


def _program_in_front(text: str, start: int) -> str:
    """Returns the program that stands right in front of the flag or of the flags before it."""
    for mention in mentions_in(text):
        is_near = mention.kind == "command" and mention.end < start
        if is_near and _ONLY_FLAGS.fullmatch(text, mention.end, start):
            return mention.name.partition(" ")[0]
    program = _PROGRAM_IN_FRONT.search(text[:start])
    return program[1] if program else ""
