"""Says what the last session of a project was in the middle of, for the next one in any harness.

Takes the messages of the session, also of one that goes on: the owner's last request, what the
agent said last, the files that it changed, and what is left open. Nothing that a tool, a hook or
another agent said is part of it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import polars as pl

from memory_assets.errors import QuestionError
from memory_assets.harnesses.harness_list import HARNESSES
from memory_assets.schema.protocols import Row
from memory_assets.schema.vocabulary import Harness
from memory_assets.services.search.brief_inputs import open_work
from memory_assets.stages.friction.week import ToolCall, Utterance, Week, main_session, read_week
from memory_assets.store.store import Store
from memory_assets.text.words import shortened

LONGEST_REQUEST = 1_000
LONGEST_STATE = 1_500
"""Characters of the request and of what the agent said last."""

TAG = "memory-handoff"
"""Around the block, so that capture takes nothing in it for the owner's words (`human_words`)."""

FEWEST_WORDS = 3
"""Words of a request; a shorter turn is a nod or thanks."""

MOST_FILES = 12
"""Files that are named, the last ones changed."""


@dataclass(frozen=True)
class Handoff:
    """Where a session stopped."""

    session_id: str
    harness: Harness
    project: str
    ended_at: datetime
    request: str
    """The owner's last words."""
    state: str
    """The agent's last words behind them; empty if it did not answer."""
    files: tuple[str, ...]
    """Files that it changed since the request, else in the whole session."""
    open: tuple[str, ...] = ()
    """The task, and the next step, that a model named."""

    def to_dict(self) -> dict[str, Any]:
        """Returns it for programs."""
        return {**vars(self), "text": self.text}

    @property
    def text(self) -> str:
        """One block for the prompt of the next session."""
        title = HARNESSES[self.harness].title
        when = f"{self.ended_at:%Y-%m-%d %H:%M} UTC"
        parts = {
            "Last request of the owner": self.request,
            "What the agent said last": self.state or "nothing yet",
            "Files it changed": ", ".join(self.files),
            "Still open": " ".join(self.open),
        }
        head = f"Where the last session of {self.project} stopped ({title}, {when}):"
        lines = [head, *(f"{name}: {text}" for name, text in parts.items() if text)]
        block = "\n".join(lines).replace(TAG, "handoff")
        return f"<{TAG}>\n{block}\n</{TAG}>"


def hand_off(store: Store, project: str) -> Handoff:
    """Returns where the owner's last session of the project stopped; raises `QuestionError` without
    one.
    """
    windows = store.tables.read("windows").filter(project=project, person=store.settings.owner)
    for window in windows.sort("ended_at", "window_id", descending=True).iter_rows(named=True):
        session_id = main_session(window["session_id"])
        week = _week_of(store, windows, session_id)
        if any(turn.is_owner for turn in week.utterances):
            return _handoff(store, week, {**window, "session_id": session_id})
    raise QuestionError(f"No session of {project} has words of yours yet. Run `memory ingest`.")


def _week_of(store: Store, windows: pl.DataFrame, session_id: str) -> Week:
    """Returns what was said and called in the session, also by its sub-agents."""
    is_of_session = pl.col("session_id").str.split("/agent-").list.first() == session_id
    days = sorted({str(day) for day in windows.filter(is_of_session)["day"].drop_nulls()})
    frames = [store.tables.scan("messages", days), store.tables.scan("messages_open")]
    messages = pl.concat([frame.filter(is_of_session).collect() for frame in frames])
    return read_week(messages, store.tables.read("sessions", days))


def _handoff(store: Store, week: Week, window: Row) -> Handoff:
    turns = week.utterances
    request = _last_request(turns)
    answers = [turn for turn in turns if not turn.is_owner and turn.place > request.place]
    later = [call for call in week.calls if call.place > request.place]
    files = _changed_by(later) or _changed_by(week.calls)
    session_id = window["session_id"]
    works = {each.session_id: (each.task, each.next_step) for each in open_work(store)}
    return Handoff(
        session_id=session_id,
        harness=window["harness"],
        project=window["project"],
        ended_at=window["ended_at"],
        request=shortened(request.text, LONGEST_REQUEST),
        state=shortened(answers[-1].text, LONGEST_STATE) if answers else "",
        files=files[-MOST_FILES:],
        open=tuple(filter(None, works.get(session_id, ()))),
    )


def _last_request(turns: Sequence[Utterance]) -> Utterance:
    typed = [turn for turn in turns if turn.is_owner]
    requests = [turn for turn in typed if len(turn.text.split()) >= FEWEST_WORDS]
    return (requests or typed)[-1]


def _changed_by(calls: Iterable[ToolCall]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for call in calls for path in call.files_modified))
