"""The normal form of a transcript line, the same for every coding agent.

A reader takes one line of the file at a time and returns one `Parsed`. Between lines it remembers,
for instance, which tools were called whose results follow; this is its state, from which a new
reader can continue. An `Identifier` gives each message an id that is the same in forks and replays
of a session. `claude_code`, `codex` and `pi` explain their formats.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, Self

import orjson

from memory_assets.harnesses.asking import ASKING, questions_in
from memory_assets.harnesses.human_words import NOTE, count_images, parse_user_text, strip_memories
from memory_assets.harnesses.tool_calls import CallEffect, describe_call, render_call
from memory_assets.schema.records import MessageKind, RecordStatus
from memory_assets.schema.vocabulary import Author
from memory_assets.text.files import UTF8_BOM
from memory_assets.text.moments import event_time

REMEMBERED_CALLS = 500
"""Calls that a reader remembers until their result comes; at most a few dozen run in parallel."""

_LONE_HIGH = re.compile(rb"(?<!\\)((?:\\\\)*)\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])")
_LONE_LOW = re.compile(
    rb"(?<!\\u[dD][89abAB][0-9a-fA-F]{2})(?<!\\)((?:\\\\)*)\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)


@dataclass(slots=True)
class Parsed:
    """One line in normal form; its `status` is `message`, or the reason why it is not one."""

    record_type: str
    """The harness's own name of the record, such as `response_item/message`."""
    status: RecordStatus
    event_at: datetime | None = None
    author: Author | None = None
    kind: MessageKind | None = None
    text: str = ""
    """The text of the message without reasoning, harness scaffolding and injected memories."""
    identity: str | None = None
    """How the harness identifies the message; None where only the messages before it do."""
    content: str | None = None
    """The content as written, where `text` was made from it. Ids hash the content, so that they
    stay when the rules that make `text` change.
    """
    is_turn: bool = False
    """Whether it is in the user's role, whoever wrote it (see `Identifier`)."""
    tool_name: str | None = None
    call_id: str | None = None
    is_error: bool = False
    is_user_turn: bool = False
    """Whether the owner wrote it to ask the agent for something."""
    image_count: int = 0
    boundary: str | None = None
    """`compaction` where the harness compacted the context."""
    kept_from: str | None = None
    """The `native_id` of the first entry that a compaction kept."""
    native_id: str | None = None
    """The harness's id of the line; without ids, its number, where the harness counts entries."""
    parent_id: str | None = None
    """The `native_id` of the record before it; empty at the root of a tree, None without a tree."""
    undone_turns: int = 0
    """Latest turns that the record takes back."""
    parent_session_id: str | None = None
    cwd: str | None = None
    branch: str | None = None
    repository: str | None = None
    title: str | None = None
    summary: str | None = None
    """What the harness's model wrote for a person who was away; it is no message."""
    version: str | None = None
    model: str | None = None
    """The model that wrote the message."""
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()

    @classmethod
    def message(
        cls, record_type: str, author: Author, kind: MessageKind, content: str, **fields: Any
    ) -> "Parsed":
        """Returns a message whose text is the content without injected memories."""
        fields |= {"author": author, "kind": kind, "text": strip_memories(content)}
        return cls(record_type, "message", content=content, **fields)

    @classmethod
    def not_a_message(cls, record_type: str, is_known: bool) -> "Parsed":
        """Returns a record that is no message; `is_known` says whether its type is expected."""
        return cls(record_type, "known" if is_known else "unknown")

    @classmethod
    def user_message(
        cls, record_type: str, text: str, images: int, identity: str | None = None
    ) -> "Parsed":
        """Returns the message of a text in the user's role, which may be the harness's."""
        words = parse_user_text(text)
        is_person = words.voice == "person" or (images > 0 and not text.strip())
        return cls(
            record_type,
            "message",
            author="owner" if is_person else "injected",
            kind="summary" if words.voice == "summary" else "text",
            text=strip_memories(words.text) or ("[image]" if images else ""),
            identity=identity,
            content=text,
            is_turn=True,
            tool_name=NOTE if words.is_note else None,
            is_user_turn=is_person and (words.is_turn or images > 0),
            image_count=max(images, count_images(text)),
        )

    def to_owner(self, text: str, *, is_user_turn: bool = False) -> None:
        """Makes this message a text of the owner."""
        self.author = "owner"
        self.kind = "text"
        self.text = text
        self.is_user_turn |= is_user_turn

    def to_injected(self) -> None:
        """Makes this message one that the harness or another agent put in the user's role."""
        self.author = "injected"
        self.is_user_turn = False

    def to_subagent(self) -> "Parsed":
        """Makes this message one of a sub-agent's thread, and returns it.

        The instructions there come from another agent and not from the owner.
        """
        self.is_user_turn = False
        if self.author in ("owner", "assistant"):
            self.author = "subagent"
        return self


class TranscriptReader(ABC):
    """Turns the lines of one transcript into normal form, in order."""

    def __init__(self, session_id: str, state: Mapping[str, Any] | None = None) -> None:
        self.session_id = session_id
        self.state: dict[str, Any] = {"calls": {}, **deepcopy(dict(state or {}))}
        """What a new reader needs to continue from here, as plain JSON values."""

    @classmethod
    def open(cls, session_id: str, path: str, state: Mapping[str, Any] | None = None) -> Self:
        """Returns a reader for the file at the path, which continues from the state."""
        return cls(session_id, state)

    @staticmethod
    def session_in(record: Mapping[str, Any]) -> str | None:
        """Returns the session that one of the first records names, if it names one."""
        if record.get("type") in ("session", "session_meta") and record.get("id"):
            return str(record["id"])
        return None

    @staticmethod
    def session_of_path(path: str, stem: str, records: Sequence[Mapping[str, Any]]) -> str | None:
        """Returns the session if the path decides it, else None.

        `stem` is the file's name without suffixes, `records` are the first of the file.
        """
        return None

    @staticmethod
    def folder_of_path(path: str) -> str:
        """Returns the working folder if the place of the file decides it, else an empty text."""
        return ""

    @classmethod
    def seed_of(cls, session_id: str, first_lines: Sequence[bytes]) -> str:
        """Returns the seed of the file's message ids.

        It is the session at the root of its forks; of a file that is no fork, its own session.
        """
        return session_id

    def read(self, line: bytes) -> Parsed:
        """Returns the line in normal form; never raises: the status says that it cannot be read."""
        try:
            record = load_line(line)
        except orjson.JSONDecodeError:
            is_blank = not line.removeprefix(UTF8_BOM).strip()
            return Parsed("blank", "known") if is_blank else Parsed("broken", "broken")
        if type(record) is not dict:
            return Parsed(f"json/{type(record).__name__}", "unknown")
        return self.read_record(record)

    def read_record(self, record: dict[str, Any]) -> Parsed:
        """Returns the record in normal form; never raises."""
        try:
            return self.parse(record)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            # A known type whose fields have another shape counts as a new type.
            name = f"{record.get('type')}/malformed"
            return Parsed(name, "unknown", event_time(record.get("timestamp")))

    @abstractmethod
    def parse(self, record: dict[str, Any]) -> Parsed:
        """Returns the record in normal form; may raise where a field has an unexpected shape."""

    def add_envelope(self, parsed: Parsed, record: Mapping[str, Any]) -> None:
        """Adds what Claude Code and Qwen Code say in each record: its ids, time, folder, branch."""
        parsed.event_at = event_time(record.get("timestamp")) or parsed.event_at
        parsed.native_id = text_or_none(record.get("uuid"))
        parsed.parent_id = parent_in(record, "parentUuid")
        parsed.cwd = text_or_none(record.get("cwd"))
        parsed.version = text_or_none(record.get("version"))
        branch = text_or_none(record.get("gitBranch"))
        parsed.branch = None if branch == "HEAD" else branch
        # A sub-agent's records name their parent's session.
        session_id = text_or_none(record.get("sessionId"))
        parsed.parent_session_id = None if session_id == self.session_id else session_id

    def remember_turn(self, parsed: Parsed, id: str) -> None:
        """Remembers the id of a message if it is a turn of the owner, for `undo_from`."""
        turns = self.state.setdefault("turns", [])
        if parsed.is_user_turn and id not in turns:
            turns.append(id)

    def undo_from(self, ids: Sequence[str]) -> int:
        """Forgets the turns from the first one with one of the ids on; returns their number."""
        turns = self.state.setdefault("turns", [])
        first = next((index for index, id in enumerate(turns) if id in ids), len(turns))
        count = len(turns) - first
        del turns[first:]
        return count

    def remember_call(self, call_id: str | None, tool: str, arguments: Any) -> CallEffect:
        """Remembers the tool and the author of its result, and returns what the call does."""
        call = describe_call(tool, arguments)
        calls = self.state["calls"]
        if call_id:
            calls[call_id] = [tool, call.author]
        if len(calls) > REMEMBERED_CALLS:
            del calls[next(iter(calls))]
        return call

    def ask(self, parsed: Parsed, *calls: tuple[str, Any]) -> None:
        """Puts the questions of calls (tool, arguments) above their text, and remembers the keys of
        their answers.
        """
        asking = [arguments for tool, arguments in calls if tool in ASKING]
        questions = dict[str, str]()
        for arguments in asking:
            questions |= questions_in(arguments)
        if asking:
            self.state["asked"] = [*questions]
        if questions:
            parsed.kind = "text"
            parsed.text = strip_memories("\n".join([*questions.values(), parsed.text]))

    def tool_result(self, record_type: str, call_id: Any, output: Any) -> Parsed:
        """Returns the result of a call, without `text`; the called tool decides its author."""
        content, images = join_blocks(output)
        known_id = text_or_none(call_id)
        tool, author = self.state["calls"].pop(known_id or "", (None, "tool"))
        parsed = Parsed(record_type, "message", author=author, kind="tool_result")
        parsed.content = content
        parsed.tool_name = tool
        parsed.call_id = known_id
        parsed.image_count = images
        return parsed

    def assistant_message(
        self, record_type: str, texts: Sequence[str], calls: Sequence[tuple[str, str, Any]]
    ) -> Parsed:
        """Returns a message of an assistant.

        It has texts and calls of tools; a call is its id, the tool's name and the arguments.
        """
        rendered = (render_call(tool, arguments) for _, tool, arguments in calls)
        kind = "text" if texts else "tool_call"
        parsed = Parsed(record_type, "message", author="assistant", kind=kind)
        parsed.content = "\n".join([*texts, *(call_id for call_id, _, _ in calls)])
        parsed.text = strip_memories("\n".join([*texts, *rendered]))
        if calls:
            parsed.call_id, parsed.tool_name, _ = calls[0]
        for call_id, tool, arguments in calls:
            call = self.remember_call(call_id, tool, arguments)
            parsed.files_read += call.files_read
            parsed.files_modified += call.files_modified
        return parsed


def join_blocks(content: Any) -> tuple[str, int]:
    """Returns the text of a string or of content blocks, and the number of images among them."""
    while isinstance(content, Mapping):
        content = content.get("content") or content.get("output")
    if content is None or isinstance(content, str):
        return content or "", 0
    joined = "\n".join(text for text in map(_text_of, content) if isinstance(text, str))
    image_blocks = [block for block in content if block.get("type") in ("image", "input_image")]
    return joined, len(image_blocks)


def _text_of(block: Mapping[str, Any]) -> Any:
    if block.get("type") == "tool_reference":
        return f"[tool {block.get('tool_name')}]"
    return block.get("text")


def text_of_response(response: Any) -> str:
    """Returns the output or the error in a response of Gemini's API, or else all of it."""
    fields = response if isinstance(response, Mapping) else {"output": response}
    known = [fields[name] for name in ("output", "error", "content") if name in fields]
    value = next(filter(None, known), "" if known else fields or "")
    if isinstance(value, list) and all(isinstance(block, Mapping) for block in value):
        value = join_blocks(value)[0] or value
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def as_blocks(content: Any) -> Any:
    """Returns content blocks, also of a plain string."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


class Identifier:
    """Gives each message an id that is the same in every fork and replay of it.

    The id of a message with an identity of its own is the hash of the identity and the content.
    The id of any other message depends on the turns before it. Their chain of hashes starts from
    the root session's id and advances with each message in the user's role. So forks that leave out
    tool calls, or whose harness instructions differ, still agree on the turns.
    """

    def __init__(self, seed: str, state: str | None = None) -> None:
        # The hash of the latest turn, and that of the latest message after the turn.
        self._turn, _, self._aside = (state or f"{_hash(seed)} ").partition(" ")

    @property
    def state(self) -> str:
        """What a new identifier needs to continue from here."""
        return f"{self._turn} {self._aside}"

    def identify(self, parsed: Parsed) -> str:
        """Returns the id of the message: `msg_` and 20 hex digits."""
        content = parsed.text if parsed.content is None else parsed.content
        if parsed.identity is not None:
            return f"msg_{_hash(parsed.identity, content)}"
        if parsed.is_turn:
            self._turn, self._aside = _hash(self._turn, "turn", content), ""
            return f"msg_{self._turn}"
        self._aside = _hash(self._aside or self._turn, "aside", content)
        return f"msg_{self._aside}"


def parent_in(record: Mapping[str, Any], name: str) -> str | None:
    """Returns the id of the record before this one; empty at the root, None without the field."""
    return str(record[name] or "") if name in record else None


def text_or_none(value: Any) -> str | None:
    """Returns a text that is not empty, else None."""
    return value if type(value) is str and value else None


def _hash(*parts: str) -> str:
    return sha256("\x1f".join(parts).encode("utf-8", "replace")).hexdigest()[:20]


def load_line(line: bytes) -> Any:
    r"""Returns the JSON value of a line; raises `orjson.JSONDecodeError` if it has none.

    Half an emoji (`\ud83d` alone) and bytes that are not UTF-8 are replaced.
    """
    line = line.removeprefix(UTF8_BOM)
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        text = line.decode("utf-8", "replace").encode()
        if b"\\ud" in text or b"\\uD" in text:
            text = _LONE_LOW.sub(rb"\1\\ufffd", _LONE_HIGH.sub(rb"\1\\ufffd", text))
        return orjson.loads(text)
