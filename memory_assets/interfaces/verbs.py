"""The verbs of the interfaces: each with its request model, its descriptions for people and agents,
and an example.

The command line's options, the JSON schema of an agent's tool and the parameters of HTTP are made
from the request model. The method of `MemoryAgent` of the same name gets the request. A new verb
needs an entry here, a request model and a method. `make docs` writes the tools into
`mcp/tools.json`, because the MCP handshake happens before pydantic is imported.
"""

from memory_assets.interfaces.verb import Verb
from memory_assets.schema import requests
from memory_assets.schema.extras import extras

RECALL = Verb(
    "recall",
    requests.RecallRequest,
    "Recall what is known",
    "Answer a question with the few memories that help, each with its source.",
    "Look up what past sessions established: the owner's rules, decisions and their "
    "reasons, root causes and fixes, how things are built and named. Use it before a task, "
    "before you ask the owner, and when an error or a name comes up. Ask in plain words, or "
    "give the whole task. Returns the best three, then up to 25 candidates in a line each, "
    "unlikely ones too: where the three do not answer, memory_open those that may. More "
    "filters: category, priority, kind, person, session, tag, until.",
    {"question": "how do we deploy", "category": ["operations"], "since": "2026-05-01"},
    tool_defaults={"profile": "lean", "candidates": True},
    tool_parameters={
        "question": "",
        "project": "Prefer results about it.",
        "since": "2026-05-01, or 30d.",
        "include": "",
        "profile": "balanced: 5 results; deep: 10.",
        "file": "Instead of a question: what is known of it.",
        "command": "",
        "error": "",
    },
    argument="question",
)
OPEN = Verb(
    "open",
    requests.OpenRequest,
    "Open what was recalled",
    "Show the exchanges of messages and memories by their ids.",
    "Read the whole exchange of results or candidates of memory_recall: when a line promises the "
    "answer, or a result is cut where it matters. Open several at once.",
    {"ids": ["msg_0f3a5c"]},
    tool_parameters={"ids": "As memory_recall shows them."},
)
ANSWER = Verb(
    "answer",
    requests.AnswerRequest,
    "Answer with sources",
    "Answer a question from everything that is known; every sentence cites its sources.",
    "Answer with sources, slower: for the history of a decision, or what needs several sources.",
    {"question": "why did we leave the message queue", "only_project": "shop"},
    tool_parameters={"question": "", "project": ""},
)
EXPLAIN = Verb(
    "explain",
    requests.ExplainRequest,
    "Explain a memory",
    "Show where a memory comes from, or why something is not remembered.",
    "Show where a memory comes from, or why something is not remembered.",
    {"target": "Use uv, never pip"},
    tool_parameters={"target": "An id, a line, or words that you expected."},
)
TRIGGERS = Verb(
    "triggers",
    requests.TriggersRequest,
    "List upcoming dates",
    "List dates that you mentioned in sessions, and what to recall when they come.",
    "List dates ahead that the owner mentioned.",
    {"on": "2026-05-01"},
    tool_parameters={},
)
BRIEF = Verb(
    "brief",
    requests.BriefRequest,
    "Read the briefing",
    "Print the briefing for the next session, in milliseconds.",
    "Read the briefing, unless it is in your context.",
    tool_parameters={},
)
REMEMBER = Verb(
    "remember",
    requests.RememberRequest,
    "Remember or correct a fact",
    "Save a fact. It can be recalled at once.",
    "Save one fact for later: a rule of the owner, a decision with its reason, a root cause "
    "with its fix; no passing state. One or two sentences that stand alone.",
    {"text": "The release train leaves on Thursday.", "project": "shop", "priority": "high"},
    is_writing=True,
    tool_parameters={
        "text": "",
        "instead_of": "Id of a wrong memory to replace.",
        "project": "If it holds in one only.",
    },
)
FORGET = Verb(
    "forget",
    requests.ForgetRequest,
    "Forget a memory or words",
    "List everything that holds a memory or words; --apply erases it from every file, for good.",
    "Only if the owner asks: list what holds a memory or words; with apply, once they agree, "
    "erase it.",
    {"target": "mem_0f3a5c1e", "apply": True},
    is_writing=True,
    is_destructive=True,
    tool_parameters={"target": "An id, or words.", "apply": ""},
)
FEEDBACK = Verb(
    "feedback",
    requests.FeedbackRequest,
    "Rate recalled memories",
    "Record that recalled memories helped or did not; helpful ones rank higher.",
    "Record whether recalled memories helped.",
    {"memory_ids": ["mem_0f3a5c1e"], "used": True},
    is_writing=True,
    tool_parameters={"memory_ids": "", "used": ""},
)
REVIEW = Verb(
    "review",
    requests.ReviewRequest,
    "List pending proposals",
    "Review proposals for MEMORY.md: one key per decision on a terminal, a list elsewhere.",
    "List proposals that wait for the owner.",
)
DECIDE = Verb(
    "decide",
    requests.DecideRequest,
    "Decide proposals for MEMORY.md",
    "Approve, reject or edit proposals for MEMORY.md.",
    "Carry out what the owner decided about proposals; never decide yourself.",
    {"decision": "approve", "proposals": ["p-20260408-001"]},
    is_writing=True,
    tool_parameters={"decision": "", "proposals": "", "reason": "", "text": ""},
)
STATUS = Verb(
    "status",
    requests.StatusRequest,
    "Show the state of the memory",
    "Show what the memory holds, what is pending, and where its files are.",
    "Show what it holds and how fresh it is.",
)

DISTILL = Verb(
    "distill",
    requests.DistillRequest,
    "Distil a past session",
    "Let an agent answer the next question about a past session.",
    "Only if the owner asks: extract facts from past sessions. Without arguments it returns "
    "instructions and the text of the next one; then give `question` and your `answer`.",
    is_writing=True,
    tool_parameters={"question": "Its id.", "answer": "", "page": "", "project": ""},
)

RESTORE = Verb(
    "restore",
    requests.RestoreRequest,
    "Restore memories",
    "Make stale, archived or cold memories active again.",
    example={"memory_ids": ["mem_0f3a5c1e"]},
    is_writing=True,
)

ADDED: list[Verb] = [verb for extra in extras() if extra.verbs for verb in extra.load(extra.verbs)]
"""Verbs that optional capabilities add."""

VERBS = [
    RECALL,
    ANSWER,
    EXPLAIN,
    TRIGGERS,
    BRIEF,
    REMEMBER,
    FORGET,
    FEEDBACK,
    REVIEW,
    DECIDE,
    STATUS,
    *(verb for verb in ADDED if verb.about),
]
FOR_AGENTS = [OPEN, DISTILL]
"""Verbs of the Model Context Protocol only."""

COMMANDS = [RESTORE, *(verb for verb in ADDED if not verb.about)]
"""Verbs of the command line only: neither a tool of agents nor an address over HTTP."""
