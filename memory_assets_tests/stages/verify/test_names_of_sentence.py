"""What a sentence of a memory names: what has the shape of a name, and nothing of its prose."""

import pytest

from memory_assets.stages.verify.names_of_sentence import names_in_sentence


def names(sentence: str) -> list[tuple[str, str]]:
    return [(named.kind, named.text) for named in names_in_sentence(sentence)]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("src/tide/feed.py polls the gauges.", [("path", "src/tide/feed.py")]),
        (
            "Run `make lint` before `npm run build:web`.",
            [("make target", "lint"), ("package script", "build:web")],
        ),
    ],
)
def test_what_has_the_shape_of_a_name_is_one(sentence: str, expected: list[tuple[str, str]]):
    assert names(sentence) == expected
