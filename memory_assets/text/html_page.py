"""Renders a page of HTML without scripts, and without anything that is loaded from elsewhere."""

from collections.abc import Iterable
from html import escape
from pathlib import Path

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Forbids scripts and requests, whatever the body contains."""

STYLE = Path(__file__).with_suffix(".css").read_text("utf-8")
PAGE = Path(__file__).with_suffix(".html").read_text("utf-8")


def render_page(title: str, body: Iterable[str], style: str = "") -> str:
    """Returns the page with this title, these parts of HTML, and this style after the common style.

    The title is escaped here; the parts are not.
    """
    return PAGE.format(
        policy=POLICY, title=escape(title), style=STYLE + style, body="\n".join(body)
    )
