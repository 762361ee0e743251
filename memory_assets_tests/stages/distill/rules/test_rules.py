"""The rules observer, heard on short sessions from a developer's day."""

import pytest

from memory_assets.stages.distill.rules.assistant_says import find_passages
from memory_assets.stages.distill.rules.candidates import Candidate
from memory_assets.stages.distill.rules.exchanges import Row, owner_sentences
from memory_assets.stages.distill.rules.rules import find_candidates
from memory_assets.stages.distill.standards import LEAST_USEFUL
from memory_assets.stages.distill.write_gate import usefulness_of
from memory_assets.text.sentences import split_message
from memory_assets_tests.stages.distill.sessions import said


def found(rows: list[Row]) -> list[Candidate]:
    return find_candidates(rows, [list(range(len(rows)))])


def of_owner(*turns) -> list[Candidate]:
    return [candidate for candidate in found(said(*turns)) if candidate.author == "owner"]


def of_assistant(*turns) -> list[str]:
    return [candidate.text for candidate in found(said(*turns)) if candidate.author == "assistant"]


ASKED = ("owner", "install the dependencies please")
WITH_PIP = ("assistant", "I ran `pip install -r requirements.txt`, which installed 14 packages.")
SWITCHED = ("assistant", "Switched to uv: `uv sync` now installs everything from `uv.lock`, and `requirements.txt` is gone.")


def test_a_correction_keeps_the_owners_words_and_what_they_came_to():
    (fact,) = of_owner(ASKED, WITH_PIP, ("owner", "no, use uv, not pip"), SWITCHED)
    assert "no, use uv, not pip" in fact.text
    assert "`uv sync` now installs everything from `uv.lock`" in fact.text
    assert (fact.kind, fact.author, fact.strength, fact.priority) == ("correction", "owner", "explicit", "high")
    assert (fact.lines, fact.quote) == ((4, 6), "no, use uv, not pip")


@pytest.mark.parametrize(
    ("turn", "kind"),
    [
        ("never commit generated files in dist/", "rule"),
        ("from now on always run `make lint` before a commit", "rule"),
        ("dont touch the files in vendor/ please", "rule"),
        ("i prefer short commit subjects without emoji", "preference"),
        ("too much jargon in the README, it should be focused", "preference"),
        ("we are also a library, not only a cli", "correction"),
        ("let's stick to the name shopctl for the binary", "decision"),
        ("I'm fine with breaking the stable API for this release", "decision"),
    ],
)
def test_what_the_owner_lays_down_is_heard(turn: str, kind: str):
    (fact,) = of_owner(ASKED, WITH_PIP, ("owner", turn))
    assert fact.kind == kind


@pytest.mark.parametrize(
    "turn",
    ["commit changes", "continue", "yes", "ok push it and open a PR", "can you run the tests again?", "what does this function do?", "how long do you think it takes",
     "looks good", "please fix the lint errors", "1"],
)  # fmt: skip
def test_errands_questions_and_bare_approvals_teach_nothing(turn: str):
    assert of_owner(ASKED, WITH_PIP, ("owner", turn), ("assistant", "Done. All tests pass.")) == []


def test_a_soft_question_that_is_conceded_is_a_correction():
    turns = (ASKED, WITH_PIP, ("owner", "do we need the requirements file at all then?"))
    (fact,) = of_owner(
        *turns, ("assistant", "You're right, `requirements.txt` is dead weight. Removed it, `uv.lock` replaces it.")
    )
    assert (fact.kind, fact.strength) == ("correction", "implied")
    assert of_owner(*turns, ("assistant", "Checking the build now.")) == []


PROPOSAL = (
    "assistant",
    "Two options:\n1. Keep `setup.py` and generate the lock file in CI.\n2. Move the metadata into `pyproject.toml` and delete `setup.py`.\n\nI'd recommend option 2.",
)


def test_an_approval_decides_what_was_proposed():
    (fact,) = of_owner(ASKED, PROPOSAL, ("owner", "yes, do 2"), ("assistant", "Moved the metadata."))
    assert fact.text == (
        "Move the metadata into `pyproject.toml` and delete `setup.py`."
        " Not: Keep `setup.py` and generate the lock file in CI. (the owner: “yes, do 2”)"
    )
    assert (fact.kind, fact.author, fact.lines) == ("decision", "owner", (2, 4))
    assert fact.quote == "Move the metadata into `pyproject.toml` and delete `setup.py`."


OFFERED = (
    "assistant",
    "`.gitignore` excludes `docs/`. Which do you want?\n\n- **A. Keep the design local** — nothing is committed.\n"
    "- **B. Force-add it** — `git add -f docs/design.md`.",
)


@pytest.mark.parametrize("turn", ["a", "local", "can we have option A then", "or no, do a"])
def test_an_option_is_picked_by_its_letter_or_its_name(turn: str):
    (fact,) = of_owner(ASKED, OFFERED, ("owner", turn), ("assistant", "Kept."))
    assert fact.text.startswith("Keep the design local — nothing is committed.")


def test_an_approval_is_worth_keeping_though_the_option_names_nothing_exact():
    offered = (
        "assistant",
        "Which do you want?\n\n- **A. Keep the design notes local** — nothing is committed, they stay out of git.\n"
        "- **B. Force-add them** — `git add -f docs/design.md`.",
    )
    (fact,) = of_owner(ASKED, offered, ("owner", "local"), ("assistant", "Kept."))
    assert usefulness_of(fact) >= LEAST_USEFUL


def test_a_line_that_only_reports_success_leads_to_nothing():
    bullet = "Restored `graph = nil` before the collection — frees 4 GB early on large repositories."
    for lead in ("Everything is clean. All four issues are fixed:", "All three findings addressed in `583fcf1a`:", "Done:"):
        assert [passage.text for passage in find_passages(split_message(f"{lead}\n\n- {bullet}\n"))] == [bullet]


def test_an_option_may_be_picked_after_another_question():
    turns = (ASKED, OFFERED, ("owner", "who reads it?"), ("assistant", "Only we do."), ("owner", "ok, option b"))
    (fact,) = of_owner(*turns)
    assert fact.text == "Force-add it — `git add -f docs/design.md`. Not: Keep the design local. (the owner: “ok, option b”)"


def test_a_wish_is_told_in_the_third_person():
    (fact,) = of_owner(ASKED, WITH_PIP, ("owner", "i dont want to remove any written details, thats your plan right?"))
    assert fact.text == "The owner does not want to remove any written details."


def test_a_path_upwards_is_kept_whole():
    (fact,) = of_owner(ASKED, WITH_PIP, ("owner", "never write generated files into ../shop/vendor from here"))
    assert fact.text == "Never write generated files into ../shop/vendor from here."


def test_what_is_said_to_somebody_is_told_or_left_out():
    reply = "Your config has `pro: true`, which the installed goreleaser refuses (if you are logged in it says so)."
    assert of_assistant(("owner", "why does the release fail"), ("assistant", reply)) == [
        "The owner's config has `pro: true`, which the installed goreleaser refuses."
    ]
    spoken = "You can run `make lint` in `infra/` before a commit, because I configured the hook in `.githooks`."
    assert of_assistant(("owner", "how do I lint"), ("assistant", spoken)) == []


@pytest.mark.parametrize(
    "turn",
    [
        "the bot on the pr says: never commit the lock file",
        "i want you to do a deep analysis of the requirements, it should be short",
        "i'm still struggling, maybe you can explain why we never pin versions",
    ],
)
def test_words_of_others_and_requests_to_be_told_something_make_no_rule(turn: str):
    assert of_owner(ASKED, WITH_PIP, ("owner", turn), ("assistant", "Done.")) == []


def test_what_is_offered_is_worth_less_than_what_was_done():
    done = "`uv sync` installs from `uv.lock` in `infra/image.sh`, because pip resolved other versions than the image."
    (told,) = found(said(("owner", "why uv"), ("assistant", done)))
    (offered,) = found(said(("owner", "why uv"), ("assistant", f"{done} Should I suggest that in the docs too?")))
    assert offered.usefulness < told.usefulness


def test_an_approval_of_an_errand_decides_nothing():
    offered = ("assistant", "The lint error is gone. Want me to commit and push this?")
    assert of_owner(ASKED, offered, ("owner", "yes"), ("assistant", "Pushed.")) == []


@pytest.mark.parametrize("turn", ["ok, continue", "okay open PR", "yes, merge"])
def test_an_approval_that_only_sends_on_decides_nothing(turn: str):
    plan = "I'd recommend keeping `uv.lock` in git, because CI installs from it in `.github/workflows/ci.yml`."
    assert of_owner(ASKED, ("assistant", plan), ("owner", turn), ("assistant", "Done.")) == []
    (fact,) = of_owner(ASKED, ("assistant", plan), ("owner", "yes, do that"), ("assistant", "Done."))
    assert fact.kind == "decision"


def test_a_line_that_a_terminal_broke_is_one_line():
    pasted = (
        "let's do the next step: add instrumentation that asserts how many probes the planning does on\n"
        "  representative histories, so future tuning is driven by measured deltas"
    )
    (sentence,) = owner_sentences(pasted)
    assert sentence.endswith(
        "probes the planning does on representative histories, so future tuning is driven by measured deltas"
    )


@pytest.mark.parametrize("start", ["All three are", "Some of it is", "None of these are"])
def test_a_count_of_what_was_named_before_does_not_stand_alone(start: str):
    assert (
        find_passages(split_message(f"{start} kept in `.opencode/plugins/entire.js`, which the loader reads at startup.")) == []
    )


def test_numbered_answers_decide_numbered_questions():
    asked = (
        "assistant",
        "Before I start:\n1. Linter strictness, full or light configuration?\n2. Run the tests with the race detector?",
    )
    texts = [fact.text for fact in of_owner(ASKED, asked, ("owner", "1. full\n2. yes add -race"))]
    assert texts == [
        "Run the tests with the race detector: the owner decided “yes add -race”.",
        "Linter strictness, full or light configuration: the owner decided “full”.",
    ]


def test_pasted_text_of_others_makes_no_rule():
    paste = (
        "can you look at this review:\n\n1. High: always use pip here, never uv. Never touch the lock file in shop/uv.lock:12."
    )
    assert of_owner(ASKED, WITH_PIP, ("owner", paste)) == []


CAUSE = "The root cause was the stale mount on `/srv/data`: the `db` container could not see new files, so `make test` failed until `sudo umount -l /srv/data`."


def test_a_root_cause_with_its_fix_is_kept():
    (text,) = of_assistant(
        ("owner", "the tests cannot reach the database"), ("assistant", f"{CAUSE} Want me to add that to the docs?")
    )
    assert text == CAUSE


@pytest.mark.parametrize(
    "reply",
    [
        "Let me check the state of `src/cart.py` and `tests/test_cart.py` first, because the fixture lives there.",
        "I'll add the fixture to `tests/conftest.py` now and run `make test` again afterwards.",
        "Now update `src/cart.py` so that `total()` rounds with `Decimal` and `ROUND_HALF_UP`.",
        "All tests pass.",
        "Should I also move `src/cart.py` into `src/shop/cart.py` and rename `total()`?",
    ],
)
def test_narration_plans_status_and_offers_are_left_out(reply: str):
    assert of_assistant(("owner", "fix the rounding in the cart"), ("assistant", reply)) == []


def test_a_pronoun_is_resolved_by_the_sentence_before_it_or_dropped():
    sentence = "`ShopClient` in `src/shop/client.py` retries every request."
    later = "It gives up after 5 attempts because the gateway in `infra/gateway.yaml` closes idle connections."
    assert all(
        not text.startswith("It ")
        for text in of_assistant(("owner", "how do retries work"), ("assistant", f"{sentence} {later}"))
    )
    assert of_assistant(("owner", "how do retries work"), ("assistant", later)) == []


def test_a_diagnosis_that_is_taken_back_is_marked():
    wrong = "The problem is the idle connection pool in `src/shop/client.py`: the gateway closes connections and `ShopClient` reuses stale ones."
    right = "My diagnosis was wrong: the idle connection pool of `ShopClient` is not the cause, a fresh connection fails too."
    facts = found(said(("owner", "uploads fail"), ("assistant", wrong), ("owner", "it still fails"), ("assistant", right)))
    assert [fact.is_overturned for fact in facts if fact.text == wrong] == [True]
    assert all(not fact.is_overturned for fact in facts if fact.text != wrong)


def test_the_owners_later_decision_overturns_their_earlier_one():
    facts = of_owner(
        ("owner", "let's name the binary shopctl in cmd/shop"),
        ("assistant", "Renamed the binary in `cmd/shop` to shopctl."),
        ("owner", "or no, let's name the binary cartctl in cmd/shop instead"),
        ("assistant", "Renamed the binary in `cmd/shop` to cartctl."),
    )
    holding = [fact.text for fact in facts if not fact.is_overturned]
    assert len(holding) == 1
    assert "cartctl" in holding[0]


def test_what_was_said_twice_is_found_once():
    assert (
        len(
            of_assistant(("owner", "why did it fail"), ("assistant", CAUSE), ("owner", "sure?"), ("assistant", f"Yes. {CAUSE}"))
        )
        == 1
    )


def test_clock_times_come_from_the_source_alone():
    reply = "The backup job in `infra/cron.yaml` runs at 3:30 because the gateway restarts at 04:00."
    (fact,) = found(said(("owner", "when does the backup run"), ("assistant", reply)))
    assert (fact.clock_times, fact.ungrounded_times) == (("03:30", "04:00"), ())


def test_the_same_session_gives_the_same_candidates():
    rows = said(ASKED, WITH_PIP, ("owner", "no, use uv, not pip"), SWITCHED)
    assert found(rows) == found([dict(row) for row in rows])
