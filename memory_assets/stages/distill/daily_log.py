"""Renders the daily log: one Markdown section per window, with a handoff at the end of a session.

Takes the segments and facts of a window, and returns its section: what a model says of each
segment, else quotes of what was asked and written in the window. Other functions replace, append
or remove sections of a log, and keep all other text of the file byte for byte. The handoff has the
length, branch and files of the session, and the task in progress if a model named it. A further
section shows the reflections of the day, and the decisions on the lines that were proposed.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, tzinfo
from itertools import chain

import polars as pl

from memory_assets.schema.vocabulary import MARKS
from memory_assets.stages.distill.quotes import quotes_of, rendered
from memory_assets.stages.distill.rules.exchanges import Row
from memory_assets.text.markdown import keep_brackets
from memory_assets.text.words import shortened, squeezed

WINDOW_DIGITS = 12
"""Digits of a window's id in its markers."""

TITLE_CHARS = 60

MOST_FILES = 8
"""Most read and most modified files that a handoff names; the table `sessions` has all of them."""

_REFLECTED = re.compile(
    r"<!-- reflected (\d{4}-\d\d-\d\d) -->\n.*?<!-- /reflected \1 -->(?:\n|\Z)", re.S
)
_SECTION = re.compile(r"<!-- window ([0-9a-f]{12}) -->\n.*?<!-- /window \1 -->(?:\n|\Z)", re.S)


def render_section(
    window: Row,
    segments: pl.DataFrame,
    observations: pl.DataFrame,
    *,
    session: Row | None = None,
    is_handoff: bool = False,
    open_work: tuple[str, str] = ("", ""),
    zone: tzinfo,
) -> str:
    """Returns the section of one window, between its two markers, without held facts and
    narratives.

    `session` is the window's row of `sessions`, if there is one; it has the session's name and
    files. With `is_handoff`, the section ends with the handoff of the session. `open_work` is the
    task in progress at the end and the next step, or empty texts if no model named them.
    """
    session = session or {}
    of_window = pl.col("window_id") == window["window_id"]
    is_allowed_fact = (pl.col("kind") == "fact") & (pl.col("gate") == "allow")
    facts = observations.filter(of_window & is_allowed_fact).sort("event_at", "id")
    lines = _heading(window, session, zone)
    ordered = segments.filter(of_window).sort("ordinal")
    if (ordered["narrative"] == "").all():
        lines += [*_quotes(ordered.to_dicts()), *_facts(facts, zone)]
    else:
        for segment in ordered.iter_rows(named=True):
            of_segment = facts.filter(segment_id=segment["segment_id"])
            lines += _segment(segment, of_segment, zone)
    if facts.is_empty():
        lines += ["Nothing worth keeping.", ""]
    ending = ["#### Handoff", *_handoff(session)] if is_handoff and session else []
    named = zip(("In progress", "Next"), open_work, strict=True)
    ending += [f"**{title}**: {squeezed(text)}" for title, text in named if text]
    if ending:
        lines += [*ending, ""]
    return _marked(f"window {window['window_id'][:WINDOW_DIGITS]}", lines)


def _heading(window: Row, session: Row, zone: tzinfo) -> list[str]:
    name = squeezed(session.get("name") or window["title"] or window["session_id"])
    trigger = "compaction" if window["trigger"] == "compaction" else "shutdown"
    ended_at = window["ended_at"].astimezone(zone)
    lines = [
        f"### 🔭 Observations (session: {name}, {ended_at:%H:%M})",
        "",
        f"**Trigger**: {trigger}",
    ]
    if session:
        counts = [len(session[files]) for files in ("files_modified", "files_read")]
        lines.append("**Files**: {} modified, {} read".format(*counts))
    return [*lines, "", f"Date: {window['day'].isoformat()}", ""]


def render_reflected(
    day: date, reflections: pl.DataFrame, proposals: Iterable[Mapping[str, str]]
) -> str:
    """Returns the section with the reflections and proposals of the day.

    It is empty if the day has neither. `proposals` are the day's proposals with their decisions.
    """
    lines = [f"### 🔭 Reflected ({day.isoformat()})", ""]
    for row in reflections.sort("project", "reflection_id").iter_rows(named=True):
        cited_count = len(row["observation_ids"])
        read_count = cited_count + len(row["dropped_ids"])
        sizes = f"{cited_count} of {read_count} observations kept, {row['output_tokens']} tokens"
        lines.append(f"**{squeezed(row['project'])}**: {sizes}, by {row['reflector']}")
        lines += row["text"].splitlines() if row["prompt_hash"] else []
    for proposal in proposals:
        state = proposal["state"].capitalize()
        reason = f" ({squeezed(proposal['reason'])})" if proposal["reason"] else ""
        text = squeezed(proposal["text"]) + reason
        lines.append(f"* {state} `{proposal['proposal_id']}`: {text}")
    return _marked(f"reflected {day.isoformat()}", [*lines, ""]) if len(lines) > 2 else ""


def _marked(name: str, lines: Iterable[str]) -> str:
    """Returns the lines between two markers; text that looks like a marker is changed."""
    unmarked = (line.replace("<!--", "<! --").replace("-->", "-- >") for line in lines)
    body = "\n".join(map(keep_brackets, unmarked))
    return f"<!-- {name} -->\n{body}<!-- /{name} -->\n"


def _handoff(session: Row) -> Iterator[str]:
    """Yields the lines about the session itself: length, branch and files."""
    minutes = round(session["duration_seconds"] / 60)
    branch = f", branch {session['branch']}" if session["branch"] else ""
    counts = f"{session['user_turn_count']} turns, {session['message_count']} messages"
    yield f"**Session**: {session['harness']}, {minutes} min, {counts}, {session['folder']}{branch}"
    folder = f"{session['folder']}/"
    for kind in ("modified", "read"):
        files = session[f"files_{kind}"]
        paths = (squeezed(file.removeprefix(folder)) for file in files[:MOST_FILES])
        names = ", ".join(f"`{path}`" for path in paths)
        omitted_count = len(files) - MOST_FILES
        omitted = f" and {omitted_count} more" if omitted_count > 0 else ""
        if files:
            yield f"**{kind.capitalize()}**: {names}{omitted}"


def update_log(text_before: str, sections: Iterable[str], *, title: str | None = None) -> str:
    """Returns the log with these sections, each in its place or at the end; keeps all text that is
    in no section.
    """
    return _update(_SECTION, text_before, sections, title)


def update_reflected(text_before: str, section: str, *, title: str | None = None) -> str:
    """Returns the log with this section of `render_reflected`, in its place or at the end; without
    one if it is empty.
    """
    sections = [section] if section else []
    return _update(_REFLECTED, text_before, sections, title if section else None)


def _update(
    pattern: re.Pattern[str], text_before: str, sections: Iterable[str], title: str | None
) -> str:
    new_sections: dict[str, str] = {}
    for section in sections:
        mark = pattern.match(section)
        assert mark is not None, "a section comes from a function of this module"
        new_sections[mark[1]] = section
    log = text_before or (f"# {title}\n" if title else "")
    log = pattern.sub(lambda mark: new_sections.pop(mark[1], ""), log)
    for section in new_sections.values():
        if log and not log.endswith("\n\n"):
            log += "\n" if log.endswith("\n") else "\n\n"
        log += section
    return log


def _segment(segment: Row, facts: pl.DataFrame, zone: tzinfo) -> list[str]:
    if facts.is_empty():
        return []
    narrative = squeezed(segment["narrative"]).replace("*", "")
    heading = [f"#### {_title(narrative)}", f"*{narrative}*", ""] if narrative else []
    return [*heading, *_facts(facts, zone)]


def _facts(facts: pl.DataFrame, zone: tzinfo) -> list[str]:
    """Returns a bullet for each fact, and a blank line if there are any."""
    lines = []
    for fact in facts.iter_rows(named=True):
        said_at = fact["event_at"].astimezone(zone)
        text = squeezed(fact["text"])
        lines.append(f"* {MARKS[fact['priority']]} ({said_at:%H:%M}) {text}")
    return [*lines, ""] if lines else []


def _quotes(segments: Iterable[Row]) -> list[str]:
    """Returns the quotes of a window, and a blank line if there are any.

    Of several first requests and last words the window has the first and the last.
    """
    quotes = [*chain.from_iterable(map(quotes_of, segments))]
    requests = [quote for quote in quotes if quote.source == "request"][:1]
    states = [quote for quote in quotes if quote.source == "state"][-1:]
    written = [quote for quote in quotes if quote.source not in ("request", "state")]
    lines = [*dict.fromkeys(map(rendered, (*requests, *written, *states)))]
    return [*lines, ""] if lines else []


def _title(narrative: str) -> str:
    """Returns the beginning of the narrative, as a heading."""
    bare = narrative.lstrip("#")
    sentence = re.split(r"(?<=[.!?])\s", bare)[0].rstrip(".")
    return shortened(sentence, TITLE_CHARS)
