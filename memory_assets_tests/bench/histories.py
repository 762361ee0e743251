"""Whether the state of what a memory names is right, in histories in which it is known.

`planted_histories` has two repositories and memories about earlier commits, a third of them put away, and a third repository by
another writer, which was judged once when it was there. Names are looked up as they were planted, and as they are found in the
sentence. Of what a sentence names only its marks count (moved, changed, gone): whether something holds or is unknown is not
shown to anybody.
"""

import json
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from memory_assets.adapters.git_reading import reading
from memory_assets.stages.verify.lookups import Lookups
from memory_assets.stages.verify.named import Named
from memory_assets.stages.verify.names_of_sentence import names_in_sentence
from memory_assets.stages.verify.verdict import Verdict
from memory_assets_tests.bench.releases import releases
from memory_assets_tests.bench.row import Row, seconds_of

FOLDER = Path(__file__).parent / "planted_histories"
MARKS = ("moved", "changed", "gone")


@dataclass
class Answers:
    """How many names have the right state, as planted and as a mark of their sentence."""

    names: int = 0
    right: int = 0
    right_marks: int = 0
    wrong_marks: int = 0
    """Marks of names that hold or whose state is unknown, and of names that were not planted."""
    seconds: float = 0


def histories(small: bool = False) -> list[Row]:
    """Returns the shares of right states and marks, wrong marks and seconds of a repository."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="bench-histories-") as root:
        names = ("shop", "radar", "tram")[: 1 if small else None]
        folders = [_cloned(name, Path(root)) for name in names]
        for part in ("memories", "put_away", "another_writer")[: 2 if small else None]:
            answers = Answers()
            for folder in folders:
                seconds = seconds_of(partial(_ask, folder, part, answers))
                answers.seconds = max(answers.seconds, seconds)
            of_all = f"of {answers.names} names"
            rows += [
                Row(f"histories: states right, {part}", answers.right / answers.names, f"{answers.right} {of_all}", floor=0.95),
                Row(f"histories: marks of sentences right, {part}", answers.right_marks / answers.names, f"{answers.right_marks} {of_all}"),
                Row(f"histories: marks of what holds, {part}", answers.wrong_marks, of_all, limit=0),
                Row(f"histories: seconds of a repository, {part}", answers.seconds, "the slower one", limit=2),
            ]  # fmt: skip
    return rows + releases(small)


def _cloned(name: str, root: Path) -> Path:
    """Returns the repository of the bundle, with all its branches and the files that are not tracked."""
    folder = root / name
    subprocess.run(
        ["git", "clone", "-q", "-b", "main", FOLDER / f"{name}.bundle", folder], check=True
    )
    for path, text in _repository(name)["untracked"].items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def _repository(name: str) -> dict[str, Any]:
    return json.loads((FOLDER / "repositories.json").read_text())[name]


def _ask(folder: Path, part: str, answers: Answers) -> None:
    with reading(folder) as history:
        assert history is not None
        lookups = Lookups(history.root, history)
        for memory in _memories(folder.name, part):
            day = date.fromisoformat(memory["written_on"])
            marks = {
                named.text: verdict.state
                for named in names_in_sentence(memory["text"])
                if (verdict := lookups.verdict(named, folder, day)).state in MARKS
            }
            for name in memory["names"]:
                named = Named(name["kind"], name["name"], value=name.get("value", ""))
                _count(answers, name, lookups.verdict(named, folder, day), marks)
            answers.wrong_marks += len(marks)


def _count(answers: Answers, name: dict[str, Any], verdict: Verdict, marks: dict[str, str]) -> None:
    """Counts the answers for a planted name, and takes its mark out of the marks."""
    states = {name["state"], *name.get("also_ok", ())}
    is_moved_there = verdict.moved_to.strip("/") == name.get("moved_to", "").strip("/")
    planted = name["name"].strip("/").replace("ADR ", "ADR-")
    texts = [text for text in marks if planted in text or text.strip("/") in planted]
    mark = marks.pop(texts[0], "") if texts and states & {*MARKS} else ""
    answers.names += 1
    answers.right += verdict.state in states and is_moved_there
    answers.right_marks += mark in states if states & {*MARKS} else not texts
    answers.wrong_marks += verdict.state in MARKS and not states & {*MARKS}


def _memories(repository: str, part: str) -> Iterator[dict[str, Any]]:
    """Yields the memories of the repository, with the ids of the commits that they name."""
    text = (FOLDER / f"{part}.json").read_text()
    for tag, id in _repository(repository)["commits"].items():
        text = text.replace(f"{{commit:{tag}}}", id)
    yield from (memory for memory in json.loads(text) if memory["repository"] == repository)
