"""Resolves short replies that accept a proposal: "yes", "do 1", "ok, length only", "1. full 2. yes add -race".

Takes the owner's words and the assistant's messages before them; returns the accepted proposals. Approving a one-off task
(commit, push, investigate) is not a decision.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memory_assets.stages.distill.rules import cues
from memory_assets.stages.distill.rules.assistant_says import in_third_person, strip_address
from memory_assets.stages.distill.rules.exchanges import AssistantReply
from memory_assets.text.sentences import plain
from memory_assets.text.words import specifics_in, stems_of

SHORTEST_PROPOSAL = 20

ONE_OFF_CHARS = 60
"""An option that names a one-off task within these characters is one."""

KEYWORD_WORDS = 4
"""A reply with at most this many words may name an option instead of its number."""

MOST_SIBLINGS, NAME_CHARS = 3, 60
"""The options that were not chosen are added if they are few and have short names."""

NAMES_IT = 0.6
"""Share of the words of such a reply that the option must contain."""

_NUMBERED = re.compile(r"(?:^|\s)(\d{1,2})[.)]\s+(.+?)(?=\s\d{1,2}[.)]\s|$)", re.S)
_OFFER = re.compile(
    r"(?i)^(?:do you )?(?:want me to|should i|shall i|would you like me to|i(?:'d| would) (?:recommend|suggest|go with"
    r"|lean towards?|propose)|my (?:take|lean|pick|recommendation|suggestion)(?: is)?)\s*:?\s*"
)
_MARKS = re.compile(r"^[\s>*•#-]+")
_OPTION_LINE = re.compile(r"^(?:option|fix|approach|variant|choice)?\s*[(]?(?:\d{1,2}|[A-Ha-h])[.):](?=\s)[\s—–:-]*", re.I)
_ASKS = re.compile(r"(?<=[.!]) [^.?!]*\?$")
_NAMES_A = re.compile(r"\b(?:option|do|variant|with) a[.!?]?(?:$|\s(?!\w+\s*$))|\boption a\b", re.I)
_CAPITAL = re.compile(r"(?<![\w'./-])[B-H](?![\w'/-])")
_NAME_ENDS = re.compile(r"\s[—–-]\s|:\s|\.(?:\s|$)|\s\(")
_SIBLINGS = ("abcdefgh", "12345678")
_REPORTS = re.compile(r"\b(?:works?|worked|fixed|passes|passed|merged|done|looks? good)\b", re.I)


@dataclass(frozen=True, slots=True)
class AcceptedProposal:
    """A proposal that the owner accepted."""

    text: str
    """Shortened to the available room."""
    words: str
    """As it was proposed."""
    reply: AssistantReply


def find_proposals(said: str, before: Sequence[AssistantReply], room: int) -> list[AcceptedProposal]:
    """Returns the proposals that the owner accepted; `before` are the assistant's messages, latest first.

    These are the options that the turn picks by label, the one it names, or else the recommendation of the last message.
    """
    is_approval = bool(cues.APPROVAL.match(said))
    if not is_approval and not (_CAPITAL.search(said) or re.search(r"\boption [1-9a-h]\b", said, re.I)):
        named = _named_option(said, before[0]) if before else None
        return [AcceptedProposal(_fit(named, room), named, before[0])] if named else []
    labels = picked_labels(said)
    offers = [(label, next((reply for reply in before if option_text(label, reply)), None)) for label in labels]
    picked = [_chosen(label, labels, reply, room) for label, reply in offers if reply]
    if picked or not is_approval or not before or _REPORTS.search(said):
        return [proposal for proposal in picked if not cues.EMPTY_PROPOSAL.search(proposal.words[:ONE_OFF_CHARS])]
    recommended = _recommended(said, before[0], room)
    return [AcceptedProposal(recommended, recommended, before[0])] if recommended else []


def numbered_answers(said: str, before: AssistantReply) -> list[tuple[str, str]]:
    """Returns (question, answer) pairs if the owner answered a numbered list with a numbered list."""
    answers = _NUMBERED.findall(said)
    pairs = [(option_text(number, before), answer.strip()) for number, answer in answers]
    return [(question, answer) for question, answer in pairs if question] if len(answers) > 1 else []


def picked_labels(said: str) -> list[str]:
    """Returns the numbers and letters that the approval names; the article "a" is not a label."""
    labels = [label.lower() for label in cues.PICKS.findall(said)]
    is_named = said.strip().lower().rstrip(".") in ("a", "a and b") or bool(_NAMES_A.search(said))
    return [label for label in dict.fromkeys(labels) if label != "a" or is_named]


def option_text(label: str, before: AssistantReply) -> str | None:
    """Returns the option with that label in the assistant's message."""
    opening = re.compile(rf"^(?:option|fix|approach|variant|choice)?\s*[(]?{re.escape(label)}[.):]?(?=\s|$)[\s—–:-]*", re.I)
    for bare in _bare_lines(before):
        if match := opening.match(bare):
            content = _ASKS.sub("", plain(bare[match.end() :]))
            if len(content) >= SHORTEST_PROPOSAL:
                return content
    return None


def _bare_lines(reply: AssistantReply) -> list[str]:
    """Returns the lines of the message without the marks of lists, titles and bold type; numbers and letters stay."""
    return [_MARKS.sub("", line).replace("**", "").strip() for line in reply.message["text"].splitlines()]


def _chosen(label: str, picked: Sequence[str], before: AssistantReply, room: int) -> AcceptedProposal:
    """Returns the option with that label, with the names of the rejected options if they fit."""
    text = option_text(label, before) or ""
    others = [option_text(other, before) for other in _SIBLINGS[label.isdigit()] if other not in picked]
    names = [_NAME_ENDS.split(other, maxsplit=1)[0].strip().rstrip(".") for other in others if other]
    whole = f"{text}{'' if text.endswith(('.', '!')) else '.'} Not: {'; '.join(names)}."
    is_short = 0 < len(names) <= MOST_SIBLINGS and all(len(name) <= NAME_CHARS for name in names)
    return AcceptedProposal(whole if is_short and len(whole) <= room else _fit(text, room), text, before)


def _named_option(said: str, before: AssistantReply) -> str | None:
    """Returns the option that a keyword names, if the assistant had asked a question."""
    stems = stems_of(said)
    if not stems or len(said.split()) > KEYWORD_WORDS or "?" not in before.message["text"]:
        return None
    options = [plain(_OPTION_LINE.sub("", line)) for line in _bare_lines(before) if _OPTION_LINE.match(line)]
    fitting = [option for option in options if len(stems & stems_of(option)) / len(stems) >= NAMES_IT]
    return fitting[0] if len(fitting) == 1 and len(fitting[0]) >= SHORTEST_PROPOSAL else None


def _recommended(said: str, before: AssistantReply, room: int) -> str | None:
    """Returns the sentence that shares words with the approval, or that recommends or offers something."""
    stems = stems_of(cues.APPROVAL.sub("", said))
    best: tuple[float, str] | None = None
    for number, sentence in enumerate(before.sentences):
        text = in_third_person(_OFFER.sub("", strip_address(sentence.text))).rstrip("?").strip()
        is_one_off = cues.EMPTY_PROPOSAL.search(text) or cues.NARRATION.match(text)
        is_spoken = cues.SPEAKS.search(text) or sentence.place in ("quote", "table")
        if not SHORTEST_PROPOSAL < len(text) <= room or is_one_off or is_spoken:
            continue
        score = 0.9 * len(stems & stems_of(text)) / max(len(stems), 1) + 0.5 * bool(cues.PROPOSAL.search(sentence.text))
        score += 0.04 * min(specifics_in(text), 5) + 0.002 * number
        if score >= 0.55 and (best is None or score > best[0]):
            best = (score, text)
    return best[1][:1].upper() + best[1][1:] if best else None


def _fit(text: str, room: int) -> str:
    """Returns the text, cut at the end of a sentence if it is too long."""
    if len(text) <= room:
        return text
    cut = text[:room]
    return cut.rsplit(". ", 1)[0] + "." if ". " in cut else cut.rsplit(" ", 1)[0] + "…"
