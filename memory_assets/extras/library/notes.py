"""Makes notes of pages and repositories: a short text, tags, and the projects they are relevant to.

No model judges the relevance. It is the mean cosine between the note and the nearest texts of a
project: its facts, and the narratives or first requests of its sessions.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import chain

import numpy as np
import polars as pl

from memory_assets.schema.records import VALID_STATES
from memory_assets.stages.embed.encode import matrix_of
from memory_assets.text.words import squeezed

LONGEST_NOTE = 500
"""Characters of the text in a note."""

MOST_TAGS = 8
LONGEST_TAG = 40
NEAREST = 3
"""Texts of a project, the nearest ones, whose mean cosine counts."""

RELEVANT = 0.4
"""Mean cosine from which a note is relevant to a project; `make bench ROWS=relevance` prints how
many pages reach it.
"""

MOST_PROJECTS = 3
"""Projects that a note may be relevant to."""

_NOT_IN_TAG = re.compile(r"[^\w-]+")
_HEADING = re.compile(r"^#{1,6}[ \t]+", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")


def note_of(title: str, description: str, text: str, url: str, at: datetime) -> str:
    """Returns the note: title, description (else the beginning of the text), address and day."""
    words = squeezed(description or _without_title(text, title))
    note = f"{title}: {_beginning(words)}" if words else title
    return f"{note} (read at {url} on {at:%Y-%m-%d})"


def tags_of(*tags: Iterable[str]) -> tuple[str, ...]:
    """Returns the tags of all lists in the form of tags: lower case, with hyphens."""
    names = (_NOT_IN_TAG.sub("-", tag.strip().lower()).strip("-_") for tag in chain(*tags))
    valid = dict.fromkeys(tag for tag in names if tag and len(tag) <= LONGEST_TAG)
    return tuple(valid)[:MOST_TAGS]


def relevance_of(
    vector: np.ndarray, texts: pl.DataFrame, embeddings: pl.DataFrame
) -> dict[str, float]:
    """Returns the mean cosine of each project that the vector is relevant to, the highest first.

    `texts` are memories and requests. Held memories count, too: whether true or not, they show what
    their project is about. Replaced and forgotten ones do not count.
    """
    is_counted = pl.col("state").is_in([*VALID_STATES, "held"]) & (pl.col("project") != "")
    compared = texts.filter(is_counted)
    vectors = matrix_of(compared["text_hash"], embeddings)
    if compared.is_empty() or vectors.shape[1] != len(vector):
        return {}
    means = (
        compared.select("project", cosine=pl.Series(vectors @ vector, dtype=pl.Float64))
        .sort("cosine", descending=True)
        .group_by("project", maintain_order=True)
        .agg(pl.col("cosine").head(NEAREST).mean())
        .sort(["cosine", "project"], descending=[True, False])
        .head(MOST_PROJECTS)
    )
    return {name: round(cosine, 3) for name, cosine in means.iter_rows() if cosine >= RELEVANT}


def project_of(relevance: Mapping[str, float]) -> str:
    """Returns the project with the highest relevance; empty where there is none."""
    return max(relevance, key=lambda name: (relevance[name], name), default="")


def _without_title(text: str, title: str) -> str:
    """Returns the text without marks of headings and without the title at its beginning."""
    return _HEADING.sub("", text).removeprefix(title).lstrip()


def _beginning(text: str) -> str:
    """Returns the whole sentences within `LONGEST_NOTE`; without one, as many words as fit."""
    if len(text) <= LONGEST_NOTE:
        return text
    start = text[:LONGEST_NOTE]
    ends = [match.start() for match in _SENTENCE_END.finditer(start)]
    return start[: ends[-1]] if ends else start.rsplit(" ", 1)[0] + " …"
