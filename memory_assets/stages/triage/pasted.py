"""Finds text that was pasted into a session: mails, quotations, templates, review comments, chats,
fenced blocks.

Takes the quote of an observation and the owner's message that contains it. The owner is the author
of the whole message, also of what somebody else wrote in it. A sentence in a part with the marks of
pasted text confirms no proposal: its session does not count, and without another one only a person
can promote it. Pasted text without such marks is not recognised here; `sensitive.py` limits what it
may ask for.
"""

import re

PASTED = "was read in pasted text: only a person can approve this"

_FORWARDED = re.compile(
    r"(?im)^[^\w\n]{0,12}(?:(?:begin )?forwarded message|original message)[^\w\n]{0,12}$"
    r"|^On .{6,80} wrote:[ \t\r]*$|^<!--"
    r"|^(?:Am .{6,60} schrieb .{1,60}|Le .{6,80} a écrit|El .{6,80} escribió|Il .{6,80} ha "
    r"scritto|Em .{6,80} escreveu)"
    r" ?:[ \t\r]*$"
    r"|^commit [0-9a-f]{7,40}\b|^Author: .{1,80}<|^#{1,3} \[?v?\d+\.\d+[.\d]*\]?"
    r"|^[^\n]{1,40}[ \t]{2,}\d{1,2}:\d{2}(?: ?[AP]M)?[ \t\r]*$"
    r"|^\[\d{1,2}:\d{2}(?::\d{2})?\] ?<?[\w.-]{1,40}>?:? "
    r"|^<[\w.-]{1,40}> (?=\w)"
    r"|^[^\w\n]{0,12}(?!(?:i|we|you|he|she|they)\b)[\w.-]{1,40}[^\w\n]{0,4} (?:commented"
    r"|left a (?:comment|review)"
    r"|(?:requested|suggested) changes|approved these changes)\b|^comment on lines? [+\w]"
)
"""Lines that mail programs, review pages, chats, logs and changelogs write before somebody else's
text.
"""

_HEADER = re.compile(
    r"^[^\w\n]{0,12}(?P<name>From|To|Cc|Subject|Date|Sent|Reply-To|Message-ID|Von|An|Betreff"
    r"|Datum|De|À|Objet|"
    r"Para|Asunto|Assunto|Da|Oggetto) ?:[ \t]*\S",
    re.I | re.M,
)
_TEMPLATE = re.compile(
    r"(?im)^(?:#{1,6}[ \t]{1,4}|\*\*)[^\w\n]{0,12}(?:describe the (?:bug|problem|solution)"
    r"|bug (?:report|description)|"
    r"(?:steps )?to reproduce|reproduction|(?:expected|actual|current) (?:behaviou?r"
    r"|result)s?|what (?:happened|"
    r"did you expect)|additional context|environment|proposed (?:solution|change)s?"
    r"|motivation|acceptance criteria|checklist|"
    r"type of change|contributing|how to contribute|contribution guidelines?|code of conduct"
    r"|pull requests?(?: process)?|"
    r"submitting (?:a |an )?(?:issue|patch|pull request|change)s?|getting started"
    r"|installation|quick ?start)\b"
)
"""Headings of issue templates, contributing guides and READMEs."""

_QUOTED = re.compile(r"^[ \t]*>.*$", re.M)
_FENCED = re.compile(r"^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.S | re.M)
_ATTRIBUTED = re.compile(
    r"(?i)\b(?<!\bI )(?<!\bwe )(?:says?|said|wrote|writes|reads|states?|according to "
    r"[^:\n\"“]{1,40})[:,]? ?"
    r"(?:\"[^\"\n]{4,600}\"|“[^”\n]{4,600}”|„[^“\n]{4,600}“|«[^»\n]{4,600}»|'[^'\n]{4,600}'(?!\w))"
)
"""What somebody else says, in quotation marks."""

_SENDERS = frozenset({"from", "subject", "von", "betreff", "objet", "asunto", "assunto", "oggetto"})
_WORD = re.compile(r"\w+")


def is_pasted(quote: str, message: str) -> bool:
    """Returns whether the message holds pasted text and the quote is not outside it."""
    own = own_part(message)
    return own != message and _words(quote) not in _words(own)


def own_part(message: str) -> str:
    """Returns the message up to the first mark of pasted text, without quotations and fenced
    blocks.
    """
    begins = [
        found.start() for pattern in (_FORWARDED, _TEMPLATE) if (found := pattern.search(message))
    ]
    headers = list(_HEADER.finditer(message))
    names = {found["name"].lower() for found in headers}
    if len(names) > 1 and names & _SENDERS:
        begins.append(headers[0].start())
    own = message[: min(begins, default=len(message))]
    return _ATTRIBUTED.sub("", _QUOTED.sub("", _FENCED.sub("", own)))


def _words(text: str) -> str:
    """Returns the words alone: a quote may join lines and straighten apostrophes."""
    return " ".join(_WORD.findall(text.lower()))
