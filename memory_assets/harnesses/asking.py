"""Questions that a harness asks the person for the agent, and the person's answers.

Takes the arguments of such a call and its result, as Claude Code and Codex write them. The
questions are the agent's words and the answers the person's: texts with a line for each.
"""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import orjson

ASKING = frozenset({"AskUserQuestion", "request_user_input", "ask_user_question"})
"""The tools of Claude Code, Codex and Qwen Code."""

_TEXT = r'("(?:[^"\\]|\\.)*")'
_OPTION = re.compile(rf'"label":\s?{_TEXT}(?:,\s?"description":\s?{_TEXT})?')
_NOTE = "user_note: "
"""Beginning of the person's own words among Codex' answers."""


def questions_in(arguments: Any) -> dict[str, str]:
    """Returns the questions of a call by the key of their answers; none that asks for a secret."""
    questions = arguments.get("questions") if isinstance(arguments, Mapping) else None
    if not isinstance(questions, list):
        return {}
    asked = (entry for entry in questions if isinstance(entry, Mapping))
    return {
        str(entry.get("id") or entry["question"]): _line([entry["question"]])
        for entry in asked
        if entry.get("question") and not entry.get("isSecret")
    }


def options_in(call: str) -> dict[str, str]:
    """Returns the descriptions of the options that a rendered call offers, by their labels."""
    options: dict[str, str] = {}
    for label, description in _OPTION.findall(call):
        with suppress(orjson.JSONDecodeError):
            options[orjson.loads(label)] = orjson.loads(description or '""')
    return options


def answers_in(outcome: Any, keys: Iterable[str]) -> str:
    """Returns the answers with these keys, each with the person's own note behind a colon."""
    answers = outcome.get("answers") if isinstance(outcome, Mapping) else None
    if not isinstance(answers, Mapping):
        return ""
    notes = outcome.get("annotations") or {}
    answered = [key for key in keys if key in answers]
    # Where the call is unknown, the texts that Claude Code notes are answers all the same.
    answered = answered or [key for key, answer in answers.items() if isinstance(answer, str)]
    return "\n".join(_line(_texts(answers[key], notes.get(key))) for key in answered)


def _texts(answer: Any, note: Any) -> list[Any]:
    """Returns the texts of an answer: of Claude Code one and a note, of Codex a list."""
    if isinstance(answer, Mapping):
        return answer.get("answers") or []
    return [answer, note.get("notes") if isinstance(note, Mapping) else None]


def _line(texts: Iterable[Any]) -> str:
    strings = (text for text in texts if isinstance(text, str) and text)
    words = (text.removeprefix(_NOTE).split() for text in strings)
    return ": ".join(map(" ".join, words))
