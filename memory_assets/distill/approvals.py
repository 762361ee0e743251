"""Reads the tiny replies that decide: "yes", "do 1", "ok, length only", "1. full 2. yes add -race".

Takes what the owner said and the assistant's message before it; gives the proposal that was meant. An approval of an
errand (commit, push, look further) decides nothing.
"""

import re

from memory_assets.distill import cues
from memory_assets.distill.exchanges import Reply
from memory_assets.distill.passages import own_words
from memory_assets.distill.sentences import plain
from memory_assets.distill.words import specifics_in, stems_of

SHORTEST_PROPOSAL = 20

_NUMBERED = re.compile(r"(?:^|\s)(\d{1,2})[.)]\s+(.+?)(?=\s\d{1,2}[.)]\s|$)", re.S)
_OFFER = re.compile(
    r"^(?:do you )?(?:want me to|should i|shall i|would you like me to|i(?:'d| would) (?:recommend|suggest|go with"
    r"|lean towards?|propose))\s*:?\s*",
    re.I,
)


def find_proposal(said: str, before: Reply, room: int) -> str | None:
    """Returns what an approval approves: the option it picks, the sentence it shares words with, else what was recommended."""
    for label in picked_labels(said):
        option = option_text(label, before)
        if option and not cues.EMPTY_PROPOSAL.search(option[:60]):
            return _fit(option, room)
    return _recommended(said, before, room)


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
    alone = said.strip().lower().rstrip(".") in ("a", "option a", "do a", "a and b")
    return [label for label in labels if label != "a" or alone]


def option_text(label: str, before: Reply) -> str | None:
    """Returns the option of that label in the assistant's message."""
    opening = re.compile(rf"^(?:option|fix|approach|variant|choice)?\s*[(]?{re.escape(label)}[.):]?(?=\s|$)[\s—–:-]*", re.I)
    for line in before.message["text"].splitlines():
        bare = (
            plain(line.strip().lstrip("-*•# ").replace("**", ""))
            if not re.match(r"\s*[-*•#>\s]*\**\d", line)
            else line.strip().replace("**", "")
        )
        match = opening.match(bare.lstrip("-*•# "))
        if match:
            content = plain(bare.lstrip("-*•# ")[match.end() :])
            if len(content) >= SHORTEST_PROPOSAL:
                return content
    return None


def _recommended(said: str, before: Reply, room: int) -> str | None:
    """Returns the sentence that the approval shares words with, or that recommends or offers something."""
    stems = stems_of(cues.APPROVAL.sub("", said))
    best: tuple[float, str] | None = None
    for number, sentence in enumerate(before.sentences):
        text = _OFFER.sub("", own_words(sentence.text)).rstrip("?").strip()
        is_errand = cues.EMPTY_PROPOSAL.search(text) or cues.NARRATION.match(text)
        if not SHORTEST_PROPOSAL < len(text) <= room or is_errand or sentence.place in ("quote", "table"):
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
    return cut.rsplit(". ", 1)[0] if ". " in cut else cut.rsplit(" ", 1)[0] + "…"
