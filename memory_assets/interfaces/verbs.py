"""The verbs of the interfaces: each with its request model, its descriptions for people and agents, and an example.

The command line's options, the JSON schema of an agent's tool and the parameters of HTTP are made from the request model; the
facade's method of the same name takes the request. A new verb needs an entry here, a request model and a method. `make docs`
writes the tools into `mcp/tools.json`, because the MCP handshake happens before pydantic is imported.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memory_assets.schema import requests
from memory_assets.schema.requests import Request, parameters


@dataclass(frozen=True)
class Verb:
    """An operation that every interface offers."""

    name: str
    """Its command, its address over HTTP and the facade's method."""
    request: type[Request]
    title: str
    summary: str
    """For people: one sentence in the help."""
    about: str = ""
    """For agents: what it does and when to use it; empty for a verb of the command line."""
    example: Mapping[str, Any] = field(default_factory=dict)
    is_writing: bool = False
    is_destructive: bool = False
    tool_defaults: Mapping[str, Any] = field(default_factory=dict)
    """Parameters with another default for agents than for people."""

    @property
    def tool(self) -> str:
        """Its name as a tool of agents."""
        return f"memory_{self.name}"

    @property
    def parameters(self) -> Mapping[str, dict[str, Any]]:
        """The JSON schema of each parameter, by name."""
        return parameters(self.request)

    @property
    def required(self) -> list[str]:
        """The required parameters."""
        return [name for name, one in self.request.model_fields.items() if one.is_required()]

    def schema(self) -> dict[str, Any]:
        """Returns the JSON Schema of its arguments."""
        properties = {
            name: one | ({"default": self.tool_defaults[name]} if name in self.tool_defaults else {})
            for name, one in self.parameters.items()
        }
        whole = {"type": "object", "properties": properties, "additionalProperties": False}
        return whole | ({"required": self.required} if self.required else {})


RECALL = Verb(
    "recall",
    requests.RecallRequest,
    "Recall what is known",
    "Answer a question with the few memories that help, each with its source.",
    "Look up what is already known: the owner's rules and preferences, decisions and their reasons, root causes and their "
    "fixes, how things are built, deployed and named here. Use it before you start a task, before you ask the owner "
    "something, and when a name, an error or a convention comes up that may have been met before. Ask one specific question "
    "in plain words, or give the whole task: a long one is searched part by part. Returns at most three results, best first, "
    "each with its source; messages of sessions only where the memories hardly have the answer; an empty list means that "
    "nothing is remembered. The profile balanced returns up to seven, always from messages, too. Returned memories count as "
    "used.",
    {"question": "how do we deploy", "category": ["operations"], "since": "2026-05-01"},
    tool_defaults={"profile": "lean"},
)
ANSWER = Verb(
    "answer",
    requests.AnswerRequest,
    "Answer with sources",
    "Answer a question from everything that is known; every sentence cites its sources.",
    "Answer a question from everything that is known: standing rules, memories, and verbatim messages. Use it when a question "
    "needs several sources, the history of a decision, or details that memory_recall does not return. Every sentence ends with "
    "the ids of its sources; it says so when the answer is not in memory. Slower than memory_recall; uses the model that the "
    "owner configured, or verbatim quotes where there is none.",
    {"question": "why did we leave the message queue", "only_project": "shop"},
)
EXPLAIN = Verb(
    "explain",
    requests.ExplainRequest,
    "Explain a memory",
    "Show where a memory comes from, or why something is not remembered.",
    "Trace a line of MEMORY.md, a proposal, a memory or an observation to the bytes of the transcript; every hash and quote is "
    "verified again. For words that no memory holds it reports the stage that stopped them: not captured, not observed, "
    "held, merged, replaced or ranked too low. Use it when you doubt a memory, want to read what was said, or expected a "
    "memory that memory_recall did not return.",
    {"target": "Use uv, never pip"},
)
TRIGGERS = Verb(
    "triggers",
    requests.TriggersRequest,
    "List upcoming dates",
    "List dates that you mentioned in sessions, and what to recall when they come.",
    "List dates ahead that the owner mentioned ('remind me on Monday', 'by 2026-05-01') with what to recall then. Use it when "
    "planning, or when asked what is due; the briefing already lists what is due today and tomorrow.",
    {"on": "2026-05-01"},
)
BRIEF = Verb(
    "brief",
    requests.BriefRequest,
    "Read the briefing",
    "Print the briefing for the next session, in milliseconds.",
    "Read what a session should know from the start: standing rules, current work, pending reviews. Use it once, at the "
    "beginning of a session, if the briefing is not in your context already.",
)
REMEMBER = Verb(
    "remember",
    requests.RememberRequest,
    "Remember or correct a fact",
    "Save a fact. It can be recalled at once.",
    "Save one fact that a later session should know: a rule or preference that the owner stated, a decision with its reason, a "
    "root cause with its fix. Write one or two sentences that stand alone, with exact names. Do not save passing states or "
    "what the files say themselves; sessions are distilled anyway. With instead_of it replaces a memory that the owner or the "
    "code shows to be wrong or outdated: the old wording and its evidence are kept, but not recalled.",
    {"text": "The release train leaves on Thursday.", "project": "shop", "priority": "high"},
    is_writing=True,
)
FORGET = Verb(
    "forget",
    requests.ForgetRequest,
    "Forget a memory or words",
    "List everything that holds a memory or words; --apply erases it from every file, for good.",
    "List everything that holds a memory or words; with apply, erase it from the whole store, for good, including archived "
    "bytes. Use it only when the owner asks for it: first without apply, show them what it would erase, and apply when they "
    "agree.",
    {"target": "mem_0f3a5c1e", "apply": True},
    is_writing=True,
    is_destructive=True,
)
FEEDBACK = Verb(
    "feedback",
    requests.FeedbackRequest,
    "Rate recalled memories",
    "Record that recalled memories helped or did not; helpful ones rank higher.",
    "Record that recalled memories helped, or that they did not; helpful ones rank higher from then on. Use it once you know "
    "whether you used them.",
    {"memory_ids": ["mem_0f3a5c1e"], "used": True},
    is_writing=True,
)
REVIEW = Verb(
    "review",
    requests.ReviewRequest,
    "List pending proposals",
    "Review proposals for MEMORY.md: one key per decision on a terminal, a list elsewhere.",
    "List the proposals for MEMORY.md that wait for the owner's decision, each with its reason and evidence. Use it when the "
    "owner asks what there is to review.",
)
DECIDE = Verb(
    "decide",
    requests.DecideRequest,
    "Decide proposals for MEMORY.md",
    "Approve, reject or edit proposals for MEMORY.md.",
    "Approve, reject or edit proposals. Use it only when the owner has said what to do with them: decisions are theirs. An "
    "approved proposal becomes a line of MEMORY.md and a commit; a rejected one is not proposed again.",
    {"decision": "approve", "proposals": ["p-20260408-001"]},
    is_writing=True,
)
STATUS = Verb(
    "status",
    requests.StatusRequest,
    "Show the state of the memory",
    "Show what the memory holds, what is pending, and where its files are.",
    "Show what the memory holds, how fresh it is, what is pending for review, and where its files are.",
)

RESTORE = Verb(
    "restore",
    requests.RestoreRequest,
    "Restore memories",
    "Make stale, archived or cold memories active again.",
    example={"memory_ids": ["mem_0f3a5c1e"]},
    is_writing=True,
)

VERBS = [RECALL, ANSWER, EXPLAIN, TRIGGERS, BRIEF, REMEMBER, FORGET, FEEDBACK, REVIEW, DECIDE, STATUS]
COMMANDS = [RESTORE]
"""Verbs of the command line only: neither a tool of agents nor an address over HTTP."""
