"""Request models: one frozen model per verb, with its parameters, their bounds and descriptions.

The commands, the tools of agents and the HTTP interface are generated from these models
(`interfaces/verbs.py`); the facade and the search take requests as arguments. An invalid request
raises `QuestionError`, so that every interface reports the same error.
"""

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, tzinfo
from functools import cache
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from memory_assets.errors import QuestionError
from memory_assets.schema import vocabulary
from memory_assets.text.moments import parse_moment

ProfileName = Literal["lean", "balanced", "deep", "auto"]
Kind = Literal["fact", "narrative", "message"]
BY_DEFAULT = ("active", "stale")
"""States of memories that are recalled by default; stale memories at half their score."""

State = Literal["held", "stale", "archived", "cold", "superseded"]
CorpusName = Literal["memories", "segments", "messages"]


MOST = 10
"""Maximum results of a recall; the block that is added to a prompt has at most as many lines."""

MOST_DEEP = 15
"""Maximum results with the profile `deep`."""

_SUBJECTS = ("question", "file", "command", "error")
"""What a recall may be about."""

LOOKUP = "lookup"
"""Profile of an answer about a file, a command or an error."""

MOST_LEAN = 3
"""Maximum results with the profile `lean`."""

MOST_CANDIDATES = 25
"""Maximum further candidates that are listed."""

MOST_OPENED = 30
"""Maximum messages and memories that are opened at once."""

MOST_PAGES = 9
"""Maximum pages of results of one question."""

SHOWN_CHARS = 80
"""Length from which a wrong value is cut in an error."""


def no_boolean(value: Any) -> Any:
    """Returns the value; raises `ValueError` for a boolean, which pydantic would convert, and for a
    long string.
    """
    # int() raises an error of its own for strings of thousands of digits.
    if isinstance(value, bool) or (isinstance(value, str) and len(value) > 20):
        raise ValueError(f"must be a whole number, not {_shown(value)}")
    return value


def _check_tag(value: Any) -> Any:
    if not isinstance(value, str) or not _TAG.fullmatch(value):
        raise ValueError(
            f"a tag has up to 40 letters, digits, hyphens and underscores, not {_shown(value)}"
        )
    return value.lower()


_TAG = re.compile(r"[\w-]{1,40}")
Tag = Annotated[str, BeforeValidator(_check_tag)]
Limit = Annotated[int, Field(ge=1, le=MOST_DEEP), BeforeValidator(no_boolean)]
Moment = Annotated[datetime | str, WithJsonSchema({"type": "string"})]
Day = Annotated[date | str, WithJsonSchema({"type": "string"})]


def parameter(description: str, default: Any = ..., **more: Any) -> Any:
    """Returns a field with its description; without a default it is required."""
    return Field(default, description=description, **more)


class Request(BaseModel):
    """The parameters of one verb; invalid ones raise `QuestionError`."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise QuestionError(_in_words(error, type(self))) from None

    @classmethod
    def of(cls, value: Any = None, **fields: Any) -> Self:
        """Returns a request with these fields and, unless it is None, `value` as its first field; a
        request as `value` is returned itself.
        """
        if isinstance(value, cls) and not fields:
            return value
        if value is None:
            return cls(**fields)
        return cls(**{next(iter(cls.model_fields)): value}, **fields)

    @model_validator(mode="before")
    @classmethod
    def _lenient(cls, values: Any) -> Any:
        """Drops nulls, accepts one item as a list, and replaces lone surrogates, which cannot be
        encoded.
        """
        if not isinstance(values, Mapping):
            return values
        lists = {name for name, field in parameters(cls).items() if field["type"] == "array"}
        lenient = {}
        for name, value in values.items():
            if value is not None:
                is_item = name in lists and isinstance(value, str)
                lenient[name] = _encodable([value] if is_item else value)
        return lenient


class QuestionRequest(Request):
    """A question and the project it is asked in."""

    question: str = parameter(
        "What you want to know, in plain words.", examples=["how do we deploy"]
    )
    project: str | None = parameter(
        "The project you work on; results about it are preferred.", None
    )


class Filters(Request):
    """Filters on results; an empty filter passes everything. Moments without a zone are UTC."""

    category: tuple[vocabulary.Category, ...] = parameter("Only these categories.", ())
    priority: tuple[vocabulary.Priority, ...] = parameter("Only these priorities.", ())
    tag: tuple[Tag, ...] = parameter(
        "Only memories with one of these tags, such as decision or root_cause.",
        (),
        examples=[["decision"]],
    )
    kind: tuple[Kind, ...] = parameter("Only these kinds of results.", ())
    trigger: tuple[vocabulary.Trigger, ...] = parameter(
        "Only results from windows that were closed by this.", ()
    )
    since: Moment | None = parameter(
        "Only what was said since: a day, a moment, or days back.",
        None,
        examples=["2026-05-01", "30d"],
    )
    until: Moment | None = parameter(
        "Only what was said until this day (inclusive), moment, or days back.", None
    )
    only_project: str | None = parameter("Only results about this project.", None)
    person: str | None = parameter("Only results from sessions of this person.", None)
    session: str | None = parameter("Only results from this session.", None)
    include: tuple[State, ...] = parameter(
        "Also memories in these states; all but stale ones are left out by default.", ()
    )

    @model_validator(mode="after")
    def _moments(self) -> Self:
        for name in ("since", "until"):
            moment = getattr(self, name)
            if isinstance(moment, datetime) and moment.tzinfo is None:
                object.__setattr__(self, name, moment.replace(tzinfo=UTC))
        since = self.since
        until = self.until
        if isinstance(since, datetime) and isinstance(until, datetime) and until <= since:
            raise ValueError(f"until ({until}) must be later than since ({since})")
        return self

    def at(self, now: datetime, zone: tzinfo) -> Self:
        """Returns the request with moments instead of texts such as `30d` and `2026-05-01`."""
        moments = {
            name: _moment(name, text, now, zone, is_end=name == "until")
            for name, text in (("since", self.since), ("until", self.until))
            if isinstance(text, str)
        }
        values = {name: getattr(self, name) for name in self.model_fields_set}
        return type(self).of(**{**values, **moments}) if moments else self

    @property
    def states(self) -> tuple[str, ...]:
        """States of the memories to return."""
        return (*BY_DEFAULT, *self.include)

    @property
    def are_set(self) -> bool:
        """Whether any filter other than `include` is set."""
        return any(getattr(self, name) for name in Filters.model_fields if name != "include")

    @property
    def are_narrow(self) -> bool:
        """Whether the filters narrow results so far that the question may be vague."""
        names = "category priority tag kind trigger session since until".split()
        return any(getattr(self, name) for name in names)

    @property
    def are_a_selection(self) -> bool:
        """Whether the filters select memories by themselves: these are listed even if no word of
        the question matches.
        """
        return bool(self.category or self.priority or self.tag)

    @property
    def are_for_memories(self) -> bool:
        """Whether only memories can pass: messages have no category, priority, tag or state."""
        has_no_messages = bool(self.kind) and "message" not in self.kind
        return self.are_a_selection or has_no_messages


class AnswerRequest(Filters, QuestionRequest):
    """Asks for an answer with its sources."""

    probe: bool = parameter("Do not count the results as used (for tests and monitors).", False)


class RecallRequest(AnswerRequest):
    """Asks for the few memories that help with a question, or what is known of a file, a command or
    an error.
    """

    question: str = parameter(
        "What you want to know, in plain words.", "", examples=["how do we deploy"]
    )
    profile: ProfileName = parameter(
        "lean: 3, messages only if memories hardly help; balanced: 5, also messages; deep: 10; "
        "auto decides.",
        "balanced",
    )
    limit: Limit | None = parameter(
        f"Maximum results: 1 to {MOST}, up to {MOST_DEEP} with the profile deep.", None
    )
    page: int = parameter(
        "Page of the results: the second has those after the first.",
        1,
        ge=1,
        le=MOST_PAGES,
    )
    candidates: bool = parameter("Also list up to 25 further candidates in a line each.", False)
    by: Literal["session"] | None = parameter(
        "List the sessions in which the answer may be, in place of results.", None
    )
    corpus: tuple[CorpusName, ...] = parameter("Search these instead of the profile's corpora.", ())
    own_session: str | None = parameter(
        "Id of the session you are in: its own messages are left out.", None
    )
    recent: tuple[str, ...] = parameter(
        "Last messages of the conversation, oldest first, at most five.", ()
    )
    budget: bool = parameter("Return at most five results in few tokens, without a model.", False)
    file: str | None = parameter("What is known of this file; instead of a question.", None)
    command: str | None = parameter("What is known of this command line.", None)
    error: str | None = parameter("What is known of this error, as it was printed.", None)

    @property
    def lists_candidates(self) -> bool:
        """Whether candidates are listed, or the sessions that have them."""
        return self.candidates or self.by is not None

    @property
    def is_lookup(self) -> bool:
        """Whether it asks about a file, a command or an error."""
        return any((self.file, self.command, self.error))

    @model_validator(mode="after")
    def _one_subject(self) -> Self:
        subjects = [name for name in _SUBJECTS if name in self.model_fields_set]
        if not (self.is_lookup or self.question.strip()):
            raise ValueError("question is missing: What you want to know, in plain words")
        if len(subjects) > 1:
            raise ValueError(f"{subjects[1]} cannot be combined with {subjects[0]}")
        return self

    @model_validator(mode="after")
    def _within_profile(self) -> Self:
        if self.profile != "deep" and (self.limit or 0) > MOST:
            raise ValueError(
                f"limit must be between 1 and {MOST} ({MOST_DEEP} with the profile deep), "
                f"not {self.limit}"
            )
        if self.profile == "lean" and not self.corpus and (self.limit or 0) > MOST_LEAN:
            raise ValueError(
                f"limit must be between 1 and {MOST_LEAN} with the profile lean, not {self.limit}"
            )
        return self


class ExplainRequest(Request):
    """Asks where a memory comes from, or why something is not remembered."""

    target: str = parameter(
        "A line of MEMORY.md, the id of a proposal, memory, message or observation, or words that "
        "you expected.",
        examples=["Use uv, never pip"],
    )
    question: str | None = parameter("Explain why this question does not return it.", None)


class OpenRequest(Request):
    """Asks for the exchanges of messages and memories."""

    ids: tuple[str, ...] = parameter("Ids of messages (msg_…) and memories (mem_…).", min_length=1)

    @model_validator(mode="after")
    def _are_few(self) -> Self:
        if len(self.ids) > MOST_OPENED:
            raise ValueError(f"ids must be at most {MOST_OPENED}, not {len(self.ids)}")
        return self


class TriggersRequest(Request):
    """Asks for upcoming dates."""

    on: Day | None = parameter(
        "Only dates due on this day or the next; default: all.", None, examples=["2026-05-01"]
    )

    def day(self, now: datetime, zone: tzinfo) -> date | None:
        """Returns the day in the zone; None for all days."""
        if isinstance(self.on, str):
            return _moment("on", self.on, now, zone).astimezone(zone).date()
        return self.on


class BriefRequest(Request):
    """Asks for the briefing."""

    session: str | None = parameter(
        "Id of a resumed session: adds what that session established.", None
    )
    project: str | None = parameter(
        "The project whose briefing it is; by default that of the present folder.", None
    )
    full: bool = parameter(
        "The full briefing: up to 7.5 % of the context, instead of 2,000 tokens.", False
    )


class RememberRequest(Request):
    """Saves a fact, or replaces the text of a memory."""

    text: str = parameter("The fact, in one or two sentences that stand alone.")
    instead_of: str | None = parameter(
        "Id of a wrong memory to replace: mem_ and at least six characters.", None
    )
    category: vocabulary.Category | None = parameter(
        "The category; by default derived from the text.", None
    )
    priority: vocabulary.Priority = parameter("How much it matters.", "medium")
    project: str = parameter("The project it is about; by default it concerns every project.", "")
    tag: tuple[Tag, ...] = parameter(
        "Words to find it by: letters, digits, hyphens and underscores.", ()
    )
    sentiment: vocabulary.Sentiment = parameter("The tone in which the owner said it.", "neutral")
    session: str | None = parameter("Id of the current session.", None)

    @model_validator(mode="after")
    def _keeps(self) -> Self:
        forbidden = [
            name
            for name in ("category", "priority", "project", "tag", "sentiment")
            if name in self.model_fields_set
        ]
        if self.instead_of is not None and forbidden:
            raise ValueError(
                f"{forbidden[0]} cannot be combined with instead_of: a correction keeps the "
                f"{forbidden[0]} of the memory"
            )
        return self


class ForgetRequest(Request):
    """Lists where a memory or words are stored, or erases them."""

    target: str = parameter("A memory (mem_…), or words to erase wherever they were said.")
    apply: bool = parameter("Erase it; without this, only list where it is stored.", False)
    history: bool = parameter(
        "Also rewrite the git history of MEMORY.md: later commits get other ids.", False
    )


class FeedbackRequest(Request):
    """Says whether recalled memories helped."""

    memory_ids: tuple[str, ...] = parameter("Memories (mem_…).", min_length=1)
    used: bool = parameter("Whether they helped.")
    session: str | None = parameter("Id of the current session.", None)


class RestoreRequest(Request):
    """Makes memories active again."""

    memory_ids: tuple[str, ...] = parameter(
        "Stale, archived or cold memories (mem_…).", min_length=1
    )


class ReviewRequest(Request):
    """Asks which proposals wait for a decision."""


class DecideRequest(Request):
    """Decides proposals."""

    decision: Literal["approve", "reject", "edit"] = parameter("What the owner decided.")
    proposals: tuple[str, ...] = parameter(
        "Ids of proposals.", min_length=1, examples=[["p-20260408-001"]]
    )
    reason: str = parameter("Why it is approved or rejected; kept with the decision.", "")
    text: str = parameter("The new wording, for edit.", "")

    @model_validator(mode="after")
    def _one_wording(self) -> Self:
        if self.decision == "edit" and len(self.proposals) > 1:
            raise ValueError(
                f"edit changes one proposal, not {len(self.proposals)}: each needs its own wording"
            )
        return self


class DistillRequest(Request):
    """Takes the next question about a past session, a page of one, or the answer to one."""

    question: str | None = parameter("Id of a question that was given; default: the next.", None)
    answer: str | None = parameter(
        "The answer to the question, in the form that it asks for.", None
    )
    page: int = parameter("Page of the question.", 1, ge=1)
    project: str | None = parameter("Only sessions of this project.", None)
    client: str = parameter("Name of the program that answers.", "")

    @model_validator(mode="after")
    def _names_question(self) -> Self:
        is_about_one = self.answer is not None or self.page > 1
        if is_about_one and self.question is None:
            raise ValueError("question is missing: name the question that you mean")
        return self


class StatusRequest(Request):
    """Asks for the state of the store."""


@cache
def parameters(model: type[Request]) -> Mapping[str, dict[str, Any]]:
    """Returns field → its JSON Schema: type, description, choices, bounds, default, examples."""
    return {
        name: _plain(field)
        for name, field in model.model_json_schema().get("properties", {}).items()
    }


def _plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the schema without titles, null types and empty defaults; a constant is a choice."""
    options = (option for option in schema.get("anyOf", ()) if option["type"] != "null")
    plain = dict(next(options, {}))
    for name, value in schema.items():
        is_empty = name == "default" and value in (None, [], "")
        if name not in ("anyOf", "title") and not is_empty:
            plain[name] = value
    if "const" in plain:
        plain["enum"] = [plain.pop("const")]
    return plain


def _moment(name: str, text: str, now: datetime, zone: tzinfo, *, is_end: bool = False) -> datetime:
    try:
        return parse_moment(text, now, zone, is_end=is_end)
    except ValueError as error:
        raise QuestionError(f"{name} must be {error}.") from None


def _in_words(error: ValidationError, model: type[Request]) -> str:
    """Returns the first error in plain words."""
    details = error.errors(include_url=False)[0]
    name = str(details["loc"][0]) if details["loc"] else ""
    match details["type"]:
        case "missing":
            return f"{name} is missing: {model.model_fields[name].description}"
        case "extra_forbidden":
            names = ", ".join(model.model_fields)
            parameters_are = f"the parameters are {names}" if names else "there are none"
            return f"There is no parameter '{name[:SHOWN_CHARS]}'; {parameters_are}."
        case "value_error":
            words = str(details["ctx"]["error"]) if "ctx" in details else details["msg"]
            return f"{name} {words}.".lstrip()
    rule = _rule(details["type"], parameters(model)[name])
    value = details["input"]
    text = value if rule.startswith("be between") else _shown(value)
    return f"{name} must {rule}, not {text}."


def _rule(kind: str, parameter: Mapping[str, Any]) -> str:
    """Returns what the value must be, for an error of this kind of pydantic."""
    if kind == "literal_error":
        return f"be one of {', '.join(parameter.get('items', parameter)['enum'])}"
    if kind in ("greater_than_equal", "less_than_equal"):
        return f"be between {parameter['minimum']} and {parameter['maximum']}"
    if kind == "too_short":
        return "name at least one"
    kinds = {"int": "a whole number", "bool": "true or false", "tuple": "a list"}
    return f"be {kinds.get(kind.split('_')[0], 'text')}"


def _shown(value: Any) -> str:
    """Returns the value as an error shows it; a long one is cut."""
    text = str(value)
    return repr(value if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}…")


def _encodable(value: Any) -> Any:
    """Returns the value with lone surrogates in its texts replaced by `?`."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return [_encodable(item) for item in value] if isinstance(value, list | tuple) else value
