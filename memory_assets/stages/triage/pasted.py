"""Finds text that was pasted into a session: mails, quotations, templates, review comments.

Takes the quote of an observation and the owner's message that contains it. The owner is the author of the whole message, also
of what somebody else wrote in it. A sentence in a part with the marks of pasted text confirms no proposal: its session does not
count, and without another one only a person can promote it. Pasted text without such marks is not recognised here;
`sensitive.py` limits what it may ask for.
"""

import re

PASTED = "was read in pasted text: only a person can approve this"

_FORWARDED = re.compile(
    r"(?im)^[^\w\n]{0,12}(?:(?:begin )?forwarded message|original message)[^\w\n]{0,12}$|^On .{6,80} wrote:[ \t\r]*$|^<!--"
    r"|^[^\w\n]{0,12}(?!(?:i|we|you|he|she|they)\b)[\w.-]{1,40}[^\w\n]{0,4} (?:commented|left a (?:comment|review)"
    r"|(?:requested|suggested) changes|approved these changes)\b|^comment on lines? [+\w]"
)
"""Lines that mail programs and review pages write before somebody else's text."""

_HEADER = re.compile(r"^[^\w\n]{0,12}(?P<name>From|To|Cc|Subject|Date|Sent|Reply-To|Message-ID):[ \t]*\S", re.I | re.M)
_TEMPLATE = re.compile(
    r"(?im)^(?:#{1,6}[ \t]{1,4}|\*\*)[^\w\n]{0,12}(?:describe the (?:bug|problem|solution)|bug (?:report|description)|"
    r"(?:steps )?to reproduce|reproduction|(?:expected|actual|current) (?:behaviou?r|result)s?|what (?:happened|"
    r"did you expect)|additional context|environment|proposed (?:solution|change)s?|motivation|acceptance criteria|checklist|"
    r"type of change|contributing|how to contribute|contribution guidelines?|code of conduct|pull requests?(?: process)?|"
    r"submitting (?:a |an )?(?:issue|patch|pull request|change)s?|getting started|installation|quick ?start)\b"
)
"""Headings of issue templates, contributing guides and READMEs."""

_QUOTED = re.compile(r"^[ \t]*>.*$", re.M)
_WORD = re.compile(r"\w+")


def is_pasted(quote: str, message: str) -> bool:
    """Returns whether the message holds pasted text and the quote is not outside it."""
    own = own_part(message)
    return own != message and _words(quote) not in _words(own)


def own_part(message: str) -> str:
    """Returns the message up to the first mark of pasted text, without quoted lines."""
    begins = [found.start() for pattern in (_FORWARDED, _TEMPLATE) if (found := pattern.search(message))]
    headers = list(_HEADER.finditer(message))
    names = {found["name"].lower() for found in headers}
    if len(names) > 1 and names & {"from", "subject"}:
        begins.append(headers[0].start())
    return _QUOTED.sub("", message[: min(begins, default=len(message))])


def _words(text: str) -> str:
    """Returns the words alone: a quote may join lines and straighten apostrophes."""
    return " ".join(_WORD.findall(text.lower()))
