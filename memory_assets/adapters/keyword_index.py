"""The keyword index: SQLite's FTS5 in immutable generations, with three corpora in one file.

Words are stemmed (Porter); paths, identifiers, flags and versions are found whole and in parts, because their parts are added
as words beside them. Question words and a full list of stop words are taken out of the query (worth six points of recall@5 on
dialogue) and what remains is matched by any word, ranked by BM25. The file holds the indexed text: SQLite before 3.43 cannot
delete from an index without it.
"""

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from memory_assets.adapters.generations import Generations
from memory_assets.errors import IndexFailedError
from memory_assets.protocols import Hit

FILE = "keywords.sqlite"
CORPORA = ("memories", "segments", "messages")
LONGEST_QUERY_WORDS = 64

STOP_WORDS = frozenset(
    """a about above after again against all also am an and any are as at be because been before being below
    between both but by can cannot could did do does doing done down during each few for from further had has
    have having he her here hers him his how i if in into is it its itself just let me more most my no nor not
    of off on once only or other our ours out over own same shall she should so some such than that the their
    theirs them then there these they this those through to too under until up us very was we were what when
    where which while who whom why will with would you your yours""".split()
)

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_COMPOUND = re.compile(r"[\w./:@#~+-]*[^\W_][\w./:@#~+-]*", re.UNICODE)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class KeywordIndex:
    """Builds generations of words and finds texts by them in the published one."""

    def __init__(self, root: Path) -> None:
        self._generations = Generations(root, "keywords")

    def generation(self) -> str | None:
        """Returns the name of the published generation."""
        folder = self._generations.published()
        return folder.name if folder else None

    def update(self, upserts: pl.DataFrame, deletes: Sequence[str], *, rebuild: bool = False) -> str:
        """Publishes a generation with the changes and returns its name; `upserts` has columns `id`, `corpus`, `text`."""
        with self._generations.build(rebuild=rebuild) as folder, _open(folder / FILE, writing=True) as database:
            _change(database, upserts, deletes)
        return folder.name

    def find(self, query: str, limit: int, corpus: str) -> list[Hit]:
        """Returns the best matches within the corpus, best first; nothing for a query without a word worth finding."""
        folder, words = self._generations.published(), query_words(query)
        if folder is None or not words or limit <= 0:
            return []
        match = " OR ".join(f'"{word}"' for word in words)
        sql = (
            f"SELECT {corpus}.id, bm25({corpus}_words) AS score FROM {corpus}_words JOIN {corpus} "
            f"ON {corpus}.rowid = {corpus}_words.rowid WHERE {corpus}_words MATCH ? ORDER BY score, {corpus}.id LIMIT ?"
        )
        with self._reading(folder) as database:
            return [Hit(id, -score) for id, score in database.execute(sql, (match, limit))]

    def ids(self, corpus: str) -> set[str]:
        """Returns the ids in the published generation of the corpus."""
        folder = self._generations.published()
        if folder is None:
            return set()
        with self._reading(folder) as database:
            return {id for (id,) in database.execute(f"SELECT id FROM {corpus}")}

    @contextmanager
    def _reading(self, folder: Path) -> Iterator[sqlite3.Connection]:
        try:
            with _open(folder / FILE, writing=False) as database:
                yield database
        except sqlite3.Error as error:
            aside = self._generations.quarantine(folder)
            raise IndexFailedError(
                f"The keyword index could not be read ({error}) and was moved to {aside}. "
                "`memory rebuild --indexes` makes it again from the tables."
            ) from error


def query_words(query: str) -> list[str]:
    """Returns the words of a question that are worth finding, each once, in order; all of them if none are."""
    found = list(dict.fromkeys(word for word in _words(query) if word not in STOP_WORDS))
    return (found or list(dict.fromkeys(_words(query))))[:LONGEST_QUERY_WORDS]


def indexed_text(text: str) -> str:
    """Returns the text with the parts of its compounds (`fooBar` → foo bar) added as words of their own."""
    parts = [part for word in _COMPOUND.findall(text) for part in _CAMEL.split(word) if part != word]
    return f"{text} {' '.join(parts)}" if parts else text


def _words(text: str) -> Iterator[str]:
    return (word.lower() for word in _WORD.findall(text))


def _change(database: sqlite3.Connection, upserts: pl.DataFrame, deletes: Sequence[str]) -> None:
    for corpus in CORPORA:
        database.execute(f"CREATE TABLE IF NOT EXISTS {corpus} (rowid INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL)")
        database.execute(
            f"CREATE VIRTUAL TABLE IF NOT EXISTS {corpus}_words USING fts5("
            "text, tokenize='porter unicode61 remove_diacritics 2')"
        )
        rows = upserts.filter(pl.col("corpus") == corpus).select("id", "text").rows()
        gone = [(id,) for id in (*deletes, *(id for id, _ in rows))]
        database.executemany(f"DELETE FROM {corpus}_words WHERE rowid = (SELECT rowid FROM {corpus} WHERE id = ?)", gone)
        database.executemany(f"DELETE FROM {corpus} WHERE id = ?", gone)
        for id, text in rows:
            row = database.execute(f"INSERT INTO {corpus} (id) VALUES (?)", (id,)).lastrowid
            database.execute(f"INSERT INTO {corpus}_words (rowid, text) VALUES (?, ?)", (row, indexed_text(text)))
    database.commit()


@contextmanager
def _open(file: Path, *, writing: bool) -> Iterator[sqlite3.Connection]:
    uri = f"{file.as_uri()}?mode={'rwc' if writing else 'ro'}"
    database = sqlite3.connect(uri, uri=True)
    try:
        yield database
    finally:
        database.close()
    if writing:
        file.chmod(0o600)
