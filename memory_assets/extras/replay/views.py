"""Renders the turns of a session, and the state of a session at a turn."""

import json
import re
from collections.abc import Iterable, Iterator
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, NamedTuple

from rich.table import Table
from rich.text import Text

from memory_assets.interfaces.views.lines import Part, Parts, bold, counted, dim, line, warning
from memory_assets.schema.vocabulary import MARKS
from memory_assets.text.words import shortened, squeezed

if TYPE_CHECKING:
    from memory_assets.extras.replay.results import (
        LinkedSession,
        RecalledInSession,
        SessionReplay,
        TurnMessage,
        TurnReplay,
        TurnSummary,
    )

HARNESSES = {"claude_code": "Claude Code", "codex": "Codex", "pi": "pi"}
MOST_TURNS = 500
"""Turns in a list: a table of 10,000 lines takes seconds to lay out."""

MEMORY_CHARS = 160
"""Characters of a memory that was put into the context before the turn."""

GONE = "forgotten or merged since"
OPEN_SESSION = "open: no end of the session was seen; it is running, or its process was killed"
OPEN_TURN = "The session is open, and this is its last turn so far."
SPEAKERS = {"owner": "bold cyan", "assistant": "bold green", "subagent": "bold green"}

_CALL = re.compile(r"^\[toolCall ([^\s(]+)\(", re.M)


class Spoken(NamedTuple):
    """A part of a message: text, or the call of a tool with its arguments."""

    tool: str
    """Empty for text."""
    text: str


def parts_of(message: "TurnMessage") -> Iterator[Spoken]:
    """Yields the text and the calls of a message, which come last; arguments in JSON become one
    line per name.
    """
    calls = [] if message.kind == "tool_result" else list(_CALL.finditer(message.text))
    ends = [call.start() for call in calls] + [len(message.text)]
    if text := message.text[: ends[0]].strip("\n"):
        yield Spoken("", text)
    for call, end in zip(calls, ends[1:], strict=True):
        yield Spoken(
            call[1], _arguments(message.text[call.end() : end].rstrip("\n").removesuffix(")]"))
        )


def _arguments(text: str) -> str:
    try:
        given = json.loads(text)
    except ValueError:  # cut, or the arguments of a tool that takes plain text
        return text
    if not isinstance(given, dict):
        return text
    values = {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in given.items()
    }
    return "\n".join(
        f"{name}: {value}" if "\n" not in value else f"{name}:\n{value}"
        for name, value in values.items()
    )


def label_of(message: "TurnMessage") -> str:
    """Returns who speaks: the person, the model, a tool with its result, or the harness."""
    if message.kind == "tool_result":
        return f"{message.tool_name or 'tool'} {'failed' if message.is_error else 'returned'}"
    if message.kind == "summary":
        return "summary of the context"
    return {"owner": "person", "injected": "harness", "subagent": "sub-agent"}.get(
        message.author, message.author
    )


def left_out(message: "TurnMessage") -> str:
    """Returns what is added below a message: images that are not shown."""
    return counted(message.image_count, "image") if message.image_count else ""


def duration(began: datetime, ended: datetime) -> str:
    """Returns the time between the moments, rounded: 12 s, 3 min, 2 h 5 min."""
    seconds = round((ended - began).total_seconds())
    if seconds < 60:
        return f"{seconds} s"
    hours, minutes = divmod(seconds // 60, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def heading_of(replay: "TurnReplay", zone: tzinfo) -> str:
    """Returns the number of the turn and its time."""
    began = replay.started_at.astimezone(zone)
    which = (
        f"Turn {replay.turn} of {replay.turns[-1]}" if replay.turns[-1] else "All of the session"
    )
    return f"{which} · {began:%Y-%m-%d %H:%M:%S}, {duration(replay.started_at, replay.ended_at)}"


def state_of(replay: "TurnReplay") -> Iterator[tuple[str, str]]:
    """Yields the state of the session at the turn, as names and values."""
    yield "session", replay.session_id
    yield "project", replay.project
    yield "folder", replay.folder
    yield "branch", replay.branch or ""
    yield "model", replay.model or ""
    yield (
        "harness",
        f"{HARNESSES.get(replay.harness, replay.harness)} {replay.version or ''}".strip(),
    )
    yield "transcript", f"records {replay.line_from:,} to {replay.line_to:,} of {replay.path}"
    yield "read", "\n".join(replay.files_read)
    yield "modified", "\n".join(replay.files_modified)
    yield "context", "compacted during the turn" if replay.is_compacted else ""


def render_session(replay: "SessionReplay", zone: tzinfo, first: int | None = None) -> Parts:
    """Renders a session with one line per turn: at most `MOST_TURNS`, from the first one that is
    wanted, else the last ones.
    """
    began, ended = (moment.astimezone(zone) for moment in (replay.started_at, replay.ended_at))
    yield bold(replay.name)
    harness = HARNESSES.get(replay.harness, replay.harness)
    yield dim(" · ".join(filter(None, (replay.session_id, harness, replay.project, replay.person))))
    until = f"{ended:%H:%M}" if ended.date() == began.date() else f"{ended:%Y-%m-%d %H:%M}"
    yield dim(f"{began:%Y-%m-%d %H:%M} to {until} in {replay.folder or 'an unknown folder'}")
    if replay.is_open:
        yield warning(OPEN_SESSION[0].upper() + OPEN_SESSION[1:] + ".")
    yield from map(_linked, replay.linked)
    after = [one for one in replay.turns if first is not None and one.turn >= first]
    shown = replay.turns[-MOST_TURNS:] if first is None else after[:MOST_TURNS]
    if shown:
        yield ""
        yield _turn_table(shown, zone)
    if hidden := len(replay.turns) - len(shown):
        yield dim(
            f"{counted(hidden, 'turn')} not listed; --from NUMBER lists {MOST_TURNS} from "
            "that one on."
        )


def _turn_table(turns: Iterable["TurnSummary"], zone: tzinfo) -> Table:
    made = Table(box=None, pad_edge=False, header_style="bold", expand=True)
    for name in ("turn", "time"):
        made.add_column(name, justify="right", no_wrap=True)
    made.add_column("said", no_wrap=True, overflow="ellipsis", ratio=1)
    for name in ("tools", "files"):
        made.add_column(name, justify="right", no_wrap=True)
    day = None
    for one in turns:
        began = one.started_at.astimezone(zone)
        when, day = (
            f"{began:%H:%M}" if began.date() == day else f"{began:%m-%d %H:%M}",
            began.date(),
        )
        notes = [
            note
            for note, holds in (("open", one.is_open), ("compacted", one.is_compacted))
            if holds
        ]
        said = line((f"({', '.join(notes)}) " if notes else "", "yellow"), squeezed(one.said))
        made.add_row(
            str(one.turn),
            when,
            said,
            *(str(count or "") for count in (one.result_count, len(one.files_modified))),
        )
    return made


def render_turn(replay: "TurnReplay", zone: tzinfo) -> Parts:
    """Renders the state at a turn: what was said and done, files, memories, and what was learnt."""
    yield bold(heading_of(replay, zone))
    if replay.is_open:
        yield warning(OPEN_TURN)
    yield _state_table(replay)
    yield from _memories(replay, zone)
    for message in replay.messages:
        yield ""
        yield from _message(message, zone)
    yield from _learnt(replay)
    yield from map(_linked, replay.linked)


def _state_table(replay: "TurnReplay") -> Table:
    made = Table(box=None, show_header=False, pad_edge=False)
    made.add_column(style="bold")
    made.add_column(overflow="fold")
    for name, value in state_of(replay):
        if value:
            made.add_row(name, value)
    return made


def _message(message: "TurnMessage", zone: tzinfo) -> Parts:
    style = "bold red" if message.is_error else SPEAKERS.get(message.author, "bold")
    yield line((label_of(message), style), (f"  {message.at.astimezone(zone):%H:%M:%S}", "dim"))
    quiet = (
        "dim" if message.kind in ("tool_result", "summary") or message.author == "injected" else ""
    )
    for part in parts_of(message):
        if part.tool:
            yield line("  ", (f"calls {part.tool}", "bold magenta"))
        yield from _indented(part.text, "    " if part.tool else "  ", quiet)
    if more := left_out(message):
        yield dim(f"  ({more})")


def _indented(text: str, by: str, style: str) -> Iterator[Part]:
    yield from (Text(f"{by}{one}", style=style) for one in text.expandtabs(4).split("\n"))


def _memories(replay: "TurnReplay", zone: tzinfo) -> Parts:
    """Yields what the session knew from memory by the turn: in full what the turn added."""
    if not replay.injected and not replay.recalled:
        return
    yield ""
    yield bold("Memory by this turn")
    for one in replay.injected:
        if one.is_before:
            text = shortened(squeezed(one.text), MEMORY_CHARS)
            yield dim(f"  - put into the context before, record {one.line:,}: {text}")
            continue
        yield dim(f"  - put into the context in this turn, record {one.line:,}:")
        yield from _indented(one.text, "    ", "dim")
    for one in replay.recalled:
        yield dim(f"  - {recalled_when(one, zone)}{'' if one.memories else ': nothing'}")
        for id, text in one.memories.items():
            yield dim(f"    - {id} {text or GONE}")


def recalled_when(one: "RecalledInSession", zone: tzinfo) -> str:
    """Returns when something was recalled, and the question, shortened, where the session has
    it.
    """
    asked = f", asked “{shortened(squeezed(one.question), MEMORY_CHARS)}”" if one.question else ""
    return f"recalled at {one.at.astimezone(zone):%Y-%m-%d %H:%M:%S}{asked}"


def _learnt(replay: "TurnReplay") -> Parts:
    if not replay.learnt:
        return
    yield ""
    yield bold("Learnt from this turn")
    for fact in replay.learnt:
        held = ", held" if fact.gate == "hold" else ""
        yield Text(f"  - {MARKS[fact.priority]} {fact.text}")  # pyright: ignore[reportArgumentType]
        yield dim(f"    {fact.category}{held}; {fact.command}")


def _linked(one: "LinkedSession") -> Text:
    relation = {"parent": "came from", "fork": "fork", "sub-agent": "sub-agent"}[one.relation]
    return dim(f"{relation}: {one.command}")


def after_turn(replay: "TurnReplay", command: str) -> str:
    """Returns the command that shows the next turn; empty after the last one."""
    return (
        f"`{command} --turn {replay.turn + 1}` shows the next turn."
        if replay.turn < replay.turns[-1]
        else ""
    )


def after_session(replay: "SessionReplay", command: str) -> str:
    """Returns the command that shows the last turn."""
    return (
        f"`{command} --turn {replay.turns[-1].turn}` shows the last turn." if replay.turns else ""
    )
