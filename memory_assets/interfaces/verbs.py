"""What can be asked of the memory through any door: each verb with its parameters, in words that tell an agent when to use it.

Standard library only: a server of tools introduces itself from here before anything heavy is imported. The words are for
agents and people alike; `asking` carries a verb out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from memory_assets.errors import QuestionError

PROFILES = ("lean", "balanced", "deep", "auto")
CATEGORIES = (
    "preferences",
    "rules-conventions",
    "system-architecture",
    "operations",
    "memory-system",
    "projects",
    "people-relationships",
)
PRIORITIES = ("high", "medium", "low")
KINDS = ("fact", "narrative", "message")
TRIGGERS = ("compaction", "ended", "tail", "open")
SENTIMENTS = ("frustrated", "excited", "uncertain", "neutral")
STATES = ("held", "stale", "archived", "cold", "superseded")
CORPORA = ("memories", "segments", "messages")
DECISIONS = ("approve", "reject", "edit")

NOTHING_ELSE = "It takes no arguments."


@dataclass(frozen=True)
class Parameter:
    """One argument of a verb: its name, what it is for, and what it may be."""

    name: str
    about: str
    type: Literal["string", "integer", "boolean"] = "string"
    is_required: bool = False
    is_list: bool = False
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    default: Any = None

    def schema(self) -> dict[str, Any]:
        """Returns the parameter as JSON Schema."""
        one: dict[str, Any] = {"type": self.type}
        one |= {"enum": list(self.choices)} if self.choices else {}
        one |= {name: value for name, value in (("minimum", self.least), ("maximum", self.most)) if value is not None}
        whole = {"type": "array", "items": one} if self.is_list else one
        return whole | {"description": self.about} | ({} if self.default is None else {"default": self.default})


@dataclass(frozen=True)
class Verb:
    """One thing that can be asked, and what asking it does."""

    name: str
    tool: str
    """Its name among the tools of an agent."""
    title: str
    about: str
    parameters: tuple[Parameter, ...] = ()
    is_writing: bool = False
    is_destructive: bool = False
    is_idempotent: bool = True

    def schema(self) -> dict[str, Any]:
        """Returns what it takes, as JSON Schema of an object."""
        required = [one.name for one in self.parameters if one.is_required]
        properties = {one.name: one.schema() for one in self.parameters}
        return {"type": "object", "properties": properties, "additionalProperties": False} | (
            {"required": required} if required else {}
        )

    def understand(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the arguments as the parameters want them; raises `QuestionError` that says what is wrong with one."""
        names = [one.name for one in self.parameters]
        if strange := sorted(name for name in given if name not in names):
            takes = f"It takes {', '.join(names)}." if names else NOTHING_ELSE
            raise QuestionError(f"{self.name} knows no argument '{strange[0][:80]}'. {takes}")
        told = {name: value for name, value in given.items() if value is not None}
        for one in self.parameters:
            if one.is_required and one.name not in told:
                raise QuestionError(f"{self.name} needs the argument '{one.name}': {one.about}")
        return {one.name: understood(one, told[one.name]) for one in self.parameters if one.name in told}


def understood(parameter: Parameter, value: Any) -> Any:
    """Returns the value as the parameter wants it: numbers and truths may be written as text, one item may stand for a list."""
    if not parameter.is_list:
        return _one(parameter, value)
    items = value if isinstance(value, list | tuple) else [value]
    return [_one(parameter, item) for item in items]


def _one(parameter: Parameter, value: Any) -> Any:
    read = {"string": _text, "integer": _integer, "boolean": _truth}[parameter.type](value)
    if read is None:
        raise QuestionError(f"'{parameter.name}' must be {_KINDS[parameter.type]}, not {_shown(value)}.")
    if parameter.choices and read not in parameter.choices:
        raise QuestionError(f"There is no {parameter.name} {_shown(value)}; choose from {', '.join(parameter.choices)}.")
    if parameter.type == "integer" and not (parameter.least or 0) <= read <= (
        read if parameter.most is None else parameter.most
    ):
        most = "" if parameter.most is None else f" to {parameter.most}"
        raise QuestionError(f"'{parameter.name}' cannot be {read}; choose from {parameter.least or 0}{most}.")
    return read


_KINDS = {"string": "text", "integer": "a whole number", "boolean": "true or false"}


def _text(value: Any) -> str | None:
    """Returns text that can be written as UTF-8, whatever halves of characters it came with."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else None


def _integer(value: Any) -> int | None:
    if isinstance(value, str) and value.strip().lstrip("-").isdecimal() and len(value) < 20:
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _truth(value: Any) -> bool | None:
    if isinstance(value, str):
        return {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def _shown(value: Any) -> str:
    return repr(value if len(str(value)) <= 80 else f"{str(value)[:80]}…")


_FILTERS = (
    Parameter("category", "Only these categories.", is_list=True, choices=CATEGORIES),
    Parameter("priority", "Only these priorities.", is_list=True, choices=PRIORITIES),
    Parameter("kind", "Only these kinds of results.", is_list=True, choices=KINDS),
    Parameter("trigger", "Only what comes from windows that were closed by this.", is_list=True, choices=TRIGGERS),
    Parameter("since", "Only what was said from then on: a day (2026-05-01), a moment, or how far back (30d)."),
    Parameter("until", "Only what was said up to then, that day included: a day, a moment, or how far back."),
    Parameter("only_project", "Only what was said about this project."),
    Parameter("person", "Only what was said in sessions of this person."),
    Parameter("session", "Only what was said in this session."),
    Parameter("include", "Also memories in these states, which are otherwise not shown.", is_list=True, choices=STATES),
)

RECALL = Verb(
    "recall",
    "memory_recall",
    "Recall what is known",
    "Look up what is already known: the owner's rules and preferences, decisions and their reasons, root causes and their "
    "fixes, how things are built, deployed and named here. Use it before you start a task, before you ask the owner "
    "something, and when a name, an error or a convention comes up that may have been met before. Ask one specific question "
    "in plain words. Answers with at most ten memories, best first, each with confidence, age, category and the session it "
    "comes from; an empty list means that nothing is known. What it returns counts as used.",
    (
        Parameter("question", "What you want to know, in plain words.", is_required=True),
        Parameter("profile", "How many, and how deep: lean 3, balanced 7, deep 10 with raw messages.", choices=PROFILES),
        Parameter("limit", "At most so many results.", type="integer", least=1, most=10),
        Parameter("project", "The project you are working on; what was said about it is preferred."),
        *_FILTERS,
        Parameter("corpus", "What is searched, instead of what the profile searches.", is_list=True, choices=CORPORA),
        Parameter("own_session", "The id of the session you are in, if you know it: its own words are not handed back."),
        Parameter("recent", "The last messages of the conversation, oldest first, five at most.", is_list=True),
        Parameter("budget", "Five results at most within a few tokens; asks neither model nor graph.", type="boolean"),
        Parameter("probe", "Do not count the answer as used (for tests and monitors).", type="boolean"),
    ),
)
REFLECT = Verb(
    "reflect",
    "memory_reflect",
    "Answer from everything that is known",
    "Answer a question from all that is known together: standing rules, memories, and what was said word for word. Use it "
    "when a question needs several sources, the history of a decision, or details that recall does not bring. Every sentence "
    "ends with the ids of its sources; what is not in memory is said to be so. Slower than recall; where the owner named a "
    "model, that model is asked.",
    (
        Parameter("question", "What you want to know, in plain words.", is_required=True),
        Parameter("project", "The project you are working on; what was said about it is preferred."),
        *_FILTERS,
        Parameter("probe", "Do not count what is cited as used (for tests and monitors).", type="boolean"),
    ),
)
EXPLAIN = Verb(
    "explain",
    "memory_explain",
    "Explain where something comes from",
    "Show where a line of MEMORY.md, a proposal, a memory or an observation comes from, down to the bytes of the transcript, "
    "with every hash and quote verified again. Use it when you doubt a memory or want to read what was really said.",
    (Parameter("target", "A line of MEMORY.md, or the id of a proposal, memory or observation.", is_required=True),),
)
WHY_NOT = Verb(
    "why-not",
    "memory_why_not",
    "Find out why something is not recalled",
    "Tell at which stage something that was said stopped on its way to you: not captured, not observed, held back, merged, "
    "replaced, or ranked too low. Use it when you or the owner expected a memory and recall did not bring it.",
    (
        Parameter("text", "What was missed: words of it, or the id of a memory.", is_required=True),
        Parameter("question", "The question that it was missed in; by default its own words."),
    ),
)
GRAPH = Verb(
    "graph",
    "memory_graph",
    "See what stands around a name",
    "Look up a name (a file, command, package, service, person, ADR) and see what it is used with, part of or replaced by, and "
    "the memories that say so. Use it when you know the name and want its surroundings; use memory_recall for a question.",
    (Parameter("name", "The name, or another name for the same thing.", is_required=True),),
)
COMING = Verb(
    "triggers",
    "memory_triggers",
    "List what comes up",
    "List days ahead that the owner named ('remind me on Monday', 'by 2026-05-01') with what to recall then. Use it when "
    "planning, or when asked what is due; the briefing already tells what is due today and tomorrow.",
    (Parameter("on", "What comes up on this day or the next (2026-05-01); without it, all that is still ahead."),),
)
BRIEF = Verb(
    "brief",
    "memory_briefing",
    "Read the briefing",
    "Read what a session should know from the start: standing rules, what is going on, what waits. Use it once, at the "
    "beginning of a session, if it was not put in front of you already.",
    (Parameter("session", "Id of a session that goes on: what it established itself stands below."),),
)
REVIEW = Verb(
    "review",
    "memory_review",
    "List what waits for a decision",
    "List the proposals for MEMORY.md that wait for the owner's decision, each with its reason and evidence. Use it when the "
    "owner asks what there is to review.",
)
DECIDE = Verb(
    "decide",
    "memory_review_decide",
    "Decide proposals for MEMORY.md",
    "Approve, reject or reword proposals. Use it only when the owner has said what to do with them: decisions are theirs. An "
    "approved proposal becomes a line of MEMORY.md and a commit; a rejected one is not proposed again.",
    (
        Parameter("decision", "What the owner decided.", is_required=True, choices=DECISIONS),
        Parameter("proposals", "Ids of proposals, such as p-20260408-001.", is_required=True, is_list=True),
        Parameter("reason", "Why it is rejected; kept with the decision."),
        Parameter("text", "The new wording, for edit."),
    ),
    is_writing=True,
    is_idempotent=False,
)
REMEMBER = Verb(
    "remember",
    "memory_remember",
    "Remember a fact",
    "Write down one fact that a later session should know: a rule or preference that the owner stated, a decision with its "
    "reason, a root cause with its fix. Say it in one or two sentences that stand alone, with exact names. Do not note passing "
    "states or what the files say themselves; sessions are distilled anyway. It is recalled from now on, by every agent.",
    (
        Parameter("text", "The fact, in a sentence or two that stand alone.", is_required=True),
        Parameter("category", "Where it is filed; read from its words by default.", choices=CATEGORIES),
        Parameter("priority", "How much it matters; medium by default.", choices=PRIORITIES),
        Parameter("project", "The project that it is about; none concerns everyone."),
        Parameter("sentiment", "The tone in which the owner said it.", choices=SENTIMENTS),
        Parameter("session", "The id of the session in which this is said."),
    ),
    is_writing=True,
    is_idempotent=False,
)
CORRECT = Verb(
    "correct",
    "memory_correct",
    "Correct a memory",
    "Replace what a memory says, when the owner says or the code shows that it is wrong or outdated. The old wording and its "
    "evidence are kept, and not recalled any more.",
    (
        Parameter("memory_id", "The memory: mem_ and at least six characters, as recall shows.", is_required=True),
        Parameter("text", "What is true instead, in a sentence or two that stand alone.", is_required=True),
        Parameter("session", "The id of the session in which this is said."),
    ),
    is_writing=True,
    is_destructive=True,
    is_idempotent=False,
)
FORGET = Verb(
    "forget",
    "memory_forget",
    "Forget a memory or words",
    "Show everything that carries a memory, or words; with apply, erase it from the whole store, for good, down to "
    "archived bytes. Use it only when the owner asks for it: first without apply, show them what it would erase, and apply "
    "when they agree.",
    (
        Parameter("target", "A memory (mem_…), or words that are to be forgotten wherever they were said.", is_required=True),
        Parameter("apply", "Do it; without, only show what carries it.", type="boolean", default=False),
        Parameter(
            "history",
            "Rewrite the history of MEMORY.md in git, too; only where the owner says so.",
            type="boolean",
            default=False,
        ),
    ),
    is_writing=True,
    is_destructive=True,
)
FEEDBACK = Verb(
    "feedback",
    "memory_feedback",
    "Say whether memories helped",
    "Say that recalled memories helped, or that they were shown for nothing; those that help come first from then on. Use it "
    "once you know whether you used them.",
    (
        Parameter("memory_ids", "The memories (mem_…).", is_required=True, is_list=True),
        Parameter("used", "True: they helped; false: they did not.", type="boolean", is_required=True),
        Parameter("session", "The id of the session in which this is said."),
    ),
    is_writing=True,
    is_idempotent=False,
)
STATUS = Verb(
    "status",
    "memory_status",
    "See how the memory stands",
    "Show what is in the memory, how fresh it is, what waits for review, and where its files lie.",
)

VERBS = (RECALL, REFLECT, EXPLAIN, WHY_NOT, GRAPH, COMING, BRIEF, REMEMBER, CORRECT, FORGET, FEEDBACK, REVIEW, DECIDE, STATUS)

ALSO_KNOWN_AS = {"memory_brief": "memory_briefing", "memory_note": "memory_remember", "memory_review_list": "memory_review"}
"""Names that agents guess, and the tool that is meant."""


def verb_of(name: str) -> Verb:
    """Returns the verb of that name; raises `QuestionError` where there is none."""
    for verb in VERBS:
        if name == verb.name:
            return verb
    raise QuestionError(f"There is nothing called '{name[:80]}' to ask; there is {', '.join(one.name for one in VERBS)}.")


def tool_of(name: str) -> Verb | None:
    """Returns the verb of a tool's name, if there is one."""
    name = ALSO_KNOWN_AS.get(name, name)
    return next((verb for verb in VERBS if verb.tool == name), None)
