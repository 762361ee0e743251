"""Erases forgotten words from a store, down to the bytes. It only needs the tombstones, so any
later run can finish the work.

Each step does nothing where it was already done, and the event `words.erased` is written last: a
process that is killed leaves a `words.forgotten` without its `words.erased`, and the next run
starts again. The order matters: the mapping of hashes needs the unmasked bytes, the mapping of ids
the old tables.
"""

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from memory_assets.adapters.chroma_index import ChromaIndex
from memory_assets.adapters.git_history import GitHistory
from memory_assets.errors import IndexFailedError, ReviewError, StoreError
from memory_assets.schema.extras import loaded
from memory_assets.schema.frames import empty
from memory_assets.schema.progress import track
from memory_assets.services.forget import id_map
from memory_assets.services.forget.branches import drop_all
from memory_assets.services.forget.data_locations import (
    GIT,
    LEFT_OVER,
    DataLocation,
    data_locations,
    erase_file,
)
from memory_assets.services.forget.rows import erase_rows
from memory_assets.services.models.model_questions import asked_about
from memory_assets.services.search import corpus
from memory_assets.services.search.memory_ids import remove_ready_ids
from memory_assets.stages.capture.messages import build_messages
from memory_assets.stages.capture.tombstones import (
    Tombstones,
    read_tombstones,
    tombstones_of,
    unfinished,
)
from memory_assets.stages.distill.model.answers import AGENT_QUESTIONS, AnswerStore
from memory_assets.stages.distill.model.questions import ObserverQuestion
from memory_assets.stages.distill.model.short_sessions import questions_about
from memory_assets.stages.embed.notes import note_rows
from memory_assets.stages.embed.project import memory_rows, plan_vectors
from memory_assets.stages.triage.memory_md import read_entries
from memory_assets.stages.triage.projects import is_memory_file
from memory_assets.store import damage, ledger
from memory_assets.store.store import Store
from memory_assets.text.files import make_folder, replace_if_same

REASON = "words in it are forgotten"
"""What the archive notes beside a range that was masked."""

HANDLED_FOLDERS = ("resources", "tables", "index", "workspace")
"""Folders that have a step of their own. The step of the workspace erases all its files; the other
steps leave temporary and backup files, which `_erase_other` erases.
"""

ATTEMPTS = 5
"""How often to clear a file of the workspace that an editor changes meanwhile."""


def finish(store: Store) -> Counter[str]:
    """Erases what is forgotten and not erased yet; returns the number of changes by kind."""
    with store.lock():
        events = _to_erase(store)
        if not events:
            return Counter()
        store.sync()
        tombstones = read_tombstones(events, *store.keys)
        with_history = any(event.payload["with_history"] for event in events)
        since = min(event.at for event in events)
        changed = erase(store, tombstones, since=since, with_history=with_history)
        erased = [
            ledger.Planned(
                f"erased-{event.id}", ledger.WORDS_ERASED, event.id, {"changed": dict(changed)}
            )
            for event in events
        ]
        _send_workspace(store)
        store.ledger.append_once(erased, actor="rules")
        if store.shared is not None:
            store.shared.note_erased(event.id for event in events)
        store.sync()
        return changed


def _send_workspace(store: Store) -> None:
    """Exchanges the workspace with the remote of a shared store; raises `StoreError` on failure."""
    problem = store.shared.exchange_workspace() if store.shared else None
    if problem:
        raise StoreError(f"{problem} Run the same command again once the remote can be reached.")


def _to_erase(store: Store) -> list[ledger.Event]:
    """Returns the forgettings that are not carried out in this folder yet.

    Machines that share a store have the same ledger and a folder each. What is erased in this
    folder is then noted outside of the ledger.
    """
    events = store.ledger.events([ledger.WORDS_FORGOTTEN, ledger.WORDS_ERASED])
    erased_ids = store.shared.erased() if store.shared else None
    if erased_ids is None:  # not shared, or nothing was noted in this folder: the ledger tells
        return unfinished(events)
    forgettings = (event for event in events if event.kind == ledger.WORDS_FORGOTTEN)
    return [event for event in forgettings if event.id not in erased_ids]


def erase(
    store: Store, tombstones: Tombstones, *, since: datetime, with_history: bool
) -> Counter[str]:
    """Erases the words from the whole store and returns the number of changes by kind.

    What was derived from archived ranges that were masked since the moment is erased, too.
    """
    changed: Counter[str] = Counter()
    # Branches are copies of tables that change now; making one again costs only time.
    changed["branches"] = drop_all(store)
    changed["archive"] = _mask_archive(store, tombstones)
    sources = _masked_since(store, since)
    new_ids = id_map.changed_ids(store.archive, store.tables, sources)
    changed["ledger"] = store.ledger.overwrite(
        lambda raw: tombstones.mask(id_map.replace_ids(new_ids, raw))
    )
    _rekey_answers(store, sources, new_ids)
    store.tables.write("resources", "all", store.archive.resources())
    # Observations that come from no session: the embeddings of their texts stay.
    notes = note_rows(store.ledger.events(ledger.NOTES))
    notes = pl.concat([notes, store.tables.read("harness_memories")])
    rows = erase_rows(store.tables, tombstones, sources, notes)
    changed.update({f"table {name}": count for name, count in rows.items()})
    _erase_indexes(store)
    changed["workspace"] = _erase_workspace(store, tombstones)
    other_files = (_erase_other(location, tombstones) for location in data_locations(store))
    changed["other files"] = sum(other_files)
    if with_history:
        # The words of earlier forgettings are masked as well.
        new_commits = GitHistory(store.workspace).rewrite(tombstones_of(store).mask)
        store.ledger.overwrite(lambda raw: id_map.replace_ids(new_commits, raw))
        changed["commits"] = len(new_commits)
    store.sync(is_erasing=True)  # erased files replace those of a shared copy
    return +changed  # without the kinds that did not change


def _mask_archive(store: Store, tombstones: Tombstones) -> int:
    """Masks the archived ranges and returns how many changed.

    The hashes in the ledger are replaced before each range is, while its old bytes are still there.
    """
    masked_count = 0
    entries = [entry for ranges in store.archive.sources().values() for entry in ranges]
    for entry in track(entries, "Erasing from the archive"):
        place = (entry.source_id, entry.generation, entry.byte_from, entry.byte_to)
        content = store.archive.read(*place)
        masked = tombstones.mask(content)
        if masked != content:
            keep_hashes(store, content, masked)
            store.archive.restate(entry.id, masked, at=store.settings.clock(), because=REASON)
            masked_count += 1
    return masked_count


def keep_hashes(store: Store, old_content: bytes, new_content: bytes) -> None:
    """Replaces the hashes of masked records in the ledger, so that it keeps referring to them."""
    hashes = dict(id_map.changed_hashes(old_content, new_content))
    store.ledger.overwrite(lambda raw: id_map.replace_ids(hashes, raw))


def _masked_since(store: Store, moment: datetime) -> list[str]:
    """Returns the sources with a range that was masked since the moment, also by a killed run."""
    return [
        source
        for source, ranges in store.archive.sources().items()
        if any(item.restated_at and item.restated_at >= moment for item in ranges)
    ]


def _rekey_answers(store: Store, sources: Sequence[str], new_ids: id_map.IdMap) -> None:
    """Renames the stored answers about masked messages.

    The name of an answer is derived from its question, which masking changes. Under the old name,
    the answer would not be found, and the question would be asked and paid for again.
    """
    answers = AnswerStore(store.answers)
    if next(answers.root.glob("*.json"), None) is None:
        return
    new_names: dict[str, str] = {}
    for old_content, new_content in _changed_contents(store, sources, new_ids):
        new_names |= answers.rekey(old_content, new_content)

    def replace_names(raw: bytes) -> bytes:
        """Returns the bytes of the ledger with the new names."""
        for old, new in new_names.items():
            raw = raw.replace(old.encode(), new.encode())
        return raw

    if new_names:
        store.ledger.overwrite(replace_names)
        shutil.rmtree(answers.root / AGENT_QUESTIONS, ignore_errors=True)  # old names


def _changed_contents(
    store: Store, sources: Sequence[str], new_ids: id_map.IdMap
) -> Iterator[tuple[str, str]]:
    """Yields the content of each question that masking changed, as (old, new)."""
    windows = asked_about(store.tables.read("windows"))
    masked_windows = windows.filter(pl.col("source_id").is_in(sources))
    for (day,), day_windows in masked_windows.group_by("day"):
        old_messages = store.tables.read("messages", [str(day)])
        built = build_messages(day_windows, store.tables, store.archive, store.settings.clock())
        masked = pl.concat([empty("messages"), *built])
        new_messages = masked.with_columns(pl.col("message_id").replace(new_ids))
        for window in day_windows.iter_rows(named=True):
            old_questions = _questions(store, window, old_messages)
            new_questions = _questions(store, window, new_messages)
            yield from changed_pairs(old_questions, new_questions)


def _questions(
    store: Store, window: Mapping[str, Any], messages: pl.DataFrame
) -> list[ObserverQuestion]:
    """Returns the questions that the observer is asked about the window."""
    window_messages = messages.filter(window_id=window["window_id"]).sort("ordinal")
    model = store.settings.model_of("observer")
    return questions_about(window, window_messages, model, store.settings.zone)


def changed_pairs(
    old_questions: Iterable[ObserverQuestion], new_questions: Iterable[ObserverQuestion]
) -> Iterator[tuple[str, str]]:
    """Yields the contents of the questions that differ but show the same lines, as (old, new).

    A masked text can have more characters, because each byte becomes an asterisk. Then a question
    may have room for fewer messages, and no old answer is about the same ones.
    """
    for old, new in zip(old_questions, new_questions, strict=False):
        old_lines = [message["line"] for message in old.call.messages]
        new_lines = [message["line"] for message in new.call.messages]
        if old_lines == new_lines and old.key.content != new.key.content:
            yield old.key.content, new.key.content


def _erase_indexes(store: Store) -> None:
    """Publishes both indexes with the remaining rows, and deletes everything else in their folder:
    older generations, and Chroma's copy.
    """
    memories = store.tables.read("memories")
    vectors = corpus.open_vectors(store)
    texts = corpus.open_texts(store)
    try:
        if vectors.generation() is not None:
            # As if no vector had been written yet, so that all are written again.
            upserts = plan_vectors(memories, corpus.embeddings_in_use(store), published={}).upserts
            vectors.update(upserts, [], rebuild=True, model=vectors.model() or "")
        if texts.generation() is not None:
            no_upserts = memory_rows(memories.clear())  # an empty copy: only rows are removed
            remaining_ids = {*memories["id"], *corpus.passage_heads(store.tables)["id"]}
            indexed_ids = {*texts.ids("memories"), *texts.ids("messages")}
            texts.update(no_upserts, sorted(indexed_ids - remaining_ids))
    except IndexFailedError:
        shutil.rmtree(store.root / "index", ignore_errors=True)  # rebuilt from the tables
        make_folder(store.root / "index")
    corpus.open_note_vectors(store).remove_all()
    vectors.keep_published_only()
    texts.keep_published_only()
    for erase_added in loaded("erase"):
        erase_added(store)
    ChromaIndex(store.root / "index").remove()  # the nightly run builds it again
    remove_ready_ids(store)


def _erase_workspace(store: Store, tombstones: Tombstones) -> int:
    """Erases from the files on disk and from the last commit; returns how many files changed.

    Lines that a person did not commit yet stay uncommitted.
    """
    workspace = GitHistory(store.workspace)
    changed = {}
    for path in workspace.paths():
        committed = workspace.at_head(path) or b""
        cleared = _clear_text(path, committed, tombstones)
        if cleared != committed:
            changed[path] = cleared
    locations = (item for item in data_locations(store) if item.top == "workspace")
    paths = (location.path for location in locations if location.kind != GIT)
    cleared_count = sum(_clear_on_disk(path, store, tombstones) for path in paths)
    workspace.commit_content("Forget some words", changed, author=store.settings.owner)
    # Most files changed in both places, and are counted once.
    return max(cleared_count, len(changed))


def _clear_text(path: str, content: bytes, tombstones: Tombstones) -> bytes:
    """Returns the content of a workspace file without forgotten words.

    Entries that contain them are removed; in other text they are masked.
    """
    if not is_memory_file(path):
        return tombstones.mask(content)
    entries = {entry.number for entry in read_entries(content.decode("utf-8", "replace"))}
    lines = enumerate(content.split(b"\n"), 1)
    other_lines = (
        line for number, line in lines if number not in entries or not tombstones.holds(line)
    )
    return tombstones.mask(b"\n".join(other_lines))


def _clear_on_disk(path: Path, store: Store, tombstones: Tombstones) -> bool:
    """Erases from a file of the workspace, and returns whether it contained forgotten words."""
    name = path.relative_to(store.workspace).as_posix()
    if not is_memory_file(name):
        return erase_file(path, tombstones)
    for _ in range(ATTEMPTS):
        content = path.read_bytes()
        cleared = _clear_text(name, content, tombstones)
        if replace_if_same(path, content, cleared):
            return cleared != content
    raise ReviewError(
        f"{path} changed {ATTEMPTS} times while it was being cleared. Save it, then try again."
    )


def _erase_other(location: DataLocation, tombstones: Tombstones) -> bool:
    """Erases from a file that no other step handles; returns whether it contained forgotten words.

    Deletes half-written files, and damaged files that were put aside.
    """
    path = location.path
    is_left_over = location.kind == LEFT_OVER and location.top != "workspace"
    if location.top in HANDLED_FOLDERS and not is_left_over:
        return False
    # The caller holds the store's lock, so nobody writes such a file now. Only those who write into
    # the spool take no lock.
    is_half_written = path.suffix == ".tmp" and location.top != "spool"
    is_damaged = location.top == damage.FOLDER and path.name != damage.LIST
    if is_half_written or is_damaged:
        path.unlink(missing_ok=True)
        return False
    return erase_file(path, tombstones)
