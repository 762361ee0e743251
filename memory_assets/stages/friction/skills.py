"""Work that is found out anew in each session: the same steps for the same request, the same manual read once more.

A request is a turn of a person with the commands that followed until their next turn. Requests of three sessions that are alike
and were met with the same steps are a procedure that nobody wrote down; so are requests before whose command the manual of the
same program was opened each time, and a longer request that is typed nearly word for word. What everybody does after every
change (looking, building, testing, committing) is no step.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memory_assets.schema.protocols import Embedder
from memory_assets.stages.distill.rules.exchanges import owner_sentences
from memory_assets.stages.friction.commands import Step, steps_of
from memory_assets.stages.friction.corrections import likeness
from memory_assets.stages.friction.finding import (
    Finding,
    Occurrence,
    minutes_between,
    most_common_session,
    sessions_in,
    skill_md,
)
from memory_assets.stages.friction.groups import cluster
from memory_assets.stages.friction.week import Call, Said, Week
from memory_assets.text.words import stems_of

FEWEST_SESSIONS, FEWEST_STEPS, FEWEST_OWN = 3, 3, 2
"""Sessions, steps in all, and steps that are not everyday ones."""

ALIKE = 0.3
"""Likeness of requests for the same thing; the steps that they share say the rest."""

SAME_REQUEST = 0.33
"""Mean likeness of the requests before which a manual was opened: it alone says less than shared steps."""

SAME_WORDS, FEWEST_WORDS = 0.7, 6
"""Likeness and content words of a request that is typed anew, or pasted, each time."""

_LINK = re.compile(r"https?://\S+")
_WORD = re.compile(r"[A-Za-z][a-z]{3,}")
_FILLING = frozenset(
    """please same like again time last this that then with from into what once more need needs want have make been
    before usual also
    good well fresh them they same each other always could would there where which when done only just some your
    again second first""".split()
)


@dataclass(frozen=True)
class Request:
    """What a person asked for, and the calls that followed."""

    turn: Said
    text: str
    calls: tuple[Call, ...]

    @property
    def steps(self) -> list[Step]:
        """What was done and worked, in order."""
        ran = (step for call in self.calls if not call.is_failed for step in steps_of(call.command))
        return [step for step in ran if not step.is_lookup]


def find_missing_skills(week: Week, embedder: Embedder) -> list[Finding]:
    """Returns the procedures that were found out in three sessions or more."""
    requests = [request for request in _requests(week) if request.calls and request.text]
    if len(requests) < FEWEST_SESSIONS:
        return []
    texts = [_LINK.sub("", request.text) for request in requests]
    alike = likeness(texts, embedder.encode(texts))
    by_steps = [_procedure(group) for group in _sharing_steps(requests, alike)]
    by_manual = [_manual(group, program) for program, group in _same_manual(requests, alike)]
    by_words = [_retyped(group) for group in _same_words(requests, alike)]
    found: list[Finding] = []
    for finding in (*by_steps, *by_manual, *by_words):
        told = {id for one in found for id in one.message_ids}
        if finding and not told & set(finding.message_ids):
            found.append(finding)
    return found


def _requests(week: Week) -> Iterator[Request]:
    calls = week.calls_by_session()
    for id, said in week.said_by_session().items():
        turns = [turn for turn in said if turn.is_owner]
        ends = [turn.place for turn in turns[1:]] + [10**9]
        for turn, end in zip(turns, ends, strict=True):
            own = tuple(call for call in calls.get(id, ()) if turn.place < call.place < end and call.command)
            yield Request(turn, " ".join(owner_sentences(turn.text))[:400], own)


def _sharing_steps(requests: Sequence[Request], alike: np.ndarray) -> Iterator[list[Request]]:
    """Yields the groups of requests that are alike and share enough steps."""
    keys = [_keys(request) for request in requests]
    shared = np.zeros_like(alike)
    for one in range(len(requests)):
        for other in range(one):
            if alike[one, other] >= ALIKE and _is_enough(common_steps([keys[one], keys[other]]), keys[one]):
                shared[one, other] = shared[other, one] = 1.0
    for group in cluster(shared, 0.5):
        yield [requests[n] for n in group]


def common_steps(sequences: Sequence[Mapping[str, Step]]) -> list[str]:
    """Returns the keys that all have, in the order of the last one."""
    return [key for key in sequences[-1] if all(key in other for other in sequences)]


def _keys(request: Request) -> dict[str, Step]:
    return {step.key: step for step in request.steps}


def _is_enough(common: Sequence[str], steps: Mapping[str, Step]) -> bool:
    own = [key for key in common if not steps[key].is_everyday]
    return len(common) >= FEWEST_STEPS and len(own) >= FEWEST_OWN


def _procedure(group: Sequence[Request]) -> Finding | None:
    """Returns the finding of requests that share steps, with these as the steps of the skill."""
    keys = [_keys(request) for request in group]
    common = common_steps(keys)
    if not _is_enough(common, keys[-1]):
        return None
    steps = [keys[-1][key].text for key in common]
    return _skill(group, " ".join(common), steps)


def _same_manual(requests: Sequence[Request], alike: np.ndarray) -> Iterator[tuple[str, list[Request]]]:
    looked_up = [_looked_up(request) for request in requests]
    for program in sorted({program for programs in looked_up for program in programs}):
        rows = [n for n, programs in enumerate(looked_up) if program in programs]
        for group in cluster(alike[np.ix_(rows, rows)], SAME_REQUEST):
            yield program, [requests[rows[n]] for n in group]


def _looked_up(request: Request) -> set[str]:
    """Returns the programs whose manual was opened for the request and that were run afterwards."""
    steps = [step for call in request.calls for step in steps_of(call.command)]
    asked = {_manual_of(step) for step in steps if step.is_lookup}
    return asked & {step.program for step in request.steps if not step.is_everyday}


def _manual_of(step: Step) -> str:
    named = [word for word in step.words[1:] if not word.startswith("-")]
    return named[-1].split("-")[0] if step.words[0] in ("man", "tldr", "apropos", "info") and named else step.program


def _manual(group: Sequence[Request], program: str) -> Finding | None:
    last = [step.text for step in group[-1].steps if step.program == program]
    return _skill(group, f"manual of {program}", last) if last else None


def _same_words(requests: Sequence[Request], alike: np.ndarray) -> Iterator[list[Request]]:
    long = [n for n, request in enumerate(requests) if len(stems_of(request.text)) >= FEWEST_WORDS]
    for group in cluster(alike[np.ix_(long, long)], SAME_WORDS) if long else ():
        yield [requests[long[n]] for n in group]


def _retyped(group: Sequence[Request]) -> Finding | None:
    """Returns the finding of requests in the same words: what was typed is the skill."""
    keys = [_keys(request) for request in group]
    steps = [keys[-1][key].text for key in common_steps(keys) if not keys[-1][key].is_everyday]
    return _skill(group, f"request {group[0].text}", steps)


def _skill(group: Sequence[Request], subject: str, steps: Sequence[str]) -> Finding | None:
    occurrences = tuple(_occurrence(request) for request in group)
    if sessions_in(occurrences) < FEWEST_SESSIONS:
        return None
    words = _common_words([request.text for request in group])
    name = "-".join(words[:3]) or re.sub(r"\W+", "-", subject)[:40].strip("-").lower()
    asked = group[-1].text
    return Finding(
        kind="missing_skill",
        subject=subject,
        title=f"The same steps are found out anew each time: {' '.join(words) or subject}",
        target=skill_md(most_common_session(occurrences), name),
        section="",
        new=_render(name, asked, steps),
        occurrences=occurrences,
    )


def _render(name: str, asked: str, steps: Sequence[str]) -> str:
    """Returns the skill as a file: when it is for, and the steps as they worked the last time."""
    about = asked if len(asked) <= 160 else asked[:160].rsplit(" ", 1)[0] + "…"
    head = f'---\nname: {name}\ndescription: "Use when asked for something like: {about.replace(chr(34), chr(39))}"\n---\n'
    title = name.replace("-", " ").capitalize()
    numbered = "\n".join(f"{number}. `{step}`" for number, step in enumerate(steps, 1))
    worked = f"These steps worked the last time; put the present names and values in:\n\n{numbered}\n" if steps else ""
    body = worked or f"What is asked for:\n\n> {asked}\n"
    return f"{head}\n# {title}\n\n{body}"


def _common_words(texts: Sequence[str]) -> list[str]:
    """Returns the words that most of the requests have, as the last one writes them."""
    counts = Counter(stem for text in texts for stem in stems_of(text))
    wanted = {stem for stem, count in counts.items() if 2 * count > len(texts)}
    words = [word.lower() for word in _WORD.findall(texts[-1])]
    kept = [word for word in words if word not in _FILLING and stems_of(word) & wanted]
    return list(dict.fromkeys(kept))[:5]


def _occurrence(request: Request) -> Occurrence:
    shown = (request.turn.message_id, *(id for call in request.calls[:10] for id in call.message_ids))
    return Occurrence(request.turn.session, shown, request.turn.at, minutes_between(request.turn.at, request.calls[-1].at))
