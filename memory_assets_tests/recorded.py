"""Recorded answers of an observer model to the labelled sessions, for a server that speaks the Messages API.

A recorded answer is about a whole session; every window of the session gets it. Questions about anything else are answered with
a recorded answer, too, which is no usable answer to them.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

LEAST_CHARS, MOST_CHARS = 20, 100
"""Of the lines by which a session is recognised."""


class RecordedAnswers:
    """Lays out the transcripts of the recorded sessions, and answers questions about them."""

    def __init__(self, recorded: Sequence[Path], transcripts: Path, into: Path) -> None:
        self.sessions = {
            path.name.removesuffix(".answer.xml"): path.read_text("utf-8") for path in recorded
        }
        said = {session: _lay_out(session, transcripts, into) for session in self.sessions}
        count = Counter(chain.from_iterable(said.values()))
        self._own = {
            session: [line for line in lines if count[line] == 1] for session, lines in said.items()
        }
        self.unknown: list[str] = []
        """Transcripts of no recorded session."""

    def answer(self, body: dict[str, Any]) -> str:
        """Returns the recorded answer about the session with most lines in the question."""
        material = body["messages"][0]["content"][-1]["text"]
        held = {
            session: sum(line in material for line in lines) for session, lines in self._own.items()
        }
        best = max(held, key=lambda session: held[session])
        if "quoted transcript" in material and not held[best]:
            self.unknown.append(material)
        return self.sessions[best]


def _lay_out(session: str, transcripts: Path, into: Path) -> set[str]:
    """Copies the session's transcript as the harness lays it out, and returns lines of the texts in it."""
    (path,) = (found for found in transcripts.rglob("*.jsonl") if session in found.name)
    target = into / path.relative_to(transcripts)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(path.read_bytes())
    texts = chain.from_iterable(
        _strings(json.loads(line)) for line in target.read_text("utf-8").splitlines()
    )
    lines = (line.strip() for text in texts for line in text.splitlines())
    return {line[:MOST_CHARS] for line in lines if len(line) >= LEAST_CHARS}


def _strings(value: Any) -> Iterator[str]:
    """Yields the strings in a record."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner)
