"""Describes what a tool call does: its text, the files it touches, and the author of its result.

Takes the name of a tool and its arguments, as any harness writes them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from memory_assets.schema.vocabulary import Author
from memory_assets.text.patterns import patterns_beside
from memory_assets.text.sentences import CALL
from memory_assets.text.words import word_set

ARGUMENT_CHARS = 1_500
"""Length at which a call's arguments are cut, as the observer sees them (DUET's literal form)."""

_FILE_TOOLS = word_set(
    "Read Grep Glob LS NotebookRead read grep find ls read_file view_image view glob list_directory"
    " grep_search search_file_content read_many_files"
)
_READ_TOOLS = word_set("Read NotebookRead read read_file view")
_WRITE_TOOLS = word_set(
    "Edit Write MultiEdit NotebookEdit edit write write_file edit_file replace create"
)
_SHELL_TOOLS = word_set(
    "Bash bash shell exec_command exec local_shell container.exec shell_command run_shell_command"
)
_PATTERNS = patterns_beside(__file__)
_WEB_TOOL = _PATTERNS["web_tool"]
_MEMORY_TOOL = _PATTERNS["memory_tool"]

_RENDERED = _PATTERNS["rendered"]
_PATCHED = re.compile(r"\*\*\* (?:(?:Add|Update|Delete) File|Move to): ([^\n]+)")
_SCRIPT_COMMAND = re.compile(r'\bcmd"?:\s*("(?:[^"\\]|\\.)*")')
_JOINED = re.compile(r"[;&|<>`\n\\]|\$\(")
_WORD = re.compile(r"""'([^']*)'|"([^"]*)"|([^\s'"]+)""")
_READERS = frozenset({"sed", "cat", "head", "tail", "nl", "bat", "less", "more"})
_MEMORY_COMMAND = re.compile(r"memory(?:-assets)? (?:recall|brief|explain)\b")
_DOWNLOAD = _PATTERNS["download"]


@dataclass(frozen=True, slots=True)
class CallEffect:
    """What a call does: the author of its result, and the files that it names."""

    author: Author
    """`file`, `web`, `injected` for what our own memory answers, else `tool`."""
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()


def render_call(tool: str, arguments: Any) -> str:
    """Returns the call as `[toolCall name(args)]`; long arguments are cut."""
    text = arguments
    if not isinstance(arguments, str):
        text = orjson.dumps(arguments).decode("utf-8", "replace")
    cut = f"{text[:ARGUMENT_CHARS]}…" if len(text) > ARGUMENT_CHARS else text
    return f"[toolCall {tool}({cut})]"


def calls_in(text: str) -> list[tuple[str, str]]:
    """Returns the tool and the arguments of each call that is rendered below a message's text."""
    return _RENDERED.findall(text) if CALL in text else []


def describe_call(tool: str, arguments: Any) -> CallEffect:
    """Returns what the call does, as far as its name and arguments say."""
    if tool in _READ_TOOLS:
        return CallEffect("file", files_read=_paths(arguments))
    if tool in _WRITE_TOOLS:
        return CallEffect("tool", files_modified=_paths(arguments))
    if tool in _FILE_TOOLS:
        return CallEffect("file")
    if tool in _SHELL_TOOLS or tool == "apply_patch":
        return _describe_command(shell_command(arguments))
    if _MEMORY_TOOL.search(tool):
        return CallEffect("injected")
    return CallEffect("web" if _WEB_TOOL.search(tool) else "tool")


def shell_command(arguments: Any) -> str:
    """Returns the command line in a shell tool's arguments.

    Arguments that are a text may be a script: then its commands are returned, one a line.
    """
    if isinstance(arguments, str):
        commands = _SCRIPT_COMMAND.findall(arguments)
        return "\n".join(map(orjson.loads, commands)) or arguments
    value: Any = ""
    if isinstance(arguments, Mapping):
        value = arguments.get("command") or arguments.get("cmd") or arguments.get("input") or ""
    if isinstance(value, list):
        words = [str(word) for word in value]
        is_script = len(words) == 3 and words[1] in ("-c", "-lc")
        return words[-1] if is_script else " ".join(words)
    return str(value)


def files_read_by(command: str) -> tuple[str, ...]:
    """Returns the files that a plain `cat`, `sed -n` or the like prints.

    A pipeline, or a command of more than 500 characters, gives none.
    """
    command = command.strip()
    if len(command) > 500 or command.partition(" ")[0] not in _READERS or _JOINED.search(command):
        return ()
    program, *words = ["".join(parts) for parts in _WORD.findall(command)]
    if program == "sed":
        return tuple(words[2:]) if words[:1] == ["-n"] else ()
    return tuple(word for word in words if not word.startswith("-") and not word.isdigit())


def files_patched_by(command: str) -> tuple[str, ...]:
    """Returns the files that the headers of an `apply_patch` text name.

    The text may be inside a string of a script, where a line ends with a backslash and an n.
    """
    if "*** " not in command:
        return ()
    names = [name.partition("\\n")[0].strip() for name in _PATCHED.findall(command)]
    return tuple(dict.fromkeys(names))


def _describe_command(command: str) -> CallEffect:
    read = files_read_by(command)
    if read:
        return CallEffect("file", files_read=read)
    patched = files_patched_by(command)
    if patched:
        return CallEffect("tool", files_modified=patched)
    if command.startswith("memory") and _MEMORY_COMMAND.match(command):
        return CallEffect("injected")
    return CallEffect("web" if "http" in command and _DOWNLOAD.search(command) else "tool")


def _paths(arguments: Any) -> tuple[str, ...]:
    if not isinstance(arguments, Mapping):
        return ()
    values = [arguments.get(key) for key in ("file_path", "filePath", "path", "notebook_path")]
    return tuple(path for path in values if isinstance(path, str) and path)[:1]
