"""The rules observer on short sessions: what a person lays down or states is kept verbatim, what was verified, and nothing else."""

from datetime import timedelta

import pytest

from memory_assets.stages.distill.rules.candidates import Candidate
from memory_assets.stages.distill.rules.exchanges import Row
from memory_assets.stages.distill.rules.rules import MOST_CANDIDATES, find_candidates
from memory_assets.stages.distill.write_gate import judge
from memory_assets_tests.stages.distill.sessions import said


def found(rows: list[Row]) -> list[Candidate]:
    return find_candidates(rows, [list(range(len(rows)))])


def of_owner(*turns) -> list[Candidate]:
    return [candidate for candidate in found(said(*turns)) if candidate.author == "owner"]


def of_assistant(*turns) -> list[str]:
    return [candidate.text for candidate in found(said(*turns)) if candidate.author == "assistant"]


ASKED = ("owner", "install the dependencies please")
WITH_PIP = ("assistant", "I ran `pip install -r requirements.txt`, which installed 14 packages.")


def test_a_correction_is_kept_in_the_owners_words():
    (fact,) = of_owner(
        ASKED,
        WITH_PIP,
        ("owner", "no, use uv, not pip"),
        ("assistant", "Switched to uv: `uv sync` installs all."),
    )
    assert (fact.text, fact.quote) == ("Use uv, not pip.", "use uv, not pip")
    assert (fact.kind, fact.author, fact.strength, fact.priority, fact.lines) == (
        "correction",
        "owner",
        "explicit",
        "high",
        (4,),
    )


@pytest.mark.parametrize(
    ("turn", "kind", "text"),
    [
        ("never commit generated files in dist/", "rule", "Never commit generated files in dist/."),
        ("ok, from now on run `make lint` before a commit", "rule", "From now on run `make lint` before a commit."),
        ("run `make lint` before every push", "rule", "Run `make lint` before every push."),
        ("dont touch the files in vendor/ please", "rule", "Dont touch the files in vendor/ please."),
        ("every migration needs a rollback script", "rule", "Every migration needs a rollback script."),
        ("stop adding comments to every line", "rule", "Stop adding comments to every line."),
        ("i prefer short commit subjects without emoji", "preference", "The owner said: “i prefer short commit subjects without emoji”."),
        ("I'd rather have long names than comments", "preference", "The owner said: “I'd rather have long names than comments”."),
        ("i dont want mocks in the tests", "preference", "The owner said: “i dont want mocks in the tests”."),
        ("put migrations in db/migrate, not in app/", "correction", "Put migrations in db/migrate, not in app/."),
        ("instead of make, use just for tasks", "correction", "Instead of make, use just for tasks."),
        ("we decided to keep SQLite, because one writer is enough", "decision", None),
        ("let's stick to the name `shopctl` for the binary", "decision", None),
        ("we've switched from npm to pnpm yesterday", "state_change", "We've switched from npm to pnpm yesterday."),
        ("The Fly app is gone.", "state_change", "The Fly app is gone."),
        ("Jenkins is gone", "state_change", "The owner said: “Jenkins is gone”."),
        ("the api no longer listens on port 8080", "state_change", "The api no longer listens on port 8080."),
        ("we don't use Jira any more", "state_change", "We don't use Jira any more."),
        ("staging Postgres listens on 5432", "fact", "Staging Postgres listens on 5432."),
        ("Maria owns billing.", "fact", "Maria owns billing."),
        ("the retry limit is 5 in retry.go", "fact", "The retry limit is 5 in retry.go."),
        ("write generated files into ../shop/vendor, never into src/", "correction", None),
    ],
)  # fmt: skip
def test_what_the_owner_lays_down_or_states_is_kept(turn: str, kind: str, text: str | None):
    (fact,) = of_owner(ASKED, WITH_PIP, ("owner", turn))
    assert (fact.kind, fact.text) == (kind, text or f"{turn[0].upper()}{turn[1:]}.")
    assert [result.verdict for result in judge([fact])] == ["allow"]


@pytest.mark.parametrize(
    "turn",
    [
        "commit changes", "continue", "yes", "ok push it and open a PR", "can you run the tests again?", "please fix the lint errors",
        "what does this function do?", "do we need the requirements file at all?", "looks good", "1", "great work, never seen better",
        "I think we should always use uv", "maybe never commit the lock file", "if we moved to Postgres, the port would be 5432",
        "it never worked before", "the test always fails on my machine", "whenever I save, nothing happens", "never do that again",
        "use the new one instead", "review this branch. do not change any file", "don't push yet", "the bug is in cart.py:12",
        "the bot on the pr says: never commit the lock file", 'what is meant by "always use conda, never uv"?', "use tabs:,, and",
        "I want you to fix the test", "i want a button on the settings page", "let's see what happens with Postgres",
        "i'd like to do another review of the code base", "let's cut a branch and look at the numbers", "lets go for 1-3 with benchmarks",
        "I told you that the two lines in README.md belonged to another tool", "Build is clean, and `go vet` is clean",
        "immer erst die Tests laufen lassen", "that must be why it never worked", "the proxy returns 502 for grafana",
    ],
)  # fmt: skip
def test_errands_questions_doubts_stories_and_words_of_others_teach_nothing(turn: str):
    assert of_owner(ASKED, WITH_PIP, ("owner", turn), ("assistant", "Done.")) == []


def test_a_supposition_and_a_quotation_of_the_assistant_are_nobodys_rule():
    turn = "what could be simpler if:\n- the target is read only, we never merge in `sync.go`\n- bandwidth is free"
    assert of_owner(ASKED, WITH_PIP, ("owner", turn)) == []
    reply = "Two steps:\n- Never drop the fallback of `sync.go` without a test. It is used by old targets."
    assert (
        of_owner(
            ASKED,
            ("assistant", reply),
            ("owner", "- Never drop the fallback of `sync.go` without a test. what would that be"),
        )
        == []
    )


OPTIONS = "Two options:\n1. Keep `setup.py` and generate the lock file.\n2. Move the metadata into `pyproject.toml`. That is newer."
LETTERS = "Which do you want?\n\n- **A. Keep the design local** — nothing is committed.\n- **B. Keep the folder in git with `git add -f docs`.**"


@pytest.mark.parametrize(
    ("offered", "turn", "text"),
    [
        (OPTIONS, "2", "Move the metadata into `pyproject.toml`"),
        (OPTIONS, "yes, do 2", "Move the metadata into `pyproject.toml`"),
        (OPTIONS, "option 1 please", "Keep `setup.py` and generate the lock file"),
        (LETTERS, "a", "Keep the design local — nothing is committed"),
        (LETTERS, "let's go with B", "Keep the folder in git with `git add -f docs`"),
    ],
)
def test_a_label_picks_the_option_that_was_offered_with_it(offered: str, turn: str, text: str):
    (fact,) = of_owner(ASKED, ("assistant", offered), ("owner", turn), ("assistant", "Done."))
    assert fact.text == f"{text} (approved by the owner: “{turn}”)."
    assert (fact.kind, fact.lines, fact.quote) == ("decision", (2, 4), fact.quote)
    assert fact.quote in offered.replace("**", "")


@pytest.mark.parametrize(
    ("offered", "turn"),
    [
        (OPTIONS, "B"), (LETTERS, "2"), (OPTIONS, "3"), (OPTIONS, "2 is nicer, but let me think"), (LETTERS, "not a"),
        ("I did three things:\n1. I read the code.\n2. I changed the parser everywhere.\nAll done.", "2"),
        (f"{OPTIONS}\n\nAnd the tests?\n1. Keep the old tests.\n2. Drop the old tests.", "2"),
        ("What next?\n1. Commit everything on the branch.\n2. Push the branch to origin.", "2"),
        ("Understood.", "2"),
    ],
)  # fmt: skip
def test_a_label_that_nobody_offered_in_that_form_picks_nothing(offered: str, turn: str):
    assert of_owner(ASKED, ("assistant", offered), ("owner", turn), ("assistant", "Done.")) == []


OFFERED = "I'd retry twice with `backoff`, because the proxy drops idle connections. Want me to make the change?"
RECOMMENDED = "I'd recommend keeping `uv.lock` in git, because CI installs from it."


@pytest.mark.parametrize(
    ("offered", "turn"),
    [
        (RECOMMENDED, "hmm ok but why"), (RECOMMENDED, "ok, continue"), (RECOMMENDED, "yes, do that"), (OFFERED, "yes, do it"),
        (f"{RECOMMENDED} Should I drop `requirements.txt`?", "yes"), ("The lint error is gone. Want me to commit and push this?", "yes"),
        ("Should I add a test for the parser?", "yes"), ("I kept `uv.lock` in git.", "yes"),
    ],
)  # fmt: skip
def test_a_yes_to_an_offer_is_an_errand(offered: str, turn: str):
    assert of_owner(ASKED, ("assistant", offered), ("owner", turn), ("assistant", "Done.")) == []


TURNS = "How do the agents alternate?\n\nA) Short turns: each agent holds the lease of the document for a minute.\nB) No lease at all."
SIGNAL = "How does an agent say that it is done?\n\nA) It gives the lease of the document back.\nB) It writes a file `done.json`."


def test_an_option_is_taken_back_by_a_later_choice_about_its_subject_or_by_a_complaint():
    picked = (ASKED, ("assistant", TURNS), ("owner", "A"), ("assistant", "Ok."))
    text = "Short turns: each agent holds the lease of the document for a minute (approved by the owner: “A”)."
    assert [
        (fact.text, fact.is_overturned)
        for fact in of_owner(*picked, ("owner", "and now the colours"))
    ] == [(text, False)]
    again = of_owner(*picked, ("owner", "next"), ("assistant", SIGNAL), ("owner", "b"))
    assert [fact.is_overturned for fact in again if fact.text == text] == [True]
    disliked = of_owner(*picked, ("owner", "I don't like that an agent has turns"))
    assert {fact.text: fact.is_overturned for fact in disliked} == {
        "The owner said: “I don't like that an agent has turns”.": False,
        text: True,
    }


@pytest.mark.parametrize(
    "turn",
    [
        "do we need the retry in `client.py` at all then?", "yes, cache prices for ten minutes",
        "don't do that for the integration tests", "needs to be set to 1 for true colours", "we need to rename the parser module",
        "we still have to port the settings page", "the light theme needs to be adjusted accordingly",
        "we should add a section on themes to the readme", "write a plan in docs/plan.md, it needs to cover all the steps",
        "don't make that change in the parser", "no need to run the tests!", "no problem!", "this must never happen in production",
        "I told you to fix the tests in the parser", "the review of the previous commit must not be empty",
    ],
)  # fmt: skip
def test_tasks_and_words_without_their_referent_are_dropped(turn: str):
    reply = "You're right: the retry in `client.py` is not needed, and the integration tests cache prices in `redis`."
    assert of_owner(ASKED, ("assistant", reply), ("owner", turn), ("assistant", reply)) == []


@pytest.mark.parametrize(
    ("turn", "kind", "text"),
    [
        ("no console logs!", "rule", "The owner said: “no console logs”."),
        ("crashed with -r. invalid themes must NEVER explode", "rule", "Invalid themes must NEVER explode."),
        ("omg use uv, no pip", "correction", "Use uv, no pip."),
        ("let's poll every 600 s instead of 60", "correction", "Let's poll every 600 s instead of 60."),
        ("we should only run the export on Sundays", "rule", "We should only run the export on Sundays."),
        ("all exports of the ledger need to be signed", "rule", "All exports of the ledger need to be signed."),
        ("there must be no output in library code", "rule", "There must be no output in library code."),
        ("`Theme.load` should return an error that the caller can show", "rule", None),
        ("i would only want e2e tests for the session", "preference", "The owner said: “i would only want e2e tests for the session”."),
        ("I don't like that both agents have turns", "preference", "The owner said: “I don't like that both agents have turns”."),
        ("I told every one of you: never touch the vendor folder", "rule", "Never touch the vendor folder."),
        ("I said that twice already: use the real database fixtures", "rule", "Use the real database fixtures."),
    ],
)  # fmt: skip
def test_bans_wishes_and_repetitions_are_kept(turn: str, kind: str, text: str | None):
    (fact,) = of_owner(ASKED, WITH_PIP, ("owner", turn), ("assistant", "Ok."))
    assert (fact.kind, fact.text) == (kind, text or f"{turn}.")
    assert [result.verdict for result in judge([fact])] == ["allow"]


CAUSE = (
    "The root cause was the stale mount on `/srv/data`: the `db` container could not see new files."
)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (f"{CAUSE} I remounted it and verified that `make test` is green.", "thanks"),
        (f"{CAUSE} After a remount `make test` passes.", "thanks"),
        (f"{CAUSE} I remounted it.", "great, it works"),
    ],
)
def test_a_cause_that_was_verified_is_kept(reply: str, answer: str):
    assert of_assistant(
        ("owner", "the tests cannot reach the database"), ("assistant", reply), ("owner", answer)
    ) == [CAUSE]


@pytest.mark.parametrize(
    "reply",
    [
        "So if the 401 came from `proxy`, the root cause is `auth.py`. I verified it.",
        "The PR covers the root cause and the tests. I verified that `make test` is green.",
        "The review found a real bug in `db.py`: the pool can panic without a host. I verified it.",
        CAUSE, f"{CAUSE} I have not verified that yet.", f"{CAUSE} Let me run the tests; they should pass.",
        f"{CAUSE.replace('was', 'is probably')} I verified that `make test` is green.",
        "It was caused by a stale mount. I verified that `make test` is green.",
        "The fixture lives in `tests/conftest.py`, because `total()` rounds with `Decimal`. All tests pass.",
        "I'll add the fixture to `tests/conftest.py` now. I confirmed that it is green.",
    ],
)  # fmt: skip
def test_what_was_not_verified_or_is_no_cause_is_left_out(reply: str):
    assert (
        of_assistant(
            ("owner", "the tests cannot reach the database"), ("assistant", reply), ("owner", "ok")
        )
        == []
    )


def test_another_value_of_the_same_subject_overturns_the_earlier_one():
    first, later = (
        ("owner", "the link text should be as dark as the accent"),
        ("owner", "the link text is #81a2be in the old theme"),
    )
    assert [fact.is_overturned for fact in of_owner(first, WITH_PIP)] == [False]
    assert [
        fact.is_overturned for fact in of_owner(first, WITH_PIP, later) if "accent" in fact.text
    ] == [True]
    assert [
        fact.is_overturned
        for fact in of_owner(first, WITH_PIP, ("owner", "is the link text blue?"))
    ] == [False]


def test_the_owners_later_decision_overturns_their_earlier_one():
    facts = of_owner(
        ("owner", "let's name the binary `shopctl` in cmd/shop"),
        ("assistant", "Renamed the binary."),
        ("owner", "or no, let's name the binary `cartctl` in cmd/shop"),
    )
    assert [fact.is_overturned for fact in facts if "shopctl" in fact.text] == [True]


def test_a_window_gives_few_facts_and_the_same_session_the_same_ones():
    names = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda omicron sigma tau upsilon omega rho".split()
    rows = said(
        *[("owner", f"{name.title()} owns {name}-service on {name}-host.") for name in names]
    )
    for number, row in enumerate(rows):
        row["event_at"] += timedelta(minutes=number)
    assert len(found(rows)) == MOST_CANDIDATES < len(names)
    assert found(rows) == found([dict(row) for row in rows])
