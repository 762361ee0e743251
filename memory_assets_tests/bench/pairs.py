"""How well pairs of statements are told apart: the same, different, opposite, or the same with another value.

Half of the 300 pairs are written (`written_pairs.tsv`), about projects that do not exist. The other half are nearest pairs of the
real transcripts: of labelled facts, recorded answers and sentences of messages. `mined_pairs.tsv` names these by the hashes of their
texts, which are found again where the data are on the machine. Each half of a set, chosen by the hash of the pair, has its own
rows: one was open while the rules were written, the other was held back. The pairs are judged as the pipeline does it.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import polars as pl

from memory_assets.adapters.local_embedder import LocalEmbedder
from memory_assets.harnesses.readers import open_reader
from memory_assets.schema.frames import empty
from memory_assets.schema.protocols import Embedder
from memory_assets.schema.vocabulary import CONFLICT, SAME
from memory_assets.stages.capture.discover import find_transcripts
from memory_assets.stages.distill.model.parser import parse_answer
from memory_assets.stages.embed.merge import find_edges
from memory_assets.text.sentences import split_message
from memory_assets.text.words import text_hash
from memory_assets_tests.bench.row import Row
from memory_assets_tests.bench.transcripts import LABELS, RECORDED, folder
from memory_assets_tests.factories import START, frame, row

HERE = Path(__file__).parent
WRITTEN, MINED = HERE / "written_pairs.tsv", HERE / "mined_pairs.tsv"
HASH_CHARS = 16
RECALL, FLAGGED = 0.75, 0.85
"""Goals: the share of the same pairs that merge, and of opposite and changed ones that conflict. No other pair may merge."""


@dataclass(frozen=True)
class LabelledPair:
    """Two statements, and how a person relates them: same, different, opposite or changed."""

    label: str
    older: str
    newer: str

    @property
    def is_held(self) -> bool:
        """Whether it belongs to the half that was held back."""
        return int(text_hash("\n".join(sorted((self.older, self.newer))))[:2], 16) % 2 == 1


def pairs(small: bool = False) -> list[Row]:
    """Returns the figures of either half."""
    mined = [] if small or not LABELS.is_dir() else list(mined_pairs())
    if not mined:
        print("pairs: no mined pairs; the data that they are found in are not on this machine")
    known = [*written_pairs(), *mined]
    found = judge(known, LocalEmbedder())
    halves = {"held half": True, "open half": False}
    return [
        one
        for name, is_held in halves.items()
        for one in _figures(name, found, [p for p in known if p.is_held == is_held])
    ]


def written_pairs() -> list[LabelledPair]:
    """Returns the pairs that were written."""
    return [LabelledPair(*line) for line in _lines(WRITTEN)]


def mined_pairs() -> Iterator[LabelledPair]:
    """Yields the pairs of real statements whose texts are found."""
    wanted = {name for _, *names in _lines(MINED) for name in names}
    texts = {
        name: text
        for text in _real_statements()
        if (name := text_hash(text)[:HASH_CHARS]) in wanted
    }
    for label, older, newer in _lines(MINED):
        if older in texts and newer in texts:
            yield LabelledPair(label, texts[older], texts[newer])


def judge(known: Sequence[LabelledPair], embedder: Embedder) -> dict[LabelledPair, str]:
    """Returns how the pipeline relates the pairs: same, conflict, or not at all; each is a project of its own."""
    texts = sorted({text for pair in known for text in (pair.older, pair.newer)})
    plain = {
        "kind": "fact",
        "gate": "allow",
        "author": "owner",
        "scope": "project",
        "category": "operations",
    }
    rows = [
        row(
            "observations",
            **plain,
            id=f"{n}-{k}",
            project=f"p{n}",
            text=text,
            text_hash=text,
            event_at=START + timedelta(days=k),
        )
        for n, pair in enumerate(known)
        for k, text in enumerate((pair.older, pair.newer))
    ]
    vectors = [
        row("embeddings", text_hash=text, dimension=len(vector), vector=vector.tolist())
        for text, vector in zip(texts, embedder.encode(texts), strict=True)
    ]
    edges = find_edges(
        frame("observations", *rows), frame("embeddings", *vectors), empty("merges"), ()
    )
    own = edges.filter(
        pl.col("newer_id").str.split("-").list[0] == pl.col("older_id").str.split("-").list[0]
    )
    return {
        known[int(newer.split("-")[0])]: relation
        for newer, relation in own.select("newer_id", "relation").iter_rows()
    }


def _figures(
    half: str, found: dict[LabelledPair, str], known: Sequence[LabelledPair]
) -> Iterator[Row]:
    same = [pair for pair in known if pair.label == "same"]
    others = [pair for pair in known if pair.label != "same"]
    against = [pair for pair in known if pair.label in ("opposite", "changed")]
    different = [pair for pair in known if pair.label == "different"]
    yield _share(f"pairs: false merges, {half}", found, others, SAME, limit=0.0)
    yield _share(f"pairs: recall of merges, {half}", found, same, SAME, floor=RECALL)
    yield _share(
        f"pairs: opposites and changes flagged, {half}", found, against, CONFLICT, floor=FLAGGED
    )
    yield _share(f"pairs: different ones flagged, {half}", found, different, CONFLICT)


def _share(
    name: str,
    found: dict[LabelledPair, str],
    known: Sequence[LabelledPair],
    relation: str,
    **bound: float,
) -> Row:
    count = sum(found.get(pair) == relation for pair in known)
    return Row(name, count / max(len(known), 1), f"{count} of {len(known)}", **bound)


def _lines(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text("utf-8").splitlines()[1:]]


def _real_statements() -> Iterable[str]:
    """Yields labelled facts, facts of recorded answers, and sentences of all messages."""
    for path in sorted(LABELS.glob("*.json")):
        yield from (fact["text"] for fact in json.loads(path.read_text("utf-8"))["facts"])
    for path in sorted(RECORDED.glob("*.xml")):
        yield from (fact.text for fact in parse_answer(path.read_text("utf-8")).facts)
    for file in find_transcripts([folder()]):
        reader = open_reader(file.harness, str(file.path))
        for line in file.path.read_bytes().splitlines():
            parsed = reader.read(line)
            if (
                parsed.status == "message"
                and parsed.kind == "text"
                and parsed.author in ("owner", "assistant")
            ):
                yield from (sentence.text for sentence in split_message(parsed.text))
