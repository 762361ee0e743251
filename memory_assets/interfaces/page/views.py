"""What each view of the local page shows: the values of its template, from the facade.

A view changes nothing: a search is not counted as a use of what it finds.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import urlencode

from memory_assets.interfaces.page.entrance import Visit
from memory_assets.memory import MemoryAgent, page
from memory_assets.schema.records import MEMORY_MD
from memory_assets.schema.requests import State
from memory_assets.schema.vocabulary import HARNESS_TITLES, MEMORY_KINDS, Category, Priority
from memory_assets.text.short_ids import is_message_id, short_id, short_message_id

if TYPE_CHECKING:
    from memory_assets.memory.verb_answers import Answer, Pending, ProvenanceStep

View = Callable[[MemoryAgent, Visit, Mapping[str, str]], dict[str, Any]]

LABELS = {"injected": "harness", "subagent": "sub-agent"}
CALL = "[toolCall "
"""Beginning of the call of a tool in the text of a message."""

STATES = ("active", "held", "superseded", "stale", "archived", "cold")
RESULTS = 10


def home(agent: MemoryAgent, _: Visit, query: Mapping[str, str]) -> dict[str, Any]:
    """Returns what is known of a project and of the owner."""
    project = query.get("project", "")
    return {
        "overview": page.overview(agent, project),
        "project": project,
        "projects": page.project_names(agent),
        "status": agent.status(),
        "owner": agent.settings.owner,
    }


def search(agent: MemoryAgent, _: Visit, query: Mapping[str, str]) -> dict[str, Any]:
    """Returns what recall finds, with the filters of the form."""
    names = ("only_project", "since", "until", "person", "session", "by")
    options: dict[str, Any] = {name: query[name] for name in names if query.get(name)}
    for name in ("category", "priority", "kind", "include"):
        if query.get(name):
            options[name] = (query[name],)
    question = query.get("question", "").strip()
    options |= {"page": _number(query, "page"), "limit": RESULTS}
    if query.get("wide"):
        options["profile"] = "deep"
    answer = agent.recall(question, probe=True, **options) if question else None
    return {
        "question": question,
        "answer": answer,
        "query": {name: query.get(name, "") for name in (*names, *_CHOICES)},
        "more": urlencode({**query, "page": options["page"] + 1}),
        "has_more": answer is not None and _has_more(agent, answer, options),
        "wider": "" if query.get("wide") else urlencode({**query, "page": 1, "wide": "yes"}),
        "projects": page.project_names(agent),
        "choices": _CHOICES,
        "short_id": lambda id: (short_message_id if is_message_id(id) else short_id)(id),
        "memory_kinds": MEMORY_KINDS,
        "harnesses": HARNESS_TITLES,
    }


def _has_more(agent: MemoryAgent, answer: "Answer", options: Mapping[str, Any]) -> bool:
    """Returns whether the next page has results; what was left out may repeat what is shown."""
    if all(left_out.reason != "over the cap" for left_out in answer.left_out):
        return False
    behind = agent.recall(answer.question, probe=True, **{**options, "page": answer.page + 1})
    return bool(behind.is_known and (behind.results or behind.sessions))


def _number(query: Mapping[str, str], name: str, default: int = 1) -> int:
    """Returns a number of the address, or the default where it has none."""
    text = query.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 10 else default


_CHOICES = {
    "category": get_args(Category),
    "priority": get_args(Priority),
    "kind": (*MEMORY_KINDS, "message"),
    "include": get_args(State),
}
"""Filter → its choices."""


def session(agent: MemoryAgent, _: Visit, query: Mapping[str, str]) -> dict[str, Any]:
    """Returns the messages of a session around a record."""
    line = _number(query, "line", 0)
    part = page.session_part(agent, query.get("id", ""), line)
    messages = [(message, *_apart(message.text)) for message in part.messages]
    values = {"labels": LABELS, "harnesses": HARNESS_TITLES}
    return {"part": part, "messages": messages, "line": line, **values}


def _apart(text: str) -> tuple[str, str]:
    """Returns the words of a message, and the calls of tools behind them."""
    words, mark, calls = f"\n{text}".partition(f"\n{CALL}")
    return words.strip("\n"), f"{CALL if mark else ''}{calls}"


def explain(agent: MemoryAgent, _: Visit, query: Mapping[str, str]) -> dict[str, Any]:
    """Returns the way of a memory, a proposal or a line from its bytes, or why there is none."""
    target = query.get("target", "").strip()
    values = {"target": target, "explained": None, "memory": None, "opened": None}
    values |= {"owner": agent.settings.owner, "stages": _STAGES}
    if not target:
        return values
    explained = agent.explain(target)
    if is_message_id(target):
        return values | {"opened": explained}
    root = getattr(explained, "root", None)
    return values | {"explained": explained, "memory": root and _memory_of(root)}


_STAGES = {
    "not captured": "Nobody said it in a session that was read.",
    "not taken in": "It is in a transcript that is read at the next update.",
    "not windowed": "Its session was read, and is not divided into parts yet.",
    "still open": "Its session goes on; facts are taken from a session when it ends.",
    "short session": "Its session was too short to take facts from.",
    "not distilled": "Its session is older than those that facts are taken from.",
    "not observed": "It was said, and was not taken for a fact.",
    "discarded": "It was said, and was refused as no lasting fact.",
    "held": "It is kept back, because it may not be meant to last.",
    "superseded": "It was replaced by something newer.",
    "stale": "It is out of use, because nobody confirmed or used it for long.",
    "forgotten": "You asked to forget it.",
    "out-ranked": "It is remembered; other memories fit these words better.",
    "over the cap": "It is remembered; enough others fit these words better.",
    "recalled": "It is remembered, and a search for these words shows it.",
}
"""Where a fact stopped → the sentence for the owner."""


def _memory_of(root: "ProvenanceStep") -> dict[str, str] | None:
    """Returns the memory that a chain ends with, or that the line of a file was written from."""
    step = next(root.find("memory", "note", "observation"), None)
    if step is None or root.kind == "proposal":
        return None
    text = root.facts.get("text") or step.facts.get("quote", "")
    if root.kind == "entry":
        text = text.partition(") ")[2]  # behind its date
    return {"id": step.id, "text": text, "state": root.facts.get("state", "")}


def review(agent: MemoryAgent, visit: Visit, _: Mapping[str, str]) -> dict[str, Any]:
    """Returns the proposals by project, each with its evidence."""
    waiting = agent.review()
    groups: dict[str, list[Any]] = {}
    for evidence in agent.evidence_of(waiting.pending):
        groups.setdefault(group_of(evidence.proposal), []).append(evidence)
    return {"review": waiting, "groups": sorted(groups.items()), "can_undo": bool(visit.decided)}


def group_of(proposal: "Pending") -> str:
    """Returns the heading of a proposal, by which the review is sorted."""
    return "all projects" if proposal.path == MEMORY_MD else proposal.project or proposal.path


def memories(agent: MemoryAgent, _: Visit, query: Mapping[str, str]) -> dict[str, Any]:
    """Returns a page of the list of memories."""
    names = ("project", "category", "state")
    filters: dict[str, Any] = {name: query.get(name, "") for name in names}
    choices = {
        "project": page.project_names(agent),
        "category": (*page.GROUPS, *get_args(Category)),
        "state": STATES,
    }
    listed = page.list_memories(agent, **filters, page=_number(query, "page"))
    return {"listed": listed, "filters": filters, "choices": choices}


def files(agent: MemoryAgent, _: Visit, __: Mapping[str, str]) -> dict[str, Any]:
    """Returns MEMORY.md and the projects' files."""
    return {"files": page.entry_files(agent)}


def health(agent: MemoryAgent, _: Visit, __: Mapping[str, str]) -> dict[str, Any]:
    """Returns the health report as of now."""
    return {"report": agent.health_report()}


VIEWS: dict[str, View] = {
    "": home,
    "search": search,
    "session": session,
    "explain": explain,
    "review": review,
    "memories": memories,
    "files": files,
    "health": health,
}
"""Path → view; its template has the same name."""
