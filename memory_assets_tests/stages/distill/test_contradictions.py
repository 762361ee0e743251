"""A fact that turns its sentence round is found; one that says it in other words is not."""

import pytest

from memory_assets.stages.distill.contradictions import is_contradicted
from memory_assets.stages.distill.write_gate import judge
from memory_assets_tests.stages.distill.models import answered
from memory_assets_tests.stages.distill.sessions import messages, said, window, windows

INVERSIONS = [
    (
        "The volume /srv/data is mounted read-only on the build hosts.",
        "`/srv/data` is mounted read-only on build hosts",
        "`/srv/data` is mounted read-write on build hosts",
    ),
    ("never push to main without asking me", "Never push to main without asking", "Always push to main without asking"),
    ("use uv here, not pip", "Use uv here, not pip", "Use pip here, not uv"),
    ("run the linter before you push", "Run the linter before pushing", "Run the linter after pushing"),
    (
        "The planner does not retry failed uploads, so a broken link ends the run.",
        "The planner does not retry failed uploads",
        "The planner retries failed uploads",
    ),
    (
        "Tags on the target are deleted only with --prune.",
        "With `--prune`, tags on the target are deleted",
        "Tags on the target are never deleted with `--prune`",
    ),
    (
        "The cache is enabled by default in production.",
        "The cache is enabled by default in production",
        "The cache is disabled by default in production",
    ),
    (
        "the api must stay backwards compatible, we are a library",
        "The API must stay backwards compatible",
        "The API need not stay backwards compatible",
    ),
    (
        "i prefer tabs over spaces in makefiles",
        "The owner prefers tabs over spaces in makefiles",
        "The owner prefers spaces over tabs in makefiles",
    ),
    (
        "The worker is stateless, so it can be restarted at any time.",
        "The worker is stateless and can be restarted at any time",
        "The worker is stateful and cannot be restarted at any time",
    ),
    (
        "The scheduler calls the planner, which depends on the cache.",
        "The planner depends on the cache",
        "The cache depends on the planner",
    ),
    (
        "Uploads are encrypted before they leave the host.",
        "Uploads are encrypted before they leave the host",
        "Uploads are not encrypted before they leave the host",
    ),
    ("The token is optional for public feeds.", "The token is optional for public feeds", "The token is required for public feeds"),
    (
        "Migrations run automatically when the service starts.",
        "Migrations run automatically when the service starts",
        "Migrations run manually when the service starts",
    ),
    (
        "Errors of the importer must not stop the nightly job.",
        "Importer errors must not stop the nightly job",
        "Importer errors must stop the nightly job",
    ),
    (
        "Staging shares its database with the demo, production does not.",
        "Staging shares its database with the demo",
        "Staging does not share its database with the demo",
    ),
    ("The index keeps deleted rows for ninety days.", "The index keeps deleted rows for ninety days", "The index drops deleted rows for ninety days"),
    (
        "Requests over ten megabytes are rejected by the gateway.",
        "The gateway rejects requests over ten megabytes",
        "The gateway accepts requests over ten megabytes",
    ),
    ("dont ever use --no-verify when committing", "Never use `--no-verify` when committing", "Always use `--no-verify` when committing"),
    (
        "The retention must be at least thirty days for invoices.",
        "The retention of invoices must be at least thirty days",
        "The retention of invoices must not be at least thirty days",
    ),
    ("The sidecar is deployed without a readiness probe.", "The sidecar is deployed without a readiness probe", "The sidecar is deployed with a readiness probe"),
    ("Health checks are synchronous in the new router.", "Health checks are synchronous in the new router", "Health checks are asynchronous in the new router"),
    ("The parser is safe to call from several threads.", "The parser is safe to call from several threads", "The parser is unsafe to call from several threads"),
    ("Certificate verification is off in the test cluster.", "Certificate verification is off in the test cluster", "Certificate verification is on in the test cluster"),
]  # fmt: skip

each = pytest.mark.parametrize(
    ("source", "faithful", "inverted"), INVERSIONS, ids=[one[2] for one in INVERSIONS]
)


@each
def test_an_inversion_contradicts_its_sentence_and_a_faithful_fact_does_not(
    source: str, faithful: str, inverted: str
):
    assert is_contradicted(inverted, [source])
    assert not is_contradicted(faithful, [source])


@each
def test_the_gate_discards_the_inversion_of_a_model_and_keeps_the_faithful_fact(
    source: str, faithful: str, inverted: str
):
    from memory_assets.stages.distill.day import find_in_windows

    rows = said(
        ("owner", f"what do we know about this? {source}"), ("assistant", f"Noted: {source}")
    )
    answer = "\n".join(
        f"- 🔴 (09:00) [gate=allow confidence=0.9 category=projects] {fact}"
        for fact in (faithful, inverted)
    )
    frame = messages(rows)
    (found,) = find_in_windows(windows(window(rows)), frame, answered(frame, answer))
    verdicts = {
        one.candidate.text: (one.verdict, one.reason) for one in judge(found.observed.candidates)
    }
    assert verdicts[inverted] == ("discard", "says the opposite of its evidence")
    assert verdicts[faithful][0] == "allow"


@pytest.mark.parametrize(
    ("fact", "sources"),
    [
        (
            "The cache is disabled in production",
            ["The cache is enabled in production.", "I disabled the cache in production."],
        ),
        ("The planner retries failed uploads", ["Does the planner not retry failed uploads?"]),
        ("The old importer was removed from the worker", ["The old importer runs in the worker."]),
        ("The worker reads from Redis", ["The gateway never writes to Postgres."]),
        (
            "Uploads are retried five times",
            ["- uploads, retries", "Uploads are retried five times."],
        ),
    ],
)
def test_a_change_a_question_and_another_subject_contradict_nothing(fact: str, sources: list[str]):
    assert not is_contradicted(fact, sources)
