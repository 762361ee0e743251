"""Renders the daily log in the format of A21: one Markdown section per window, with a handoff at
the end of a session.

Takes the segments and facts of a window; returns its section, and a log in which sections are
replaced, appended or removed. All other text in the file is kept byte for byte. The handoff says
how long the session was, on which branch, which files it touched, what was in progress (as a model
named it, else the last request) and its state. A further section says how the day was reflected on,
and what became of the lines that were proposed.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, tzinfo

import polars as pl

from memory_assets.schema.vocabulary import MARKS
from memory_assets.stages.distill.handoff import Handoff
from memory_assets.stages.distill.rules.exchanges import Row
from memory_assets.stages.distill.spoken import spoken
from memory_assets.text.words import shortened, squeezed

WINDOW_DIGITS = 12
"""Digits of a window's id in its markers."""

TITLE_CHARS = 60

MOST_FILES = 8
"""Files that a handoff names of each kind; the table `sessions` has all of them."""

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
    stopped: Handoff = Handoff(),
    zone: tzinfo,
) -> str:
    """Returns the section of one window, between its two markers, without held facts and
    narratives.

    `session` is the window's row of `sessions`, if there is one: it has the name of the session and
    its files. With `is_handoff`, the section ends with the handoff of the session. `open_work` is
    the task in progress at the end and the next step, where a model named them; `stopped` is where
    the session stopped.
    """
    mark, session, of_window = (
        window["window_id"][:WINDOW_DIGITS],
        session or {},
        pl.col("window_id") == window["window_id"],
    )
    facts = observations.filter(
        of_window & (pl.col("kind") == "fact") & (pl.col("gate") == "allow")
    ).sort("event_at", "id")
    name = squeezed(session.get("name") or window["title"] or window["session_id"])
    lines = [
        f"### 🔭 Observations (session: {name}, {window['ended_at'].astimezone(zone):%H:%M})",
        "",
    ]
    lines.append(
        f"**Trigger**: {'compaction' if window['trigger'] == 'compaction' else 'shutdown'}"
    )
    if session:
        lines.append(
            f"**Files**: {len(session['files_modified'])} modified, "
            f"{len(session['files_read'])} read"
        )
    lines += ["", f"Date: {window['day'].isoformat()}", ""]
    for segment in segments.filter(of_window).sort("ordinal").iter_rows(named=True):
        lines += _segment(
            segment, facts.filter(pl.col("segment_id") == segment["segment_id"]), zone
        )
    lines += ["Nothing worth keeping.", ""] if facts.is_empty() else []
    (task, next_step), is_end = open_work, bool(is_handoff and session)
    named = {
        "In progress": task,
        "Last request": spoken("Owner", stopped.request) if is_end and not task else "",
    }
    named |= {"State": spoken("Assistant", stopped.state) if is_end else "", "Next": next_step}
    ends = [f"**{title}**: {squeezed(text)}" for title, text in named.items() if text]
    ends = ["#### Handoff", *_handoff(session), *ends] if is_end else ends
    lines += [*ends, ""] if ends else []
    return _marked(f"window {mark}", lines)


def render_reflected(
    day: date, reflections: pl.DataFrame, proposals: Iterable[Mapping[str, str]]
) -> str:
    """Returns the section that says how the day was reflected on, empty if it was not; `proposals`
    are decisions, by id.
    """
    lines = [f"### 🔭 Reflected ({day.isoformat()})", ""]
    for row in reflections.sort("project", "reflection_id").iter_rows(named=True):
        sizes = (
            f"{len(row['observation_ids'])} of "
            f"{len(row['observation_ids']) + len(row['dropped_ids'])} observations kept"
        )
        lines.append(
            f"**{squeezed(row['project'])}**: {sizes}, {row['output_tokens']} tokens, by "
            f"{row['reflector']}"
        )
        lines += row["text"].splitlines() if row["prompt_hash"] else []
    for one in proposals:
        reason = f" ({squeezed(one['reason'])})" if one["reason"] else ""
        lines.append(
            f"* {one['state'].capitalize()} `{one['proposal_id']}`: {squeezed(one['text'])}{reason}"
        )
    return _marked(f"reflected {day.isoformat()}", [*lines, ""]) if len(lines) > 2 else ""


def _marked(name: str, lines: Iterable[str]) -> str:
    """Returns the lines between their markers; no text may look like one."""
    body = "\n".join(lines).replace("<!--", "<! --").replace("-->", "-- >")
    return f"<!-- {name} -->\n{body}<!-- /{name} -->\n"


def _handoff(session: Row) -> Iterator[str]:
    """Yields what the next session needs to know of this one."""
    minutes, branch = (
        round(session["duration_seconds"] / 60),
        f", branch {session['branch']}" if session["branch"] else "",
    )
    counts = f"{session['user_turn_count']} turns, {session['message_count']} messages"
    yield f"**Session**: {session['harness']}, {minutes} min, {counts}, {session['folder']}{branch}"
    for title, files in (("Modified", session["files_modified"]), ("Read", session["files_read"])):
        if files:
            named = (
                f"`{squeezed(file.removeprefix(session['folder'] + '/'))}`"
                for file in files[:MOST_FILES]
            )
            more = f" and {len(files) - MOST_FILES} more" if len(files) > MOST_FILES else ""
            yield f"**{title}**: {', '.join(named)}{more}"


def update_log(text_before: str, sections: Iterable[str], *, title: str | None = None) -> str:
    """Returns the log with these sections, each in its place or at the end; keeps all text that is
    in no section.
    """
    return _update(_SECTION, text_before, sections, title)


def update_reflected(text_before: str, section: str, *, title: str | None = None) -> str:
    """Returns the log with this section of `render_reflected`, in its place or at the end; without
    one if it is empty.
    """
    return _update(
        _REFLECTED, text_before, [section] if section else [], title if section else None
    )


def _update(
    pattern: re.Pattern[str], text_before: str, sections: Iterable[str], title: str | None
) -> str:
    new: dict[str, str] = {}
    for section in sections:
        mark = pattern.match(section)
        assert mark is not None, "a section comes from a function of this module"
        new[mark[1]] = section
    before = text_before or (f"# {title}\n" if title else "")
    text = pattern.sub(lambda found: new.pop(found[1], ""), before)
    for section in new.values():
        text += (
            "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
        ) + section
    return text


def _segment(segment: Row, facts: pl.DataFrame, zone: tzinfo) -> list[str]:
    if facts.is_empty():
        return []
    started, ended = (segment[name].astimezone(zone) for name in ("started_at", "ended_at"))
    quotes = [spoken("Owner", segment["request"]), spoken("Assistant", segment["state"])]
    lines = [f"#### {started:%H:%M} to {ended:%H:%M}", *filter(None, quotes), ""]
    if segment["narrative"]:
        lines = [
            f"#### {_title(segment['narrative'])}",
            f"*{squeezed(segment['narrative']).replace('*', '')}*",
            "",
        ]
    for fact in facts.iter_rows(named=True):
        lines.append(
            f"* {MARKS[fact['priority']]} ({fact['event_at'].astimezone(zone):%H:%M}) "
            f"{squeezed(fact['text'])}"
        )
    return [*lines, ""]


def _title(narrative: str) -> str:
    """Returns the beginning of the narrative, as a heading."""
    bare = squeezed(narrative).replace("*", "").lstrip("#")
    sentence = re.split(r"(?<=[.!?])\s", bare)[0].rstrip(".")
    return shortened(sentence, TITLE_CHARS)
