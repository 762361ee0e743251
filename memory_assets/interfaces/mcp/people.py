"""What a person gets from the server through a client: prompts, which clients offer as commands,
and questions about proposals that no agent may decide.

A question goes to the client (elicitation), which shows it and returns what its user chose. Without
such a client, the agent is told where its user decides.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_assets.errors import ReviewError
from memory_assets.interfaces.views.registry import render_text
from memory_assets.schema.requests import DecideRequest
from memory_assets.text.visible import visible

if TYPE_CHECKING:
    from memory_assets.interfaces.dispatcher import AgentFor
    from memory_assets.memory.verb_answers import Pending

AskClient = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
"""Takes a method and its parameters for the client, and returns the result."""

WHERE = (
    "The owner decides it with `memory review` in a terminal, on its line in REVIEW.md, or in a "
    "client that asks its user (elicitation)."
)

CHOICE = {
    "type": "object",
    "properties": {
        "decision": {
            "type": "string",
            "title": "Decision",
            "enum": ["approve", "reject", "later"],
        }
    },
    "required": ["decision"],
}
"""What the client lets its user choose from."""


def render_prompt(name: str, arguments: object, agent_for: "AgentFor") -> str:
    """Returns the text of a prompt."""
    template = Path(__file__).with_name(f"{name}.md").read_text("utf-8")
    if name == "memory_distill":
        count = arguments.get("sessions") if isinstance(arguments, Mapping) else None
        return template.format(count=str(count or 1)[:10]).rstrip()
    review = agent_for("review").review()
    agent = agent_for("explain")
    evidence = [
        render_text("explain", agent.explain(proposal.proposal_id)) for proposal in review.pending
    ]
    return template.format(proposals="\n\n".join([render_text("review", review), *evidence]))


def decide_with_person(
    agent_for: "AgentFor",
    arguments: Mapping[str, Any],
    ask_client: AskClient | None,
    *,
    is_writing: bool,
) -> Mapping[str, Any]:
    """Returns the arguments with the decision of the person, where no agent may decide.

    Raises `ReviewError` where the person cannot be asked, or did not decide.
    """
    request = DecideRequest(**arguments)
    agent = agent_for("review")
    pending = agent.proposals(*request.proposals)
    asked = [proposal for proposal in pending if proposal.needs_person or not is_writing]
    if not asked:
        return arguments
    if request.decision == "edit":
        raise ReviewError(f"No agent may edit {asked[0].proposal_id}. {WHERE}")
    if len(pending) > 1:
        names = ", ".join(proposal.proposal_id for proposal in asked)
        raise ReviewError(f"Only the owner can decide {names}: call it for one at a time.")
    proposal = asked[0]
    if ask_client is None:
        reason = proposal.needs_person or "this server only reads"
        raise ReviewError(f"No agent may decide {proposal.proposal_id}: {reason}. {WHERE}")
    decision = _choice_of_person(proposal, ask_client)
    if decision not in ("approve", "reject"):
        raise ReviewError(f"The owner did not decide {proposal.proposal_id}; it still waits.")
    if agent.proposals(proposal.proposal_id) != pending:
        raise ReviewError(f"{proposal.proposal_id} was changed while the owner was asked.")
    return {**arguments, "decision": decision}


def _choice_of_person(proposal: "Pending", ask_client: AskClient) -> str:
    """Returns what the client's user chose; empty where they chose nothing."""
    lines = [
        f"{proposal.proposal_id}: proposed for {proposal.path}, {proposal.section}",
        proposal.text or "Remove this line:",
        *filter(None, [proposal.entry and f"Present line: {proposal.entry}"]),
        f"Why it waits: {proposal.reason}",
    ]
    question = {"message": visible("\n".join(lines)), "requestedSchema": CHOICE}
    result = ask_client("elicitation/create", question)
    content = result.get("content")
    if result.get("action") != "accept" or not isinstance(content, Mapping):
        return ""
    return str(content.get("decision", ""))
