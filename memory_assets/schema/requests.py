"""Request models: one frozen model per verb, with its parameters, their bounds and descriptions.

The command line, the agents' tools and HTTP are generated from these models
(`interfaces/verbs.py`); the facade and the search take them. An invalid request raises
`QuestionError`, so that every interface reports the same error.
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
from memory_assets.schema.vocabulary import (
    Category,
    Priority,
    Sentiment,
    Trigger,
)
from memory_assets.text.moments import parse_moment

ProfileName = Literal["lean", "balanced", "deep", "auto"]
Kind = Literal["fact", "narrative", "message"]
BY_DEFAULT = ("active", "stale")
"""States of memories that are recalled without asking; stale ones at half their score."""

State = Literal["held", "stale", "archived", "cold", "superseded"]
CorpusName = Literal["memories", "segments", "messages"]


MOST = 10
MOST_DEEP = 15
"""Maximum results of a recall, and of one with the profile `deep`; the block added to a prompt has
at most ten lines.
"""

MOST_LEAN = 3
SHOWN_CHARS = 80


def no_boolean(value: Any) -> Any:
    """Returns the value; raises `ValueError` for what `int` would take for a number."""
    # int() refuses thousands of digits.
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
    """Returns a field with its description; it is required unless it has a default."""
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
    def of(cls, value: Any = None, **more: Any) -> Self:
        """Returns `value` if it is a request, else a new request with `value` as its first
        field.
        """
        if isinstance(value, cls) and not more:
            return value
        return cls(**({} if value is None else {next(iter(cls.model_fields)): value}), **more)

    @model_validator(mode="before")
    @classmethod
    def _lenient(cls, values: Any) -> Any:
        """Drops nulls, accepts one item as a list, and replaces lone surrogates, which cannot be
        encoded.
        """
        if not isinstance(values, Mapping):
            return values
        listed = {name for name, field in parameters(cls).items() if field["type"] == "array"}
        return {
            name: [_encodable(value)]
            if name in listed and isinstance(value, str)
            else _encodable(value)
            for name, value in values.items()
            if value is not None
        }


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

    category: tuple[Category, ...] = parameter("Only these categories.", ())
    priority: tuple[Priority, ...] = parameter("Only these priorities.", ())
    tag: tuple[Tag, ...] = parameter(
        "Only memories with one of these tags, such as decision or root_cause.",
        (),
        examples=[["decision"]],
    )
    kind: tuple[Kind, ...] = parameter("Only these kinds of results.", ())
    trigger: tuple[Trigger, ...] = parameter(
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
        """Returns the request with moments in place of `30d` and `2026-05-01`."""
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
        return bool(
            self.category
            or self.priority
            or self.tag
            or self.kind
            or self.trigger
            or self.session
            or self.since
            or self.until
        )

    @property
    def are_a_selection(self) -> bool:
        """Whether the filters name what is wanted, so that memories are listed though no word of
        the question matches.
        """
        return bool(self.category or self.priority or self.tag)

    @property
    def are_for_memories(self) -> bool:
        """Whether only memories can pass: messages have no category, priority, tag or state."""
        return bool(
            self.category or self.priority or self.tag or (self.kind and "message" not in self.kind)
        )


class AnswerRequest(Filters, QuestionRequest):
    """Asks for an answer with its sources."""

    probe: bool = parameter("Do not count the results as used (for tests and monitors).", False)


class RecallRequest(AnswerRequest):
    """Asks for the few memories that help with a question."""

    profile: ProfileName = parameter(
        "lean: 3, messages only if memories hardly help; balanced: 7, also messages; deep: 10; "
        "auto decides.",
        "balanced",
    )
    limit: Limit | None = parameter(
        f"Maximum results: 1 to {MOST}, up to {MOST_DEEP} with the profile deep.", None
    )
    corpus: tuple[CorpusName, ...] = parameter("Search these instead of the profile's corpora.", ())
    own_session: str | None = parameter(
        "Id of the session you are in: its own messages are left out.", None
    )
    recent: tuple[str, ...] = parameter(
        "Last messages of the conversation, oldest first, at most five.", ()
    )
    budget: bool = parameter("Return at most five results in few tokens, without a model.", False)

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
        "A line of MEMORY.md, the id of a proposal, memory or observation, or words that you "
        "expected.",
        examples=["Use uv, never pip"],
    )
    question: str | None = parameter("Explain why this question does not return it.", None)


class TriggersRequest(Request):
    """Asks for upcoming dates."""

    on: Day | None = parameter(
        "Only dates due on this day or the next; default: all.", None, examples=["2026-05-01"]
    )

    def day(self, now: datetime, zone: tzinfo) -> date | None:
        """Returns the day in the zone."""
        if isinstance(self.on, str):
            return _moment("on", self.on, now, zone).astimezone(zone).date()
        return self.on


class BriefRequest(Request):
    """Asks for the briefing."""

    session: str | None = parameter(
        "Id of a resumed session: adds what that session established.", None
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
    category: Category | None = parameter("The category; by default derived from the text.", None)
    priority: Priority = parameter("How much it matters.", "medium")
    project: str = parameter("The project it is about; by default it concerns every project.", "")
    tag: tuple[Tag, ...] = parameter(
        "Words to find it by: letters, digits, hyphens and underscores.", ()
    )
    sentiment: Sentiment = parameter("The tone in which the owner said it.", "neutral")
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
    reason: str = parameter("Why it is rejected; kept with the decision.", "")
    text: str = parameter("The new wording, for edit.", "")

    @model_validator(mode="after")
    def _one_wording(self) -> Self:
        if self.decision == "edit" and len(self.proposals) > 1:
            raise ValueError(
                f"edit changes one proposal, not {len(self.proposals)}: each needs its own wording"
            )
        return self


class StatusRequest(Request):
    """Asks for the state of the store."""


@cache
def parameters(model: type[Request]) -> Mapping[str, dict[str, Any]]:
    """Returns each field as plain JSON Schema: type, description, choices, bounds, default,
    examples.
    """
    return {
        name: _plain(field)
        for name, field in model.model_json_schema().get("properties", {}).items()
    }


def _plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the schema without titles, null types and empty defaults."""
    of_value = next((option for option in schema.get("anyOf", ()) if option["type"] != "null"), {})
    plain = {name: value for name, value in schema.items() if name not in ("anyOf", "title")}
    return of_value | {
        name: value
        for name, value in plain.items()
        if name != "default" or value not in (None, [], "")
    }


def _moment(name: str, text: str, now: datetime, zone: tzinfo, *, is_end: bool = False) -> datetime:
    try:
        return parse_moment(text, now, zone, is_end=is_end)
    except ValueError as error:
        raise QuestionError(f"{name} must be {error}.") from None


def _in_words(error: ValidationError, model: type[Request]) -> str:
    """Returns the first error in plain words."""
    wrong = error.errors(include_url=False)[0]
    name = str(wrong["loc"][0]) if wrong["loc"] else ""
    match wrong["type"]:
        case "missing":
            return f"{name} is missing: {model.model_fields[name].description}"
        case "extra_forbidden":
            takes = (
                f"the parameters are {', '.join(model.model_fields)}"
                if model.model_fields
                else "there are none"
            )
            return f"There is no parameter '{name[:SHOWN_CHARS]}'; {takes}."
        case "value_error":
            words = str(wrong["ctx"]["error"]) if "ctx" in wrong else wrong["msg"]
            return f"{name} {words}.".lstrip()
    rule = _rule(wrong["type"], parameters(model)[name])
    return (
        f"{name} must {rule}, not "
        f"{wrong['input'] if rule.startswith('be between') else _shown(wrong['input'])}."
    )


def _rule(kind: str, parameter: Mapping[str, Any]) -> str:
    if kind == "literal_error":
        return f"be one of {', '.join(parameter.get('items', parameter)['enum'])}"
    if kind in ("greater_than_equal", "less_than_equal"):
        return f"be between {parameter['minimum']} and {parameter['maximum']}"
    if kind == "too_short":
        return "name at least one"
    kinds = {"int": "a whole number", "bool": "true or false", "tuple": "a list"}
    return f"be {kinds.get(kind.split('_')[0], 'text')}"


def _shown(value: Any) -> str:
    return repr(value if len(str(value)) <= SHOWN_CHARS else f"{str(value)[:SHOWN_CHARS]}…")


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return [_encodable(item) for item in value] if isinstance(value, list | tuple) else value
