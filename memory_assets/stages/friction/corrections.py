"""Finds what a person has to repeat: the same correction in one session after another.

Every sentence that a person types after an agent has begun to work may correct it, unless it is a
question, a nod or a task. Sentences with the same meaning are grouped by their embeddings. A group
is reported if most of it corrects: it denies, forbids, sets a rule, or says that it was said
before.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, product

import numpy as np

from memory_assets.english.asking import is_question
from memory_assets.english.errands import is_errand
from memory_assets.english.numbers import names_another, numbered_things
from memory_assets.english.pointers import LOOSE_START
from memory_assets.english.reports import is_relayed
from memory_assets.english.standing import lasts, recurs
from memory_assets.english.word_forms import family_of
from memory_assets.schema.protocols import Embedder
from memory_assets.schema.records import MEMORY_MD
from memory_assets.stages.distill.authorship import typed_sentences
from memory_assets.stages.distill.rules.grammar import act_in
from memory_assets.stages.friction import finding
from memory_assets.stages.friction.groups import cluster, similarities
from memory_assets.stages.friction.week import Utterance, Week
from memory_assets.text.words import stems_of

SAME = 0.4
"""Mean likeness of sentences with the same meaning."""

SHARED_WEIGHT = 0.5
"""Weight of shared words beside the cosine: a small model finds all short instructions alike."""

FEWEST_SESSIONS, FEWEST_SAYINGS = 2, 3
"""Two sessions alone are chance, unless a line of MEMORY.md says it, or the person says that it was
said before.
"""

MOST_CHARS = 240
CORRECTING_SHARE, IN_MANY_SESSIONS = 0.5, 1 / 3
"""Of a group, the share that corrects or says how something should be; in three sessions a third is
enough.
"""

ALREADY_SAID = 0.6
"""Likeness to a line of MEMORY.md with the same meaning."""

_AGAIN = re.compile(
    r"(?i)\b(?:again|(?:you )?forgot|once more|how (?:often|many times)|still (?:not|doing|using)"
    r"|I (?:keep|kept) (?:saying|telling)|I(?:'ve| have)? (?:said|told|asked|mentioned)"
    r"|as (?:always|everywhere|before)|like every(?:thing|where) else)\b"
)
_IS_RULE = re.compile(
    r"(?i)\b(?:never|always|every(?:thing)?|must|ha(?:ve|s) to|not allowed|do(?:n'?t| not)"
    r"|only|stop|no|in this (?:project|code ?base|repo)"
    r"|(?:we|all|is|are|go(?:es)?|belongs?|lives?)\b.*\b(?:in|on|as))\b"
)
_OPENING = re.compile(
    r"(?i)^(?:(?:no|nope)[,.:!;]+\s*|(?:again|please|sorry|ok(?:ay)?|and|also|but|so|well|hmm|wait"
    r"|then|good|thanks|(?:one|two) things?|I(?:'ve| have)? told you(?: to)?"
    r"|I said(?: that| to)?(?! so\b)"
    r"|I(?:'d| would) (?:rather|prefer)(?: (?:have|that))?)\b[\s,:.!-]*)+"
)
_REQUESTS = re.compile(
    r"(?i)^(?:(?:can|could|would|will) (?:you|we) (?:(?:please|maybe|just|also) )*"
    r"(?=(?:stop|not|never|always|avoid|only|keep|leave|use|prefer)\b)"
    r"|(?:(?:did|have)n'?t (?:I|we)|(?:did|have) (?:I|we) not)(?: already| just)? "
    r"(?:sa(?:y|id)|t(?:ell|old) you|ask(?:ed)?(?: you)?|mention(?:ed)?|agreed?)"
    r"(?: (?:that|to|for|on))* )"
)
"""Words that make a question of a rule: "could you not …?", "didn't I say …?"."""

_COMPLAINS = re.compile(r"(?i)^why (?:are|do|did|have) you\b.*\b(?:again|still|instead)\b")
"""A question that says what went wrong."""
_DIRECTS = re.compile(
    r"(?i)\b(?:too|wrong|please|keep|use|prefer|avoid|instead|without|not|needs?|we)\b"
)
"""Says how it should be; what three sessions say so is a rule."""

_CONSENT = re.compile(
    r"(?i)\b(?:ask(?:ing)?|tell(?:ing)?|check(?:ing)? with|consult(?:ing)?|warn(?:ing)?) me\b"
    r"|\bmy (?:ok(?:ay)?|consent|approval|permission|yes|go-ahead)\b"
    r"|\b(?:before|unless|until) I(?:'ve| have)? (?:see|seen|approved?|agreed?|say|said|read"
    r"|asked?|tell|told)\b"
    r"|^I (?:(?:do(?:n'?t| not)|never) (?:want|like|need)|prefer|hate)\b"
)
"""The person is named as the one who decides or dislikes, in general."""

_JUDGES = re.compile(
    r"(?i)^th(?:is|at|ese|ose) (?!(?:is|are|was|one)\b)[a-z]+(?: [a-z]+)? "
    r"(?:is|are|has|needs?|goes|lacks?|(?:is|are|does|do|has)n'?t)\b"
)
"""Names what is wrong: "this pull request is too big"."""

_PIECES = re.compile(r"[;:,]\s+|\s+[-–—]\s+")
_OF_THE_MOMENT = re.compile(
    r"(?i)^(?:\d+|[a-h])[.)]\s|\b(?:I|I'(?:m|d|ll|ve)|my|me|let's|lets|maybe|would|could|now"
    r"|currently|yet|here it is)\b|[:,]$"
)
"""Is about the person or the moment, so it is no rule."""

_ERRAND = re.compile(r"(?i)^(?:add|draft|give|include|make|write) (?:me |us )?(?:an?|another)\b")
"""Asks for a single thing, each time for another one."""

_IS_ABOUT = re.compile(
    r"(?i)^\w+ (?!(?:the|an?|this|that|these|those|it|if|whether|my|your|our|all|any|every|each)\b)"
    r"\w+(?: \w+)? (?:is|are|must|should|may|ha(?:ve|s)|goe?s?|never|always"
    r"|(?:belong|need|stay|live|begin|start|end)s?)\b"
)
"""Its first word is part of its subject: "commit messages are …", "test names must …"."""

_ASIDE = re.compile(r"(?i)(?<! unless)(?<! until)(?<! if),? (?:as I said|I said so|again|please)\b")


@dataclass(frozen=True)
class Instruction:
    """One sentence that tells an agent how to work."""

    turn: Utterance
    previous: Utterance
    """The person's turn before it: the agent has worked since then."""
    words: str
    is_correcting: bool
    is_again: bool
    """It says that it was said before."""

    @property
    def occurrence(self) -> finding.Occurrence:
        """The turn, and the work before it."""
        turn = self.turn
        return finding.Occurrence(
            turn.session, (turn.message_id,), turn.at, turn.at - self.previous.at
        )


def find_corrections(
    week: Week,
    embedder: Embedder,
    entries: Sequence[str],
    *,
    owner: str,
    prohibited: Collection[str],
) -> list[finding.RecurringProblem]:
    """Returns what the owner had to repeat in two sessions or more.

    `entries` are the lines of MEMORY.md; `prohibited` names programs whose misuse is already
    reported.
    """
    all_turns = week.utterances_by_session().values()
    of_owner = (turns for turns in all_turns if turns[0].session.person == owner)
    sessions = [[turn for turn in turns if turn.is_owner] for turns in of_owner]
    instructions = chain.from_iterable(map(_instructions, sessions))
    rules = [rule for rule in instructions if not _names(rule.words, prohibited)]
    groups = _groups(rules, embedder)
    return list(filter(None, (_correction(group, embedder, entries) for group in groups)))


def _groups(instructions: Sequence[Instruction], embedder: Embedder) -> list[list[Instruction]]:
    """Returns the instructions in groups with the same meaning, which name the same numbers."""
    if not instructions:
        return []
    texts = [instruction.words for instruction in instructions]
    alike = likeness(texts, embedder.encode(texts))
    things = list(map(numbered_things, texts))
    numbered = [n for n, thing in enumerate(things) if thing]
    for first, second in product(numbered, repeat=2):
        if names_another(things[first], things[second]):
            alike[first, second] = 0.0
    return [[instructions[n] for n in group] for group in cluster(alike, SAME)]


def likeness(texts: Sequence[str], vectors: np.ndarray) -> np.ndarray:
    """Returns how alike all pairs of sentences are: the mean of the cosine, and of the share of the
    shorter one's content words that the other has.
    """
    stems = [stems_of(text.replace("-", " ")) for text in texts]
    families = [frozenset(map(family_of, words)) for words in stems]
    shares = [[len(a & b) / max(min(len(a), len(b)), 1) for b in families] for a in families]
    return (1 - SHARED_WEIGHT) * similarities(vectors) + SHARED_WEIGHT * np.array(shares)


def _instructions(turns: Sequence[Utterance]) -> Iterator[Instruction]:
    for previous, turn in pairwise(turns):
        is_again = bool(_AGAIN.search(turn.text))
        for sentence in typed_sentences(turn.text):
            whole = _rule_in(sentence)
            # In "this one waits; tests must not sleep" the second part is a rule.
            pieces = [] if whole or sentence.endswith("?") else _PIECES.split(sentence)
            for words in filter(None, [whole, *map(_rule_in, pieces)]):
                if not _ERRAND.match(words):
                    is_correcting = _is_correcting(sentence if whole else words)
                    yield Instruction(turn, previous, words, is_correcting, is_again)


def _rule_in(sentence: str) -> str:
    """Returns the instruction of the sentence without its opening; empty for a question, a nod or a
    task.
    """
    stated = _stated(sentence)
    words = _OPENING.sub("", stated).strip()
    is_short = len(stems_of(words)) < (1 if _AGAIN.search(sentence) else 2)
    if is_short or len(words) > MOST_CHARS or (is_question(stated) and not _COMPLAINS.match(words)):
        return ""
    is_no_task = _CONSENT.match(words) or _IS_ABOUT.match(words) or lasts(words) or recurs(words)
    is_task = is_errand(words) and not is_no_task
    if is_task or is_relayed(words) or (LOOSE_START.match(words) and not _JUDGES.match(words)):
        return ""
    if _OF_THE_MOMENT.search(_CONSENT.sub("", _ASIDE.sub("", words))):
        return ""
    return words[:1].upper() + words[1:]


def _stated(sentence: str) -> str:
    """Returns the sentence, or the rule that it asks for as a question."""
    rule, changes = _REQUESTS.subn("", _OPENING.sub("", sentence))
    if not changes:
        return sentence
    return re.sub(r"(?i)^not (?!to )", "Don't ", rule.rstrip("? ")) + "."


def _is_correcting(sentence: str) -> bool:
    act = act_in(sentence)
    is_act = act is not None and act.kind in ("rule", "correction", "preference")
    return is_act or bool(_AGAIN.search(sentence) or _IS_RULE.search(sentence))


def _names(words: str, programs: Collection[str]) -> bool:
    return not {word.strip(".,:;!?`'\"").lower() for word in words.split()}.isdisjoint(programs)


def _correction(
    group: Sequence[Instruction], embedder: Embedder, entries: Sequence[str]
) -> finding.RecurringProblem | None:
    sessions = len({instruction.turn.session.id for instruction in group})
    is_often = sessions >= FEWEST_SAYINGS
    correcting = [
        each for each in group if each.is_correcting or (is_often and _DIRECTS.search(each.words))
    ]
    share = IN_MANY_SESSIONS if is_often else CORRECTING_SHARE
    stating = [each for each in correcting if not _COMPLAINS.match(each.words)]
    if sessions < FEWEST_SESSIONS or len(correcting) < share * len(group) or not stating:
        return None
    rule = _plainest(stating)
    is_known = _is_known(rule, embedder, entries)
    is_again = any(instruction.is_again for instruction in group)
    is_rule = is_often or _IS_RULE.search(rule)
    if sessions + is_known + is_again < FEWEST_SAYINGS or not is_rule:
        return None
    though = ", though MEMORY.md holds it" if is_known else ""
    return finding.RecurringProblem(
        kind="repeated_correction",
        subject=rule,
        title=f"The same has to be said in session after session{though}",
        file=finding.AGENTS_MD if is_known else MEMORY_MD,
        section=finding.RULES_SECTION,
        new=rule,
        occurrences=tuple(instruction.occurrence for instruction in group),
    )


def _plainest(group: Sequence[Instruction]) -> str:
    """Returns the wording that states the rule most plainly; of equal ones the latest."""
    wordings = [_ASIDE.sub("", instruction.words).rstrip(" .!,;") + "." for instruction in group]
    return max(reversed(wordings), key=_plainness)


def _plainness(words: str) -> float:
    return 2 * bool(_IS_RULE.search(words)) + min(len(stems_of(words)), 8) / 8


def _is_known(rule: str, embedder: Embedder, entries: Sequence[str]) -> bool:
    if not entries:
        return False
    texts = [rule, *entries]
    return bool(likeness(texts, embedder.encode(texts))[0, 1:].max() >= ALREADY_SAID)
