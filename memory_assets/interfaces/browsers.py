"""Recognises requests that a browser sends, by their headers.

Any web page can make a browser send a request to a port of this machine: by a link, an image, a
form or a script. Recent browsers send `Sec-Fetch-Site`, which says whether the page belongs to
another site; old browsers do not. Most programs send none of the headers listed here. A program
that does can add `OWN_HEADER`. A page cannot add it: the browser asks the server first (a CORS
preflight), and the server never allows it.
"""

from collections.abc import Iterable

OWN_HEADER = "X-Memory-Request"
"""With this header, whatever its value, a request is accepted though it looks like a browser's."""

BROWSER_HEADERS = (b"origin", b"referer", b"cookie", b"upgrade-insecure-requests")
BROWSER_PREFIX = b"sec-"
"""`Sec-Fetch-*`, `Sec-CH-*`, `Sec-GPC`: names that scripts of a page cannot set."""

BROWSER_AGENT = b"mozilla/"
"""Beginning of the `User-Agent` of every browser."""

BROWSER_MEDIA = (
    b"text/html", b"text/css", b"application/xhtml", b"image/", b"audio/", b"video/", b"font/",
)  # fmt: skip
"""What a browser accepts for documents, styles and media; programs accept JSON or anything."""

Headers = Iterable[tuple[bytes, bytes]]


def is_from_browser(headers: Headers) -> bool:
    """Returns whether one of the headers is a sign of a browser.

    The names are in lower case, as ASGI passes them.
    """
    return any(_is_browser_sign(name, value.strip().lower()) for name, value in headers)


def has_own_header(headers: Headers) -> bool:
    """Returns whether the request carries `OWN_HEADER`."""
    own_name = OWN_HEADER.lower().encode()
    return any(name == own_name for name, _ in headers)


def _is_browser_sign(name: bytes, value: bytes) -> bool:
    if name == b"user-agent":
        return value.startswith(BROWSER_AGENT)
    if name == b"accept":
        return any(kind in value for kind in BROWSER_MEDIA)
    # Node's fetch sends this header, too. A page's request in this mode also has an Origin.
    if (name, value) == (b"sec-fetch-mode", b"cors"):
        return False
    return name in BROWSER_HEADERS or name.startswith(BROWSER_PREFIX)
