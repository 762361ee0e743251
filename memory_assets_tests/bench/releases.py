"""Whether names of early releases of real packages are looked up right, with the releases themselves as truth.

A repository gets a commit for each of ten source distributions. What an early one defines, read by Python's own parser and from
the requirements that its build wrote, is asked for and compared with the last one. What the last one has in a string or a
document alone can be called either way and is not asked.
"""

import ast
import random
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from memory_assets.adapters.git_reading import reading
from memory_assets.schema.vocabulary import NamedKind
from memory_assets.stages.verify.lookups import Lookups
from memory_assets.stages.verify.named import Named
from memory_assets_tests.bench.row import Row
from memory_assets_tests.repository import commit

RELEASES = {
    "click": "7.0 7.1.2 8.0.0 8.0.4 8.1.0 8.1.3 8.1.7 8.1.8 8.2.0 8.2.1",
    "yamllint": "1.10.0 1.15.0 1.20.0 1.24.0 1.26.3 1.28.0 1.29.0 1.32.0 1.35.0 1.37.0",
    "httpie": "0.9.9 1.0.3 2.0.0 2.3.0 2.6.0 3.0.0 3.1.0 3.2.0 3.2.2 3.2.4",
}
EARLY = 0
"""The release that is asked about."""

MOST = 60
"""Names of a kind that are asked for, of each package."""

CACHE = Path(tempfile.gettempdir()) / "memory-assets-releases"
Asked = tuple[Named, str]
"""A name, and its true state."""


def releases(small: bool = False) -> list[Row]:
    """Returns the share of right answers of each package; none on little input, or without a network."""
    return [] if small else [row for name in RELEASES for row in _rows(name)]


def _rows(package: str) -> Iterator[Row]:
    try:
        files = [_files(package, version) for version in RELEASES[package].split()]
    except subprocess.CalledProcessError as error:
        print(f"histories: no releases of {package}: {error.stderr.decode().strip()[-200:]}")
        return
    with tempfile.TemporaryDirectory(prefix="bench-releases-") as root:
        folder = Path(root) / package
        folder.mkdir()
        days = list(_committed(folder, files))
        asked = [*_asked(files[EARLY][1], files[-1][1])]
        with reading(folder, seconds=60) as history:
            assert history is not None
            lookups = Lookups(folder, history)
            answers = [
                (named, truth, lookups.verdict(named, folder, days[EARLY]).state)
                for named, truth in asked
            ]
    wrong = [answer for answer in answers if answer[1] != answer[2].replace("moved", "gone")]
    for answer in wrong:
        print(f"histories: {package}: {answer}")
    false = sum(truth == "holds" and state != "unknown" for _, truth, state in wrong)
    ended = sum(truth != "holds" for _, truth, _ in answers)
    counts = f"{len(answers)} names of the first of ten releases; {ended} do not hold"
    yield Row(
        f"histories: states right, {package}", 1 - len(wrong) / len(answers), counts, floor=0.95
    )
    yield Row(f"histories: marks of what holds, {package}", false, counts, limit=0)


def _files(package: str, version: str) -> tuple[date, dict[str, str]]:
    """Returns the day of the distribution, and its files of text."""
    folder = CACHE / f"{package}-{version}"
    command = (
        sys.executable,
        "-m",
        "pip",
        "download",
        "-q",
        "--no-binary",
        ":all:",
        "--no-deps",
        "-d",
        folder,
    )
    if not folder.exists():
        subprocess.run([*command, f"{package}=={version}"], check=True, capture_output=True)
    texts = {}
    seconds = 0
    with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
        for member in archive:
            stream = archive.extractfile(member)
            content = stream.read() if stream and member.isfile() else b"\0"
            if b"\0" not in content and member.size:
                texts[member.name.partition("/")[2]] = content.decode("utf-8", "replace").replace(
                    "\r", ""
                )
                seconds = max(seconds, int(member.mtime))
    return datetime.fromtimestamp(seconds, UTC).date(), texts


def _committed(folder: Path, files: list[tuple[date, dict[str, str]]]) -> Iterator[date]:
    """Commits the releases, and yields the days; each a day later than the last at least."""
    last: dict[str, str] = {}
    day = date.min
    for dated, texts in files:
        kept = {
            path: text
            for path, text in texts.items()
            if ".egg-info" not in path and path != "PKG-INFO"
        }
        day = max(dated, day + timedelta(1))
        commit(folder, {**dict.fromkeys(last.keys() - kept.keys()), **kept}, str(day))
        last = kept
        yield day


def _asked(early: dict[str, str], late: dict[str, str]) -> Iterator[Asked]:
    """Yields names of the early release, with what became of them by the late one."""
    shuffled = random.Random(0)
    code = "\n".join(text for path, text in late.items() if path.endswith(".py"))
    everything = "\n".join(late.values())
    for kind, names in _names(early).items():
        for name in shuffled.sample(sorted(names), min(MOST, len(names))):
            pattern = rf"(?<![\w-]){re.escape(name)}(?![\w-])"
            if kind == "path":
                is_there = any(f"/{path}".endswith(f"/{name}") for path in late)
                yield Named("path", name), "holds" if is_there else "gone"
                continue
            is_code = name in _symbols(late) if kind == "symbol" else re.search(pattern, code)
            if is_code or not re.search(pattern, everything):
                yield Named(kind, name), "holds" if is_code else "gone"
    packages = _requirements(late)
    for name, version in _requirements(early).items():
        yield Named("dependency", name), "holds" if name in packages else "gone"
        if version and name in packages:
            is_same = re.search(rf"(?<![\d.]){re.escape(version)}(?!\d)", packages[name])
            yield Named("dependency", name, value=version), "holds" if is_same else "changed"


def _names(files: dict[str, str]) -> dict[NamedKind, set[str]]:
    code = "\n".join(text for path, text in files.items() if path.endswith(".py"))
    paths = {path for path in files if ".egg-info" not in path and path != "PKG-INFO"}
    return {
        "path": paths,
        "symbol": _symbols(files),
        "flag": set(re.findall(r"[\"'](--[a-z][\w-]+)[\"']", code)),
    }


def _symbols(files: dict[str, str]) -> set[str]:
    """Returns the functions and classes that the files define."""
    defined = set()
    for path, text in files.items():
        if path.endswith(".py"):
            try:
                nodes = ast.walk(ast.parse(text))
            except SyntaxError:
                continue
            defined |= {
                node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)
            }
    return defined


def _requirements(files: dict[str, str]) -> dict[str, str]:
    """Returns each package that the distribution needs, with its first version number."""
    text = next((text for path, text in files.items() if path.endswith("requires.txt")), "")
    needed = {}
    for line in text.partition("\n[")[0].splitlines():
        name = re.match(r"[\w.-]+", line)
        if name:
            version = re.search(r"\d[\d.]*", line[name.end() :])
            needed[name[0]] = version[0] if version else ""
    return needed
