"""Programs that a standing rule rules out and that agents run all the same.

Takes the week and the rules that stand: dated lines of MEMORY.md, and what people said in the week's sessions. A rule names
what is given up ("use uv, never pip"); a call that runs it counts where the rule was known before, or where the person's next
turn corrected it.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from memory_assets.stages.distill.rules.exchanges import owner_sentences
from memory_assets.stages.embed.changes import read_changes
from memory_assets.stages.friction.commands import Step, steps_of
from memory_assets.stages.friction.finding import (
    RULES_SECTION,
    Finding,
    Occurrence,
    agents_md,
    minutes_between,
    most_common_session,
    sessions_in,
)
from memory_assets.stages.friction.week import Call, Said, Week

FEWEST_SESSIONS = 2
"""The rule was said before: the second session that breaks it shows that saying it is not enough."""

_FORBIDS = re.compile(
    r"\b(?:never|not|no|(?:don'?t|do not|must not|stop) (?:ever )?(?:use|using|run|running|call|calling)|instead of"
    r"|rather than|avoid)\s+"
    r"(?:use\s+|using\s+|run(?:ning)?\s+|with\s+|plain\s+|the\s+)?"
    r"(?:`([A-Za-z][\w.+-]*\w(?: [^`]+)?)`|['\"]?([A-Za-z][\w.+-]*\w(?:(?: [a-z]+)? --?[\w-]+)?))",
    re.I,
)
_EVERYDAY_WORDS = re.compile(
    r"(?:true|false|test|set|wait|read|time|find|type|which|cut|less|more|do|done|file|date|touch|kill|go|make|just"
    r"|task|man|info|watch"
    r"|open|code|at|host|fly|now|sort|split|join|head|tail|cat|echo|source|export|history|exec|command|node|as|in|up"
    r"|top|who|last|look"
    r"|install|script|env|if|for|then|while|till|write|mesg|link|dig|nice|yes|clear|reset|sleep|patch|tree|black)$"
)
"""Names of programs that are words, too: "not true" forbids no program."""

_TAKES = re.compile(
    r"\b(?:use|using|with|on|via|through)\s+(?:the\s+)?(?!(?:your|my|our|their|his|her|its|any|every|all|this|that|these|those|an?)\b)"
    r"[`'\"]?([A-Za-z][\w.+-]*\w)",
    re.I,
)


@dataclass(frozen=True)
class Rule:
    """What somebody said is not to be run, and what is to be run instead (empty where nobody said)."""

    gone: str
    """A program, or one with the words that make it forbidden: `git push --force`."""
    came: str
    said_at: datetime
    project: str | None
    """Where it holds; None: everywhere."""

    def forbids(self, step: Step) -> bool:
        """Returns whether it rules the command out."""
        program, *words = self.gone.split()
        return step.program == program and set(words) <= set(step.words)


def find_misuse(week: Week, entries: Iterable[tuple[str, datetime]]) -> list[Finding]:
    """Returns the programs that were run against a rule in two sessions or more; `entries` are dated lines."""
    projects = {session.project for session in week.sessions.values() if session.project}
    rules = [*_rules_of_entries(entries, projects), *_rules_of_turns(week)]
    said = week.said_by_session()
    by_program: dict[str, list[tuple[Call, Rule]]] = defaultdict(list)
    for call in week.calls:
        steps = steps_of(call.command) if call.command else ()
        here = (rule for rule in rules if rule.project in (None, call.session.project))
        broken = [rule for rule in here if any(map(rule.forbids, steps))]
        if rule := next((one for one in broken if one.said_at <= call.at or _is_corrected(call, one, said)), None):
            by_program[rule.gone].append((call, rule))
    return [found for gone, broken in sorted(by_program.items()) if (found := _finding(gone, broken, said))]


def forbidden_in(text: str) -> set[str]:
    """Returns the programs and commands that the text says are not to be used, in lower case."""
    found = {(marked or plain).lower() for marked, plain in _FORBIDS.findall(text)}
    found |= {change.gone for change in read_changes(text)}
    narrower = {command.split()[0] for command in found if " " in command}
    named = {command for command in found if not _EVERYDAY_WORDS.match(command) or f"`{command}`" in text.lower()}
    return named - narrower


def _rules_of_entries(entries: Iterable[tuple[str, datetime]], projects: Iterable[str]) -> Iterator[Rule]:
    for text, said_at in entries:
        named = [project for project in projects if re.search(rf"\b{re.escape(project)}\b", text, re.I)]
        yield from _rules(text, said_at, named[0] if named else None)


def _rules_of_turns(week: Week) -> Iterator[Rule]:
    for turn in week.said:
        if turn.is_owner:
            for sentence in owner_sentences(turn.text):
                if not sentence.endswith("?"):
                    yield from _rules(sentence, turn.at, turn.session.project)


def _rules(text: str, said_at: datetime, project: str | None) -> Iterator[Rule]:
    changes = {change.gone: change.came for change in read_changes(text)}
    for gone in forbidden_in(text):
        taken = [word.lower() for word in _TAKES.findall(text) if word.lower() != gone]
        yield Rule(gone, changes.get(gone) or (taken[0] if taken else ""), said_at, project)


def _is_corrected(call: Call, rule: Rule, said: dict[str, list[Said]]) -> bool:
    turn = _next_turn(call, said)
    named = {word for word in (rule.gone, rule.came) if word}
    return turn is not None and any(re.search(rf"\b{re.escape(word)}\b", turn.text, re.I) for word in named)


def _next_turn(call: Call, said: dict[str, list[Said]]) -> Said | None:
    return next((one for one in said.get(call.session.id, ()) if one.is_owner and one.place > call.place), None)


def _finding(gone: str, broken: Sequence[tuple[Call, Rule]], said: dict[str, list[Said]]) -> Finding | None:
    occurrences = tuple(_occurrence(call, rule, said) for call, rule in broken)
    if sessions_in(occurrences) < FEWEST_SESSIONS:
        return None
    came = next((rule.came for _, rule in reversed(broken) if rule.came), "")
    return Finding(
        kind="tool_misuse",
        subject=f"run {gone}",
        title=f"`{gone}` is run although a rule says not to",
        target=agents_md(most_common_session(occurrences)),
        section=RULES_SECTION,
        new=f"Use `{came}`, never `{gone}`." if came else f"Never run `{gone}`.",
        occurrences=occurrences,
    )


def _occurrence(call: Call, rule: Rule, said: dict[str, list[Said]]) -> Occurrence:
    turn = _next_turn(call, said) if _is_corrected(call, rule, said) else None
    shown = (*call.message_ids, *((turn.message_id,) if turn else ()))
    return Occurrence(call.session, shown, call.at, minutes_between(call.at, turn.at if turn else call.at))
