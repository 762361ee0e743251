"""Recognises requests that a browser sends, by their headers.

Any web page can make a browser send a request to a port of this machine: by a link, an image, a
form or a script. Recent browsers send `Sec-Fetch-Site`, which says whether the page belongs to
another site; old ones do not. Programs send none of the headers listed here, or they can add
`OWN_HEADER`. A page cannot add it: the browser asks the server first (a CORS preflight), and the
server never allows it.
"""

from collections.abc import Iterable

OWN_HEADER = "X-Memory-Request"
"""Sent with any value, it makes a request that looks like a browser's acceptable. Pages cannot send
it.
"""

BROWSER_HEADERS = (b"origin", b"referer", b"cookie", b"upgrade-insecure-requests")
BROWSER_PREFIX = b"sec-"
"""`Sec-Fetch-*`, `Sec-CH-*`, `Sec-GPC`: names that scripts of a page cannot set."""

BROWSER_AGENT = b"mozilla/"
BROWSER_MEDIA = (
    b"text/html", b"text/css", b"application/xhtml", b"image/", b"audio/", b"video/", b"font/",
)  # fmt: skip
"""What a browser accepts for documents, styles and media; programs accept JSON or anything."""

Headers = Iterable[tuple[bytes, bytes]]


def is_from_browser(headers: Headers) -> bool:
    """Returns whether one of the headers (lower-case names, as ASGI gives them) is a sign of a
    browser.
    """
    return any(_is_sign(name, value.strip().lower()) for name, value in headers)


def has_own_header(headers: Headers) -> bool:
    """Returns whether the request carries `OWN_HEADER`."""
    wanted = OWN_HEADER.lower().encode()
    return any(name == wanted for name, _ in headers)


def _is_sign(name: bytes, value: bytes) -> bool:
    if name == b"user-agent":
        return value.startswith(BROWSER_AGENT)
    if name == b"accept":
        return any(kind in value for kind in BROWSER_MEDIA)
    # Node's fetch sends it, too; a page's request in this mode has an Origin.
    if (name, value) == (b"sec-fetch-mode", b"cors"):
        return False
    return name in BROWSER_HEADERS or name.startswith(BROWSER_PREFIX)
