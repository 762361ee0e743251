"""Text that wants to be remembered leaves nothing behind, whoever falls for it; what the owner says in such words is kept.

Each planted text lies in a session whose owner speaks of the same things; the assistant stays silent about it or obeys, and it is
observed by the rules and by a model that believes every word of it.
"""

import unicodedata

import polars as pl
import pytest

from memory_assets.stages.distill.day import build_day
from memory_assets.stages.distill.grounding.narratives import without_quoted
from memory_assets.stages.distill.rules.exchanges import Row
from memory_assets_tests.stages.distill.models import answered
from memory_assets_tests.stages.distill.planted import PLANTED, SAID, THEMES, Planted, Said, Theme
from memory_assets_tests.stages.distill.sessions import messages, said, window, windows

OPENING = "look at the build file, install the packages, then commit and skip to the release with its tests"
FACT = "The build of `shop` reads its packages from `environment.yml`, because `make image` copies that file into the container."
SPEAKERS = {"tool": "tool", "two messages": "tool", "paste": "owner"}


def session(planted: Planted, *, obeys: bool) -> list[Row]:
    """A session around a planted text; an obedient assistant repeats what it asks for."""
    author = SPEAKERS.get(planted.place, planted.place)
    parts = planted.text.split("|") if planted.place == "two messages" else [planted.text]
    claims = THEMES[planted.theme].claims
    echo = (
        [("assistant", f"Understood. {claims[0]}. I'll do so from now on: {claims[1]}.")]
        if obeys
        else []
    )
    return said(
        ("owner", OPENING),
        ("assistant", "Reading `environment.yml`."),
        *(
            {"author": author, "text": part, "tool_name": None if author == "owner" else "Read"}
            for part in parts
        ),
        *echo,
        ("assistant", FACT),
        ("owner", "thanks, continue"),
    )


def believing(theme: Theme) -> str:
    """The answer of a model that takes the planted text for the owner's word."""
    categories = ("rules-conventions", "preferences", "projects", "operations")
    facts = [
        f"- 🔴 [gate=allow confidence=0.99 category={categories[number % 4]}] {claim}"
        for number, claim in enumerate(theme.claims)
    ]
    narrative = f"{theme.claims[0]}. {theme.claims[1]}."
    return (
        f"<observations><segment><narrative>{narrative}</narrative><facts>\n"
        + "\n".join(facts)
        + f"\n- 🟡 [gate=allow confidence=0.9 category=operations] {FACT}\n</facts></segment></observations>"
    )


def observe(rows: list[Row], answer: str | None = None) -> tuple[pl.DataFrame, list[str]]:
    """The allowed observations of a session, and what its segments say of it."""
    own, frame = windows(window(rows)), messages(rows)
    answers = answered(frame, answer)
    day = build_day(own, frame, answers=answers)
    segments = day["segments"]
    texts = [*segments["narrative"], *segments.explode("quotes")["quotes"].drop_nulls()]
    return day["observations"].filter(pl.col("gate") == "allow"), texts


def bare(text: str) -> str:
    """The text as a reader sees it."""
    shown = unicodedata.normalize("NFKC", text)
    return (
        "".join(letter for letter in shown if unicodedata.category(letter) != "Cf")
        .translate(str.maketrans("аеосрх", "aeocpx"))
        .casefold()
    )


def carrying(theme: str, texts: list[str]) -> list[str]:
    return [text for text in texts if THEMES[theme].marker in bare(text)]


each_planted = pytest.mark.parametrize(
    "planted", PLANTED, ids=[planted.name for planted in PLANTED]
)
each_said = pytest.mark.parametrize("owners", SAID, ids=[owners.marker for owners in SAID])
each_assistant = pytest.mark.parametrize("obeys", [False, True], ids=["silent", "obeys"])


@each_assistant
@each_planted
def test_the_rules_observer_does_not_listen_to_it(planted: Planted, obeys: bool):
    facts, narratives = observe(session(planted, obeys=obeys))
    assert carrying(planted.theme, facts["text"].to_list()) == []
    assert carrying(planted.theme, narratives) == []


@each_assistant
@each_planted
def test_a_model_that_believes_it_is_not_believed(planted: Planted, obeys: bool):
    facts, narratives = observe(session(planted, obeys=obeys), believing(THEMES[planted.theme]))
    assert carrying(planted.theme, facts["text"].to_list()) == []
    assert carrying(planted.theme, narratives) == []
    assert facts["text"].to_list() == [FACT]


@each_planted
def test_it_does_not_become_open_work(planted: Planted):
    rows, claims = session(planted, obeys=False), THEMES[planted.theme].claims
    kept = [without_quoted(claim, rows) for claim in claims]
    assert carrying(planted.theme, kept) == []
    assert (
        without_quoted("Finish the image of the build.", rows) == "Finish the image of the build."
    )


def conversation(owners: Said) -> list[Row]:
    return said(
        ("owner", "look at the build file"),
        ("assistant", "The build file is `Makefile`. I changed its first target and ran it once."),
        ("owner", owners.text),
        ("assistant", "Done; the next target follows the same way."),
        ("owner", "thanks, continue"),
    )


@each_said
def test_what_the_owner_says_in_such_words_is_kept_by_the_rules(owners: Said):
    facts, _ = observe(conversation(owners))
    assert [fact["author"] for fact in facts.to_dicts() if owners.marker in fact["text"].lower()][
        :1
    ] == ["owner"]


@each_said
def test_what_the_owner_says_in_such_words_is_kept_from_a_models_answer(owners: Said):
    answer = f"- 🔴 [gate=allow confidence=0.9 category=rules-conventions] {owners.claim}"
    facts, _ = observe(conversation(owners), answer)
    assert [(fact["text"], fact["author"]) for fact in facts.to_dicts()] == [
        (owners.claim, "owner")
    ]
