"""A project with entries enough has a file of its own; what follows the owner, and the first of a project, is in MEMORY.md."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memory_assets.schema.frames import empty
from memory_assets.stages.brief.briefing import render_briefing
from memory_assets.stages.triage import promote
from memory_assets.stages.triage.explain import explain
from memory_assets.stages.triage.projects import path_of, plan_homes
from memory_assets.stages.triage.promote import PROMOTED
from memory_assets.store.ledger import Event
from memory_assets_tests.dirty import is_dirty
from memory_assets_tests.factories import START
from memory_assets_tests.stages.triage.test_promote import KilledError
from memory_assets_tests.stages.triage.world import World

HARBOURS = tuple(f"The tide table of harbour {n} lies in `tides/{n}.csv`." for n in range(1, 5))
GAUGES = tuple(f"The gauge of river {n} is read by `gauges/{n}.py`." for n in range(1, 4))
UV = "Always use `uv`, never `pip`."


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def learn(world: World, project: str, *texts: str) -> list[str]:
    """Promotes what holds of a project."""
    return world.propose(*texts, sessions=2, section="Patterns", category="operations", project=project)


def texts_in(world: World, path: str) -> list[str]:
    file = world.workspace.root / path
    lines = file.read_text().splitlines() if file.is_file() else []
    return [line.split(") ", 1)[1] for line in lines if line.startswith("- (")]


@pytest.mark.parametrize(
    ("project", "path"),
    [("tidewatch", "tidewatch"), ("Tide Watch/2", "tide-watch-2"), ("../..", "unnamed"), ("Häfen", "h-fen")],
)
def test_every_name_makes_a_file(project: str, path: str):
    assert path_of(project) == f"projects/{path}.md"


def test_the_third_line_opens_the_file_and_what_is_recorded_stays_where_it_went():
    proposals = {f"p-{n}": {"category": "operations", "project": "tidewatch"} for n in range(5)}
    proposals["p-3"] = {"category": "preferences", "project": "tidewatch"}
    recorded = [Event("1", START, "rules", PROMOTED, "p-0", {"path": "MEMORY.md"})]
    own = "projects/tidewatch.md"
    homes = plan_homes(["p-0", "p-1", "p-2", "p-3", "p-4"], proposals, recorded)
    assert homes == {"p-0": "MEMORY.md", "p-1": "MEMORY.md", "p-2": own, "p-3": "MEMORY.md", "p-4": own}


def test_with_the_third_the_first_two_move_after_it_and_nothing_else_does(world: World):
    learn(world, "tidewatch", *HARBOURS[:2])
    world.propose(UV, sessions=2)
    world.triage()
    by_hand = "\n- by hand, about the tides\n"
    world.memory_md.write_text(world.memory_md.read_text() + by_hand)
    assert texts_in(world, "MEMORY.md") == [UV, *HARBOURS[:2]]
    learn(world, "tidewatch", HARBOURS[2])
    world.triage()
    assert texts_in(world, "MEMORY.md") == [UV]
    assert sorted(texts_in(world, "projects/tidewatch.md")) == sorted(HARBOURS[:3])
    assert world.memory_md.read_text().endswith(by_hand)
    before = world.workspace.head()
    world.triage()
    assert world.workspace.head() == before


def test_a_line_that_a_person_touched_does_not_move(world: World):
    learn(world, "tidewatch", *HARBOURS[:2])
    world.triage()
    world.memory_md.write_text(world.memory_md.read_text().replace(HARBOURS[0], HARBOURS[0] + " Mostly."))
    learn(world, "tidewatch", HARBOURS[2])
    world.triage()
    assert texts_in(world, "MEMORY.md") == [HARBOURS[0] + " Mostly."]
    assert sorted(texts_in(world, "projects/tidewatch.md")) == sorted(HARBOURS[1:3])


def test_a_moved_line_explains_itself_and_can_be_changed_where_it_is(world: World):
    first = learn(world, "tidewatch", *HARBOURS[:3])[0]
    world.triage()
    found = explain(HARBOURS[0], tables=world.tables, ledger=world.ledger, archive=world.archive, workspace=world.workspace)
    assert (found.root.id, found.is_verified) == ("projects/tidewatch.md:7", True) or found.root.id.startswith("projects/")
    world.replace(first, "The tide table of harbour 1 is a spreadsheet.", is_correction=True)
    world.triage()
    assert "The tide table of harbour 1 is a spreadsheet." in texts_in(world, "projects/tidewatch.md")
    assert HARBOURS[0] not in texts_in(world, "projects/tidewatch.md")


def test_the_same_line_of_another_project_is_no_repetition(world: World):
    learn(world, "tidewatch", *HARBOURS[:3])
    world.triage()
    (other,) = learn(world, "lockkeeper", HARBOURS[0])
    assert world.triage()[other][0] == "promoted"
    assert texts_in(world, "MEMORY.md") == [HARBOURS[0]]


def test_the_briefing_of_a_project_joins_both_files_and_never_shows_another_projects(world: World):
    learn(world, "tidewatch", *HARBOURS)
    learn(world, "rivers", *GAUGES)
    world.propose(UV, sessions=2)
    world.triage()

    def briefing(project: str) -> str:
        own = (world.workspace.root / path_of(project)).read_text()
        common = {"pending": 0, "owner": "mira", "as_of": None}
        return render_briefing(world.memory_md.read_text(), empty("memories"), project_md=own, project=project, **common)

    tides, rivers = briefing("tidewatch"), briefing("rivers")
    assert all(text in tides for text in (UV, *HARBOURS))
    assert all(text in rivers for text in (UV, *GAUGES))
    assert [text for text in GAUGES if text in tides] + [text for text in HARBOURS if text in rivers] == []
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
        learn(world, "tidewatch", *HARBOURS[:2])
        world.triage()
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
        assert {author for path in ("MEMORY.md", "projects/tidewatch.md") for author, _ in world.commits(path)} == {
            "memory_assets"
        }
        if is_whole:
            return
    raise AssertionError("a triage takes more writes than this test counts")
