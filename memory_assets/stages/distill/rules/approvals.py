"""Reads the tiny replies that decide: "yes", "do 1", "ok, length only", "1. full 2. yes add -race".

Takes what the owner said and the assistant's last messages before it; gives the proposals that were meant. An approval
of an errand (commit, push, look further) decides nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memory_assets.stages.distill.rules import cues
from memory_assets.stages.distill.rules.exchanges import Reply
from memory_assets.stages.distill.rules.passages import own_words, told
from memory_assets.text.sentences import plain
from memory_assets.text.words import specifics_in, stems_of

SHORTEST_PROPOSAL = 20

ERRAND_CHARS = 60
"""An option that begins with an errand is one."""

KEYWORD_WORDS = 4
"""An answer of so few words may name an option instead of picking its number."""

MOST_SIBLINGS, NAME_CHARS = 3, 60
"""A choice between a few things with names says more with what was not chosen."""

NAMES_IT = 0.6
"""Share of such an answer's words that the option must have."""

_NUMBERED = re.compile(r"(?:^|\s)(\d{1,2})[.)]\s+(.+?)(?=\s\d{1,2}[.)]\s|$)", re.S)
_OFFER = re.compile(
    r"^(?:do you )?(?:want me to|should i|shall i|would you like me to|i(?:'d| would) (?:recommend|suggest|go with"
    r"|lean towards?|propose)|my (?:take|lean|pick|recommendation|suggestion)(?: is)?)\s*:?\s*",
    re.I,
)
_MARKS = re.compile(r"^[\s>*•#-]+")
_OPTION_LINE = re.compile(r"^(?:option|fix|approach|variant|choice)?\s*[(]?(?:\d{1,2}|[A-Ha-h])[.):](?=\s)[\s—–:-]*", re.I)
_ASKS = re.compile(r"(?<=[.!]) [^.?!]*\?$")
_NAMES_A = re.compile(r"\b(?:option|do|variant|with) a[.!?]?(?:$|\s(?!\w+\s*$))|\boption a\b", re.I)
_CAPITAL = re.compile(r"(?<![\w'./-])[B-H](?![\w'/-])")
_NAME_ENDS = re.compile(r"\s[—–-]\s|:\s|\.(?:\s|$)|\s\(")
_SIBLINGS = ("abcdefgh", "12345678")
_TOLD = re.compile(r"\b(?:works?|worked|fixed|passes|passed|merged|done|looks? good)\b", re.I)


@dataclass(frozen=True, slots=True)
class Proposal:
    """What the owner went along with: told in the room there is, in the words it was proposed with, and where."""

    text: str
    words: str
    reply: Reply


def find_proposals(said: str, before: Sequence[Reply], room: int) -> list[Proposal]:
    """Returns what the owner went along with; `before` are the assistant's messages, latest first.

    That is the options a turn picks, the one it names, else what the last message recommended.
    """
    is_approval = bool(cues.APPROVAL.match(said))
    if not is_approval and not _names_label(said):
        named = _named_option(said, before[0]) if before else None
        return [Proposal(_fit(named, room), named, before[0])] if named else []
    labels = picked_labels(said)
    offered = [(label, reply) for label in labels if (reply := _offering(label, before))]
    picked = [_chosen(label, labels, reply, room) for label, reply in offered]
    if picked or not is_approval or not before or _TOLD.search(said):
        return [proposal for proposal in picked if not cues.EMPTY_PROPOSAL.search(proposal.words[:ERRAND_CHARS])]
    recommended = _recommended(said, before[0], room)
    return [Proposal(recommended, recommended, before[0])] if recommended else []


def numbered_answers(said: str, before: Reply) -> list[tuple[str, str]]:
    """Returns (question, answer) where the owner answered a numbered list with a numbered list."""
    answers = _NUMBERED.findall(said)
    if len(answers) < 2:
        return []
    pairs = [(option_text(number, before), answer.strip()) for number, answer in answers]
    return [(question, answer) for question, answer in pairs if question]


def picked_labels(said: str) -> list[str]:
    """Returns the numbers and letters that the approval names; a lone article is none."""
    labels = [label.lower() for label in cues.PICKS.findall(said)]
    is_named = said.strip().lower().rstrip(".") in ("a", "a and b") or bool(_NAMES_A.search(said))
    return [label for label in dict.fromkeys(labels) if label != "a" or is_named]


def option_text(label: str, before: Reply) -> str | None:
    """Returns the option of that label in the assistant's message."""
    opening = re.compile(rf"^(?:option|fix|approach|variant|choice)?\s*[(]?{re.escape(label)}[.):]?(?=\s|$)[\s—–:-]*", re.I)
    for line in before.message["text"].splitlines():
        bare = _bare(line)
        if match := opening.match(bare):
            content = _ASKS.sub("", plain(bare[match.end() :]))
            if len(content) >= SHORTEST_PROPOSAL:
                return content
    return None


def _bare(line: str) -> str:
    """Returns the line without the marks of lists, titles and bold type; its number or letter stays."""
    return _MARKS.sub("", line).replace("**", "").strip()


def _names_label(said: str) -> bool:
    """Says whether the turn picks a lettered option in so many words ("can we have C in the same repo?")."""
    return bool(_CAPITAL.search(said)) or bool(re.search(r"\boption [1-9a-h]\b", said, re.I))


def _offering(label: str, before: Sequence[Reply]) -> Reply | None:
    """Returns the latest message that has an option of that label."""
    return next((reply for reply in before if option_text(label, reply)), None)


def _chosen(label: str, picked: Sequence[str], before: Reply, room: int) -> Proposal:
    """Returns the option of that label, and the names of those that were not picked where they fit."""
    text = option_text(label, before) or ""
    others = [option_text(other, before) for other in _SIBLINGS[label.isdigit()] if other not in picked]
    names = [_name(other) for other in others if other]
    passed_over = f"{'' if text.endswith(('.', '!')) else '.'} Not: {'; '.join(names)}."
    is_short = 0 < len(names) <= MOST_SIBLINGS and all(len(name) <= NAME_CHARS for name in names)
    whole = text + passed_over
    return Proposal(whole if is_short and len(whole) <= room else _fit(text, room), text, before)


def _name(option: str) -> str:
    """Returns what an option is called: its words before the first dash, colon or dot."""
    return _NAME_ENDS.split(option, maxsplit=1)[0].strip().rstrip(".")


def _named_option(said: str, before: Reply) -> str | None:
    """Returns the option that a bare keyword names, where the assistant had asked."""
    stems = stems_of(said)
    if not stems or len(said.split()) > KEYWORD_WORDS or "?" not in before.message["text"]:
        return None
    lines = [_bare(line) for line in before.message["text"].splitlines()]
    options = [plain(_OPTION_LINE.sub("", line)) for line in lines if _OPTION_LINE.match(line)]
    fitting = [option for option in options if len(stems & stems_of(option)) / len(stems) >= NAMES_IT]
    return fitting[0] if len(fitting) == 1 and len(fitting[0]) >= SHORTEST_PROPOSAL else None


def _recommended(said: str, before: Reply, room: int) -> str | None:
    """Returns the sentence that the approval shares words with, or that recommends or offers something."""
    stems = stems_of(cues.APPROVAL.sub("", said))
    best: tuple[float, str] | None = None
    for number, sentence in enumerate(before.sentences):
        text = told(_OFFER.sub("", own_words(sentence.text))).rstrip("?").strip()
        is_errand = cues.EMPTY_PROPOSAL.search(text) or cues.NARRATION.match(text)
        is_spoken = cues.SPEAKS.search(text) or sentence.place in ("quote", "table")
        if not SHORTEST_PROPOSAL < len(text) <= room or is_errand or is_spoken:
            continue
        score = 0.9 * len(stems & stems_of(text)) / max(len(stems), 1) + 0.5 * bool(cues.PROPOSAL.search(sentence.text))
        score += 0.04 * min(specifics_in(text), 5) + 0.002 * number
        if score >= 0.55 and (best is None or score > best[0]):
            best = (score, text)
    return best[1][:1].upper() + best[1][1:] if best else None


def _fit(text: str, room: int) -> str:
    """Returns the text cut at a sentence's end where it does not fit."""
    if len(text) <= room:
        return text
    cut = text[:room]
    return cut.rsplit(". ", 1)[0] + "." if ". " in cut else cut.rsplit(" ", 1)[0] + "…"
