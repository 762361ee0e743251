"""Finds what a sentence of a memory names that can be looked up in a repository.

A name has a known shape, in prose too, or is written as code; an ordinary word never is one. The
shapes are those by which entities are recognised.
"""

from collections.abc import Iterator

from memory_assets.schema.records import EntityKind
from memory_assets.stages.embed.entities import mentions_in
from memory_assets.stages.embed.names import code_spans
from memory_assets.stages.verify.named import Named, NamedKind, tasks_in

_KINDS: dict[EntityKind, NamedKind] = {
    "file": "path",
    "folder": "path",
    "identifier": "symbol",
    "variable": "environment variable",
    "branch": "branch",
    "adr": "decision record",
}


def names_in_sentence(text: str) -> Iterator[Named]:
    """Yields the names in the sentence; a name that is written twice, twice."""
    for start, end in code_spans(text):
        yield from tasks_in(text[start:end])
    for mention in mentions_in(text):
        if mention.kind in _KINDS:
            yield Named(_KINDS[mention.kind], mention.name)
