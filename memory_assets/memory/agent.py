"""`MemoryAgent`: one method for each verb that a person or an agent can ask.

The agent opens the present store, answers from it, and writes only to the ledger. A verb takes its
request (`schema/requests.py`), or the request's first field and further ones by name:
`agent.recall("how do we deploy", limit=5)`. Results are objects, which interfaces translate and
print. Heavy modules are imported when a verb needs them.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Self, TypeVar

from memory_assets.errors import QuestionError, UnknownIdError
from memory_assets.memory.health import HealthVerbs
from memory_assets.memory.opening import despite_damage
from memory_assets.memory.review import ReviewVerbs
from memory_assets.schema import requests
from memory_assets.schema.announcements import announce, announced_since, moment, take
from memory_assets.schema.extras import extras, first_of, notify
from memory_assets.schema.requests import AnswerRequest, RecallRequest
from memory_assets.schema.vocabulary import MEMORY_KINDS
from memory_assets.services.search.latest_briefing import Briefing, latest_briefing
from memory_assets.store.places import present_root
from memory_assets.text.short_ids import is_message_id

if TYPE_CHECKING:
    import polars as pl

    from memory_assets.memory import verb_answers as types
    from memory_assets.schema.protocols import Model
    from memory_assets.services.search.answers import Readable
    from memory_assets.services.search.shown_at_prompts import NearPrompt
    from memory_assets.store.settings import Settings


AN_ID = re.compile(r"mem_\S*|p-\d[\d-]*|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
"""Texts that `explain` takes for ids of memories, proposals or observations, not for words."""

NOT_COUNTED = "The ledger cannot be written, so this recall is not counted"

Asking = TypeVar("Asking", bound=AnswerRequest)


def announcements() -> list[str]:
    """Returns the damage that this process found since the last call, one line each."""
    return take()


def scan(table: str, *, as_of: date | str | None = None) -> "pl.LazyFrame":
    """Returns a table of the present store as a lazy polars frame; empty if it was never written.

    `as_of` is a day such as "2026-05-01", and only for the table `memories`: it returns them as
    they were at the end of that day.
    """
    if as_of is not None:
        return MemoryAgent().scan(table, as_of=as_of)
    from memory_assets.store.parquet_tables import ParquetTables
    from memory_assets.store.settings import read_settings

    return ParquetTables(Path(present_root(str(read_settings().data)), "tables")).scan(table)


class MemoryAgent(ReviewVerbs, HealthVerbs):
    """Answers from one store, by default the present one.

    With `url` and `token`, a shared memory on another machine answers.
    """

    reads_messages_of = ""
    """The person of whose sessions messages may be read; empty: of everybody's."""

    def __new__(cls, *_: Any, url: str = "", token: str = "", **__: Any) -> Self:
        """Makes an agent; with `url`, an object with the same verbs that asks the server there.

        Raises `QuestionError` if no optional capability can ask servers.
        """
        if not url:
            return super().__new__(cls)
        client = first_of("client", url, token)
        if client is None:
            raise QuestionError("No optional capability asks servers here; leave url out.")
        return client

    def __init__(
        self, settings: "Settings | None" = None, *, url: str = "", token: str = ""
    ) -> None:
        super().__init__(settings)

    def __getattr__(self, name: str) -> Any:
        """Returns the method of this name that an optional capability adds."""
        for extra in extras():
            if name in extra.methods:
                return partial(extra.load(extra.methods[name]), self)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def scan(self, table: str, *, as_of: date | str | None = None) -> "pl.LazyFrame":
        """Returns a table as a lazy polars frame.

        With a day `as_of`, returns the memories as they were at the end of that day, as far as it
        is known now. What was forgotten until today is left out.
        """
        if as_of is None:
            return self.store.tables.scan(table)
        from memory_assets.services.search.past_memories import read_as_of

        return read_as_of(self.store, table, as_of).lazy()

    def recall(
        self,
        question: str | RecallRequest | None = None,
        *,
        now: datetime | None = None,
        asker: str | None = None,
        **options: Any,
    ) -> "types.Answer":
        """Returns the few memories that help with the question, or what is known of a `file`, a
        `command` or an `error`.

        The ledger notes them as recalled unless `probe` is set. Memories of `asker`, the person who
        asks (by default the owner), rank higher. The filters of the request leave memories out.
        """
        started = moment()
        answer = self._recall(RecallRequest.of(question, **options), now, asker)
        damage = announced_since(started)
        return replace(answer, notes=(*answer.notes, *damage)) if damage else answer

    @despite_damage
    def _recall(
        self, request: RecallRequest, now: datetime | None, asker: str | None
    ) -> "types.Answer":
        request = self._resolved(request)
        store = self.store
        from memory_assets.adapters.local_embedder import load_ahead

        if not request.is_lookup:
            load_ahead(store.settings.embedding_model)
        from memory_assets.services.search.answers import dependencies_of
        from memory_assets.services.search.named import mark_gone
        from memory_assets.stages.recall.answering import answer
        from memory_assets.stages.recall.log import payload_of
        from memory_assets.stages.recall.results import Asker

        readable = self._readable()
        session = request.own_session
        person = asker or self.settings.owner
        now = now or self.settings.clock()
        who = Asker(now, request.project, person, session, request.recent)
        if request.is_lookup:
            recalled = self._known_of(request, readable, now)
        else:
            dependencies = dependencies_of(store, readable, request.project)
            recalled = answer(request, readable.corpus, who, dependencies)
        recalled = self._listed(mark_gone(store, recalled), request, readable)
        if not request.probe:
            memories = [result for result in recalled.results if result.kind in MEMORY_KINDS]
            ids = [memory.memory_id for memory in memories]
            payload = payload_of(recalled, is_budget=request.budget)
            self._log_recall(recalled.question, ids, payload, session)
        return replace(recalled, notes=(*recalled.notes, *readable.missing))

    def _listed(
        self, recalled: "types.Answer", request: RecallRequest, readable: "Readable"
    ) -> "types.Answer":
        """Returns the answer with further candidates, or with sessions in place of results."""
        from memory_assets.services.search.candidate_list import further_candidates
        from memory_assets.services.search.session_list import list_sessions, with_harness

        tables = self.store.tables
        if request.by is not None:
            shown = replace(recalled, results=(), left_out=())
            limit = request.limit or requests.MOST
            listed = further_candidates(shown, readable.corpus, len(recalled.candidates))
            sessions = list_sessions(listed, tables, limit, self.reads_messages_of)
            return replace(shown, sessions=sessions, candidates=())
        further = further_candidates(recalled, readable.corpus)
        results = with_harness(tables, recalled.results)
        return replace(recalled, results=results, candidates=further)

    @despite_damage
    def open(
        self, ids: str | Sequence[str] | requests.OpenRequest, **options: Any
    ) -> "types.Opened":
        """Returns the exchanges of messages and memories; the ledger notes these memories as
        recalled.
        """
        from memory_assets.services.search.opened import open_exchanges

        request = requests.OpenRequest.of(ids, **options)
        opened = open_exchanges(request.ids, self._readable().corpus)
        facts = [exchange.id for exchange in opened.exchanges if exchange.fact]
        payload = {"profile": "open", "tier": 3, "results": len(opened.exchanges)}
        self._log_recall(" ".join(request.ids), facts, payload)
        return opened

    def _known_of(
        self, request: RecallRequest, readable: "Readable", now: datetime
    ) -> "types.Answer":
        from memory_assets.services.search.known_of import known_of
        from memory_assets.store.ready import here

        memories = readable.corpus.memories
        person = self.reads_messages_of
        return known_of(self.store, memories, request, now, folder=here(), person=person)

    @despite_damage
    def near_prompt(self, prompt: str, *, session: str = "", folder: str = "") -> "NearPrompt":
        """Returns the few memories near a prompt in that session and folder.

        They count as recalled only when `shown_at_prompt` is called.
        """
        from memory_assets.services.search.shown_at_prompts import (
            NearPrompt,
            block_of,
            choose,
            request_of,
        )
        from memory_assets.stages.recall.results import Answer

        request = request_of(prompt, folder)
        if request is None:
            return NearPrompt(Answer(prompt, "lean", (), 0), session, "")
        recalled = self.recall(request)
        results = choose(recalled, str(self.store.root), session, folder)
        return NearPrompt(replace(recalled, results=results), session, block_of(results))

    def shown_at_prompt(self, near: "NearPrompt") -> None:
        """Counts memories as recalled, after the session was shown them."""
        from memory_assets.services.search.shown_at_prompts import note_shown
        from memory_assets.stages.recall.log import payload_of

        note_shown(str(self.store.root), near)
        ids = [result.memory_id for result in near.answer.results]
        payload = payload_of(near.answer, is_budget=True)
        self._log_recall(near.answer.question, ids, payload, near.session)

    @despite_damage
    def before_tool(
        self, tool: str, arguments: Any, *, session: str, folder: str, until: float
    ) -> str:
        """Returns a line about the file or the command that a tool is about to use; empty where
        nothing sure is known that the session was not told, or `until` (`time.monotonic`) is over.
        """
        from memory_assets.services.search.before_tool import line_before, request_of
        from memory_assets.stages.deliver.shown_context import add_ids

        request = request_of(tool, arguments)
        if request is None or not session:
            return ""
        where = {"session": session, "folder": folder}
        memories = self._readable().corpus.memories
        line = line_before(self.store, memories, request, self.settings.clock(), **where)
        if line is None or monotonic() > until:
            return ""
        id, text = line
        add_ids(str(self.store.root), session, [id])
        return text

    @despite_damage
    def answer(
        self, question: str | AnswerRequest, *, model: "Model | None" = None, **options: Any
    ) -> "types.CitedAnswer":
        """Returns an answer from everything that is known, with sources for each sentence, or that
        it is not in memory.

        `model`, or the model of the settings, writes it; without a model it quotes verbatim.
        """
        request = self._resolved(AnswerRequest.of(question, **options))
        from memory_assets.services.search.answers import answer_from_all
        from memory_assets.stages.recall.log import payload_of_cited
        from memory_assets.stages.recall.results import Asker

        asker = Asker(self.settings.clock(), request.project, self.settings.owner)
        cited = answer_from_all(self.store, self._readable(), request, asker, model)
        if not request.probe:
            ids = [citation.ref for citation in cited.citations if citation.kind in MEMORY_KINDS]
            self._log_recall(request.question, ids, payload_of_cited(cited))
        return cited

    def remember(self, text: str | requests.RememberRequest, **options: Any) -> "types.Noted":
        """Saves a fact of the owner, or replaces the text of the memory `instead_of`; when this
        returns, it is on disk.

        The first fact creates the store, also before any transcript was read. Secrets are masked; a
        replaced memory keeps its wording and evidence. Raises `NoteError` for an invalid text.
        """
        from memory_assets.services.notes import remember as notes

        request = requests.RememberRequest.of(text, **options)
        noted = notes.remember(self.store_or_unopened(), request)
        if noted.replaces:
            from memory_assets.services.review.open_triage import take_along

            take_along(self.store, noted.replaces, text=noted.text)
        return noted

    def forget(self, target: str | requests.ForgetRequest, **options: Any) -> "types.Forgetting":
        """Returns everything that contains the memory or the words; `apply` erases it, `history`
        also from git's history.

        The next run rebuilds what was derived from the erased rows.
        """
        from memory_assets.services.forget.forget import forget

        request = requests.ForgetRequest.of(target, **options)
        forgetting = forget(
            self.store, request.target, apply=request.apply, history=request.history
        )
        if forgetting.is_applied:
            from memory_assets.services.review.open_triage import take_along

            for memory in forgetting.memories:
                take_along(self.store, memory.memory_id)
            notify("forgotten", self.store)
        return forgetting

    def distill(
        self, question: str | requests.DistillRequest | None = None, **options: Any
    ) -> "types.Distilled":
        """Returns the next question about a past session for an agent, or takes its answer.

        The next update builds memories from the answer.
        """
        from memory_assets.runs.agent_answers import distill

        return distill(self.store, requests.DistillRequest.of(question, **options))

    def feedback(
        self, memory_ids: str | Sequence[str] | requests.FeedbackRequest, **options: Any
    ) -> "types.Rating":
        """Records that memories helped, or did not; the next update ranks them by it."""
        from memory_assets.services.notes.feedback import rate

        return rate(self.store, requests.FeedbackRequest.of(memory_ids, **options))

    def restore(
        self, memory_ids: str | Sequence[str] | requests.RestoreRequest
    ) -> "types.Restored":
        """Makes stale, archived or cold memories active again, from the next build of memories on.

        Raises `NoteError` for a memory that is active, and its subclasses for one that is unknown,
        replaced or forgotten.
        """
        from memory_assets.services.notes import restore

        return restore.restore(self.store, requests.RestoreRequest.of(memory_ids))

    def brief(self, session: str | requests.BriefRequest | None = None, **options: Any) -> Briefing:
        """Returns the briefing for the next session; its text is empty where there is none yet.

        For a continued session, the facts of that session itself are added.
        """
        request = requests.BriefRequest.of(session, **options)
        if request.project:
            self.check_project(request.project)
        return latest_briefing(self.settings.data, request)

    def check_project(self, name: str) -> None:
        """Raises `QuestionError`, with the nearest names, where no session is of that project."""
        from memory_assets.services.search.known_projects import check_project

        check_project(self.store, name)

    @despite_damage
    def explain(
        self, target: str | requests.ExplainRequest, **options: Any
    ) -> "types.Explanation | types.WhyNot | types.Opened":
        """Returns where a line of MEMORY.md, a proposal, a memory or an observation comes from,
        down to the bytes; of a message, its exchange with ten messages around it.

        Words are explained by the recalled memory that contains them. For words that are not
        recalled, or not for `question`, the result says why.
        """
        request = requests.ExplainRequest.of(target, **options)
        if request.question is not None:
            return self._why_not(request.target, request.question)
        if is_message_id(request.target.strip()):
            return self._opened([request.target])
        try:
            return self.origin_of(request.target)
        except UnknownIdError:
            if AN_ID.fullmatch(request.target.strip()):
                raise
        reason = self._why_not(request.target, None)
        if reason.stage == "recalled" and reason.memory_id and reason.is_meant:
            return self.origin_of(reason.memory_id)
        return reason

    def _opened(self, message_ids: Sequence[str]) -> "types.Opened":
        """Returns the exchanges of messages, with those around them."""
        from memory_assets.services.search.opened import AROUND, open_exchanges

        return open_exchanges(message_ids, self._readable().corpus, AROUND)

    def origin_of(self, target: str) -> "types.Explanation":
        """Returns the provenance of a line, a proposal, a memory or an observation; raises
        `UnknownIdError` for others.
        """
        from memory_assets.services.review.origins import origin_of

        return origin_of(self.store, target)

    def _why_not(self, text: str, question: str | None) -> "types.WhyNot":
        """Returns why a recall of the question, by default of the words, does not return them."""
        store = self.store
        from memory_assets.services.search.corpus import open_present_with_embedder
        from memory_assets.services.search.why_not import why_not

        recall = partial(self.recall, probe=True)
        return why_not(text, store, open_present_with_embedder(store), recall, question=question)

    @despite_damage
    def triggers(self, on: str | date | requests.TriggersRequest | None = None) -> "types.Triggers":
        """Returns the dates due on the day or the day after it; without a day, every date ahead."""
        from memory_assets.services.search.brief_inputs import due_triggers
        from memory_assets.stages.brief.due import Triggers
        from memory_assets.stages.embed.present import read_present

        day = requests.TriggersRequest.of(on).day(self.settings.clock(), self.settings.zone)
        memories = read_present(self.store.tables, self.store.ledger)
        return Triggers(due_triggers(self.store, memories, on=day, is_all=day is None))

    def _readable(self) -> "Readable":
        """Returns what questions are answered from."""
        from memory_assets.services.search.answers import everything_of

        return everything_of(self.store)

    def _resolved(self, request: Asking) -> Asking:
        if request.only_project:
            self.check_project(request.only_project)
        return request.at(self.settings.clock(), self.settings.zone)

    def _log_recall(
        self,
        question: str,
        memory_ids: list[str],
        payload: dict[str, Any],
        session: str | None = None,
    ) -> None:
        """Appends one event for the whole answer, also for an empty one.

        An event for each memory would flush the disk ten times. On a full or read-only disk the
        event is dropped with a warning, because the answer matters more.
        """
        from memory_assets.stages.recall.log import hash_of_question

        in_session = {"session": session} if session else {}
        payload = {"memory_ids": memory_ids, **payload, **in_session}
        try:
            query = hash_of_question(question, self.store.key)
            self.store.append_event("memory.recalled", query, payload)
        except OSError as error:
            announce(f"{NOT_COUNTED} ({error.strerror or error}).", about=NOT_COUNTED)
