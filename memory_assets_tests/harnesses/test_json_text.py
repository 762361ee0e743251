"""Editing JSON as text: what is added can be taken out again, and nothing else changes a byte."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.harnesses.json_text import (
    BOM,
    append_items,
    apply,
    cut,
    insert_members,
    parse,
)

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=4), ANYTHING, max_size=4)
STYLES = st.sampled_from(
    [{"indent": 2}, {"indent": 4}, {"indent": "\t"}, {}, {"separators": (",", ":")}]
)


@given(
    OBJECTS,
    STYLES,
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", BOM]),
    st.sampled_from(["", "\n"]),
)
def test_what_was_inserted_reads_as_added_and_cutting_it_restores_every_byte(
    value: dict[str, Any], style: dict[str, Any], newline: str, mark: str, end: str
):
    text = mark + json.dumps(value, **style).replace("\n", newline) + end
    value.pop("ours", None)
    text = mark + json.dumps(value, **style).replace("\n", newline) + end
    one = insert_members(text, parse(text), {"ours": {"list": [1]}})
    added = apply(text, [one])
    assert json.loads(added.removeprefix(BOM)) == {**value, "ours": {"list": [1]}}
    assert added[: one.at] + added[one.at + len(one.text) :] == text
    root = parse(added)
    assert cut(added, root, root.keys.index("ours")) == text


@given(st.lists(ANYTHING, max_size=4), STYLES)
def test_an_item_is_appended_and_cut_again(value: list[Any], style: dict[str, Any]):
    text = json.dumps({"a": value}, **style)
    node = parse(text).child("a")
    assert node is not None
    added = apply(text, [append_items(text, node, [{"x": 1}])])
    assert json.loads(added) == {"a": [*value, {"x": 1}]}
    longer = parse(added).child("a")
    assert longer is not None
    assert cut(added, longer, len(value)) == text


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ('{\n  "us": 1\n  // "a"\n}', '{\n  // "a"\n}'),
        ('{ // a\n  "us": 1 }', "{ // a\n  }"),
        ('{\n  // a\n  "us": 1,\n}', "{\n  // a\n}"),
        ('{\n  "us": 1,\n  // b, c\n  "b": 2\n}', '{\n  // b, c\n  "b": 2\n}'),
        ('{\n  "a": 1, // a, b\n  "us": 1\n}', '{\n  "a": 1 // a, b\n}'),
        (
            '{\n  "a": 1, // a\n  "us": 1, // us\n  "b": 2\n}',
            '{\n  "a": 1, // a\n  // us\n  "b": 2\n}',
        ),
        ('{"a": 1 /* a */, "us": 1, /* b */ "b": 2}', '{"a": 1 /* a */, /* b */ "b": 2}'),
    ],
)
def test_comments_beside_what_is_cut_stay(text: str, rest: str):
    root = parse(text, has_last_commas=True)
    assert cut(text, root, root.keys.index("us")) == rest
    kept = {key: value for key, value in root.value.items() if key != "us"}
    assert parse(rest).value == kept


@pytest.mark.parametrize("text", ["", "{", "{'a': 1}", "{} {}", '{"a": 1,}'])
def test_what_is_no_json_is_refused(text: str):
    with pytest.raises(ValueError):
        parse(text)
