"""What was said is found by its words, by what stands around it, by its session, and by the memories learnt there."""

from pathlib import Path

import numpy as np
import pytest

from memory_assets.schema.protocols import Texts
from memory_assets.stages.embed.project import PASSAGES_A_LINE
from memory_assets.stages.recall.layout import Layout
from memory_assets.stages.recall.message_search import (
    FEEDBACK,
    Origin,
    SearchQuery,
    adjusted,
    find_messages,
    words_named,
)
from memory_assets_tests.stages.recall.recalled import indexed

SAID = {
    ("a", 1): "Where does the tunnel end?",
    ("a", 2): "In Leith, on the second host.",
    ("a", 3): "Good.",
    ("b", 1): "The billing job runs at four.",
    ("b", 2): "Move it to five.",
    ("b", 9): "Bananas are yellow.",
}


def ids(texts: Texts, terms: str, **how) -> list[str]:
    asked = {name: how.pop(name, None) for name in ("vector", "words", "word_weights")}
    query = SearchQuery(terms, dict.fromkeys(terms.split(), 1.0), **asked)
    return [
        one.passage_id
        for one in find_messages(query, texts, Layout(texts, 2), how.pop("origins", []), **how)
    ]


@pytest.fixture
def texts(tmp_path: Path) -> Texts:
    rows = [
        (
            f"{session}{line}",
            "messages",
            text,
            session,
            line * PASSAGES_A_LINE,
            [1.0, 0.0] if session == "b" else [0.0, 1.0],
        )
        for (session, line), text in SAID.items()
    ]
    return indexed(tmp_path, rows, "id corpus text group order vector")


def test_an_answer_is_found_by_the_words_of_the_question_before_it(texts: Texts):
    assert ids(texts, "tunnel end")[:2] == ["a1", "a2"]


@pytest.fixture
def told(tmp_path: Path) -> Texts:
    """Messages that the question's word finds; one that is near to them, and one that is nearer to the question, say nothing."""
    near = {f"asked{n}": [0.6, 0.8] for n in range(FEEDBACK)} | {
        "told": [0.1, 0.995],
        "far": [0.2, -0.98],
    }
    said = {id: "tunnel" if id.startswith("asked") else "nothing" for id in near}
    rows = [
        {
            "id": id,
            "corpus": "messages",
            "text": said[id],
            "group": id,
            "order": 0,
            "vector": vector,
        }
        for id, vector in near.items()
    ]
    return indexed(tmp_path, rows)


def test_what_is_near_to_the_messages_found_first_is_found_without_a_word_of_the_question(
    told: Texts,
):
    found = ids(told, "tunnel", vector=np.array([1.0, 0.0], dtype=np.float32))
    assert found.index("told") < found.index("far")


def test_what_a_fitting_memory_was_learnt_from_comes_first(texts: Texts):
    origins = [Origin("b", 9, 1.0)]
    assert ids(texts, "", origins=origins)[0] == "b9"


def codes(*places: int) -> np.ndarray:
    """Codes that are like one another where they have the same place."""
    return (np.eye(48)[list(places)] * 127).astype(np.int8)


def test_of_messages_alike_the_one_whose_words_mean_what_is_asked_comes_first(tmp_path: Path):
    rows = [
        (id, "messages", "the tunnel", id, codes(*places).tobytes())
        for id, places in (("m", [1, 2]), ("n", [2, 3]))
    ]
    rows.append(("o", "messages", "the tunnel", "o", None))
    texts = indexed(tmp_path, rows, "id corpus text group words")
    assert ids(texts, "tunnel", words=codes(3))[0] == "n"
    assert ids(texts, "tunnel", words=codes(1))[0] == "m"


def coded(tmp_path: Path, *rows: tuple[str, str, list[int]]) -> Texts:
    """Messages of one session each, given by id, session and the codes of their words, which all say the same."""
    rows_of_index = [
        (id, "messages", "the tunnel", session, codes(*places).tobytes(), at)
        for at, (id, session, places) in enumerate(rows)
    ]
    return indexed(tmp_path, rows_of_index, "id corpus text group words order")


def test_of_messages_alike_the_one_that_goes_on_to_say_the_rest_comes_first(tmp_path: Path):
    texts = coded(
        tmp_path,
        ("alone", "s", [1, 7]),
        ("other", "s", [8]),
        ("begins", "t", [1, 7]),
        ("goes on", "t", [2]),
    )
    assert ids(texts, "tunnel", words=codes(1, 2))[0] == "begins"


def test_a_message_comes_once_by_its_best_passage(tmp_path: Path):
    rows = [
        ("m#0", "messages", "lunch", "m"),
        ("m#1", "messages", "the tunnel", "m"),
        ("n#0", "messages", "a tunnel of love", "n"),
    ]
    texts = indexed(tmp_path, rows, "id corpus text parent")
    assert ids(texts, "tunnel") == ["m#1", "n#0"]


@pytest.mark.parametrize(
    ("person", "author", "role", "text", "expected"),
    [
        ("ann", "owner", "turn", "We use uv.", 0.65),
        ("bob", "owner", "turn", "We use uv.", 0.5),
        (None, "owner", "turn", "We use uv.", 0.5),
        ("ann", "assistant", "answer", "We use uv.", 0.5),
        ("bob", "owner", "turn", "Do we use uv? ", 0.45),
        ("bob", "assistant", "step", "Let me look at uv.", 0.4),
        ("bob", "assistant", "step", "uv " * 100, 0.5),
        ("bob", "assistant", "answer", "We use uv.", 0.5),
        ("bob", "owner", "turn", "ann: we use uv", 0.65),
        ("ann", "owner", "turn", "bob: we use uv", 0.5),
    ],
)
def test_a_named_speaker_gains_and_questions_and_remarks_on_the_way_lose(
    person: str | None, author: str, role: str, text: str, expected: float
):
    passage = {"person": person, "author": author, "role": role, "passage": text}
    passage |= {"whole": text, "char_from": 0, "char_to": len(text)}
    assert adjusted(passage, 0.5, words_named("What did Ann say about uv?")) == pytest.approx(
        expected
    )
