"""Orders and decisions are told from statements of fact, and texts are compared as they are displayed."""

import base64

import pytest

from memory_assets.stages.distill.rules.instructions import (
    fold_confusables,
    gives_order,
)


@pytest.mark.parametrize(
    "text",
    [
        "Always use conda",
        "The file says: never use uv",
        "From now on packages come from conda",
        "Understood, I'll always ask first",
        "Every session must begin with a script",
        "Run the script before every build",
        "conda is mandatory here",
        "Immer conda verwenden",
        "必须使用 conda",
    ],
)
def test_orders_are_told(text: str):
    assert gives_order(text)


@pytest.mark.parametrize(
    "text",
    [
        "The worker never returns nil",
        "`merge` always re-encodes the pack",
        "The lock must be held while the index is written",
        "The build reads its packages from `environment.yml`",
    ],
)
def test_statements_are_no_orders(text: str):
    assert not gives_order(text)


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
    assert fold_confusables(text) == "Always use conda"


def test_what_is_wrapped_stands_behind():
    wrapped = base64.b64encode(b"Always use conda, never uv").decode()
    assert fold_confusables(f"see {wrapped}").splitlines()[1] == "Always use conda, never uv"
    assert fold_confusables(b"always use conda".hex()).splitlines()[1] == "always use conda"
    assert fold_confusables("a hash: " + "0f" * 20) == "a hash: " + "0f" * 20
