"""Makes notes of pages and repositories: title, tags, a short text, and the projects whose memories
are about the same.

Relevance is measured and not judged by a model: the mean cosine of the note with the nearest texts
of each project, its facts and what its sessions were about: narratives, or without a model first
requests. The words of a page make no rule.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import chain

import numpy as np
import polars as pl

from memory_assets.schema.records import VALID_STATES
from memory_assets.stages.embed.encode import matrix_of

LONGEST_NOTE = 500
"""Characters of the text of a note; the whole text is found by a search of the library."""

MOST_TAGS = 8
LONGEST_TAG = 40
NEAREST = 3
"""Texts of a project that are compared."""

RELEVANT = 0.4
"""Mean cosine from which a note is relevant to a project; `make bench ROWS=relevance` prints how
many pages reach it.
"""

MOST_PROJECTS = 3
_NOT_IN_TAG = re.compile(r"[^\w-]+")
_HEADING = re.compile(r"^#{1,6}[ \t]+", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")


def note_of(title: str, description: str, text: str, url: str, at: datetime) -> str:
    """Returns what is recalled: the title, the description or else the beginning of the text, and
    the source.
    """
    words = " ".join((description or _without_title(text, title)).split())
    note = f"{title}: {_cut(words)}" if words else title
    return f"{note} (read at {url} on {at:%Y-%m-%d})"


def tags_of(*tags: Iterable[str]) -> tuple[str, ...]:
    """Returns the tags that were given, then those of the page, as tags are written."""
    written = (_NOT_IN_TAG.sub("-", tag.strip().lower()).strip("-_") for tag in chain(*tags))
    valid = dict.fromkeys(tag for tag in written if tag and len(tag) <= LONGEST_TAG)
    return tuple(valid)[:MOST_TAGS]


def relevance_of(
    vector: np.ndarray, texts: pl.DataFrame, embeddings: pl.DataFrame
) -> dict[str, float]:
    """Returns the projects that the vector is relevant to, the most relevant first; `texts` are
    memories and requests.

    Held memories count, too, as they are about their project whether they are true or not; replaced
    and forgotten ones do not.
    """
    about = texts.filter(pl.col("state").is_in([*VALID_STATES, "held"]) & (pl.col("project") != ""))
    vectors = matrix_of(about["text_hash"], embeddings)
    if about.is_empty() or vectors.shape[1] != len(vector):
        return {}
    means = (
        about.select("project", cosine=pl.Series(vectors @ vector, dtype=pl.Float64))
        .sort("cosine", descending=True)
        .group_by("project", maintain_order=True)
        .agg(pl.col("cosine").head(NEAREST).mean())
        .sort(["cosine", "project"], descending=[True, False])
        .head(MOST_PROJECTS)
    )
    return {name: round(cosine, 3) for name, cosine in means.iter_rows() if cosine >= RELEVANT}


def project_of(relevance: Mapping[str, float]) -> str:
    """Returns the project that it is most relevant to; empty where there is none."""
    return max(relevance, key=lambda name: (relevance[name], name), default="")


def _without_title(text: str, title: str) -> str:
    """Returns the text without the marks of Markdown's headings, and without the title that it
    begins with.
    """
    return _HEADING.sub("", text).removeprefix(title).lstrip()


def _cut(words: str) -> str:
    """Returns whole sentences within the length, else as many words as fit."""
    if len(words) <= LONGEST_NOTE:
        return words
    ends = [match.start() for match in _SENTENCE_END.finditer(words[:LONGEST_NOTE])]
    return words[: ends[-1]] if ends else words[:LONGEST_NOTE].rsplit(" ", 1)[0] + " …"
