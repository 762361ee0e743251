"""The commands that harnesses run: `memory hooks run` prints the briefing or spools one line,
`memory send` spools any event.

A failure never stops a session: it is reported on stderr, and the exit code is 0. Of a harness's
payload only ids and labels are stored, no text of the session. Imports the standard library only.
"""

import os
import sys
import time

from memory_assets.harnesses import hook_events
from memory_assets.stages.deliver import events, silence, spool
from memory_assets.store import ready
from memory_assets.store.places import find_data, home_folder, present_root
from memory_assets.text.visible import visible

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

CLEARED = "clear"
"""Source of a session's start: the person cleared it, so nothing of before may be shown again."""

RESUMED = "resume"
"""Source of a session's start: it goes on, and still has the briefing that it was shown."""

FORKED = "fork"
"""Source of a session's start: it is a copy of another session, with the briefing of that one. The
first line of its transcript has the other session's id.
"""

COMPACTED = "compact"
"""Source of a session's start: its context was compacted."""

SENT_AT: "dict[str, str]" = {
    hook_events.COMPACTING: events.COMPACTION_PENDING,
    hook_events.END: events.ENDED,
    hook_events.NOTIFY: events.TURN_COMPLETED,
}
"""The event that each hook of a harness sends."""

HOOKS_OFF = "MEMORY_HOOKS_OFF"
"""Environment variable set for a harness that is used as a model: its hooks do nothing, so that
questions to the model get no briefing and are not reported as sessions.
"""

WAIT_SECONDS = 0.5
"""Longest wait for a payload on stdin; a harness kills its end hook after one and a half seconds.
"""

TOOL_SECONDS = 0.06
"""Longest wait before a tool."""

LONGEST_ARGUMENT = 2_000
"""Characters of an argument of a tool that the service gets; what follows is content."""

MOST_PAYLOAD = 1_000_000
"""Bytes of a payload that are read."""

LONGEST_VALUE = 500
"""Characters of a text in an event: an id, a label, a reason."""

FIELDS = (
    ("sessionId", "thread-id"),
    ("sessionId", "session_id"),
    ("sessionId", "sessionId"),
    ("trigger", "trigger"),
    ("reason", "reason"),
)
"""Fields of events, each with its name in a harness's payload."""


def run(words: "Sequence[str]", brief: "Callable[[str, str], str]") -> int:
    """Runs an installed hook and returns the exit code 0.

    `brief` takes the folder of a store and a session id, which may be empty, and returns the
    briefing.
    """
    if os.environ.get(HOOKS_OFF):
        return 0
    return _never_failing(_run_once, words, brief)


def send(words: "Sequence[str]") -> int:
    """Spools an event: `NAME [--session ID] [--data JSON] [--store FOLDER] [--json]`."""
    return _never_failing(_send, words)


def is_understood(words: "Sequence[str]") -> bool:
    """Returns whether `send` accepts these words; if not, the full command explains the error."""
    has_name = bool(words) and not words[0].startswith("-")
    options = {word for word in words if word.startswith("--")}
    return has_name and options <= {"--session", "--data", "--store", "--json"}


def spool_event(root: str, name: str, data: "Mapping[str, Any]") -> "tuple[str, str | None]":
    """Appends the event to the spool; returns its id, and a warning if ingest will put it aside.

    Only the fields of `FIELDS` are spooled. An event that is not there is spooled unchanged; ingest
    moves it to the folder of events that it cannot read.
    """
    version = data.get("schemaVersion", events.SCHEMA_VERSION)
    if name not in events.FIELDS:
        id = spool.append(root, name, dict(data), version=version)
        names = ", ".join(events.FIELDS)
        return id, f"there is no event {name!r}, so it will be put aside; the events are {names}"
    fields = events.FIELDS[name]
    event = {field: _short(value) for field, value in data.items() if field in fields}
    id = spool.append(root, name, event, version=version)
    subject = events.subject_of(name)
    is_complete = subject is None or event.get(subject)
    return id, None if is_complete else f"{name} has no {subject}, so it will be put aside"


def payload_of(text: str) -> "dict[str, Any]":
    """Returns the JSON object in the text; an empty one if the text is not a JSON object."""
    import json

    try:
        payload = json.loads(text)
    except ValueError:
        return {}
    return payload if isinstance(payload, dict) else {}


def _run_once(words: "Sequence[str]", brief: "Callable[[str, str], str]") -> None:
    """Runs the hook, unless it is of the plugin and the settings of the harness have it, too."""
    is_of_plugin = "--plugin" in words
    if not (is_of_plugin and is_connected(words[0])):
        _run(words, brief)


def _run(words: "Sequence[str]", brief: "Callable[[str, str], str]") -> None:
    (harness, event, *arguments), options = _parse_words(words)
    has_argument = event == hook_events.NOTIFY and bool(arguments)
    payload = payload_of(arguments[-1] if has_argument else _stdin())
    root = options.get("store") or find_data()
    _name_agent(payload)
    session = options.get("session") or payload.get("session_id") or payload.get("sessionId")
    source = options.get("source") or payload.get("source")
    if event == hook_events.START:
        _start(harness, root, session, source, brief, payload)
    elif event == hook_events.PROMPT:
        _recall(harness, root, session, payload)
    elif event == hook_events.TOOL:
        _tell_before(root, session, payload)
    else:
        _spool_hook(harness, root, event, payload)


def _name_agent(payload: "dict[str, Any]") -> None:
    """Makes the session of a sub-agent's payload one of its own."""
    agent = payload.get("agent_id")
    if agent and payload.get("session_id"):
        payload["session_id"] = f"{payload['session_id']}/agent-{agent}"


def _spool_hook(harness: str, root: str, event: str, payload: "Mapping[str, Any]") -> None:
    """Spools the event of a harness, with the fields of its payload that events have."""
    data = {field: payload[name] for field, name in FIELDS if payload.get(name)}
    _, warning = spool_event(root, SENT_AT[event], {"harness": harness, **data})
    if warning:
        _warn(warning)


def is_connected(harness: str) -> bool:
    """Returns whether the settings of the harness have our hooks, so that its plugin has nothing to
    do.
    """
    variable, folder, name = _fact_of(harness, "HOOKS_FILE") or ("", "", "")
    settings = os.environ.get(variable) or os.path.join(home_folder(), folder)
    try:
        with open(os.path.join(settings, name), encoding="utf-8", errors="replace") as file:
            return f"hooks run {harness} " in file.read()
    except OSError:
        return False


def _start(
    harness: str,
    root: str,
    session: "Any",
    source: "Any",
    brief: "Callable[[str, str], str]",
    payload: "Mapping[str, Any]",
) -> None:
    """Prints the briefing, unless the session still has it.

    Prints nothing of the bundled sample, whose store is not at `root`.
    """
    session = session if isinstance(session, str) else ""
    if _is_later_prompt(root, session, source):
        return
    _forget(root, session, source)
    session_id = "" if source == CLEARED else session
    is_sample = present_root(root) != root
    text = "" if is_sample else _unpublished(harness, brief(root, session_id))
    is_repeat = bool(text and session_id) and _note(root, session_id, source, text, payload)
    if not (is_repeat and _keeps_briefing(harness, source)):
        _print_context(harness, hook_events.START, text)
    if session_id and source == COMPACTED and _fact_of(harness, "STARTS_AFTER_COMPACTION"):
        # The transcript shows the compaction itself, which may have had no hook before it.
        spool_event(root, events.TURN_COMPLETED, {"harness": harness, "sessionId": session_id})
    silence.ask_for_run(root)


def _unpublished(harness: str, briefing: str) -> str:
    """Returns the briefing without the published lines that the harness loads with the project."""
    name = _fact_of(harness, "PROJECT_FILE") if briefing else None
    if name is None:
        return briefing
    from memory_assets.store.projects import find_git
    from memory_assets.text.published_block import published_lines, without_lines

    root, _ = find_git(ready.here(), home_folder())
    text = ready.read_text(os.path.join(root, name)) if root else ""
    if not {"@AGENTS.md", "@./AGENTS.md"}.isdisjoint(text.split()):
        text += ready.read_text(os.path.join(root, "AGENTS.md"))
    return without_lines(briefing, published_lines(text))


def _keeps_briefing(harness: str, source: "Any") -> bool:
    """Returns whether a session that starts so has the briefing that it was shown before."""
    return source in (RESUMED, FORKED) and not _fact_of(harness, "LOSES_BRIEFING")


def _is_later_prompt(root: str, session: str, source: "Any") -> bool:
    """Returns whether a prompt is not the first of its session, which had the briefing."""
    if source != hook_events.AT_PROMPT or not session:
        return False
    from memory_assets.stages.deliver.shown_context import was_briefed

    return was_briefed(root, session)


def _forget(root: str, session: str, source: "Any") -> None:
    """Notes that a session that was compacted or cleared lost the memories that it was shown."""
    if session and source in (COMPACTED, CLEARED):
        from memory_assets.stages.deliver.shown_context import forget_ids

        forget_ids(root, session)


def _note(
    root: str, session_id: str, source: "Any", text: str, payload: "Mapping[str, Any]"
) -> bool:
    """Notes that the session is shown the briefing.

    Returns whether the session, or the session that it was forked from, had the briefing already.
    """
    from memory_assets.stages.deliver.shown_context import has_briefing, note_briefing

    forked_from = _forked_from(payload.get("transcript_path")) if source == FORKED else ""
    has_parents_briefing = bool(forked_from) and has_briefing(root, forked_from, text)
    return note_briefing(root, session_id, text) or has_parents_briefing


def _forked_from(path: "Any") -> str:
    """Returns the session that a transcript was forked from, as its first line states; else ""."""
    import re

    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            match = re.search(r'"forked_from_id":\s*"([\w-]+)"', file.readline(MOST_PAYLOAD))
    except (OSError, TypeError):
        return ""  # the fork is shown the briefing again
    return match[1] if match else ""


def _recall(harness: str, root: str, session: "Any", payload: "Mapping[str, Any]") -> None:
    """Prints the memories near the prompt, if a running server of tools answers in time.

    The server is told that they were shown, so that it counts them as recalled.
    """
    prompt = payload.get("submitted_prompt") or payload.get("prompt")
    if not prompt or not isinstance(prompt, str) or not isinstance(session, str):
        return
    if present_root(root) != root or os.name != "posix":
        return
    from memory_assets.stages.deliver.prompts import SHOWN, ask_server

    text, server = ask_server(root, prompt, session, ready.here())
    if server is not None:
        _print_context(harness, hook_events.PROMPT, text)
        server.sendall(SHOWN)
        server.close()


def _tell_before(root: str, session: "Any", payload: "Mapping[str, Any]") -> None:
    """Prints what is surely known of the file or command that a tool is about to use, if a service
    answers in time. It says nothing of whether the tool may run.
    """
    if not isinstance(session, str) or present_root(root) != root:
        return
    given = payload.get("tool_input")
    if isinstance(given, dict):
        given = {name: str(given[name])[:LONGEST_ARGUMENT] for name in given}
    from memory_assets.store.sockets import ask

    tool = str(payload.get("tool_name"))
    folder = payload.get("cwd") or ready.here()
    where = (root, "before_tool", TOOL_SECONDS)
    reply = ask(*where, tool=tool, arguments=given, session=session, folder=folder)
    if reply and reply["text"]:
        _print(hook_events.json_context(hook_events.TOOL, visible(reply["text"])))


def _send(words: "Sequence[str]") -> None:
    data, warnings = spool_words(words)
    if "--json" in words:
        import json

        print(json.dumps({"v": 1, "ok": True, "data": data, "warnings": warnings}))
        return
    for warning in warnings:
        _warn(warning)


def spool_words(words: "Sequence[str]") -> "tuple[dict[str, str], list[str]]":
    """Spools the event that the words of a command line state.

    Returns the `id`, `name` and `store` of the event, and warnings.
    """
    (name,), options = _parse_words(words)
    option = options.get("data", "{}")
    text = _stdin() if option == "-" else option
    data = payload_of(text)
    warnings = list[str]()
    if not data and text.strip() not in ("{}", ""):
        warnings.append("the data of the event is not a JSON object, so it is sent without data")
    if "session" in options:
        data["sessionId"] = options["session"]
    root = options.get("store") or find_data()
    id, warning = spool_event(root, name, data)
    if warning:
        warnings.append(warning)
    return {"id": id, "name": name, "store": root}, warnings


def _parse_words(words: "Sequence[str]") -> "tuple[list[str], dict[str, str]]":
    """Returns the positional words, and the options with their values."""
    positional: list[str] = []
    options: dict[str, str] = {}
    remaining_words = iter(words)
    for word in remaining_words:
        if word.startswith("--"):
            options[word[2:]] = "" if word == "--json" else next(remaining_words, "")
        else:
            positional.append(word)
    return positional, options


def _print_context(harness: str, event: str, text: str) -> None:
    """Prints the text so that the harness adds it to the model's context: as its package renders
    it, else as it is.
    """
    if not text:
        return
    render = _fact_of(harness, "render_context")
    text = visible(text)
    _print(render(event, text) if render else text)


def _fact_of(harness: str, name: str) -> "Any":
    """Returns what the package of the harness says to hooks under this name; else None, as for a
    harness that is not known.
    """
    from importlib import import_module

    try:
        package = import_module(f"memory_assets.harnesses.{harness}")
    except ModuleNotFoundError:
        return None
    return getattr(package, name, None)


def _print(text: str) -> None:
    sys.stdout.buffer.write(text.rstrip("\n").encode("utf-8", "replace") + b"\n")
    sys.stdout.flush()


def _stdin() -> str:
    """Returns what is written to stdin until it is closed, or until `WAIT_SECONDS` are over."""
    if sys.stdin is None or sys.stdin.isatty():
        return ""
    descriptor = sys.stdin.fileno()
    payload = b""
    until = time.monotonic() + WAIT_SECONDS
    while len(payload) < MOST_PAYLOAD and _is_readable(descriptor, until - time.monotonic()):
        chunk = os.read(descriptor, 65_536)
        if not chunk:
            break
        payload += chunk
    return payload.decode("utf-8", "replace")


def _is_readable(descriptor: int, seconds: float) -> bool:
    if os.name != "posix":
        return True  # other systems can wait for sockets only
    import select

    return bool(select.select([descriptor], [], [], max(0.0, seconds))[0])


def _short(value: "Any") -> "Any":
    return value[:LONGEST_VALUE] if isinstance(value, str) else value


def _never_failing(work: "Callable[..., None]", *arguments: "Any") -> int:
    """Does the work and returns the exit code 0; an error becomes a warning on stderr."""
    os.umask(0o077)
    try:
        work(*arguments)
    except Exception as error:
        _warn(f"nothing was sent or shown: {error}")
        _drop(1)
    return 0


def _warn(text: str) -> None:
    try:
        print(f"memory: {text}", file=sys.stderr, flush=True)
    except (OSError, ValueError):  # stderr is closed, or its disk is full
        _drop(2)


def _drop(descriptor: int) -> None:
    """Discards unwritten output to stdout (1) or stderr (2), which would be an error at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
    except OSError:
        return
