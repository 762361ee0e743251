"""Tells the owner's own words in a user turn from what they pasted into it.

A turn may hold a log, a review by somebody else, a chat, a diff, a document; the owner's own line is then the first
one or the last. Takes the text of a turn; gives the owner's own paragraphs, in order. Everything else is quoted
material: it may be searched, but it decides nothing.
"""

import re
from itertools import takewhile

LONG_TURN_CHARS = 900
"""People type a few sentences; longer turns are mostly pasted, and only their edges are looked at."""

EDGE_CHARS = 320
"""A first or last paragraph up to this length may be the owner's own line around a paste."""

DOCUMENT_CHARS = 60
"""A shorter paragraph that is set well may still be typed."""

_FENCED = re.compile(r"^\s*(```|~~~).*?(?:^\s*\1\s*$|\Z)", re.S | re.M)
_TAGGED = re.compile(r"<([a-zA-Z][\w-]{2,})\b[^<>\n]*>.*?</\1>", re.S)
_INTRODUCES = re.compile(
    r"(?:\b(?:feedback|review|finding|comment|issue|error|output|log|message|example|following|this|says|said|wrote"
    r"|replied|told me|got|here'?s?)\b"
    r"[^.?!\n]{0,40}[:：]|\b(?:says|said|wrote|replied)\s*)\s*$",
    re.I,
)
_LOG_LINE = re.compile(
    r"^\s*(?:[❯$%>#»]\s|===|---\s|\+\+\+|@@|\d{4}[-/]\d\d[-/]\d\d|[a-z_]+=\S+ [a-z_]+="
    r"|\d\d:\d\d:\d\d|\[[\w:. /-]{2,40}\]|(?:error|warning|fatal"
    r"|panic|info|debug|note"
    r"|traceback|caused by|at |exit code|ok |fail|pass|remote|source|target|hint)[\s:!(]"
    r"|(?:human|user|assistant|system|owner|ai|bot|agent)\s*:|File \"|\w+(?:Error"
    r"|Exception):|[|+│┌└├─═╭╰]|[{}\[\]<]|\d+\s*[|│]"
    r"|[\w./-]+:\d+(?::\d+)?[: ]|[-+] {0,3}\S*[{}();=])",
    re.I,
)
_STAMPED_CHAT = re.compile(r"\[\d{1,2}:\d\d(?:\s?[AP]M)?\]|^\s*\w+\s+(?:\d{1,2}:\d\d\s?[AP]M|[—-]\s*Yesterday)", re.I | re.M)
_FINDINGS = re.compile(
    r"^\s*(?:[-*]|\d+[.)])?\s*(?:\W{0,3}(?:high|medium|low|critical|major|minor|nit|P[0-3])\b\W{0,3}[:\-–—]"
    r"|findings?\b.{0,20}:|one remaining finding|#{1,4}\s|\*\*)",
    re.I | re.M,
)
_HARD_WRAP = re.compile(r"\S\n[ \t]{3,}\S[^\n]*\n[ \t]{2,}\S")
"""Two lines broken and indented by a terminal; one alone may be the owner's own long line."""

_CASUAL = re.compile(
    r"(?<![\w'.])i(?![\w.])|\b(?:dont|doesnt|didnt|cant|wont|isnt|thats|whats|theres|im|ive|ur|u|gonna|wanna|cuz|pls|plz|yeah|oh|hmm)\b"
    r"|(?<=[a-z])\.\.(?=[a-z ])"
)
"""How people type to an agent, and documents are not written."""

_SMALL_WORD = re.compile(r"\s*[a-z']+(?:[ ,?!]|\.\.|$)")
_PROMPT = re.compile(r"^\s*[❯$%➜]\s+\S", re.M)
_CURLY = re.compile(r"[’“”]")
_WORDS = re.compile(r"[A-Za-z']+")
_CODE_MARKS = re.compile(r"[{}()\[\];=<>|\\/*_#$@]|::")


def own_paragraphs(text: str) -> list[str]:
    """Returns the paragraphs of a user turn that the owner wrote, in order."""
    bare = _TAGGED.sub("\n\n", _FENCED.sub("\n\n", text))
    paragraphs = [p for p in (part.strip("\n") for part in re.split(r"\n\s*\n", bare)) if p.strip()]
    if _looks_pasted(bare):
        return _edges(paragraphs)
    return _typed(paragraphs)


def _looks_pasted(text: str) -> bool:
    if len(text) > LONG_TURN_CHARS or _STAMPED_CHAT.search(text) or _PROMPT.search(text):
        return True
    return bool(_HARD_WRAP.search(text) and len(text) > 200) or (len(_FINDINGS.findall(text)) > 0 and len(text) > 300)


def _edges(paragraphs: list[str]) -> list[str]:
    """Returns the first and the last paragraph where they read as typed by the owner, and casual ones beside the first."""
    if not paragraphs:
        return []
    opens = 1
    while opens < len(paragraphs) and _is_edge(paragraphs[opens]) and _is_casual(paragraphs[opens]):
        opens += 1
    first = _typed(paragraphs[:opens]) if _is_edge(paragraphs[0]) else []
    last = paragraphs[-1]
    is_spoken = bool(first) or _is_casual(last) or last.rstrip().endswith("?")
    is_own = len(paragraphs) > opens and _is_edge(last) and not _is_document(last) and is_spoken
    return first + (_typed([last]) if is_own else [])


def _is_casual(paragraph: str) -> bool:
    """Says whether the paragraph is typed as people type: small letters, no apostrophes, dots between thoughts."""
    return bool(_SMALL_WORD.match(paragraph)) or (bool(_CASUAL.search(paragraph)) and not _CURLY.search(paragraph))


def _is_edge(paragraph: str) -> bool:
    return len(paragraph) <= EDGE_CHARS and not _FINDINGS.search(paragraph) and not _HARD_WRAP.search(paragraph)


def _is_document(paragraph: str) -> bool:
    """Says whether the paragraph is set like a document: a bullet, or a whole, well-formed sentence after many others."""
    return bool(re.match(r"\s*(?:[-*•>|]|\d+[.)])\s", paragraph)) or (
        paragraph[:1].isupper()
        and paragraph.rstrip().endswith(".")
        and not re.search(r"\b(?:i|we|you|please|let'?s)\b", paragraph, re.I)
    )


def _typed(paragraphs: list[str]) -> list[str]:
    """Returns the paragraphs without lines of logs and code; what an introduction ends with a colon announces is left out."""
    found = []
    is_casual = bool(paragraphs) and _is_casual(paragraphs[0])
    for number, paragraph in enumerate(paragraphs):
        if _STAMPED_CHAT.search(paragraph):
            continue
        is_set = paragraph.rstrip().endswith(".") and len(paragraph) > 2 * DOCUMENT_CHARS
        is_set = is_set or _is_document(paragraph) or (bool(_CURLY.search(paragraph)) and not _CURLY.search(paragraphs[0]))
        if number and is_casual and len(paragraph) > DOCUMENT_CHARS and is_set and not _is_casual(paragraph):
            continue
        typed = takewhile(lambda line: not _PROMPT.match(line), paragraph.splitlines())
        lines = [line for line in typed if not _is_machine_made(line)]
        if any(line.strip() for line in lines):
            found.append("\n".join(lines))
        if _INTRODUCES.search(paragraph):
            break
    return found


def _is_machine_made(line: str) -> bool:
    """Says whether a line is output, code or a quotation rather than something that a person types to an agent."""
    if _LOG_LINE.match(line):
        return True
    words = _WORDS.findall(line)
    return len(line) > 30 and (len(words) < 3 or len(_CODE_MARKS.findall(line)) > 2 * len(words))
