"""Each project has a file of its own, from its first entry on; MEMORY.md has what holds in all."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memory_assets.schema.frames import empty
from memory_assets.stages.brief.briefing import render_briefing
from memory_assets.stages.triage import promote
from memory_assets.stages.triage.projects import path_of, project_of
from memory_assets_tests.dirty import is_dirty
from memory_assets_tests.stages.triage.test_promote import KilledError
from memory_assets_tests.stages.triage.world import World

HARBOURS = tuple(f"The tide table of harbour {n} lies in `tides/{n}.csv`." for n in range(1, 5))
GAUGES = tuple(f"The gauge of river {n} is read by `gauges/{n}.py`." for n in range(1, 4))
MARIA = "Maria owns billing."
UV = "Always use `uv`, never `pip`."


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def learn(world: World, project: str, *texts: str) -> list[str]:
    """Promotes what holds of a project."""
    return world.propose(
        *texts, sessions=2, section="Patterns", category="operations", project=project
    )


def texts_in(world: World, path: str) -> list[str]:
    file = world.workspace.root / path
    lines = file.read_text().splitlines() if file.is_file() else []
    return [line.split(") ", 1)[1] for line in lines if line.startswith("- (")]


def proposal(text: str, category: str = "rules-conventions", **more) -> dict:
    return {"text": text, "category": category, "project": "tidewatch", **more}


@pytest.mark.parametrize(
    ("one", "project"),
    [
        (proposal("Redis runs on port 6380.", "operations"), "tidewatch"),
        (proposal(UV), "tidewatch"),
        (proposal("Use uv, never pip, in all Python projects."), "tidewatch"),
        (proposal("Install the hooks globally."), "tidewatch"),
        (proposal("I prefer tabs over spaces.", "preferences"), "tidewatch"),
        (proposal("I prefer tabs over spaces.", "preferences", project_count=2), ""),
        (proposal(UV, project_count=2), "tidewatch"),
        (proposal("I want answers in German everywhere.", "preferences"), "tidewatch"),
        (proposal("Maria owns billing.", "people-relationships"), ""),
    ],
)
def test_a_line_is_for_the_project_that_it_was_said_in_whatever_it_says(one: dict, project: str):
    assert project_of(one) == project


def learn_in_memory_md(world: World, *texts: str) -> None:
    """Promotes facts of the project as an earlier release did: into MEMORY.md."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            promote.projects, "plan_homes", lambda wanted, *_: dict.fromkeys(wanted, "MEMORY.md")
        )
        patch.setattr(promote.projects, "plan_moves", lambda *_: [])
        learn(world, "tidewatch", *texts)
        world.triage()


def test_opposite_rules_of_two_projects_live_side_by_side(world: World):
    squash, merge = "Always squash before you merge.", "Never squash before you merge."
    world.propose(squash, sessions=2)
    world.propose(merge, sessions=2, project="rivers")
    world.triage()
    assert texts_in(world, "projects/tidewatch.md") == [squash]
    assert texts_in(world, "projects/rivers.md") == [merge]
    assert texts_in(world, "MEMORY.md") == []


def test_what_would_hold_everywhere_is_promoted_by_a_person_alone(world: World):
    (maria,) = world.propose(MARIA, sessions=3, category="people-relationships")
    state, reason = world.triage()[maria]
    assert (state, "it would hold in all your projects" in reason) == ("pending", True)
    assert "## Proposed for: all projects" in world.review_md.read_text()
    world.tick(maria)
    world.triage()
    assert texts_in(world, "MEMORY.md") == [MARIA]


def test_facts_of_a_project_in_memory_md_move_to_its_file_and_rules_stay(world: World):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            promote.projects, "plan_homes", lambda wanted, *_: dict.fromkeys(wanted, "MEMORY.md")
        )
        world.propose(UV, sessions=2)
        world.triage()
    learn_in_memory_md(world, *HARBOURS[:2])
    memory_md = world.workspace.root / "MEMORY.md"
    by_hand = "\n- by hand, about the tides\n"
    memory_md.write_text(memory_md.read_text() + by_hand)
    assert texts_in(world, "MEMORY.md") == [UV, *HARBOURS[:2]]
    learn(world, "tidewatch", HARBOURS[2])
    world.triage()
    assert texts_in(world, "MEMORY.md") == [UV]
    assert sorted(texts_in(world, "projects/tidewatch.md")) == sorted(HARBOURS[:3])
    assert memory_md.read_text().endswith(by_hand)
    before = world.workspace.head()
    world.triage()
    assert world.workspace.head() == before


def test_a_line_that_a_person_touched_does_not_move(world: World):
    learn_in_memory_md(world, *HARBOURS[:2])
    memory_md = world.workspace.root / "MEMORY.md"
    memory_md.write_text(memory_md.read_text().replace(HARBOURS[0], HARBOURS[0] + " Mostly."))
    learn(world, "tidewatch", HARBOURS[2])
    world.triage()
    assert texts_in(world, "MEMORY.md") == [HARBOURS[0] + " Mostly."]
    assert sorted(texts_in(world, "projects/tidewatch.md")) == sorted(HARBOURS[1:3])


def test_the_briefing_of_a_project_joins_both_files_and_never_shows_another_projects(world: World):
    learn(world, "tidewatch", *HARBOURS)
    learn(world, "rivers", *GAUGES)
    (common,) = world.propose(MARIA, section="mira", category="people-relationships")
    world.triage()
    world.tick(common)
    world.triage()

    def briefing(project: str) -> str:
        own = (world.workspace.root / path_of(project)).read_text()
        common = {"pending": 0, "owner": "mira", "as_of": None}
        return render_briefing(
            (world.workspace.root / "MEMORY.md").read_text(),
            empty("memories"),
            project_md=own,
            project=project,
            **common,
        )

    tides, rivers = briefing("tidewatch"), briefing("rivers")
    assert all(text in tides for text in (MARIA, *HARBOURS))
    assert all(text in rivers for text in (MARIA, *GAUGES))
    assert [text for text in GAUGES if text in tides] + [
        text for text in HARBOURS if text in rivers
    ] == []
    assert tides.count("## Patterns") == 1


def killed_at(world: World, patch: pytest.MonkeyPatch, last: int) -> list[str]:
    """Lets the write behind the last allowed one raise, as a killed process would."""
    done: list[str] = []

    def counted(name: str, write: Callable) -> Callable:
        def do(*arguments, **options):
            if len(done) >= last:
                raise KilledError(name)
            done.append(name)
            return write(*arguments, **options)

        return do

    patch.setattr(world.ledger, "append", counted("ledger", world.ledger.append))
    patch.setattr(world.workspace, "_commit_tree", counted("commit", world.workspace._commit_tree))
    patch.setattr(promote, "replace_if_same", counted("file", promote.replace_if_same))
    return done


@pytest.mark.slow
def test_a_move_that_is_killed_between_any_two_writes_ends_as_an_undisturbed_one(tmp_path: Path):
    for writes in range(40):
        world = World(tmp_path / str(writes))
        learn_in_memory_md(world, *HARBOURS[:2])
        learn(world, "tidewatch", HARBOURS[2])
        with pytest.MonkeyPatch.context() as patch:
            killed_at(world, patch, writes)
            try:
                world.triage()
                is_whole = True
            except KilledError:
                is_whole = False
        world.reopen()
        world.triage()
        assert texts_in(world, "MEMORY.md") == []
        assert sorted(texts_in(world, "projects/tidewatch.md")) == sorted(HARBOURS[:3])
        assert not is_dirty(world.workspace, "MEMORY.md")
        assert not is_dirty(world.workspace, "projects/tidewatch.md")
        assert {
            author
            for path in ("MEMORY.md", "projects/tidewatch.md")
            for author, _ in world.commits(path)
        } == {"memory_assets"}
        if is_whole:
            return
    raise AssertionError("a triage takes more writes than this test counts")
