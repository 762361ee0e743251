"""Finds observations that rest on text pasted into a session: mails, quotations, templates, comments of a review.

Takes the words that an observation quotes and the owner's message that they come from. The whole message has the owner as its
author, also what somebody else wrote. A sentence in a part with the marks of pasted text confirms no proposal: its session does
not count, and without another one only a person can promote it. Pasted text without such marks is not recognised here; what it
may ask for is limited by `sensitive.py`.
"""

import re
from collections.abc import Collection

import polars as pl

from memory_assets.schema.protocols import Tables

PASTED = "was read in pasted text: only a person can approve this"

_FORWARDED = re.compile(
    r"^[^\w\n]{0,12}(?:(?:begin )?forwarded message|original message)[^\w\n]{0,12}$|^On .{6,80} wrote:[ \t\r]*$|^<!--"
    r"|^[^\w\n]{0,12}(?!(?:i|we|you|he|she|they)\b)[\w.-]{1,40}[^\w\n]{0,4} (?:commented|left a (?:comment|review)|"
    r"(?:requested|suggested) changes|approved these changes)\b"
    r"|^comment on lines? [+\w]",
    re.I | re.M,
)
"""Lines behind which somebody else speaks: mail programs and review pages write them."""

_HEADER = re.compile(r"^[^\w\n]{0,12}(?P<name>From|To|Cc|Subject|Date|Sent|Reply-To|Message-ID):[ \t]*\S", re.I | re.M)
_TEMPLATE = re.compile(
    r"^(?:#{1,6}[ \t]{1,4}|\*\*)[^\w\n]{0,12}(?:describe the (?:bug|problem|solution)|bug (?:report|description)|"
    r"(?:steps )?to reproduce|reproduction|"
    r"(?:expected|actual|current) (?:behaviou?r|result)s?|what (?:happened|did you expect)|additional context|environment|"
    r"proposed (?:solution|change)s?|motivation|acceptance criteria|checklist|type of change|contributing|how to contribute|"
    r"contribution guidelines?|code of conduct|pull requests?(?: process)?|submitting (?:a |an )?(?:issue|patch|"
    r"pull request|change)s?|"
    r"getting started|installation|quick ?start)\b",
    re.I | re.M,
)
"""Headings of issue templates, contributing guides and READMEs."""

_QUOTED = re.compile(r"^[ \t]*>.*$", re.M)
_WORD = re.compile(r"\w+")


def pasted_observations(observation_ids: Collection[str], tables: Tables) -> frozenset[str]:
    """Returns those of the observations whose quote stands in a pasted part of each message that it was taken from."""
    columns = ("id", "day", "quote", "message_ids")
    behind = tables.scan("observations").filter(pl.col("id").is_in(list(observation_ids))).select(columns).collect()
    wanted = behind["message_ids"].explode().unique().drop_nulls().to_list()
    days = [day.isoformat() for day in behind["day"].unique()]
    spoken = tables.scan("messages", days).filter(pl.col("message_id").is_in(wanted) & (pl.col("author") == "owner"))
    text_of = dict(spoken.select("message_id", "text").collect().iter_rows())
    return frozenset(
        row["id"]
        for row in behind.iter_rows(named=True)
        if (texts := [text_of[id] for id in row["message_ids"] if id in text_of])
        and all(is_pasted(row["quote"], text) for text in texts)
    )


def is_pasted(quote: str, message: str) -> bool:
    """Returns whether the message holds pasted text and the quote does not stand outside it."""
    own = own_part(message)
    return own != message and _words(quote) not in _words(own)


def own_part(message: str) -> str:
    """Returns the message up to where pasted text plainly begins, without quoted lines."""
    begins = [found.start() for pattern in (_FORWARDED, _TEMPLATE) if (found := pattern.search(message))]
    headers = list(_HEADER.finditer(message))
    names = {found["name"].lower() for found in headers}
    if len(names) > 1 and names & {"from", "subject"}:
        begins.append(headers[0].start())
    return _QUOTED.sub("", message[: min(begins, default=len(message))])


def _words(text: str) -> str:
    """Returns the words alone: a quote may join lines and straighten apostrophes."""
    return " ".join(_WORD.findall(text.lower()))
