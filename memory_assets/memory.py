"""The facade: what a person or an agent asks of the memory, in those words.

`MemoryAgent` opens the present store and answers. A verb takes its request (`schema/requests.py`), or the request's first field
and further ones by name: `agent.recall("how do we deploy", limit=5)`. Results are objects; the interfaces only translate and
print them. It writes nothing but ledger lines: what people and agents said and did. Heavy imports wait until they are needed.
"""

import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

from memory_assets.errors import LabelsError, QuestionError, ReviewError, StoreError, UnknownIdError
from memory_assets.schema import requests
from memory_assets.schema.requests import AnswerRequest, RecallRequest
from memory_assets.services.export import Format, export_file
from memory_assets.services.table_rows import Rows, sample_facts, sample_rows, show_rows
from memory_assets.services.which_store import environment_of, is_sample, present_settings
from memory_assets.stages.deliver.spool import alarm
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets.store.places import store_root
from memory_assets.store.ready import NOTHING_YET, briefing_path, here, of_session, with_own
from memory_assets.store.settings import Settings, read_settings

if TYPE_CHECKING:
    from memory_assets.runs.build import Built
    from memory_assets.runs.what_if import Adopted, Dropped, Estimate, Listed, WhatIf
    from memory_assets.schema.protocols import Model
    from memory_assets.services.calibration import By, Calibration
    from memory_assets.services.configuration import Models, Setting
    from memory_assets.services.forget.forget import Forgetting
    from memory_assets.services.health.doctor import Health
    from memory_assets.services.health.status import Status
    from memory_assets.services.model_questions import Costs
    from memory_assets.services.notes import Noted
    from memory_assets.services.why_not import WhyNot
    from memory_assets.stages.brief.due import Trigger
    from memory_assets.stages.evaluate.gold import Evaluation, Shown
    from memory_assets.stages.recall.cited_answer import CitedAnswer
    from memory_assets.stages.recall.neighbourhood import Neighbourhood
    from memory_assets.stages.recall.results import Answer
    from memory_assets.stages.triage.explain import Explanation
    from memory_assets.store.store import Store


MEMORIES = ("fact", "narrative")
"""Kinds of results that are memories; segments and messages are raw material and are not counted as used."""

AN_ID = re.compile(r"mem_\S*|p-\d[\d-]*|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
"""What is taken for an id, known or not, and not for words that somebody said."""

Asking = TypeVar("Asking", bound=AnswerRequest)


def scan(table: str) -> pl.LazyFrame:
    """Returns a table of the present store as a lazy polars frame; without rows where it was never written."""
    return ParquetTables(store_root(read_settings().data) / "tables").scan(table)


@dataclass(frozen=True)
class Briefing:
    """What the next session should know at once, as the pipeline keeps it ready."""

    text: str
    path: Path
    written_at: datetime | None
    _alarm: str | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """That there is no briefing yet, or that events are not taken in."""
        return tuple(filter(None, (None if self.text else NOTHING_YET, self._alarm)))


@dataclass(frozen=True)
class Pending:
    """A proposal that waits for a person, with what it rests on."""

    proposal_id: str
    section: str
    text: str
    """What the line would say; empty where the entry would go."""
    entry: str | None
    """The line of MEMORY.md that would be replaced or go."""
    reason: str
    """Why the rules left it to a person."""
    confidence: float
    priority: str
    category: str
    project: str
    event_on: date
    expires_at: datetime | None
    session_ids: tuple[str, ...]


@dataclass(frozen=True)
class Reviewed:
    """What became of a proposal after a person decided."""

    proposal_id: str
    state: str
    section: str
    text: str
    reason: str


@dataclass(frozen=True)
class Review:
    """The proposals that wait for a decision."""

    pending: tuple[Pending, ...]
    _warnings: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is odd about REVIEW.md, so that it decides nothing until somebody fixes it."""
        return self._warnings


@dataclass(frozen=True)
class Decided:
    """What became of the proposals that were decided."""

    decided: tuple[Reviewed, ...]


@dataclass(frozen=True)
class Triggers:
    """The dates that come up."""

    triggers: "tuple[Trigger, ...]"


class MemoryAgent:
    """Answers from one store; the present one, when made without settings."""

    def __init__(self, settings: Settings | None = None) -> None:
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
        """Whether a store was made."""
        return (self.settings.data / "VERSION").is_file()

    def recall(
        self,
        question: str | RecallRequest,
        *,
        now: datetime | None = None,
        asker: str | None = None,
        **options: Any,
    ) -> "Answer":
        """Returns the few memories that help with the question; they count as used, unless `probe` is set.

        `asker` is the person who asks (the owner by default) and is preferred; the fields of the request that filter exclude.
        """
        request = self._resolved(RecallRequest.of(question, **options))
        store = self.store
        from memory_assets.services.answer_dependencies import dependencies_of
        from memory_assets.services.corpus import open_corpus
        from memory_assets.stages.recall.answering import answer
        from memory_assets.stages.recall.log import payload_of
        from memory_assets.stages.recall.results import Asker

        corpora, missing = open_corpus(store)
        session, person = request.own_session, asker or self.settings.owner
        who = Asker(now or self.settings.clock(), request.project, person, session, request.recent)
        found = answer(request, corpora, who, dependencies_of(store))
        if not request.probe:
            memory_ids = [result.memory_id for result in found.results if result.kind in MEMORIES]
            shown_in = {"session": session} if session else {}
            payload = {**payload_of(found, is_budget=request.budget), **shown_in}
            self._note_recall(request.question, memory_ids, payload)
        return replace(found, notes=(*found.notes, *missing)) if missing else found

    def answer(self, question: str | AnswerRequest, *, model: "Model | None" = None, **options: Any) -> "CitedAnswer":
        """Returns an answer from everything that is known, each sentence with its sources, or that it is not in memory.

        The model that the settings name writes it, or the one given; without one it quotes verbatim.
        """
        request = self._resolved(AnswerRequest.of(question, **options))
        from memory_assets.services.answer_inputs import answer_from_all
        from memory_assets.stages.recall.log import payload_of_cited
        from memory_assets.stages.recall.results import Asker

        asker = Asker(self.settings.clock(), request.project, self.settings.owner)
        said = answer_from_all(self.store, request, asker, model)
        if not request.probe:
            memory_ids = [one.ref for one in said.citations if one.kind in MEMORIES]
            self._note_recall(request.question, memory_ids, payload_of_cited(said))
        return said

    def remember(self, text: str | requests.RememberRequest, **options: Any) -> "Noted":
        """Saves a fact in the owner's voice, or replaces what the memory `instead_of` says; when this returns, it is on disk.

        Secrets are masked; what was replaced keeps its wording and evidence. Raises `NoteError` where it cannot be kept.
        """
        from memory_assets.services import notes

        return notes.remember(self.store, requests.RememberRequest.of(text, **options))

    def forget(self, target: str | requests.ForgetRequest, **options: Any) -> "Forgetting":
        """Returns everything that carries the memory, or the words; with `apply` it is erased, with `history` from git, too.

        What was made of the erased rows is rebuilt by the next run.
        """
        from memory_assets.services.forget import forget as forgetting

        request = requests.ForgetRequest.of(target, **options)
        return forgetting.forget(self.store, request.target, apply=request.apply, history=request.history)

    def feedback(self, memory_ids: str | Sequence[str] | requests.FeedbackRequest, **options: Any) -> "Noted":
        """Records that memories helped, or that they were shown for nothing; the next update ranks them by it."""
        from memory_assets.services import notes

        return notes.feedback(self.store, requests.FeedbackRequest.of(memory_ids, **options))

    def brief(self, session: str | requests.BriefRequest | None = None) -> Briefing:
        """Returns the briefing of the next session; its text is empty where none was made yet.

        With a session that goes on, what it established itself is added.
        """
        session = requests.BriefRequest.of(session).session or ""
        root = str(self.settings.data)
        path, wrong = Path(briefing_path(root, here())), alarm(root)
        try:
            text = with_own(path.read_text("utf-8"), of_session(root, session))
            return Briefing(text, path, datetime.fromtimestamp(int(path.stat().st_mtime), UTC), wrong)
        except FileNotFoundError:
            return Briefing("", path, None, wrong)

    def review(self, request: requests.ReviewRequest | None = None) -> Review:
        """Returns the proposals that wait for a decision, and what is odd about REVIEW.md."""
        from memory_assets.services.review import review_warnings

        return Review(self.pending(), review_warnings(self.store))

    def decide(self, decision: str | requests.DecideRequest, **options: Any) -> Decided:
        """Approves, rejects or rewords proposals and returns what became of each."""
        request = requests.DecideRequest.of(decision, **options)
        if request.decision == "approve":
            return Decided(self.approve(*request.proposals))
        if request.decision == "reject":
            return Decided(self.reject(*request.proposals, reason=request.reason))
        return Decided(self.edit(request.proposals[0], request.text))

    def pending(self) -> tuple[Pending, ...]:
        """Returns the proposals that wait for a decision, in order of their ids, as the ledger knows by now."""
        from memory_assets.stages.triage.current import read_proposals

        tables = self.store.tables
        decided = ["proposal_id", "state", "reason", "expires_at", "section", "text", "entry"]
        decisions = tables.read("decisions", columns=decided)
        proposals = read_proposals(tables).drop("section", "text", "entry")
        waiting = proposals.join(decisions.filter(pl.col("state") == "pending"), on="proposal_id").sort("proposal_id")
        said = self.store.ledger.events(["proposal.approved", "proposal.rejected", "proposal.decided", "proposal.edited"])
        reworded = {event.target: event.payload["text"] for event in said if event.kind == "proposal.edited"}
        decided = {event.target for event in said if event.kind != "proposal.edited"}
        rows = waiting.select(list(Pending.__dataclass_fields__)).iter_rows(named=True)
        return tuple(
            Pending(**{**row, "session_ids": tuple(row["session_ids"]), "text": reworded.get(row["proposal_id"], row["text"])})
            for row in rows
            if row["proposal_id"] not in decided
        )

    def lost(self) -> tuple[str, ...]:
        """Returns the proposals that are gone from REVIEW.md, where these are more at once than somebody may have meant."""
        from memory_assets.services.review import lost_proposals

        return lost_proposals(self.store)

    def put_back(self) -> None:
        """Writes the lines of lost proposals into REVIEW.md again."""
        from memory_assets.services.review import put_lost_back

        put_lost_back(self.store)

    def hear(self) -> None:
        """Carries out what a person changed in REVIEW.md, MEMORY.md or their tasks since the last triage, where they did."""
        from memory_assets.runs.due import triage_is_due

        if triage_is_due(self.store):
            self.settle()

    def approve(self, *proposal_ids: str, settle: bool = True) -> tuple[Reviewed, ...]:
        """Approves the proposals, has MEMORY.md written, and returns what became of each; without `settle` only notes it."""
        for one in self._waiting(proposal_ids):
            self._say("proposal.approved", one.proposal_id, {"text": one.text, "section": one.section})
        return self.settle(*proposal_ids) if settle else ()

    def reject(self, *proposal_ids: str, reason: str = "", settle: bool = True) -> tuple[Reviewed, ...]:
        """Rejects the proposals, with a reason where one is given, and returns what became of each."""
        for one in self._waiting(proposal_ids):
            self._say("proposal.rejected", one.proposal_id, {"reason": reason})
        return self.settle(*proposal_ids) if settle else ()

    def edit(self, proposal_id: str, text: str, *, settle: bool = True) -> tuple[Reviewed, ...]:
        """Rewords a waiting proposal; it still waits for approval afterwards."""
        wording = " ".join(text.split())
        if not wording:
            raise ReviewError(f"The new text of {proposal_id} is empty. `memory review reject {proposal_id}` rejects it.")
        (waiting,) = self._waiting([proposal_id])
        if not waiting.text:
            raise ReviewError(f"{proposal_id} proposes to remove a line and has no text to edit. Approve or reject it.")
        self._say("proposal.edited", proposal_id, {"text": wording})
        return self.settle(proposal_id) if settle else ()

    def settle(self, *proposal_ids: str) -> tuple[Reviewed, ...]:
        """Carries out every decision that was noted, and returns what became of these proposals."""
        from memory_assets.runs import launch

        launch.triage(self.store)
        return self._decided(proposal_ids)

    def explain(self, target: str | requests.ExplainRequest, **options: Any) -> "Explanation | WhyNot":
        """Returns where a line of MEMORY.md, a proposal, a memory or an observation comes from, down to the bytes.

        Words that are recalled are explained by the memory that holds them; for others, or where a question is named that does
        not return them, it is why they are not recalled.
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
        return self.origin_of(found.memory_id) if found.stage == "recalled" and found.memory_id else found

    def origin_of(self, target: str) -> "Explanation":
        """Returns the chain behind a line, a proposal, a memory or an observation; else raises `UnknownIdError`."""
        store = self.store
        from memory_assets.adapters.git_workspace import GitWorkspace
        from memory_assets.stages.triage.explain import explain

        workspace = GitWorkspace(store.workspace)
        return explain(target, tables=store.tables, ledger=store.ledger, archive=store.archive, workspace=workspace)

    def _why_not(self, text: str, question: str | None) -> "WhyNot":
        store = self.store
        from memory_assets.services.corpus import open_present
        from memory_assets.services.why_not import why_not

        def ask(asked: str, limit: int | None) -> "Answer":
            return self.recall(asked, limit=limit, probe=True)

        return why_not(text, store, open_present(store, None), ask, question=question)

    def graph(self, name: str | requests.GraphRequest) -> "Neighbourhood":
        """Returns the entities of that name, what they are related to, and the memories that name them."""
        from memory_assets.stages.embed.overlay import read_present
        from memory_assets.stages.recall.neighbourhood import find_neighbourhood

        tables = self.store.tables
        graph = {table: tables.read(table) for table in ("entities", "relations", "mentions")}
        memories = read_present(tables, self.store.ledger)
        return find_neighbourhood(requests.GraphRequest.of(name).name, **graph, memories=memories, own=self.settings.aliases)

    def triggers(self, on: str | date | requests.TriggersRequest | None = None) -> Triggers:
        """Returns what comes up on the day or the day after it; without a day, everything that is still ahead."""
        from memory_assets.services.due_triggers import coming_up
        from memory_assets.stages.embed.overlay import read_present

        day = requests.TriggersRequest.of(on).day(self.settings.clock(), self.settings.zone)
        memories = read_present(self.store.tables, self.store.ledger)
        return Triggers(coming_up(self.store, memories, on=day, is_all=day is None))

    def status(self, request: requests.StatusRequest | None = None) -> "Status":
        """Returns the state of the store."""
        from memory_assets.services.health.status import status_of
        from memory_assets.store.store import Store

        return status_of(self.store if self.exists else Store(self.settings, self.settings.data), is_sample=self.is_sample)

    def health(self) -> "Health":
        """Returns whether everything adds up, is whole and is fresh."""
        from memory_assets.adapters.local_embedder import LocalEmbedder
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
        return examine(store, projections, tasks_of(store))

    def flush(self) -> "Built":
        """Ends every open session now and learns from it, as if it had been idle for long enough."""
        from memory_assets.runs.build import flush

        return flush(self.store.settings)

    def last_heard(self) -> dict[str, datetime]:
        """Returns when each harness last sent an event that was taken in."""
        if not self.exists:
            return {}
        sent = self.store.tables.read("events", columns=["harness", "sent_at"]).drop_nulls()
        return dict(sent.group_by("harness").agg(pl.col("sent_at").max()).sort("harness").iter_rows())

    def cost(self, first: date | None = None, last: date | None = None, *, model: str | None = None) -> "Costs":
        """Returns what asking the model, or another one, about the days would call and cost; asks nobody."""
        from memory_assets.runs.days import days_between
        from memory_assets.services.model_questions import Consultation

        days = [day.isoformat() for day in days_between(self.store.tables, first, last)]
        return Consultation(self.store, model or self.settings.model).costs(days)

    def models(self) -> "Models":
        """Returns the configured model, and the others with a known price."""
        from memory_assets.services.configuration import list_models

        return list_models()

    def use_model(self, name: str) -> "Models":
        """Writes the model into the settings file; from now on questions are sent to it."""
        from memory_assets.services.configuration import use_model

        return use_model(name)

    def config(self, name: str | None = None) -> "tuple[Setting, ...]":
        """Returns every setting with its value, default and origin, or the one of that name."""
        from memory_assets.services.configuration import read_configuration

        found = [one for one in read_configuration() if name in (None, one.name)]
        if not found:
            raise QuestionError(f"There is no setting '{name}'; `memory config` lists all.")
        return tuple(found)

    def serve_ui(self, port: int | None = None) -> int:
        """Serves the Dagster UI with its sensors and schedules until it is stopped; returns its exit code."""
        from memory_assets.runs import launch

        return launch.serve(self.store, launch.free_port(port or self.settings.port), environment_of(self.settings))

    def backfill(self, first: date | None = None, last: date | None = None) -> "Built":
        """Asks the model about the days again, with the present prompt, and learns from its answers."""
        from memory_assets.runs.build import backfill

        return backfill(self.store.settings, first, last)

    def what_if(
        self, changes: Mapping[str, str], first: date | None = None, last: date | None = None, *, name: str | None = None
    ) -> "WhatIf":
        """Makes the days anew by other settings in a branch beside today's tables, and returns what differs."""
        from memory_assets.runs import what_if

        return what_if.make(self.store, first, last, changes, name)

    def estimate(
        self, changes: Mapping[str, str], first: date | None = None, last: date | None = None, *, name: str | None = None
    ) -> "Estimate":
        """Returns what such a branch would cost; asks nobody and makes nothing."""
        from memory_assets.runs import what_if

        return what_if.estimate(self.store, first, last, changes, name)

    def branches(self) -> "tuple[Listed, ...]":
        """Returns the branches that were made and neither adopted nor dropped."""
        from memory_assets.runs import what_if

        return what_if.listed(self.store)

    def branch(self, name: str) -> "WhatIf":
        """Returns a branch beside what it began from."""
        from memory_assets.runs import what_if

        return what_if.show(self.store, name)

    def adopt(self, name: str) -> "Adopted":
        """Makes the branch's settings today's, and today's tables by them."""
        from memory_assets.runs import what_if

        return what_if.adopt(self.store, name)

    def drop(self, name: str) -> "Dropped":
        """Deletes a branch."""
        from memory_assets.runs import what_if

        return what_if.drop(self.store, name)

    def show(self, table: str, *, day: str | None = None, limit: int = 10) -> Rows:
        """Returns the first rows of a table, or of one of its days."""
        return show_rows(self.store.tables, table, day=day, limit=limit)

    def sample(self, count: int, *, seed: str = "0", table: str | None = None) -> Rows:
        """Returns allowed facts drawn at random, or rows of the table; the same seed draws the same ones."""
        tables = self.store.tables
        return sample_facts(tables, count, seed) if table is None else sample_rows(tables, table, count, seed)

    def evaluate(self, labels: Path | None = None, *, against: Path | None = None, show: "Shown | None" = None) -> "Evaluation":
        """Returns how well the observations cover labelled sessions, those of the folder or of the setting `gold`.

        `against` is a file with the facts of another extractor; `show` lists what was missed, wrong or noise.
        """
        from memory_assets.stages.evaluate.gold import evaluate

        folder = labels or self.settings.gold
        if folder is None:
            raise LabelsError("No folder of labelled sessions is given. Name one, or set MEMORY_GOLD; see docs/evaluation.md.")
        return evaluate(self.store.tables, folder, against=against, show=show)

    def calibrate(
        self,
        *,
        by: "By | None" = None,
        limits: Sequence[str] = (),
        first: date | None = None,
        last: date | None = None,
    ) -> "Calibration":
        """Returns verdicts beside what people made of them and, where limits are named (NAME=VALUE), which rows they flip."""
        from memory_assets.runs.days import days_between
        from memory_assets.services.calibration import calibrate_all

        return calibrate_all(self.store, by=by, limits=limits, days=days_between(self.store.tables, first, last))

    def export(self, table: str, path: Path, format: Format = "jsonl") -> int:
        """Writes a table to a file and returns how many rows it has."""
        return export_file(self.store.tables, table, path, format)

    @property
    def is_sample(self) -> bool:
        """Whether the store shows the bundled sample."""
        return is_sample(self.settings)

    def _resolved(self, request: Asking) -> Asking:
        return request.at(self.settings.clock(), self.settings.zone)

    def _waiting(self, proposal_ids: Sequence[str]) -> list[Pending]:
        waiting = {one.proposal_id: one for one in self.pending()}
        for proposal_id in proposal_ids:
            if proposal_id not in waiting:
                raise self._why_not_waiting(proposal_id)
        return [waiting[proposal_id] for proposal_id in proposal_ids]

    def _why_not_waiting(self, proposal_id: str) -> ReviewError:
        known = {one.proposal_id: one for one in self._decided([proposal_id])}
        if proposal_id not in known:
            return UnknownIdError(f"There is no proposal {proposal_id}. `memory review` lists the pending ones.")
        told = f"`memory explain {proposal_id}` shows why. Only pending proposals can be decided."
        state = known[proposal_id].state
        return ReviewError(f"{proposal_id} is already {'decided' if state == 'pending' else state}; {told}")

    def _say(self, kind: str, target: str, payload: dict[str, Any]) -> None:
        self.store.ledger.append(kind, target, payload, actor=self.settings.owner)

    def _decided(self, proposal_ids: Sequence[str]) -> tuple[Reviewed, ...]:
        rows = self.store.tables.read("decisions", columns=list(Reviewed.__dataclass_fields__))
        chosen = rows.filter(pl.col("proposal_id").is_in(list(proposal_ids))).sort("proposal_id")
        return tuple(Reviewed(**row) for row in chosen.iter_rows(named=True))

    def _note_recall(self, question: str, memory_ids: Sequence[str], payload: dict[str, Any]) -> None:
        """Appends one line for the whole answer, even an empty one; a line a memory would flush the disk ten times."""
        query = hmac.new(self.store.key, question.strip().lower().encode(), hashlib.sha256).hexdigest()[:24]
        self._say("memory.recalled", query, {"memory_ids": list(memory_ids), **payload})
