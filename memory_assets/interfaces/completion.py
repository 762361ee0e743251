"""Completes the command line in bash, zsh and fish, from a description of all commands and the
words of the present store.

A shell waits for it at every key, so it imports the standard library alone: `completion.json`
describes the commands, their options and arguments (`make docs` writes it), and what the store
holds is read by `memory.completion`. The scripts that `memory --install-completion`
installs, and PowerShell, are typer's.
"""

import json
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from memory_assets.interfaces.words import split_store
from memory_assets.schema.extra_folders import generated_files

FILE = "completion.json"
COMMANDS = os.path.join(os.path.dirname(os.path.abspath(__file__)), FILE)
INSTRUCTION = "_MEMORY_COMPLETE"

EVALUATED = {
    ord(letter): by
    for letter, by in (
        ("'", "’"),
        ('"', "”"),
        ("`", "’"),
        ("$", ""),
        ("\\", ""),
        ("!", "."),
        (":", "\\\\:"),
    )
}
"""Characters that zsh evaluates between quotes, and what is printed instead of each."""

Found = tuple[str, str]
Node = Mapping[str, Any]


def main(environ: Mapping[str, str]) -> int | None:
    """Prints the completions that the shell asks for; returns the exit code, or None for what typer
    answers.
    """
    shell = environ.get(INSTRUCTION, "")
    if shell not in ("complete_bash", "complete_zsh", "complete_fish"):
        return None
    before, beginning = words_of(shell, environ)
    before, store = split_store(before)
    if store:
        os.environ["MEMORY_DATA"] = os.path.abspath(os.path.expanduser(store))
    found = list(complete(before, beginning, read_commands()))
    if shell == "complete_fish" and environ.get("_TYPER_COMPLETE_FISH_ACTION") == "is-args":
        return 0 if found else 1
    text = {"complete_bash": bash, "complete_zsh": zsh, "complete_fish": fish}[shell](found)
    sys.stdout.buffer.write(f"{text}\n".encode("utf-8", "replace"))
    return 0


def read_commands() -> Node:
    """Returns the description of all commands, those of optional capabilities included."""
    described, *additions = (_read(path) for path in (COMMANDS, *generated_files(FILE)))
    commands = described["commands"]
    for groups in additions:
        for name, group in groups.items():
            commands.setdefault(name, group)["commands"].update(group["commands"])
    return described


def _read(path: str) -> Any:
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def words_of(shell: str, environ: Mapping[str, str]) -> tuple[list[str], str]:
    """Returns the words before the one that is typed, without the command's name, and the beginning
    of that one.
    """
    if shell == "complete_bash":
        words, at = split(environ.get("COMP_WORDS", "")), int(environ.get("COMP_CWORD") or 0)
        return words[1:at], words[at] if at < len(words) else ""
    line = environ.get("_TYPER_COMPLETE_ARGS", "")
    words = split(line)[1:]
    return (words[:-1], words[-1]) if words and not line.endswith(" ") else (words, "")


def split(line: str) -> list[str]:
    """Returns the words of a line whose last quote may be open."""
    lexer, words = shlex.shlex(line, posix=True), []
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words.extend(lexer)
    except ValueError:
        words.append(lexer.token)
    return words


def complete(before: Sequence[str], beginning: str, commands: Node) -> Iterator[Found]:
    """Yields the words that can be next and begin so, each with the text beside it."""
    node, position, option = commands, 0, None
    for word in before:
        if option is not None:
            option = None
        elif word.startswith("-"):
            option = node["options"].get(word)
            option = option if option and option["takes"] else None
        elif not position and word in node["commands"]:
            node = node["commands"][word]
        else:
            position += 1
    if option is not None:
        yield from _values(option, beginning, before)
    elif beginning.startswith("-"):
        name, is_value, value = beginning.partition("=")
        if is_value and (option := node["options"].get(name)):
            yield from ((f"{name}={word}", text) for word, text in _values(option, value, before))
        else:
            yield from _beginning(
                ((name, one["help"]) for name, one in node["options"].items()), beginning
            )
    else:
        if not position:
            shown = (
                (name, one["help"])
                for name, one in node["commands"].items()
                if not one["is_hidden"]
            )
            yield from _beginning(shown, beginning)
        if arguments := node["arguments"][position : position + 1] or [
            one for one in node["arguments"][-1:] if one["is_list"]
        ]:
            yield from _values(arguments[0], beginning, before)


def _values(one: Node, beginning: str, before: Sequence[str]) -> Iterable[Found]:
    if one["kind"]:
        from memory_assets.memory.completion import find_words

        return find_words(one["kind"], beginning, before)
    return _beginning(((word, "") for word in one["words"]), beginning)


def _beginning(found: Iterable[Found], beginning: str) -> Iterator[Found]:
    return ((word, text) for word, text in found if word.startswith(beginning))


def bash(found: Sequence[Found]) -> str:
    """Returns the words as bash reads them; it shows no text beside a word."""
    return "\n".join(word for word, _ in found)


def zsh(found: Sequence[Found]) -> str:
    """Returns the words as a command for zsh, which evaluates it; files where there are none."""
    if not found:
        return "_files"
    lines = (f'"{_plain(word)}"' + (f':"{_plain(text)}"' if text else "") for word, text in found)
    return f"_arguments '*: :(({chr(10).join(lines)}))'"


def _plain(text: str) -> str:
    """Returns the text without the characters that a shell evaluates between quotes: it may quote a
    stranger.
    """
    return text.translate(EVALUATED)


def fish(found: Sequence[Found]) -> str:
    """Returns the words as fish reads them."""
    return "\n".join(f"{word}\t{text}" if text else word for word, text in found)
