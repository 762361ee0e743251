"""Finds the words of questions among what a session said: the ledger keeps only keyed hashes of
them.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator

from memory_assets.harnesses.tool_calls import calls_in
from memory_assets.stages.recall.log import hash_of_question
from memory_assets.text.words import squeezed

_QUOTED = re.compile(r"""(["'])(.+?)\1""", re.DOTALL)


def find_questions(texts: Iterable[str], hashes: Collection[str], key: bytes) -> dict[str, str]:
    """Returns the words of each hash that the texts of prompts and of calls of tools have; not
    those that masking changed.
    """
    found: dict[str, str] = {}
    for text in texts:
        for words in _candidates(text):
            if (hashed := hash_of_question(words, key)) in hashes:
                found.setdefault(hashed, words)
        if len(found) == len(hashes):
            break
    return found


def _candidates(text: str) -> Iterator[str]:
    """Yields a prompt as its hook asks it, the strings among a tool's arguments, and what is quoted
    in them, as in a shell.
    """
    yield squeezed(text)
    for _, given in calls_in(text):
        try:
            arguments = json.loads(given)
        except ValueError:  # cut, or the arguments of a tool that takes plain text
            arguments = given
        for value in arguments.values() if isinstance(arguments, dict) else [arguments]:
            if isinstance(value, str):
                yield value
                yield from (quoted for _, quoted in _QUOTED.findall(value))
