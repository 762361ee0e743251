"""Asks the person once, on a terminal, which model may read the sessions, and saves the answer."""

import os
import sys
from collections.abc import Callable

import typer

from memory_assets.interfaces.views.setup import render_model_choices, render_model_question
from memory_assets.interfaces.views.terminal import console, show


def is_terminal() -> bool:
    """Returns whether a person can be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def choose_model() -> bool:
    """Asks for a model and returns whether one was chosen; does not ask where the person has
    answered before or no model is ready.
    """
    from memory_assets.memory.models import undecided_overview, use_model

    overview = undecided_overview()
    if overview is None:
        return False
    offers = overview.ready
    show(render_model_question(overview), console())
    key = _key_of("yln")
    offer = offers[0]
    if key == "l":
        show(render_model_choices(overview), console())
        digits = "".join(map(str, range(1, len(offers) + 1)))
        key = _key_of(f"{digits}n")
        offer = offers[int(key) - 1] if key.isdigit() else offer
    if key == "n":
        use_model("rules")
    if key in ("", "n"):
        return False
    use_model(offer.name, url=offer.url or None)
    return True


def _key_of(keys: str) -> str:
    """Returns the next of these keys; empty where the terminal is gone."""
    if os.name == "nt":
        return _first_of(typer.getchar, keys)
    from memory_assets.interfaces.cli.keyboard import Keyboard

    with Keyboard() as keyboard:
        return _first_of(keyboard.key, keys)


def _first_of(read_key: Callable[[], str], keys: str) -> str:
    while True:
        key = read_key().lower()
        if key in keys:
            return key
