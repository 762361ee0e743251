"""Extractors that are easy to write, to measure ours against: cues and positions, whole voices, a model's recorded answers.

Take the captured messages of labelled sessions, as the table `messages` holds them; give facts as the scorer wants them:
`{"session", "text", "gate", "lines"}`. They know nothing of our observers and our gate.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from memory_assets.stages.distill.model.parser import parse_answer

MOST_CHARS = 300
"""The scorer takes longer facts for wrong."""

A_SESSION = 25

MOST_RECORDS = 8
"""More records would touch a label's evidence by chance; fewer miss it among the repetitions of a transcript."""

Fact = dict[str, Any]
Message = Mapping[str, Any]

_LINE_OR_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+"), 12
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n\n+"), 40
"""Where texts are split, and the fewest characters of a part: people type short lines, assistants set paragraphs."""

_WORD = re.compile(r"[a-z0-9_./#-]{3,}")
_CUE = re.compile(
    r"\b(?:always|never|must|should|don'?t|prefer|instead|rather|because|root cause|decided?|replaced?|renamed|removed"
    r"|fixed|requires?|only|no longer|convention|turns? out|actually|note that|important)\b",
    re.I,
)


def user_sentences(messages: pl.DataFrame) -> list[Fact]:
    """Every sentence of every user turn."""
    return [fact for message in _texts(messages, "owner") for fact in _facts_of(message)]


def assistant_sentences(messages: pl.DataFrame) -> list[Fact]:
    """Every sentence of every reply."""
    return [fact for message in _texts(messages, "assistant") for fact in _facts_of(message)]


def cue_words(messages: pl.DataFrame) -> list[Fact]:
    """The 25 sentences of a session with the most cue words, user turns and last sentences of replies before others."""
    found = []
    for _, own in messages.group_by("session_id", maintain_order=True):
        scored = [entry for message in _texts(own) for entry in _cued(message)]
        best = sorted(scored, key=lambda entry: (-entry[0], entry[1]["lines"], entry[1]["text"]))
        found += [fact for _, fact in best[:A_SESSION]]
    return found


def recorded_naive(messages: pl.DataFrame, recorded: Path) -> list[Fact]:
    """The facts of the recorded answers with the model's own verdicts, each given the records that it shares most words with."""
    found = []
    for (session,), own in messages.group_by("session_id", maintain_order=True):
        rows = own.select("line", "text").rows()
        words = [(line, _words(text)) for line, text in rows]
        for fact in parse_answer(_answer(recorded, str(session))).facts:
            overlaps = sorted(
                ((len(_words(fact.text) & said), -line) for line, said in words), reverse=True
            )
            lines = [-line for count, line in overlaps[:MOST_RECORDS] if count]
            found.append(
                {
                    "session": session,
                    "text": fact.text,
                    "gate": fact.gate or "hold",
                    "lines": sorted(lines),
                }
            )
    return found


def _answer(recorded: Path, session: str) -> str:
    return (recorded / f"{session}.answer.xml").read_text(encoding="utf-8")


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def _texts(messages: pl.DataFrame, author: str | None = None) -> Iterator[Message]:
    """Yields what people and assistants said, in order."""
    said = (
        pl.col("author").is_in(["owner", "assistant"])
        if author is None
        else pl.col("author") == author
    )
    yield from messages.filter(said & (pl.col("kind") == "text")).iter_rows(named=True)


def _facts_of(message: Message) -> list[Fact]:
    end, fewest = _LINE_OR_SENTENCE if message["author"] == "owner" else _SENTENCE
    sentences = (sentence.strip() for sentence in end.split(message["text"]))
    return [
        {
            "session": message["session_id"],
            "text": sentence[:MOST_CHARS],
            "gate": "allow",
            "lines": [message["line"]],
        }
        for sentence in sentences
        if len(sentence) >= fewest
    ]


def _cued(message: Message) -> Iterator[tuple[float, Fact]]:
    """Yields each sentence with its cues and how well it is placed."""
    facts = _facts_of(message)
    for place, fact in enumerate(facts):
        placed = 1.0 if message["author"] == "owner" else 0.5 * (place in (0, len(facts) - 1))
        yield len(_CUE.findall(fact["text"])) + placed + 0.5 * ("`" in fact["text"]), fact
