"""Edits JSON as text: what is not edited keeps its order, indentation, line ends and spelling.

`parse` finds the place of each value. `insert_members` and `append_items` plan an insertion, which
`apply` carries out. `cut` removes one member or item with its comma; comments beside it stay.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()
_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*[\s\S]*?\*/')
"""A text, which may look as if it had a comment, or a comment."""
_LAST_COMMA = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])')
"""A text, or a comma behind the last member."""
_LINE_END = re.compile(r"[ \t]*[\r\n]")
_INDENT = re.compile(r"\n([ \t]+)\S")
BOM = "\ufeff"


@dataclass(frozen=True)
class Node:
    """A value and its place: `text[start:end]`."""

    start: int
    end: int
    value: Any
    keys: tuple[str, ...] = ()
    children: tuple["Node", ...] = ()
    member_start: int = 0
    """Where its key starts if it is a member of an object; else its own start."""

    def index(self, key: str) -> int:
        """Returns the index of an object's member; of a repeated key the last, as in `value`."""
        return len(self.keys) - 1 - self.keys[::-1].index(key)

    def child(self, key: str) -> "Node | None":
        """Returns the value of an object's member."""
        return self.children[self.index(key)] if key in self.keys else None


class Insertion(NamedTuple):
    """Text to insert before the character at that place."""

    at: int
    text: str


def parse(text: str, *, has_last_commas: bool = False) -> Node:
    """Returns the root; raises `ValueError` where the text is not JSON, maybe with comments or with
    commas behind last members.
    """
    text = _COMMENT.sub(_blanks, text)
    if has_last_commas:
        text = _LAST_COMMA.sub(_blanks, text)
    json.loads(text.removeprefix(BOM))
    start = len(text) - len(text.removeprefix(BOM))
    return _parse(text, start, start)


def _blanks(match: re.Match[str]) -> str:
    """Returns blanks for a comment or comma, so that places stay; a text as it is."""
    return match[0] if match[0][0] == '"' else re.sub(r"[^\r\n]", " ", match[0])


def insert_members(text: str, node: Node, members: Mapping[str, Any]) -> Insertion:
    """Returns the insertion of members at the end of an object."""
    keys = [f"{json.dumps(key, ensure_ascii=False)}: " for key in members]
    return _insert(text, node, list(zip(keys, members.values(), strict=True)))


def append_items(text: str, node: Node, values: Sequence[Any]) -> Insertion:
    """Returns the insertion of items at the end of an array."""
    return _insert(text, node, [("", value) for value in values])


def apply(text: str, insertions: Sequence[Insertion]) -> str:
    """Returns the text with the insertions, each at its place in the original text."""
    for insertion in sorted(insertions, reverse=True):
        text = text[: insertion.at] + insertion.text + text[insertion.at :]
    return text


def cut(text: str, node: Node, index: int) -> str:
    """Returns the text without one child of the node; others and comments stay as they are."""
    children = node.children
    member = children[index]
    if index > 0:
        start, end = _skip(text, children[index - 1].end), children[index].end
    elif len(children) > 1:
        start, end = children[0].member_start, children[1].member_start
    else:
        start, end = node.start + 1, node.end - 1
    if _COMMENT.search(text[start : member.member_start] + text[member.end : max(end, member.end)]):
        return _cut_between_comments(text, node, index)
    return text[:start] + text[end:]


def has_comments_beside(text: str, node: Node, index: int) -> bool:
    """Returns whether the node has a comment outside of its only child."""
    child = node.children[index]
    outside = text[node.start : child.member_start] + text[child.end : node.end]
    return _COMMENT.search(outside) is not None


def _cut_between_comments(text: str, node: Node, index: int) -> str:
    """Returns the text without the child and one comma: that behind it, else that before it."""
    member = node.children[index]
    text_before = text[: member.member_start]
    text_after = text[member.end :]
    is_last = index + 1 == len(node.children)
    limit = node.end - 1 if is_last else node.children[index + 1].member_start
    plain = _COMMENT.sub(_blanks, text)
    comma = plain.find(",", member.end, limit)
    if comma >= 0:
        text_after = text[member.end : comma] + text[comma + 1 :]
    elif index > 0:
        comma = plain.index(",", node.children[index - 1].end)
        text_before = text[:comma] + text[comma + 1 : member.member_start]
    # A comment up to the end of its line keeps that end.
    if _LINE_END.match(text_after):
        return text_before.rstrip() + text_after
    return text_before + text_after.lstrip()


def _parse(text: str, at: int, member_start: int) -> Node:
    """Returns the value that starts at the place or after blanks; its key is at `member_start`."""
    start = _skip(text, at)
    if text[start] not in "{[":
        value, end = _DECODER.raw_decode(text, start)
        return Node(start, end, value, member_start=member_start)
    keys: list[str] = []
    children: list[Node] = []
    is_object = text[start] == "{"
    at = _skip(text, start + 1)
    while text[at] not in "}]":
        key_start = at
        if is_object:
            key, at = _DECODER.raw_decode(text, at)
            keys.append(key)
            at = _skip(text, at) + 1
        children.append(_parse(text, at, key_start))
        at = _skip(text, children[-1].end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    values = [child.value for child in children]
    value = dict(zip(keys, values, strict=True)) if is_object else values
    return Node(start, at + 1, value, tuple(keys), tuple(children), member_start)


def _insert(text: str, node: Node, members: Sequence[tuple[str, Any]]) -> Insertion:
    """Returns the insertion of members at the end of a node, indented like those before it.

    A member is the text in front of its value (its key and a colon, or nothing), and the value.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    indentation = _INDENT.search(text)
    unit = indentation.group(1) if indentation else "  "
    outer = _indent_of_line(text, node.start)
    indent = outer + unit
    if _has_own_lines(text, node):
        indent = _indent_of_line(text, node.children[-1].member_start)
    line_start = newline + indent
    texts = (key + json.dumps(value, indent=unit, ensure_ascii=False) for key, value in members)
    lines = ",".join(line_start + member.replace("\n", line_start) for member in texts)
    if node.children:
        return Insertion(node.children[-1].end, "," + lines)
    is_on_one_line = "\n" not in text[node.start : node.end]
    return Insertion(node.start + 1, lines + newline + outer if is_on_one_line else lines)


def _has_own_lines(text: str, node: Node) -> bool:
    """Returns whether the last member of the node starts a line."""
    if not node.children:
        return False
    return not text[: node.children[-1].member_start].rpartition("\n")[2].strip()


def _indent_of_line(text: str, at: int) -> str:
    """Returns the blanks at the beginning of the line with that place."""
    line = text[:at].removeprefix(BOM).rpartition("\n")[2]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _skip(text: str, at: int) -> int:
    """Returns the place after blanks."""
    return next(_SPACE.finditer(text, at)).end()
