"""The facade for a person who asks with a token: the same verbs, over what this person may read.

Answers are made from the readable part of the store (`visibility`), never from files that were
prepared for the owner. Everything that is saved has the person as its author. The id of something
that the person may not read raises the same error as an id that does not exist.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from memory_assets.errors import ScopeError, UnknownIdError
from memory_assets.extras.sharing import answers
from memory_assets.extras.sharing.pieces import Holdings, Stored
from memory_assets.extras.sharing.settings import sharing
from memory_assets.extras.sharing.take_in import holdings_of, take_in
from memory_assets.extras.sharing.visibility import (
    Reader,
    memory_md_of,
    readable_by,
    visible_proposals,
)
from memory_assets.memory import verb_answers as types
from memory_assets.memory.agent import AN_ID, Asking, MemoryAgent
from memory_assets.schema import requests
from memory_assets.schema.protocols import Model
from memory_assets.schema.vocabulary import MEMORY_KINDS
from memory_assets.services.notes import remember as notes
from memory_assets.services.review.open_triage import read_pending, take_along
from memory_assets.services.review.proposals import Reviewed, pending_from
from memory_assets.services.search.answers import Readable
from memory_assets.services.settings.which_store import present_settings
from memory_assets.store.ready import file_name
from memory_assets.store.settings import Settings
from memory_assets.store.store import Store
from memory_assets.text.short_ids import is_message_id
from memory_assets.text.words import shortened

EVERY_PROJECT = "*"
"""In the setting `reviewers`: every project, and lines that hold in all projects."""

SCORE_DIGITS = 6
"""Decimals of a score in results."""

NOT_READABLE = "nothing that you may read says this"
OWN_MESSAGE = "you said it in a session, and the observer made no fact of it"
OF_OTHERS = "was also said in sessions of others. It is forgotten where the store is."


class SharedMemory(MemoryAgent):
    """Answers one person from the present store."""

    def __init__(self, reader: Reader, settings: Settings | None = None) -> None:
        owners_settings = settings or present_settings()
        # The owner of the settings is the author of events: here the person.
        super().__init__(owners_settings.model_copy(update={"owner": reader.person}))
        self.reader = reader
        self.reads_messages_of = reader.person
        self._owners = MemoryAgent(owners_settings)

    def __getattr__(self, name: str) -> Any:
        """Raises `AttributeError`; methods of optional capabilities would answer from all data."""
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    @cached_property
    def _whole(self) -> Store:
        """The unrestricted store with the owner's settings; callers restrict what they return."""
        return self._owners.store

    def recall(
        self,
        question: str | requests.RecallRequest | None = None,
        *,
        now: datetime | None = None,
        asker: str | None = None,
        **options: Any,
    ) -> types.Answer:
        """Returns the few readable memories that help; `asker` is always the person of the token.

        Scores are rounded, because later digits depend on the number of vectors that were compared,
        hidden ones included.
        """
        request = self._in_project(requests.RecallRequest.of(question, **options))
        answer = super().recall(request, now=now)
        left_out = (
            replace(result, score=round(result.score, SCORE_DIGITS)) for result in answer.left_out
        )
        return replace(answer, left_out=tuple(left_out))

    def answer(
        self,
        question: str | requests.AnswerRequest,
        *,
        model: Model | None = None,
        **options: Any,
    ) -> types.CitedAnswer:
        """Returns an answer with citations from readable memories and messages."""
        request = self._in_project(requests.AnswerRequest.of(question, **options))
        return super().answer(request, model=model)

    def remember(self, text: str | requests.RememberRequest, **options: Any) -> types.Noted:
        """Saves a fact of the person, by default in the project of the token.

        Only a readable memory can be corrected.
        """
        request = requests.RememberRequest.of(text, **options)
        if request.instead_of is not None:
            replaced_id = self._readable_id(request.instead_of)
            request = request.model_copy(update={"instead_of": replaced_id})
        elif not request.project:
            request = request.model_copy(update={"project": self.reader.project})
        noted = notes.remember(self.store, request)
        if noted.replaces:
            take_along(self._whole, noted.replaces, text=noted.text)
        return noted

    def forget(self, target: str | requests.ForgetRequest, **options: Any) -> types.Forgetting:
        """Erases a memory of the person's own sessions; raises `ScopeError` for anything else."""
        request = requests.ForgetRequest.of(target, **options)
        if not AN_ID.fullmatch(request.target.strip()):
            raise ScopeError(
                "A token can forget memories by their id (mem_…). Words are forgotten where "
                "the store is."
            )
        memory, is_own = answers.explained_memory(self._whole, self.reader, request.target)
        if not is_own:
            raise ScopeError(f"{request.target} {OF_OTHERS}")
        if request.history:
            raise ScopeError("The git history is rewritten where the store is, not with a token.")
        preview = self._owners.forget(memory["id"])
        if not answers.is_only_of(self._whole, self.reader, preview):
            raise ScopeError(f"{request.target} {OF_OTHERS}")
        return self._owners.forget(memory["id"], apply=True) if request.apply else preview

    def feedback(self, memory_ids: Any, **options: Any) -> types.Rating:
        """Records that readable memories helped or did not help."""
        request = requests.FeedbackRequest.of(memory_ids, **options)
        ids = tuple(map(self._readable_id, request.memory_ids))
        return super().feedback(request.model_copy(update={"memory_ids": ids}))

    def brief(
        self, session: str | requests.BriefRequest | None = None, **options: Any
    ) -> types.Briefing:
        """Returns the entries of the token's project and the person's own preferences."""
        requests.BriefRequest.of(session, **options)
        name = f"{file_name(self.reader.project)}.md" if self.reader.project else "MEMORY.md"
        return types.Briefing(answers.briefing_for(self._whole, self.reader), Path(name), None)

    def take_in(self, body: Mapping[str, Any]) -> Stored:
        """Archives the pieces in a request of a machine of the person."""
        return take_in(self._whole, self.reader, body)

    def holdings(self, client: str, is_listed: bool = False) -> Holdings:
        """Returns which pieces the store has of a machine of the person."""
        return holdings_of(self._whole, self.reader, client, is_listed=is_listed)

    def memory_md(self) -> str:
        """Returns the readable entries in the file of the token's project, or in MEMORY.md."""
        return memory_md_of(self._whole, self.reader)

    def triggers(self, on: str | date | requests.TriggersRequest | None = None) -> types.Triggers:
        """Returns the dates that the person mentioned."""
        day = requests.TriggersRequest.of(on).day(self.settings.clock(), self.settings.zone)
        return types.Triggers(answers.triggers_for(self._whole, self.reader, day))

    def status(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, request: requests.StatusRequest | None = None
    ) -> answers.SharedStatus:
        """Returns the state as the person may know it."""
        return answers.status_for(self._whole, self.reader, pending=len(self.pending()))

    def explain(
        self, target: str | requests.ExplainRequest, **options: Any
    ) -> types.Explanation | types.WhyNot | types.Opened:
        """Returns where a readable memory comes from, or why words are not recalled; of a message,
        its exchange.

        It goes down to the bytes of transcripts only if they are all of the person's own sessions.
        """
        request = requests.ExplainRequest.of(target, **options)
        name = request.target.strip()
        if is_message_id(name) and request.question is None:
            return self._opened([name])
        if not AN_ID.fullmatch(name):
            return self._explained_words(name, request.question)
        if name.startswith("p-"):
            return self._explained_proposal(name)
        return self._explained_memory(name, name, request.question)

    def _explained_words(
        self, words: str, question: str | None
    ) -> types.Explanation | types.WhyNot:
        result = answers.find_result(self.recall(words, probe=True), words)
        if result is None:
            return types.WhyNot(words, "not captured", NOT_READABLE)
        if result.kind in MEMORY_KINDS:
            return self._explained_memory(words, result.memory_id, question)
        says = shortened(result.text, 200)
        return types.WhyNot(words, "not observed", OWN_MESSAGE, says=says, session=result.session)

    def _explained_memory(
        self, target: str, memory_id: str, question: str | None
    ) -> types.Explanation | types.WhyNot:
        """Returns where the memory comes from; with a question, its place among the results."""
        if question is None:
            return self._origin(memory_id)
        full_id = self._readable_id(memory_id)
        result_ids = [result.memory_id for result in self.recall(question, probe=True).results]
        if full_id not in result_ids:
            because = "it is not among what fits the question best"
            return types.WhyNot(target, "out-ranked", because, full_id)
        because = f"it is result {result_ids.index(full_id) + 1} of {len(result_ids)}"
        return types.WhyNot(target, "recalled", because, full_id)

    def _origin(self, memory_id: str) -> types.Explanation:
        memory, is_own = answers.explained_memory(self._whole, self.reader, memory_id)
        origin = self._owners.origin_of(memory["id"]) if is_own else None
        if origin and origin.root.facts.get("replaced_by") == memory["superseded_by"]:
            return origin
        return answers.outline_of(memory_id, memory)

    def _explained_proposal(self, proposal_id: str) -> types.Explanation:
        for proposal in self.pending():
            if proposal.proposal_id == proposal_id:
                names = ("section", "text", "reason", "confidence", "project")
                facts = {name: getattr(proposal, name) for name in names}
                step = types.ProvenanceStep("shared proposal", proposal_id, facts)
                return types.Explanation(proposal_id, step)
        raise UnknownIdError(f"There is no proposal {proposal_id} that waits and that you may see.")

    def review(self, request: requests.ReviewRequest | None = None) -> types.Review:
        """Returns the pending proposals that the person may see."""
        pending = self.pending()
        return types.Review(pending, pending_count=len(pending))

    def pending(self) -> tuple[types.Pending, ...]:
        """Returns the pending proposals that the person may see."""
        rows = visible_proposals(self._whole, self.reader, read_pending(self._whole))
        return tuple(item for item in map(pending_from, rows) if item.is_asked)

    def proposals(self, *proposal_ids: str) -> tuple[types.Pending, ...]:
        """Returns these pending proposals; raises `UnknownIdError` for one that the person may not
        see.
        """
        pending = {proposal.proposal_id: proposal for proposal in self.pending()}
        for proposal_id in proposal_ids:
            if proposal_id not in pending:
                raise UnknownIdError(
                    f"There is no proposal {proposal_id} that waits and that you may see. `review` "
                    "lists them."
                )
        return tuple(map(pending.__getitem__, proposal_ids))

    def decide(self, decision: str | requests.DecideRequest, **options: Any) -> types.Decided:
        """Decides proposals of projects that the person reviews; raises `ScopeError` for others."""
        request = requests.DecideRequest.of(decision, **options)
        for proposal in self.proposals(*request.proposals):
            self._check_reviews(proposal.project)
        return super().decide(request)

    def run_triage(self, *proposal_ids: str) -> tuple[Reviewed, ...]:
        """Carries out recorded decisions with the owner's settings."""
        return self._owners.run_triage(*proposal_ids)

    def _readable(self) -> Readable:
        return readable_by(self._whole, self.reader)

    def _readable_id(self, name: str) -> str:
        return answers.readable_memory(self._whole, self.reader, name)["id"]

    def _in_project(self, request: Asking) -> Asking:
        """Returns the request, in the project of the token where it names none."""
        if request.project is not None or not self.reader.project:
            return request
        return request.model_copy(update={"project": self.reader.project})

    def _check_reviews(self, project: str) -> None:
        """Raises `ScopeError` unless the person may decide proposals of the project.

        The store's owner always may.
        """
        settings = self._whole.settings
        persons_of = sharing(settings).reviewers
        reviewers = {
            settings.owner,
            *persons_of.get(project, ()),
            *persons_of.get(EVERY_PROJECT, ()),
        }
        if self.reader.person not in reviewers:
            where = f"of {project}" if project else "for all projects"
            raise ScopeError(
                f"{self.reader.person} is no reviewer {where}; the setting `reviewers` "
                "of the store names them."
            )
