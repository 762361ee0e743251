"""How long 300 names of a repository with 20,000 commits take, and how many of the answers are right.

The repository is made by a script: each commit renames a function, in one of 3,000 files; every fiftieth removes a file, or a
setting gets another value. The names are those of the last 3,000 commits: half of them hold.
"""

import random
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path

from memory_assets.adapters.git_reading import reading
from memory_assets.stages.verify.lookups import Lookups
from memory_assets.stages.verify.named import Named
from memory_assets_tests.bench.row import Row
from memory_assets_tests.repository import git

FILES, FUNCTIONS, NAMES = 3_000, 40, 300
FIRST_AT = 1_577_836_800
SECONDS_APART = 9_000
RECENT = 3_000


@dataclass
class History:
    """What the script has written: the files, and the names that ended, with their state and the day before."""

    seed: random.Random
    files: dict[int, list[str]] = field(default_factory=dict)
    ended: list[tuple[Named, str, date]] = field(default_factory=list)

    def change(self, number: int, day: date) -> str:
        """Returns the change of one commit, as `git fast-import` reads it."""
        file = self.seed.randrange(FILES)
        functions = self.files.get(file, [])
        if functions and number % 50 == 0:
            del self.files[file]
            self.ended.append((Named("path", _path(file)), "gone", day))
            return f"D {_path(file)}\n"
        if functions and number % 50 == 1:
            old, new = functions[0], f"LIMIT_{file} = {number}"
            name, _, value = old.partition(" = ")
            self.ended.append((Named("setting", name, value=value), "changed", day))
            functions[0] = new
        elif functions:
            place = self.seed.randrange(1, FUNCTIONS)
            self.ended.append(
                (Named("symbol", functions[place].split()[1].partition("(")[0]), "gone", day)
            )
            functions[place] = self._function(number)
        else:
            functions = [
                f"LIMIT_{file} = {number}",
                *(self._function(f"{number}_{place}") for place in range(FUNCTIONS)),
            ]
        self.files[file] = functions
        text = "\n".join(functions) + "\n"
        return f"M 100644 inline {_path(file)}\ndata {len(text)}\n{text}"

    def _function(self, name: object) -> str:
        words = " + ".join(f"word{self.seed.randrange(4_000)}" for _ in range(3))
        return f"def function_{name}(value):\n    return {words}\n"


def long_history(small: bool = False) -> list[Row]:
    """Returns the seconds, and the shares of names that are answered, and answered right."""
    commits = 200 if small else 20_000
    with tempfile.TemporaryDirectory(prefix="bench-history-") as root:
        folder = Path(root)
        history = _made(folder, commits)
        names = [*_asked(history, commits)]
        started = time.perf_counter()
        with reading(folder) as reader:
            assert reader is not None
            lookups = Lookups(folder, reader)
            states = [
                (state, lookups.verdict(named, folder, day).state) for named, state, day in names
            ]
        seconds = time.perf_counter() - started
    right = sum(truth == state for truth, state in states)
    wrong = sum(state not in (truth, "unknown") for truth, state in states)
    said = f"of {len(names)} names, {commits} commits"
    return [
        Row("long history: seconds", seconds, said, limit=2.2),
        Row("long history: states right", right / len(names), f"{right} {said}; {wrong} wrong, the others unknown"),
    ]  # fmt: skip


def _path(file: int) -> str:
    return f"src/part{file % 50}/module{file}.py"


def _made(folder: Path, commits: int) -> History:
    git(folder, "init", "-q")
    history = History(random.Random(0))
    command = ["git", "fast-import", "--quiet"]
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, text=True) as importer:
        assert importer.stdin is not None
        for number in range(commits):
            at = FIRST_AT + number * SECONDS_APART
            text = f"Change {number} (#{number})"
            person = f"committer Mira <m@example.org> {at} +0000\ndata {len(text)}\n{text}"
            change = history.change(number, datetime.fromtimestamp(at - 86_400, UTC).date())
            importer.stdin.write(f"commit refs/heads/main\n{person}\n{change}\n")
    git(folder, "gc", "-q")
    git(folder, "checkout", "-q", "-f", "main")
    return history


def _asked(history: History, commits: int) -> Iterator[tuple[Named, str, date]]:
    """Yields names that ended in the last commits, and as many that hold, in any order."""
    day = datetime.fromtimestamp(FIRST_AT + commits * SECONDS_APART, UTC).date()
    text = {name for functions in history.files.values() for name in "\n".join(functions).split()}
    recent = [each for each in history.ended[-RECENT:] if each[0].value or each[0].text not in text]
    paths = {_path(file) for file in history.files}
    ended = [each for each in recent if each[0].text not in paths]
    names = history.seed.sample(ended, min(NAMES // 2, len(ended)))
    for functions in history.seed.sample(
        list(history.files.values()), min(NAMES // 6, len(history.files))
    ):
        name, _, value = functions[0].partition(" = ")
        symbol = functions[1].split()[1].partition("(")[0]
        number = history.seed.randrange(commits)
        names += [
            (Named("setting", name, value=value), "holds", day),
            (Named("symbol", symbol), "holds", day),
        ]
        names.append((Named("pull request", f"#{number}"), "holds", day))
    history.seed.shuffle(names)
    yield from names
