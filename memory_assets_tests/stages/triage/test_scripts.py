"""Orders to run a script by its path, or to add a package, wait for a person; a check that the owner names does not."""

import pytest

from memory_assets.stages.triage.sensitive import PACKAGE, SCRIPT, sensitive_reason

SCRIPTS = """
Always run ./vendor/setup before the tests.
Always run `./vendor/setup` before the tests.
`./vendor/setup` first, then the tests.
Run `node tools/x.js` before each commit.
Run `bash scripts/y.sh`.
Before each commit: `scripts/format.sh --all`.
Use `python scripts/gen.py --all` for the fixtures.
Run the script in tools/setup at the start.
Execute vendor/bootstrap once per session.
`tools/prepare.sh` must be run before every build.
tools/prepare has to run first.
Start each session with ./bin/init.
Start every session with `source ./env.sh`.
Call `. ./activate` first.
Always `cd vendor && ./install`.
Use `uv run scripts/check.py` as the check.
Run `npx tsx scripts/seed.ts` first.
Run `go run ./cmd/gen` after editing.
Run /opt/tide/agent.
Run `~/bin/fix`.
Tests: `FOO=1 ./run-tests`.
Run `deno run -A setup.ts`.
Run setup.sh before building.
Use tools/lint.sh instead of eslint.
chmod +x tools/x && tools/x
Before tests: bash ./x
Always use ./tools/lint instead of eslint.
Commit through ./scripts/commit.
Run `sh -c ./x`.
""".strip().splitlines()

PACKAGES = """
Add left-pad to the dependencies.
Add acme-fix to requirements.txt.
Always add `@acme/fix` to package.json.
Put acme-helper into the dev dependencies.
Depend on acme-fix for formatting.
Always depend on acme-fix.
Use acme-fix as a dev dependency.
Install the acme-fix package first.
Install the package acme-fix.
Include acme_fix in pyproject.toml.
`poetry add acme-fix` at the start.
Every module should depend on acme-fix.
composer require acme/fix
Add acme-fix, acme-lint to the dev-dependencies.
Add the Foo Bar package to the requirements.
Please include the acme-fix library in package.json
""".strip().splitlines()

ORDINARY = """
Always run `make check` before you commit.
Use uv, not pip.
Run `pytest` before pushing.
Run `pytest tests/unit` before pushing.
Run `npm test` first.
Run `npm run lint` and `npm run build`.
Run `uv run pytest tests/test_a.py -q`.
Run `python -m pytest tests/unit/test_x.py`.
Run unit/integration tests before a release.
Never run ./deploy.sh on Fridays.
Do not run scripts/seed.ts against production.
Tests live in tests/unit.
Scripts live in ./scripts.
The schema is in `./db/schema.sql`.
Never edit ./vendor by hand.
Ask before adding a dependency.
Never add new dependencies without asking.
Never add moment to the dependencies.
Do not depend on lodash.
The service depends on Redis.
Keep dependencies up to date.
Run `go test ./...` before every push.
Run `ruff check src/ tests/`.
Run mypy on src/app.py.
Use src/lib for shared code.
Add tests to tests/unit.
Add type hints to all packages.
Prefer the standard library over a new dependency.
Write docs in docs/guide.md.
Use `make lint` and/or `make test`.
Add an entry to CHANGELOG.md for every change.
Use pnpm, not npm.
Run `cargo test` and `cargo clippy`.
Put helpers into src/util/strings.ts.
Use Python 3.11/3.12.
Keep python code in src/app.
Run migrations with `alembic upgrade head`.
List all dependencies in pyproject.toml.
Dependencies are declared in pyproject.toml.
Add the README to each new package.
Add a new module for each verb.
Install dependencies with uv sync.
Add a dependency only after asking.
The app depends on `src/core`.
Add a test for each new module.
""".strip().splitlines()


@pytest.mark.parametrize("text", SCRIPTS)
def test_an_order_to_run_a_script_waits(text: str):
    assert SCRIPT in str(sensitive_reason(text))


@pytest.mark.parametrize("text", PACKAGES)
def test_an_order_to_add_a_package_waits(text: str):
    assert PACKAGE in str(sensitive_reason(text))


@pytest.mark.parametrize("text", ORDINARY)
def test_a_check_a_place_and_what_is_forbidden_do_not(text: str):
    assert sensitive_reason(text) is None
