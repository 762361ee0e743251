"""Reads the scripts of the sample: conversations as a person would write them down, with days counted back.

A script is a head in TOML between two `+++` lines, then turns. `days_ago = 1` is the day of the last session. A turn
opens with `@`, an optional clock time (UTC; `+1d` before it goes to a later day), who speaks, and sometimes a detail;
its text follows on the lines below:

    @ 09:14 mira
    No, use uv, never pip.
    @ run
    uv add fastapi

The words after `@` are harness-neutral (`ROLES`); `sample_claude`, `sample_codex` and `sample_pi` write them as each
harness does. A turn without a time follows the one before it by some seconds. In texts `{{date-3}}` is the ISO date
three days before the turn, `{{day-3}}` the same in British words, `{{secret:NAME}}` one of the planted secrets, put
together here so that no scanner of repositories finds them in a file.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import orjson

from memory_assets.errors import TranscriptError
from memory_assets.schema.records import Harness

HOME = "/home/mira"
OWNER = "mira"

ROLES = {
    "mira": "a turn typed by the developer; the detail `image` puts a picture beside it",
    "agent": "text of the assistant",
    "thinks": "thinking of the assistant",
    "run": "a shell command",
    "read": "a file that is read: its path",
    "write": "a file that is written: its path, then its content",
    "edit": "a file that is changed: its path, then `-` and `+` lines",
    "task": "work handed to a sub-agent: a title, then the prompt",
    "out": "the result of the last call",
    "fails": "the result of the last call, an error",
    "shell": "a command typed by the developer with `!`: the command, then its output",
    "aside": "text that the harness itself put in the developer's place",
    "compaction": "the harness compacts the context; the text is its summary, the detail the first kept mark (pi)",
    "title": "the developer names the session",
    "mark": "gives the next turn a name, for `compaction` and `back`",
    "back": "goes back to a mark and starts a branch there; the text sums up what was left",
}
CALLS = ("run", "read", "write", "edit", "task")
ASSISTANT = ("agent", "thinks", *CALLS)

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
"""A valid picture of one pixel."""

PLANTED_SECRETS = {
    "aws": "AKIA" + "ZZ7QXTIDE4WQ9KJX",
    "github": "ghp_" + "q7ZxTideWatchK4vJ9wQzXb2Rk8YpLm5Tn0H",
    "postgres": "Kq7zW4x" + "Vtide9Pj",
}
"""Invented, valid nowhere, and random enough to be taken for real ones by whoever masks them."""

_TURN = re.compile(r"@ (?:\+(?P<days>\d+)d )?(?:(?P<clock>\d\d:\d\d) )?(?P<role>[a-z]+)(?: (?P<detail>\S.*))?")
_INSERT = re.compile(r"\{\{(?P<what>date|day|secret)(?:-(?P<days>\d+)|:(?P<name>\w+))?\}\}")
_READING_SPEED = 70
"""Characters an assistant is given per second, so that long answers take visibly longer than short ones."""


@dataclass(frozen=True)
class Turn:
    """One turn of a script, dated."""

    at: datetime
    role: str
    detail: str
    text: str


@dataclass(frozen=True)
class Script:
    """One session of the sample, dated but not yet in any harness's format."""

    name: str
    harness: Harness
    project: str
    title: str
    turns: tuple[Turn, ...]
    branch: str = "main"
    fork_of: str = ""
    copies: int = 0
    subagent_of: str = ""
    agent_type: str = ""

    @property
    def session_id(self) -> str:
        """The session's id as the readers give it; it does not depend on the dates."""
        if self.subagent_of:
            return f"{_session_id(self.harness, self.subagent_of)}/agent-{self.agent_id}"
        return _session_id(self.harness, self.name)

    @property
    def agent_id(self) -> str:
        """What a sub-agent of Claude Code is called."""
        return digest(self.name)[:16]

    @property
    def cwd(self) -> str:
        """The folder the session works in."""
        return f"{HOME}/code/{self.project}"

    @property
    def ended_at(self) -> datetime:
        """When the last turn was said."""
        return self.turns[-1].at


def read_scripts(folder: Path, last_day: date) -> dict[str, Script]:
    """Returns the scripts of the folder by name, the last of them dated on the given day."""
    scripts = (parse_script(path.stem, path.read_text("utf-8"), last_day) for path in sorted(folder.glob("*.txt")))
    return {script.name: script for script in scripts}


def parse_script(name: str, text: str, last_day: date) -> Script:
    """Returns the script that a text holds; raises `TranscriptError` naming the line that cannot be understood."""
    _, head_text, body = text.split("+++\n", 2)
    head = tomllib.loads(head_text)
    first_day = last_day - timedelta(days=head.pop("days_ago") - 1)
    return Script(name=name, turns=tuple(_turns(name, body, first_day)), **head)


def digest(*parts: object) -> str:
    """Returns a stable hexadecimal digest, the source of every id in the sample."""
    return sha256("/".join(map(str, parts)).encode()).hexdigest()


def british(day: date) -> str:
    """Returns a date as it is written in Britain, such as 9 April 2026."""
    return f"{day.day} {day:%B %Y}"


def iso(at: datetime) -> str:
    """Returns a moment as all three harnesses write it."""
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z"


def joined(lines: Sequence[Mapping[str, Any]]) -> bytes:
    """Returns records as JSON lines."""
    return b"".join(orjson.dumps(line) + b"\n" for line in lines)


def arguments(turn: Turn) -> dict[str, str]:
    """Returns what a call was given, under harness-neutral names."""
    first, _, rest = turn.text.partition("\n")
    if turn.role == "run":
        return {"command": turn.text}
    if turn.role == "write":
        return {"path": first, "content": rest + "\n"}
    if turn.role == "edit":
        return {"path": first, "old": _marked(rest, "-"), "new": _marked(rest, "+")}
    return {"title": first, "prompt": rest} if turn.role == "task" else {"path": first}


def renamed(turn: Turn, names: Mapping[str, str]) -> dict[str, str]:
    """Returns what a call was given, under the names of one harness."""
    return {names.get(key, key): value for key, value in arguments(turn).items()}


def _marked(text: str, sign: str) -> str:
    return "\n".join(line[1:] for line in text.split("\n") if line.startswith(sign))


def _turns(name: str, body: str, day: date) -> Iterator[Turn]:
    at = datetime.combine(day, time(), UTC)
    for number, (opening, text) in enumerate(_blocks(body)):
        match = _TURN.fullmatch(opening)
        if match is None or match["role"] not in ROLES:
            raise TranscriptError(f"Cannot read sample script {name}: '{opening}' opens no turn. See sample_script.ROLES.")
        step = _spoken_at(at, match, text, number, name)
        if step < at:
            raise TranscriptError(f"Cannot read sample script {name}: '{opening}' lies before the turn above it.")
        at = step
        yield Turn(at, match["role"], match["detail"] or "", _filled(text, at.date()))


def _blocks(body: str) -> Iterator[tuple[str, str]]:
    opening, lines = "", []
    for line in body.split("\n"):
        if line.startswith("@ "):
            if opening:
                yield opening, "\n".join(lines).strip("\n")
            opening, lines = line, []
        else:
            lines.append(line)
    yield opening, "\n".join(lines).strip("\n")


def _spoken_at(before: datetime, match: re.Match[str], text: str, number: int, name: str) -> datetime:
    milliseconds = int(digest(name, number)[:4], 16) % 1000
    if match["clock"] is None:
        return before + timedelta(seconds=2 + len(text) // _READING_SPEED, milliseconds=milliseconds)
    day = before.date() + timedelta(days=int(match["days"] or 0))
    return datetime.combine(day, time.fromisoformat(match["clock"]), UTC) + timedelta(milliseconds=milliseconds)


def _filled(text: str, day: date) -> str:
    def value(match: re.Match[str]) -> str:
        if match["what"] == "secret":
            return PLANTED_SECRETS[match["name"]]
        that_day = day - timedelta(days=int(match["days"] or 0))
        return british(that_day) if match["what"] == "day" else that_day.isoformat()

    return _INSERT.sub(value, text)


def _session_id(harness: Harness, name: str) -> str:
    digits = uuid5(NAMESPACE_URL, f"memory_assets/sample/{name}").hex
    start, version = (digits[:4], "4") if harness == "claude_code" else ("019e", "7")
    digits = start + digits[4:12] + version + digits[13:]
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
