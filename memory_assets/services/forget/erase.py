"""Takes what is forgotten out of a store, down to the bytes; knows nothing of it but tombstones, so any run can finish it.

Each step does nothing where it was done already, and the ledger line that says it is erased comes last: a process that is
killed in between leaves a `words.forgotten` without its `words.erased`, and the next run starts again. The order matters: how
hashes move is read from bytes that are not masked yet, how ids move from tables that are still the old ones.
"""

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from memory_assets.adapters.git_history import GitHistory
from memory_assets.errors import IndexFailedError, ReviewError
from memory_assets.schema.frames import empty
from memory_assets.schema.progress import track
from memory_assets.services.branches import drop_all
from memory_assets.services.corpus import open_texts, open_vectors, passages_to_index
from memory_assets.services.forget.carriers import GIT, LEFT_OVER, Carrier, carriers
from memory_assets.services.forget.files import erase_file
from memory_assets.services.forget.moved import Moved, follow, moved_hashes, moved_ids
from memory_assets.services.forget.rows import erase_rows
from memory_assets.stages.capture.messages import build_messages
from memory_assets.stages.capture.tombstones import Tombstones, read_tombstones, tombstones_of, unfinished
from memory_assets.stages.distill.model.answers import AnswerStore
from memory_assets.stages.distill.model.questions import ObserverQuestion, plan_questions
from memory_assets.stages.embed.harness_memories import with_harness_memories
from memory_assets.stages.embed.notes import note_rows
from memory_assets.stages.embed.project import plan_vectors
from memory_assets.stages.triage.memory_md import read_entries
from memory_assets.stages.triage.projects import is_memory_file
from memory_assets.store.ledger import NOTES, WORDS_ERASED, WORDS_FORGOTTEN, Planned
from memory_assets.store.store import Store
from memory_assets.text.files import make_folder, replace_if_same

REASON = "words in it are forgotten"

DONE_APART = ("resources", "tables", "index", "workspace")
"""Folders that have a step of their own, as far as their files are not left over."""

ATTEMPTS = 5
NO_TEXTS = pl.DataFrame(schema={"id": pl.String, "corpus": pl.String, "text": pl.String})


def finish(store: Store) -> Counter[str]:
    """Erases what is forgotten and not erased yet; returns what was changed, by kind."""
    with store.lock():
        events = unfinished(store.ledger.events([WORDS_FORGOTTEN, WORDS_ERASED]))
        if not events:
            return Counter()
        stones = read_tombstones(events, store.key)
        with_history = any(event.payload["with_history"] for event in events)
        changed = _erase(store, stones, since=min(event.at for event in events), with_history=with_history)
        done = [Planned(f"erased-{event.id}", WORDS_ERASED, event.id, {"changed": dict(changed)}) for event in events]
        store.ledger.append_once(done, actor="rules")
        return changed


def _erase(store: Store, stones: Tombstones, *, since: datetime, with_history: bool) -> Counter[str]:
    changed: Counter[str] = Counter()
    changed["branches"] = drop_all(store)  # made of what is about to change, and made again for nothing but time
    changed["archive"] = _mask_archive(store, stones)
    sources = _masked_since(store, since)
    moved = moved_ids(store.archive, store.tables, sources)
    changed["ledger"] = store.ledger.overwrite(lambda raw: stones.mask(follow(moved, raw)))
    _rekey_answers(store, sources, moved)
    store.tables.write("resources", "all", store.archive.resources())
    notes = with_harness_memories(note_rows(store.ledger.events(NOTES)), store.tables.read("harness_memories"))
    changed += Counter({f"table {name}": count for name, count in erase_rows(store.tables, stones, sources, notes).items()})
    _erase_indexes(store)
    changed["workspace"] = _erase_workspace(store, stones)
    changed["other files"] = sum(
        _erase_other(one, stones) for one in carriers(store) if one.top not in DONE_APART or _is_left(one)
    )
    if with_history:
        commits = GitHistory(store.workspace).rewrite(tombstones_of(store).mask)  # and what was forgotten without it before
        store.ledger.overwrite(lambda raw: follow(commits, raw))
        changed["commits"] = len(commits)
    return +changed


def _mask_archive(store: Store, stones: Tombstones) -> int:
    """Masks the ranges that carry what is forgotten; the ledger follows first, while the old hashes can still be told."""
    masked: list[str] = []
    for entry in track([entry for ranges in store.archive.sources().values() for entry in ranges], "Erasing from the archive"):
        content = store.archive.read(entry.source_id, entry.generation, entry.byte_from, entry.byte_to)
        after = stones.mask(content)
        if after != content:
            hashes = dict(moved_hashes(content, after))
            store.ledger.overwrite(lambda raw, hashes=hashes: follow(hashes, raw))
            store.archive.restate(entry.id, after, at=store.settings.clock(), because=REASON)
            masked.append(entry.id)
    return len(masked)


def _masked_since(store: Store, moment: datetime) -> list[str]:
    """Returns the sources with bytes that were masked since the moment, by a run that was killed, too."""
    return [
        source
        for source, ranges in store.archive.sources().items()
        if any(one.restated_at and one.restated_at >= moment for one in ranges)
    ]


def _rekey_answers(store: Store, sources: Sequence[str], moved: Moved) -> None:
    """Has the answers about masked messages found under what these say now; else they were asked for, and paid, again."""
    answers = AnswerStore(store.answers)
    if next(answers.root.glob("*.json"), None) is None:
        return
    names = {old: new for pair in _contents(store, sources, moved) for old, new in answers.rekey(*pair).items()}
    for old, new in names.items():
        store.ledger.overwrite(lambda raw, old=old, new=new: raw.replace(old.encode(), new.encode()))


def _contents(store: Store, sources: Sequence[str], moved: Moved) -> Iterator[tuple[str, str]]:
    """Yields what each question about masked messages was asked about, and would be now."""
    observed = store.tables.read("windows").filter(
        pl.col("source_id").is_in(sources) & (pl.col("status") == "observed") & pl.col("day").is_not_null()
    )
    for (day,), windows in observed.group_by("day"):
        before = store.tables.read("messages", [str(day)])
        masked = pl.concat([empty("messages"), *build_messages(windows, store.tables, store.archive, store.settings.clock())])
        after = masked.with_columns(pl.col("message_id").replace(moved))
        for window in windows.iter_rows(named=True):
            asked = ([q.key.content for q in _questions(store, window, messages)] for messages in (before, after))
            yield from ((old, new) for old, new in zip(*asked, strict=False) if old != new)


def _questions(store: Store, window: Mapping[str, Any], messages: pl.DataFrame) -> list[ObserverQuestion]:
    own = messages.filter(pl.col("window_id") == window["window_id"]).sort("ordinal")
    return plan_questions(window, own, store.settings.model, store.settings.zone)


def _erase_indexes(store: Store) -> None:
    """Has both indexes hold what the tables still do, in new generations, and nothing lie beside these."""
    memories, vectors, texts = store.tables.read("memories"), open_vectors(store), open_texts(store)
    try:
        if vectors.generation() is not None:
            vectors.update(plan_vectors(memories, store.tables.read("embeddings"), {}).upserts, [], rebuild=True)
        if texts.generation() is not None:
            known = {*memories["id"], *passages_to_index(store.tables)["id"]}
            texts.update(NO_TEXTS, sorted({*texts.ids("memories"), *texts.ids("messages")} - known))
    except IndexFailedError:
        shutil.rmtree(store.root / "index", ignore_errors=True)  # made again from the tables
        make_folder(store.root / "index")
    vectors.keep_published_only()
    texts.keep_published_only()
    for name in ("vectors.json", "texts.json"):
        (store.root / "index" / name).unlink(missing_ok=True)


def _erase_workspace(store: Store, stones: Tombstones) -> int:
    """Takes it out of the files on disk and of those last committed, so that no difference arises that nobody made."""
    workspace = GitHistory(store.workspace)
    committed = {path: workspace.at_head(path) for path in workspace.paths()}
    cleaned = {path: cleared(path, content, stones) for path, content in committed.items() if content is not None}
    changed = {path: content for path, content in cleaned.items() if content != committed[path]}
    here = (one for one in carriers(store) if one.top == "workspace" and one.kind != GIT)
    found = sum(_clear_on_disk(one.path, store, stones) for one in here)
    workspace.commit_content("Forget some words", changed, author=store.settings.owner)
    return max(found, len(changed))


def cleared(path: str, content: bytes, stones: Tombstones) -> bytes:
    """Returns a file of the workspace without what is forgotten: entries go, elsewhere the words are masked."""
    if not is_memory_file(path):
        return stones.mask(content)
    entries = {entry.number for entry in read_entries(content.decode("utf-8", "replace"))}
    lines = enumerate(content.split(b"\n"), 1)
    return stones.mask(b"\n".join(line for number, line in lines if number not in entries or not stones.holds(line)))


def _clear_on_disk(path: Path, store: Store, stones: Tombstones) -> bool:
    name = path.relative_to(store.workspace).as_posix()
    if not is_memory_file(name):
        return erase_file(path, stones)
    for _ in range(ATTEMPTS):
        content = path.read_bytes()
        after = cleared(name, content, stones)
        if replace_if_same(path, content, after):
            return after != content
    raise ReviewError(f"{path} changed {ATTEMPTS} times while it was being cleared. Save it, then try again.")


def _is_left(one: Carrier) -> bool:
    return one.kind == LEFT_OVER and one.top != "workspace"


def _erase_other(one: Carrier, stones: Tombstones) -> bool:
    """Erases from a file that no step of its own looks after; what a killed process left half written goes."""
    if one.path.suffix == ".tmp" and one.top != "spool":
        one.path.unlink(missing_ok=True)
        return False
    return erase_file(one.path, stones)
