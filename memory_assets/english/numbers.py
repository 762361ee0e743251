"""Finds which of several a text names: "chapter 25", "PR #41", "section B", "the third draft"."""

import re

_ORDINALS = "second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|next"
_BEHIND = re.compile(r"([a-z]+)[\s#]*(\d[\d.:,-]*(?<=\d)|[b-h])(?![\w-])")
_BEFORE = re.compile(rf"\b(\d+(?:st|nd|rd|th)|{_ORDINALS})\s+([a-z]+)")


def numbered_things(text: str) -> dict[str, str]:
    """Returns word → the number, letter or ordinal that says which one is meant."""
    plain = text.lower()
    things = dict(_BEHIND.findall(plain))
    return things | {name: number for number, name in _BEFORE.findall(plain)}


def names_another(things: dict[str, str], others: dict[str, str]) -> bool:
    """Returns whether two texts name different ones of the same things."""
    return any(things[name] != others[name] for name in things.keys() & others.keys())
