"""What the forms of the local page change, by the verbs of the facade.

An action returns where the browser goes on, or the values of the page about forgetting.
"""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from memory_assets.errors import MemoryAssetsError, QuestionError, ReviewError
from memory_assets.interfaces.page.entrance import Visit
from memory_assets.interfaces.page.views import group_of
from memory_assets.memory import MemoryAgent
from memory_assets.text.short_ids import short_id

LATER = "Files of entries follow at the next update."
DONE = {"approve": "Approved", "reject": "Rejected"}

Form = Mapping[str, str]
Action = Callable[[MemoryAgent, Visit, Form], str | dict[str, Any]]


def decide(agent: MemoryAgent, visit: Visit, form: Form) -> str:
    """Approves, rejects or rewords a proposal; its line is in its file before this returns."""
    proposal = form.get("proposal", "")
    decision = form.get("decision", "")
    if decision == "edit":
        agent.edit(proposal, form.get("text", ""), triage=False)
        visit.notice = f"{proposal} has a new wording, and still waits for your approval."
        return f"review#{proposal}"
    if decision not in DONE:
        raise QuestionError(f"decision must be approve, reject or edit, not {decision[:80]!r}.")
    reason = " ".join(form.get("reason", "").split())
    place = _place_after(agent, proposal)
    commit = agent.last_commit()
    if decision == "approve":
        _check_wording(agent, proposal, form.get("shown", ""))
        agent.approve(proposal, reason=reason, triage=False)
    else:
        agent.reject(proposal, reason=reason, triage=False)
    visit.decided.append(proposal)
    try:
        agent.write_decided()
    except MemoryAssetsError as error:
        visit.notice = f"{DONE[decision]} {proposal}. Its line is not written yet: {error}"
    else:
        _note_change(agent, visit, commit, f"{DONE[decision]} {proposal}.")
    return place


def _place_after(agent: MemoryAgent, proposal: str) -> str:
    """Returns where the review goes on: at the proposal behind this one."""
    ids = [pending.proposal_id for pending in sorted(agent.pending(), key=group_of)]
    later_ids = ids[ids.index(proposal) + 1 :] if proposal in ids else []
    return f"review#{later_ids[0]}" if later_ids else "review"


def _check_wording(agent: MemoryAgent, proposal: str, shown: str) -> None:
    """Raises `ReviewError` where the proposal no longer has the wording that the person saw."""
    (pending,) = agent.proposals(proposal)
    # A form has no other line ends than these.
    if pending.text != shown.replace("\r\n", "\n"):
        raise ReviewError(f"{proposal} has another wording by now. Read it, then decide.")


def undo(agent: MemoryAgent, visit: Visit, _: Form) -> str:
    """Takes the last decision of this visit back, and its change of a file."""
    if not visit.decided:
        raise QuestionError("Nothing was decided on this page since it was opened by its link.")
    commit = agent.last_commit()
    proposal = visit.decided[-1]
    agent.take_back(proposal)
    visit.decided.pop()
    _note_change(agent, visit, commit, f"{proposal} waits for a decision again.")
    return "review"


def _note_change(agent: MemoryAgent, visit: Visit, commit: str | None, notice: str) -> None:
    visit.changed = tuple(agent.changed_since(commit))
    nothing = "" if visit.changed else " No line of a file changed."
    visit.notice = notice + nothing


def correct(agent: MemoryAgent, visit: Visit, form: Form) -> str:
    """Replaces the text of a memory."""
    noted = agent.remember(form.get("text", ""), instead_of=form.get("memory", ""))
    visit.notice = f"“{noted.text}” replaces {short_id(noted.replaces or '')}. {LATER}"
    return f"explain?target={quote(noted.memory_id)}"


def remember(agent: MemoryAgent, visit: Visit, form: Form) -> str:
    """Saves a fact."""
    noted = agent.remember(form.get("text", ""), project=form.get("project", ""))
    visit.notice = f"Saved: “{noted.text}” {LATER}"
    return f"explain?target={quote(noted.memory_id)}"


def restore(agent: MemoryAgent, visit: Visit, form: Form) -> str:
    """Makes a memory active again."""
    memory = form.get("memory", "")
    agent.restore(memory)
    visit.notice = f"{short_id(memory)} is active again from the next update on."
    return f"explain?target={quote(memory)}"


def forget(agent: MemoryAgent, _: Visit, form: Form) -> dict[str, Any]:
    """Returns everything that holds a memory or words, and erases it if the form says so.

    The words are no part of an address, which a browser would remember.
    """
    target = form.get("target", "")
    is_applied = form.get("apply") == "yes"
    has_history = form.get("history") == "yes"
    forgetting = agent.forget(target, apply=is_applied, history=has_history)
    # A memory that is forgotten has no id any more; commits hold its text.
    texts = [memory.text for memory in forgetting.memories] if target.startswith("mem_") else []
    return {"forgetting": forgetting, "target": target, "in_history": next(iter(texts), target)}


ACTIONS: dict[str, Action] = {
    "decide": decide,
    "undo": undo,
    "correct": correct,
    "remember": remember,
    "restore": restore,
    "forget": forget,
}
"""Path → action."""
