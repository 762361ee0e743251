"""The facade: one method for each verb that a person or an agent can ask.

`MemoryAgent` opens the present store and answers. A verb takes its request (`schema/requests.py`), or the request's first field
and further ones by name: `agent.recall("how do we deploy", limit=5)`. Results are objects; the interfaces only translate and
print them. It writes only to the ledger. Heavy modules are imported when they are needed.
"""

import hashlib
import hmac
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import cached_property, partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar, cast

from memory_assets.errors import LabelsError, ReviewError, StoreError, UnknownIdError
from memory_assets.schema import requests
from memory_assets.schema.announcements import announced_since, moment, take
from memory_assets.schema.requests import AnswerRequest, RecallRequest
from memory_assets.services.latest_briefing import Briefing, latest_briefing
from memory_assets.services.proposals import (
    AdrContradiction,
    Decided,
    Pending,
    Review,
    Reviewed,
    pending_of,
    reviewed_of,
    waiting_proposals,
)
from memory_assets.services.which_store import is_sample, present_settings
from memory_assets.store.places import present_root

if TYPE_CHECKING:
    import polars as pl

    from memory_assets.adapters.git_workspace import ChangedLine
    from memory_assets.schema.protocols import Model
    from memory_assets.services.adrs import AdrRow
    from memory_assets.services.answers import Readable
    from memory_assets.services.discoveries import Discovered
    from memory_assets.services.documents import Added, DocumentRow, FoundInDocuments
    from memory_assets.services.feedback import Rating
    from memory_assets.services.feeds import FeedRow, Polled
    from memory_assets.services.forget.forget import Forgetting
    from memory_assets.services.health.doctor import Health
    from memory_assets.services.health.status import Status
    from memory_assets.services.notes import Noted
    from memory_assets.services.prompts import NearPrompt
    from memory_assets.services.restore import Restored
    from memory_assets.services.slog import SlogAnswer
    from memory_assets.services.why_not import WhyNot
    from memory_assets.stages.brief.due import Triggers
    from memory_assets.stages.evaluate.gold import Evaluation, Shown
    from memory_assets.stages.maintain.health_report import HealthReport
    from memory_assets.stages.recall.cited_answer import CitedAnswer
    from memory_assets.stages.recall.results import Answer
    from memory_assets.stages.triage.explain import Explanation
    from memory_assets.store.documents import KeptDocument
    from memory_assets.store.settings import Settings
    from memory_assets.store.store import Store


MEMORIES = ("fact", "narrative")
"""Kinds of results that are memories; segments and messages are not counted as used."""

AN_ID = re.compile(r"mem_\S*|p-\d[\d-]*|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
"""Targets that are taken as ids, known or not, and not as words."""

T = TypeVar("T")
P = ParamSpec("P")

Asking = TypeVar("Asking", bound=AnswerRequest)


def _despite_damage(verb: "Callable[Concatenate[MemoryAgent, P], T]") -> "Callable[Concatenate[MemoryAgent, P], T]":
    """Lets the verb answer from the undamaged files of the store if a damaged one makes it fail."""

    @wraps(verb)
    def ask(self: "MemoryAgent", /, *arguments: P.args, **options: P.kwargs) -> T:
        if not self.exists:
            return verb(self, *arguments, **options)
        from memory_assets.store.damage import despite_damage

        return despite_damage(self.store, partial(verb, self, *arguments, **options))

    return ask


def announcements() -> list[str]:
    """Returns the damage that this process found since the last call, one line each."""
    return take()


def scan(table: str, *, as_of: date | str | None = None) -> "pl.LazyFrame":
    """Returns a table of the present store as a lazy polars frame; empty where it was never written.

    `as_of`, for `memories` only, is a day such as "2026-05-01": the memories as they were at the end of that day.
    """
    if as_of is not None:
        return MemoryAgent().scan(table, as_of=as_of)
    from memory_assets.store.parquet_tables import ParquetTables
    from memory_assets.store.settings import read_settings

    return ParquetTables(Path(present_root(str(read_settings().data)), "tables")).scan(table)


class MemoryAgent:
    """Answers from one store, by default the present one; with `url` and `token`, from a shared memory on another machine."""

    def __new__(cls, *_: Any, url: str = "", token: str = "", **__: Any) -> Self:
        """Returns a new agent, or one with the same verbs that asks the server at `url`."""
        if not url:
            return super().__new__(cls)
        from memory_assets.services.remote_memory import RemoteMemory

        return cast("Self", RemoteMemory(url, token))

    def __init__(self, settings: "Settings | None" = None, *, url: str = "", token: str = "") -> None:
        self.settings = settings or present_settings()

    @cached_property
    def store(self) -> "Store":
        """The open store; raises `StoreError` where no memory was built yet."""
        from memory_assets.store.store import open_store

        if not self.exists:
            raise StoreError(f"There is no memory in {self.settings.data} yet. Run `memory up` to take in transcripts.")
        return open_store(self.settings)

    @property
    def exists(self) -> bool:
        """Whether the store exists."""
        return (self.settings.data / "VERSION").is_file()

    def scan(self, table: str, *, as_of: date | str | None = None) -> "pl.LazyFrame":
        """Returns a table as a lazy polars frame; with a day `as_of`, the memories as they were at the end of that day.

        These are folded from what is known of the time up to that day. What was forgotten then or since is left out.
        """
        if as_of is None:
            return self.store.tables.scan(table)
        from memory_assets.services.past_memories import read_as_of

        return read_as_of(self.store, table, as_of).lazy()

    def recall(
        self,
        question: str | RecallRequest,
        *,
        now: datetime | None = None,
        asker: str | None = None,
        **options: Any,
    ) -> "Answer":
        """Returns the few memories that help with the question; they count as used unless `probe` is set.

        Memories of `asker`, the person who asks (by default the owner), rank higher; filters of the request exclude.
        """
        began = moment()
        found = self._recall(RecallRequest.of(question, **options), now, asker)
        damage = announced_since(began)
        return replace(found, notes=(*found.notes, *damage)) if damage else found

    @_despite_damage
    def _recall(self, asked: RecallRequest, now: datetime | None, asker: str | None) -> "Answer":
        request = self._resolved(asked)
        store = self.store
        from memory_assets.services.answers import dependencies_of
        from memory_assets.stages.recall.answering import answer
        from memory_assets.stages.recall.log import payload_of
        from memory_assets.stages.recall.results import Asker

        readable = self._readable()
        session, person = request.own_session, asker or self.settings.owner
        who = Asker(now or self.settings.clock(), request.project, person, session, request.recent)
        found = answer(request, readable.corpus, who, dependencies_of(store, readable, request.project))
        if not request.probe:
            memory_ids = [result.memory_id for result in found.results if result.kind in MEMORIES]
            payload = payload_of(found, is_budget=request.budget) | ({"session": session} if session else {})
            self._log_recall(request.question, memory_ids, payload)
        return replace(found, notes=(*found.notes, *readable.missing)) if readable.missing else found

    @_despite_damage
    def near_prompt(self, prompt: str, *, session: str = "", folder: str = "") -> "NearPrompt":
        """Returns the few memories near a prompt in that session and folder; `shown_at_prompt` counts them as recalled."""
        from memory_assets.services.prompts import NearPrompt, block_of, choose, request_of
        from memory_assets.stages.recall.results import Answer

        request = request_of(prompt, folder)
        if request is None:
            return NearPrompt(Answer(prompt, "lean", (), 0), session, "")
        found = self.recall(request)
        found = replace(found, results=choose(found, str(self.store.root), session, folder))
        return NearPrompt(found, session, block_of(found.results))

    def shown_at_prompt(self, found: "NearPrompt") -> None:
        """Counts memories as recalled once a session was shown them."""
        from memory_assets.services.prompts import note_shown
        from memory_assets.stages.recall.log import payload_of

        payload = payload_of(found.answer, is_budget=True) | ({"session": found.session} if found.session else {})
        note_shown(str(self.store.root), found)
        self._log_recall(found.answer.question, [one.memory_id for one in found.answer.results], payload)

    @_despite_damage
    def answer(self, question: str | AnswerRequest, *, model: "Model | None" = None, **options: Any) -> "CitedAnswer":
        """Returns an answer from everything that is known, with sources for each sentence, or that it is not in memory.

        `model`, or the model of the settings, writes it; without a model it quotes verbatim.
        """
        request = self._resolved(AnswerRequest.of(question, **options))
        from memory_assets.services.answers import answer_from_all
        from memory_assets.stages.recall.log import payload_of_cited
        from memory_assets.stages.recall.results import Asker

        asker = Asker(self.settings.clock(), request.project, self.settings.owner)
        said = answer_from_all(self.store, self._readable(), request, asker, model)
        if not request.probe:
            memory_ids = [one.ref for one in said.citations if one.kind in MEMORIES]
            self._log_recall(request.question, memory_ids, payload_of_cited(said))
        return said

    def remember(self, text: str | requests.RememberRequest, **options: Any) -> "Noted":
        """Saves a fact of the owner, or replaces the text of the memory `instead_of`; when this returns, it is on disk.

        The first fact creates the store, also before any transcript was read. Secrets are masked; a replaced memory keeps its
        wording and evidence. Raises `NoteError` for an invalid text.
        """
        from memory_assets.services import notes

        noted = notes.remember(self._store_or_unopened(), requests.RememberRequest.of(text, **options))
        if noted.replaces:
            from memory_assets.services.review import take_along

            take_along(self.store, noted.replaces, text=noted.text)
        return noted

    def forget(self, target: str | requests.ForgetRequest, **options: Any) -> "Forgetting":
        """Returns everything that contains the memory or the words; `apply` erases it, `history` also from git's history.

        The next run rebuilds what was derived from the erased rows.
        """
        from memory_assets.services.forget import forget as forgetting

        request = requests.ForgetRequest.of(target, **options)
        found = forgetting.forget(self.store, request.target, apply=request.apply, history=request.history)
        if found.is_applied:
            from memory_assets.services.review import take_along
            from memory_assets.services.slog import log_events

            for one in found.memories:
                take_along(self.store, one.memory_id)
            log_events(self.store)
        return found

    def feedback(self, memory_ids: str | Sequence[str] | requests.FeedbackRequest, **options: Any) -> "Rating":
        """Records that memories helped, or did not; the next update ranks them by it."""
        from memory_assets.services.feedback import rate

        return rate(self.store, requests.FeedbackRequest.of(memory_ids, **options))

    def slog(self, action: str | requests.SlogRequest | None = None, **options: Any) -> "SlogAnswer":
        """Appends an entry to the log of what was done to systems; without an action, returns the latest entries."""
        from memory_assets.services import slog

        request = requests.SlogRequest.of(action, **options)
        return (
            slog.append(self._store_or_unopened(), request) if request.action else slog.find(self._store_or_unopened(), request)
        )

    def restore(self, memory_ids: str | Sequence[str] | requests.RestoreRequest) -> "Restored":
        """Makes stale, archived or cold memories active again, from the next build of memories on.

        Raises `NoteError` for a memory that is active, and its subclasses for one that is unknown, replaced or forgotten.
        """
        from memory_assets.services import restore

        return restore.restore(self.store, requests.RestoreRequest.of(memory_ids))

    def brief(self, session: str | requests.BriefRequest | None = None, **options: Any) -> Briefing:
        """Returns the briefing for the next session; its text is empty where there is none yet.

        For a continued session, the facts of that session itself are added.
        """
        return latest_briefing(self.settings.data, requests.BriefRequest.of(session, **options))

    @_despite_damage
    def review(self, request: requests.ReviewRequest | None = None) -> Review:
        """Returns the proposals that wait for a decision, and problems of REVIEW.md."""
        from memory_assets.services.review import read_review

        count = sum(1 for _ in waiting_proposals(self.store, is_asked=False))
        return Review(self.pending(), read_review(self.store).reading.warnings, count, self.adr_conflicts())

    def adr_conflicts(self) -> tuple[AdrContradiction, ...]:
        """Returns the memories that contradict a decision record in force."""
        from memory_assets.services.adrs import read_contradictions

        return read_contradictions(self.store)

    def adrs(self) -> "list[AdrRow]":
        """Returns the decision records of the owner's projects as they are now, with what is wrong with them."""
        from memory_assets.services.adrs import list_adrs

        return list_adrs(self.store)

    def add_documents(self, files: str | Sequence[str] | requests.AddDocumentsRequest, **options: Any) -> "Added":
        """Adds files to the library and indexes them; one that cannot be read is named and keeps no other out."""
        from memory_assets.runs import launch
        from memory_assets.services import documents

        added = documents.add(self._store_or_unopened(), requests.AddDocumentsRequest.of(files, **options))
        launch.index_documents(self.store)
        return added

    def documents(self) -> "list[DocumentRow]":
        """Returns the documents of the library, the latest first."""
        from memory_assets.services import documents

        return documents.list_documents(self._store_or_unopened())

    @_despite_damage
    def search_documents(self, question: str | requests.SearchDocumentsRequest, **options: Any) -> "FoundInDocuments":
        """Returns the parts of documents that fit the question; nothing else reads them."""
        from memory_assets.services import documents

        return documents.search(self.store, requests.SearchDocumentsRequest.of(question, **options))

    def remove_document(self, name: str) -> "KeptDocument":
        """Removes the document with that id, file name or title from the library, and returns it."""
        from memory_assets.runs import launch
        from memory_assets.services import documents

        removed = documents.remove(self.store, name)
        launch.index_documents(self.store)
        return removed

    def discover(self, source: str | requests.DiscoverRequest, **options: Any) -> "Discovered":
        """Reads a page or a repository and keeps a note of it, which the next run makes known to recall."""
        from memory_assets.runs import launch
        from memory_assets.services import discoveries

        found = discoveries.discover(self._store_or_unopened(), requests.DiscoverRequest.of(source, **options))
        launch.index_documents(self.store)
        return found

    def feeds(self) -> "list[FeedRow]":
        """Returns the feeds that are watched."""
        from memory_assets.services import feeds

        return feeds.list_feeds(self._store_or_unopened())

    def add_feed(self, url: str | requests.AddFeedRequest, **options: Any) -> "FeedRow":
        """Watches a feed: from now on, a poll keeps its new items."""
        from memory_assets.services import feeds

        return feeds.add(self._store_or_unopened(), requests.AddFeedRequest.of(url, **options))

    def remove_feed(self, name: str) -> "FeedRow":
        """Watches the feed with that id, address or title no more."""
        from memory_assets.services import feeds

        return feeds.remove(self.store, name)

    def poll_feeds(self) -> "Polled":
        """Looks for new items in all feeds at once, and returns their titles."""
        from memory_assets.runs import launch
        from memory_assets.services import feeds

        known = {one.id for one in self.documents()}
        launch.poll_feeds(self.store)
        new = tuple(one.title for one in self.documents() if one.id not in known)
        return feeds.Polled(tuple(feeds.list_feeds(self.store)), new)

    def decide(self, decision: str | requests.DecideRequest, **options: Any) -> Decided:
        """Approves, rejects or edits proposals and returns the state of each."""
        request = requests.DecideRequest.of(decision, **options)
        if request.decision == "approve":
            return Decided(self.approve(*request.proposals))
        if request.decision == "reject":
            return Decided(self.reject(*request.proposals, reason=request.reason))
        return Decided(self.edit(request.proposals[0], request.text))

    @_despite_damage
    def pending(self) -> tuple[Pending, ...]:
        """Returns the proposals that you are asked about, most useful first, including changes since the last triage."""
        return tuple(waiting_proposals(self.store))

    def lost(self) -> tuple[str, ...]:
        """Returns the proposals that vanished from REVIEW.md, where so many at once may be an accident."""
        from memory_assets.services.review import read_review

        return read_review(self.store).reading.lost

    def put_back(self) -> None:
        """Writes the lines of lost proposals into REVIEW.md again."""
        from memory_assets.services.review import restore_lost

        restore_lost(self.store)

    def apply_review_edits(self) -> None:
        """Runs triage if REVIEW.md, MEMORY.md or the owner's tasks were changed since the last one."""
        from memory_assets.runs.due import triage_is_due

        if triage_is_due(self.store):
            self.run_triage()

    def approve(self, *proposal_ids: str, triage: bool = True) -> tuple[Reviewed, ...]:
        """Approves the proposals, updates MEMORY.md, and returns the state of each; without `triage` only records it."""
        for one in pending_of(self.store, proposal_ids):
            self.store.append_event("proposal.approved", one.proposal_id, {"text": one.text, "section": one.section})
        return self.run_triage(*proposal_ids) if triage else ()

    def reject(self, *proposal_ids: str, reason: str = "", triage: bool = True) -> tuple[Reviewed, ...]:
        """Rejects the proposals, with a reason where one is given, and returns the state of each."""
        for one in pending_of(self.store, proposal_ids):
            self.store.append_event("proposal.rejected", one.proposal_id, {"reason": reason})
        return self.run_triage(*proposal_ids) if triage else ()

    def edit(self, proposal_id: str, text: str, *, triage: bool = True) -> tuple[Reviewed, ...]:
        """Changes the text of a pending proposal; it still waits for approval afterwards."""
        wording = " ".join(text.split())
        if not wording:
            raise ReviewError(f"The new text of {proposal_id} is empty. `memory review reject {proposal_id}` rejects it.")
        (pending,) = pending_of(self.store, [proposal_id])
        if not pending.text:
            raise ReviewError(f"{proposal_id} proposes to remove a line and has no text to edit. Approve or reject it.")
        self.store.append_event("proposal.edited", proposal_id, {"text": wording})
        return self.run_triage(proposal_id) if triage else ()

    def write_decided(self) -> tuple[str, ...]:
        """Writes the lines of recorded decisions at once, without a whole triage, and returns what changed."""
        from memory_assets.services.review import write_decided

        events = write_decided(self.store)
        return tuple(f"{one.payload['path']}: {one.payload['line'] or 'removed ' + one.payload['replaces']}" for one in events)

    def last_commit(self) -> str | None:
        """Returns the id of the workspace's last commit, to ask later what changed since."""
        from memory_assets.services.review import last_commit

        return last_commit(self.store)

    def changed_since(self, commit: str | None) -> "list[ChangedLine]":
        """Returns the lines of MEMORY.md and of the files of projects that changed since the commit."""
        from memory_assets.services.review import changed_since

        return changed_since(self.store, commit)

    def take_back(self, proposal_id: str) -> None:
        """Undoes your last decision about a proposal: it is pending again, and its edit of a file of entries is undone."""
        from memory_assets.services.review import take_back

        take_back(self.store, proposal_id)

    def run_triage(self, *proposal_ids: str) -> tuple[Reviewed, ...]:
        """Carries out every recorded decision, and returns the state of these proposals."""
        from memory_assets.runs import launch

        launch.triage(self.store)
        return reviewed_of(self.store, proposal_ids)

    @_despite_damage
    def explain(self, target: str | requests.ExplainRequest, **options: Any) -> "Explanation | WhyNot":
        """Returns where a line of MEMORY.md, a proposal, a memory or an observation comes from, down to the bytes.

        Words are explained by the recalled memory that contains them. For words that are not recalled, or not for `question`,
        the result says why.
        """
        request = requests.ExplainRequest.of(target, **options)
        if request.question is not None:
            return self._why_not(request.target, request.question)
        try:
            return self.origin_of(request.target)
        except UnknownIdError:
            if AN_ID.fullmatch(request.target.strip()):
                raise
        found = self._why_not(request.target, None)
        return self.origin_of(found.memory_id) if found.stage == "recalled" and found.memory_id and found.is_meant else found

    def origin_of(self, target: str) -> "Explanation":
        """Returns the provenance of a line, a proposal, a memory or an observation; raises `UnknownIdError` for others."""
        store = self.store
        from memory_assets.adapters.git_workspace import GitWorkspace
        from memory_assets.stages.triage.explain import explain

        workspace = GitWorkspace(store.workspace)
        return explain(target, tables=store.tables, ledger=store.ledger, archive=store.archive, workspace=workspace)

    def _why_not(self, text: str, question: str | None) -> "WhyNot":
        store = self.store
        from memory_assets.services.corpus import open_present_with_embedder
        from memory_assets.services.why_not import why_not

        recall = partial(self.recall, probe=True)
        return why_not(text, store, open_present_with_embedder(store), recall, question=question)

    @_despite_damage
    def triggers(self, on: str | date | requests.TriggersRequest | None = None) -> "Triggers":
        """Returns the dates due on the day or the day after it; without a day, every date ahead."""
        from memory_assets.services.brief_inputs import due_triggers
        from memory_assets.stages.brief.due import Triggers
        from memory_assets.stages.embed.present import read_present

        day = requests.TriggersRequest.of(on).day(self.settings.clock(), self.settings.zone)
        memories = read_present(self.store.tables, self.store.ledger)
        return Triggers(due_triggers(self.store, memories, on=day, is_all=day is None))

    @_despite_damage
    def status(self, request: requests.StatusRequest | None = None) -> "Status":
        """Returns the state of the store."""
        from memory_assets.services.health.status import status_of

        return status_of(self._store_or_unopened(), is_sample=self.is_sample)

    def health(self, *, is_deep: bool = False, night: date | None = None) -> "Health":
        """Returns counts and checks of the store; with `is_deep`, also of every stored byte, or of the share of one `night`."""
        from memory_assets.adapters.local_embedder import LocalEmbedder
        from memory_assets.runs.freshness import check_deadlines
        from memory_assets.services.corpus import open_texts, open_vectors
        from memory_assets.services.health.doctor import Projections, examine
        from memory_assets.services.review import tasks_of

        store = self.store
        embedding_model = store.settings.embedding_model
        projections = Projections(
            model_version=lambda: LocalEmbedder(embedding_model).version,
            vector_ids=open_vectors(store).ids,
            text_ids=open_texts(store).ids,
        )
        deadlines = partial(check_deadlines, store)
        return examine(store, projections, tasks_of(store), deadlines=deadlines, is_deep=is_deep, night=night)

    @_despite_damage
    def health_report(self) -> "HealthReport":
        """Returns the monthly health report as of now: figures, and sections with pictures; it is not written to a file."""
        from memory_assets.runs.steps.maintain import health_inputs
        from memory_assets.stages.maintain.health_report import build_report

        return build_report(health_inputs(self.store))

    @_despite_damage
    def last_heard(self) -> dict[str, datetime]:
        """Returns when each harness last sent an event."""
        if not self.exists:
            return {}
        import polars as pl

        sent = self.store.tables.read("events", columns=["harness", "sent_at"]).drop_nulls()
        return dict(sent.group_by("harness").agg(pl.col("sent_at").max()).sort("harness").iter_rows())

    def serve_ui(self, port: int, tell: "Callable[[str], None]", *, is_service: bool = False) -> int:
        """Serves the Dagster UI with its sensors and schedules until it is stopped; returns its exit code.

        Runs what becomes due meanwhile; `tell` is given the address, and problems of the UI and of these runs. A service is
        stopped by a signal: that is no failure.
        """
        from memory_assets.runs.serving import Serving

        return Serving(self.store, port, tell).start().wait(is_service=is_service)

    def evaluate(self, labels: Path | None = None, *, against: Path | None = None, show: "Shown | None" = None) -> "Evaluation":
        """Returns how well the observations cover the labelled sessions of the folder, by default of the setting `gold`.

        `against` is a file with the facts of another extractor; `show` lists missed labels, wrong facts or noise.
        """
        from memory_assets.stages.evaluate.gold import evaluate

        folder = labels or self.settings.gold
        if folder is None:
            raise LabelsError("No folder of labelled sessions is given. Name one, or set MEMORY_GOLD; see docs/evaluation.md.")
        return evaluate(self.store.tables, folder, against=against, show=show)

    @property
    def is_sample(self) -> bool:
        """Whether the store is the bundled sample's."""
        return is_sample(self.settings)

    def _store_or_unopened(self) -> "Store":
        """Returns the store, which is not created where it is missing."""
        from memory_assets.store.store import Store

        return self.store if self.exists else Store(self.settings, self.settings.data)

    def _readable(self) -> "Readable":
        """Returns what questions are answered from."""
        from memory_assets.services.answers import everything_of

        return everything_of(self.store)

    def _resolved(self, request: Asking) -> Asking:
        return request.at(self.settings.clock(), self.settings.zone)

    def _log_recall(self, question: str, memory_ids: Sequence[str], payload: dict[str, Any]) -> None:
        """Appends one event for the whole answer, even an empty one; an event per memory would flush the disk ten times."""
        query = hmac.new(self.store.key, question.strip().lower().encode(), hashlib.sha256).hexdigest()[:24]
        self.store.append_event("memory.recalled", query, {"memory_ids": list(memory_ids), **payload})
