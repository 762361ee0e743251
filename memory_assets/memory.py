"""The facade: what a person or an agent asks of the memory, in those words.

`MemoryAgent` opens the present store and answers; results are objects that explain themselves, and the doors (the command
line, later MCP and HTTP) only translate and print them. It writes nothing but ledger lines: what people and agents said and
did. Everything heavy is imported when it is first needed.
"""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from memory_assets.errors import LabelsError, ReviewError, StoreError, UnknownIdError
from memory_assets.services.export import Format, export_file
from memory_assets.services.table_rows import Rows, sample_facts, sample_rows, show_rows
from memory_assets.services.which_store import is_sample, present_settings
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets.store.places import store_root
from memory_assets.store.ready import briefing_path, here, of_session, with_own
from memory_assets.store.settings import Settings, read_settings

if TYPE_CHECKING:
    from memory_assets.runs.build import Built
    from memory_assets.runs.what_if import Adopted, Dropped, Estimate, Listed, WhatIf
    from memory_assets.schema.protocols import Model
    from memory_assets.services.calibration import By, Calibration
    from memory_assets.services.forget.forget import Forgetting
    from memory_assets.services.health.doctor import Health
    from memory_assets.services.health.status import Status
    from memory_assets.services.model_questions import Costs
    from memory_assets.services.notes import Noted
    from memory_assets.services.why_not import WhyNot
    from memory_assets.stages.brief.due import Trigger
    from memory_assets.stages.evaluate.gold import Evaluation, Shown
    from memory_assets.stages.recall.neighbourhood import Neighbourhood
    from memory_assets.stages.recall.reflect import Reflected
    from memory_assets.stages.recall.search import Answer, Filters
    from memory_assets.stages.triage.explain import Explanation
    from memory_assets.store.store import Store


MEMORIES = ("fact", "narrative")
"""Kinds of results that are memories; segments and messages are raw material and are not counted as used."""


def scan(table: str) -> pl.LazyFrame:
    """Returns a table of the present store as a lazy polars frame; without rows where it was never written."""
    return ParquetTables(store_root(read_settings().data) / "tables").scan(table)


@dataclass(frozen=True)
class Briefing:
    """What the next session should know at once, as the pipeline keeps it ready."""

    text: str
    path: Path
    written_at: datetime | None


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
        question: str,
        *,
        profile: str = "balanced",
        limit: int | None = None,
        corpus: str | Sequence[str] | None = None,
        filters: "Filters | None" = None,
        project: str | None = None,
        person: str | None = None,
        session: str | None = None,
        recent: Sequence[str] = (),
        now: datetime | None = None,
        budget: bool = False,
        is_probe: bool = False,
    ) -> "Answer":
        """Returns the few memories that help with the question, ten at most (fifteen, where a deep recall asks for them).

        `project`, `person` (the owner, unless said) and `session` tell who asks, and are preferred; `filters` exclude.
        `recent` are the last messages of the conversation, for a question that leans on them. `corpus` names what is searched:
        memories, segments, messages. `budget` hands out five at most within a few tokens, and asks neither model nor graph.
        What is returned counts as used, unless a probe asks.
        """
        store = self.store
        from memory_assets.services.answer_dependencies import means_of
        from memory_assets.services.corpus import open_corpus
        from memory_assets.stages.recall.answering import answer
        from memory_assets.stages.recall.log import payload_of
        from memory_assets.stages.recall.results import Asker, Filters

        corpora, missing = open_corpus(store)
        asker = Asker(now or self.settings.clock(), project, person or self.settings.owner, session, tuple(recent))
        wanted, means = filters or Filters(), means_of(store)
        found = answer(
            question, corpora, asker, profile=profile, limit=limit, corpora=corpus, filters=wanted, budget=budget, means=means
        )
        if not is_probe:
            memory_ids = [result.memory_id for result in found.results if result.kind in MEMORIES]
            shown_in = {"session": session} if session else {}
            self._note_recall(question, memory_ids, {**payload_of(found, is_budget=budget), **shown_in})
        return replace(found, notes=(*found.notes, *missing)) if missing else found

    def remember(
        self,
        text: str,
        *,
        category: str | None = None,
        priority: str = "medium",
        project: str = "",
        sentiment: str = "neutral",
        session: str | None = None,
    ) -> "Noted":
        """Writes down a fact in the owner's voice; when this returns, it is on disk and every process recalls it.

        The category is read from the words where none is given. Secrets are masked. Raises `NoteError` where it cannot be kept.
        """
        from memory_assets.services import notes

        about = {"category": category, "priority": priority, "project": project, "sentiment": sentiment}
        return notes.remember(self.store, text, **about, session=session)

    def correct(self, memory_id: str, text: str, *, session: str | None = None) -> "Noted":
        """Replaces what a memory (`mem_` and at least six characters) says; the old wording and its evidence are kept."""
        from memory_assets.services import notes

        return notes.correct(self.store, memory_id, text, session=session)

    def forget(self, target: str, *, apply: bool = False, history: bool = False) -> "Forgetting":
        """Returns everything that carries the memory, or the words; with `apply` it is erased, with `history` from git, too.

        What was made of the erased rows is made again by the next run.
        """
        from memory_assets.services.forget import forget as forgetting

        return forgetting.forget(self.store, target, apply=apply, history=history)

    def feedback(self, memory_ids: str | Sequence[str], *, used: bool, session: str | None = None) -> "Noted":
        """Notes that memories helped, or that they were shown for nothing; the next fold ranks them by it."""
        from memory_assets.services import notes

        return notes.feedback(self.store, memory_ids, used=used, session=session)

    def reflect(
        self,
        question: str,
        *,
        project: str | None = None,
        filters: "Filters | None" = None,
        model: "Model | None" = None,
        is_probe: bool = False,
    ) -> "Reflected":
        """Returns an answer over all tiers, each sentence with its sources, or that it is not in memory.

        The model that the settings name puts it together, or the one given; without one it is extractive.
        """
        from memory_assets.services.answer_inputs import answer_from_all
        from memory_assets.stages.recall.log import payload_of_reflected
        from memory_assets.stages.recall.results import Asker, Filters

        asker = Asker(self.settings.clock(), project, self.settings.owner)
        said = answer_from_all(self.store, question, asker, filters or Filters(), model)
        if not is_probe:
            memory_ids = [one.ref for one in said.citations if one.kind in MEMORIES]
            self._note_recall(question, memory_ids, payload_of_reflected(said))
        return said

    def why_not(self, text: str, *, question: str | None = None) -> "WhyNot":
        """Returns where what was said stopped on its way to an answer to the question (by default, to its own words)."""
        store = self.store
        from memory_assets.services.corpus import open_present
        from memory_assets.services.why_not import why_not

        def ask(asked: str, limit: int | None) -> "Answer":
            return self.recall(asked, limit=limit, is_probe=True)

        return why_not(text, store, open_present(store, None), ask, question=question)

    def brief(self, session: str | None = None) -> Briefing:
        """Returns the briefing of the next session; its text is empty where none was made yet.

        With a session that goes on, what it established itself stands below.
        """
        root = str(self.settings.data)
        path = Path(briefing_path(root, here()))
        try:
            text = with_own(path.read_text("utf-8"), of_session(root, session or ""))
            return Briefing(text, path, datetime.fromtimestamp(int(path.stat().st_mtime), UTC))
        except FileNotFoundError:
            return Briefing("", path, None)

    def pending(self) -> tuple[Pending, ...]:
        """Returns the proposals that wait for a decision, in order of their ids, as the ledger knows by now."""
        from memory_assets.stages.triage.standing import read_proposals

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

    def review_warnings(self) -> tuple[str, ...]:
        """Returns what is odd about REVIEW.md, so that it decides nothing until somebody mends it."""
        from memory_assets.services.review import review_warnings

        return review_warnings(self.store)

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
            raise ReviewError(f"The new text of {proposal_id} is empty; `memory review reject {proposal_id}` drops it.")
        (waiting,) = self._waiting([proposal_id])
        if not waiting.text:
            raise ReviewError(f"{proposal_id} asks whether a line may go; there is nothing to reword. Approve or reject it.")
        self._say("proposal.edited", proposal_id, {"text": wording})
        return self.settle(proposal_id) if settle else ()

    def settle(self, *proposal_ids: str) -> tuple[Reviewed, ...]:
        """Carries out every decision that was noted, and returns what became of these proposals."""
        from memory_assets.runs import launch

        launch.triage(self.store)
        return self._decided(proposal_ids)

    def explain(self, target: str) -> "Explanation":
        """Returns where a line of MEMORY.md, a proposal, a memory or an observation comes from, down to the bytes."""
        store = self.store
        from memory_assets.adapters.git_workspace import GitWorkspace
        from memory_assets.stages.triage.explain import explain

        workspace = GitWorkspace(store.workspace)
        return explain(target, tables=store.tables, ledger=store.ledger, archive=store.archive, workspace=workspace)

    def graph(self, name: str) -> "Neighbourhood":
        """Returns the entities of that name, what they stand together with, and the memories that name them."""
        from memory_assets.stages.embed.overlay import read_present
        from memory_assets.stages.recall.neighbourhood import find_neighbourhood

        tables = self.store.tables
        graph = {table: tables.read(table) for table in ("entities", "relations", "mentions")}
        memories = read_present(tables, self.store.ledger)
        return find_neighbourhood(name, **graph, memories=memories, own=self.settings.aliases)

    def triggers(self, on: date | None = None) -> "tuple[Trigger, ...]":
        """Returns what comes up on the day or the day after it; without a day, everything that is still ahead."""
        from memory_assets.services.due_triggers import coming_up
        from memory_assets.stages.embed.overlay import read_present

        memories = read_present(self.store.tables, self.store.ledger)
        return coming_up(self.store, memories, on=on, is_all=on is None)

    def status(self) -> "Status":
        """Returns how the store stands."""
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
            raise LabelsError("No labelled sessions are named. Name their folder, or set MEMORY_GOLD; see docs/evaluation.md.")
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

    def _waiting(self, proposal_ids: Sequence[str]) -> list[Pending]:
        waiting = {one.proposal_id: one for one in self.pending()}
        for proposal_id in proposal_ids:
            if proposal_id not in waiting:
                raise self._why_not_waiting(proposal_id)
        return [waiting[proposal_id] for proposal_id in proposal_ids]

    def _why_not_waiting(self, proposal_id: str) -> ReviewError:
        known = {one.proposal_id: one for one in self._decided([proposal_id])}
        if proposal_id not in known:
            return UnknownIdError(f"There is no proposal {proposal_id}. `memory review` lists those that wait.")
        told = f"`memory explain {proposal_id}` tells why. Only waiting ones can be decided."
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
