"""A sentence gives a rule only if tool calls can show whether it is kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.stages.friction.visible_rules import CommandPattern, VisibleRule, read_rule


def command(text: str) -> CommandPattern:
    words = text.split()
    options = [place for place, word in enumerate(words) if word.startswith("-")] or [len(words)]
    return CommandPattern(tuple(words[: options[0]]), tuple(words[options[0] :]))


@pytest.mark.parametrize(
    ("sentence", "forbidden", "preferred"),
    [
        ("Use uv, never pip.", ["pip"], ["uv"]),
        ("npm ci, not npm install", ["npm install"], ["npm ci"]),
        ("Never `git push --force`.", ["git push --force"], []),
        ("No force pushes, ever.", ["git push --force"], []),
        ("We use poetry here. pip is not to be used.", ["pip"], ["poetry"]),
        ("docker-compose must not be used.", ["docker-compose"], []),
        ("Never skip the hooks", ["git commit --no-verify", "git push --no-verify"], []),
        ("No sudo.", ["sudo"], []),
        ("Do not, under any circumstances, run `terraform destroy`.", ["terraform destroy"], []),
        ("Please never delete branches with git branch -D.", ["git branch -D"], []),
        ("git clean -fdx: never.", ["git clean -fdx"], []),
        ("No `--no-verify` on commits.", ["git commit --no-verify"], []),
        ("Use fd instead of find", ["find"], ["fd"]),
        ("Never npm install --global, please.", ["npm install --global"], []),
        ("Never run `make`.", ["make"], []),
        ("pnpm instead of npm", ["npm"], ["pnpm"]),
    ],
)
def test_a_choice_names_what_must_not_run_and_what_to_run_instead(
    sentence: str, forbidden: list[str], preferred: list[str]
):
    assert read_rule(sentence) == VisibleRule(
        forbidden=tuple(map(command, forbidden)), preferred=tuple(map(command, preferred))
    )


@pytest.mark.parametrize(
    ("sentence", "first", "then"),
    [
        ("Run `make check` before you commit.", "make check", "git commit"),
        ("before a push, run `go vet ./...`", "go vet", "git push"),
        ("Never commit before running `make check`", "make check", "git commit"),
        ("git tag only after bun test ran", "bun test", "git tag"),
        ("First `make lint`, then `git push`.", "make lint", "git push"),
        ("Whenever you commit, run `pnpm typecheck` beforehand.", "pnpm typecheck", "git commit"),
        ("All files are formatted (buildifier) before the commit", "buildifier", "git commit"),
    ],
)
def test_an_order_names_what_runs_first_and_before_what(sentence: str, first: str, then: str):
    assert read_rule(sentence) == VisibleRule(first=(command(first),), then=(command(then),))


def test_an_order_says_whether_each_call_and_each_edit_needs_another_run():
    rule = read_rule("cargo clippy before each commit, and again after the last edit")
    assert rule == VisibleRule(
        first=(command("cargo clippy"),), then=(command("git commit"),), is_each=True, is_again=True
    )


@pytest.mark.parametrize(
    ("sentence", "then", "required"),
    [
        ("go test always with -race", "go test", ("-race",)),
        ("Every commit is signed off (git commit -s).", "git commit", ("-s",)),
        ("./deploy.sh only with --env staging", "deploy.sh", ("--env", "staging")),
        ("Never run pytest without -x", "pytest", ("-x",)),
        ("Run jest with --runInBand, always.", "jest", ("--runInBand",)),
        ("ansible-playbook never without --limit.", "ansible-playbook", ("--limit",)),
        ("docker run: always with --rm", "docker run", ("--rm",)),
    ],
)
def test_an_option_is_required_of_a_command(sentence: str, then: str, required: tuple[str, ...]):
    assert read_rule(sentence) == VisibleRule(then=(command(then),), required=required)


@pytest.mark.parametrize(
    ("sentence", "files"),
    [
        ("Never edit anything below third_party/", ("third_party/",)),
        ("mocks/ is generated, never write into it yourself", ("mocks/",)),
        ("Never edit .env (the .env.example is fine)", (".env",)),
        ("Dockerfile stays as it is.", ("Dockerfile",)),
        ("Never modify anything inside node_modules.", ("node_modules/",)),
        ("package-lock.json is npm's file. Do not edit.", ("package-lock.json",)),
    ],
)
def test_files_are_named_that_must_not_be_edited(sentence: str, files: tuple[str, ...]):
    assert read_rule(sentence) == VisibleRule(files=files)


@pytest.mark.parametrize(
    "sentence",
    [
        "Commit messages are written in the past tense.",
        "Never commit secrets.",
        "Don't push unless I say so.",
        "Should we use uv instead of pip?",
        "I prefer tabs over spaces in Makefiles, maybe.",
        "Ask me first before you push.",
        "That is not true.",
        "Staging listens on port 5432.",
        "Don't kill the server.",
        'Never run `"" foo`.',
        f"Use uv, never pip.{'.' * 2_000}",
    ],
)
def test_a_sentence_that_no_call_can_show_gives_no_rule(sentence: str):
    assert read_rule(sentence) is None


@pytest.mark.parametrize(
    "sentence",
    [
        "Every figure for the tides page must show the dashboard, not drawings.",
        "The viewer wants a forecast kept short so that it does not cause scrolling.",
        "Posts must not repeat each other's story.",
        "A plan comes before any fix is committed.",
        "tidegauge is a one-shot tool, not a background service.",
    ],
)
def test_words_of_prose_are_commands_only_where_such_programs_run(sentence: str):
    rule = read_rule(sentence)
    assert rule is not None
    assert rule.among({"git", "dashboard", "tidegauge"}) is None


def test_a_program_is_believed_that_is_marked_known_run_or_said_to_run():
    sentences = (
        "Use `gaugectl`, never `tidectl`.",
        "Use uv, never pip.",
        "gaugefmt has to run before each commit",
        "Before you commit run gaugefmt.",
    )
    for sentence in sentences:
        rule = read_rule(sentence)
        assert rule is not None
        assert rule.among(()) == rule
    unmarked = read_rule("use gaugectl, not tidectl")
    assert unmarked is not None
    assert unmarked.among({"tidectl"}) == VisibleRule(forbidden=(command("tidectl"),))
    assert unmarked.among({"gaugectl"}) is None


def test_things_that_are_not_committed_forbid_no_commit():
    rule = read_rule("Plans stay local, they are not committed or force-added.")
    assert rule is not None
    assert command("git commit") not in rule.forbidden


def test_a_denial_far_from_a_word_for_an_edit_forbids_no_edit():
    told = "In SKILL.md add no heading: the edit was refused as another client would not find it."
    rule = read_rule(told)
    assert rule is not None
    assert rule.files == ()


@given(st.text("neverusr, `'\"()./*-<$", max_size=60))
def test_no_sentence_fails_to_be_read(words: str):
    read_rule(f"Never run {words}")
    read_rule(f'Use uv, never pip ("") {words}.')
