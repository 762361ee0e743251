"""Recognises the harness that wrote a file. There is one rule for each, and the first that fits
counts.
"""

from collections.abc import Collection

from memory_assets.harnesses.claude_code.recogniser import RECOGNISER as CLAUDE_CODE
from memory_assets.harnesses.codex.recogniser import RECOGNISER as CODEX
from memory_assets.harnesses.pi.recogniser import RECOGNISER as PI
from memory_assets.harnesses.recogniser import Recogniser, Record
from memory_assets.harnesses.without_reader import WITHOUT_READER

RECOGNISERS = (*WITHOUT_READER, CODEX, CLAUDE_CODE, PI)


def recognise(record: Record) -> Recogniser | None:
    """Returns the harness that writes such records; None where several do, or none is known to."""
    return next((recogniser for recogniser in RECOGNISERS if recogniser.is_record(record)), None)


def recognise_tables(names: Collection[str]) -> Recogniser | None:
    """Returns the harness that keeps its sessions in such tables, if one is known to."""
    with_tables = (recogniser for recogniser in RECOGNISERS if recogniser.tables)
    return next((recogniser for recogniser in with_tables if recogniser.tables <= set(names)), None)
