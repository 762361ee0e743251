"""Finds what was said in places that are made for it: no wording has to be recognised there.

Takes the messages of a window; returns candidates. The owner answers questions that the harness
asks for the agent, gives a reason for refusing a call, and says what to remember; the assistant
writes into a file of instructions that the owner named. An answer is a fact of its session, of low
priority: recalled, but not proposed for MEMORY.md. A standing order among these words of the owner
is found as in a turn.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

import orjson

from memory_assets.harnesses.asking import ASKING, options_in
from memory_assets.harnesses.human_words import NOTE
from memory_assets.harnesses.tool_calls import calls_in
from memory_assets.stages.distill.rules.candidates import FACT_CHARS, Candidate, candidate_of
from memory_assets.stages.distill.rules.exchanges import Row, parse_exchanges
from memory_assets.stages.distill.rules.grammar import is_clear
from memory_assets.stages.distill.rules.owner_says import find_owner_facts
from memory_assets.text.sentences import CALL, sentence_spans, split_sentences
from memory_assets.text.words import squeezed

REMEMBERED, RECORDED = 0.95, 0.75
"""Worth of what the owner wants remembered, and of what is a record of its session."""

RECOMMENDED = " (Recommended)"
"""What the agent puts behind the label of an option."""

MOST_WRITTEN = 5
"""Most sentences of one edit; an edit with more writes a document."""

_REMEMBER = re.compile(r"(?i)^(?:# |(?:please )?remember(?: that\b| this:|[:,]))\s*(?P<note>\S.*)$")
_INSTRUCTIONS = re.compile(
    r"(?i)\b(?:(?:CLAUDE(?:\.local)?|AGENTS|GEMINI|MEMORY)\.md|memory/[\w.-]+\.md)\b"
)
_FENCED = re.compile(r"^\s*(```|~~~).*?(?:^\s*\1\s*$|\Z)", re.S | re.M)
_MARKS = re.compile(r"^(?:[-*+]|\d+[.)])\s+")


def find_signals(messages: Sequence[Row]) -> Iterator[Candidate]:
    """Yields the candidates of the messages, in order."""
    question: Row | None = None
    files: set[str] = set()
    for message in messages:
        is_owners = message["author"] == "owner" and message["kind"] == "text"
        is_answer = message["tool_name"] in ASKING
        if is_owners and message["is_user_turn"]:
            files = {*map(str.lower, _INSTRUCTIONS.findall(message["text"]))}
            yield from _remembered(message)
        if is_owners and is_answer and question is not None:
            yield from _answers(question, message)
        elif is_owners and message["tool_name"] and message["is_error"]:
            yield _record(message["text"], message["text"], message)
        elif message["author"] == "assistant":
            question = message if is_answer else None
            yield from _written(message, files)


def _answers(question: Row, answer: Row) -> Iterator[Candidate]:
    """Yields each question with its answer, or the standing order in the owner's own words."""
    asked = question["text"].partition(CALL)[0].strip().splitlines()
    given = answer["text"].splitlines()
    options = options_in(question["text"].partition(CALL)[2])
    if len(asked) != len(given):
        return
    for words, choice in zip(asked, given, strict=True):
        if choice.endswith("?"):
            continue
        chosen = choice.removesuffix(RECOMMENDED)
        text = _with_meaning(f"{words} {chosen}", options.get(choice, ""))
        record = _record(text, chosen, answer, question)
        yield from (choice not in options and _stated(answer, choice)) or [record]


def _with_meaning(text: str, description: str) -> str:
    """Returns the text with what the chosen option means, if both are short enough for a fact: a
    label alone ("All four") seldom says what was chosen.
    """
    meanings = split_sentences(description)[:1]
    whole = ": ".join([text, *meanings])
    return whole if len(whole) <= FACT_CHARS else text


def _record(text: str, quote: str, *evidence: Row) -> Candidate:
    candidate = candidate_of("answer", RECORDED, squeezed(text), quote, *evidence)
    return replace(candidate, priority="low")


def _stated(message: Row, words: str) -> list[Candidate]:
    """Returns what these words of the message lay down or state, as those of a turn do."""
    turn = {**message, "text": words, "is_user_turn": True}
    return find_owner_facts(parse_exchanges([turn]))


def _remembered(turn: Row) -> Iterator[Candidate]:
    """Yields what the turn wants remembered: as an order or a statement, else as it is."""
    text = turn["text"].strip()
    exchanges = parse_exchanges([turn])
    sentences = [*chain.from_iterable(exchange.owner_sentences for exchange in exchanges)]
    if turn["tool_name"] == NOTE:
        sentences = [f"# {text}"]
    elif text.startswith("# "):
        sentences = [text]
    for request in map(_REMEMBER.match, sentences):
        if request and not request["note"].endswith("?"):
            note = request["note"]
            verbatim = candidate_of("fact", REMEMBERED, note, note, turn)
            yield from _stated(turn, note) or [verbatim]


def _written(message: Row, files: set[str]) -> Iterator[Candidate]:
    """Yields what a call writes into one of the files of instructions."""
    for _, call in calls_in(message["text"]) if files else ():
        named = map(str.lower, _INSTRUCTIONS.findall(call[:FACT_CHARS]))
        sentences = _added(call) if not files.isdisjoint(named) else []
        for sentence in sentences[:MOST_WRITTEN]:
            text = squeezed(sentence)
            quote = orjson.dumps(sentence).decode()[1:-1]
            yield candidate_of("fact", RECORDED, text, quote, message, author="assistant")


def _added(call: str) -> list[str]:
    """Returns the clear sentences that an edit adds, not the last of a cut call."""
    before, after = _texts(call)
    prose = _FENCED.sub("\n\n", after)
    spans = sentence_spans(prose)
    whole = spans[:-1] if call.endswith("…") else spans
    sentences = [_MARKS.sub("", prose[start:end]) for start, end in whole]
    return [
        text
        for text in sentences
        if text not in before and text[0] not in "#|<" and is_clear(squeezed(text))
    ]


def _texts(call: str) -> tuple[str, str]:
    """Returns the text before and after an edit; of a patch the added lines."""
    for text in (call, f'{call.rstrip("…")}"}}'):
        try:
            arguments = orjson.loads(text)
        except orjson.JSONDecodeError:
            continue
        if not isinstance(arguments, dict):
            continue
        texts = {name: value for name, value in arguments.items() if isinstance(value, str)}
        before = texts.get("old_string") or texts.get("oldText") or ""
        names = ("new_string", "newText", "content")
        return before, next((texts[name] for name in names if name in texts), "")
    lines = [line[1:] for line in call.splitlines() if line.startswith("+")]
    return "", "\n".join(lines)
