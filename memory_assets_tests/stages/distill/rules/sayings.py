"""Made-up conversations of made-up projects, with what has to be kept of them in double brackets; every other sentence has to go.

`sayings/before` was written before the patterns of the rules observer, `sayings/after` to find their faults. A line begins with O
(owner) or A (assistant); lines indented by two spaces belong to the message above them. What has to be kept is marked where it is
said, so a cause is marked in the assistant's message. What a person should be offered has double braces.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from memory_assets.stages.distill.rules.exchanges import Row
from memory_assets.stages.distill.rules.rules import find_candidates
from memory_assets.text.sentences import plain
from memory_assets_tests.stages.distill.sessions import said

HERE = Path(__file__).parent / "sayings"
_MARKED = re.compile(r"\[\[(.+?)\]\]", re.DOTALL)
_OFFERED = re.compile(r"\{\{(.+?)\}\}", re.DOTALL)
_AUTHORS = {"O": "owner", "A": "assistant"}


@dataclass(frozen=True)
class Conversation:
    """One session, and what has to be kept of it."""

    name: str
    rows: tuple[Row, ...]
    wanted: tuple[str, ...]
    offered: tuple[str, ...] = ()


@dataclass(frozen=True)
class Score:
    """What was kept and wanted, kept and not wanted, wanted and not kept; each with the name of its session."""

    right: tuple[str, ...]
    wrong: tuple[str, ...]
    missed: tuple[str, ...]

    @property
    def precision(self) -> float:
        """Share of the kept facts that were wanted."""
        return len(self.right) / max(len(self.right) + len(self.wrong), 1)

    @property
    def recall(self) -> float:
        """Share of the wanted facts that were kept."""
        return len(self.right) / max(len(self.right) + len(self.missed), 1)


def conversations(part: str) -> list[Conversation]:
    """The conversations of `before` or `after`."""
    return [read_conversation(path) for path in sorted((HERE / part).glob("*.txt"))]


def read_conversation(path: Path) -> Conversation:
    """The conversation that the file holds."""
    turns: list[tuple[str, str]] = []
    for line in path.read_text("utf-8").splitlines():
        if line[:2] in ("O ", "A "):
            turns.append((_AUTHORS[line[0]], line[2:]))
        else:
            turns[-1] = (turns[-1][0], f"{turns[-1][1]}\n{line[2:]}")
    whole = "\n".join(turn for _, turn in turns)
    plain_turns = [
        (author, _OFFERED.sub(r"\1", _MARKED.sub(r"\1", text))) for author, text in turns
    ]
    return Conversation(
        path.stem,
        tuple(said(*plain_turns)),
        tuple(_MARKED.findall(whole)),
        tuple(_OFFERED.findall(whole)),
    )


def score(part: str) -> Score:
    """What the rules observer makes of all conversations of a part, each as one window."""
    right, wrong, missed = [], [], []
    for one in conversations(part):
        facts = find_candidates(one.rows, [list(range(len(one.rows)))])
        texts = [fact.text for fact in facts if not (fact.is_overturned or fact.doubt)]
        found = {text: [wanted for wanted in one.wanted if _says(text, wanted)] for text in texts}
        right += [f"{one.name}: {text}" for text in texts if found[text]]
        wrong += [f"{one.name}: {text}" for text in texts if not found[text]]
        doubtful = [fact.text for fact in facts if fact.doubt]
        missed += [
            f"{one.name}, to a person: {offered}"
            for offered in one.offered
            if not any(_says(text, offered) for text in doubtful)
        ]
        missed += [
            f"{one.name}: {wanted}"
            for wanted in one.wanted
            if not any(wanted in of for of in found.values())
        ]
    return Score(tuple(right), tuple(wrong), tuple(missed))


def is_wanted(text: str, wanted: Iterable[str]) -> bool:
    """Whether the fact is one of those that are wanted."""
    return any(_says(text, one) for one in wanted)


def _says(text: str, wanted: str) -> bool:
    """Whether the fact says what is wanted: one text contains the other, but for its opening and its end."""
    fact, told = (
        re.sub(
            r"^(?:the owner|i)(?: does not| don't|'d| would)? \w+ |[^\w ]", "", plain(one).lower()
        )
        for one in (text.partition(" (approved")[0], wanted)
    )
    return fact in told or told in fact
