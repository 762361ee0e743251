"""A question gets the few memories that help: the near ones, the fresh ones, those of here; and nothing when nothing belongs."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_assets.adapters.text_index import TextIndex
from memory_assets.errors import IndexFailedError, ModelError
from memory_assets.schema.protocols import Hit
from memory_assets.schema.requests import Filters
from memory_assets.stages.recall.results import Answer, Asker
from memory_assets.stages.recall.search import Corpus, search
from memory_assets.text.words import count_tokens
from memory_assets_tests.factories import START, ReadsWhole, frame, row
from memory_assets_tests.stages.recall.recalled import indexed

NOW = START + timedelta(days=10)
TEXTS = {
    "uv": "Dependencies are installed with uv, never with pip.",
    "port": "Postgres listens on 5433 in staging.",
    "deploy": "Deploys happen on Tuesdays through Buildkite.",
    "held": "Perhaps the pip cache should move.",
    "gone": "Dependencies are installed with pip.",
    "blog": "Dependencies are installed with poetry in the blog.",
}
STATES = {"held": "held", "gone": "superseded"}


class Vectors:
    """Answers with the hits it was made with, or fails."""

    def __init__(self, *hits: Hit, error: Exception | None = None) -> None:
        self.hits = list(hits)
        self.error = error
        self.limits = list[int]()
        """How many neighbours each query asked for."""

    def generation(self) -> str:
        return "000001"

    def find(self, vector: np.ndarray, limit: int) -> list[Hit]:
        if self.error:
            raise self.error
        self.limits.append(limit)
        return self.hits[:limit]


class AnyEmbedder(ReadsWhole):
    name, version, dimension = "any", "1", 2

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        return np.zeros((len(texts), 2), dtype=np.float32)

    def encode_query(self, text: str) -> np.ndarray:
        return self.encode([text])[0]


class NoEmbedder(AnyEmbedder):
    def encode_query(self, text: str) -> np.ndarray:
        raise ModelError("The weights are not installed.")


def memories(**changes: dict) -> pl.DataFrame:
    rows = [
        row(
            "memories",
            **{
                "id": id, "text": text, "state": STATES.get(id, "active"), "kind": "fact", "event_at": START, "scope": "project",
                "project": "blog" if id == "blog" else "shop", "person": "ann", "lines": [4, 5], **changes.get(id, {}),
            },
        )
        for id, text in TEXTS.items()
    ]  # fmt: skip
    return frame("memories", *rows)


SAID = "x " * 500 + "we chose tailscale for the tunnel" + " y" * 500


TURN = {
    "author": "owner",
    "role": "turn",
    "event_at": START,
    "session_id": "s9",
    "path": "p",
    "project": "shop",
    "person": "ann",
}


def read_passages(ids: Sequence[str]) -> pl.DataFrame:
    passage = TURN | {
        "passage": SAID[1000:1033],
        "whole": SAID,
        "char_from": 1000,
        "char_to": 1033,
        "line": 3,
    }
    return pl.DataFrame([{"id": id, "message_id": id.split("#")[0], **passage} for id in ids])


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    words = [(id, "memories", text, "s1") for id, text in TEXTS.items()]
    words += [
        ("m1#0", "messages", "we chose tailscale for the tunnel", "s9"),
        ("m2#0", "messages", "lunch?", "s9"),
    ]
    indexed(tmp_path, words, "id corpus text group")
    return Corpus(memories(), TextIndex(tmp_path), Vectors(), AnyEmbedder(), read_passages)  # type: ignore[arg-type]


def ids(answer: Answer) -> list[str]:
    return [result.memory_id for result in answer.results]


def ask(
    corpus: Corpus,
    question: str = "how are dependencies installed?",
    project: str | None = None,
    **how,
) -> Answer:
    return search(question, corpus, Asker(NOW, project), **how)


def test_meaning_finds_what_shares_no_word_with_the_question(corpus: Corpus):
    near = replace(corpus, vectors=Vectors(Hit("deploy", 0.55), Hit("port", 0.1)))  # type: ignore[arg-type]
    answer = ask(near, "when do we go live?")
    assert [(result.memory_id, result.arms) for result in answer.results] == [
        ("deploy", ("vector",))
    ]


def test_where_nothing_is_known_the_nearest_is_offered_as_no_answer(corpus: Corpus):
    near = replace(corpus, vectors=Vectors(Hit("deploy", 0.25), Hit("port", 0.1)))  # type: ignore[arg-type]
    answer = ask(near, "what should I cook on Sunday?")
    assert (answer.results, answer.is_known) == ((), False)
    assert answer.nearest and answer.nearest.memory_id == "deploy"
    assert ask(corpus, "what should I cook on Sunday?").nearest is None


def test_what_belongs_to_another_person_is_never_the_nearest(corpus: Corpus):
    private = memories(deploy={"scope": "person", "person": "bo"})
    near = replace(corpus, memories=private, vectors=Vectors(Hit("deploy", 0.3)))  # type: ignore[arg-type]
    asker = Asker(NOW, person="ann")
    assert search("what should I cook on Sunday?", near, asker).nearest is None


def test_of_two_alike_the_fresher_one_comes_first(corpus: Corpus):
    aged = memories(uv={"event_at": NOW - timedelta(days=300)})
    assert ids(ask(replace(corpus, memories=aged)))[0] == "blog"


@pytest.mark.parametrize(
    "broken",
    [
        {"embedder": NoEmbedder()},
        {"vectors": Vectors(error=IndexFailedError("The vector index could not be read."))},
        {"embedder": None},
        {"vectors": None},
    ],
)
def test_without_vectors_the_words_answer_and_the_answer_says_so(corpus: Corpus, broken: dict):
    answer = ask(replace(corpus, **broken), project="shop")
    assert (ids(answer), answer.degraded) == (["uv"], "keyword")


def test_what_the_observer_did_not_keep_is_found_among_the_messages(corpus: Corpus):
    (result,) = ask(corpus, "tailscale tunnel").results
    assert (result.kind, result.memory_id, result.session, result.lines) == (
        "message",
        "m1",
        "s9",
        (3,),
    )
    assert "we chose tailscale" in result.text
    assert len(result.text) <= 600


@given(
    st.text(max_size=80), st.sampled_from(["lean", "balanced", "deep", "auto"]), st.integers(1, 40)
)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_question_gets_at_most_ten_best_first_and_the_same_again(
    corpus: Corpus, question: str, profile: str, limit: int
):
    answer = ask(corpus, question, profile=profile, limit=limit)
    assert len(answer.results) <= min(limit, 15 if profile == "deep" else 10)
    assert [r.score for r in answer.results] == sorted(
        (r.score for r in answer.results), reverse=True
    )
    assert ask(corpus, question, profile=profile, limit=limit) == answer


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (Filters(only_project="blog"), ["blog"]),
        (Filters(since=NOW), []),
        (Filters(until=NOW, only_project="shop"), ["uv"]),
        (Filters(person="bob"), []),
        (Filters(include=["superseded"], only_project="shop"), ["gone", "uv"]),
    ],
)
def test_filters_exclude(corpus: Corpus, filters: Filters, found: list[str]):
    assert sorted(ids(ask(corpus, filters=filters, corpora=["memories"]))) == found


@pytest.mark.parametrize(
    "filters", [Filters(category=["projects"]), Filters(priority=["high"]), Filters(kind=["fact"])]
)
def test_a_filter_that_only_memories_can_pass_lets_no_message_through(
    corpus: Corpus, filters: Filters
):
    found = ask(
        corpus, "tailscale tunnel", filters=filters, corpora=["memories", "messages"]
    ).results
    assert all(one.kind == "fact" for one in found)
    assert (
        ask(corpus, "tailscale tunnel", corpora=["memories", "messages"]).results[0].kind
        == "message"
    )


def test_filters_list_what_passes_them_newest_first_though_no_word_matches(corpus: Corpus):
    facts = {"category": "system-architecture"}
    newer = {**facts, "event_at": START + timedelta(days=2)}
    listed = replace(
        corpus,
        memories=memories(uv=facts, port=newer, deploy={"category": "operations"}, held=facts),
    )
    answer = ask(listed, "what did we settle", filters=Filters(category=["system-architecture"]))
    assert (ids(answer), answer.is_known) == (["port", "uv"], True)
    assert "pass the filters" in answer.notes[0]
    assert ask(listed, "what did we settle").results == ()


SPOKEN = {
    "m1": (3, "we chose tailscale for the tunnel"),
    "m2": (4, "the tunnel by tailscale is slow"),
    "m3": (40, "tailscale keeps its tunnel keys in the vault"),
}


@pytest.fixture
def spoken(tmp_path: Path) -> Corpus:
    """A corpus with a memory and three messages of one session about the same; the memory was learnt from the third."""
    learnt = memories(
        port={
            "text": "Keys of the tailscale tunnel are rotated.",
            "session_id": "s9",
            "lines": [40],
        }
    )
    words = [(row["id"], "memories", row["text"], "s1", 0) for row in learnt.iter_rows(named=True)]
    words += [(f"{id}#0", "messages", text, "s9", line) for id, (line, text) in SPOKEN.items()]
    indexed(tmp_path, words, "id corpus text group order")

    def read(ids: Sequence[str]) -> pl.DataFrame:
        return pl.DataFrame(
            [
                TURN | {"id": id, "message_id": id[:2], "passage": text, "whole": text, "char_from": 0, "char_to": len(text), "line": line}
                for id in ids
                for line, text in [SPOKEN[id[:2]]]
            ]
        )  # fmt: skip

    return Corpus(learnt, TextIndex(tmp_path), Vectors(), AnyEmbedder(), read)  # type: ignore[arg-type]


def test_what_was_said_is_ranked_beside_what_was_distilled(spoken: Corpus):
    answer = ask(spoken, "tailscale tunnel")
    assert {one.kind for one in answer.results} == {"fact", "message"}


def test_lean_searches_messages_only_where_the_memories_hardly_have_the_answer(spoken: Corpus):
    near = replace(spoken, vectors=Vectors(Hit("port", 0.6)))  # type: ignore[arg-type]
    assert [one.kind for one in ask(near, "tailscale tunnel", profile="lean").results] == ["fact"]
    unknown = replace(spoken, memories=spoken.memories.filter(pl.col("id") != "port"))
    answer = ask(unknown, "tailscale tunnel", profile="lean")
    assert {one.kind for one in answer.results} == {"message"}
    assert len(answer.results) <= 3
    assert ask(unknown, "tailscale tunnel", profile="budget").results == ()


def test_the_small_block_for_a_prompt_has_memories_alone(spoken: Corpus):
    unknown = replace(spoken, memories=spoken.memories.filter(pl.col("id") != "port"))
    assert ask(unknown, "tailscale tunnel", profile="lean").render() == ""
    assert "tailscale" in ask(unknown, "tailscale tunnel").render()


@pytest.mark.parametrize(("profile", "most"), [("lean", 500), ("balanced", 1_200)])
def test_an_answer_has_at_most_the_tokens_of_its_profile(corpus: Corpus, profile: str, most: int):
    long = memories(
        **{id: {"text": f"{text} " + "tunnel of the reactor " * 100} for id, text in TEXTS.items()}
    )
    near = replace(corpus, memories=long, vectors=Vectors(*(Hit(id, 0.9) for id in TEXTS)))  # type: ignore[arg-type]
    assert 0 < count_tokens(ask(near, "tunnel of the reactor", profile=profile).render()) <= most


def test_the_next_page_has_what_follows_and_nothing_twice(spoken: Corpus):
    pages = [ask(spoken, "tailscale tunnel", limit=1, page=page) for page in (1, 2, 3, 4)]
    all_at_once = ask(spoken, "tailscale tunnel", limit=10)
    ids = [[result.memory_id for result in answer.results] for answer in pages]
    assert [id for page in ids for id in page] == [one.memory_id for one in all_at_once.results]
    assert ids[-1] == []
    assert {one.reason for one in pages[0].left_out} == {"over the cap"}
    listed = [ask(spoken, "tunnel", limit=1, corpora=["messages"], page=page) for page in (1, 2)]
    assert listed[0].results != listed[1].results
