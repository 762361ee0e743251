"""Reads the visible text of HTML, in one section for each heading.

Scripts, styles and hidden elements are left out.
"""

import re
from collections.abc import Iterator

from lxml import etree, html  # pyright: ignore[reportAttributeAccessIssue]

from memory_assets.extras.library.contents import BYTE_ORDERS, HEADINGS, DocumentSection

# Elements whose text a reader of the page does not see, or that are controls.
SKIPPED = frozenset(
    "script style noscript template svg iframe object embed canvas audio video nav button "
    "select option textarea head".split()
)
# Elements that are set apart from the text around them: a blank line separates them.
BLOCKS = frozenset(
    "address article aside blockquote body caption dd details div dl dt fieldset figcaption "
    "figure footer form h1 h2 h3 h4 h5 "
    "h6 header hr li main ol p pre section summary table tbody tfoot thead tr ul".split()
)
_HIDDEN_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d])", re.I
)
_SPACE = re.compile(r"[^\S\xa0]+")


def read_html(content: bytes, chapter: str = "") -> tuple[str, list[DocumentSection]]:
    """Returns the title and the sections.

    `chapter` is the heading of the first section, where no heading of the page comes before it.
    """
    parser = html.HTMLParser(
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        encoding=_encoding(content),
    )
    try:
        root = html.document_fromstring(content, parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return "", []  # an empty page
    title = root.findtext(".//title") or ""
    return title, list(_sections(root, chapter))


def _encoding(content: bytes) -> str | None:
    """Returns `utf-8` for bytes that are UTF-8 and name no encoding; else None.

    With None libxml2 uses the encoding that the bytes name, or Latin-1.
    """
    says_encoding = (
        b"charset" in content[:2_048].lower()
        or b"encoding" in content[:200].lower()
        or content.startswith(BYTE_ORDERS)
    )
    if says_encoding:
        return None
    try:
        content.decode()
    except UnicodeDecodeError:
        return None
    return "utf-8"


def _sections(root: etree._Element, chapter: str) -> Iterator[DocumentSection]:
    """Yields the text before the first heading, then that of each heading, its words included."""
    parts: list[str] = []
    pre_depth = 0
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        tag = element.tag if isinstance(element.tag, str) else ""
        if event == "start":
            if _is_skipped(element, tag):
                walk.skip_subtree()
                continue
            if tag in HEADINGS:
                yield DocumentSection("".join(parts), chapter=chapter)
                parts = []
                chapter = "".join(element.itertext())
            if tag == "pre":
                pre_depth += 1
            parts.append(_opening(tag) + _plain(element.text, is_verbatim=pre_depth > 0))
            continue
        if not _is_skipped(element, tag):
            if tag == "pre":
                pre_depth -= 1
            parts.append(_closing(tag))
        if element is not root:
            parts.append(_plain(element.tail, is_verbatim=pre_depth > 0))
    yield DocumentSection("".join(parts), chapter=chapter)


def _is_skipped(element: etree._Element, tag: str) -> bool:
    if not tag or tag in SKIPPED:
        return True
    is_hidden = element.get("hidden") is not None or element.get("aria-hidden") == "true"
    return is_hidden or bool(_HIDDEN_STYLE.search(element.get("style") or ""))


def _opening(tag: str) -> str:
    if tag == "li":
        return "\n- "
    if tag in ("br", "tr"):
        return "\n"
    return "\n\n" if tag in BLOCKS else ""


def _closing(tag: str) -> str:
    if tag in ("td", "th"):
        return " "
    return "\n\n" if tag in BLOCKS else ""


def _plain(text: str | None, *, is_verbatim: bool) -> str:
    """Returns the text; unless it is verbatim, every run of white space is one space."""
    return (text or "") if is_verbatim else _SPACE.sub(" ", text or "")
