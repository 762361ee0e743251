"""How many of the names in labelled facts and narratives are found, and how often prose is taken for a name.

`names.json` has the names by session and place: paths, commands, flags, tasks, versions and environment variables under
`wanted`; symbols, branches, commits, pull requests and settings, which are names too, under `others`. The sentences stay where
they are. A third of the sessions, by the hash of their id, was put away while the rules were written. It was read once, at
.83 found and .02 taken wrongly; what it showed was mended, and so are narratives: .89 and 0 when they were read first.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from memory_assets.stages.verify.named import Named
from memory_assets.stages.verify.names_of_sentence import read_names
from memory_assets_tests.bench.row import Row
from memory_assets_tests.bench.transcripts import LABELS

NAMES = Path(__file__).with_suffix(".json")
TASKS = ("mise task", "make target", "package script", "just recipe")
Part = Callable[[str, str], bool]
PARTS: dict[str, Part] = {
    "facts": lambda session, kind: kind == "facts" and not _is_away(session),
    "put away": lambda session, kind: kind == "facts" and _is_away(session),
    "narratives": lambda _, kind: kind == "segments",
}


@dataclass(frozen=True)
class Judged:
    """The names of one sentence: those that are found of the wanted ones, and those that are no names."""

    wanted: int
    found: int
    all: int
    wrong: tuple[Named, ...]


def names(small: bool = False) -> list[Row]:
    """Returns for each part how many wanted names are found, and which share of the names is prose."""
    if not LABELS.is_dir():
        print(f"names: no labelled sessions; {LABELS} does not exist on this machine")
        return []
    labels = json.loads(NAMES.read_bytes())
    rows: list[Row] = []
    for part, is_of_part in list(PARTS.items())[: 1 if small else None]:
        judged = list(_judge(labels, is_of_part))
        wanted, found = sum(each.wanted for each in judged), sum(each.found for each in judged)
        count, wrong = (
            sum(each.all for each in judged),
            [name for each in judged for name in each.wrong],
        )
        texts = ", ".join(f"{name.kind} {name.text}" for name in wrong)
        rows += [
            Row(f"names: {part}, found as such", found / wanted, f"{found} of {wanted}", floor=0.9),
            Row(f"names: {part}, prose taken for a name", len(wrong) / count, f"{len(wrong)} of {count} {texts}", limit=0.05),
        ]  # fmt: skip
    return rows


def _judge(labels: Mapping[str, Mapping[str, Mapping[str, list[str]]]], is_of_part: Part) -> Iterator[Judged]:  # fmt: skip
    for file in sorted(LABELS.glob("*.json")):
        session = json.loads(file.read_bytes())
        for kind, text_name in (("facts", "text"), ("segments", "narrative")):
            if is_of_part(file.stem, kind):
                for number, item in enumerate(session[kind]):
                    label = labels.get(file.stem, {}).get(f"{kind} {number}", {})
                    yield _judged(item[text_name], label)


def _judged(sentence: str, label: Mapping[str, list[str]]) -> Judged:
    found = [named for _, named in read_names(sentence)]
    wanted, others = label.get("wanted", []), label.get("others", [])
    is_found = [any(_is(named, name) for named in found) for name in wanted]
    wrong = (named for named in found if not any(_is(named, name) for name in (*wanted, *others)))
    return Judged(len(wanted), sum(is_found), len(found), tuple(wrong))


def _is(named: Named, label: str) -> bool:
    """Returns whether the name is what the label says: its kind and text, and its version behind "="."""
    kind, _, text = label.partition(" ")
    text, _, version = text.partition("=")
    if named.kind == "flag":
        return (kind, named.text.split()[-1]) == ("flag", text)
    if named.kind == "command":
        return kind == "command" and f"{named.text} ".startswith(f"{text} ")
    is_version = not version or named.value.lstrip("v") == version.lstrip("v")
    is_kind = kind == ("task" if named.kind in TASKS else named.kind.split()[0])
    return is_kind and is_version and _plain(named.text) == _plain(text)


def _plain(text: str) -> str:
    return text.removeprefix("./").rstrip("/").lower()


def _is_away(session: str) -> bool:
    return int(sha256(session.encode()).hexdigest(), 16) % 3 == 0
