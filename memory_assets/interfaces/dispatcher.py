"""Carries out what a door was asked: takes a verb and its arguments as they came, gives the facade's result.

Every door asks through here, so that the same question gets the same answer, and the same mistake the same message.
"""

import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from memory_assets.errors import QuestionError, ReviewError
from memory_assets.interfaces.failure import message_of
from memory_assets.interfaces.verbs import verb_of
from memory_assets.memory import MemoryAgent
from memory_assets.stages.deliver.spool import alarm
from memory_assets.store.places import data_folder, store_root
from memory_assets.store.ready import NOTHING_YET
from memory_assets.store.settings import Settings

if TYPE_CHECKING:
    from memory_assets.services.notes import Noted
    from memory_assets.stages.recall.results import Filters


@dataclass(frozen=True)
class Said:
    """What the facade answered, and what the asker should know about it."""

    data: Any
    warnings: Sequence[str] = ()


def ask(agent: MemoryAgent, name: str, given: Mapping[str, Any]) -> Said:
    """Returns what the agent answers; raises `QuestionError` for arguments that the verb cannot use."""
    verb = verb_of(name)
    return _ASKED[name](agent, **verb.understand(given))


@dataclass
class Desk:
    """Answers for as long as a server runs: one agent that stays warm, and another once another store is present."""

    _agent: MemoryAgent | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, name: str, given: Mapping[str, Any]) -> Said:
        """Returns what the present store answers."""
        return ask(self.agent(), name, given)

    def agent(self) -> MemoryAgent:
        """Returns the agent of the store that is there now."""
        with self._lock:
            if self._agent is None or self._agent.settings.data != store_root(data_folder()):
                self._agent = MemoryAgent()
            return self._agent

    def try_to_warm_up(self) -> None:
        """Loads what a first answer needs, so that nobody waits for it; what is wrong will be said to whoever asks."""
        try:
            agent = self.agent()
            if agent.exists:
                agent.recall("what is known", profile="lean", is_probe=True)
        except Exception as error:
            print(f"memory: {message_of(error)}", file=sys.stderr)


def _recall(agent: MemoryAgent, question: str, probe: bool = False, **options: Any) -> Said:
    asked = {field: options[name] for name, field in _ASKED_WITH.items() if name in options}
    answer = agent.recall(question, filters=_filters(agent, options), is_probe=probe, **asked)
    return Said(answer, answer.notes)


def _reflect(agent: MemoryAgent, question: str, probe: bool = False, project: str | None = None, **options: Any) -> Said:
    said = agent.reflect(question, project=project, filters=_filters(agent, options), is_probe=probe)
    return Said(said, said.notes)


def _filters(agent: MemoryAgent, options: Mapping[str, Any]) -> "Filters":
    from memory_assets.stages.recall.results import Filters

    wanted = {field: options[name] for name, field in _FILTERS.items() if name in options}
    for name in _MOMENTS:
        if name in options:
            wanted[name] = moment_of(options[name], agent.settings, is_end=name == "until")
    return Filters(**wanted)


_MOMENTS = ("since", "until")
_FILTERS = {
    "category": "categories",
    "priority": "priorities",
    "kind": "kinds",
    "trigger": "triggers",
    "only_project": "project",
    "person": "person",
    "session": "session",
    "include": "include",
}
_ASKED_WITH = {
    "profile": "profile",
    "limit": "limit",
    "project": "project",
    "corpus": "corpus",
    "own_session": "session",
    "recent": "recent",
    "budget": "budget",
}


def _explain(agent: MemoryAgent, target: str) -> Said:
    return Said(agent.explain(target))


def _why_not(agent: MemoryAgent, text: str, question: str | None = None) -> Said:
    return Said(agent.why_not(text, question=question))


def _graph(agent: MemoryAgent, name: str) -> Said:
    return Said(agent.graph(name))


def _triggers(agent: MemoryAgent, on: str | None = None) -> Said:
    day = None if on is None else moment_of(on, agent.settings).astimezone(agent.settings.zone).date()
    return Said({"triggers": agent.triggers(day)})


def _brief(agent: MemoryAgent, session: str | None = None) -> Said:
    briefing = agent.brief(session)
    wrong = (NOTHING_YET if not briefing.text else None, alarm(str(agent.settings.data)))
    return Said(briefing, tuple(filter(None, wrong)))


def _remember(agent: MemoryAgent, text: str, **about: Any) -> Said:
    return _noted(agent.remember(text, **about))


def _correct(agent: MemoryAgent, memory_id: str, text: str, session: str | None = None) -> Said:
    return _noted(agent.correct(memory_id, text, session=session))


def _forget(agent: MemoryAgent, target: str, apply: bool = False, history: bool = False) -> Said:
    found = agent.forget(target, apply=apply, history=history)
    return Said(found, found.warnings)


def _feedback(agent: MemoryAgent, memory_ids: Sequence[str], used: bool, session: str | None = None) -> Said:
    return Said(agent.feedback(memory_ids, used=used, session=session))


def _noted(noted: "Noted") -> Said:
    masked = noted.masked_count
    return Said(
        noted, (f"{masked} secret{'s'[: masked > 1]} in it {'were' if masked > 1 else 'was'} masked.",) if masked else ()
    )


def _review(agent: MemoryAgent) -> Said:
    return Said({"pending": agent.pending()}, agent.review_warnings())


def _decide(agent: MemoryAgent, decision: str, proposals: Sequence[str], reason: str = "", text: str = "") -> Said:
    if not proposals:
        raise QuestionError("No proposal is named; memory_review lists those that wait.")
    if decision == "approve":
        return Said({"decided": agent.approve(*proposals)})
    if decision == "reject":
        return Said({"decided": agent.reject(*proposals, reason=reason)})
    if len(proposals) > 1:
        raise ReviewError(f"One wording cannot be that of {len(proposals)} proposals; reword one after the other.")
    return Said({"decided": agent.edit(proposals[0], text)})


def _status(agent: MemoryAgent) -> Said:
    return Said(agent.status())


_ASKED: Mapping[str, Callable[..., Said]] = {
    "recall": _recall,
    "reflect": _reflect,
    "explain": _explain,
    "why-not": _why_not,
    "graph": _graph,
    "triggers": _triggers,
    "brief": _brief,
    "remember": _remember,
    "correct": _correct,
    "forget": _forget,
    "feedback": _feedback,
    "review": _review,
    "decide": _decide,
    "status": _status,
}


def moment_of(text: str, settings: Settings, *, is_end: bool = False) -> datetime:
    """Returns the moment that `30d`, `2026-05-01` or `2026-05-01T09:30` means in the owner's zone; an end day is included."""
    words = text.strip().lower()
    try:
        if words.endswith("d") and words[:-1].isdecimal():
            return settings.clock() - timedelta(days=int(words[:-1]))
        moment = datetime.fromisoformat(words)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=settings.zone)
        is_day = moment.time() == time() and len(words) <= len("2026-05-01")
        return (moment + timedelta(days=1) if is_end and is_day else moment).astimezone(UTC)
    except (ValueError, OverflowError):
        raise QuestionError(
            f"Cannot read the time {text[:80]!r}; use a day (2026-05-01), a moment or days back (30d)."
        ) from None
