"""People edit REVIEW.md and MEMORY.md between and during triages: no byte of theirs is lost, no decision is invented."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memory_assets.stages.triage import promote, run
from memory_assets.stages.triage.promote import lost_lines
from memory_assets_tests.stages.triage.world import World

TEXTS = (
    "Write dates the British way.",
    "Answer in short sentences.",
    "The gauge feed is one hour behind in summer.",
    "Tide tables are sorted by harbour.",
    "Priya owns the buoys.",
    "Never deploy on a Friday.",
)
PROMOTED = ("Always run `make check` before you commit.", "Always use `uv`, never `pip`.")
BESIDE = (".REVIEW.md.swp", "REVIEW.md~", ".#MEMORY.md", "4913", "sed1a2b3c")
"""What other editors leave beside a file while they have it open."""

DEEDS = (
    "tick",
    "dash",
    "delete",
    "wipe",
    "reword",
    "note",
    "section",
    "reorder",
    "crlf",
    "bom",
    "half",
    "beside",
)
MOMENTS = ("before", "between looks", "before a swap", "after a swap")


@dataclass
class Hands:
    """A person with an editor: what they did to each proposal, and what they wrote and have not removed."""

    world: World
    chance: random.Random
    deeds: dict[str, set[str]] = field(default_factory=dict)
    notes: set[bytes] = field(default_factory=set)
    unfinished: dict[Path, bytes] = field(default_factory=dict)
    """The whole of a file of which only a part is saved yet."""
    left: bytes = b""
    """MEMORY.md as they last saved it."""

    def do(self, deed: str) -> None:
        """Opens a file, does one thing and saves it, in place as simple editors do."""
        self.finish()
        path = self.chance.choice([self.world.review_md, self.world.memory_md])
        if deed in ("tick", "dash", "delete", "wipe", "reword"):
            path = self.world.review_md
        if not path.is_file():
            return
        content = getattr(self, f"_{deed}")(path.read_bytes(), path)
        if deed == "half":
            self.unfinished[path], content = content, content[: self.chance.randrange(len(content))]
        self._save(path, content)

    def finish(self) -> None:
        """Lets the editor write the rest of what it was saving."""
        for path, content in self.unfinished.items():
            self._save(path, content)
        self.unfinished.clear()

    def _save(self, path: Path, content: bytes) -> None:
        path.write_bytes(content)
        if path == self.world.memory_md:
            self.left = content

    def _at_item(self, content: bytes, kind: str, change: Callable[[bytes], bytes]) -> bytes:
        lines = content.split(b"\n")
        items = [number for number, line in enumerate(lines) if line.lstrip().startswith(b"- [")]
        if not items:
            return content
        number = self.chance.choice(items)
        proposal = lines[number].split(b"`")[1].decode()
        self.deeds.setdefault(proposal, set()).add(kind)
        lines[number] = change(lines[number])
        return b"\n".join(line for line in lines if line != b"\0")

    def _tick(self, content: bytes, path: Path) -> bytes:
        return self._at_item(
            content, "tick", lambda line: line.replace(b"[ ]", b"[x]").replace(b"[-]", b"[x]")
        )

    def _dash(self, content: bytes, path: Path) -> bytes:
        return self._at_item(
            content, "dash", lambda line: line.replace(b"[ ]", b"[-]").replace(b"[x]", b"[-]")
        )

    def _delete(self, content: bytes, path: Path) -> bytes:
        return self._at_item(content, "delete", lambda line: b"\0")

    def _wipe(self, content: bytes, path: Path) -> bytes:
        """A slip takes all items but one; nobody meant any of that."""
        lines = content.split(b"\n")
        items = [number for number, line in enumerate(lines) if line.lstrip().startswith(b"- [")]
        gone = self.chance.sample(items, len(items) - 1) if len(items) > 2 else []
        return b"\n".join(line for number, line in enumerate(lines) if number not in gone)

    def _reword(self, content: bytes, path: Path) -> bytes:
        return self._at_item(
            content, "reword", lambda line: line.replace(b".**", b", says Mira.**")
        )

    def _note(self, content: bytes, path: Path) -> bytes:
        return self._write_line(content, f"Mira, note {len(self.notes)}: ünï".encode())

    def _section(self, content: bytes, path: Path) -> bytes:
        return self._write_line(content, f"## Mira's own {len(self.notes)}".encode())

    def _write_line(self, content: bytes, line: bytes) -> bytes:
        lines = content.split(b"\n")
        self.notes.add(line)
        place = self.chance.randint(1, max(len(lines) - 2, 1))
        lines.insert(place, line + (b"\r" if b"\r\n" in content else b""))
        return b"\n".join(lines)

    def _reorder(self, content: bytes, path: Path) -> bytes:
        lines = content.split(b"\n")
        places = [number for number, line in enumerate(lines) if line.lstrip().startswith(b"- ")]
        for place, line in zip(
            places, self.chance.sample([lines[place] for place in places], len(places)), strict=True
        ):
            lines[place] = line
        return b"\n".join(lines)

    def _crlf(self, content: bytes, path: Path) -> bytes:
        return content.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")

    def _bom(self, content: bytes, path: Path) -> bytes:
        return content if content.startswith(b"\xef\xbb\xbf") else b"\xef\xbb\xbf" + content

    def _half(self, content: bytes, path: Path) -> bytes:
        return self._note(content, path)

    def _beside(self, content: bytes, path: Path) -> bytes:
        for name in BESIDE:
            (path.parent / name).write_bytes(content[: len(content) // 3])
        return content


def check(hands: Hands) -> None:
    """No decision that nobody made, and every byte of a person where they left it."""
    world, is_whole = hands.world, not hands.unfinished
    kinds = {
        "proposal.approved": {"tick"},
        "proposal.rejected": {"dash", "delete"},
        "proposal.edited": {"reword"},
    }
    for event in world.ledger.events(list(kinds)):
        assert kinds[event.kind] & hands.deeds.get(event.target, set()), (
            f"no person decided {event.kind} of {event.target}"
        )
    assert lost_lines(hands.left, world.memory_md.read_bytes()) == []
    if is_whole:
        both = world.memory_md.read_bytes() + world.review_md.read_bytes()
        assert [
            note for note in hands.notes if note + b"\r" not in both and note + b"\n" not in both
        ] == []
    assert world.workspace.lines_lost_by_us("MEMORY.md", lost_lines) == []


STEPS = st.lists(
    st.tuples(st.sampled_from(MOMENTS), st.sampled_from(DEEDS)), min_size=2, max_size=6
)


@settings(max_examples=12)
@example(
    rounds=[[("before", "tick")] * 2, [*[("before", "tick")] * 4, ("before a swap", "wipe")]],
    seed=0,
)
@given(rounds=st.lists(STEPS, min_size=1, max_size=3), seed=st.integers(0, 2**16))
def test_people_may_edit_at_any_moment(rounds: list[list[tuple[str, str]]], seed: int):
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        world = World(Path(folder))
        world.propose(*TEXTS)
        world.triage()
        hands = Hands(world, random.Random(seed), left=world.memory_md.read_bytes())
        waiting: dict[str, list[str]] = {moment: [] for moment in MOMENTS}

        def act(moment: str) -> None:
            deeds, waiting[moment] = waiting[moment], []
            for deed in deeds:
                hands.do(deed)

        def swapping(swap):
            def do(*arguments):
                act("before a swap")
                done = swap(*arguments)
                act("after a swap")
                return done

            return do

        for module in (promote, run):
            patch.setattr(module, "replace_if_same", swapping(module.replace_if_same))
        for number, steps in enumerate(rounds):
            if number < len(PROMOTED):
                world.propose(PROMOTED[number], sessions=2)
            for moment, deed in steps:
                waiting[moment].append(deed)
            act("before")
            world.hear(meanwhile=lambda _: act("between looks"))
            world.decide()
            world.write()
            world.ask()
            check(hands)
        hands.finish()
        waiting = {moment: [] for moment in MOMENTS}
        for _ in range(2):
            world.triage()
            check(hands)
        if not world.hear().warnings:
            states = {id: state for id, (state, _) in world.decide().items()}
            ticked = [id for id, deeds in hands.deeds.items() if deeds == {"tick"}]
            assert [id for id in ticked if states[id] != "promoted"] == [], "a tick was lost"
        left = {name: (world.workspace.root / name).exists() for name in BESIDE}
        assert len(set(left.values())) == 1, "a file of another editor is gone"
