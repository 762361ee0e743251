"""Writes a page of HTML that needs no other file: no scripts, nothing is loaded from elsewhere."""

from collections.abc import Iterable
from html import escape

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Forbids scripts and requests, whatever the body contains."""

STYLE = """
body { max-width: 820px; margin: 32px auto; padding: 0 20px 60px;
  font: 15px/1.5 system-ui, sans-serif; color: #22262b; background: #fff }
h1 { font-size: 23px; margin: 0 0 4px }
h2 { font-size: 17px; margin: 28px 0 6px }
"""

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="robots" content="noindex">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


def render_page(title: str, body: Iterable[str], style: str = "") -> str:
    """Returns the page with this title, which is escaped, these parts of HTML, and this style after
    that of all pages.
    """
    return PAGE.format(
        policy=POLICY, title=escape(title), style=STYLE + style, body="\n".join(body)
    )
