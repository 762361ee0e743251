"""The facade for a person who asks with a token: the same verbs over what this person may read.

Answers come from a restricted store (`services/sharing/visibility.py`), never from the owner's
prepared files. What is saved is saved in the person's name. An id of something that may not be read
is as unknown as one that does not exist.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_assets.errors import ScopeError, UnknownIdError
from memory_assets.memory import AN_ID, MEMORIES, Asking, MemoryAgent
from memory_assets.schema import requests
from memory_assets.services.review.proposals import Decided, Pending, Review, Reviewed, pending_from
from memory_assets.services.search.latest_briefing import Briefing
from memory_assets.services.settings.which_store import present_settings
from memory_assets.services.sharing.reader import Reader
from memory_assets.stages.brief.due import Triggers
from memory_assets.store.ready import file_name
from memory_assets.text.words import shortened

if TYPE_CHECKING:
    from memory_assets.schema.protocols import Model
    from memory_assets.schema.pushes import Holdings, Stored
    from memory_assets.services.forget.forget import Forgetting
    from memory_assets.services.notes.feedback import Rating
    from memory_assets.services.notes.remember import Noted
    from memory_assets.services.search.answers import Readable
    from memory_assets.services.search.why_not import WhyNot
    from memory_assets.services.sharing.answers import SharedStatus
    from memory_assets.services.slog import SlogAnswer
    from memory_assets.stages.recall.cited_answer import CitedAnswer
    from memory_assets.stages.recall.results import Answer
    from memory_assets.stages.triage.explain import Explanation
    from memory_assets.store.settings import Settings
    from memory_assets.store.store import Store

EVERY_PROJECT = "*"
"""In the setting `reviewers`: every project, and lines that hold in all."""

SCORE_DIGITS = 6
"""As those of results."""

NOT_READABLE = "nothing that you may read says this"
OWN_MESSAGE = "you said it in a session, and the observer made no fact of it"


class SharedMemory(MemoryAgent):
    """Answers one person from the present store."""

    def __init__(self, reader: Reader, settings: "Settings | None" = None) -> None:
        whole = settings or present_settings()
        # Events are in the person's name.
        super().__init__(whole.model_copy(update={"owner": reader.person}))
        self.reader = reader
        self._owners = MemoryAgent(whole)

    @cached_property
    def _whole(self) -> "Store":
        """The store with the owner's settings; what it holds is restricted before it is
        returned.
        """
        return self._owners.store

    def recall(
        self,
        question: str | requests.RecallRequest,
        *,
        now: datetime | None = None,
        asker: str | None = None,
        **options: Any,
    ) -> "Answer":
        """Returns the few readable memories that help; the person who asks is always that of the
        token.

        Later digits of scores are cut: these depend on how many vectors were compared, hidden ones
        included.
        """
        found = super().recall(
            self._in_project(requests.RecallRequest.of(question, **options)), now=now
        )
        left_out = tuple(
            replace(one, score=round(one.score, SCORE_DIGITS)) for one in found.left_out
        )
        return replace(found, left_out=left_out)

    def answer(
        self,
        question: str | requests.AnswerRequest,
        *,
        model: "Model | None" = None,
        **options: Any,
    ) -> "CitedAnswer":
        """Returns an answer from everything that is readable."""
        return super().answer(
            self._in_project(requests.AnswerRequest.of(question, **options)), model=model
        )

    def remember(self, text: str | requests.RememberRequest, **options: Any) -> "Noted":
        """Saves a fact of the person; without a project, of that of the token. Corrects only
        readable memories.
        """
        from memory_assets.services.notes import remember as notes
        from memory_assets.services.review.open_triage import take_along

        request = requests.RememberRequest.of(text, **options)
        if request.instead_of is not None:
            request = request.model_copy(
                update={"instead_of": self._readable_id(request.instead_of)}
            )
        elif not request.project:
            request = request.model_copy(update={"project": self.reader.project})
        noted = notes.remember(self.store, request)
        if noted.replaces:
            take_along(self._whole, noted.replaces, text=noted.text)
        return noted

    def forget(self, target: str | requests.ForgetRequest, **options: Any) -> "Forgetting":
        """Erases a memory of the person's own sessions; raises `ScopeError` for anything else."""
        from memory_assets.services.sharing.answers import explained_memory, is_only_of

        request = requests.ForgetRequest.of(target, **options)
        if not AN_ID.fullmatch(request.target.strip()):
            raise ScopeError(
                "A token can forget memories by their id (mem_…). Words are forgotten where "
                "the store is."
            )
        row, is_own = explained_memory(self._whole, self.reader, request.target)
        if not is_own:
            raise ScopeError(
                f"{request.target} was also said in sessions of others. It is forgotten "
                "where the store is."
            )
        if request.history:
            raise ScopeError("The git history is rewritten where the store is, not with a token.")
        found = self._owners.forget(row["id"])
        if not is_only_of(self._whole, self.reader, found):
            raise ScopeError(
                f"{request.target} was also said in sessions of others. It is forgotten "
                "where the store is."
            )
        return self._owners.forget(row["id"], apply=True) if request.apply else found

    def feedback(self, memory_ids: Any, **options: Any) -> "Rating":
        """Records that readable memories helped, or did not."""
        request = requests.FeedbackRequest.of(memory_ids, **options)
        ids = tuple(self._readable_id(id) for id in request.memory_ids)
        return super().feedback(request.model_copy(update={"memory_ids": ids}))

    def slog(
        self, action: str | requests.SlogRequest | None = None, **options: Any
    ) -> "SlogAnswer":
        """Raises `ScopeError`: the log is about the machine of the owner."""
        raise ScopeError(
            "The log of what was done to systems belongs to the machine where the store is; "
            "no token opens it."
        )

    def brief(self, session: str | requests.BriefRequest | None = None, **options: Any) -> Briefing:
        """Returns the entries of the token's project and the person's own preferences."""
        from memory_assets.services.sharing.answers import briefing_for

        requests.BriefRequest.of(session, **options)
        name = f"{file_name(self.reader.project)}.md" if self.reader.project else "MEMORY.md"
        return Briefing(briefing_for(self._whole, self.reader), Path(name), None)

    def take_in(self, given: Mapping[str, Any]) -> "Stored":
        """Archives pieces of sessions that the person's machine pushes."""
        from memory_assets.services.sharing.take_in import take_in

        return take_in(self._whole, self.reader, given)

    def holdings(self, client: str, *, is_listed: bool = False) -> "Holdings":
        """Returns what the store has of a machine of the person."""
        from memory_assets.services.sharing.take_in import holdings_of

        return holdings_of(self._whole, self.reader, client, is_listed=is_listed)

    def memory_md(self) -> str:
        """Returns what the person may read of the project's file of entries."""
        from memory_assets.services.sharing.visibility import memory_md_of

        return memory_md_of(self._whole, self.reader)

    def triggers(self, on: str | date | requests.TriggersRequest | None = None) -> Triggers:
        """Returns the dates that the person mentioned."""
        from memory_assets.services.sharing.answers import triggers_for

        day = requests.TriggersRequest.of(on).day(self.settings.clock(), self.settings.zone)
        return Triggers(triggers_for(self._whole, self.reader, day))

    def status(self, request: requests.StatusRequest | None = None) -> "SharedStatus":  # pyright: ignore[reportIncompatibleMethodOverride]
        """Returns the state as the person may know it."""
        from memory_assets.services.sharing.answers import status_for

        return status_for(self._whole, self.reader, pending=len(self._visible_proposals()))

    def explain(
        self, target: str | requests.ExplainRequest, **options: Any
    ) -> "Explanation | WhyNot":
        """Returns where a readable memory comes from: down to the bytes if only the person's own
        sessions say it.
        """
        from memory_assets.services.search.why_not import WhyNot
        from memory_assets.services.sharing.answers import find_says

        request = requests.ExplainRequest.of(target, **options)
        name = request.target.strip()
        if name.startswith("p-") and AN_ID.fullmatch(name):
            return self._explained_proposal(name)
        said = None if AN_ID.fullmatch(name) else find_says(self.recall(name, probe=True), name)
        found = name if AN_ID.fullmatch(name) else said.memory_id if said else None
        if found is None:
            return WhyNot(name, "not captured", NOT_READABLE)
        if said and said.kind not in MEMORIES:
            return WhyNot(
                name,
                "not observed",
                OWN_MESSAGE,
                says=shortened(said.text, 200),
                session=said.session,
            )
        if request.question is None:
            return self._origin(found)
        full = self._readable_id(found)
        shown = [one.memory_id for one in self.recall(request.question, probe=True).results]
        if full in shown:
            return WhyNot(
                name, "recalled", f"it is result {shown.index(full) + 1} of {len(shown)}", full
            )
        return WhyNot(name, "out-ranked", "it is not among what fits the question best", full)

    def review(self, request: requests.ReviewRequest | None = None) -> Review:
        """Returns the pending proposals that the person may see."""
        pending = self._visible_proposals()
        return Review(pending, pending_count=len(pending))

    def pending(self) -> tuple[Pending, ...]:
        """Returns the same proposals."""
        return self._visible_proposals()

    def decide(self, decision: str | requests.DecideRequest, **options: Any) -> Decided:
        """Decides proposals of projects that the person reviews; raises `ScopeError` for others."""
        request = requests.DecideRequest.of(decision, **options)
        known = {one.proposal_id: one for one in self._visible_proposals()}
        for id in request.proposals:
            if id not in known:
                raise UnknownIdError(
                    f"There is no proposal {id} that waits and that you may see. `review` "
                    "lists them."
                )
            if not self._reviews(known[id].project):
                where = f"of {known[id].project}" if known[id].project else "for all projects"
                raise ScopeError(
                    f"{self.reader.person} is no reviewer {where}; the setting `reviewers` "
                    "of the store names them."
                )
        if request.decision == "approve":
            self.approve(*request.proposals, triage=False)
        elif request.decision == "reject":
            self.reject(*request.proposals, reason=request.reason, triage=False)
        else:
            self.edit(request.proposals[0], request.text, triage=False)
        return Decided(self.run_triage(*request.proposals))

    def run_triage(self, *proposal_ids: str) -> tuple[Reviewed, ...]:
        """Carries out recorded decisions with the owner's settings."""
        return self._owners.run_triage(*proposal_ids)

    def _readable(self) -> "Readable":
        from memory_assets.services.sharing.visibility import readable_by

        return readable_by(self._whole, self.reader)

    def _readable_id(self, name: str) -> str:
        from memory_assets.services.sharing.answers import readable_memory

        return readable_memory(self._whole, self.reader, name)["id"]

    def _in_project(self, request: Asking) -> Asking:
        if request.project is not None or not self.reader.project:
            return request
        return request.model_copy(update={"project": self.reader.project})

    def _origin(self, target: str) -> "Explanation":
        from memory_assets.services.sharing.answers import explained_memory, outline_of

        row, is_own = explained_memory(self._whole, self.reader, target)
        return self._owners.origin_of(row["id"]) if is_own else outline_of(target, row)

    def _explained_proposal(self, name: str) -> "Explanation":
        from memory_assets.stages.triage.explain import Explanation, ProvenanceStep

        for one in self._visible_proposals():
            if one.proposal_id == name:
                facts = {
                    field: getattr(one, field)
                    for field in ("section", "text", "reason", "confidence", "project")
                }
                return Explanation(name, ProvenanceStep("shared proposal", name, facts))
        raise UnknownIdError(f"There is no proposal {name} that waits and that you may see.")

    def _visible_proposals(self) -> tuple[Pending, ...]:
        """Returns the pending proposals without those that are about another person."""
        from memory_assets.services.review.open_triage import read_pending
        from memory_assets.services.sharing.visibility import visible_proposals

        return tuple(
            map(
                pending_from, visible_proposals(self._whole, self.reader, read_pending(self._whole))
            )
        )

    def _reviews(self, project: str) -> bool:
        """Returns whether the person may decide about lines of the project: its owner always
        may.
        """
        settings = self._whole.settings
        named = {*settings.reviewers.get(project, ()), *settings.reviewers.get(EVERY_PROJECT, ())}
        return self.reader.person in named or self.reader.person == settings.owner
