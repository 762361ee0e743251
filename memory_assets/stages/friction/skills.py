"""Finds work that every session repeats without a written procedure: the same steps, or the same
manual, for the same request.

A request is a turn of a person with the commands up to their next turn. Similar requests of three
sessions with the same steps are an unwritten procedure; so are requests for which the manual of the
same program was opened each time, and a longer request typed nearly word for word. What everybody
does after every change (looking, building, testing, committing) is no step.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from memory_assets.english.openings import strip_opening
from memory_assets.schema.protocols import Embedder
from memory_assets.stages.distill.authorship import typed_sentences
from memory_assets.stages.friction.commands import MANUALS, CommandStep, parse_steps
from memory_assets.stages.friction.corrections import likeness
from memory_assets.stages.friction.finding import Occurrence, RecurringProblem
from memory_assets.stages.friction.groups import cluster
from memory_assets.stages.friction.week import ToolCall, Utterance, Week
from memory_assets.text.words import shortened, stems_of, word_set

FEWEST_SESSIONS, FEWEST_STEPS, FEWEST_OWN = 3, 3, 2
"""Sessions, steps in all, and steps that are not everyday ones."""

ALIKE = 0.3
"""Likeness of requests for the same thing; the shared steps confirm it."""

SAME_REQUEST = 0.33
"""Mean likeness of the requests before which a manual was opened: weaker evidence than shared
steps.
"""

SAME_WORDS, FEWEST_WORDS = 0.7, 6
"""Likeness and content words of a request that is typed, or pasted, again each time."""

TITLE_CHARS, STEP_CHARS, MOST_STEPS = 100, 60, 4
"""Of the line that a person approves; the skill file has all of it."""

_LINK = re.compile(r"https?://\S+")
_WORD = re.compile(r"[A-Za-z][a-z]{3,}")
_FILLING = word_set("""please same like again time last this that then with from into what once more
    need needs want have make been before usual also good well fresh them they each other
    always could would there where which when done only just some your second first""")


@dataclass(frozen=True)
class TaskRequest:
    """What a person asked for, and the calls that followed."""

    turn: Utterance
    text: str
    calls: tuple[ToolCall, ...]

    @property
    def steps(self) -> list[CommandStep]:
        """The successful steps, in order."""
        commands = (call.command for call in self.calls if not call.is_failed)
        steps = chain.from_iterable(map(parse_steps, commands))
        return [step for step in steps if not step.is_help]

    @property
    def steps_by_key(self) -> dict[str, CommandStep]:
        """The last successful step of each key."""
        return {step.key: step for step in self.steps}


def find_missing_skills(week: Week, embedder: Embedder) -> list[RecurringProblem]:
    """Returns the procedures that were worked out in three sessions or more."""
    requests = [request for request in _requests(week) if request.calls and request.text]
    if len(requests) < FEWEST_SESSIONS:
        return []
    texts = [_LINK.sub("", request.text) for request in requests]
    alike = likeness(texts, embedder.encode(texts))
    problems: list[RecurringProblem] = []
    reported: set[str] = set()
    for problem in chain.from_iterable(
        find(requests, alike) for find in (_by_steps, _by_manual, _by_words)
    ):
        is_new = reported.isdisjoint(problem.message_ids)
        if len(problem.session_ids) >= FEWEST_SESSIONS and is_new:
            problems.append(problem)
            reported.update(problem.message_ids)
    return problems


def _requests(week: Week) -> Iterator[TaskRequest]:
    calls = week.calls_by_session()
    for id, said in week.utterances_by_session().items():
        turns = [turn for turn in said if turn.is_owner]
        ends = [turn.place for turn in turns[1:]] + [10**9]
        for turn, end in zip(turns, ends, strict=True):
            of_turn = (call for call in calls.get(id, ()) if turn.place < call.place < end)
            commands = tuple(call for call in of_turn if call.command)
            yield TaskRequest(turn, " ".join(typed_sentences(turn.text))[:400], commands)


def _by_steps(requests: Sequence[TaskRequest], alike: np.ndarray) -> Iterator[RecurringProblem]:
    """Yields the problems of similar requests that share enough steps."""
    keys = [request.steps_by_key for request in requests]
    shared = np.zeros_like(alike)
    for one, other in zip(*np.nonzero(np.tril(alike >= ALIKE, -1)), strict=True):
        if _is_enough(common_steps([keys[one], keys[other]]), keys[one]):
            shared[one, other] = shared[other, one] = 1.0
    for group in cluster(shared, 0.5):
        last = keys[group[-1]]
        common = common_steps([keys[n] for n in group])
        if _is_enough(common, last):
            steps = [last[key].text for key in common]
            yield _problem([requests[n] for n in group], " ".join(common), steps)


def common_steps(sequences: Sequence[Mapping[str, CommandStep]]) -> list[str]:
    """Returns the keys that all have, in the order of the last one."""
    return [key for key in sequences[-1] if all(key in other for other in sequences)]


def _is_enough(common: Sequence[str], steps: Mapping[str, CommandStep]) -> bool:
    own = [key for key in common if not steps[key].is_everyday]
    return len(common) >= FEWEST_STEPS and len(own) >= FEWEST_OWN


def _by_manual(requests: Sequence[TaskRequest], alike: np.ndarray) -> Iterator[RecurringProblem]:
    """Yields the problems of requests for which the manual of one program was opened each time."""
    looked_up = [_looked_up(request) for request in requests]
    for program in sorted(set().union(*looked_up)):
        rows = [n for n, programs in enumerate(looked_up) if program in programs]
        for group in cluster(alike[np.ix_(rows, rows)], SAME_REQUEST):
            own = [requests[rows[n]] for n in group]
            if steps := [step.text for step in own[-1].steps if step.program == program]:
                yield _problem(own, f"manual of {program}", steps)


def _looked_up(request: TaskRequest) -> set[str]:
    """Returns the programs whose manual was opened for the request and that were run afterwards."""
    asked = set()
    steps = chain.from_iterable(parse_steps(call.command) for call in request.calls)
    for step in filter(lambda step: step.is_help, steps):
        named = [word for word in step.words[1:] if not word.startswith("-")]
        is_manual = step.words[0] in MANUALS and named
        asked.add(named[-1].split("-")[0] if is_manual else step.program)
    return asked & {step.program for step in request.steps if not step.is_everyday}


def _by_words(requests: Sequence[TaskRequest], alike: np.ndarray) -> Iterator[RecurringProblem]:
    """Yields the problems of requests in the same words: the request itself becomes the skill."""
    sizes = [len(stems_of(request.text)) for request in requests]
    long = [n for n, size in enumerate(sizes) if size >= FEWEST_WORDS]
    for group in cluster(alike[np.ix_(long, long)], SAME_WORDS) if long else ():
        own = [requests[long[n]] for n in group]
        keys = [request.steps_by_key for request in own]
        common = [keys[-1][key] for key in common_steps(keys)]
        steps = [step.text for step in common if not step.is_everyday]
        yield _problem(own, f"request {own[0].text}", steps)


def _problem(group: Sequence[TaskRequest], subject: str, steps: Sequence[str]) -> RecurringProblem:
    words = _common_words([request.text for request in group])
    name = "-".join(words[:3]) or re.sub(r"\W+", "-", subject)[:40].strip("-").lower()
    return RecurringProblem(
        kind="missing_skill",
        subject=subject,
        title=title_of(group[-1].text, steps),
        file=f".claude/skills/{name}/SKILL.md",
        section="",
        new=_render(name, group[-1].text, steps),
        occurrences=tuple(_occurrence(request) for request in group),
    )


def title_of(asked: str, steps: Sequence[str]) -> str:
    """Returns what to do in one line: the steps for the request, or the request to keep."""
    about = shortened(strip_opening(asked), TITLE_CHARS).rstrip(" .")
    if not steps:
        return f"Keep this request as a skill, instead of typing it each time: “{about}”"
    own = [step for step in steps if not any(one.is_everyday for one in parse_steps(step))] or steps
    commands = [step.partition("$(")[0].strip() for step in own[:MOST_STEPS]]
    shown = ", then ".join(f"`{shortened(command, STEP_CHARS)}`" for command in commands)
    more = ", …" if len(own) > MOST_STEPS else ""
    return f"When asked for something like “{about}”, run {shown}{more}"


def _render(name: str, asked: str, steps: Sequence[str]) -> str:
    """Returns the skill file: when to use it, and the steps that worked the last time."""
    about = asked if len(asked) <= 160 else asked[:160].rsplit(" ", 1)[0] + "…"
    description = f"Use when asked for something like: {about}".replace('"', "'")
    title = name.replace("-", " ").capitalize()
    body = f"What is asked for:\n\n> {asked}\n"
    if steps:
        numbered = "\n".join(f"{number}. `{step}`" for number, step in enumerate(steps, 1))
        worked = "These steps worked the last time; put the present names and values in:"
        body = f"{worked}\n\n{numbered}\n"
    return f'---\nname: {name}\ndescription: "{description}"\n---\n\n# {title}\n\n{body}'


def _common_words(texts: Sequence[str]) -> list[str]:
    """Returns the words that most of the requests share, as the last one writes them."""
    counts = Counter(stem for text in texts for stem in stems_of(text))
    wanted = {stem for stem, count in counts.items() if 2 * count > len(texts)}
    words = [word.lower() for word in _WORD.findall(texts[-1])]
    kept = [word for word in words if word not in _FILLING and stems_of(word) & wanted]
    return list(dict.fromkeys(kept))[:5]


def _occurrence(request: TaskRequest) -> Occurrence:
    turn, calls = request.turn, request.calls
    shown = (turn.message_id, *(id for call in calls[:10] for id in call.message_ids))
    return Occurrence(turn.session, shown, turn.at, calls[-1].at - turn.at)
