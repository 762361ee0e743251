"""Finds the calls that failed, and what the same session did until the like of them worked.

Other than `failures`, which reports what recurs, this takes each failure as it happened.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from memory_assets.stages.friction import failures
from memory_assets.stages.friction.commands import parse_steps, words_of
from memory_assets.stages.friction.week import ToolCall, Utterance, Week

MOST_STEPS = 3
"""Steps of a cure that are named, the last ones."""


@dataclass(frozen=True)
class Cure:
    """What was done after a failure, and the call that worked then."""

    steps: tuple[str, ...]
    call: ToolCall
    is_sure: bool
    """Whether the same command worked, after something was done or added to it. What the owner said
    between may be about something else.
    """

    def __str__(self) -> str:
        after = f"after {', '.join(self.steps)}: " if self.steps else ""
        return f"{after}`{failures.shortened_line(self.call.command)}` worked"


@dataclass(frozen=True)
class PastFailure:
    """A call that failed, the line that says why, and what cured it, if anything did."""

    call: ToolCall
    line: str
    cure: Cure | None

    @property
    def message_ids(self) -> frozenset[str]:
        """The messages of the call, of the cure, and of their results."""
        calls = [self.call, self.cure.call] if self.cure else [self.call]
        return frozenset(chain.from_iterable(call.message_ids for call in calls))

    @property
    def remedy(self) -> tuple[str, ...]:
        """The commands that cured it and may be needed again; none beside an edit, which lasts."""
        steps = self.cure.steps if self.cure and self.cure.is_sure else ()
        return steps if all(step.startswith("`") for step in steps) else ()

    def __str__(self) -> str:
        what = failures.shortened_line(self.call.command) or self.call.tool
        return f"`{what}` failed: {failures.shortened_line(self.line)}"


def past_failures(week: Week) -> Iterator[PastFailure]:
    """Yields the failures that a tool reported, in order; not what a person refused."""
    turns = week.utterances_by_session()
    for session, calls in week.calls_by_session().items():
        for number, call in enumerate(calls, start=1):
            line = failures.telling_line(call.output) if call.is_failed else ""
            if line and not failures.is_rejected(call.output):
                following = calls[number : number + 2 * failures.NEXT_CALLS]
                cure = _find_cure(call, following, turns.get(session, ()))
                yield PastFailure(call, line, cure)


def _find_cure(
    failed: ToolCall, following: Sequence[ToolCall], turns: Sequence[Utterance]
) -> Cure | None:
    words = set(words_of(failed.command))
    if not words:
        return None
    worked = [call for call in following if not call.is_failed]
    for number, call in enumerate(worked):
        if words.issubset(words_of(call.command)):
            steps = _steps(worked[:number])
            is_sure = bool(steps) or len(words) < len(set(words_of(call.command)))
            return Cure(steps or _turns_between(failed, call, turns), call, is_sure)
    workaround = failures.find_workaround(failed, following[: failures.NEXT_CALLS])
    return Cure((), workaround.success, is_sure=False) if workaround else None


def _steps(calls: Sequence[ToolCall]) -> tuple[str, ...]:
    """Returns the edits and the commands that do more than look, each once."""
    steps = dict.fromkeys(chain.from_iterable(map(_steps_of, calls)))
    return tuple(steps)[-MOST_STEPS:]


def _turns_between(
    failed: ToolCall, success: ToolCall, turns: Sequence[Utterance]
) -> tuple[str, ...]:
    """Returns the last thing that the owner said between the two calls."""
    between = [turn.text for turn in turns if failed.place < turn.place < success.place]
    return tuple(f"“{failures.shortened_line(text)}”" for text in between[-1:])


def _steps_of(call: ToolCall) -> Iterator[str]:
    if call.edit:
        yield f"an edit of {call.edit.path.rsplit('/', 1)[-1]}"
    for step in parse_steps(call.command):
        if not step.is_routine:
            yield f"`{failures.shortened_line(step.text)}`"
