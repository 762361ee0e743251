"""Renders the turns of a session, and the state of a session at a turn."""

import json
import re
from collections.abc import Iterable, Iterator
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, NamedTuple

from rich.table import Table
from rich.text import Text

from memory_assets.interfaces.views import lines
from memory_assets.schema.vocabulary import HARNESS_TITLES, MARKS
from memory_assets.text.words import counted, shortened, squeezed

if TYPE_CHECKING:
    from memory_assets.extras.replay import results

MOST_TURNS = 500
"""Turns in a list: a table of 10,000 lines takes seconds to lay out."""

MEMORY_CHARS = 160
"""Characters that are shown of a memory from before the turn, and of a recall's question."""

GONE = "forgotten or merged since"
OPEN_SESSION = "Open: no end of the session was seen; it is running, or its process was killed."
OPEN_TURN = "The session is open, and this is its last turn so far."
LABELS = {"owner": "person", "injected": "harness", "subagent": "sub-agent"}
SPEAKERS = {"owner": "bold cyan", "assistant": "bold green", "subagent": "bold green"}

_CALL = re.compile(r"^\[toolCall ([^\s(]+)\(", re.M)


class Spoken(NamedTuple):
    """A part of a message: text, or the call of a tool with its arguments."""

    tool: str
    """Empty for text."""
    text: str


def parts_of(message: "results.TurnMessage") -> Iterator[Spoken]:
    """Yields the text of a message, then each of its tool calls."""
    calls = [] if message.kind == "tool_result" else list(_CALL.finditer(message.text))
    starts = [call.start() for call in calls]
    first, *ends = [*starts, len(message.text)]
    text = message.text[:first].strip("\n")
    if text:
        yield Spoken("", text)
    for call, end in zip(calls, ends, strict=True):
        arguments = message.text[call.end() : end].rstrip("\n").removesuffix(")]")
        yield Spoken(call[1], _arguments(arguments))


def _arguments(text: str) -> str:
    """Returns arguments in JSON with one line for each name; other arguments unchanged."""
    try:
        arguments = json.loads(text)
    except ValueError:  # cut, or the arguments of a tool that takes plain text
        return text
    if not isinstance(arguments, dict):
        return text
    return "\n".join(_argument(name, value) for name, value in arguments.items())


def _argument(name: str, value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"{name}:\n{text}" if "\n" in text else f"{name}: {text}"


def label_of(message: "results.TurnMessage") -> str:
    """Returns who speaks: the person, the model, a tool with its result, or the harness."""
    if message.kind == "tool_result":
        outcome = "failed" if message.is_error else "returned"
        return f"{message.tool_name or 'tool'} {outcome}"
    if message.kind == "summary":
        return "summary of the context"
    return LABELS.get(message.author, message.author)


def duration(began: datetime, ended: datetime) -> str:
    """Returns the time between the moments in words: 12 s, 3 min, 2 h 5 min."""
    seconds = round((ended - began).total_seconds())
    if seconds < 60:
        return f"{seconds} s"
    hours, minutes = divmod(seconds // 60, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def heading_of(replay: "results.TurnReplay", zone: tzinfo) -> str:
    """Returns the number of the turn and its time."""
    began = replay.started_at.astimezone(zone)
    last = replay.turns[-1]
    title = f"Turn {replay.turn} of {last}" if last else "All of the session"
    return f"{title} · {began:%Y-%m-%d %H:%M:%S}, {duration(replay.started_at, replay.ended_at)}"


def state_of(replay: "results.TurnReplay") -> dict[str, str]:
    """Returns the state of the session at the turn by name, without what is empty."""
    harness = HARNESS_TITLES[replay.harness]
    state = {
        "session": replay.session_id,
        "project": replay.project,
        "folder": replay.folder,
        "branch": replay.branch,
        "model": replay.model,
        "harness": f"{harness} {replay.version or ''}".strip(),
        "transcript": f"records {replay.line_from:,} to {replay.line_to:,} of {replay.path}",
        "read": "\n".join(replay.files_read),
        "modified": "\n".join(replay.files_modified),
        "context": "compacted during the turn" if replay.is_compacted else "",
    }
    return {name: value for name, value in state.items() if value}


def origin_of(session: "results.SessionReplay") -> str:
    """Returns the session's id, harness, project and person."""
    harness = HARNESS_TITLES[session.harness]
    facts = (session.session_id, harness, session.project, session.person)
    return " · ".join(filter(None, facts))


def render_session(
    replay: "results.SessionReplay", zone: tzinfo, first: int | None = None
) -> lines.Parts:
    """Renders a session with one line for each turn.

    At most `MOST_TURNS` are listed: those from the turn `first` on, else the last ones.
    """
    began = replay.started_at.astimezone(zone)
    ended = replay.ended_at.astimezone(zone)
    yield lines.bold(replay.name)
    yield lines.dim(origin_of(replay))
    until = f"{ended:%H:%M}" if ended.date() == began.date() else f"{ended:%Y-%m-%d %H:%M}"
    yield lines.dim(f"{began:%Y-%m-%d %H:%M} to {until} in {replay.folder or 'an unknown folder'}")
    if replay.is_open:
        yield lines.warning(OPEN_SESSION)
    yield from map(_linked, replay.linked)
    listed = replay.turns[-MOST_TURNS:]
    if first is not None:
        listed = [turn for turn in replay.turns if turn.turn >= first][:MOST_TURNS]
    if listed:
        yield ""
        yield _turn_table(listed, zone)
    hidden_count = len(replay.turns) - len(listed)
    if hidden_count:
        hidden = f"{counted(hidden_count, 'turn')} not listed"
        yield lines.dim(f"{hidden}; --from NUMBER lists {MOST_TURNS} from that one on.")


def _turn_table(turns: Iterable["results.TurnSummary"], zone: tzinfo) -> Table:
    turn_table = Table(box=None, pad_edge=False, header_style="bold", expand=True)
    for name in ("turn", "time"):
        turn_table.add_column(name, justify="right", no_wrap=True)
    turn_table.add_column("said", no_wrap=True, overflow="ellipsis", ratio=1)
    for name in ("tools", "files"):
        turn_table.add_column(name, justify="right", no_wrap=True)
    previous_day = None
    for turn in turns:
        began = turn.started_at.astimezone(zone)
        moment = f"{began:%H:%M}" if began.date() == previous_day else f"{began:%m-%d %H:%M}"
        previous_day = began.date()
        words = lines.line((_notes_of(turn), "yellow"), squeezed(turn.said))
        result_count = str(turn.result_count or "")
        file_count = str(len(turn.files_modified) or "")
        turn_table.add_row(str(turn.turn), moment, words, result_count, file_count)
    return turn_table


def _notes_of(turn: "results.TurnSummary") -> str:
    notes = {"open": turn.is_open, "compacted": turn.is_compacted}
    listed = ", ".join(note for note, holds in notes.items() if holds)
    return f"({listed}) " if listed else ""


def render_turn(replay: "results.TurnReplay", zone: tzinfo) -> lines.Parts:
    """Renders the state at a turn: files, memories, messages, and facts that were learnt."""
    yield lines.bold(heading_of(replay, zone))
    if replay.is_open:
        yield lines.warning(OPEN_TURN)
    yield from lines.render_fields(state_of(replay))
    yield from _memories(replay, zone)
    for message in replay.messages:
        yield ""
        yield from _message(message, zone)
    yield from _learnt(replay)
    yield from map(_linked, replay.linked)


def _message(message: "results.TurnMessage", zone: tzinfo) -> lines.Parts:
    style = "bold red" if message.is_error else SPEAKERS.get(message.author, "bold")
    yield lines.line(
        (label_of(message), style), (f"  {message.at.astimezone(zone):%H:%M:%S}", "dim")
    )
    is_quiet = message.kind in ("tool_result", "summary") or message.author == "injected"
    text_style = "dim" if is_quiet else ""
    for part in parts_of(message):
        indent = "  "
        if part.tool:
            yield lines.line("  ", (f"calls {part.tool}", "bold magenta"))
            indent = "    "
        yield from _indented(part.text, indent, text_style)
    if message.image_count:
        yield lines.dim(f"  ({counted(message.image_count, 'image')})")


def _indented(text: str, indent: str, style: str) -> Iterator[lines.Part]:
    return (Text(f"{indent}{words}", style=style) for words in text.expandtabs(4).split("\n"))


def _memories(replay: "results.TurnReplay", zone: tzinfo) -> lines.Parts:
    """Yields the memories that the session had by this turn; earlier ones are shortened."""
    if not replay.injected and not replay.recalled:
        return
    yield ""
    yield lines.bold("Memory by this turn")
    for memory in replay.injected:
        if memory.is_before:
            text = shortened(squeezed(memory.text), MEMORY_CHARS)
            yield lines.dim(f"  - put into the context before, record {memory.line:,}: {text}")
            continue
        yield lines.dim(f"  - put into the context in this turn, record {memory.line:,}:")
        yield from _indented(memory.text, "    ", "dim")
    for recall in replay.recalled:
        outcome = "" if recall.memories else ": nothing"
        yield lines.dim(f"  - {recalled_when(recall, zone)}{outcome}")
        for id, text in recall.memories.items():
            yield lines.dim(f"    - {id} {text or GONE}")


def recalled_when(recall: "results.RecalledInSession", zone: tzinfo) -> str:
    """Returns when the recall was made, and its question, shortened, if it is known."""
    question = shortened(squeezed(recall.question), MEMORY_CHARS)
    words = f", asked “{question}”" if question else ""
    return f"recalled at {recall.at.astimezone(zone):%Y-%m-%d %H:%M:%S}{words}"


def _learnt(replay: "results.TurnReplay") -> lines.Parts:
    if not replay.learnt:
        return
    yield ""
    yield lines.bold("Learnt from this turn")
    for fact in replay.learnt:
        held = ", held" if fact.gate == "hold" else ""
        yield Text(f"  - {MARKS[fact.priority]} {fact.text}")  # pyright: ignore[reportArgumentType]
        yield lines.dim(f"    {fact.category}{held}; {fact.command}")


def _linked(session: "results.LinkedSession") -> Text:
    relation = "came from" if session.relation == "parent" else session.relation
    return lines.dim(f"{relation}: {session.command}")


def next_turn_hint(replay: "results.TurnReplay", command: str) -> str:
    """Returns a hint with the command that shows the next turn; empty after the last one."""
    if replay.turn >= replay.turns[-1]:
        return ""
    return f"`{command} --turn {replay.turn + 1}` shows the next turn."


def last_turn_hint(replay: "results.SessionReplay", command: str) -> str:
    """Returns a hint with the command that shows the last turn; empty without turns."""
    turns = replay.turns
    return f"`{command} --turn {turns[-1].turn}` shows the last turn." if turns else ""
