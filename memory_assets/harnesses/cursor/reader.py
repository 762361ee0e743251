"""Reads transcripts of Cursor's agent: `projects/<folder>/agent-transcripts/**/<session>.jsonl`.

No record has a time, a session or a folder. So the time is the one at which the file changed, the
session is the name of the file, and the folder is in the path, with `-` for `/`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path, PureWindowsPath
from typing import Any

from memory_assets.harnesses.human_words import parse_user_text, strip_memories
from memory_assets.harnesses.normal_form import Parsed, TranscriptReader, as_blocks, join_blocks
from memory_assets.text.patterns import words_beside
from memory_assets.text.words import text_hash

KNOWN = words_beside(__file__)
TRANSCRIPTS = "agent-transcripts"
_SUBAGENTS = "subagents"
_BLOCK = re.compile(
    r"(?ms)(?:^|(?<=>))[ \t]*"
    r"<(?:user_query>(.*?)(?:</user_query>|\Z)|(?!user_query>)([\w-]+)[^<>\n]*>.*</\2>)"
)
"""What a person typed, where Cursor adds context to it, or a block of the context.

Such a block ends at its last closing tag, because a file in it may contain any tag.
"""

_NOT_IN_SLUG = re.compile(r"[^A-Za-z0-9]+")


class CursorReader(TranscriptReader):
    """Reads one file of Cursor's agent."""

    @staticmethod
    def session_of_path(path: str, stem: str, records: Sequence[Mapping[str, Any]]) -> str | None:
        """Returns the name of the file; that of a sub-agent is below its session's."""
        *_, session, folder, _ = ("", "", *PureWindowsPath(path).parts)
        return f"{session}/{stem}" if folder == _SUBAGENTS else stem

    @staticmethod
    def folder_of_path(path: str) -> str:
        """Returns the existing folder whose name the path has."""
        folders = PureWindowsPath(path).parts
        if TRANSCRIPTS not in folders[1:]:
            return ""
        return _find_folder(folders[folders.index(TRANSCRIPTS) - 1])

    def parse(self, record: dict[str, Any]) -> Parsed:
        """Returns the record in normal form."""
        role = record.get("role")
        if role not in ("user", "assistant"):
            record_type = str(record.get("type"))
            return Parsed.not_a_message(record_type, record_type in KNOWN["records"])
        blocks = as_blocks(record["message"]["content"])
        parsed = self._user(blocks) if role == "user" else self._answer(blocks)
        if parsed.status == "message":
            parsed.identity = self._identity_of(parsed)
            if "/" in self.session_id:
                parsed.to_subagent()
        return parsed

    def _identity_of(self, parsed: Parsed) -> str:
        """Returns how often the session had the message's content so far.

        What is before the message is not part of it, so that it stays if the file is replaced by
        its end.
        """
        content = parsed.text if parsed.content is None else parsed.content
        counts = self.state.setdefault("counts", {})
        key = text_hash(content)
        counts[key] = counts.get(key, 0) + 1
        return f"cursor:{self.session_id}:{counts[key]}"

    def _user(self, blocks: list[dict[str, Any]]) -> Parsed:
        results = [block for block in blocks if block["type"] == "tool_result"]
        text, images = join_blocks([block for block in blocks if block not in results])
        queries = [block[1] for block in _BLOCK.finditer(text) if block[1] is not None]
        if results:
            return self._results(results, text, "\n".join(queries))
        typed = "\n".join(queries) if queries else _BLOCK.sub("", text)
        parsed = Parsed.user_message("user", typed if typed.strip() else text, images)
        if text.strip() and not typed.strip():
            parsed.to_injected()
        return parsed

    def _results(self, results: list[dict[str, Any]], beside: str, query: str) -> Parsed:
        """Returns the results of one record as one message, the owner's if they typed a query."""
        outputs = [join_blocks(result.get("content"))[0] for result in results]
        output = "\n".join(filter(None, [*outputs, beside]))
        parsed = self.tool_result("user/tool_result", results[0].get("tool_use_id"), output)
        parsed.text = strip_memories(output)
        typed = parse_user_text(query)
        if typed.voice == "person":
            parsed.to_owner(strip_memories(typed.text), is_user_turn=True)
        return parsed

    def _answer(self, blocks: list[dict[str, Any]]) -> Parsed:
        texts = [block["text"] for block in blocks if block["type"] == "text" and block["text"]]
        calls = [
            (str(block.get("id")), str(block["name"]), block.get("input"))
            for block in blocks
            if block["type"] == "tool_use"
        ]
        if not texts and not calls:
            return Parsed("assistant", "known")
        return self.assistant_message("assistant", texts, calls)


@lru_cache(maxsize=1_000)
def _find_folder(slug: str) -> str:
    return str(next(_folders_named(Path("/"), slug), ""))


def _folders_named(parent: Path, slug: str) -> Iterator[Path]:
    """Yields the folders below the parent whose path becomes the slug."""
    try:
        folders = sorted(folder for folder in parent.iterdir() if folder.is_dir())
    except OSError:
        return
    for folder in folders:
        name = _NOT_IN_SLUG.sub("-", folder.name).strip("-")
        if name and slug == name:
            yield folder
        elif name and slug.startswith(f"{name}-"):
            yield from _folders_named(folder, slug.removeprefix(f"{name}-"))
