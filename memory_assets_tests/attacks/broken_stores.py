"""Ways in which files of a store get damaged, each by its name."""

import os
from collections.abc import Callable
from pathlib import Path

Damage = Callable[[Path], None]


def cut(path: Path) -> None:
    """Half of the file is left."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path) -> None:
    """Nothing of the file is left."""
    path.write_bytes(b"")


def flip(path: Path, share: float = 0.5) -> None:
    """A byte in the middle is another one, and so are its neighbours."""
    content = bytearray(path.read_bytes())
    at = int(len(content) * share)
    content[at : at + 4] = bytes(byte ^ 0xFF for byte in content[at : at + 4])
    path.write_bytes(content)


def flip_rows(path: Path) -> None:
    """The rows of a Parquet file are damaged; its footer is not."""
    flip(path, 200 / path.stat().st_size)


def zeros(path: Path) -> None:
    """The file has its length and nothing in it, as after a power failure."""
    path.write_bytes(b"\0" * path.stat().st_size)


def noise(path: Path) -> None:
    """Something else is in its place."""
    path.write_bytes(os.urandom(4_096))


def replace(path: Path) -> None:
    """Something else is in the place of a file that cannot be written."""
    path.unlink()
    path.write_bytes(os.urandom(300))


def gone(path: Path) -> None:
    """The file is missing."""
    path.unlink()


def first(root: Path, pattern: str) -> Path:
    """The first file of that pattern."""
    return sorted(path for path in root.glob(pattern) if path.is_file())[0]


def at(pattern: str, how: Callable[[Path], None]) -> Damage:
    """That damage to the first file of the pattern."""
    return lambda root: how(first(root, pattern))


DAY = "tables/{}/day=*/data.parquet"

TABLES: dict[str, Damage] = {
    "observations cut": at(DAY.format("observations"), cut),
    "observations flipped": at(DAY.format("observations"), flip_rows),
    "observations of zeros": at(DAY.format("observations"), zeros),
    "messages flipped": at(DAY.format("messages"), flip_rows),
    "messages empty": at(DAY.format("messages"), empty),
    "sessions cut": at(DAY.format("sessions"), cut),
    "segments noise": at(DAY.format("segments"), noise),
    "verdicts flipped": at(DAY.format("verdicts"), flip_rows),
    "embeddings flipped": at(DAY.format("embeddings"), flip_rows),
    "passages cut": at(DAY.format("passages"), cut),
    "reflections cut": at(DAY.format("reflections"), cut),
    "proposals flipped": at(DAY.format("proposals"), flip_rows),
    "records cut": at("tables/records/source_id=*/data.parquet", cut),
    "windows flipped": at("tables/windows/data.parquet", flip_rows),
    "memories cut": at("tables/memories/data.parquet", cut),
    "memories flipped": at("tables/memories/data.parquet", flip_rows),
    "merges noise": at("tables/merges/data.parquet", noise),
    "decisions empty": at("tables/decisions/data.parquet", empty),
    "category summaries cut": at("tables/category_summaries/category=*/data.parquet", cut),
    "columns of observations cut": at("tables/observations/day=1970-01-01/columns.parquet", cut),
}
"""Of tables, which are rebuilt."""

OTHERS: dict[str, Damage] = {
    "word index cut": at("index/texts/0*/messages/rows.npy", cut),
    "word index of zeros": at("index/texts/0*/memories/ids.npy", zeros),
    "word index without a file": at("index/texts/0*/messages/keys.npy", gone),
    "pointer of the word index noise": at("index/texts/current", noise),
    "pointer of the word index empty": at("index/texts/current", empty),
    "what the word index has": at("index/texts.json", cut),
    "vectors cut": at("index/vectors/0*/vectors.npy", cut),
    "vectors without their ids": at("index/vectors/0*/ids.npy", gone),
    "sums of an index": at("index/texts/0*/sums.json", cut),
    "briefing cut": at("workspace/briefing.md", cut),
    "briefing noise": at("workspace/briefing.md", noise),
    "status noise": at("status.txt", noise),
    "zone noise": at("instance.json", noise),
    "version empty": at("VERSION", empty),
    "files seen cut": at("resources/seen.json", cut),
    "Dagster's runs noise": at("dagster/history/runs.db", noise),
    "Dagster's index cut": at("dagster/history/runs/index.db", cut),
    "Dagster's schedules noise": at("dagster/schedules/schedules.db", noise),
}
"""Of other files that are rebuilt."""

DERIVED = TABLES | OTHERS


def spoil_line(path: Path, number: int = 0) -> None:
    """A line of a JSON Lines file is no longer JSON."""
    lines = path.read_bytes().split(b"\n")
    lines[number] = lines[number][:20] + b"\xff}{\xfe" + lines[number][24:]
    path.write_bytes(b"\n".join(lines))


def begin_with_a_list(path: Path) -> None:
    """The first line of a file of lines is JSON and nothing that belongs there."""
    path.write_bytes(b"[]\n" + path.read_bytes())


KEPT: dict[str, tuple[str, Damage]] = {
    "range cut": ("archive", at("resources/ranges/*/*.zst", cut)),
    "range flipped": ("archive", at("resources/ranges/*/*.zst", flip)),
    "range gone": ("archive", at("resources/ranges/*/*.zst", gone)),
    "catalog line": ("catalog", at("resources/catalog.jsonl", spoil_line)),
    "ledger line": ("ledger", at("ledger/*.jsonl", spoil_line)),
    "ledger line that is no event": ("ledger", at("ledger/*.jsonl", begin_with_a_list)),
    "git's history": ("workspace", at("workspace/.git/objects/*/*", replace)),
}
"""Of what cannot be rebuilt, with the check that names it."""
