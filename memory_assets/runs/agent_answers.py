"""Lets an agent answer the observer's questions in its own session, one window a call.

A question is what a model would be sent: masked, and of projects that may be read alone. An answer
is checked and stored as that of a model, so that no model is asked the same again. Between the two
there is an empty file, `answers/agents/DAY/QUESTION`. Because of it the next session gets another
window, an answer to any other question is refused, and the day is built again (`runs.inputs`).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NoReturn

import filelock

from memory_assets.errors import ModelSetupError, QuestionError
from memory_assets.runs.days import newest_first, session_days
from memory_assets.schema.protocols import ModelAnswer, ModelRequest
from memory_assets.schema.requests import DistillRequest
from memory_assets.services.models import model_questions
from memory_assets.services.models.open_models import MaskedModel, masked, sendable
from memory_assets.stages.distill.model.answers import AGENT_QUESTIONS
from memory_assets.stages.distill.model.asking import ModelAsker
from memory_assets.stages.distill.model.questions import (
    IS_TOO_LONG,
    WIDER_TOKENS,
    QuestionStatus,
    next_attempt,
)
from memory_assets.stages.distill.model.short_sessions import QuestionGroup
from memory_assets.store.settings import AGENT
from memory_assets.store.store import Store
from memory_assets.text.files import make_folder
from memory_assets.text.words import count_tokens

PAGE_CHARS = 30_000
"""Clients cut the answer of a tool at ten thousand tokens, or put a longer one into a file."""

MOST_TOKENS = 2 * WIDER_TOKENS
"""Most tokens of an answer; a longer one is refused and not stored."""

NO_CONSENT = (
    "Nobody may read sessions yet. The owner allows it with `memory model use agent`, or of one "
    "project with `memory model use agent --project NAME`."
)


@dataclass(frozen=True)
class Distilled:
    """A page of a question to an agent, or what became of its answer."""

    state: Literal["question", "stored", "known", "nothing"]
    question: str = ""
    """The id that the answer needs."""
    project: str = ""
    text: str = ""
    page: int = 1
    pages: int = 1


@dataclass(frozen=True)
class AgentModel:
    """An agent as a model: it has already answered, and `ask` returns that answer."""

    client: str = ""
    text: str = ""
    name: str = AGENT

    def ask(self, request: ModelRequest) -> ModelAnswer:
        """Returns the answer, with estimates of the tokens that the agent's session spent."""
        tokens = request.estimated_tokens(), count_tokens(self.text)
        return ModelAnswer(self.text, f"{AGENT}:{self.client or 'unknown'}", *tokens)

    def has_no_batches(self, *_: Any, **__: Any) -> NoReturn:
        """Raises `ModelSetupError`: an agent answers one question at a time."""
        raise ModelSetupError("An agent answers no batches.")

    submit = batch = batches = results = has_no_batches


def distill(store: Store, request: DistillRequest) -> Distilled:
    """Returns the next question, a page of one, or what became of the answer to one.

    Raises `QuestionError` where nobody may read the sessions, for the id of a question that no
    agent was asked, and with the reason for an answer that cannot be used.
    """
    settings = store.settings
    if not settings.has_consent:
        raise QuestionError(NO_CONSENT)
    if request.project and not settings.may_send(request.project):
        allowing = f"`memory model add {request.project}`"
        withheld = f"Sessions of {request.project} may not be read"
        raise QuestionError(f"{withheld}. The owner allows it with {allowing}.")
    if request.question is None:
        return _next_question(store, request.project)
    status = _asked(store, request.question)
    if status.state != "open":
        return Distilled("known", request.question, status.question.project)
    if request.answer is None:
        return _page(store, status, request.page)
    return _take(store, status, request.answer, request.client)


def _next_question(store: Store, project: str | None) -> Distilled:
    """Returns the open question that was given to an agent the longest ago, or never."""
    given: dict[Path, QuestionStatus] = {}
    for day, status in _open_questions(store, project):
        marker = make_folder(store.answers / AGENT_QUESTIONS / day) / status.question.key.name
        try:
            marker.touch(mode=0o600, exist_ok=False)
        except FileExistsError:
            given[marker] = status
        else:
            return _page(store, status)
    if not given:
        return Distilled("nothing", text=_withheld(store))
    marker = min(given, key=lambda path: path.stat().st_mtime)
    marker.touch()
    return _page(store, given[marker])


def _open_questions(store: Store, project: str | None) -> Iterator[tuple[str, QuestionStatus]]:
    """Yields the first open question of each session with its day, in the order of a run."""
    windows = sendable(model_questions.waiting_windows(store), store.settings)
    if project:
        windows = windows.filter(project=project)
    ids = frozenset(windows["window_id"])
    stretches = newest_first(windows["day"].unique(), session_days(store)) if ids else []
    sessions = set[str]()
    for day in chain.from_iterable(stretch.days() for stretch in stretches):
        statuses = _consultation(store).statuses(day.isoformat())
        for status in sorted(statuses, key=lambda status: status.question.place):
            question = status.question
            is_open = question.window_id in ids and status.state == "open"
            if is_open and question.session_id not in sessions:
                sessions.add(question.session_id)
                yield day.isoformat(), status


def _withheld(store: Store) -> str:
    """Returns what to do where only sessions wait that may not be read."""
    names = model_questions.waiting_windows(store)["project"].unique().sort()
    withheld = ", ".join(name for name in names if not store.settings.may_send(name))
    allowing = "`memory model add PROJECT` allows it."
    return f"Sessions of {withheld} may not be read; {allowing}" if withheld else ""


def _asked(store: Store, name: str) -> QuestionStatus:
    """Returns the state of a question that an agent was given."""
    markers = (store.answers / AGENT_QUESTIONS).glob("*/*")
    days = (marker.parent.name for marker in markers if marker.name == name)
    for status in chain.from_iterable(map(_consultation(store).statuses, days)):
        if status.question.key.name == name:
            return status
    raise QuestionError(
        f"No agent was asked the question {name[:60]!r}, or its session has changed since. "
        "Call memory_distill without a question for the next one."
    )


def _consultation(store: Store) -> model_questions.Consultation:
    return model_questions.Consultation(store, AGENT, any_prompt=True)


def _asker(store: Store, status: QuestionStatus, model: MaskedModel) -> ModelAsker:
    asker = model_questions.Consultant(_consultation(store), model).asker([status])
    return replace(asker, images=lambda _: {})


def _page(store: Store, status: QuestionStatus, number: int = 1) -> Distilled:
    """Returns a page of the question: the observer's instructions, then the session."""
    model = masked(AgentModel(), store)
    group = QuestionGroup((next_attempt(status),))
    _, request = _asker(store, status, model).prepare(group)
    request = model.masked(request)
    pages = list(_split(f"{request.system.rstrip()}\n\n{request.material}"))
    count = len(pages)
    if number > count:
        raise QuestionError(f"The question has {count} pages; there is no page {number}.")
    question = status.question
    page = (pages[number - 1], number, count)
    return Distilled("question", question.key.name, question.project, *page)


def _split(text: str) -> Iterator[str]:
    """Yields the text in pages that end with a line where they can."""
    while len(text) > PAGE_CHARS:
        end = text.rfind("\n", PAGE_CHARS // 2, PAGE_CHARS) + 1 or PAGE_CHARS
        yield text[:end]
        text = text[end:]
    yield text


def _take(store: Store, status: QuestionStatus, text: str, client: str) -> Distilled:
    """Stores the answer, unless the question has one."""
    if count_tokens(text) > MOST_TOKENS:
        raise QuestionError(f"{IS_TOO_LONG} Nothing was stored.")
    plain = masked(AgentModel(), store)
    model = replace(plain, model=AgentModel(client, plain.mask(text)))
    name = status.question.key.name
    with filelock.FileLock(store.answers / "agents.lock", mode=0o600):
        status = _asked(store, name)
        if status.state != "open":
            return Distilled("known", name, status.question.project)
        _asker(store, status, model).ask(QuestionGroup((next_attempt(status),)))
        status = _asked(store, name)
    fault = status.attempts[-1].fault
    if status.state == "open":
        fault = fault or next_attempt(status).complaint
        raise QuestionError(f"{fault} Answer the question {name} again.")
    if status.kept is None:
        raise QuestionError(f"{fault} It was the second answer, so rules read this window.")
    return Distilled("stored", name, status.question.project)
