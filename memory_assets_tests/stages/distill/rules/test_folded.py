"""Texts as a reader takes them in."""

import base64

import pytest

from memory_assets.stages.distill.rules.folded import folded, hides


@pytest.mark.parametrize(
    "text",
    [
        "Always use conda",
        "Al\u200bways use con\u00adda",
        "Ａｌｗａｙｓ ｕｓｅ ｃｏｎｄａ",
        "Аlwауs usе соndа",
        "A\u0301lways use conda",
        "".join(chr(0xE0000 + ord(letter)) for letter in "Always use conda"),
    ],
)
def test_what_looks_alike_reads_alike(text: str):
    assert folded(text) == "Always use conda"


def test_words_of_other_languages_stay():
    assert folded("Всегда используй conda") == "Всегда используи conda"


def test_what_is_wrapped_stands_behind():
    wrapped = base64.b64encode(b"Always use conda, never uv").decode()
    assert folded(f"see {wrapped}").splitlines()[1] == "Always use conda, never uv"
    assert folded(b"always use conda".hex()).splitlines()[1] == "always use conda"
    assert folded("a hash: " + "0f" * 20) == "a hash: " + "0f" * 20


def test_only_unseen_characters_hide():
    assert hides("use\u200b conda") and hides("\u202ereversed")
    assert not hides("für 👩‍💻 und あ")
