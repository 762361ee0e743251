"""Renders the turns of a session as one page of HTML (`text/html_page.py`).

The page has no scripts, loads nothing from elsewhere, and has a light and a dark look. Everything
that comes from a transcript is escaped.
"""

from collections.abc import Iterable, Iterator
from datetime import tzinfo
from html import escape

from memory_assets.extras.replay import views
from memory_assets.extras.replay.results import SessionReplay, TurnMessage, TurnReplay
from memory_assets.text import html_page
from memory_assets.text.visible import visible
from memory_assets.text.words import counted, shortened, squeezed

SHOWN_LINES = 12
"""Lines of a tool's output that are shown before a reader unfolds it."""

TITLE_CHARS = 90
"""Characters of a turn's first words that are shown as its title."""

STYLE = """
:root { color-scheme: light dark; --ink: #22262b; --faint: #626a72; --line: #dfe3e8;
  --paper: #fff; --box: #f5f6f8; --person: #0b6bcb; --model: #23753b; --tool: #7a4fb0;
  --bad: #b3261e; --open: #8a5a00 }
@media (prefers-color-scheme: dark) { :root { --ink: #e2e5e9; --faint: #9aa3ac;
  --line: #363c43; --paper: #16191d; --box: #1f2429; --person: #6cb2ff; --model: #76c98d;
  --tool: #c3a2f2; --bad: #ff8a80; --open: #f0b95a } }
body { color: var(--ink); background: var(--paper) }
p, ul { margin: 4px 0 }
ul { padding-left: 20px }
.faint, time { color: var(--faint); font-size: 13px }
.open { color: var(--open); font-weight: 600 }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 14px; margin: 10px 0;
  font-size: 13.5px }
dt { color: var(--faint) }
dd { margin: 0; overflow-wrap: anywhere; white-space: pre-line }
.turn { border-top: 1px solid var(--line); padding: 10px 0 }
.turn > summary { cursor: pointer; font-weight: 600; overflow-wrap: anywhere }
.when { display: block; font-weight: 400; font-size: 13px; color: var(--faint);
  padding-left: 17px }
.message { margin: 14px 0; padding-left: 12px; border-left: 3px solid var(--line) }
.message h3 { font-size: 13px; margin: 0 0 2px }
.owner { border-color: var(--person) }
.owner h3 { color: var(--person) }
.assistant, .subagent { border-color: var(--model) }
.assistant h3, .subagent h3 { color: var(--model) }
.failed h3 { color: var(--bad) }
.text { white-space: pre-wrap; overflow-wrap: anywhere }
pre { margin: 4px 0; padding: 8px 10px; background: var(--box); border-radius: 6px;
  font: 12.5px/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere }
.call { color: var(--tool); font: 600 13px ui-monospace, monospace }
code { font: 12.5px ui-monospace, monospace; background: var(--box); padding: 1px 4px;
  border-radius: 4px; overflow-wrap: anywhere }
details.more > summary { cursor: pointer; color: var(--faint); font-size: 13px }
"""


def render_page(
    session: SessionReplay, turns: Iterable[TurnReplay], zone: tzinfo, *, is_one_turn: bool
) -> str:
    """Returns the page of a session with these turns; with several, each turn is folded."""
    body = list(_header(session, zone))
    for turn in turns:
        body += _turn(turn, zone, is_open=is_one_turn)
    return html_page.render_page(visible(session.name), body, STYLE)


def _safe(text: str) -> str:
    """Returns the text as HTML, its invisible characters made visible."""
    return escape(visible(text))


def _faint(text: str) -> str:
    return f'<p class="faint">{_safe(text)}</p>'


def _header(session: SessionReplay, zone: tzinfo) -> Iterator[str]:
    began = session.started_at.astimezone(zone)
    spent = views.duration(session.started_at, session.ended_at)
    yield f"<h1>{_safe(session.name)}</h1>"
    yield _faint(f"{views.origin_of(session)} · {began:%Y-%m-%d %H:%M}, {spent}")
    if session.is_open:
        yield f'<p class="open">{_safe(views.OPEN_SESSION)}</p>'
    for link in session.linked:
        yield f'<p class="faint">{_safe(link.relation)}: <code>{_safe(link.command)}</code></p>'


def _turn(turn: TurnReplay, zone: tzinfo, *, is_open: bool) -> Iterator[str]:
    first_text = next((message.text for message in turn.messages if message.text), "")
    title = _safe(shortened(squeezed(first_text), TITLE_CHARS))
    heading = f'<span class="when">{_safe(views.heading_of(turn, zone))}</span>'
    attribute = " open" if is_open else ""
    start = f'<details class="turn" id="turn-{turn.turn}"{attribute}>'
    yield f"{start}<summary>{title}{heading}</summary>"
    if turn.is_open:
        yield f'<p class="open">{_safe(views.OPEN_TURN)}</p>'
    state = views.state_of(turn).items()
    rows = (f"<dt>{_safe(name)}</dt><dd>{_safe(value)}</dd>" for name, value in state)
    yield f"<dl>{''.join(rows)}</dl>"
    yield from _memories(turn, zone, with_earlier=is_open)
    for message in turn.messages:
        yield from _message(message, zone)
    yield from _learnt(turn)
    yield "</details>"


def _message(message: TurnMessage, zone: tzinfo) -> Iterator[str]:
    kinds = f"message {message.author} failed" if message.is_error else f"message {message.author}"
    moment = f"<time>{message.at.astimezone(zone):%H:%M:%S}</time>"
    yield f'<section class="{escape(kinds)}"><h3>{_safe(views.label_of(message))} {moment}</h3>'
    for part in views.parts_of(message):
        if part.tool:
            yield f'<span class="call">{_safe(part.tool)}</span>'
        is_output = part.tool or message.kind == "tool_result" or message.author == "injected"
        yield _folded(part.text) if is_output else f'<div class="text">{_safe(part.text)}</div>'
    if message.image_count:
        yield _faint(counted(message.image_count, "image"))
    yield "</section>"


def _folded(text: str) -> str:
    """Returns preformatted text; of a long one, lines after the first dozen are folded."""
    lines = text.split("\n")
    if len(lines) <= SHOWN_LINES:
        return f"<pre>{_safe(text)}</pre>"
    first_lines = _safe("\n".join(lines[:SHOWN_LINES]))
    other_lines = _safe("\n".join(lines[SHOWN_LINES:]))
    summary = f"<summary>{len(lines) - SHOWN_LINES:,} more lines</summary>"
    return (
        f'<pre>{first_lines}</pre><details class="more">{summary}<pre>{other_lines}</pre></details>'
    )


def _memories(turn: TurnReplay, zone: tzinfo, *, with_earlier: bool) -> Iterator[str]:
    injected = [memory for memory in turn.injected if with_earlier or not memory.is_before]
    recalled = [recall for recall in turn.recalled if with_earlier or not recall.is_before]
    if [*injected, *recalled]:
        yield "<h2>Memory by this turn</h2>"
    for memory in injected:
        when = "before" if memory.is_before else "in this turn"
        place = _faint(f"put into the context {when}, record {memory.line:,}")
        yield f"{place}{_folded(memory.text)}"
    for recall in recalled:
        yield f"{_faint(views.recalled_when(recall, zone))}<ul>"
        yield from map(_recalled, recall.memories, recall.memories.values())
        yield "</ul>"


def _recalled(id: str, text: str) -> str:
    return f"<li><code>{_safe(id)}</code> {_safe(text or views.GONE)}</li>"


def _learnt(turn: TurnReplay) -> Iterator[str]:
    if not turn.learnt:
        return
    yield "<h2>Learnt from this turn</h2><ul>"
    for fact in turn.learnt:
        held = ", held" if fact.gate == "hold" else ""
        kind = f"{fact.priority} priority, {fact.category}{held}"
        yield f'<li>{_safe(fact.text)} <span class="faint">{_safe(kind)}</span> '
        yield f"<code>{_safe(fact.command)}</code></li>"
    yield "</ul>"
